"""Past operators: Y, Z, O, H, S and T, by history variables.

``Y f`` says that f held one step before, ``Z f`` the same or that there was none;
``O f`` that it held at some step so far, ``H f`` at all; ``f S g`` that g held and f
since; ``f T g`` is the dual.  All of them look at the present step, too, but Y and Z.

A past subformula becomes a proposition whose value at a step follows from the step
before: ``f S g`` holds iff g does, or f does and ``f S g`` held before.  So these
*history variables* are determined by the word, and a word satisfies a formula iff the
word with its history variables satisfies the formula in which they take the place of
past subformulas.  An automaton over both loses them by projection, which is exact: each
word has one history.

Source: Z. Manna and A. Pnueli, "The Temporal Logic of Reactive and Concurrent Systems:
Specification", Springer 1992, Sec. 3.3 (past operators), and O. Lichtenstein, A. Pnueli
and L. Zuck, "The Glory of the Past", Logics of Programs 1985, LNCS 193, pp. 196-218.

Differences from the sources: O, H, Z and T are written by S and Y.

`Dialect` says whether letters of a formula are such operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.bounded import strong_next

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Dialect(NamedTuple):
    """A way to read formulas."""

    past: bool = False  # whether Y, Z, O, H, S and T are past operators
    finite: bool = False  # whether it is about finite words, where X[!] is not X


PLAIN = Dialect()
"""LTL of infinite words, without the past."""


PAST = frozenset("YZOHST")
"""The letters of past operators."""


PREFIX = "<past "
"""What history variables begin with, and no other proposition of such a formula."""


class History(NamedTuple):
    """A past subformula.

    Parameters
    ----------
    name : str
        Of the proposition in its place.
    operator : str
        "Y" or "S".
    operands : tuple of spot.formula
        One, or two; their propositions may be earlier histories.
    """

    name: str
    operator: str
    operands: tuple[Any, ...]


def remembered(operator: str, operands: Sequence[Any], known: list[History]) -> Any:
    """Return a past operator applied to formulas as a Spot formula.

    A new history is added to those that are known.
    """
    import spot

    negation, true = spot.formula_Not, spot.formula_tt()
    if operator in "ZHT":
        dual = {"Z": "Y", "H": "O", "T": "S"}[operator]
        negated = [negation(operand) for operand in operands]
        return negation(remembered(dual, negated, known))
    if operator == "O":
        operator, operands = "S", (true, *operands)
    for history in known:
        if (history.operator, history.operands) == (operator, tuple(operands)):
            return spot.formula_ap(history.name)
    history = History(f"{PREFIX}{len(known)}>", operator, tuple(operands))
    known.append(history)
    return spot.formula_ap(history.name)


def explained(history: Iterable[History]) -> Any:
    """Return the formula of Spot that fixes the values of history variables.

    It may be read over finite words, and over infinite ones, for which both X are one.
    """
    import spot

    parts = []
    for name, operator, operands in history:
        own = spot.formula_ap(name)
        now, following = operands[-1], strong_next
        if operator == "Y":
            first, later = spot.formula_ff(), now
        else:
            first = now
            kept = spot.formula_And([following(operands[0]), own])
            later = spot.formula_Or([following(now), kept])
        parts.append(spot.formula_Equiv(own, first))
        step = spot.formula_Equiv(following(own), later)
        at_end = spot.formula_X(spot.formula_ff())
        parts.append(spot.formula_G(spot.formula_Or([at_end, step])))
    return spot.formula_And(parts)


def own_propositions(formula: Any, history: Iterable[History]) -> tuple[str, ...]:
    """Return the propositions of a formula with histories, without those, sorted."""
    import spot

    history = tuple(history)
    trees = [formula, *(operand for each in history for operand in each.operands)]
    found = {p.ap_name() for f in trees for p in spot.atomic_prop_collect(f) or ()}
    return tuple(sorted(found - {each.name for each in history}))

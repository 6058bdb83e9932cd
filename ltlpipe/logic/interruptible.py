"""Interruptible formulas: those for which only their own actions matter.

A formula is interruptible iff two words of actions that agree on the actions
that the formula names, once all others are deleted, agree on the formula.  What
hides or commutes the other actions may be used for interruptible formulas only.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Sec. 3.1-3.3: Def. 10,
`intrpt` and Theorem 1, Remark 1.

Differences from the source:

* `intrpt` handles all operators of Spot.  The others are defined by negation,
  conjunction, X and U, over which beta is a homomorphism but for X, so it is one
  over them, too.
* A Boolean combination of propositions and formulas X g is extended as a whole.
  With V all actions of the formula, beta(f) says of a word what f says from the
  first action of V on, or, if there is none, what f says of words without such
  actions, on which f is constant (Remark 1: replace all actions by false).  So
  for any Boolean combination B of propositions, of X g_i and of other formulas
  h_j, beta(B) is action equivalent to ``!V U (V & B')``, with W instead of U where
  B holds without actions of V; B' is B with X beta(g_i) for X g_i and beta(h_j) for
  h_j.  (At the first action of V propositions are as they are; beta(h_j) is
  interruptible, so there it is what it is at the beginning.)
* `is_interruptible` does not compare f with intrpt(f), but looks for two words that
  show that f is not interruptible (`ltlpipe.logic.witnesses`).  Before that, Prop. 5
  (`ltlpipe.logic.classes`) is asked, which needs no automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.actions import names_in, refuse_psl, tree_of
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import (
    Formula,
    FormulaLike,
    fold,
    from_spot_text,
    rebuilt,
    spot_text,
)
from ltlpipe.logic.witnesses import witness
from ltlpipe.runtime import workers
from ltlpipe.runtime.arguments import NUMBER, expect
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

# --- intrpt -----------------------------------------------------------------


class _Part(NamedTuple):
    """What is known of beta of a subformula."""

    formula: Any  # beta, or with `waiting` what has to hold at the first visible
    waiting: bool
    unseen: bool  # whether it holds of words without visible actions


def intrpt(formula: FormulaLike) -> Formula:
    """Return the interruptible formula that agrees on interrupt-free words.

    The result is interruptible, and action equivalent to `formula` iff this is
    interruptible ([1]_, Theorem 1).

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        An operator of PSL.

    Examples
    --------
    >>> intrpt("X a").text
    '!a U (a & X(!a U a))'

    References
    ----------
    .. [1] S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
       Automata, and Reduction", CAV 2020, Sec. 3.2 and Remark 1.
    """
    import spot

    tree = tree_of(formula)
    actions = names_in([tree])
    visible = spot.formula_Or([spot.formula_ap(name) for name in actions])
    invisible = spot.formula_Not(visible)

    def closed(part: _Part) -> Any:
        if not part.waiting:
            return part.formula
        wait = spot.formula_W if part.unseen else spot.formula_U
        goal = part.formula
        if goal.kindstr() != "ap":
            goal = spot.formula_And([visible, goal])
        return wait(invisible, goal)

    def combine(node: Any, kind: str, below: list[_Part]) -> _Part:
        if kind in ("ap", "tt", "ff"):
            return _Part(node, kind == "ap", kind == "tt")
        unseen = without_actions(kind, [part.unseen for part in below])
        if kind == "X":
            return _Part(spot.formula_X(closed(below[0])), True, unseen)
        if kind in _BOOLEAN:
            waiting = any(part.waiting for part in below)
            operands = [part.formula for part in below]
        else:
            waiting = False
            operands = [closed(part) for part in below]
        return _Part(rebuilt(kind, operands), waiting, unseen)

    extended = closed(fold(tree, combine))
    return Formula(str(extended), extended)


_BOOLEAN = ("Not", "And", "Or", "Implies", "Equiv", "Xor")


def without_actions(kind: str, below: list[bool]) -> bool:
    """Return what an operator gives where nothing visible ever happens.

    All suffixes of such a word satisfy the same formulas, so it is a matter of the
    values of the operands.
    """
    if kind in ("tt", "ff", "ap"):
        return kind == "tt"
    first, last = below[0], below[-1]
    if kind == "And":
        return all(below)
    if kind == "Or":
        return any(below)
    return {
        "Not": not first,
        "X": first,
        "F": first,
        "G": first,
        "Implies": not first or last,
        "Equiv": first == last,
        "Xor": first != last,
        "U": last,
        "R": last,
        "W": first or last,
        "M": first and last,
    }[kind]


# --- Theorem 1 --------------------------------------------------------------


def is_interruptible(formula: FormulaLike, *, timeout: float | None = None) -> bool:
    """Decide whether only the actions that a formula names matter to it.

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.
    timeout : float, optional
        Seconds, which large formulas may need more than; None is no limit.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        An operator of PSL, or a formula too large for Spot, or for the time.

    Examples
    --------
    >>> is_interruptible("G(a -> F b)"), is_interruptible("G(a -> X b)")
    (True, False)

    References
    ----------
    .. [1] S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
       Automata, and Reduction", CAV 2020, Def. 10 and Theorem 1.
    """
    expect(NUMBER.or_none, timeout=timeout)
    tree = tree_of(formula)
    refuse_psl(tree)
    if "intrpt" in syntactic_class(tree):
        return True
    return complete(interruptible_formula(Formula(str(tree), tree)), timeout)


def interruptible_formula(formula: Formula) -> Job[bool]:
    """Decide in a worker process whether a formula is interruptible."""
    answer: bool = yield from workers.call(
        "interruptible formula",
        phase="deciding interruptibility",
        formula=spot_text(formula.spot),
    )
    return answer


def is_interruptible_text(formula: str) -> bool:
    """Do the work of `interruptible_formula`."""
    return interruptible_here(Formula(formula, from_spot_text(formula)))


def interruptible_here(formula: Formula) -> bool:
    """Decide it in this process, which is a worker."""
    return "intrpt" in syntactic_class(formula.spot) or witness(formula) is None

"""Formulas that are interruptible by their syntax: the classes Pos, Neg, Intrpt.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Prop. 5.

What the classes mean.  Let V be any set of actions that has those of f.  Call f
*settled* if, of words that begin with an action of V, it depends only on what is
left of them without the actions outside of V.  Pos holds the settled formulas
that are false of all words that begin with an action that f does not name, Neg
those that are true of all of these, Intrpt the interruptible formulas.  None of
the three depends on how a formula is written: one that cannot tell an action
from those outside of another formula's alphabet may as well not name it.

Rules, each for subformulas i of Intrpt, p of Pos, n of Neg, s settled:

1. A Boolean combination of actions is settled, and its value where none of its
   actions happens says whether it is in Pos or in Neg.
2. Intrpt, Pos, Neg and X i are settled: the first is a matter of V alone, the
   next two are constant where an action of V happens that they do not name, and
   behind an action of V the rest of the word without invisible actions is known.
3. Boolean combinations of settled formulas are settled; those of formulas whose
   values where something invisible happens are known have a known value there.
   So ``p & s`` is in Pos and ``n | s`` in Neg.
4. Boolean combinations of Intrpt are in Intrpt.
5. ``F p``, ``G n``, ``i1 U i2``, ``n U p`` and ``n U i`` are in Intrpt (Prop. 5).
   As U distributes over a disjunction on its right and a conjunction on its
   left: ``l U r`` is if r is a disjunction of p's and i's, and l a conjunction of
   n's and i's, the i's in l and the p's in r not both.
6. ``F r`` is ``true U r``; ``l R r``, ``G r`` by duality; ``l W r`` is
   ``r R (l | r)``, which is ``(l U r) | G l``; ``l M r`` by duality.

Differences from the source: the source asks ``a & i``, ``a & X i`` for one action
a; by rules 1 to 3 any p does, and i may be any settled formula.  Its closure
under action equivalence is had as far as the rules see through ->, <->, xor, W,
R, M and negations; `is_interruptible` decides what they do not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.formulas import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES = ("intrpt", "pos", "neg")
"""The classes of Prop. 5."""


class _Known(NamedTuple):
    """What the rules say of a formula.

    `conjunct` and `disjunct` describe it as a conjunction and as a disjunction
    of formulas of the classes, as rule 5 needs them: which ones occur, None if
    it is not such a one.  Those of the negation are each other's, dualised.
    """

    intrpt: bool
    settled: bool
    unseen: bool | None  # its value where something invisible happens, if constant
    conjunct: frozenset[str] | None
    disjunct: frozenset[str] | None

    @property
    def pos(self) -> bool:
        return self.settled and self.unseen is False

    @property
    def neg(self) -> bool:
        return self.settled and self.unseen is True


def _known(
    intrpt: bool,
    settled: bool,
    unseen: bool | None,
    conjunct: frozenset[str] | None = None,
    disjunct: frozenset[str] | None = None,
) -> _Known:
    """Return what is known, a formula being a conjunction of itself."""
    settled = settled or intrpt
    if intrpt:
        conjunct = disjunct = frozenset({"i"})
    elif settled and unseen is not None:
        conjunct = disjunct = frozenset({"n" if unseen else "p"})
    return _Known(intrpt, settled, unseen, conjunct, disjunct)


def syntactic_class(formula: Any) -> frozenset[str]:
    """Return the classes of Prop. 5, out of `CLASSES`, that the rules see a formula in.

    Each is right; a formula may belong to classes that the rules do not see.

    Raises
    ------
    UnsupportedError
        An operator of PSL.
    """
    return _members(fold(formula, _combined))


def _combined(_node: Any, kind: str, below: list[_Known]) -> _Known:
    if kind in ("tt", "ff"):
        return _known(True, True, kind == "tt")
    if kind == "ap":
        return _known(False, True, False)
    if kind == "X":
        return _known(False, below[0].intrpt, None)
    if kind == "Not":
        return _not(below[0])
    if kind in ("And", "Or"):
        return _joined(below, conjunction=kind == "And")
    if kind in ("F", "G"):
        true = _known(True, True, True)
        return _until(true, below[0]) if kind == "F" else _release(_not(true), below[0])
    left, right = below
    if kind == "Implies":
        return _joined([_not(left), right], conjunction=False)
    if kind in ("Equiv", "Xor"):
        unseen = None
        if left.unseen is not None and right.unseen is not None:
            unseen = (left.unseen == right.unseen) == (kind == "Equiv")
        intrpt = left.intrpt and right.intrpt
        return _known(intrpt, left.settled and right.settled, unseen)
    if kind == "U":
        return _until(left, right)
    if kind == "R":
        return _release(left, right)
    if kind == "W":
        return _weak(left, right)
    return _not(_weak(_not(left), _not(right)))  # M


def _not(part: _Known) -> _Known:
    return _Known(
        part.intrpt,
        part.settled,
        None if part.unseen is None else not part.unseen,
        _dual(part.disjunct),
        _dual(part.conjunct),
    )


def _dual(kinds: frozenset[str] | None) -> frozenset[str] | None:
    if kinds is None:
        return None
    return frozenset({"i": "i", "p": "n", "n": "p"}[kind] for kind in kinds)


def _joined(parts: Sequence[_Known], *, conjunction: bool) -> _Known:
    """Return what is known of a conjunction or disjunction (rules 3 to 5)."""
    values = {part.unseen for part in parts}
    unseen: bool | None = None
    if (not conjunction) in values:
        unseen = not conjunction
    elif values == {conjunction}:
        unseen = conjunction
    kinds = [part.conjunct if conjunction else part.disjunct for part in parts]
    together: frozenset[str] | None = frozenset()
    for kind in kinds:
        together = None if together is None or kind is None else together | kind
    return _known(
        all(part.intrpt for part in parts),
        all(part.settled for part in parts),
        unseen,
        together if conjunction else None,
        None if conjunction else together,
    )


def _until(left: _Known, right: _Known) -> _Known:
    """Rule 5; a formula in Intrpt and in Neg counts as whichever helps."""
    waits = {"n"} if left.neg else left.conjunct
    goals = {"p"} if right.pos and not right.intrpt else right.disjunct
    intrpt = (
        waits is not None
        and goals is not None
        and waits <= {"n", "i"}
        and goals <= {"p", "i"}
        and not ("i" in waits and "p" in goals)
    )
    return _known(intrpt, False, None)


def _release(left: _Known, right: _Known) -> _Known:
    return _not(_until(_not(left), _not(right)))


def _weak(left: _Known, right: _Known) -> _Known:
    """Rule 6: ``(l U r) | G l``."""
    false = _known(True, True, False)
    return _joined([_until(left, right), _release(false, left)], conjunction=False)


def derivation(formula: Any) -> list[tuple[str, frozenset[str]]]:
    """Return the subformulas of a formula with their classes, smaller ones first."""
    lines: list[tuple[str, frozenset[str]]] = []

    def combine(node: Any, kind: str, below: list[_Known]) -> _Known:
        known = _combined(node, kind, below)
        lines.append((str(node), _members(known)))
        return known

    fold(formula, combine)
    return lines


def _members(known: _Known) -> frozenset[str]:
    members = {"intrpt": known.intrpt, "pos": known.pos, "neg": known.neg}
    return frozenset(name for name, member in members.items() if member)

"""Formulas made simpler as far as no run of a system tells them apart.

A subformula is replaced by a constant or by an operand of its own if no word that
agrees with what is known of runs tells the two formulas apart, as Spot decides.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import fold, kind_of, rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Cube = Mapping[str, bool]

MOST_NAMED = 6
"""Propositions of a formula that is made simpler."""

_LARGEST = 40
"""Operators and propositions of such a formula."""


def is_small(formula: Any) -> bool:
    """Whether a formula is one that can be made simpler, in little time."""
    import spot

    names = spot.atomic_prop_collect(formula) or ()
    return 0 < len(names) <= MOST_NAMED and spot.length(formula) <= _LARGEST


def depth_of_next(formula: Any) -> int:
    """Return how many X are nested in a formula."""

    def deepest(_: Any, kind: str, below: list[int]) -> int:
        return max(below, default=0) + (kind == "X")

    return fold(formula, deepest)


def simpler_formula(
    formula: Any,
    impossible: Iterable[Cube],
    first: Iterable[Sequence[Cube] | None],
    deadline: float,
) -> Any:
    """Return a formula that the same runs satisfy.

    Where the first one is stutter-invariant, so is each that it is replaced by.

    Parameters
    ----------
    formula : spot.formula
        A formula of LTL.
    impossible : iterable of mapping of str to bool
        Conjunctions of literals that hold nowhere on a run.
    first : iterable of sequences of such mappings, or None
        For the first steps of runs, conjunctions of which one holds there; None if
        nothing is known of a step.
    deadline : float
        When nothing else is tried, as `time.process_time` counts.
    """
    import spot

    known = [spot.formula_G(spot.formula_Not(_conjunction(c))) for c in impossible]
    for step, letters in enumerate(first):
        if letters is not None:
            said = spot.formula_Or([_conjunction(letter) for letter in letters])
            for _ in range(step):
                said = spot.formula_X(said)
            known.append(said)
    return _Simplification(formula, known, deadline).formula


def _conjunction(literals: Cube) -> Any:
    import spot

    return spot.formula_And(
        [
            spot.formula_ap(name) if holds else spot.formula_Not(spot.formula_ap(name))
            for name, holds in sorted(literals.items())
        ]
    )


class _Simplification:
    """A formula that is made simpler, as far as nothing known tells it from the first.

    `simpler_formula` has more about it.
    """

    def __init__(self, formula: Any, known: list[Any], deadline: float) -> None:
        import spot

        self.formula = formula
        self._deadline = deadline
        runs = _automaton(spot.formula_And(known))
        self._true = spot.product(_automaton(formula), runs)
        self._false = spot.product(_automaton(spot.formula_Not(formula)), runs)
        self._stutters = spot.is_stutter_invariant(formula)
        without = fold(formula, _without_next)
        if without != formula and self._is_same(without):
            self.formula = without
        while self._has_changed():
            pass

    def _has_changed(self) -> bool:
        """Whether one more subformula is replaced."""
        for candidate in _candidates(self.formula):
            if time.process_time() > self._deadline:
                return False
            if self._is_same(candidate):
                self.formula = candidate
                return True
        return False

    def _is_same(self, candidate: Any) -> bool:
        import spot

        if self._true.intersects(_automaton(spot.formula_Not(candidate))):
            return False
        if self._false.intersects(_automaton(candidate)):
            return False
        return not self._stutters or bool(spot.is_stutter_invariant(candidate))


def _automaton(formula: Any) -> Any:
    import spot

    return spot.translate(formula, "GeneralizedBuchi", "Low", "Any")


def _without_next(node: Any, kind: str, below: list[Any]) -> Any:
    if kind == "X":
        return below[0]
    return rebuilt(kind, below) if below else node


def _candidates(formula: Any) -> Iterator[Any]:
    """Yield formulas with a subformula replaced, the largest ones first."""
    import spot

    parts: dict[int, Any] = {}

    def noted(node: Any, _: str, __: list[Any]) -> None:
        parts[node.id()] = node

    fold(formula, noted)
    size = spot.length(formula)
    for part in sorted(parts.values(), key=spot.length, reverse=True):
        kind, operands = kind_of(part), list(part)
        if kind in ("tt", "ff"):
            continue
        others = [spot.formula_tt(), spot.formula_ff(), *operands]
        if kind in ("U", "M"):
            others.append(spot.formula_F(operands[kind == "U"]))
        if kind in ("R", "W"):
            others.append(spot.formula_G(operands[kind == "R"]))
        for other in others:
            found = fold(formula, _replacing(part, other))
            if found != formula and spot.length(found) < size:
                yield found


def _replacing(part: Any, other: Any) -> Any:
    def replaced(node: Any, kind: str, below: list[Any]) -> Any:
        if node == part:
            return other
        return rebuilt(kind, below) if below else node

    return replaced

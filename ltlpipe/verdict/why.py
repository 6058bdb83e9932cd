"""Why a run violates a formula: the values of subformulas at each step.

A value is true, false, or, in a finite run, pending: what follows decides.  Cells that
*matter* are a sufficient cause of the violation: with their values alone the formula is
false at the first step, whatever the others are.

Source: I. Beer, S. Ben-David, H. Chockler, A. Orni and R. Trefler, "Explaining
counterexamples using causality", FMSD 40 (2012), Sec. 4.

Differences from the source: one sufficient cause is marked, and not the union of all;
runs may be lassos.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.formulas import kind_of
from ltlpipe.logic.progression import residual
from ltlpipe.logic.words import Shape, evaluated, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.logic.formulas import Formula

Value = bool | None
"""None is pending."""


class Explanation(NamedTuple):
    """The values of a formula's parts along a run.

    Parameters
    ----------
    formulas : list of spot.formula
        The formula, then its subformulas, each once, outer ones first.
    depths : list of int
        How deep each stands in the formula.
    values : list of list of bool or None
        Of each formula the value at each step: true, false, or pending.
    matters : list of list of bool
        Which values are the cause of the violation.
    first : int
        The step in which the cycle begins, from 0; of a finite run their number.
    """

    formulas: list[Any]
    depths: list[int]
    values: list[list[Value]]
    matters: list[list[bool]]
    first: int

    @property
    def n_steps(self) -> int:
        """The number of steps, prefix and cycle together."""
        return len(self.values[0])

    def step_matters(self, step: int) -> bool:
        """Whether a proposition at a step, from 0, is part of the cause."""
        return any(
            row[step]
            for formula, row in zip(self.formulas, self.matters, strict=True)
            if formula.kindstr() == "ap"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json --why`` has."""
        return {
            "subformulas": list(map(str, self.formulas)),
            "values": self.values,
            "matters": self.matters,
        }

    def to_frame(self) -> Any:
        """Return a DataFrame: a row for each subformula, a column for each step.

        Steps are numbered from 1; values are nullable booleans, missing where they are
        pending.
        """
        import pandas as pd

        index = pd.Index(list(map(str, self.formulas)), name="subformula", dtype=object)
        columns = pd.RangeIndex(1, self.n_steps + 1, name="step")
        return pd.DataFrame(self.values, index, columns, dtype="boolean")


def explained(
    formula: Formula, letters: Sequence[Iterable[str]], first: int
) -> Explanation:
    """Return why a run violates a formula.

    Parameters
    ----------
    formula : Formula
        What is violated.
    letters : sequence of collections of str
        The propositions that hold at each step, prefix and cycle together.
    first : int
        The step in which the cycle begins, from 0; of a finite run their number.

    Raises
    ------
    UnsupportedError
        The formula is PSL.
    """
    depths = _depths(formula.spot)
    nodes = list(depths)
    if first < len(letters):
        known = _values_in_lasso(formula.spot, letters, first)
    else:
        known = _values_in_run(nodes, letters)
        known[formula.spot.id()][:1] = [False] * bool(letters)  # the verdict says so
    matters = _Cells(known, first).causes(formula.spot)
    return Explanation(
        nodes,
        list(depths.values()),
        [known[node.id()] for node in nodes],
        [
            [(node.id(), step) in matters for step in range(len(letters))]
            for node in nodes
        ],
        first,
    )


def _depths(formula: Any) -> dict[Any, int]:
    """Return subformulas, outer ones first, and how deep each stands."""
    found: dict[Any, int] = {}
    left = [(formula, 0)]
    while left:
        node, depth = left.pop()
        if node not in found:
            found[node] = depth
            left.extend((operand, depth + 1) for operand in reversed(list(node)))
    return found


def _values_in_lasso(
    formula: Any, letters: Sequence[Iterable[str]], first: int
) -> dict[int, list[Value]]:
    """Return the value of each subformula at each step of a lasso."""
    shape = Shape(first, len(letters) - first)
    values = evaluated(formula, shape, places(letters))
    n = len(letters)
    return {
        node: [digit == "1" for digit in reversed(f"{value:0{n}b}")]
        for node, value in values.items()
    }


def _values_in_run(
    nodes: Sequence[Any], letters: Sequence[Iterable[str]]
) -> dict[int, list[Value]]:
    """Return the value of each subformula at each step of a finite run."""
    sets = [frozenset(letter) for letter in letters]
    known: dict[tuple[Any, int], Value] = {}

    def value(formula: Any, step: int) -> Value:
        passed = []
        found: Value = None
        while step < len(sets):
            if formula.is_tt() or formula.is_ff():
                found = bool(formula.is_tt())
                break
            if (formula, step) in known:
                found = known[formula, step]
                break
            passed.append((formula, step))
            formula, step = residual(formula, sets[step]), step + 1
        else:
            if formula.is_tt() or formula.is_ff():
                found = bool(formula.is_tt())
        known.update(dict.fromkeys(passed, found))
        return found

    return {n.id(): [value(n, step) for step in range(len(sets))] for n in nodes}


_Cell = tuple[Any, int]
"""A subformula, and a step from 0."""

_UNTIL: dict[str, tuple[bool, dict[int, bool], dict[int, bool]]] = {
    "F": (True, {0: True}, {}),
    "G": (False, {0: False}, {}),
    "U": (True, {1: True}, {0: True}),
    "R": (False, {1: False}, {0: False}),
    "W": (False, {1: False, 0: False}, {1: False}),
    "M": (True, {1: True, 0: True}, {1: True}),
}
"""Each temporal operator as an until: its value if that holds, and the values of its
operands where the until is reached, and up to there."""


class _Cells(NamedTuple):
    """The values of subformulas, by Spot's numbers of these and by steps."""

    values: dict[int, list[Value]]
    first: int  # the step in which the cycle begins

    def causes(self, formula: Any) -> set[tuple[int, int]]:
        """Return cells that suffice for the value of a formula at the first step."""
        found: set[tuple[int, int]] = set()
        left: list[_Cell] = [(formula, 0)]
        while left:
            node, step = left.pop()
            cell, values = (node.id(), step), self.values[node.id()]
            if cell in found or step == len(values) or values[step] is None:
                continue
            found.add(cell)
            left.extend(self._below(node, step))
        return found

    def _below(self, node: Any, step: int) -> list[_Cell]:
        """Return the cells of operands that suffice for the value of a cell."""
        kind, value = kind_of(node), self.values[node.id()][step]
        operands = list(node)
        if kind == "X":
            is_last = step + 1 == len(self.values[node.id()])
            return [(operands[0], self.first if is_last else step + 1)]
        if kind in _UNTIL:
            return self._along(operands, _UNTIL[kind], step, value)
        wanted = dict.fromkeys(range(len(operands)), value)
        if kind == "Implies":
            wanted[0] = not value
        takes_one = value is (kind != "And") and kind in ("And", "Or", "Implies")
        if not takes_one:
            return [(operand, step) for operand in operands]
        return self._agreeing(operands, wanted, step)[:1]

    def _agreeing(
        self, operands: Sequence[Any], wanted: Mapping[int, Value], step: int
    ) -> list[_Cell]:
        """Return the cells at a step that have the wanted values."""
        return [
            (operands[k], step)
            for k, value in wanted.items()
            if self.values[operands[k].id()][step] is value
        ]

    def _along(
        self,
        operands: Sequence[Any],
        until: tuple[bool, dict[int, bool], dict[int, bool]],
        step: int,
        value: Value,
    ) -> list[_Cell]:
        """Return the cells that suffice for the value of a temporal operator."""
        positive, reached, kept = until
        found: list[_Cell] = []
        for at in self._steps_from(step):
            if value is positive:
                here = self._agreeing(operands, reached, at)
                if len(here) == len(reached):
                    return found + here
                found += self._agreeing(operands, kept, at)
                continue
            found += self._agreeing(operands, _negated(reached), at)[:1]
            if broken := self._agreeing(operands, _negated(kept), at)[:1]:
                return found + broken
        return found

    def _steps_from(self, step: int) -> list[int]:
        """Return a step and all that follow it, each once."""
        n_steps = len(next(iter(self.values.values())))
        return [*range(step, n_steps), *range(self.first, step)]


def _negated(wanted: Mapping[int, bool]) -> dict[int, Value]:
    return {operand: not value for operand, value in wanted.items()}

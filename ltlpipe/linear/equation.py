"""Refutations of constraints by the state equation of a net.

A marking that is reached has ``m = m0 + C x`` for counts x >= 0 of the transitions,
where the columns of C are their effects.  If there are no such x and m >= 0 with some
inequalities ``D m + k <= 0``, then, by Farkas' lemma, there are weights w of the places
and factors z >= 0 of the inequalities such that no transition increases ``w m``, and
``w m + z (D m + k)`` is positive wherever ``w m`` is as large as at most initially.
These are found in floating-point numbers and count once they have been checked in
integers, which is what `Leaf` keeps.

Disjunctions are split where the solution of the linear program satisfies none of their
parts; then those that are about what may put into the places of the part that is taken
to be true.  (Where no transition is enabled, empty places are siphons.)  Marked pairs
that never are together, and initially marked traps that have no token where it
satisfies all, are excluded (`ltlpipe.linear.net_arrays`), and it is solved again.

Sources: T. Murata, "Petri Nets: Properties, Analysis and Applications", Proc. IEEE
77(4), 1989, Sec. IV-B (state equation) and V-C (traps); J. Esparza and S. Melzer,
"Verification of Safety Properties Using Integer Programming: Beyond the State
Equation", Formal Methods in System Design 16, 2000 (traps).

Differences from the sources: solutions are rational, and constraints are any Boolean
combination of linear inequalities; a trap is the largest one that is empty in a
solution.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.linear.constraints import (
    LARGEST,
    TOLERANCE,
    is_satisfied,
    key_of,
    parts_of,
    rows_in,
    sort_parts,
)
from ltlpipe.linear.net_arrays import (
    empty_trap,
    pair_rows,
    rounded,
    state_solver,
    trap_row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.linear.net_arrays import Structure

_NO_COLUMNS, _NO_GAINS = np.zeros(0, dtype=np.int32), np.zeros(0)
_MOST_TRAPS = 30
"""Traps that are excluded for one question."""

_MOST_KEPT = 60
"""Traps that are excluded from all solutions."""

_MOST_SPLITS = 200
"""Disjunctions split one within the other: refutations are nested as deep."""

_SECONDS = 10.0
"""Of one linear program."""


class TooLongError(Exception):
    """The time for a refutation is over."""


class _Row(NamedTuple):
    """A constraint as a row of the linear program over counts of transitions."""

    columns: np.ndarray  # int32[n], those with a gain
    gains: np.ndarray  # float64[n]
    most: float  # the largest sum of gains


class StateEquation:
    """The state equation of one net, and a solver that knows it.

    Parameters
    ----------
    net : Structure
        The net.
    deadline : float
        When `refutation` gives up, as `time.process_time` counts.
    """

    def __init__(self, net: Structure, deadline: float = float("inf")) -> None:
        self.net, self.deadline = net, deadline
        self.n_programs = 0
        self.known: list[Constraint] = []  # rows that hold in all markings
        self.inductive: list[dict[str, Any]] = []  # why they do
        self._tried: set[Any] = set()
        self.traps: list[Constraint] = []  # rows of those that are marked initially
        self._trap_rows: list[_Row] = []
        columns = {tuple(sorted(effect.items())): None for effect in net.effects}
        self._columns = [column for column in columns if column]
        sizes = [0, *map(len, self._columns)]
        self._first = np.cumsum(sizes)
        arcs = [arc for column in self._columns for arc in column]
        self._place = np.array([place for place, _ in arcs], dtype=np.int64)
        self._change = [change for _, change in arcs]
        self._initial = np.array(net.initial, dtype=np.float64)
        self._rows: dict[tuple[int, ...], _Row] = {}
        self._solver = state_solver(self._initial, self._columns)

    def know(self, rows: Sequence[Constraint]) -> None:
        """Use rows that hold in all markings from now on, and no others."""
        self._delete_rows(len(self._initial), len(self.known))
        self.known = list(rows)
        self._add_rows([*map(self._row, rows)])

    def is_new(self, row: Constraint) -> bool:
        """Whether this is the first time that somebody asks for a row."""
        key = key_of(row)
        found = key not in self._tried
        self._tried.add(key)
        return found

    def refutation(self, constraints: Sequence[Constraint]) -> Any:
        """Return a refutation of a conjunction of constraints; None if none is found.

        A refutation is plain data, to be checked by whoever believes nothing:

        - ``{"weights": [[place, w], ...], "rows": [row, ...], "factors": [z, ...]}``,
          where rows are parts of the constraints, known, or traps;
        - ``{"cases": constraint, "parts": [refutation, ...]}``, one for each part of a
          disjunction that is part of the constraints.

        Raises
        ------
        TooLongError
            The deadline has passed.
        """
        rows: list[Constraint] = []
        cases: list[Constraint] = []
        for constraint in constraints:
            sort_parts(constraint, rows, cases)
        self._about: dict[int, frozenset[int]] = {}  # places by ids of disjunctions
        return self._refuted(rows, cases)

    def _refuted(
        self,
        rows: list[Constraint],
        cases: list[Constraint],
        n_splits: int = 0,
        next_case: Constraint | None = None,
    ) -> Any:
        empty = next((case for case in cases if not case[1]), None)
        if empty is not None:
            return {"cases": empty, "parts": []}
        for _ in range(_MOST_TRAPS):
            known = [*self.known, *rows, *self.traps]
            marking, ray = self._solved(rows)
            if marking is None:
                return None if ray is None else self._leaf(known, ray)
            pairs = pair_rows(self.net, marking)
            if pairs:
                self._keep(pairs)
                continue
            violated = (c for c in cases if not is_satisfied(c, marking))
            open_case = min(violated, key=lambda c: len(c[1]), default=None)
            if open_case is not None:
                if n_splits == _MOST_SPLITS:
                    return None
                return self._split(next_case or open_case, rows, cases, n_splits + 1)
            trap = empty_trap(self.net, marking)
            if trap is None:
                return None
            self._keep([trap_row(trap)])
        return None

    def _keep(self, rows: list[Constraint]) -> None:
        """Use rows that hold in all markings, the latest ones of many."""
        self.traps += rows
        self._trap_rows += map(self._row, rows)
        del self.traps[:-_MOST_KEPT], self._trap_rows[:-_MOST_KEPT]

    def _split(
        self,
        case: Constraint,
        rows: list[Constraint],
        cases: list[Constraint],
        n_splits: int,
    ) -> Any:
        others = [own for own in cases if own is not case]
        parts = []
        for part in case[1]:
            near = self._near(part)
            next_case = next((c for c in others if near & self._places(c)), None)
            more_rows, more_cases = list(rows), list(others)
            sort_parts(part, more_rows, more_cases)
            found = self._refuted(more_rows, more_cases, n_splits, next_case)
            if found is None:
                return None
            if not _uses(found, part):
                return found
            parts.append(found)
        return {"cases": case, "parts": parts}

    def _near(self, part: Constraint) -> set[int]:
        """Return the inputs of transitions that put into the places of a row."""
        net, (putting, put) = self.net, self.net.arcs[1]
        places = [place for place, _ in part[1]] if part[0] == "row" else []
        makers = putting[np.isin(put, places)].tolist()
        return {place for t in makers for place in net.inputs[t]}

    def _places(self, case: Constraint) -> frozenset[int]:
        found = self._about.get(id(case))
        if found is None:
            found = self._about[id(case)] = frozenset(
                place for row in rows_in(case) for place, _ in row[1]
            )
        return found

    def _solved(
        self, rows: Sequence[Constraint]
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return a marking with some rows and traps, or the dual ray of these."""
        import highspy

        solver, n_places = self._solver, len(self._initial)
        self.limit(solver)
        if not self._columns:
            return self._compared([*self.known, *rows, *self.traps])
        self.n_programs += 1
        told = [*map(self._row, rows), *self._trap_rows]
        self._add_rows(told)
        try:
            solver.run()
            status = solver.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                values = np.array(solver.getSolution().row_value)[:n_places]
                return values + self._initial, None
            if status == highspy.HighsModelStatus.kInfeasible:
                _, has_ray, ray = solver.getDualRay()
                return None, np.array(ray) if has_ray else None
            return None, None
        finally:
            self._delete_rows(n_places + len(self.known), len(told))

    def _add_rows(self, told: Sequence[_Row]) -> None:
        sizes = [0, *(len(own.columns) for own in told)]
        self._solver.addRows(
            len(told),
            np.full(len(told), -np.inf),
            np.array([own.most for own in told]),
            sum(sizes),
            np.cumsum(sizes[:-1], dtype=np.int32),
            np.concatenate([_NO_COLUMNS, *(own.columns for own in told)]),
            np.concatenate([_NO_GAINS, *(own.gains for own in told)]),
        )

    def _delete_rows(self, first: int, count: int) -> None:
        numbers = np.arange(first, first + count, dtype=np.int32)
        self._solver.deleteRows(count, numbers)

    def _compared(
        self, rows: Sequence[Constraint]
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Do the same for a net whose marking does not change."""
        for k, row in enumerate(rows):
            if not is_satisfied(row, self._initial):
                ray = np.zeros(len(self._initial) + len(rows))
                ray[len(self._initial) + k] = 1.0
                return None, ray
        return self._initial, None

    def limit(self, solver: Any) -> None:
        """Limit the time of a solver's next run.

        Raises
        ------
        TooLongError
            The deadline has passed.
        """
        seconds = min(self.deadline - time.process_time(), _SECONDS)
        if seconds <= 0:
            raise TooLongError
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds)

    def _row(self, constraint: Constraint) -> _Row:
        """Return a row as one of the linear program."""
        weights, constant = constraint[1:]
        key = constant, *(number for term in weights for number in term)
        found = self._rows.get(key)
        if found is None:
            gains: dict[int, int] = {}
            for place, weight in weights:
                for column, change in self._around[place]:
                    gains[column] = gains.get(column, 0) + weight * change
            used = sorted(column for column, gain in gains.items() if gain)
            found = self._rows[key] = _Row(
                np.array(used, dtype=np.int32),
                np.array([gains[column] for column in used], dtype=np.float64),
                -float(constant + sum(w * self.net.initial[p] for p, w in weights)),
            )
        return found

    @cached_property
    def _around(self) -> list[list[tuple[int, int]]]:
        """For each place the columns that change it, and by how much."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._initial]
        for number, column in enumerate(self._columns):
            for place, change in column:
                found[place].append((number, change))
        return found

    def _leaf(self, rows: Sequence[Constraint], ray: np.ndarray) -> Any:
        """Return the refutation that a dual ray is, in integers; None if it is none."""
        n_places = len(self._initial)
        for sign in (1.0, -1.0):
            slack, factors = sign * ray[:n_places], -sign * ray[n_places:]
            if min(slack.min(initial=0), factors.min(initial=0)) < -TOLERANCE:
                continue
            for numbers in rounded(np.concatenate([slack, factors])):
                found = self._exact(rows, numbers[:n_places], numbers[n_places:])
                if found is not None:
                    return found
        return None

    def _exact(
        self, rows: Sequence[Constraint], slack: list[int], factors: list[int]
    ) -> Any:
        """Return a refutation with some numbers if they make one."""
        weights = {place: own for place, own in enumerate(slack) if own}
        total = 0
        for (_, terms, constant), factor in zip(rows, factors, strict=True):
            total += factor * constant
            for place, weight in terms if factor else ():
                weights[place] = weights.get(place, 0) - factor * weight
        initially = sum(own * self.net.initial[p] for p, own in weights.items())
        if total <= initially or not self.is_never_increased(weights):
            return None
        used = [k for k, factor in enumerate(factors) if factor]
        return {
            "weights": [[place, own] for place, own in sorted(weights.items()) if own],
            "rows": [rows[k] for k in used],
            "factors": [factors[k] for k in used],
        }

    def fewest_firings(
        self, rows: Sequence[Constraint]
    ) -> dict[tuple[tuple[int, int], ...], int]:
        """Return how often each effect has to happen, at least, for rows to hold.

        Rounded up; nothing where no solution is found.
        """
        import highspy

        every = np.arange(len(self._columns), dtype=np.int32)
        if not len(every):
            return {}
        self.limit(self._solver)
        told, n_rows = [*map(self._row, rows)], len(self._initial) + len(self.known)
        self._solver.changeColsCost(len(every), every, np.ones(len(every)))
        self._add_rows(told)
        self._solver.run()
        counts = np.zeros(len(every))
        if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            counts = np.array(self._solver.getSolution().col_value)
        self._delete_rows(n_rows, len(told))
        self._solver.changeColsCost(len(every), every, np.zeros(len(every)))
        return {
            self._columns[k]: int(np.ceil(counts[k] - TOLERANCE))
            for k in np.flatnonzero(counts > TOLERANCE).tolist()
        }

    def is_never_increased(self, weights: dict[int, int]) -> bool:
        """Whether no transition increases a weighted sum of tokens."""
        if not self._columns:
            return True
        dense = [0] * len(self._initial)
        for place, own in weights.items():
            dense[place] = own
        largest = max(map(abs, dense), default=0)
        most = max(map(abs, self._change)) * int(np.diff(self._first).max())
        if largest * most < LARGEST:
            gains = np.array(dense, dtype=np.int64)[self._place]
            gains *= np.array(self._change, dtype=np.int64)
            return bool(np.add.reduceat(gains, self._first[:-1]).max() <= 0)
        return all(
            sum(dense[place] * change for place, change in column) <= 0
            for column in self._columns
        )


def premises_of(refutation: Any) -> list[Constraint]:
    """Return the rows and disjunctions that a refutation starts from, or adds."""
    if "cases" not in refutation:
        found: list[Constraint] = refutation["rows"]
        return found
    below = [own for part in refutation["parts"] for own in premises_of(part)]
    return [refutation["cases"], *below]


def _uses(refutation: Any, constraint: Constraint) -> bool:
    premises = premises_of(refutation)
    return any(part in premises for part in parts_of(constraint))

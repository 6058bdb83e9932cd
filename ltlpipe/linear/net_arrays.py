"""Linear programs about a net: its arrays, solvers, and cuts.

*Cuts* are inequalities that all markings satisfy and a solution does not: an initially
marked trap always has a token; two places that are never marked together, and have one
token at most, have one token together.  Solutions are turned into integers (`rounded`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.linear.constraints import LARGEST, TOLERANCE
from ltlpipe.systems.nets.concurrency import MOST_PLACES, concurrency, ended
from ltlpipe.systems.nets.structure import Arcs, changes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ltlpipe.linear.constraints import Constraint


class Structure:
    """A net as arrays: its initial marking and its arcs.

    `exclusive` are sets of places that might never have two tokens together;
    `excludes` says whether pairs that never have may be used without a proof.
    """

    def __init__(
        self,
        initial: Sequence[int],
        pre: Arcs,
        post: Arcs,
        exclusive: Sequence[Collection[int]] = (),
        *,
        excludes: bool = False,
    ) -> None:
        self.exclusive, self._excludes = exclusive, excludes
        self.initial = [int(tokens) for tokens in initial]
        self.pre, self.post = pre, post
        self.n_transitions = len(pre.first) - 1
        self.inputs = [_of(pre, t) for t in range(self.n_transitions)]
        outputs = (_of(post, t) for t in range(self.n_transitions))
        self.effects = list(map(changes, self.inputs, outputs))

    def without(self, transitions: Collection[int]) -> Structure:
        """Return the net without some transitions."""
        kept = np.ones(self.n_transitions, dtype=np.bool_)
        kept[list(transitions)] = False
        sides = []
        for arcs in (self.pre, self.post):
            sizes = np.diff(arcs.first)
            chosen = np.repeat(kept, sizes)
            first = np.concatenate([[0], np.cumsum(sizes[kept])])
            sides.append(Arcs(first, arcs.place[chosen], arcs.weight[chosen]))
        return Structure(self.initial, *sides, excludes=self._excludes)

    @cached_property
    def exclusive_pairs(self) -> np.ndarray | None:
        """bool[n_places, n_places], pairs with one token at most; None if not found."""
        if not self._excludes or len(self.initial) > MOST_PLACES:
            return None
        outputs = [_of(self.post, t) for t in range(self.n_transitions)]
        moves = list(zip(self.inputs, outputs, strict=True))
        found = ended(concurrency(self.initial, moves))
        return None if found is None else found.exclusive()

    @cached_property
    def arcs(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """The transitions and places of arcs that take, and of those that put."""
        numbers = np.arange(self.n_transitions)
        return tuple(
            (np.repeat(numbers, np.diff(arcs.first)), arcs.place)
            for arcs in (self.pre, self.post)
        )


def _of(arcs: Arcs, transition: int) -> dict[int, int]:
    own = slice(int(arcs.first[transition]), int(arcs.first[transition + 1]))
    return dict(zip(arcs.place[own].tolist(), arcs.weight[own].tolist(), strict=True))


_MOST_PAIRS = 10
"""Pairs of places that are excluded at once."""


def empty_trap(net: Structure, marking: np.ndarray) -> list[int] | None:
    """Return an initially marked trap without tokens in a marking, if there is one.

    It is the largest trap of the places without tokens.
    """
    (taking, taken), (putting, put) = net.arcs
    inside = marking < TOLERANCE
    while True:
        gains = np.bincount(
            putting[inside[put]], minlength=net.n_transitions
        )  # the places inside to which each puts
        lost = taken[gains[taking] == 0]
        if not inside[lost].any():
            break
        inside[lost] = False
    trap: list[int] = np.flatnonzero(inside).tolist()
    return trap if any(net.initial[p] for p in trap) else None


def trap_row(trap: Iterable[int]) -> Constraint:
    """Return the constraint that some places have a token."""
    return ["row", [[place, -1] for place in sorted(trap)], 1]


def pair_rows(net: Structure, marking: np.ndarray) -> list[Constraint]:
    """Return constraints of pairs of places that a marking violates most."""
    if net.exclusive_pairs is None:
        return []
    marked = np.flatnonzero(marking > TOLERANCE)
    pairs = net.exclusive_pairs[np.ix_(marked, marked)]
    own = marking[marked]
    excess = np.triu(np.where(pairs, own + own[:, None] - 1.0, 0.0))
    worst = np.argsort(excess, axis=None)[: -1 - _MOST_PAIRS : -1]
    worst = worst[excess.ravel()[worst] > TOLERANCE]
    found = np.column_stack(np.unravel_index(worst, excess.shape))
    return [["row", [[p, 1], [q, 1]], -1] for p, q in marked[found].tolist()]


_DENOMINATORS = (1, 12, 1_000, 1_000_000)


def rounded(numbers: np.ndarray) -> Iterable[list[int]]:
    """Yield integers that are nearly in the proportion of numbers at least 0."""
    numbers = np.where(numbers < 1e-9, 0.0, numbers)
    positive = numbers[numbers > 0]
    if not len(positive):
        return
    for scale in (positive.min(), positive.max()):
        values, which = np.unique(np.round(numbers / scale, 9), return_inverse=True)
        for most in _DENOMINATORS:
            parts = [Fraction(v).limit_denominator(most) for v in values.tolist()]
            common = lcm(*(part.denominator for part in parts))
            if common > LARGEST:
                continue
            whole = [int(part * common) for part in parts]
            divisor = gcd(*whole)
            if divisor:
                yield [whole[k] // divisor for k in which.tolist()]


def flow_solver(columns: Sequence[Sequence[tuple[int, int]]], n_rows: int) -> Any:
    """Return a solver whose columns are effects, and whose rows are at least 0.

    It minimises the sum of counts.
    """
    import highspy

    solver = quiet_solver()
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(columns), n_rows
    program.col_cost_ = np.ones(len(columns))
    program.col_lower_ = np.zeros(len(columns))
    program.col_upper_ = np.full(len(columns), highspy.kHighsInf)
    program.row_lower_ = np.zeros(n_rows)
    program.row_upper_ = np.full(n_rows, highspy.kHighsInf)
    arcs = [arc for column in columns for arc in column]
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.cumsum([0, *map(len, columns)], dtype=np.int32)
    program.a_matrix_.index_ = np.array([place for place, _ in arcs], dtype=np.int32)
    program.a_matrix_.value_ = np.array([float(change) for _, change in arcs])
    solver.passModel(program)
    return solver


def state_solver(
    initial: np.ndarray, columns: Sequence[Sequence[tuple[int, int]]]
) -> Any:
    """Return a solver whose rows are places and whose columns are effects."""
    n_rows, n_columns = len(initial), len(columns)
    solver = flow_solver(columns, n_rows)
    every_row = np.arange(n_rows, dtype=np.int32)
    every_column = np.arange(n_columns, dtype=np.int32)
    most = np.array(solver.getLp().row_upper_)
    solver.changeRowsBounds(n_rows, every_row, -initial, most)
    solver.changeColsCost(n_columns, every_column, np.zeros(n_columns))
    return solver


def quiet_solver() -> Any:
    """Return a solver of one thread that keeps its rays: without presolving."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    for name, value in (("threads", 1), ("presolve", "off"), ("solver", "simplex")):
        solver.setOptionValue(name, value)
    return solver

"""Solvers of linear programs about a net, and integers made of their solutions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DENOMINATORS = (1, 12, 1_000, 1_000_000)
LARGEST = 1 << 60
"""Integers beyond are not computed with."""


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

"""Infinite runs of a system, as integers, and their shortest form.

The lasso of a product may go several times round a cycle of the system, once for each
state of the property automaton on the way.  The run is the same if the repetition is
left to the cycle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_FIRST = 4096


class Run(NamedTuple):
    """An infinite run of a system: k prefix steps, then a cycle of c steps.

    A state is n local states, or the values of n variables.
    """

    actions: np.ndarray  # int32[k + c], the system's; -1 repeats a deadlocked state
    states: np.ndarray  # [k + c + 1, n], before each step and after the last
    length: int  # k


def compressed(run: Run) -> Run:
    """Return the same run with the shortest prefix and cycle."""
    actions, states, length = run
    steps = actions, states[: len(actions)]
    period = _period(*(column[length:] for column in steps))
    # A step of the prefix belongs to the cycle if the last one of the cycle
    # is the same step: then the cycle can begin one step earlier.
    same = np.ones(length, dtype=np.bool_)
    for column in steps:
        equal = column[:length] == column[period : length + period]
        same &= equal if equal.ndim == 1 else equal.all(axis=1)
    differing = np.flatnonzero(~same)
    k = int(differing[-1]) + 1 if len(differing) else 0
    return Run(actions[: k + period], states[: k + period + 1], k)


def _period(actions: np.ndarray, states: np.ndarray) -> int:
    """Return the length of the shortest part of which the steps are a power."""
    n = len(actions)
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    for period in [*small, *(n // d for d in reversed(small))]:
        # The first steps tell most of those apart that are no periods.
        for end in (min(period + _FIRST, n), n):
            if not (
                np.array_equal(actions[period:end], actions[: end - period])
                and np.array_equal(states[period:end], states[: end - period])
            ):
                break
        else:
            return period
    return n

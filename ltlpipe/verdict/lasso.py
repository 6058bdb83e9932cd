"""An infinite run of the system, written down in the shortest way.

The lasso of a product may go several times round a cycle of the system, once
for each state of the property automaton on the way.  The run is the same if
the repetition is left to the cycle.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.verdict.verdict import Lasso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.models import Model

STUTTER_NAME = "<stutter>"
"""Stands in a lasso for the step in which a deadlocked state repeats itself."""

_FIRST = 4096


def network_lasso(
    system: Network, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a network; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    names = _names([action.name for action in system.actions], actions[: k + c])
    return Lasso(names[:k], names[k:], actions[: k + c], states[: k + c + 1])


def model_lasso(
    system: Model, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a model; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    shown = [system.shown(tuple(state)) for state in states[: k + c].tolist()]
    moves = _names(system.actions, actions[: k + c])
    return Lasso(shown[:k], shown[k:], actions[: k + c], states[: k + c + 1], moves)


def _names(known: Sequence[str], actions: np.ndarray) -> list[str]:
    names: list[str] = np.array([*known, STUTTER_NAME], dtype=object)[actions].tolist()
    return names


def shortest_form(
    actions: np.ndarray, states: np.ndarray, length: int
) -> tuple[int, int]:
    """Return the lengths of the shortest prefix and cycle of the same run.

    Parameters
    ----------
    actions : int32[k + c]
        The actions of prefix and cycle.
    states : int32[k + c + 1, n]
        The states of the system before each of them and after the last.
    length : int
        k, the length of the prefix.

    Returns
    -------
    k, c : int
        The run is ``actions[:k]`` and then ``actions[k:k + c]`` for ever.
    """
    steps = actions, states[: len(actions)]
    period = _period(*(column[length:] for column in steps))
    # A step of the prefix belongs to the cycle if the last one of the cycle
    # is the same step: then the cycle can begin one step earlier.
    same = np.ones(length, dtype=np.bool_)
    for column in steps:
        equal = column[:length] == column[period : length + period]
        same &= equal if equal.ndim == 1 else equal.all(axis=1)
    differing = np.flatnonzero(~same)
    return int(differing[-1]) + 1 if len(differing) else 0, period


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

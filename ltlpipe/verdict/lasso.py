"""An infinite run of the system, written down in the shortest way.

The lasso of a product may go several times round a cycle of the system, once
for each state of the property automaton on the way.  The run is the same if
the repetition is left to the cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.verdict.verdict import Lasso

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.models import Model

STUTTER_NAME = "<stutter>"
"""Stands in a lasso for the step in which a deadlocked state repeats itself."""


def network_lasso(
    system: Network, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a network; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    names = _names([action.name for action in system.actions], actions[: k + c])
    return Lasso(
        prefix=names[:k],
        cycle=names[k:],
        actions=actions[: k + c],
        states=states[: k + c + 1],
    )


def model_lasso(
    system: Model, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a model; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    shown = [system.shown(tuple(state)) for state in states[: k + c].tolist()]
    return Lasso(
        prefix=shown[:k],
        cycle=shown[k:],
        actions=actions[: k + c],
        states=states[: k + c + 1],
        moves=_names(system.actions, actions[: k + c]),
    )


def _names(known: Sequence[str], actions: np.ndarray) -> list[str]:
    return [STUTTER_NAME if a < 0 else known[a] for a in actions.tolist()]


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
    steps = [
        (action, state.tobytes())
        for action, state in zip(actions.tolist(), states, strict=False)
    ]
    period = _period(steps[length:])
    # A step of the prefix belongs to the cycle if the last one of the cycle
    # is the same step: then the cycle can begin one step earlier.
    while length > 0 and steps[length - 1] == steps[length + period - 1]:
        length -= 1
    return length, period


def _period(steps: list[tuple[int, bytes]]) -> int:
    """Return the length of the shortest word of which `steps` is a power.

    By the borders of its prefixes (Knuth, Morris & Pratt, "Fast Pattern
    Matching in Strings", SIAM Journal on Computing 6(2), 1977).
    """
    border = [0] * len(steps)
    k = 0
    for i in range(1, len(steps)):
        while k > 0 and steps[i] != steps[k]:
            k = border[k - 1]
        if steps[i] == steps[k]:
            k += 1
        border[i] = k
    period = len(steps) - border[-1]
    return period if len(steps) % period == 0 else len(steps)

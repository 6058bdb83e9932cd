"""From a run of factors back to one of the components.

Where each state of a component stands for one of its minimal form the run is looked up.
Elsewhere, bisimilar states are one in the factors: the component follows step by step,
and its cycle may have to be gone through several times before it closes.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import factoring
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.memory import STEP_BYTES, most_steps
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.components.factoring.factored_network import Factored, Origin
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

_STEP_WORK = 2


class _Followed(NamedTuple):
    """The states of one component along a prefix, and once round its cycle and more."""

    states: np.ndarray  # int32[k + c * rounds + 1]
    before: int  # rounds before those that repeat themselves
    rounds: int


def unfactored(network: Network, found: Factored, path: Run) -> Job[Run]:
    """Find the run of a network that a run of its factors stands for.

    Parameters
    ----------
    network : Network
        What was factored.
    found : Factored
        What has become of it.
    path : Run
        A run of ``found.network``.

    Raises
    ------
    StoppedError
        Memory does not suffice for so long a lasso.
    """
    assert found.network is not None
    actions = _actions(network, found)[path.actions]  # the last entry stays -1
    n_steps, k = len(actions), path.length
    looked_up: dict[int, np.ndarray] = {}
    followed: dict[int, _Followed] = {}
    for number, origin in enumerate(found.origins):
        yield factoring(_STEP_WORK * n_steps, n_steps * STEP_BYTES)
        goals = path.states[:, origin.places].astype(np.int64) @ np.array(
            origin.weights, dtype=np.int64
        )
        if origin.number_of is None:
            looked_up[number] = goals
        elif (inverse := _inverse(origin)) is not None:
            looked_up[number] = inverse[goals]
        else:
            followed[number] = yield from _follow(
                network, number, origin, actions, goals, k
            )
    before = max((f.before for f in followed.values()), default=0)
    every = lcm(*(f.rounds - f.before for f in followed.values()))
    rounds = before + every
    grant = yield factoring(0, n_steps * STEP_BYTES * len(found.origins))
    total = k + (n_steps - k) * rounds
    if total > most_steps(grant.memory_bytes, len(network.components)):
        raise StoppedError(MEMORY)
    states = np.empty((total + 1, len(network.components)), dtype=np.int32)
    places = _places(n_steps, k, rounds)
    for number, column in looked_up.items():
        states[:, number] = column[places]
    for number, one in followed.items():
        states[:, number] = one.states[_places_of(one, n_steps, k, rounds)]
    last = total - every * (n_steps - k)
    return Run(actions[places[:-1]], states, last)


def _actions(network: Network, found: Factored) -> np.ndarray:
    """Return the number of each action before factoring, int32, and -1 behind them."""
    assert found.network is not None
    of_place = {
        place: number
        for number, origin in enumerate(found.origins)
        for place in origin.places
    }
    internal = {
        (action.participants[0], action.name): number
        for number, action in enumerate(network.actions)
        if action.internal
    }
    numbers = [
        internal[of_place[action.participants[0]], action.name]
        if action.internal
        else network.action_index[action.name]
        for action in found.network.actions
    ]
    return np.array([*numbers, -1], dtype=np.int32)


def _inverse(origin: Origin) -> np.ndarray | None:
    """Return the state of each number, int64; None if a number has several."""
    assert origin.number_of is not None
    reached = np.flatnonzero(origin.number_of >= 0)
    numbers = origin.number_of[reached]
    inverse = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    inverse[numbers] = reached
    return inverse if len(inverse) == len(reached) else None


def _follow(
    network: Network,
    number: int,
    origin: Origin,
    actions: np.ndarray,
    goals: np.ndarray,
    length: int,
) -> Job[_Followed]:
    """Let a component take part in a run, until its states repeat themselves."""
    component, number_of = network.components[number], origin.number_of
    assert number_of is not None
    leaving: dict[tuple[int, str], list[int]] = {}
    for src, label, dst in component.transitions():
        leaving.setdefault((src, label), []).append(dst)
    yield factoring(component.n_transitions)
    labels = [
        action.name if number in action.participants else None
        for action in network.actions
    ]
    labels.append(None)  # of -1
    states = [component.initial]

    def advance(steps: Sequence[int]) -> None:
        for step in steps:
            state, label = states[-1], labels[actions[step]]
            if label is not None:
                targets = leaving[state, label]
                state = next(d for d in targets if number_of[d] == goals[step + 1])
            states.append(state)

    advance(range(length))
    begun: dict[int, int] = {}
    while states[-1] not in begun:
        begun[states[-1]] = len(begun)
        advance(range(length, len(actions)))
        held = len(states) * STEP_BYTES
        yield factoring(_STEP_WORK * (len(actions) - length), held)
    found = np.array(states, dtype=np.int32)
    return _Followed(found, begun[states[-1]], len(begun))


def _places(n_steps: int, length: int, rounds: int) -> np.ndarray:
    """Return which step each is if a cycle is gone round several times, and the end."""
    cycle = np.tile(np.arange(length, n_steps), rounds)
    return np.concatenate([np.arange(length), cycle, [n_steps]])


def _places_of(one: _Followed, n_steps: int, length: int, rounds: int) -> np.ndarray:
    """Return where the states before each step, and at the end, stand in a component's.

    It repeats its own rounds from `before` on.
    """
    size = n_steps - length
    turn = np.arange(rounds)
    period = one.rounds - one.before
    turn = np.where(turn < one.before, turn, one.before + (turn - one.before) % period)
    begin = length + turn * size
    cycle = (begin[:, None] + np.arange(size)).ravel()
    return np.concatenate([np.arange(length), cycle, [cycle[-1] + 1]])

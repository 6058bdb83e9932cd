"""From a run of factors back to one of the components.

Where each state of a component stands for one of its minimal form the run is looked up.
Elsewhere, bisimilar states are one in the factors: the component follows step by step,
and its cycle may have to be gone through several times before it closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import factoring
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.memory import STEP_BYTES, most_steps
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.components.factoring.factors import Factored, Origin
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

_STEP_WORK = 2


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
    followers: dict[int, _Follower] = {}
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
            followers[number] = _Follower(network, number, origin, goals)
            yield factoring(network.components[number].n_transitions)
    for follower in followers.values():
        follower.take(actions, range(k))
    begun: dict[tuple[int, ...], int] = {}  # by states, how many rounds before
    while (now := tuple(f.states[-1] for f in followers.values())) not in begun:
        begun[now] = len(begun)
        for follower in followers.values():
            follower.take(actions, range(k, n_steps))
        total = k + (n_steps - k) * len(begun)
        held = total * STEP_BYTES * len(found.origins)
        grant = yield factoring(_STEP_WORK * (n_steps - k) * len(followers), held)
        if total > most_steps(grant.memory_bytes, len(network.components)):
            raise StoppedError(MEMORY)
    rounds = np.tile(np.arange(k, n_steps), len(begun))
    places = np.concatenate([np.arange(k), rounds, [n_steps]])
    states = np.empty((len(places), len(network.components)), dtype=np.int32)
    for number, column in looked_up.items():
        states[:, number] = column[places]
    for number, follower in followers.items():
        states[:, number] = follower.states
    return Run(actions[places[:-1]], states, k + (n_steps - k) * begun[now])


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


class _Follower:
    """The states of a component as it takes part in a run."""

    def __init__(
        self, network: Network, number: int, origin: Origin, goals: np.ndarray
    ) -> None:
        assert origin.number_of is not None
        component = network.components[number]
        self.states = [component.initial]
        self._number_of, self._goals = origin.number_of, goals
        self._leaving: dict[tuple[int, str], list[int]] = {}
        for src, label, dst in component.transitions():
            self._leaving.setdefault((src, label), []).append(dst)
        self._labels = [
            action.name if number in action.participants else None
            for action in network.actions
        ]
        self._labels.append(None)  # of -1

    def take(self, actions: np.ndarray, steps: Iterable[int]) -> None:
        """Take some steps of the run."""
        for step in steps:
            state, label = self.states[-1], self._labels[actions[step]]
            if label is not None:
                goal = self._goals[step + 1]
                targets = self._leaving[state, label]
                state = next(d for d in targets if self._number_of[d] == goal)
            self.states.append(state)

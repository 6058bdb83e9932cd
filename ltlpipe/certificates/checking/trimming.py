"""Which transitions of the components of a network a run can take at most.

A local state is *reached* and an action *happens* in the smallest sense such that
initial states are reached, an action happens once each of its participants offers it in
some reached state, and transitions with it from reached states then reach their
targets.  Every run stays inside, so nothing else has to be kept.

Cost: linear in the transitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

_PHASE = "checking the reduction"
_STEP_WORK = 1.0  # microseconds
_TRANSITION_BYTES = 100


class Possible:
    """What can happen in a network at most; see `possible`."""

    def __init__(self, network: Network) -> None:
        self._network = network
        internal = {
            (a.participants[0], a.name): k
            for k, a in enumerate(network.actions)
            if a.internal
        }
        shared = network.action_index
        # By component: the action of each label.
        self._actions = [
            [internal.get((i, name), shared.get(name, -1)) for name in lts.labels]
            for i, lts in enumerate(network.components)
        ]
        self._reached: list[set[int]] = [set() for _ in network.components]
        self._missing = [len(action.participants) for action in network.actions]

    def job(self) -> Job[None]:
        """Reach states and let actions happen until nothing changes."""
        network, reached, missing = self._network, self._reached, self._missing
        n = sum(lts.n_transitions for lts in network.components)
        ticks = Ticks(_PHASE, _STEP_WORK, n * _TRANSITION_BYTES)
        steps: list[dict[int, list[tuple[int, int]]]] = []
        for i, lts in enumerate(network.components):
            own: dict[int, list[tuple[int, int]]] = {}
            for src, label, dst in zip(
                lts.src.tolist(), lts.label.tolist(), lts.dst.tolist(), strict=True
            ):
                own.setdefault(src, []).append((self._actions[i][label], dst))
                if ticks.over():
                    yield ticks.progress
            steps.append(own)
        offered: set[tuple[int, int]] = set()
        waiting: dict[int, list[tuple[int, int]]] = {}
        stack = [(i, lts.initial) for i, lts in enumerate(network.components)]
        for i, state in stack:
            reached[i].add(state)
        while stack:
            i, state = stack.pop()
            for action, dst in steps[i].get(state, ()):
                if (i, action) not in offered:
                    offered.add((i, action))
                    missing[action] -= 1
                waiting.setdefault(action, []).append((i, dst))
                if missing[action]:
                    continue
                for other, target in waiting.pop(action):
                    if target not in reached[other]:
                        reached[other].add(target)
                        stack.append((other, target))
                if ticks.over():
                    yield ticks.progress

    def happens(self, action: int) -> bool:
        """Whether an action, by its number in the network, can happen."""
        return self._missing[action] == 0

    def kept(self, component: int) -> np.ndarray:
        """Return bool[m]: the transitions of a component that can be taken."""
        lts = self._network.components[component]
        own = [self.happens(action) for action in self._actions[component]]
        states = np.fromiter(self._reached[component], dtype=np.int64)
        happening = np.array([*own, False], dtype=np.bool_)
        kept: np.ndarray = np.isin(lts.src, states) & happening[lts.label]
        return kept


def possible(network: Network) -> Job[Possible]:
    """Find out what can happen in a network at most."""
    found = Possible(network)
    yield from found.job()
    return found

"""Random steps through a network, and random infinite runs.

`random_lassos` draws random infinite runs of a network.  A random walk is the prefix.
For the cycle only a few random components continue, until their joint state repeats:
they have few joint states, so that happens soon, unlike for a whole network.  So all
but a few components starve: each run shows actions that can happen up to some moment
and then never again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ltlpipe.logic.words import Word

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np

    from ltlpipe.systems.networks.lts import Network

State = tuple[int, ...]

MOST_MOVING = 3
"""Components that take part in a cycle, at most."""


class Walker:
    """Steps through a network in random directions.

    Parameters
    ----------
    network : Network
        It is not changed.
    """

    def __init__(self, network: Network) -> None:
        self._actions = network.actions
        self.initial: State = tuple(c.initial for c in network.components)
        # by component and state: the targets of each action
        self._targets: list[list[dict[int, list[int]]]] = []
        parts = zip(network.components, network.label_actions, strict=True)
        for component, numbers in parts:
            number = dict(zip(component.labels, numbers, strict=True))
            targets: list[dict[int, list[int]]] = [
                {} for _ in range(component.n_states)
            ]
            for src, label, dst in component.transitions():
                targets[src].setdefault(number[label], []).append(dst)
            self._targets.append(targets)

    def enabled(self, state: State, among: Collection[int]) -> list[int]:
        """Return the actions that some components can take without the others."""
        willing: dict[int, int] = {}
        for i in among:
            for action in self._targets[i][state[i]]:
                willing[action] = willing.get(action, 0) + 1
        return [
            k for k, n in willing.items() if n == len(self._actions[k].participants)
        ]

    def step(self, state: State, action: int, rng: np.random.Generator) -> State:
        """Return where an enabled action leads to, at random if to several states."""
        after = list(state)
        for i in self._actions[action].participants:
            targets = self._targets[i][state[i]][action]
            after[i] = targets[int(rng.integers(len(targets)))]
        return tuple(after)

    def walk(
        self, start: State, rng: np.random.Generator, steps: int
    ) -> tuple[list[int], list[State]]:
        """Return the actions of a walk and their targets, in order.

        It has `steps` of them, fewer if it ends in a deadlock.
        """
        actions: list[int] = []
        states: list[State] = []
        everyone = range(len(self._targets))
        state = start
        while len(actions) < steps and (enabled := self.enabled(state, everyone)):
            actions.append(enabled[int(rng.integers(len(enabled)))])
            state = self.step(state, actions[-1], rng)
            states.append(state)
        return actions, states

    def lasso(self, rng: np.random.Generator, steps: int) -> Word | None:
        """Return a run with a prefix of at most `steps`.

        None if the chosen components find no cycle.
        """
        prefix, states = self.walk(self.initial, rng, steps)
        length = int(rng.integers(len(prefix), endpoint=True))
        prefix = prefix[:length]
        state = states[length - 1] if length else self.initial
        n = len(self._targets)
        n_moving = int(rng.integers(1, min(n, MOST_MOVING), endpoint=True))
        moving = rng.choice(n, n_moving, replace=False).tolist()
        seen = {state: 0}
        cycle: list[int] = []
        while enabled := self.enabled(state, moving):
            cycle.append(enabled[int(rng.integers(len(enabled)))])
            state = self.step(state, cycle[-1], rng)
            if state in seen:
                k = seen[state]
                return Word(self._names(prefix + cycle[:k]), self._names(cycle[k:]))
            seen[state] = len(cycle)
        return None

    def _names(self, actions: list[int]) -> tuple[str, ...]:
        return tuple(self._actions[k].name for k in actions)


def random_lassos(
    network: Network, n: int, *, rng: np.random.Generator, steps: int
) -> list[Word]:
    """Return up to n random runs, from the initial state; fewer if many walks fail.

    Parameters
    ----------
    network : Network
        Without internal labels that a formula could mistake for actions.
    n : int
        How many.
    rng : Generator
        Decides all of them.
    steps : int
        Length of the longest prefix; each run has a random one up to that, or up to
        where its walk ends in a deadlock.
    """
    walker = Walker(network)
    tries = (walker.lasso(rng, steps) for _ in range(10 * n))
    return list(islice(filter(None, tries), n))

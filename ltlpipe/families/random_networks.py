"""Random networks of Büchi automata, and random infinite runs of networks.

Every component is a random graph in which every state can be reached from the
initial one if synchronisation is left aside; a given share of its transitions
is local.  The same arguments give the same network, on any machine, as long as
NumPy's `default_rng` keeps its stream.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6
(components of 15 to 100 states, up to 3 % of them and at least one accepting,
a ratio of local transitions, no internal accepting cycle; 150 networks for each
of 2 to 8 components and each ratio of 0 %, 20 %, ..., 80 %).

Differences from the source: it fixes neither the number of transitions nor
that of labels: `OUT_DEGREE` is ours, the other a parameter.  The ratio of local
transitions is met in every component, up to rounding and two exceptions, which
`random_network` and `OUT_DEGREE` name (with the numbers of the source and the seeds 0
to 149 it is off by more than 0.03 in 4 of 26,250 components, by 0.06 at most).

`random_lassos` draws runs.  A random walk is the prefix.  For the cycle only a few
random components continue, until their joint state repeats: they have few joint states,
so that happens soon, unlike for a whole network.  So all but a few components starve:
each run shows actions that can happen up to some moment and then never again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.logic.words import Word
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Collection


OUT_DEGREE = 2
"""Transitions that leave a local state on average; a component has a few more where
its shared labels need them."""


def random_network(
    n_components: int,
    *,
    seed: int,
    n_states: tuple[int, int] = (15, 100),
    local_ratio: float = 0.4,
    accepting_ratio: float = 0.03,
    n_labels: int = 2,
    sharing: tuple[int, int] = (2, 2),
) -> Network:
    """Draw a network of Büchi automata.

    Parameters
    ----------
    n_components : int
        At least 2, so that labels can be shared.
    seed : int
        Not negative; decides, with the other arguments, the whole network.
    n_states : tuple of int
        Least and greatest number of local states of a component.
    local_ratio : float
        Local transitions per transition of a component, 0 <= ratio < 1.  A
        component has fewer where they would close an internal accepting cycle.
    accepting_ratio : float
        Upper bound of the accepting states per state; one accepts anyway.
    n_labels : int
        Shared labels per component that begin with it; it also takes part in
        those that begin with others.
    sharing : tuple of int
        Least and greatest number of components that share a label, at least
        2; (2, 2) is what `to_promela` can write.

    Returns
    -------
    Network
        With acceptance.  The shared labels are ``g0``, ``g1``, ..., the local
        ones of component i ``t<i>_0``, ``t<i>_1``, ....

    Raises
    ------
    UnsupportedError
        An argument is out of its range.

    Examples
    --------
    >>> network = random_network(3, seed=7)
    >>> network == random_network(3, seed=7)
    True
    """
    _check(n_components, n_states, sharing, local_ratio)
    if seed < 0:
        raise UnsupportedError(f"seed {seed} is negative: use 0 or more")
    if n_labels < 1:
        raise UnsupportedError(f"{n_labels} labels per component: use 1 or more")
    if not 0 <= accepting_ratio <= 1:
        raise UnsupportedError(f"accepting ratio {accepting_ratio}: use 0 to 1")
    rng = np.random.default_rng(seed)
    components = []
    for i, alphabet in enumerate(_share_labels(rng, n_components, n_labels, sharing)):
        size = int(rng.integers(*n_states, endpoint=True))
        accepting = _draw_accepting(rng, size, accepting_ratio)
        pairs = _draw_pairs(rng, size)
        local = _choose_local(rng, pairs, local_ratio, accepting)
        missing = len(alphabet) + len(local) - len(pairs)
        pairs += rng.integers(size, size=(max(0, missing), 2)).tolist()
        components.append(
            LTS.from_transitions(
                _label(rng, pairs, local, alphabet, f"t{i}_"),
                n_states=size,
                accepting=np.flatnonzero(accepting).tolist(),
                name=f"random{i}",
            )
        )
    return Network(components, name=f"random-{n_components}-{seed}")


def _check(
    n_components: int,
    n_states: tuple[int, int],
    sharing: tuple[int, int],
    local_ratio: float,
) -> None:
    if n_components < 2:
        raise UnsupportedError(f"{n_components} components share no label: use >= 2")
    if not 1 <= n_states[0] <= n_states[1]:
        raise UnsupportedError(f"{n_states} is not a range of at least 1 state")
    if not 2 <= sharing[0] <= sharing[1]:
        raise UnsupportedError(f"{sharing} is not a range of at least 2 components")
    if not 0 <= local_ratio < 1:
        raise UnsupportedError(f"local ratio {local_ratio}: use 0 <= ratio < 1")


def _share_labels(
    rng: np.random.Generator, n: int, n_labels: int, sharing: tuple[int, int]
) -> list[list[str]]:
    """Return the shared labels of each of `n` components, each at least `n_labels`."""
    alphabets: list[list[str]] = [[] for _ in range(n)]
    for number in range(n * n_labels):
        owner = number % n
        size = int(rng.integers(*sharing, endpoint=True))
        others = rng.choice(n - 1, min(size, n) - 1, replace=False)
        for i in [owner, *((owner + 1 + others) % n).tolist()]:
            alphabets[i].append(f"g{number}")
    return alphabets


def _draw_accepting(rng: np.random.Generator, size: int, ratio: float) -> np.ndarray:
    """Return bool[size], true for 1 up to ``ratio * size`` random states."""
    most = max(1, int(ratio * size))
    accepting = np.zeros(size, dtype=np.bool_)
    number = int(rng.integers(1, most, endpoint=True))
    accepting[rng.choice(size, number, replace=False)] = True
    return accepting


def _draw_pairs(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Return [src, dst] of a random graph whose states all follow from 0.

    A random tree reaches every state, the other pairs are drawn freely.
    """
    pairs = [[int(rng.integers(dst)), dst] for dst in range(1, size)]
    n_free = max(1, OUT_DEGREE * size - len(pairs))
    free: list[list[int]] = rng.integers(size, size=(n_free, 2)).tolist()
    return pairs + free


def _choose_local(
    rng: np.random.Generator, pairs: list[list[int]], ratio: float, avoid: np.ndarray
) -> set[int]:
    """Return the indices of random pairs, `ratio` of them if so many can be taken.

    Passed over are those that would close a cycle of taken pairs through a
    state of `avoid`, bool[size].
    """
    quota = round(ratio * len(pairs))
    closure = np.eye(len(avoid), dtype=np.bool_)  # [a, b]: taken pairs lead a to b
    chosen: set[int] = set()
    for k in rng.permutation(len(pairs)).tolist():
        if len(chosen) == quota:
            break
        src, dst = pairs[k]
        before, after = closure[:, src], closure[dst]
        if not (before & after & avoid).any():
            chosen.add(k)
            closure |= np.outer(before, after)
    return chosen


def _label(
    rng: np.random.Generator,
    pairs: list[list[int]],
    local: set[int],
    shared: list[str],
    prefix: str,
) -> list[tuple[int, str, int]]:
    """Return transitions: the pairs of `local` get one of four labels of their own.

    The others, at least as many as there are `shared` labels, get each of
    those once, then any.  Duplicates are dropped.
    """
    first = iter(rng.permutation(shared).tolist())
    transitions = []
    for k, (src, dst) in enumerate(pairs):
        if k in local:
            label = f"{prefix}{rng.integers(4)}"
        else:
            label = next(first, "") or shared[int(rng.integers(len(shared)))]
        transitions.append((src, label, dst))
    return list(dict.fromkeys(transitions))


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

"""A network as a relational structure: what an automorphism has to keep.

The nodes are the components, then the actions, then the local states that their
components reach, component by component.  The tuples are ``(component, action)`` for
alphabets, ``(component, state)``, and ``(action, state, state)`` for transitions.  A
permutation of the nodes that keeps kinds of nodes and the set of tuples is an
automorphism of the network.

`outline` is the same without the local states: far smaller, and enough to see that
most networks have no symmetry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import SYMMETRY, comparing
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.packing import reachable_states

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network

_STATES_AT_ONCE = 1 << 13  # in Python, until the next progress

MOST_NODES = 2_000_000
"""A tuple of three nodes is compared as one number of 63 bits."""


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Return numbers that look random, different ones for different `numbers` (uint64).

    The finaliser of SplitMix64: G.  L.  Steele, D.  Lea and C.  H.  Flood, "Fast
    Splittable Pseudorandom Number Generators", OOPSLA 2014; it is a bijection.
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: np.ndarray = numbers ^ (numbers >> np.uint64(31))
    return result


@dataclass(frozen=True, eq=False)
class Structure:
    """Coloured components, actions and local states, and tuples of these nodes."""

    n_components: int
    n_actions: int
    colours: np.ndarray  # uint64[n], different for different kinds of nodes
    tuples: np.ndarray  # int64[3, m], each once; the last of a pair is n
    weights: np.ndarray  # uint64[m], equal where an automorphism can lead
    owners: np.ndarray  # int64[k], components of the local states

    @property
    def first_state(self) -> int:
        """The first node that is a local state."""
        return self.n_components + self.n_actions

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.colours)

    @property
    def n_tuples(self) -> int:
        """Number of tuples."""
        return int(self.tuples.shape[1])

    @cached_property
    def places(self) -> np.ndarray:
        """int64[3*m]: where nodes stand in the flattened `tuples`, node by node."""
        return np.argsort(self.tuples.ravel(), kind="stable")

    @cached_property
    def ends(self) -> np.ndarray:
        """int64[n+1]: the places of node k are ``places[ends[k]:ends[k+1]]``."""
        nodes = np.sort(self.tuples.ravel())
        return np.searchsorted(nodes, np.arange(self.n_nodes + 1))

    @cached_property
    def _keys(self) -> np.ndarray:
        return np.sort(self._as_keys(self.tuples))

    def _as_keys(self, tuples: np.ndarray) -> np.ndarray:
        base = self.n_nodes + 1
        keys: np.ndarray = (tuples[0] * base + tuples[1]) * base + tuples[2]
        return keys

    def is_automorphism(self, permutation: np.ndarray) -> bool:
        """Whether a permutation of the nodes keeps kinds and tuples.

        It is int64[n], where each node goes.
        """
        if not np.array_equal(self.colours[permutation], self.colours):
            return False
        images = np.append(permutation, self.n_nodes)[self.tuples]
        return np.array_equal(np.sort(self._as_keys(images)), self._keys)


@dataclass(frozen=True, eq=False)
class Parts:
    """What structures of a network are made of.

    Reached states are numbered through, component by component.
    """

    network: Network
    reached: list[np.ndarray]  # int32[k] each, local states of a component, ascending
    first_state: np.ndarray  # int64[n_components+1]
    owner: np.ndarray  # int64[p], with `action` the alphabets: each component ...
    action: np.ndarray  # int64[p], ... with each of its labels' actions
    # int64[m]: transitions between reached states, each once: which of the p pairs
    # takes which state to which.
    use: np.ndarray
    src: np.ndarray
    dst: np.ndarray

    @property
    def n_states(self) -> int:
        """Number of reached local states of all components."""
        return int(self.first_state[-1])

    @cached_property
    def starts(self) -> np.ndarray:
        """int64[n_components]: the initial states."""
        pairs = zip(self.network.components, self.reached, strict=True)
        places = [int(np.searchsorted(reached, c.initial)) for c, reached in pairs]
        return self.first_state[:-1] + np.array(places, dtype=np.int64)


def parts_of(network: Network) -> Job[Parts]:
    """Take a network apart."""
    components = network.components
    reached = []
    ticks = Ticks(SYMMETRY, 0.1)
    for c in components:
        reached.append((yield from reachable_states(c, ticks)))
    first_state = np.cumsum([0, *map(len, reached)])
    n_labels = [len(c.labels) for c in components]
    first_use = np.cumsum([0, *n_labels])
    tables = []
    for k, c in enumerate(components):
        tables.append(_transitions(c, reached[k], first_use[k], first_state[k]))
        yield comparing(4 * c.n_transitions)
    table = np.concatenate(tables, axis=1)
    use, src, dst = _each_once(table)
    yield comparing(4 * table.size)
    return Parts(
        network=network,
        reached=reached,
        first_state=first_state,
        owner=np.repeat(np.arange(len(components)), n_labels),
        action=_actions_of_labels(network),
        use=use,
        src=src,
        dst=dst,
    )


def _transitions(
    component: LTS, reached: np.ndarray, first_use: int, first_state: int
) -> np.ndarray:
    """Return the transitions from reached states: int64[3, k], use, src, dst."""
    src = np.searchsorted(reached, component.src)
    src[src == len(reached)] = 0
    kept = reached[src] == component.src
    dst = np.searchsorted(reached, component.dst[kept])
    return np.stack(
        [component.label[kept] + first_use, src[kept] + first_state, dst + first_state]
    ).astype(np.int64)


def _each_once(table: np.ndarray) -> tuple[np.ndarray, ...]:
    use, src, dst = table
    order = np.lexsort((dst, src, use))
    table = table[:, order]
    new = np.ones(table.shape[1], dtype=np.bool_)
    new[1:] = (table[:, 1:] != table[:, :-1]).any(axis=0)
    return tuple(table[:, new])


def _actions_of_labels(network: Network) -> np.ndarray:
    """Return the action of each label of each component, one after the other."""
    index = {
        (a.name, a.participants[0] if a.internal else -1): k
        for k, a in enumerate(network.actions)
    }
    return np.array(
        [
            index[label, k if label in component.internal else -1]
            for k, component in enumerate(network.components)
            for label in component.labels
        ],
        dtype=np.int64,
    )


def structure_of(parts: Parts, *, keeps_start: bool = True) -> Job[Structure]:
    """Represent all of a network as a structure.

    With `keeps_start` automorphisms keep the initial state.
    """
    network = parts.network
    n_components, n_actions = len(network.components), len(network.actions)
    first = n_components + n_actions
    n_nodes = first + parts.n_states
    alphabets = _pairs(parts.owner, n_components + parts.action, n_nodes)
    owners = np.repeat(np.arange(n_components), np.diff(parts.first_state))
    states = np.arange(first, n_nodes)
    steps = [
        n_components + parts.action[parts.use],
        first + parts.src,
        first + parts.dst,
    ]
    tuples = np.concatenate(
        [alphabets, _pairs(owners, states, n_nodes), np.stack(steps)], axis=1
    )
    yield comparing(tuples.size)
    kinds = yield from _kinds_of_states(parts, keeps_start=keeps_start)
    return Structure(
        n_components=n_components,
        n_actions=n_actions,
        colours=mixed(np.concatenate([_kinds(network), kinds])),
        tuples=tuples,
        weights=np.zeros(tuples.shape[1], dtype=np.uint64),
        owners=owners,
    )


def outline_of(parts: Parts, *, keeps_start: bool = True) -> Structure:
    """Return components and actions alone, pairs weighted by their transitions.

    The colours of components tell apart those of different sizes; weights tell
    transitions of initial states apart, with `keeps_start`.
    """
    network = parts.network
    n_components, n_actions = len(network.components), len(network.actions)
    n_nodes = n_components + n_actions
    n_uses = len(parts.owner)
    at_start = np.isin(parts.src, parts.starts) & keeps_start
    counts = [
        np.bincount(parts.use, minlength=n_uses),
        np.bincount(parts.use[at_start], minlength=n_uses),
        np.bincount(parts.use[parts.src == parts.dst], minlength=n_uses),
    ]
    weights = np.zeros(n_uses, dtype=np.uint64)
    for count in counts:
        weights = mixed(weights + count.astype(np.uint64))
    colours = mixed(_kinds(network))
    sizes = np.diff(parts.first_state).astype(np.uint64)
    colours[:n_components] = mixed(colours[:n_components] + sizes)
    return Structure(
        n_components=n_components,
        n_actions=n_actions,
        colours=colours,
        tuples=_pairs(parts.owner, n_components + parts.action, n_nodes),
        weights=weights,
        owners=np.zeros(0, dtype=np.int64),
    )


def _pairs(first: np.ndarray, second: np.ndarray, last: int) -> np.ndarray:
    return np.stack([first, second, np.full(len(first), last)]).astype(np.int64)


def _kinds(network: Network) -> np.ndarray:
    """Return the kinds of components (1, 2) and actions (3, 4): uint64."""
    components = [1 + (c.accepting is None) for c in network.components]
    actions = [3 + a.internal for a in network.actions]
    return np.array([*components, *actions], dtype=np.uint64)


def _kinds_of_states(parts: Parts, *, keeps_start: bool) -> Job[np.ndarray]:
    """Give numbers from 5 for states, by whether they accept and how deep they lie.

    uint64[n_states].  Refining would find the depths too, but in as many rounds.  They
    do not count unless automorphisms keep the initial state.
    """
    kinds = np.full(parts.n_states, 5, dtype=np.int64)
    if keeps_start:
        kinds += 2 * (yield from _depths(parts))
    pairs = zip(parts.network.components, parts.reached, strict=True)
    for (component, reached), first in zip(pairs, parts.first_state, strict=False):
        if component.accepting is not None:
            kinds[first : first + len(reached)] += component.accepting[reached]
    return kinds.astype(np.uint64)


def _depths(parts: Parts) -> Job[np.ndarray]:
    """Find how many transitions each state is away from its initial one: int64."""
    order = np.argsort(parts.src, kind="stable")
    targets = parts.dst[order].tolist()
    bounds = np.searchsorted(parts.src[order], np.arange(parts.n_states + 1)).tolist()
    depths = [-1] * parts.n_states
    layer = parts.starts.tolist()
    depth = 0
    waiting = 0
    yield comparing(4 * len(targets))
    while layer:
        waiting += len(layer)
        if waiting > _STATES_AT_ONCE:
            yield Progress(SYMMETRY, waiting, 64 * parts.n_states)
            waiting = 0
        for state in layer:
            depths[state] = depth
        depth += 1
        near = {t for s in layer for t in targets[bounds[s] : bounds[s + 1]]}
        layer = [state for state in near if depths[state] < 0]
    return np.array(depths, dtype=np.int64)

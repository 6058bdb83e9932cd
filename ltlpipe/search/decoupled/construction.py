"""The tables of a decoupled composition, computed from a network and a monitor.

Sets of local states are Python integers here, and words in `tables`.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3.

Differences from the source: those of `tables`.

Cost: one union of sets per transition: closures are computed SCC by SCC, against the
direction of the internal transitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.search.decoupled.tables import (
    WORD_BITS,
    Decoupled,
    DecoupledNetwork,
    Places,
    place_sets,
)
from ltlpipe.search.driver import TABULATING
from ltlpipe.search.ticks import Ticks
from ltlpipe.systems.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.monitors import Monitor, Move
    from ltlpipe.systems.lts import LTS, Network


_BITS_PER_UNIT = 1 << 15
"""Bits of a set that are united with others in about a microsecond."""

_WORDS_PER_UNIT = 1 << 6
"""Words of a set that are written down in about a microsecond."""


class _Component:
    """The sets of one component, as integers whose bit k is its k-th local state.

    Parameters
    ----------
    lts : LTS
        The component.
    states : int32[k]
        Its local states, ascending.

    Attributes
    ----------
    size, initial : int
        Number of local states, and the initial one.
    closure : list of int
        What each local state reaches by internal transitions.
    images : dict of str to dict of int to int
        By global label, where each local state that has it gets to.
    accepting, looping, references : int
        See `Decoupled`.
    """

    def __init__(self, lts: LTS, states: np.ndarray) -> None:
        self._lts = lts
        self._index = {s: k for k, s in enumerate(states.tolist())}
        self.size = len(states)
        self.initial = self._index[lts.initial]
        flags = lts.accepting
        accepts = np.ones(self.size, dtype=np.bool_) if flags is None else flags[states]
        self.accepting = self.references = bits_of(accepts)
        self._accepting = np.flatnonzero(accepts).tolist()
        self.looping = 0
        self.closure: list[int] = []
        self.images: dict[str, dict[int, int]] = {}

    def tabulate(self, global_labels: frozenset[str], ticks: Ticks) -> Job[None]:
        """Compute the sets.

        Raises
        ------
        StoppedError
            They would take more memory than is granted; they are not made.
        """
        index = self._index
        internal: list[list[int]] = [[] for _ in index]
        steps: dict[str, dict[int, list[int]]] = {}
        for src, label, dst in self._lts.transitions():
            if ticks.over():
                yield ticks.progress
            if src not in index:
                continue
            if label in global_labels:
                targets = steps.setdefault(label, {})
                targets.setdefault(index[src], []).append(index[dst])
            else:
                internal[index[src]].append(index[dst])
        sccs = yield from _sccs(internal, ticks)
        n_images = sum(map(len, steps.values()))
        grant = yield ticks.progress
        ticks.memory_bytes += self._bytes(len(sccs), n_images, len(steps))
        if ticks.memory_bytes > grant.memory_bytes:
            raise StoppedError(MEMORY)
        yield from self._close(internal, sccs, ticks)
        for label, targets in steps.items():
            image = self.images[label] = {}
            for src, dsts in targets.items():
                image[src] = self._closed(dsts)
                if ticks.over(len(dsts) * self._union_work):
                    yield ticks.progress
        self.accepting_closures = {k: self.closure[k] for k in self._accepting}
        """What is reached from the accepting states: the image of an acceptor."""

    @property
    def _union_work(self) -> float:
        """Units of work of a union of two sets."""
        return 1 + self.size / _BITS_PER_UNIT

    def _bytes(self, n_sccs: int, n_images: int, n_labels: int) -> int:
        """Estimate the bytes of all sets, as integers and as words, and their places.

        All states of an SCC have one closure.
        """
        n_words = -(-self.size // WORD_BITS)
        sets = 2 * 8 * n_words * (n_sccs + n_images)
        return sets + 2 * 8 * WORD_BITS * n_words * (n_labels + 1)

    def _close(
        self, internal: list[list[int]], sccs: list[list[int]], ticks: Ticks
    ) -> Job[None]:
        """Compute closures SCC by SCC, each after those that it leads to."""
        self.closure = [0] * self.size
        looping = np.zeros(self.size, dtype=np.bool_)
        for scc in sccs:
            if len(scc) == 1:
                closed = 1 << scc[0]
                looping[scc] = scc[0] in internal[scc[0]]
            else:
                inside = np.zeros(self.size, dtype=np.bool_)
                inside[scc] = looping[scc] = True
                closed = bits_of(inside)
            for state in scc:
                for dst in internal[state]:  # 0 as long as it is one of this SCC
                    closed |= self.closure[dst]
                if ticks.over(1 + len(internal[state]) * self._union_work):
                    yield ticks.progress
            for state in scc:
                self.closure[state] = closed
        self.looping = self.accepting & bits_of(looping)

    def _closed(self, states: list[int]) -> int:
        union = self.closure[states[0]]  # the same object, where there is one
        for state in states[1:]:
            union |= self.closure[state]
        return union


class _Watching:
    """A monitor, as far as it is a component like `_Component`."""

    def __init__(self, monitor: Monitor) -> None:
        self.size = monitor.n_states
        self.initial = monitor.initial
        self.closure = [1 << k for k in range(monitor.n_states)]
        self.accepting = _bits(monitor.resting)
        self.looping = 0
        self.references = _bits(monitor.accepting)


def decouple(
    network: Network,
    monitor: Monitor | None = None,
    *,
    seed: int | None = None,
) -> Job[DecoupledNetwork]:
    """Compute the tables of a network's decoupled composition.

    Parameters
    ----------
    network : Network
        Its components accept as the source says, if there is no monitor.
    monitor : Monitor, optional
        What accepts instead; `counted`, if the tables are for a nested search.
    seed : int, optional
        Shuffles the order of the labels.

    Raises
    ------
    StoppedError
        The tables would take more memory than is granted.
    """
    ticks = Ticks(TABULATING)
    yield ticks.progress
    actions = network.actions
    seen = {i: None for i, a in enumerate(actions) if len(a.participants) > 1}
    labels = list(seen if monitor is None else monitor.actions)
    if seed is not None:
        labels = np.random.default_rng(seed).permutation(labels).tolist()
    names = frozenset(actions[i].name for i in labels)
    local = [reachable_states(c) for c in network.components]
    components = []
    for lts, states in zip(network.components, local, strict=True):
        component = _Component(lts, states)
        yield from component.tabulate(names - lts.internal, ticks)
        components.append(component)
    everyone: list[_Component | _Watching] = [*components]
    if monitor is not None:
        everyone.append(_Watching(monitor))
        local.append(np.arange(monitor.n_states, dtype=np.int32))
        _refer_to_all(components, monitor)
    places = place_sets([c.size for c in everyone])
    n_row = max(map(sum, zip(places.first_word, places.n_words, strict=True)))
    rows = np.zeros((4, n_row), dtype=np.uint64)
    sets = _Sets()
    closure: list[int] = []
    first_closure = []
    for i, one in enumerate(everyone):
        start = places.first_word[i]
        part = rows[:, start : start + places.n_words[i]]
        part[0] |= places.words_of(i, one.closure[one.initial])
        part[1] |= places.words_of(i, one.accepting)
        part[2] |= places.words_of(i, one.looping)
        part[3] |= places.words_of(i, one.references)
        first_closure.append(len(closure))
        closure += yield from sets.add(places, i, dict(enumerate(one.closure)), ticks)
    parts = _Parts(places, sets)
    for i in labels:
        images = {
            p: components[p].images.get(actions[i].name, {})
            for p in actions[i].participants
        }
        moves = None if monitor is None else monitor.actions[i]
        yield from parts.add_label(i, images, moves, ticks)
    acceptors = _acceptors(network, monitor)
    if monitor is not None:
        for j, (group, (_, move)) in enumerate(
            zip(acceptors, monitor.acceptors, strict=True)
        ):
            stays = {p: components[p].accepting_closures for p in group}
            yield from parts.add_label(-1 - j, stays, (move,), ticks)
    tables = Decoupled(
        first_word=_ints(places.first_word),
        n_words=_ints(places.n_words),
        shift=_ints(places.shift),
        mask=np.array(
            [
                ((1 << c.size) - 1) << shift if n == 1 else (1 << WORD_BITS) - 1
                for c, n, shift in zip(
                    everyone, places.n_words, places.shift, strict=True
                )
            ],
            dtype=np.uint64,
        ),
        accepting=rows[1].copy(),
        looping=rows[2].copy(),
        references=rows[3].copy(),
        first_part=_ints(parts.ends),
        component=_ints(parts.component),
        first_source=_ints(parts.first_source),
        sources=_joined(parts.sources),
        first_image=_ints(parts.first_image),
        image=_ints(parts.image),
        first_closure=_ints(first_closure),
        closure=_ints(closure),
        sets=_joined(sets.words),
    )
    n_watching = 0 if monitor is None else monitor.n_states
    return DecoupledNetwork(
        tables=tables,
        initial=rows[0].copy(),
        labels=np.array(parts.labels, dtype=np.int32),
        local_states=tuple(local),
        shared=frozenset(labels),
        acceptors=acceptors,
        marks=_marks(parts.moves, n_watching),
        n_marks=0 if monitor is None else monitor.n_marks,
    )


def _refer_to_all(components: Sequence[_Component], monitor: Monitor) -> None:
    """Let inner searches begin in every local state that the last acceptor allows."""
    held = monitor.acceptors[-1][0] if monitor.acceptors else ()
    for i, component in enumerate(components):
        if i not in held:
            component.references = (1 << component.size) - 1


def _acceptors(
    network: Network, monitor: Monitor | None
) -> tuple[tuple[int, ...], ...]:
    if monitor is not None:
        return tuple(group for group, _ in monitor.acceptors)
    accepting = [i for i, c in enumerate(network.components) if c.accepting is not None]
    return (tuple(accepting),)


def _marks(moves: Sequence[Move], n_states: int) -> np.ndarray:
    """Return uint32[n_labels, n_states], the marks of each label's move."""
    marks = np.zeros((len(moves), n_states), dtype=np.uint32)
    for label, move in enumerate(moves):
        for state, (_, bits) in move.items():
            marks[label, state] = bits
    return marks


class _Sets:
    """The array `Decoupled.sets` as it grows."""

    def __init__(self) -> None:
        self.words: list[np.ndarray] = []
        self.length = 0
        # By bytes: integers of many bits have few hashes, 61 for all powers of 2.
        self._known: dict[tuple[int, bytes], int] = {}

    def add(
        self, places: Places, i: int, sets: dict[int, int], ticks: Ticks
    ) -> Job[list[int]]:
        """Store sets of component i, by local state; return places per bit, or -1."""
        n_words = places.n_words[i]
        where = [-1] * (WORD_BITS * n_words)
        same: dict[int, int] = {}  # places by identity
        for state, bits in sets.items():
            if id(bits) not in same:
                same[id(bits)] = self._place_of(places, i, bits)
                if ticks.over(n_words / _WORDS_PER_UNIT):
                    yield ticks.progress
            where[places.shift[i] + state] = same[id(bits)]
            if ticks.over():
                yield ticks.progress
        return where

    def _place_of(self, places: Places, i: int, bits: int) -> int:
        """Return the place of a set, which is stored if it is new."""
        raw = (bits << places.shift[i]).to_bytes(8 * places.n_words[i], "little")
        place = self._known.setdefault((i, raw), self.length)
        if place == self.length:
            self.words.append(np.frombuffer(raw, dtype="<u8"))
            self.length += places.n_words[i]
        return place


class _Parts:
    """The arrays of labels and their parts as they grow."""

    def __init__(self, places: Places, sets: _Sets) -> None:
        self.places = places
        self.sets = sets
        self.labels: list[int] = []
        self.moves: list[Move] = []
        self.ends = [0]
        self.component: list[int] = []
        self.first_source: list[int] = []
        self.sources: list[np.ndarray] = []
        self.first_image: list[int] = []
        self.image: list[int] = []
        self.n_sources = 0
        self._moved: dict[int, tuple[int, int]] = {}  # parts of moves, by identity

    def add_label(
        self,
        label: int,
        images: dict[int, dict[int, int]],
        moves: tuple[Move, ...] | None,
        ticks: Ticks,
    ) -> Job[None]:
        """Add a label for every move of the monitor, or one if there is none.

        `images` has, for each participant, the image of every local state.
        """
        own = []
        for p, image in images.items():
            own.append((p, (yield from self._stored(p, image, ticks))))
        for move in ({},) if moves is None else moves:
            if moves is not None:
                if not move:
                    continue
                part = yield from self._part_of(move, ticks)
                self._add(len(self.places.n_words) - 1, part)
            for p, stored in own:
                self._add(p, stored)
            self.labels.append(label)
            self.moves.append(move)
            self.ends.append(len(self.component))

    def _part_of(self, move: Move, ticks: Ticks) -> Job[tuple[int, int]]:
        """Store a move once, however many labels have it."""
        if id(move) not in self._moved:
            watching = len(self.places.n_words) - 1
            image = {src: 1 << dst for src, (dst, _) in move.items()}
            self._moved[id(move)] = yield from self._stored(watching, image, ticks)
        return self._moved[id(move)]

    def _stored(
        self, p: int, images: dict[int, int], ticks: Ticks
    ) -> Job[tuple[int, int]]:
        """Store sources and images of a participant; return where they begin."""
        where = self.n_sources, len(self.image)
        self.sources.append(self.places.words_of(p, _bits(images)))
        self.n_sources += self.places.n_words[p]
        self.image += yield from self.sets.add(self.places, p, images, ticks)
        return where

    def _add(self, p: int, where: tuple[int, int]) -> None:
        self.component.append(p)
        self.first_source.append(where[0])
        self.first_image.append(where[1])


def _sccs(successors: list[list[int]], ticks: Ticks) -> Job[list[list[int]]]:
    """Return the SCCs of a graph, each after those that it leads to (Tarjan 1972)."""
    n = len(successors)
    lowlink = [-1] * n  # -1 unknown; n: its SCC is complete
    place = [0] * n  # on the stack of states whose SCC is not complete
    cursor = [0] * n
    current: list[int] = []
    sccs: list[list[int]] = []
    for start in range(n):
        path = [start] if lowlink[start] < 0 else []
        while path:
            if ticks.over():
                yield ticks.progress
            state = path[-1]
            if lowlink[state] < 0:
                lowlink[state] = place[state] = len(current)
                current.append(state)
            if cursor[state] < len(successors[state]):
                dst = successors[state][cursor[state]]
                if lowlink[dst] < 0:
                    path.append(dst)  # and the transition is looked at again
                    continue
                lowlink[state] = min(lowlink[state], lowlink[dst])
                cursor[state] += 1
                continue
            path.pop()
            if lowlink[state] == place[state]:
                scc = current[place[state] :]
                del current[place[state] :]
                sccs.append(scc)
                for member in scc:
                    lowlink[member] = n
    return sccs


def _bits(states: Iterable[int]) -> int:
    """Return the integer with these bits."""
    chosen = list(states)
    flags = np.zeros(max(chosen, default=-1) + 1, dtype=np.bool_)
    flags[chosen] = True
    return bits_of(flags)


def bits_of(flags: np.ndarray) -> int:
    """Return the integer whose bit k is the k-th of bool[n]."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0, dtype=np.uint64)], dtype=np.uint64)

"""The tables of a decoupled composition, computed from a network and a monitor.

Sets of local states are Python integers here, whose bit k is the k-th local state, and
words in `composition`.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3.

Differences from the source: those of `composition`.

Cost: one union of sets per transition: closures are computed SCC by SCC, against the
direction of the internal transitions.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.decoupled.composition import (
    WORD_BITS,
    Block,
    Decoupled,
    DecoupledNetwork,
    columns_of,
    place_sets,
    row_length,
)
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.networks.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.decoupled.monitors import Monitor, Move
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network


_WORDS_PER_UNIT = 1 << 6
"""Words of a set that are written down in about a microsecond."""

_BITS_PER_UNIT = 1 << 15
"""Bits of a set that are united with others in about a microsecond."""


class LocalSets:
    """The sets of a component of some local states (ascending), as integers.

    Attributes
    ----------
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
        """Compute the sets; `StoppedError` if they would exceed the memory granted."""
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


def _sccs(successors: list[list[int]], ticks: Ticks) -> Job[list[list[int]]]:
    """Return the SCCs of a graph, each after those that it leads to."""
    first = np.cumsum([0, *map(len, successors)])
    targets = np.array(list(chain(*successors)), dtype=np.int32)
    number, count = yield from sccs_of(first, targets, ticks.progress)
    members = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=count))[:-1]
    return [own.tolist() for own in np.split(members, ends)]


class _Watching:
    """A monitor, as far as it is a component like `LocalSets`."""

    def __init__(self, monitor: Monitor) -> None:
        self.size = monitor.n_states
        self.initial = monitor.initial
        self.closure = [1 << k for k in range(monitor.n_states)]
        self.accepting = set_of(monitor.resting)
        self.looping = 0
        self.references = set_of(monitor.accepting)


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
    local = []
    for lts in network.components:
        local.append((yield from reachable_states(lts, ticks)))
    components = []
    for lts, states in zip(network.components, local, strict=True):
        component = LocalSets(lts, states)
        yield from component.tabulate(names - lts.internal, ticks)
        components.append(component)
    everyone: list[LocalSets | _Watching] = [*components]
    if monitor is not None:
        everyone.append(_Watching(monitor))
        local.append(np.arange(monitor.n_states, dtype=np.int32))
        _refer_to_all(components, monitor)
    blocks = place_sets([one.size for one in everyone])
    rows = np.zeros((4, row_length(blocks)), dtype=np.uint64)
    sets = _Sets()
    closure: list[int] = []
    first_closure = []
    for block, one in zip(blocks, everyone, strict=True):
        part = rows[:, block.first_word : block.first_word + block.n_words]
        own = one.closure[one.initial], one.accepting, one.looping, one.references
        part |= np.array([block.words_of(bits) for bits in own])
        first_closure.append(len(closure))
        closure += yield from sets.add(block, dict(enumerate(one.closure)), ticks)
    parts = _Parts(blocks, sets)
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
    table = np.array(parts.parts, dtype=np.int64).reshape(-1, 3)
    participant, first_source, first_image = table.T.copy()
    tables = Decoupled(
        first_block=np.arange(len(blocks) + 1),
        **columns_of(blocks),
        accepting=rows[1].copy(),
        looping=rows[2].copy(),
        references=rows[3].copy(),
        first_part=_ints(parts.ends),
        component=participant,
        first_source=first_source,
        sources=_joined(parts.sources),
        first_image=first_image,
        image=_ints(parts.image),
        first_closure=_ints(first_closure),
        closure=_ints(closure),
        sets=(yield from sets.joined(ticks)),
    )
    n_watching = 0 if monitor is None else monitor.n_states
    return DecoupledNetwork(
        tables=tables,
        blocks=blocks,
        initial=rows[0].copy(),
        labels=np.array(parts.labels, dtype=np.int32),
        local_states=tuple(local),
        shared=frozenset(labels),
        acceptors=acceptors,
        marks=_marks(parts.moves, n_watching),
        n_marks=0 if monitor is None else monitor.n_marks,
    )


def _refer_to_all(components: Sequence[LocalSets], monitor: Monitor) -> None:
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
        self.length = 0
        self._words: list[np.ndarray] = []
        # By bytes: integers of many bits have few hashes, 61 for all powers of 2.
        self._known: dict[tuple[Block, bytes], int] = {}

    def add(self, block: Block, sets: dict[int, int], ticks: Ticks) -> Job[list[int]]:
        """Store sets of a component, by local state; return places per bit, or -1."""
        where = [-1] * (WORD_BITS * block.n_words)
        same: dict[int, int] = {}  # places by identity
        for state, bits in sets.items():
            if id(bits) not in same:
                same[id(bits)] = self._place_of(block, bits)
                if ticks.over(block.n_words / _WORDS_PER_UNIT):
                    yield ticks.progress
            where[block.shift + state] = same[id(bits)]
            if ticks.over():
                yield ticks.progress
        return where

    def _place_of(self, block: Block, bits: int) -> int:
        """Return the place of a set, which is stored if it is new."""
        words = block.words_of(bits)
        place = self._known.setdefault((block, words.tobytes()), self.length)
        if place == self.length:
            self._words.append(words)
            self.length += block.n_words
        return place

    def joined(self, ticks: Ticks) -> Job[np.ndarray]:
        """Return all sets, uint64[n_words]; none can be added any more."""
        joined = np.empty(self.length, dtype=np.uint64)
        self._known.clear()
        self._words.reverse()
        at = 0
        while self._words:  # each is freed, since they may be most of the memory
            words = self._words.pop()
            joined[at : at + len(words)] = words
            at += len(words)
            if ticks.over(len(words) / _WORDS_PER_UNIT):
                yield ticks.progress
        return joined


class _Parts:
    """The arrays of labels and their parts as they grow."""

    def __init__(self, blocks: list[Block], sets: _Sets) -> None:
        self.blocks = blocks
        self.sets = sets
        self.labels: list[int] = []
        self.moves: list[Move] = []
        self.ends = [0]
        # The participant, and where its sources and images begin.
        self.parts: list[tuple[int, int, int]] = []
        self.sources: list[np.ndarray] = []
        self.n_sources = 0
        self.image: list[int] = []
        self._moved: dict[int, tuple[int, int, int]] = {}  # of moves, by identity

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
            own.append((yield from self._stored(p, image, ticks)))
        if moves is None:
            self._end(label, own, {})
            return
        for move in filter(None, moves):
            if id(move) not in self._moved:  # once, however many labels have it
                watching = len(self.blocks) - 1
                image = {src: 1 << dst for src, (dst, _) in move.items()}
                part = yield from self._stored(watching, image, ticks)
                self._moved[id(move)] = part
            self._end(label, [self._moved[id(move)], *own], move)

    def _stored(
        self, p: int, images: dict[int, int], ticks: Ticks
    ) -> Job[tuple[int, int, int]]:
        """Store sources and images of a participant; return its part."""
        part = p, self.n_sources, len(self.image)
        self.sources.append(self.blocks[p].words_of(set_of(images)))
        self.n_sources += self.blocks[p].n_words
        self.image += yield from self.sets.add(self.blocks[p], images, ticks)
        return part

    def _end(
        self, label: int, parts: Sequence[tuple[int, int, int]], move: Move
    ) -> None:
        self.parts += parts
        self.labels.append(label)
        self.moves.append(move)
        self.ends.append(len(self.parts))


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0, dtype=np.uint64)], dtype=np.uint64)


def set_of(states: Iterable[int]) -> int:
    """Return the integer with these bits."""
    chosen = list(states)
    flags = np.zeros(max(chosen, default=-1) + 1, dtype=np.bool_)
    flags[chosen] = True
    return bits_of(flags)


def bits_of(flags: np.ndarray) -> int:
    """Return the integer whose bit k is the k-th of bool[n]."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

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

from functools import reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.decoupled.composition import (
    WORD_BITS,
    Block,
    Decoupled,
    DecoupledNetwork,
    place_sets,
    places_of,
    row_length,
)
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.networks.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ltlpipe.decoupled.monitors import Monitor, Move
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network


_WORDS_PER_UNIT = 1 << 6
"""Words of a set that are written down in about a microsecond."""

_BITS_PER_UNIT = 1 << 15
"""Bits of a set that are united with others in about a microsecond."""


class LocalSets(NamedTuple):
    """The sets of a component of some local states, as integers; or a monitor's."""

    initial: int
    closure: list[int]  # what each local state reaches by internal transitions
    accepting: int  # see `Decoupled`
    looping: int
    references: int
    # By global label, where each local state that has it gets to.
    images: dict[str, dict[int, int]]

    @property
    def accepting_closures(self) -> dict[int, int]:
        """What is reached from the accepting states: the image of an acceptor."""
        accepting = self.accepting
        return {k: c for k, c in enumerate(self.closure) if accepting >> k & 1}


def _local_sets(
    lts: LTS, states: np.ndarray, global_labels: Collection[str], ticks: Ticks
) -> Job[LocalSets]:
    """Compute the sets of a component of some local states (ascending).

    `StoppedError` if they would exceed the memory granted.
    """
    n, flags = len(states), lts.accepting
    index = {s: k for k, s in enumerate(states.tolist())}
    internal: list[list[int]] = [[] for _ in index]
    steps: dict[str, dict[int, list[int]]] = {}
    for src, label, dst in lts.transitions():
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
    grant = yield ticks.progress
    # All sets, as integers and as words, and their places; an SCC has one closure.
    n_sets, n_words = len(sccs) + sum(map(len, steps.values())), -(-n // WORD_BITS)
    n_places = WORD_BITS * (len(steps) + 1)
    ticks.memory_bytes += 2 * 8 * n_words * (n_sets + n_places)
    if ticks.memory_bytes > grant.memory_bytes:
        raise StoppedError(MEMORY)
    closure, looping = yield from _closures(internal, sccs, ticks)
    images: dict[str, dict[int, int]] = {}
    for label, targets in steps.items():
        image = images[label] = {}
        for src, dsts in targets.items():  # the same object, where there is one
            image[src] = reduce(or_, [closure[dst] for dst in dsts])
            yield from ticks.worked(len(dsts) * (1 + n / _BITS_PER_UNIT))
    accepting = bits_of(np.ones(n, dtype=np.bool_) if flags is None else flags[states])
    looping &= accepting
    return LocalSets(index[lts.initial], closure, accepting, looping, accepting, images)


def _closures(
    internal: list[list[int]], sccs: list[list[int]], ticks: Ticks
) -> Job[tuple[list[int], int]]:
    """Return the closures, and what is on a cycle of internal transitions.

    They are computed SCC by SCC, each after those that it leads to.
    """
    n = len(internal)
    closure = [0] * n
    looping = np.zeros(n, dtype=np.bool_)
    for scc in sccs:
        if len(scc) == 1:
            closed = 1 << scc[0]
            looping[scc] = scc[0] in internal[scc[0]]
        else:
            inside = np.zeros(n, dtype=np.bool_)
            inside[scc] = looping[scc] = True
            closed = bits_of(inside)
        for state in scc:
            for dst in internal[state]:  # 0 as long as it is one of this SCC
                closed |= closure[dst]
            yield from ticks.worked(1 + len(internal[state]) * (1 + n / _BITS_PER_UNIT))
        for state in scc:
            closure[state] = closed
    return closure, bits_of(looping)


def _sccs(successors: list[list[int]], ticks: Ticks) -> Job[list[list[int]]]:
    """Return the SCCs of a graph, each after those that it leads to."""
    first = np.cumsum([0, *map(len, successors)])
    targets = np.array(list(chain(*successors)), dtype=np.int32)
    number, count = yield from sccs_of(first, targets, ticks.progress)
    members = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=count))[:-1]
    return [own.tolist() for own in np.split(members, ends)]


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
    labels = [i for i, a in enumerate(actions) if len(a.participants) > 1]
    if monitor is not None:
        labels = list(monitor.actions)
    if seed is not None:
        labels = np.random.default_rng(seed).permutation(labels).tolist()
    names = {actions[i].name for i in labels}
    local, sets = [], []
    for lts in network.components:
        local.append((yield from reachable_states(lts, ticks)))
    for lts, states in zip(network.components, local, strict=True):
        sets.append((yield from _local_sets(lts, states, names - lts.internal, ticks)))
    acceptors = _acceptors(network, monitor)
    asked: list[tuple[int, Images, Sequence[Move] | None]] = []
    for i in labels:
        name, who = actions[i].name, actions[i].participants
        images = {p: sets[p].images.get(name, {}) for p in who}
        asked.append((i, images, None if monitor is None else monitor.actions[i]))
    if monitor is not None:
        for j, (group, move) in enumerate(monitor.acceptors):
            images = {p: sets[p].accepting_closures for p in group}
            asked.append((-1 - j, images, (move,)))
        sets = [*_with_references(sets, monitor), _watching(monitor)]
        local.append(np.arange(monitor.n_states, dtype=np.int32))
    written = _Tables(place_sets([len(one.closure) for one in sets]))
    for one in sets:
        yield from written.add_component(one, ticks)
    for label, images, moves in asked:
        yield from written.add_label(label, images, moves, ticks)
    tables = yield from written.tables(ticks)
    n_watching = 0 if monitor is None else monitor.n_states
    return DecoupledNetwork(
        tables=tables,
        blocks=written.blocks,
        initial=written.rows[0].copy(),
        labels=np.array(written.labels, dtype=np.int32),
        local_states=tuple(local),
        shared=frozenset(labels),
        acceptors=acceptors,
        marks=_marks(written.moves, n_watching),
        moves=tuple(written.moves),
        n_marks=0 if monitor is None else monitor.n_marks,
    )


Images = dict[int, dict[int, int]]
"""For each participant of a label where each local state gets to."""


def _watching(monitor: Monitor) -> LocalSets:
    """Return a monitor as a component."""
    resting, accepting = set_of(monitor.resting), set_of(monitor.accepting)
    closure = [1 << k for k in range(monitor.n_states)]
    return LocalSets(monitor.initial, closure, resting, 0, accepting, {})


def _with_references(
    components: Sequence[LocalSets], monitor: Monitor
) -> list[LocalSets]:
    """Let inner searches begin in every local state that the last acceptor allows."""
    held = monitor.acceptors[-1][0] if monitor.acceptors else ()
    return [
        one if i in held else one._replace(references=(1 << len(one.closure)) - 1)
        for i, one in enumerate(components)
    ]


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


Part = tuple[int, int, int]
"""A participant of a label, and where its sources and images begin."""


class _Tables:
    """The arrays of `Decoupled` as they grow."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        # The initial state, and what accepts, loops and is a reference.
        self.rows = np.zeros((4, row_length(blocks)), dtype=np.uint64)
        self.labels: list[int] = []
        self.moves: list[Move] = []
        self._ends = [0]
        self._parts: list[Part] = []
        self._sources: list[np.ndarray] = []
        self._n_sources = 0
        self._image: list[int] = []
        self._moved: dict[int, Part] = {}  # parts of the monitor, by identity of moves
        self._first_closure: list[int] = []
        self._closure: list[int] = []
        self._sets: list[np.ndarray] = []
        self._n_set_words = 0
        # By bytes: integers of many bits have few hashes, 61 for all powers of 2.
        self._known: dict[tuple[Block, bytes], int] = {}

    def _places(
        self, block: Block, sets: dict[int, int], ticks: Ticks
    ) -> Job[list[int]]:
        """Store sets of a component, by local state; return places per bit, or -1."""
        where = [-1] * (WORD_BITS * block.n_words)
        same: dict[int, int] = {}  # places by identity
        for state, bits in sets.items():
            if id(bits) not in same:
                words = block.words_of(bits)
                key = block, words.tobytes()
                place = same[id(bits)] = self._known.setdefault(key, self._n_set_words)
                if place == self._n_set_words:
                    self._sets.append(words)
                    self._n_set_words += block.n_words
                yield from ticks.worked(block.n_words / _WORDS_PER_UNIT)
            where[block.shift + state] = same[id(bits)]
            yield from ticks.worked()
        return where

    def add_component(self, one: LocalSets, ticks: Ticks) -> Job[None]:
        """Add the next component."""
        block = self.blocks[len(self._first_closure)]
        part = self.rows[:, block.first_word : block.first_word + block.n_words]
        own = one.closure[one.initial], one.accepting, one.looping, one.references
        part |= np.array([block.words_of(bits) for bits in own])
        self._first_closure.append(len(self._closure))
        self._closure += yield from self._places(
            block, dict(enumerate(one.closure)), ticks
        )

    def add_label(
        self, label: int, images: Images, moves: Sequence[Move] | None, ticks: Ticks
    ) -> Job[None]:
        """Add a label for every move of the monitor, or one if there is none."""
        own = []
        for p, image in images.items():
            own.append((yield from self._stored(p, image, ticks)))
        for move in [{}] if moves is None else filter(None, moves):
            watching = []
            if moves is not None:
                if id(move) not in self._moved:  # once, however many labels have it
                    image = {src: 1 << dst for src, (dst, _) in move.items()}
                    part = yield from self._stored(len(self.blocks) - 1, image, ticks)
                    self._moved[id(move)] = part
                watching = [self._moved[id(move)]]
            self._parts += [*watching, *own]
            self._ends.append(len(self._parts))
            self.labels.append(label)
            self.moves.append(move)

    def _stored(self, p: int, images: dict[int, int], ticks: Ticks) -> Job[Part]:
        """Store sources and images of a participant; return its part."""
        part = p, self._n_sources, len(self._image)
        self._sources.append(self.blocks[p].words_of(set_of(images)))
        self._n_sources += self.blocks[p].n_words
        self._image += yield from self._places(self.blocks[p], images, ticks)
        return part

    def tables(self, ticks: Ticks) -> Job[Decoupled]:
        """Return the arrays; nothing can be added any more."""
        _, accepting, looping, references = (row.copy() for row in self.rows)
        component, first_source, first_image = (
            np.array(self._parts, dtype=np.int64).reshape(-1, 3).T.copy()
        )
        none = np.zeros(0, dtype=np.uint64)
        return Decoupled(
            places=places_of([[block] for block in self.blocks]),
            accepting=accepting,
            looping=looping,
            references=references,
            first_part=np.array(self._ends, dtype=np.int64),
            component=component,
            first_source=first_source,
            sources=np.concatenate([*self._sources, none]),
            first_image=first_image,
            image=np.array(self._image, dtype=np.int64),
            first_closure=np.array(self._first_closure, dtype=np.int64),
            closure=np.array(self._closure, dtype=np.int64),
            sets=(yield from self._joined(ticks)),
        )

    def _joined(self, ticks: Ticks) -> Job[np.ndarray]:
        """Return all sets, uint64[n_words]; each is freed: they may be most of all."""
        joined = np.empty(self._n_set_words, dtype=np.uint64)
        self._known.clear()
        self._sets.reverse()
        at = 0
        while self._sets:
            words = self._sets.pop()
            joined[at : at + len(words)] = words
            at += len(words)
            yield from ticks.worked(len(words) / _WORDS_PER_UNIT)
        return joined


def set_of(states: Iterable[int]) -> int:
    """Return the integer with these bits."""
    chosen = list(states)
    flags = np.zeros(max(chosen, default=-1) + 1, dtype=np.bool_)
    flags[chosen] = True
    return bits_of(flags)


def bits_of(flags: np.ndarray) -> int:
    """Return the integer whose bit k is the k-th of bool[n]."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

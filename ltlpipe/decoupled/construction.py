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

from ltlpipe.decoupled.local_sets import LocalSets, set_of
from ltlpipe.decoupled.tables import (
    WORD_BITS,
    Decoupled,
    DecoupledNetwork,
    Places,
    place_sets,
)
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.networks.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.decoupled.monitors import Monitor, Move
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network


_WORDS_PER_UNIT = 1 << 6
"""Words of a set that are written down in about a microsecond."""


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
        sets=(yield from sets.joined(ticks)),
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
            self._words.append(np.frombuffer(raw, dtype="<u8"))
            self.length += places.n_words[i]
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
        self.sources.append(self.places.words_of(p, set_of(images)))
        self.n_sources += self.places.n_words[p]
        self.image += yield from self.sets.add(self.places, p, images, ticks)
        return where

    def _add(self, p: int, where: tuple[int, int]) -> None:
        self.component.append(p)
        self.first_source.append(where[0])
        self.first_image.append(where[1])


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0, dtype=np.uint64)], dtype=np.uint64)

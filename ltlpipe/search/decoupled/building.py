"""The tables of a decoupled composition, computed from a network and a monitor.

Sets of local states are Python integers here, and words in `tables`.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3.

Differences from the source: those of `tables`.

Cost: one union of sets per internal transition until closures change no more, and one
per transition with a global label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.search.decoupled.tables import (
    WORD_BITS,
    Decoupled,
    DecoupledNetwork,
    Places,
    place_sets,
)
from ltlpipe.systems.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.search.decoupled.monitors import Monitor, Move
    from ltlpipe.systems.lts import LTS, Network


class _Component:
    """The sets of one component, as integers whose bit k is its k-th local state.

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

    def __init__(
        self,
        lts: LTS,
        states: np.ndarray,
        global_labels: frozenset[str],
        stop_in_time: Callable[[], None],
    ) -> None:
        index = {s: k for k, s in enumerate(states.tolist())}
        self.size = len(states)
        self.initial = index[lts.initial]
        internal: list[list[int]] = [[] for _ in index]
        steps: dict[str, dict[int, list[int]]] = {}
        for src, label, dst in lts.transitions():
            if src not in index:
                continue
            if label in global_labels:
                targets = steps.setdefault(label, {})
                targets.setdefault(index[src], []).append(index[dst])
            else:
                internal[index[src]].append(index[dst])
        self.closure = _closures(internal, stop_in_time)
        self.images = {
            label: {src: self._closed(dsts) for src, dsts in targets.items()}
            for label, targets in steps.items()
        }
        flags = lts.accepting
        accepting = [k for s, k in index.items() if flags is None or flags[s]]
        self.accepting = self.references = _bits(accepting)
        self.looping = self.accepting & _bits(
            k for k, dsts in enumerate(internal) if self._closed(dsts) >> k & 1
        )
        self.stays = {k: self.closure[k] for k in accepting}
        """What is reached from the accepting states: the image of an acceptor."""

    def _closed(self, states: list[int]) -> int:
        union = 0
        for state in states:
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


def _go_on() -> None:
    """Let nothing stop the work."""


def decouple(
    network: Network,
    monitor: Monitor | None = None,
    *,
    seed: int | None = None,
    stop_in_time: Callable[[], None] = _go_on,
) -> DecoupledNetwork:
    """Compute the tables of a network's decoupled composition.

    Parameters
    ----------
    network : Network
        Its components accept as the source says, if there is no monitor.
    monitor : Monitor, optional
        What accepts instead; `counted`, if the tables are for a nested search.
    seed : int, optional
        Shuffles the order of the labels.
    stop_in_time : callable
        Raises an exception to end the work; called now and then.
    """
    actions = network.actions
    seen = {i: None for i, a in enumerate(actions) if len(a.participants) > 1}
    labels = list(seen if monitor is None else monitor.actions)
    if seed is not None:
        labels = np.random.default_rng(seed).permutation(labels).tolist()
    names = frozenset(actions[i].name for i in labels)
    local = [reachable_states(c) for c in network.components]
    components = [
        _Component(c, states, names - c.internal, stop_in_time)
        for c, states in zip(network.components, local, strict=True)
    ]
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
    for i, component in enumerate(everyone):
        start = places.first_word[i]
        part = rows[:, start : start + places.n_words[i]]
        part[0] |= places.words_of(i, component.closure[component.initial])
        part[1] |= places.words_of(i, component.accepting)
        part[2] |= places.words_of(i, component.looping)
        part[3] |= places.words_of(i, component.references)
        first_closure.append(len(closure))
        closure += sets.add(places, i, dict(enumerate(component.closure)))
    parts = _Parts(places, sets)
    for i in labels:
        images = {
            p: components[p].images.get(actions[i].name, {})
            for p in actions[i].participants
        }
        parts.add_label(i, images, None if monitor is None else monitor.actions[i])
    acceptors = _acceptors(network, monitor)
    if monitor is not None:
        for j, (group, (_, move)) in enumerate(
            zip(acceptors, monitor.acceptors, strict=True)
        ):
            stays = {p: components[p].stays for p in group}
            parts.add_label(-1 - j, stays, (move,))
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
        self.known: dict[tuple[int, int], int] = {}

    def add(self, places: Places, i: int, sets: dict[int, int]) -> list[int]:
        """Store sets of component i, by local state; return places per bit, or -1."""
        where = [-1] * (WORD_BITS * places.n_words[i])
        for state, bits in sets.items():
            if (i, bits) not in self.known:
                self.known[i, bits] = self.length
                self.words.append(places.words_of(i, bits))
                self.length += places.n_words[i]
            where[places.shift[i] + state] = self.known[i, bits]
        return where


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
    ) -> None:
        """Add a label for every move of the monitor, or one if there is none.

        `images` has, for each participant, the image of every local state.
        """
        own = [(p, self._stored(p, image)) for p, image in images.items()]
        for move in ({},) if moves is None else moves:
            if moves is not None:
                if not move:
                    continue
                self._add(len(self.places.n_words) - 1, self._part_of(move))
            for p, stored in own:
                self._add(p, stored)
            self.labels.append(label)
            self.moves.append(move)
            self.ends.append(len(self.component))

    def _part_of(self, move: Move) -> tuple[int, int]:
        """Store a move once, however many labels have it."""
        if id(move) not in self._moved:
            watching = len(self.places.n_words) - 1
            image = {src: 1 << dst for src, (dst, _) in move.items()}
            self._moved[id(move)] = self._stored(watching, image)
        return self._moved[id(move)]

    def _stored(self, p: int, images: dict[int, int]) -> tuple[int, int]:
        """Store sources and images of a participant; return where they begin."""
        where = self.n_sources, len(self.image)
        self.sources.append(self.places.words_of(p, _bits(images)))
        self.n_sources += self.places.n_words[p]
        self.image += self.sets.add(self.places, p, images)
        return where

    def _add(self, p: int, where: tuple[int, int]) -> None:
        self.component.append(p)
        self.first_source.append(where[0])
        self.first_image.append(where[1])


def _closures(steps: list[list[int]], stop_in_time: Callable[[], None]) -> list[int]:
    """Return, per state, the bits of the states reached by any number of steps."""
    sources: list[list[int]] = [[] for _ in steps]
    for src, targets in enumerate(steps):
        for dst in targets:
            sources[dst].append(src)
    closure = [1 << k for k in range(len(steps))]
    changed = list(range(len(steps)))
    while changed:
        stop_in_time()
        dst = changed.pop()
        for src in sources[dst]:
            union = closure[src] | closure[dst]
            if union != closure[src]:
                closure[src] = union
                changed.append(src)
    return closure


def _bits(states: Iterable[int]) -> int:
    """Return the integer with these bits."""
    union = 0
    for state in states:
        union |= 1 << state
    return union


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0, dtype=np.uint64)])

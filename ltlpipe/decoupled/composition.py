"""The decoupled composition of a network: sets of bits, and successors.

A decoupled state is a *row* of 64-bit words.  Every component owns as many bits as it
has local states, in one word with others or, beyond 64, in words of its own; so one
decoupled state dominates another iff its row includes the other's, word by word.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3 and Sec. 4.3,
CheckLocalAccept.

Differences from the source: none in what is computed; successors are in the order of
the labels.  As its Sec. 2 suggests, labels of one participant are internal, unless a
monitor sees them; a component without acceptance has accepting states only.  Local
states that a component cannot reach, whatever the others do, get no bit.  A label
stands once for each move of a monitor with it, so that the monitor is in one state at
a time.

Cost: per global label of a component one set of its local states for every local state
that has a transition with it, and one closure for every local state.  A successor takes
one look at the participants of a label, and one union of sets for each local state that
has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.dominance import VisitedSets
from ltlpipe.runtime.kernels.jit import inlined, trailing_zeros
from ltlpipe.search.driver import Resumable
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.decoupled.monitors import Move

WORD_BITS = 64

LOCAL = -2
"""Reg.CLOSING of searches for SCCs: internal transitions close the cycle."""

_ONE = np.uint64(1)
_UNION_WORK = 0.002  # microseconds per word of a set that is united with others


class Block(NamedTuple):
    """Bits of a row that belong to one component: those of n local states."""

    first_word: int
    n_words: int
    shift: int  # the first bit in that word, 0 if n_words > 1
    size: int  # n

    @property
    def mask(self) -> int:
        """Its bits in any of its words."""
        if self.n_words > 1:
            return (1 << WORD_BITS) - 1
        return ((1 << self.size) - 1) << self.shift

    def words_of(self, bits: int) -> np.ndarray:
        """Return uint64[n_words], a set of local states in its words."""
        raw = (bits << self.shift).to_bytes(8 * self.n_words, "little")
        return np.frombuffer(raw, dtype="<u8").astype(np.uint64)


def place_sets(sizes: Sequence[int]) -> list[Block]:
    """Place sets of local states: small ones share words, first-fit."""
    blocks = {}
    used: list[int] = []  # bits of each word
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        size = sizes[i]
        fitting = (w for w, taken in enumerate(used) if taken + size <= WORD_BITS)
        word = next(fitting, len(used))
        if size > WORD_BITS:
            blocks[i] = Block(word, -(-size // WORD_BITS), 0, size)
            used += [WORD_BITS] * blocks[i].n_words
            continue
        if word == len(used):
            used.append(0)
        blocks[i] = Block(word, 1, used[word], size)
        used[word] += size
    return [blocks[i] for i in range(len(sizes))]


def row_length(blocks: Iterable[Block]) -> int:
    """Return how many words there are in a row of blocks."""
    return max((block.first_word + block.n_words for block in blocks), default=1)


class Places(NamedTuple):
    """Where blocks lie in a row: b blocks of n components, sorted by component."""

    first_block: np.ndarray  # int64[n + 1], the blocks of each component
    first_word: np.ndarray  # int64[b], the first word of each block
    n_words: np.ndarray  # int64[b], how many words it lies in
    shift: np.ndarray  # uint64[b], its first bit in that word, 0 if n_words > 1
    mask: np.ndarray  # uint64[b], its bits in any of its words


def places_of(components: Sequence[Sequence[Block]]) -> Places:
    """Return where the blocks of components lie, as kernels see it."""
    blocks = [block for own in components for block in own]
    return Places(
        first_block=np.cumsum([0, *map(len, components)]).astype(np.int64),
        first_word=np.array([b.first_word for b in blocks], dtype=np.int64),
        n_words=np.array([b.n_words for b in blocks], dtype=np.int64),
        shift=np.array([b.shift for b in blocks], dtype=np.uint64),
        mask=np.array([b.mask for b in blocks], dtype=np.uint64),
    )


class Decoupled(NamedTuple):
    """The arrays that kernels see of n components with W words in a row.

    The n_labels global labels are in the order of the network's actions or shuffled,
    acceptors last.  A *part* is a global label with one of its participants; parts are
    sorted by label.  A monitor is the last component, and the first participant of its
    labels.
    """

    places: Places  # one block of each component
    accepting: np.ndarray  # uint64[W], local states that accept while they stay
    looping: np.ndarray  # uint64[W], those on a cycle of internal transitions
    references: np.ndarray  # uint64[W], where inner searches begin
    first_part: np.ndarray  # int64[n_labels + 1], the parts of each label
    component: np.ndarray  # int64[n_parts], the participant
    first_source: np.ndarray  # int64[n_parts], where its part of `sources` begins
    sources: np.ndarray  # uint64[...], its local states that have the label
    first_image: np.ndarray  # int64[n_parts], where its part of `image` begins
    image: np.ndarray  # int64[...], per bit of its words: place in `sets`, or -1
    first_closure: np.ndarray  # int64[n], where its part of `closure` begins
    closure: np.ndarray  # int64[...], per bit of its words: place in `sets`, or -1
    sets: np.ndarray  # uint64[...], sets of one component's states, n_words each


class DecoupledNetwork(NamedTuple):
    """What a decoupled search sees of a network; k states of the monitor, or 0."""

    tables: Decoupled  # for kernels
    blocks: list[Block]  # where the bits of each component lie
    initial: np.ndarray  # uint64[W], the initial decoupled state
    labels: np.ndarray  # int32[n_labels], the action of each; -1 - j for acceptor j
    # int32[k] each: the states that a component's bits mean, those of a monitor last.
    local_states: tuple[np.ndarray, ...]
    shared: frozenset[int]  # actions that are not internal, taken by a monitor or not
    acceptors: tuple[tuple[int, ...], ...]  # who accepts whenever each is taken
    marks: np.ndarray  # uint32[n_labels, k], of each label in each monitor's state
    moves: tuple[Move, ...]  # of the monitor, by label
    n_marks: int = 0  # of the monitor

    def unpack(self, row: np.ndarray) -> tuple[frozenset[int], ...]:
        """Return the local states of each component in a row uint64[W]."""
        octets = np.frombuffer(row.astype("<u8").tobytes(), dtype=np.uint8)
        bits = np.unpackbits(octets, bitorder="little") != 0
        sets = []
        for block, names in zip(self.blocks, self.local_states, strict=True):
            first = WORD_BITS * block.first_word + block.shift
            sets.append(frozenset(names[bits[first : first + block.size]].tolist()))
        return tuple(sets)

    def watched(self, state: int, action: int) -> list[tuple[int, int]]:
        """Return where an action can take the monitor from a state, with the marks.

        `action` is -1 - j for acceptor j.
        """
        labels = np.flatnonzero(self.labels == action)
        moves = [self.moves[label] for label in labels]
        return [move[state] for move in moves if state in move]

    def pack(self, members: Sequence[int], *, closed: bool = False) -> np.ndarray:
        """Return the row uint64[W] of one local state per component.

        With `closed`, also of what each reaches by internal steps.
        """
        tables = self.tables
        row = np.zeros(len(self.initial), dtype=np.uint64)
        for i, (block, member) in enumerate(zip(self.blocks, members, strict=True)):
            index = int(np.searchsorted(self.local_states[i], member))
            words = row[block.first_word : block.first_word + block.n_words]
            words |= block.words_of(1 << index)
            if closed:
                place = tables.closure[tables.first_closure[i] + block.shift + index]
                words |= tables.sets[place : place + block.n_words]
        return row


@inlined
def is_enabled(tables, places, rows, i, label):
    """Whether every participant has, in ``rows[i]``, a state with the label.

    places : Places of the components, or of split states, which have a block of bits
    for each reference of a component.
    """
    for part in range(tables.first_part[label], tables.first_part[label + 1]):
        component = tables.component[part]
        down = tables.places.shift[component]
        first_source = tables.first_source[part]
        some = False
        start = places.first_block[component]
        for block in range(start, places.first_block[component + 1]):
            first = places.first_word[block]
            for w in range(tables.places.n_words[component]):
                word = rows[i, first + w] & places.mask[block]
                states = (word >> places.shift[block]) << down
                some |= states & tables.sources[first_source + w] != 0
            if some:
                break
        if not some:
            return False
    return True


@inlined
def write_successor(tables, places, registers, rows, i, label, out):
    """Write to ``out[0]`` where an enabled label leads from ``rows[i]`` (Def. 3, 5).

    places : as for `is_enabled`.  Counts the words of the sets that have been united.
    """
    for w in range(rows.shape[1]):
        out[0, w] = rows[i, w]
    sets = tables.sets
    united = np.int64(0)
    for part in range(tables.first_part[label], tables.first_part[label + 1]):
        component = tables.component[part]
        n_words = tables.places.n_words[component]
        down = tables.places.shift[component]
        first_source = tables.first_source[part]
        first_image = tables.first_image[part]
        start = places.first_block[component]
        for block in range(start, places.first_block[component + 1]):
            first = places.first_word[block]
            up = places.shift[block]
            mask = places.mask[block]
            for w in range(n_words):
                out[0, first + w] &= ~mask
            for w in range(n_words):
                reached = ((rows[i, first + w] & mask) >> up) << down
                states = reached & tables.sources[first_source + w]
                while states != 0:
                    image = first_image + 64 * w + trailing_zeros(states)
                    place = tables.image[image]
                    states &= states - _ONE
                    for v in range(n_words):
                        out[0, first + v] |= (sets[place + v] >> down) << up
                    united += n_words
    registers[Reg.UNITED] += united


@inlined
def meets(tables, wanted, rows, i):
    """Whether every component has one of the `wanted` local states in ``rows[i]``."""
    places = tables.places
    for component in range(places.first_word.shape[0]):
        first = places.first_word[component]
        some = False
        for w in range(first, first + places.n_words[component]):
            some |= rows[i, w] & wanted[w] & places.mask[component] != 0
        if not some:
            return False
    return True


@inlined
def has_local_run(tables, rows, i):
    """Whether a component goes round alone in ``rows[i]`` while all accept.

    CheckLocalAccept: an accepting local state reaches itself by internal transitions.
    """
    some = False
    for w in range(rows.shape[1]):
        some |= rows[i, w] & tables.looping[w] != 0
    return some and meets(tables, tables.accepting, rows, i)


@inlined
def watching(tables, rows, i):
    """Return the state of the monitor, the last component, in ``rows[i]``."""
    places = tables.places
    monitor = places.first_word.shape[0] - 1
    first = places.first_word[monitor]
    state = np.int64(0)
    for w in range(places.n_words[monitor]):
        word = rows[i, first + w] & places.mask[monitor]
        if word != 0:
            state = 64 * w + trailing_zeros(word) - np.int64(places.shift[monitor])
    return state


class DecoupledSearch(Resumable):
    """A search of decoupled states, whose steps are labels followed from them.

    `visited` has the decoupled states so far; it begins in `start` (uint64[n_words]),
    or in the initial state.
    """

    unit_work = 0.5

    def __init__(
        self, network: DecoupledNetwork, start: np.ndarray | None = None
    ) -> None:
        super().__init__()
        self.network = network
        self.registers[Reg.VISITED] = 1
        self.visited = VisitedSets(len(network.initial))
        self.visited.add_first(network.initial if start is None else start)

    @property
    def work_per_step(self) -> float:
        """Microseconds that a label takes, roughly, by those followed so far."""
        known = self.visited.registers
        united = int(self.registers[Reg.UNITED]) + int(known[Reg.UNITED])
        return super().work_per_step + united / max(self.n_steps, 1) * _UNION_WORK

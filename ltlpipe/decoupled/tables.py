"""A network as bit sets: closures and images of local states, computed once.

A decoupled state is a *row* of 64-bit words.  Every component owns as many bits as it
has local states, in one word with others or, beyond 64, in words of its own; so one
decoupled state dominates another iff its row includes the other's, word by word.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3 and Sec. 4.3,
CheckLocalAccept.

Differences from the source: none in what is computed.  As its Sec. 2 suggests, labels
of one participant are internal, unless a monitor sees them; a component without
acceptance has accepting states only.  Local states that a component cannot reach,
whatever the others do, get no bit.  A label stands once for each move of a monitor with
it, so that the monitor is in one state at a time.

Cost: per global label of a component one set of its local states for every local state
that has a transition with it, and one closure for every local state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


WORD_BITS = 64


class Decoupled(NamedTuple):
    """The arrays that kernels see of n components with W words in a row.

    The n_labels global labels are in the order of the network's actions or shuffled,
    acceptors last.  A *part* is a global label with one of its participants; parts are
    sorted by label.  A monitor is the last component, and the first participant of its
    labels.
    """

    first_word: np.ndarray  # int64[n], the first word of each component's bits
    n_words: np.ndarray  # int64[n], how many words they lie in
    shift: np.ndarray  # int64[n], its first bit in that word, 0 if n_words > 1
    mask: np.ndarray  # uint64[n], its bits in any of its words
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
    initial: np.ndarray  # uint64[W], the initial decoupled state
    labels: np.ndarray  # int32[n_labels], the action of each; -1 - j for acceptor j
    # int32[k] each: the states that a component's bits mean, those of a monitor last.
    local_states: tuple[np.ndarray, ...]
    shared: frozenset[int]  # actions that are not internal, taken by a monitor or not
    acceptors: tuple[tuple[int, ...], ...]  # who accepts whenever each is taken
    marks: np.ndarray  # uint32[n_labels, k], of each label in each monitor's state
    n_marks: int = 0  # of the monitor

    def unpack(self, row: np.ndarray) -> tuple[frozenset[int], ...]:
        """Return the local states of each component in a row uint64[W]."""
        tables = self.tables
        sets = []
        for i, names in enumerate(self.local_states):
            first, shift = int(tables.first_word[i]), int(tables.shift[i])
            words = row[first : first + int(tables.n_words[i])]
            octets = np.frombuffer(words.astype("<u8").tobytes(), dtype=np.uint8)
            bits = np.unpackbits(octets, bitorder="little")[shift : shift + len(names)]
            sets.append(frozenset(names[bits != 0].tolist()))
        return tuple(sets)

    def watched(self, state: int, action: int) -> list[tuple[int, int]]:
        """Return where an action can take the monitor from a state, with the marks.

        `action` is -1 - j for acceptor j.
        """
        tables, monitor = self.tables, len(self.local_states) - 1
        first, n_words = int(tables.first_word[monitor]), int(tables.n_words[monitor])
        found = []
        for label in np.flatnonzero(self.labels == action).tolist():
            part = int(tables.first_part[label])  # the monitor's is the first one
            place = int(tables.first_image[part]) + int(tables.shift[monitor]) + state
            at = int(tables.image[place])
            if at < 0:
                continue
            row = np.zeros(len(self.initial), dtype=np.uint64)
            row[first : first + n_words] = tables.sets[at : at + n_words]
            (dst,) = self.unpack(row)[monitor]
            found.append((dst, int(self.marks[label, state])))
        return found

    def pack(self, members: Sequence[int], *, closed: bool = False) -> np.ndarray:
        """Return the row uint64[W] of one local state per component.

        With `closed`, also of what each reaches by internal steps.
        """
        tables = self.tables
        row = np.zeros(len(self.initial), dtype=np.uint64)
        for i, member in enumerate(members):
            index = int(np.searchsorted(self.local_states[i], member))
            bit, first = int(tables.shift[i]) + index, int(tables.first_word[i])
            row[first + bit // WORD_BITS] |= np.uint64(1 << bit % WORD_BITS)
            if closed:
                place = int(tables.closure[int(tables.first_closure[i]) + bit])
                n_words = int(tables.n_words[i])
                row[first : first + n_words] |= tables.sets[place : place + n_words]
        return row


class Places(NamedTuple):
    """Where the bits of each component lie."""

    first_word: list[int]
    n_words: list[int]
    shift: list[int]

    def words_of(self, i: int, bits: int) -> np.ndarray:
        """Return uint64[n_words[i]], a set of local states in its words."""
        raw = (bits << self.shift[i]).to_bytes(8 * self.n_words[i], "little")
        return np.frombuffer(raw, dtype="<u8").astype(np.uint64)


def place_sets(sizes: Sequence[int]) -> Places:
    """Place sets of local states: small ones share words, first-fit."""
    places = Places([0] * len(sizes), [1] * len(sizes), [0] * len(sizes))
    used: list[int] = []
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        size = sizes[i]
        fitting = (w for w, taken in enumerate(used) if taken + size <= WORD_BITS)
        word = next(fitting, len(used))
        if word == len(used):
            places.n_words[i] = -(-size // WORD_BITS)
            used += [0 if size <= WORD_BITS else WORD_BITS] * places.n_words[i]
        places.first_word[i] = word
        if size <= WORD_BITS:
            places.shift[i] = used[word]
            used[word] += size
    return places

"""Visited members: do several visited states cover a new one together?

A decoupled state is a box, the product of a set of local states per component, and its
members are the composed states in it.  Every member that has been visited is a bit of a
table, so visited states cover a box iff all of its bits are set.  Otherwise the
smallest box around its new members takes its place.  The bits are in words along one
component, the one with most local states, which are looked at together.

A split state is a box, too: of pairs of a reference and a local state per component.

One component may be *ordered*: a box has all of its states up to the highest one, and
members with that one are visited only with those that differ from them by a lower one.
So a look-up asks for the highest state alone.

Sources: D. Gnad and J. Hoffmann, "Star-Topology Decoupled State Space Search",
Artificial Intelligence 257, 2018, pp. 24-60: for reachability a state is left out if
several visited ones cover it.  D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann,
"Model Checking omega-Regular Properties with Decoupled Search", CAV 2021: for cycles
it is left out if one visited state dominates it.

Differences from the sources: the table, which takes the place of comparisons; the
smaller box.  docs/decoupled.md, section 6, says why no accepting cycle is missed.

Invariant: a bit is set iff its member is in a box that has been looked up and marked.

Cost: a bit per composed state of each page of the table that has a visited one, and a
thirtieth of a bit for every other one, reachable or not, so products have to fit in
`MOST_WORDS`; a look-up takes a word, or a few, per combination of local states of the
other components.  A box with more than `FEW_COMBINATIONS` is looked up if no visited
one dominates it, and dominates others; with more than `MOST_COMBINATIONS` it is not
looked up at all.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.dominance import add_row, find_dominating
from ltlpipe.runtime.kernels.jit import called, inlined, trailing_zeros
from ltlpipe.search.growth import lengthen
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.decoupled.dominance import Visited
    from ltlpipe.decoupled.tables import DecoupledNetwork

MOST_WORDS = 1 << 25
"""Words of a table with all pages: 256 MiB."""

FEW_COMBINATIONS = 1 << 10
"""Up to so many, a look-up costs no more than one for dominance, and comes first."""

MOST_COMBINATIONS = 1 << 13
"""Combinations that a look-up goes through."""

PAGE_BITS = 4
"""A page has 2^4 words: 128 bytes."""

_FIRST_PAGES = 1 << 8

NO_ROOM, TOO_LARGE, COVERED, NEW = -2, -1, 0, 1
"""What a look-up finds; NO_ROOM: not even that, the table has to grow first."""

_INSIDE = (1 << PAGE_BITS) - 1
_ONE = np.uint64(1)


class At(IntEnum):
    """Places in the scalars of a table."""

    USED = 0  # words of `bits` in use
    NEEDED = 1  # words that it must have for the next box
    ORDERED = 2  # 1 if the first component is ordered, else 0
    BELOW = 3  # states of the ordered component below that of the box


class Block(NamedTuple):
    """Bits of a row that belong to one component: those of n local states."""

    first_word: int
    n_words: int
    shift: int  # the first bit in that word, 0 if n_words > 1
    size: int  # n


class Members(NamedTuple):
    """A table for n components with b blocks; `pages` is empty if there is none."""

    first_block: np.ndarray  # int64[n + 1], the blocks of each component
    first_word: np.ndarray  # int64[b], where a block lies in a row
    n_words: np.ndarray  # int64[b]
    shift: np.ndarray  # uint64[b]
    mask: np.ndarray  # uint64[b], its bits in any of its words
    base: np.ndarray  # int64[b], words of the table before those of its first state
    stride: np.ndarray  # int64[n], between neighbouring states, 0 for the last one
    at: np.ndarray  # int64[len(At)], scalars
    pages: np.ndarray  # int32[...], where pages begin in `bits`, or -1
    bits: np.ndarray  # uint64[...], pages; the last component is along the words
    first: np.ndarray  # int64[n], where the entries of each component begin
    offset: np.ndarray  # int64[k], room for words of the table, by entry
    place: np.ndarray  # int64[k], room for bits of a row, by entry
    digit: np.ndarray  # int64[n], the entry of each component that is looked at
    new: np.ndarray  # uint64[1, n_words], room for a row


class Boxes(NamedTuple):
    """The visited boxes of one search."""

    visited: Visited  # those that are looked up for dominance
    known: np.ndarray  # int64[N_REGISTERS], their registers
    members: Members  # those of the others, and of some of them


class MemberTable:
    """The table of one search, for rows of some components' blocks.

    Attributes
    ----------
    arrays : Members
        Without bits until `allocate` is called.
    n_words : int
        Words of a table with all pages; 0 if there are too many.
    """

    def __init__(
        self,
        components: Iterable[Sequence[Block]],
        n_row: int,
        ordered: Block | None = None,
    ) -> None:
        order = sorted(components, key=lambda blocks: sum(b.size for b in blocks))
        if ordered is not None:
            order = [[ordered], *order]
        sizes = [sum(b.size for b in blocks) for blocks in order]
        along = sum(b.n_words for b in order[-1])
        self.n_words = along * math.prod(sizes[:-1])
        if self.n_words > MOST_WORDS:
            self.n_words = 0
        strides, bases = [], []
        for k, blocks in enumerate(order[:-1]):
            strides.append(along * math.prod(sizes[k + 1 : -1]) if self.n_words else 0)
            before = np.cumsum([0, *(b.size for b in blocks)])[:-1]
            bases += [int(n) * strides[k] for n in before]
        bases += np.cumsum([0, *(b.n_words for b in order[-1])])[:-1].tolist()
        flat = [b for blocks in order for b in blocks]
        full = (1 << 64) - 1
        ends = np.cumsum([0, *map(len, order)])
        n_entries = sum(sizes[:-1])
        self.arrays = Members(
            first_block=ends.astype(np.int64),
            first_word=np.array([b.first_word for b in flat], dtype=np.int64),
            n_words=np.array([b.n_words for b in flat], dtype=np.int64),
            shift=np.array([b.shift for b in flat], dtype=np.uint64),
            mask=np.array(
                [
                    ((1 << b.size) - 1) << b.shift if b.n_words == 1 else full
                    for b in flat
                ],
                dtype=np.uint64,
            ),
            base=np.array(bases, dtype=np.int64),
            stride=np.array([*strides, 0], dtype=np.int64),
            at=np.array([0, 0, ordered is not None, 0], dtype=np.int64),
            pages=np.zeros(0, dtype=np.int32),
            bits=np.zeros(0, dtype=np.uint64),
            first=np.zeros(len(order), dtype=np.int64),
            offset=np.zeros(n_entries, dtype=np.int64),
            place=np.zeros(n_entries, dtype=np.int64),
            digit=np.zeros(len(order), dtype=np.int64),
            new=np.zeros((1, n_row), dtype=np.uint64),
        )

    def allocate(self, free_bytes: float) -> None:
        """Begin a table, if there is room for all of its pages twice."""
        arrays = self.arrays
        if not len(arrays.pages) and 0 < 16 * self.n_words <= free_bytes:
            arrays.pages.resize((self.n_words >> PAGE_BITS) + 1, refcheck=False)
            arrays.pages.fill(-1)
            arrays.bits.resize(_FIRST_PAGES << PAGE_BITS, refcheck=False)

    def grow(self, free_bytes: float) -> None:
        """Make room for the pages that the next box may need."""
        if len(self.arrays.pages):
            needed = int(self.arrays.at[At.NEEDED])
            lengthen((self.arrays.bits,), needed, free_bytes)


def blocks_of(network: DecoupledNetwork) -> list[list[Block]]:
    """Return the blocks of decoupled states: one per component, and monitor."""
    tables = network.tables
    fields = tables.first_word, tables.n_words, tables.shift
    return [
        [Block(int(first), int(n_words), int(shift), len(states))]
        for first, n_words, shift, states in zip(
            *fields, network.local_states, strict=True
        )
    ]


@called
def list_entries(members, rows, i):
    """List the states of all components but the last in ``rows[i]``.

    Of an ordered component the highest one is enough: members with others are visited
    if those with that one are.
    Returns the number of their combinations; if it is more than `MOST_COMBINATIONS`,
    some are not listed.
    """
    n_combinations = np.int64(1)
    n_entries = np.int64(0)
    last = members.stride.shape[0] - 1
    for k in range(last):
        members.first[k] = n_entries
        for block in range(members.first_block[k], members.first_block[k + 1]):
            first = members.first_word[block]
            down = np.int64(members.shift[block])
            for w in range(members.n_words[block]):
                states = rows[i, first + w] & members.mask[block]
                while states != 0:
                    bit = 64 * w + trailing_zeros(states)
                    states &= states - _ONE
                    at = members.base[block] + (bit - down) * members.stride[k]
                    members.offset[n_entries] = at
                    members.place[n_entries] = 64 * first + bit
                    n_entries += 1
                    if k < members.at[At.ORDERED]:
                        members.at[At.BELOW] = bit - down
                        n_entries = np.int64(states == 0)
        n_combinations *= n_entries - members.first[k]
        if n_combinations > MOST_COMBINATIONS:
            break
    members.first[last] = n_entries
    return n_combinations


@inlined
def note(members, entry):
    """Note that new members have the local state of an entry."""
    place = members.place[entry]
    members.new[0, place >> 6] |= _ONE << np.uint64(place & 63)


@inlined
def mark(members, word, wanted):
    """Set the wanted bits of a word of the table; there is room for its page."""
    page = word >> PAGE_BITS
    start = np.int64(members.pages[page])
    if start < 0:
        start = members.at[At.USED]
        members.at[At.USED] = start + _INSIDE + 1
        members.pages[page] = start
    members.bits[start + (word & _INSIDE)] |= wanted


@inlined
def look_along(members, rows, i, at, marking):
    """Look up a combination, whose words begin at `at`; return whether one is new."""
    last = members.stride.shape[0] - 1
    some = False
    for block in range(members.first_block[last], members.first_block[last + 1]):
        first = members.first_word[block]
        shift = members.shift[block]
        for w in range(members.n_words[block]):
            wanted = (rows[i, first + w] & members.mask[block]) >> shift
            word = at + members.base[block] + w
            start = np.int64(members.pages[word >> PAGE_BITS])
            missing = wanted
            if start >= 0:
                missing = wanted & ~members.bits[start + (word & _INSIDE)]
            if missing != 0:
                some = True
                members.new[0, first + w] |= missing << shift
                if marking:
                    mark(members, word, wanted)
                    for below in range(members.at[At.BELOW]):
                        mark(members, word - (below + 1) * members.stride[0], wanted)
    return some


@inlined
def has_pages(members, n_combinations):
    """Whether there is room for the pages of so many combinations; notes what it takes.

    They take no more pages than there are words, and no more than the table has.
    """
    last = members.stride.shape[0] - 1
    along = np.int64(0)
    for block in range(members.first_block[last], members.first_block[last + 1]):
        along += members.n_words[block]
    n_pages = n_combinations * along * (1 + members.at[At.BELOW])
    most = np.int64(members.pages.shape[0]) << PAGE_BITS
    needed = min(members.at[At.USED] + (n_pages << PAGE_BITS), most)
    members.at[At.NEEDED] = needed
    return needed <= members.bits.shape[0]


@called
def look_up_members(members, rows, i, marking):
    """Shrink ``rows[i]`` to the smallest box around its new members.

    `list_entries` has listed the entries.  Returns COVERED if no member is new, or NEW.
    If `marking`, its members count as visited from now on.
    """
    first = members.first
    digit = members.digit
    offset = members.offset
    last = members.stride.shape[0] - 1
    for w in range(members.new.shape[1]):
        members.new[0, w] = 0
    some = last == 0 and look_along(members, rows, i, 0, marking)
    base = np.int64(0)
    for k in range(last):
        digit[k] = first[k]
        base += offset[first[k]] if k < last - 1 else 0
    k = last - 1
    while k >= 0:
        found = False
        for entry in range(first[last - 1], first[last]):
            if look_along(members, rows, i, base + offset[entry], marking):
                found = True
                note(members, entry)
        if found:
            some = True
            for other in range(last - 1):
                note(members, digit[other])
        k = last - 2
        while k >= 0:  # the next combination
            base -= offset[digit[k]]
            digit[k] += 1
            if digit[k] < first[k + 1]:
                base += offset[digit[k]]
                break
            digit[k] = first[k]
            base += offset[first[k]]
            k -= 1
    if not some:
        return COVERED
    for w in range(members.new.shape[1]):
        rows[i, w] = members.new[0, w]
    return NEW


@called
def look_up(boxes, rows, i, marking):
    """Look for visited states that cover ``rows[i]``, one or several.

    boxes : Boxes, which change only if `marking`.  Returns COVERED, or NEW: its members
    are marked then, and it is the smallest box around those that were new; or TOO_LARGE
    for the table: the caller adds it to the visited rows.
    """
    visited, known, members = boxes.visited, boxes.known, boxes.members
    there_is = members.pages.shape[0] > 0
    n_combinations = np.int64(0)
    if there_is:
        n_combinations = list_entries(members, rows, i)
        there_is = n_combinations <= MOST_COMBINATIONS
        if there_is and not has_pages(members, n_combinations):
            return NO_ROOM
    few = there_is and n_combinations <= FEW_COMBINATIONS
    found = TOO_LARGE
    if few:
        found = look_up_members(members, rows, i, marking)
    if found != COVERED:
        if find_dominating(visited, known, rows, i) >= 0:
            return COVERED
        if few or not there_is:
            return found
        if marking:
            add_row(visited, known, rows, i)
        found = look_up_members(members, rows, i, marking)
    known[Reg.UNITED] += n_combinations
    if found == COVERED:
        known[Reg.COVERED] += 1
    return found

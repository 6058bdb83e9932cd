"""Boxes that have been visited, and those that wait to be expanded.

A decoupled state is a box, the product of a set of local states per component, and its
members are the composed states in it.  A split state is a box, too: of pairs of a
reference and a local state per component.

*Members.*  Every member that has been visited is a bit of a table, so visited states
cover a box iff all of its bits are set.  Otherwise the smallest box around its new
members takes its place.  The bits are in words along one component, the one with most
local states, which are looked at together.  One component may be *ordered*: a box has
all of its states up to the highest one, and members with that one are visited only with
those that differ from them by a lower one.  So a look-up asks for the highest state
alone.

*Order.*  What is met later is left out if what was met sooner covers it, so the largest
boxes are expanded first.  A box is as large as its row has bits; of several, the one
that was entered last comes first.  A state is a number, by which it is known where it
was entered from.  Rows last as long as their states wait or are being expanded, and are
used again.

Sources: D. Gnad and J. Hoffmann, "Star-Topology Decoupled State Space Search",
Artificial Intelligence 257, 2018, pp. 24-60: for reachability a state is left out if
several visited ones cover it.  D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann,
"Model Checking omega-Regular Properties with Decoupled Search", CAV 2021: for cycles
it is left out if one visited state dominates it.

Differences from the sources: the table, which takes the place of comparisons; the
smaller box; the order.  docs/decoupled.md, section 6, says why no accepting cycle is
missed.

Invariants: a bit is set iff its member is in a box that has been looked up and marked;
every row in use is in the list of its size, free, or current; if rows are kept, they
have the numbers of their states, and none is free.

Cost: a bit per composed state, reachable or not, so products have to fit in
`MOST_WORDS` (the system gives memory to parts of the table that are used); a look-up
takes a word, or a few, per combination of local states of the other components.  A box
with more than `FEW_COMBINATIONS` is looked up if no visited one dominates it, and
dominates others; with more than `MOST_COMBINATIONS` it is not looked up at all.
12 bytes per state; a row and 8 bytes per state that waits.
"""

from __future__ import annotations

import math
from enum import IntEnum
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import (
    Block,
    Places,
    is_enabled,
    places_of,
    row_length,
    write_successor,
)
from ltlpipe.decoupled.dominance import (
    ANY,
    VisitedSets,
    add_row,
    find_dominating,
    find_including,
    has_room,
)
from ltlpipe.runtime.kernels.jit import called, inlined, njit, trailing_zeros
from ltlpipe.search.growth import FIRST_ENTRIES, lengthen, total_bytes
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.decoupled.dominance import Visited

MOST_WORDS = 1 << 25
"""Words of a table: 256 MiB."""

FEW_COMBINATIONS = 1 << 10
"""Up to so many, a look-up costs no more than one for dominance, and comes first."""

MOST_COMBINATIONS = 1 << 13
"""Combinations that a look-up goes through."""

TABLE_FROM = 256
"""States that are stored before there is a table of members."""

TOO_LARGE, COVERED, NEW = -1, 0, 1
"""What a look-up finds."""

NOTHING, END = -2, -3
"""What `next_successor` returns instead of a label."""

_ONE = np.uint64(1)


class At(IntEnum):
    """Places in the scalars of a worklist."""

    STATES = 0  # states that have been entered
    ROWS = 1  # rows that have been used
    FREE = 2  # the first free one of them, -1 if there is none
    LARGEST = 3  # no row that waits is larger
    CURRENT = 4  # the row that is being expanded, -1 if there is none
    LABEL = 5  # its next label, -1 for a new one
    OPEN = 6  # rows that wait or are being expanded


class Members(NamedTuple):
    """A table for n components with b blocks; `bits` is empty if there is none."""

    places: Places  # of the components, the largest one last
    base: np.ndarray  # int64[b], words of the table before those of its first state
    stride: np.ndarray  # int64[n], between neighbouring states, 0 for the last one
    bits: np.ndarray  # uint64[...]; the last component is along the words
    ordered: np.ndarray  # bool[n], whether a component is ordered: the first, if any
    first: np.ndarray  # int64[n], where the entries of each component begin
    offset: np.ndarray  # int64[k], room for words of the table, by entry
    place: np.ndarray  # int64[k], room for bits of a row, by entry
    digit: np.ndarray  # int64[n], the entry of each component that is looked at
    below: np.ndarray  # int64[1], states of the ordered component below that of the box
    new: np.ndarray  # uint64[1, n_words], room for a row


class Worklist(NamedTuple):
    """Room for n states and r rows of W words."""

    at: np.ndarray  # int64[len(At)], the scalars
    parent: np.ndarray  # int32[n], the state from which each was entered, or -1
    label: np.ndarray  # int32[n], by which label
    depth: np.ndarray  # int32[n], and how many led there
    rows: np.ndarray  # uint64[r, W]
    state: np.ndarray  # int32[r], whose row it is
    next: np.ndarray  # int32[r], the next row of the same size, or free row
    heads: np.ndarray  # int32[64 * W + 1], by size, -1 for none
    fresh: np.ndarray  # uint64[1, W], room for a successor


class Boxes(NamedTuple):
    """The boxes of one search."""

    visited: Visited  # those that are looked up for dominance
    members: Members  # those of the others, and of some of them
    work: Worklist  # what waits


class BoxSearch:
    """What has been visited of some boxes, and what waits.

    Parameters
    ----------
    components : sequence of sequence of Block
        The blocks of each component.
    ordered : Block, optional
        That of one more component, which is ordered.
    visited : VisitedSets, optional
        Rows that have been visited.

    Attributes
    ----------
    n_table_words : int
        Words of a table of members; 0 if there would be too many.
    """

    def __init__(
        self,
        components: Sequence[Sequence[Block]],
        ordered: Block | None = None,
        visited: VisitedSets | None = None,
    ) -> None:
        blocks = [block for own in components for block in own]
        n_words = row_length(blocks if ordered is None else [*blocks, ordered])
        self.visited = VisitedSets(n_words) if visited is None else visited
        self.members, self.n_table_words = _no_members(components, n_words, ordered)
        parent, label, depth, state, following = (
            np.zeros(FIRST_ENTRIES, dtype=np.int32) for _ in range(5)
        )
        self.work = Worklist(
            at=np.array([0, 0, -1, -1, -1, -1, 0]),
            parent=parent,
            label=label,
            depth=depth,
            rows=np.zeros((FIRST_ENTRIES, n_words), dtype=np.uint64),
            state=state,
            next=following,
            heads=np.full(64 * n_words + 1, -1, dtype=np.int32),
            fresh=np.zeros((1, n_words), dtype=np.uint64),
        )

    @property
    def boxes(self) -> Boxes:
        """What there is, for kernels."""
        return Boxes(self.visited.arrays, self.members, self.work)

    def begin(self, row: np.ndarray) -> None:
        """Let a row (uint64[n_words]) wait, in which a search begins."""
        self.work.fresh[0] = row
        begin(self.work)

    @property
    def n_entered(self) -> int:
        """States that have been entered."""
        return int(self.work.at[At.STATES])

    def labels_to_current(self) -> list[int]:
        """Return the labels by which the current state was reached, its own last."""
        work = self.work
        labels = [int(work.at[At.LABEL]) - 1]
        state = int(work.state[work.at[At.CURRENT]])
        while work.parent[state] >= 0:
            labels.append(int(work.label[state]))
            state = int(work.parent[state])
        return labels[::-1]

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, room to grow included."""
        return total_bytes((self.members, self.work)) + self.visited.memory_bytes

    def add_table(self, free_bytes: float) -> None:
        """Begin a table of members, if there is room for it twice."""
        if not len(self.members.bits) and 0 < 16 * self.n_table_words <= free_bytes:
            bits = np.zeros(self.n_table_words, dtype=np.uint64)
            self.members = self.members._replace(bits=bits)

    def grow(self, free_bytes: float) -> Iterator[None]:
        """Make room for one state more."""
        limit = free_bytes + self.memory_bytes
        work = self.work
        n_states, n_rows = self.n_entered + 1, int(work.at[At.ROWS]) + 1
        lengthen((work.parent, work.label, work.depth), n_states, free_bytes)
        free_bytes = limit - self.memory_bytes
        lengthen((work.rows, work.state, work.next), n_rows, free_bytes)
        if self.visited.n_stored >= TABLE_FROM:
            self.add_table(limit - self.memory_bytes)
        yield from self.visited.grow(limit - self.memory_bytes)


def _in_order(components: Iterable[Sequence[Block]]) -> list[Sequence[Block]]:
    """Return components in the order of their sizes: the last is along the words."""
    return sorted(components, key=lambda blocks: sum(b.size for b in blocks))


def table_words(components: Iterable[Sequence[Block]]) -> int:
    """Return the words of a table of members; 0 if there would be too many."""
    *others, last = _in_order(components)
    n_words = sum(b.n_words for b in last)
    n_words *= math.prod(sum(b.size for b in blocks) for blocks in others)
    return n_words if n_words <= MOST_WORDS else 0


def _no_members(
    components: Sequence[Sequence[Block]], n_row: int, ordered: Block | None
) -> tuple[Members, int]:
    """Return a table without bits, and how many words it would have."""
    n_words = table_words(components)
    order = _in_order(components)
    if ordered is not None:
        order = [[ordered], *order]
        n_words *= ordered.size if n_words * ordered.size <= MOST_WORDS else 0
    along = [b.n_words for b in order[-1]]
    sizes = [sum(b.size for b in blocks) for blocks in order]
    strides, bases = [], []
    for k, blocks in enumerate(order[:-1]):
        strides.append(sum(along) * math.prod(sizes[k + 1 : -1]) if n_words else 0)
        before = accumulate((b.size for b in blocks[:-1]), initial=0)
        bases += [n * strides[k] for n in before]
    bases += accumulate(along[:-1], initial=0)
    first, digit = np.zeros((2, len(order)), dtype=np.int64)
    offset, place = np.zeros((2, sum(sizes[:-1])), dtype=np.int64)
    members = Members(
        places=places_of(order),
        base=np.array(bases, dtype=np.int64),
        stride=np.array([*strides, 0], dtype=np.int64),
        bits=np.zeros(0, dtype=np.uint64),
        ordered=np.array([blocks == [ordered] for blocks in order]),
        first=first,
        offset=offset,
        place=place,
        digit=digit,
        below=np.zeros(1, dtype=np.int64),
        new=np.zeros((1, n_row), dtype=np.uint64),
    )
    return members, n_words


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
    places = members.places
    last = members.stride.shape[0] - 1
    for k in range(last):
        members.first[k] = n_entries
        for block in range(places.first_block[k], places.first_block[k + 1]):
            first = places.first_word[block]
            down = np.int64(places.shift[block])
            for w in range(places.n_words[block]):
                states = rows[i, first + w] & places.mask[block]
                while states != 0:
                    bit = 64 * w + trailing_zeros(states)
                    states &= states - _ONE
                    at = members.base[block] + (bit - down) * members.stride[k]
                    members.offset[n_entries] = at
                    members.place[n_entries] = 64 * first + bit
                    n_entries += 1
                    if members.ordered[k]:
                        members.below[0] = bit - down
                        n_entries = np.int64(states == 0)
        n_combinations *= n_entries - members.first[k]
        if n_combinations > MOST_COMBINATIONS:
            break
    members.first[last] = n_entries
    return n_combinations


@inlined
def look_along(members, rows, i, at, marking):
    """Look up a combination, whose words begin at `at`; return whether one is new."""
    places = members.places
    last = members.stride.shape[0] - 1
    some = False
    for block in range(places.first_block[last], places.first_block[last + 1]):
        first = places.first_word[block]
        shift = places.shift[block]
        for w in range(places.n_words[block]):
            wanted = (rows[i, first + w] & places.mask[block]) >> shift
            word = at + members.base[block] + w
            missing = wanted & ~members.bits[word]
            if missing != 0:
                some = True
                members.new[0, first + w] |= missing << shift
                if marking:
                    members.bits[word] |= wanted
                    for below in range(members.below[0]):
                        members.bits[word - (below + 1) * members.stride[0]] |= wanted
    return some


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
    base = np.int64(0)
    for k in range(last):
        digit[k] = first[k]
        base += offset[first[k]]
    some = False
    k = 0
    while k >= 0:
        if look_along(members, rows, i, base, marking):
            some = True
            for other in range(last):
                place = members.place[digit[other]]
                members.new[0, place >> 6] |= _ONE << np.uint64(place & 63)
        k = last - 1
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

    Visited states change only if `marking`.  Returns COVERED, or NEW: its members are
    marked then, and it is the smallest box around those that were new; or TOO_LARGE for
    the table: the caller adds it to the visited rows.
    """
    visited, members = boxes.visited, boxes.members
    n_combinations = np.int64(MOST_COMBINATIONS + 1)
    if members.bits.shape[0] > 0:
        n_combinations = list_entries(members, rows, i)
    found = TOO_LARGE
    if n_combinations <= FEW_COMBINATIONS:
        found = look_up_members(members, rows, i, marking)
    if found != COVERED and find_dominating(visited, rows, i) >= 0:
        return COVERED
    if FEW_COMBINATIONS < n_combinations <= MOST_COMBINATIONS:
        if marking:
            add_row(visited, rows, i)
        found = look_up_members(members, rows, i, marking)
    if found != TOO_LARGE:
        visited.registers[Reg.UNITED] += n_combinations
        visited.registers[Reg.COVERED] += found == COVERED
    return found


@inlined
def is_full(boxes):
    """Whether there is no room for one state more."""
    work = boxes.work
    return (
        work.at[At.STATES] == work.parent.shape[0]
        or (work.at[At.FREE] < 0 and work.at[At.ROWS] == work.state.shape[0])
        or not has_room(boxes.visited)
    )


@called
def put(work, label):
    """Let ``work.fresh[0]`` wait, to which a label has led from the current state."""
    at = work.at
    state = at[At.STATES]
    at[At.STATES] = state + 1
    at[At.OPEN] += 1
    current = at[At.CURRENT]
    before = np.int64(-1) if current < 0 else np.int64(work.state[current])
    work.parent[state] = before
    work.label[state] = label
    work.depth[state] = 0 if before < 0 else work.depth[before] + 1
    row = at[At.FREE]
    if row >= 0:
        at[At.FREE] = work.next[row]
    else:
        row = at[At.ROWS]
        at[At.ROWS] = row + 1
    work.state[row] = state
    size = np.int64(0)
    for w in range(work.fresh.shape[1]):
        word = work.fresh[0, w]
        work.rows[row, w] = word
        while word != 0:
            word &= word - _ONE
            size += 1
    work.next[row] = work.heads[size]
    work.heads[size] = row
    at[At.LARGEST] = max(at[At.LARGEST], size)


@njit
def begin(work):
    """Let ``work.fresh[0]`` wait, in which a search begins."""
    put(work, -1)


@inlined
def take(work):
    """Make the largest box that waits the current one; return whether one does."""
    at = work.at
    size = at[At.LARGEST]
    while size >= 0 and work.heads[size] < 0:
        size -= 1
    at[At.LARGEST] = size
    if size < 0:
        return False
    row = np.int64(work.heads[size])
    work.heads[size] = work.next[row]
    at[At.CURRENT] = row
    at[At.LABEL] = -1
    return True


@inlined
def leave(work, keeping):
    """Take away the current box; its row is used again unless `keeping`."""
    at = work.at
    row = at[At.CURRENT]
    at[At.CURRENT] = -1
    at[At.OPEN] -= 1
    if not keeping:
        work.next[row] = at[At.FREE]
        at[At.FREE] = row


@inlined
def next_successor(tables, places, registers, boxes, keeping):
    """Choose a box, or follow the next label of the current one: a step of a search.

    Returns the label if it leads to ``boxes.work.fresh[0]``; -1 if the box is new;
    NOTHING if it has been superseded, or left, or the label is not enabled; END if no
    box waits.  With `keeping`, rows are not used again.
    """
    work = boxes.work
    at = work.at
    if at[At.CURRENT] < 0:
        if not take(work):
            return np.int64(END)
        if is_superseded(boxes):
            leave(work, keeping)
        return np.int64(NOTHING)
    label, row = at[At.LABEL], at[At.CURRENT]
    if label == tables.first_part.shape[0] - 1:
        leave(work, keeping)
        return np.int64(NOTHING)
    if label >= 0:
        if not is_enabled(tables, places, work.rows, row, label):
            at[At.LABEL] = label + 1
            return np.int64(NOTHING)
        write_successor(tables, places, registers, work.rows, row, label, work.fresh)
    return label


@inlined
def move_on(registers, boxes, label, status):
    """Turn to the next label, unless one state more may not be entered."""
    if status != Status.LIMIT:
        boxes.work.at[At.LABEL] = label + 1
        registers[Reg.TRANSITIONS] += label >= 0


@inlined
def enter(registers, boxes, label):
    """Let ``boxes.work.fresh[0]`` wait if no visited states cover it.

    Returns LIMIT if one state more may not be entered, and nothing has changed; else
    RUNNING.
    """
    fresh = boxes.work.fresh
    limit = at_limit(registers)
    found = look_up(boxes, fresh, 0, not limit)
    if found == COVERED:
        return Status.RUNNING
    if limit:
        return Status.LIMIT
    if found == TOO_LARGE:
        add_row(boxes.visited, fresh, 0)
    put(boxes.work, label)
    registers[Reg.VISITED] += 1
    return Status.RUNNING


@called
def is_superseded(boxes):
    """Whether a larger box than the current one has been entered since it was.

    With a table of members the larger one may have been entered in part.
    """
    if boxes.members.bits.shape[0] > 0:
        return False
    visited, work = boxes.visited, boxes.work
    row = work.at[At.CURRENT]
    return find_including(visited, work.rows, row, visited.next_row, ANY, True) >= 0

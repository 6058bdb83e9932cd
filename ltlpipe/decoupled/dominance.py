"""Visited sets of states: is a new one included in one of them?

A row (uint64[n_words]) is a set of bits; a visited row dominates a new one that it
includes.  Exact duplicates are found by hashing.  Other dominating rows are looked for
in a binary tree over the visited ones.  An inner node has a bit (a local state of a
component): rows without it are below one child, rows with it below the other; the rows
of a leaf are a linked list.  A look-up leaves out the rows without a bit that the new
row has, and every node whose rows do not have a bit of the new row even all together:
for this each node carries their union.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 3.1, dominance pruning;
the source does not say how dominating states are found.

Invariants (asserted by `assert_consistent`): every row is in exactly one leaf, on the
right side of every inner node above it; the union of a node is the union of its rows;
a leaf has at most `LEAF_ROWS` rows.

Cost: per row 4 bytes beside the row and its slots; at most two nodes per row, in
practice one in five or so, each of 12 bytes and a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.search.growth import affordable_length, lengthen, total_bytes
from ltlpipe.search.registers import N_REGISTERS, Reg
from ltlpipe.search.store import (
    MAX_LOAD,
    Store,
    find,
    hash_row,
    resize_slots,
    slot_entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAF_ROWS = 12
"""Rows of a leaf; one more and it is divided."""

ANY = np.iinfo(np.int32).max
"""Numbers of rows are no larger."""

_FIRST_ROWS = 1 << 8
_ONE = np.uint64(1)
_WORD_BITS = 64


class Visited(NamedTuple):
    """Room for n rows, m slots and k nodes; node 0 is the root.

    ``registers[Reg.STORED]`` rows and ``registers[Reg.NODES]`` nodes are in use.
    """

    store: Store
    next_row: np.ndarray  # int32[n], the next row of the same leaf, or -1
    bit: np.ndarray  # int32[k], the bit of an inner node, -1 for a leaf
    child: np.ndarray  # int32[k], the first of two children; of a leaf its first row
    size: np.ndarray  # int32[k], rows of a leaf
    union: np.ndarray  # uint64[k, n_words], all bits of the rows below
    pending: np.ndarray  # int32[k], nodes that a look-up still has to see


@called
def find_dominating(visited, registers, rows, i):
    """Return the id of a visited row that includes ``rows[i]``, or -1.

    Counts what it does in `registers` (int64[N_REGISTERS]).
    """
    store = visited.store
    known = store.rows
    slots = store.slots
    mixed = hash_row(rows, i)
    _, found = find(slots, known, rows, i, mixed, np.uint64(registers[Reg.ID_BITS]))
    if found >= 0:
        registers[Reg.DUPLICATES] += 1
        return found
    return find_including(visited, registers, rows, i, visited.next_row, ANY, False)


@called
def find_including(visited, registers, rows, i, number, most, strictly):
    """Return the id of a visited row with a number up to `most` that includes a row.

    number : int32[n], of each visited row.  Returns -1 if there is none.  With
    `strictly`, the same row does not count.
    """
    known = visited.store.rows
    bits = visited.bit
    child = visited.child
    union = visited.union
    pending = visited.pending
    next_row = visited.next_row
    n_words = known.shape[1]
    n_pending = 1
    pending[0] = 0
    while n_pending > 0:
        n_pending -= 1
        node = np.int64(pending[n_pending])
        registers[Reg.NODES_SEEN] += 1
        included = True
        for w in range(n_words):
            if rows[i, w] & ~union[node, w] != 0:
                included = False
                break
        if not included:
            continue
        bit = np.int64(bits[node])
        if bit >= 0:
            first = child[node]
            if (rows[i, bit >> 6] >> np.uint64(bit & 63)) & _ONE == 0:
                pending[n_pending] = first
                n_pending += 1
            pending[n_pending] = first + 1
            n_pending += 1
            continue
        row = np.int64(child[node])
        while row >= 0:
            registers[Reg.COMPARED] += 1
            included = True
            same = True
            for w in range(n_words):
                same &= rows[i, w] == known[row, w]
                if rows[i, w] & ~known[row, w] != 0:
                    included = False
                    break
            if included and number[row] <= most and not (strictly and same):
                registers[Reg.DOMINATED] += 1
                return row
            row = np.int64(next_row[row])
    return np.int64(-1)


@called
def add_row(visited, registers, rows, i):
    """Add ``rows[i]``, which no visited row equals, and return its id.

    The caller has made sure of room for one row, one slot and two nodes.
    """
    store = visited.store
    known = store.rows
    slots = store.slots
    bits = visited.bit
    child = visited.child
    union = visited.union
    n_words = known.shape[1]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    mixed = hash_row(rows, i)
    at, _ = find(slots, known, rows, i, mixed, id_bits)
    row = registers[Reg.STORED]
    registers[Reg.STORED] = row + 1
    slots[at] = slot_entry(mixed, row, id_bits)
    for w in range(n_words):
        known[row, w] = rows[i, w]
    if registers[Reg.NODES] == 0:
        registers[Reg.NODES] = 1
        bits[0] = -1
        child[0] = -1
    node = np.int64(0)
    while True:
        for w in range(n_words):
            union[node, w] |= known[row, w]
        bit = np.int64(bits[node])
        if bit < 0:
            break
        has = (known[row, bit >> 6] >> np.uint64(bit & 63)) & _ONE
        node = np.int64(child[node]) + np.int64(has)
    visited.next_row[row] = child[node]
    child[node] = row
    visited.size[node] += 1
    if visited.size[node] > LEAF_ROWS:
        divide_leaf(visited, registers, node)
    return row


@inlined
def divide_leaf(visited, registers, node):
    """Make a leaf an inner node, by the bit that divides its rows most evenly."""
    known = visited.store.rows
    child = visited.child
    next_row = visited.next_row
    size = visited.size
    union = visited.union
    n_words = known.shape[1]
    best = np.int64(-1)
    best_less = np.int64(0)  # rows on the smaller side
    for w in range(n_words):
        common = union[node, w]
        row = np.int64(child[node])
        while row >= 0:
            common &= known[row, w]
            row = np.int64(next_row[row])
        differing = union[node, w] & ~common
        for b in range(_WORD_BITS):
            if (differing >> np.uint64(b)) & _ONE == 0:
                continue
            n_with = np.int64(0)
            row = np.int64(child[node])
            while row >= 0:
                n_with += np.int64((known[row, w] >> np.uint64(b)) & _ONE)
                row = np.int64(next_row[row])
            less = min(n_with, np.int64(size[node]) - n_with)
            if less > best_less:
                best = np.int64(w * _WORD_BITS + b)
                best_less = less
    first = registers[Reg.NODES]
    registers[Reg.NODES] = first + 2
    for side in range(2):
        visited.bit[first + side] = -1
        child[first + side] = -1
        size[first + side] = 0
        for w in range(n_words):
            union[first + side, w] = 0
    row = np.int64(child[node])
    while row >= 0:
        following = np.int64(next_row[row])
        has = (known[row, best >> 6] >> np.uint64(best & 63)) & _ONE
        side = first + np.int64(has)
        next_row[row] = child[side]
        child[side] = row
        size[side] += 1
        for w in range(n_words):
            union[side, w] |= known[row, w]
        row = following
    visited.bit[node] = best
    child[node] = first
    size[node] = 0


@inlined
def has_room(visited, registers):
    """Whether one more row fits everywhere (`VisitedSets.grow` makes it)."""
    n_stored = registers[Reg.STORED]
    return (
        n_stored < visited.store.rows.shape[0]
        and 4 * (n_stored + 1) <= 3 * visited.store.slots.shape[0]
        and registers[Reg.NODES] + 3 <= visited.bit.shape[0]
    )


@njit
def add_alone(visited, registers, rows):
    """Add ``rows[0]``; called from Python."""
    add_row(visited, registers, rows, 0)


class VisitedSets:
    """The visited rows of one search, with the tree over them.

    Its `registers` (int64[N_REGISTERS]) are its own; those of the search are others.
    """

    def __init__(self, n_words: int) -> None:
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        rows = np.zeros((_FIRST_ROWS, n_words), dtype=np.uint64)
        self.arrays = Visited(
            store=Store(rows, np.zeros(0, dtype=np.uint32)),
            next_row=np.zeros(_FIRST_ROWS, dtype=np.int32),
            bit=np.full(_FIRST_ROWS, -1, dtype=np.int32),
            child=np.full(_FIRST_ROWS, -1, dtype=np.int32),
            size=np.zeros(_FIRST_ROWS, dtype=np.int32),
            union=np.zeros((_FIRST_ROWS, n_words), dtype=np.uint64),
            pending=np.zeros(_FIRST_ROWS, dtype=np.int32),
        )
        for _ in resize_slots(self.arrays.store, self.registers, 2 * _FIRST_ROWS):
            pass

    def add_first(self, row: np.ndarray) -> None:
        """Add a row (uint64[n_words]) to visited ones that are none so far."""
        add_alone(self.arrays, self.registers, row[np.newaxis])

    @property
    def n_stored(self) -> int:
        """Number of visited rows."""
        return int(self.registers[Reg.STORED])

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, room to grow included."""
        return total_bytes(self.arrays)

    def statistics(self) -> dict[str, int]:
        """Return how often what was looked up had been visited or was dominated."""
        return {
            "duplicates": int(self.registers[Reg.DUPLICATES]),
            "dominated": int(self.registers[Reg.DOMINATED]),
            "covered": int(self.registers[Reg.COVERED]),
            "nodes_seen": int(self.registers[Reg.NODES_SEEN]),
            "compared": int(self.registers[Reg.COMPARED]),
        }

    def grow(self, free_bytes: float) -> Iterator[None]:
        """Make room for one row more in up to `free_bytes`, with pauses.

        Raises `OutOfMemoryError` if they do not do.
        """
        arrays, store, n_stored = self.arrays, self.arrays.store, self.n_stored
        limit = self.memory_bytes + free_bytes
        lengthen((store.rows, arrays.next_row), n_stored + 1, free_bytes)
        n_slots = store.slots.shape[0]
        if n_stored + 1 > MAX_LOAD * n_slots:
            free = limit - self.memory_bytes
            length = affordable_length(n_slots, n_slots + 1, 4, free, rebuilt=True)
            yield from resize_slots(store, self.registers, length)
        nodes = (arrays.bit, arrays.child, arrays.size, arrays.pending, arrays.union)
        needed = int(self.registers[Reg.NODES]) + 3
        lengthen(nodes, needed, limit - self.memory_bytes)

    def assert_consistent(self) -> None:
        """Check the invariants that the module states; for tests."""
        if self.n_stored == 0:
            return
        below: list[int] = []
        self._assert_node(0, [], below)
        assert sorted(below) == list(range(self.n_stored))

    def _assert_node(
        self, node: int, sides: list[tuple[int, int]], below: list[int]
    ) -> None:
        _store, next_row, bit, child, size, union, _pending = self.arrays
        rows = self.arrays.store.rows
        start = len(below)
        if bit[node] >= 0:
            for side in range(2):
                self._assert_node(
                    int(child[node]) + side, [*sides, (int(bit[node]), side)], below
                )
        else:
            row = int(child[node])
            while row >= 0:
                below.append(row)
                row = int(next_row[row])
            assert len(below) - start == size[node] <= LEAF_ROWS
        own = rows[below[start:]]
        assert np.array_equal(np.bitwise_or.reduce(own, axis=0), union[node])
        for place, side in sides:
            has = own[:, place // _WORD_BITS] >> np.uint64(place % _WORD_BITS) & _ONE
            assert np.all(has == side)

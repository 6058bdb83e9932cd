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

Invariants (asserted by `tests.invariants`): every row is in exactly one leaf, on the
right side of every inner node above it; the union of a node is the union of its rows;
a leaf has at most `LEAF_ROWS` rows.

Cost: per row 4 bytes beside the row and its slots; at most two nodes per row, in
practice one in five or so, each of 12 bytes and a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit, trailing_zeros
from ltlpipe.runtime.kernels.rows import hash_row
from ltlpipe.search.growth import affordable_length, lengthen, total_bytes
from ltlpipe.search.registers import N_REGISTERS, Reg
from ltlpipe.search.store import (
    MAX_LOAD,
    Store,
    find,
    resize_slots,
    slot_entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAF_ROWS = 12
"""Rows of a leaf; one more and it is divided."""

ANY = np.iinfo(np.int32).max
"""Numbers of rows are no larger."""

_COUNTED = (Reg.DUPLICATES, Reg.DOMINATED, Reg.COVERED, Reg.NODES_SEEN, Reg.COMPARED)
_FIRST_ROWS = 1 << 8
_ONE = np.uint64(1)


class Visited(NamedTuple):
    """Room for n rows, m slots and k nodes; node 0 is the root.

    ``registers[Reg.STORED]`` rows and ``registers[Reg.NODES]`` nodes are in use.  These
    registers are not those of the search.
    """

    registers: np.ndarray  # int64[N_REGISTERS]
    store: Store
    next_row: np.ndarray  # int32[n], the next row of the same leaf, or -1
    bit: np.ndarray  # int32[k], the bit of an inner node, -1 for a leaf
    child: np.ndarray  # int32[k], the first of two children; of a leaf its first row
    size: np.ndarray  # int32[k], rows of a leaf
    union: np.ndarray  # uint64[k, n_words], all bits of the rows below
    pending: np.ndarray  # int32[k], nodes that a look-up still has to see


@inlined
def find_same(visited, rows, i):
    """Return the id of the visited row that equals ``rows[i]``, or -1."""
    store, id_bits = visited.store, np.uint64(visited.registers[Reg.ID_BITS])
    _, found = find(store.slots, store.rows, rows, i, hash_row(rows, i), id_bits)
    visited.registers[Reg.DUPLICATES] += found >= 0
    return np.int64(found)


@called
def find_dominating(visited, rows, i):
    """Return the id of a visited row that includes ``rows[i]``, or -1."""
    found = find_same(visited, rows, i)
    if found < 0:
        found = find_including(visited, rows, i, visited.next_row, ANY, False)
    return found


@called
def find_including(visited, rows, i, number, most, strictly):
    """Return the id of a visited row with a number up to `most` that includes a row.

    number : int32[n], of each visited row.  Returns -1 if there is none.  With
    `strictly`, the same row does not count.
    """
    registers = visited.registers
    known = visited.store.rows
    pending = visited.pending
    n_words = known.shape[1]
    n_pending = 1
    pending[0] = 0
    while n_pending > 0:
        n_pending -= 1
        node = np.int64(pending[n_pending])
        registers[Reg.NODES_SEEN] += 1
        included = True
        for w in range(n_words):
            if rows[i, w] & ~visited.union[node, w] != 0:
                included = False
                break
        if not included:
            continue
        bit = np.int64(visited.bit[node])
        if bit >= 0:
            first = visited.child[node]
            if not has_bit(rows, i, bit):
                pending[n_pending] = first
                n_pending += 1
            pending[n_pending] = first + 1
            n_pending += 1
            continue
        row = np.int64(visited.child[node])
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
            row = np.int64(visited.next_row[row])
    return np.int64(-1)


@inlined
def has_bit(rows, i, bit):
    """Return whether ``rows[i]`` has a bit, 0 or 1."""
    return np.int64((rows[i, bit >> 6] >> np.uint64(bit & 63)) & _ONE)


@called
def add_row(visited, rows, i):
    """Add ``rows[i]``, which no visited row equals, and return its id.

    The caller has made sure of room for one row, one slot and two nodes.
    """
    registers, store = visited.registers, visited.store
    known = store.rows
    id_bits = np.uint64(registers[Reg.ID_BITS])
    mixed = hash_row(rows, i)
    at, _ = find(store.slots, known, rows, i, mixed, id_bits)
    row = registers[Reg.STORED]
    registers[Reg.STORED] = row + 1
    store.slots[at] = slot_entry(mixed, row, id_bits)
    for w in range(known.shape[1]):
        known[row, w] = rows[i, w]
    if registers[Reg.NODES] == 0:
        begin_leaf(visited, 0)
        registers[Reg.NODES] = 1
    node = np.int64(0)
    while visited.bit[node] >= 0:
        add_to_union(visited, node, row)
        bit = np.int64(visited.bit[node])
        node = np.int64(visited.child[node]) + has_bit(known, row, bit)
    add_to_leaf(visited, node, row)
    if visited.size[node] > LEAF_ROWS:
        divide_leaf(visited, node)
    return row


@inlined
def begin_leaf(visited, node):
    """Make a node a leaf without rows."""
    visited.bit[node] = -1
    visited.child[node] = -1
    visited.size[node] = 0
    for w in range(visited.union.shape[1]):
        visited.union[node, w] = 0


@inlined
def add_to_union(visited, node, row):
    """Add the bits of a row to those that are known below a node."""
    for w in range(visited.union.shape[1]):
        visited.union[node, w] |= visited.store.rows[row, w]


@inlined
def add_to_leaf(visited, node, row):
    """Make a row the first one of a leaf."""
    add_to_union(visited, node, row)
    visited.next_row[row] = visited.child[node]
    visited.child[node] = row
    visited.size[node] += 1


@inlined
def dividing_bit(visited, node):
    """Return the bit that divides the rows of a leaf most evenly."""
    known, next_row = visited.store.rows, visited.next_row
    best = np.int64(-1)
    best_less = np.int64(0)  # rows on the smaller side
    for w in range(known.shape[1]):
        differing = visited.union[node, w]
        common = differing
        row = np.int64(visited.child[node])
        while row >= 0:
            common &= known[row, w]
            row = np.int64(next_row[row])
        differing &= ~common
        while differing != 0:
            bit = 64 * w + trailing_zeros(differing)
            differing &= differing - _ONE
            n_with = np.int64(0)
            row = np.int64(visited.child[node])
            while row >= 0:
                n_with += has_bit(known, row, bit)
                row = np.int64(next_row[row])
            less = min(n_with, np.int64(visited.size[node]) - n_with)
            if less > best_less:
                best = np.int64(bit)
                best_less = less
    return best


@inlined
def divide_leaf(visited, node):
    """Make a leaf an inner node."""
    best = dividing_bit(visited, node)
    first = visited.registers[Reg.NODES]
    visited.registers[Reg.NODES] = first + 2
    begin_leaf(visited, first)
    begin_leaf(visited, first + 1)
    row = np.int64(visited.child[node])
    while row >= 0:
        following = np.int64(visited.next_row[row])
        add_to_leaf(visited, first + has_bit(visited.store.rows, row, best), row)
        row = following
    visited.bit[node] = best
    visited.child[node] = first
    visited.size[node] = 0


@inlined
def has_room(visited):
    """Whether one more row fits everywhere (`VisitedSets.grow` makes it)."""
    n_stored = visited.registers[Reg.STORED]
    return (
        n_stored < visited.store.rows.shape[0]
        and 4 * (n_stored + 1) <= 3 * visited.store.slots.shape[0]
        and visited.registers[Reg.NODES] + 3 <= visited.bit.shape[0]
    )


@njit
def add_alone(visited, rows):
    """Add ``rows[0]``; called from Python."""
    add_row(visited, rows, 0)


class VisitedSets:
    """The visited rows of one search, with the tree over them."""

    def __init__(self, n_words: int) -> None:
        n, none = _FIRST_ROWS, np.zeros(0, dtype=np.uint32)
        self.arrays = Visited(
            registers=np.zeros(N_REGISTERS, dtype=np.int64),
            store=Store(np.zeros((n, n_words), dtype=np.uint64), none),
            next_row=np.zeros(n, dtype=np.int32),
            bit=np.zeros(n, dtype=np.int32),
            child=np.zeros(n, dtype=np.int32),
            size=np.zeros(n, dtype=np.int32),
            union=np.zeros((n, n_words), dtype=np.uint64),
            pending=np.zeros(n, dtype=np.int32),
        )
        self.registers = self.arrays.registers
        for _ in resize_slots(self.arrays.store, self.registers, 2 * n):
            pass

    def add_first(self, row: np.ndarray) -> None:
        """Add a row (uint64[n_words]) to visited ones that are none so far."""
        add_alone(self.arrays, row[np.newaxis])

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
        return {reg.name.lower(): int(self.registers[reg]) for reg in _COUNTED}

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

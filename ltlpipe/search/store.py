"""The state store: rows of 64-bit words, found by open addressing.

A state is its id, the place of its row in `rows`.  A slot of the hash table
holds id + 1 in its lower bits and, in the bits that ids do not need yet, a tag
from the hash, so that a slot of another state is nearly always passed over
without a look at its row.  An empty slot is 0.

`ltlpipe.search.interning` is how searches look up their states.

Cost: 8 bytes per word of a row, and 4 bytes per slot with 4 slots for 3 states
or more; the table is rebuilt from the rows when it grows, without a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load
from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch, specialised
from ltlpipe.search.growth import is_mapped, lengthened, renewed
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Iterator

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

MAX_LOAD = 0.75
"""States per slot at which the table grows."""

_BLOCK = 1 << 18  # rows that are entered into a new table without a pause: some 20 ms


class Store(NamedTuple):
    """The arrays of a store with room for n states and m slots."""

    rows: np.ndarray  # uint64[n, n_words], or uint64[n, 1] with a tree
    slots: np.ndarray  # uint32[m]
    tree: Any = None  # ltlpipe.search.tree.Tree, for rows of several words
    roots: Any = None  # uint64[b, 1] with a tree: what it makes of b rows at a time
    shared: Any = None  # not None: several workers write to it


@inlined
def hash_row(rows, i):
    """Return 64 well-mixed bits of ``rows[i]``, rows uint64[n, n_words]."""
    mixed = np.uint64(0)
    for w in range(rows.shape[1]):
        mixed = (mixed ^ rows[i, w]) * _MULTIPLIER
        mixed ^= mixed >> _U32
    mixed *= _FINISHER
    return mixed ^ (mixed >> _U32)


@inlined
def home_slot(mixed, n_slots):
    """Return the slot at which the search for a hash begins."""
    return np.int64(((mixed >> _U32) * np.uint64(n_slots)) >> _U32)


@inlined
def slot_entry(mixed, state, id_bits):
    """Return what the slot of a state with this hash holds."""
    tag = (mixed & _LOW) >> id_bits
    return np.uint32((tag << id_bits) | np.uint64(state + 1))


@inlined
def find(slots, known, rows, i, mixed, id_bits):
    """Return the slot of ``rows[i]`` and its id, or an empty slot and -1."""
    n_slots = slots.shape[0]
    tag = (mixed & _LOW) >> id_bits
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    at = home_slot(mixed, n_slots)
    while True:
        slot = np.uint64(load(slots, at))  # which another worker may write
        if slot == 0:
            return at, np.int64(-1)
        if slot >> id_bits == tag:
            state = np.int64(slot & id_mask) - 1
            same = True
            for w in range(rows.shape[1]):
                if known[state, w] != rows[i, w]:
                    same = False
                    break
            if same:
                return at, state
        at += 1
        if at == n_slots:
            at = 0


def with_room(store: Store, length: int) -> Store:
    """Return the store with room for `length` rows: the same one if it can grow.

    The rows that several workers have stored are copied.  Raises `DiskFullError` if
    they are in a file.
    """
    if is_mapped(store.rows):
        return store._replace(rows=lengthened(store.rows, length))
    n_words = store.rows.shape[1]
    if store.rows.flags.owndata:
        store.rows.resize((length, n_words), refcheck=False)
        return store
    rows = np.zeros((length, n_words), dtype=np.uint64)
    rows[: len(store.rows)] = store.rows
    return store._replace(rows=rows)


def with_slots(store: Store, n_slots: int) -> Store:
    """Return the store with so many empty slots or more: the same one if it can grow.

    It is of no use before `fill` has run.  Raises `DiskFullError` if they are in a
    file.
    """
    slots = store.slots
    if is_mapped(slots):
        return store._replace(slots=renewed(slots, n_slots))
    slots.resize(0, refcheck=False)  # first free, then allocate: no copy
    slots.resize(n_slots, refcheck=False)
    return store


def resize_slots(store: Store, registers: np.ndarray, n_slots: int) -> Iterator[None]:
    """Rebuild the hash table, in memory, with another number of slots, with pauses.

    Changes ``registers[Reg.ID_BITS]``; `registers` are those that count the states.
    The store is of no use before the end.
    """
    yield from fill(with_slots(store, n_slots), registers)


def fill(store: Store, registers: np.ndarray) -> Iterator[None]:
    """Enter all rows into empty slots, as `resize_slots` does."""
    registers[Reg.ID_BITS] = len(store.slots).bit_length()
    n_stored = int(registers[Reg.STORED])
    for first in range(0, n_stored, _BLOCK):
        fill_slots(store, registers, first, min(first + _BLOCK, n_stored))
        yield


@njit
def fill_slots(store, registers, first, last):
    """Enter the rows from `first` to before `last` into `slots`.

    Others may enter other rows meanwhile, if the store is shared.
    """
    slots = store.slots
    rows = store.rows
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    ahead = 16  # rows whose slot has been asked for
    for state in range(first, last + ahead):
        if state < last:
            prefetch(slots, home_slot(hash_row(rows, state), n_slots))
        settled = state - ahead
        if settled >= first:
            mixed = hash_row(rows, settled)
            entry = slot_entry(mixed, settled, id_bits)
            at = home_slot(mixed, n_slots)
            while not fills(store.shared, slots, at, entry):
                at += 1
                if at == n_slots:
                    at = 0


@specialised
def fills(shared, slots, at, entry):
    """Write an entry to a slot that is empty; return whether it was."""
    if shared is not None:
        return load(slots, at) == 0 and compare_and_swap(slots, at, 0, entry)
    if slots[at] != 0:
        return False
    slots[at] = entry
    return True

"""The state store: rows of 64-bit words, found by open addressing.

A state is its id, the place of its row in `rows`.  A slot of the hash table
holds id + 1 in its lower bits and, in the bits that ids do not need yet, a tag
from the hash, so that a slot of another state is nearly always passed over
without a look at its row.  An empty slot is 0.

Successors are looked up in batches: first all slots are asked for, then the
rows that the slots point to, then the comparisons are made.  The waits for
memory thus overlap, and the time per state hardly grows with their number.

Cost: 8 bytes per word of a row, and 4 bytes per slot with 4 slots for 3 states
or more; the table is rebuilt from the rows when it grows, without a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch
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

    rows: np.ndarray  # uint64[n, n_words]
    slots: np.ndarray  # uint32[m]


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
def intern(store, registers, rows, n, ids, hashes, companion, shift):
    """Find or add the first `n` of `rows`, and write their ids to `ids`.

    rows uint64[k, n_words], ids int32[k], hashes uint64[k] with k >= n.  The
    caller has made sure of room for n more states, and is going to look at
    ``companion[id >> shift]``, which is asked for together with the rows.
    """
    # Taking an array out of a tuple costs a reference count: not in a loop.
    slots = store.slots
    known = store.rows
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    n_stored = registers[Reg.STORED]
    for i in range(n):
        mixed = hash_row(rows, i)
        hashes[i] = mixed
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        slot = np.uint64(slots[home_slot(hashes[i], n_slots)])
        if slot != 0:
            state = np.int64(slot & id_mask) - 1
            prefetch(known, state)
            prefetch(companion, state >> shift)
    for i in range(n):
        mixed = hashes[i]
        at, state = find(slots, known, rows, i, mixed, id_bits)
        if state < 0:
            state = n_stored
            n_stored += 1
            for w in range(rows.shape[1]):
                known[state, w] = rows[i, w]
            slots[at] = slot_entry(mixed, state, id_bits)
        ids[i] = state
    registers[Reg.STORED] = n_stored


@inlined
def lookup(store, registers, rows, n, ids, hashes, companion, shift):
    """Find the first `n` of `rows`; -1 in `ids` for those that are not stored.

    The arguments are those of `intern`.
    """
    slots = store.slots
    known = store.rows
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    for i in range(n):
        mixed = hash_row(rows, i)
        hashes[i] = mixed
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        _, state = find(slots, known, rows, i, hashes[i], id_bits)
        ids[i] = state
        if state >= 0:
            prefetch(companion, state >> shift)


@inlined
def store_missing(store, registers, rows, n, ids, hashes):
    """Add those of the first `n` of `rows` that `lookup` has not found.

    Their ids, -1 so far, are written to `ids`.
    """
    slots = store.slots
    known = store.rows
    id_bits = np.uint64(registers[Reg.ID_BITS])
    n_stored = registers[Reg.STORED]
    for i in range(n):
        if ids[i] >= 0:
            continue
        at, state = find(slots, known, rows, i, hashes[i], id_bits)
        if state < 0:  # it may stand twice in the batch
            state = n_stored
            n_stored += 1
            for w in range(rows.shape[1]):
                known[state, w] = rows[i, w]
            slots[at] = slot_entry(hashes[i], state, id_bits)
        ids[i] = state
    registers[Reg.STORED] = n_stored


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
        slot = np.uint64(slots[at])
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

    The rows that several workers have stored are copied.
    """
    n_words = store.rows.shape[1]
    if store.rows.flags.owndata:
        store.rows.resize((length, n_words), refcheck=False)
        return store
    rows = np.zeros((length, n_words), dtype=np.uint64)
    rows[: len(store.rows)] = store.rows
    return Store(rows, store.slots)


def resize_slots(store: Store, registers: np.ndarray, n_slots: int) -> Iterator[None]:
    """Rebuild the hash table with another number of slots, with pauses.

    Changes ``registers[Reg.ID_BITS]``; `registers` are those that count the states.
    The store is of no use before the end.
    """
    slots = store.slots
    slots.resize(0, refcheck=False)  # first free, then allocate: no copy
    slots.resize(n_slots, refcheck=False)
    registers[Reg.ID_BITS] = int(n_slots).bit_length()
    n_stored = int(registers[Reg.STORED])
    for first in range(0, n_stored, _BLOCK):
        fill_slots(store, registers, first, min(first + _BLOCK, n_stored))
        yield


@njit
def fill_slots(store, registers, first, last):
    """Enter the rows from `first` to before `last` into `slots`."""
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
            at = home_slot(mixed, n_slots)
            while slots[at] != 0:
                at += 1
                if at == n_slots:
                    at = 0
            slots[at] = slot_entry(mixed, settled, id_bits)

"""Looking states up in a store, a batch of successors at a time.

First all slots are asked for, then the rows that the slots point to, then the
comparisons are made.  The waits for memory thus overlap, and the time per state hardly
grows with their number.

Where a store keeps rows as trees (`ltlpipe.search.tree`), what stands for a row, one
word, takes the row's place in all of this.  Kernels are compiled for each of the two
apart: one without trees holds none of their code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, prefetch, specialised
from ltlpipe.search.registers import Reg
from ltlpipe.search.shared_store import find_or_add
from ltlpipe.search.store import find, hash_row, home_slot, slot_entry
from ltlpipe.search.tree import folded, folded_missing, unfold, unfolded_rows

if TYPE_CHECKING:
    from ltlpipe.search.store import Store


@inlined
def row_of(product, store, state):
    """Return the row of a state, uint64[n_words]; the next call overwrites it."""
    unfold(store.tree, store.rows, state, product.row)
    return product.row


def rows_of(store: Store, ids: np.ndarray) -> np.ndarray:
    """Return the rows of states, uint64[n, n_words], ids int[n]."""
    kept = np.asarray(store.rows[ids])
    return kept if store.tree is None else unfolded_rows(store.tree, kept)


@inlined
def intern(store, registers, rows, n, ids, hashes, companion, shift):
    """Find or add the first `n` of `rows`, and write their ids to `ids`.

    rows uint64[k, n_words], ids int32[k], hashes uint64[k] with k >= n.  The
    caller has made sure of room for n more states, and is going to look at
    ``companion[id >> shift]``, which is asked for together with the rows.  If the store
    is shared, `registers` are the worker's.
    """
    # Taking an array out of a tuple costs a reference count: not in a loop.
    slots = store.slots
    known = store.rows
    keys = folded(store.tree, store.roots, rows, n, True)
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    for i in range(n):
        mixed = hash_row(keys, i)
        hashes[i] = mixed
        ids[i] = -1
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        slot = np.uint64(slots[home_slot(hashes[i], n_slots)])
        if slot != 0:
            state = np.int64(slot & id_mask) - 1
            prefetch(known, state)
            prefetch(companion, state >> shift)
    enter_all(store.shared, slots, known, registers, keys, n, ids, hashes)


@specialised
def enter_all(shared, slots, known, registers, keys, n, ids, hashes):
    """Find or add what stands for those of `n` rows whose id is negative."""
    id_bits = np.uint64(registers[Reg.ID_BITS])
    if shared is not None:
        for i in range(n):
            ids[i] = find_or_add(slots, known, registers, keys, i, hashes[i], id_bits)
        return
    n_stored = registers[Reg.STORED]
    for i in range(n):
        if ids[i] >= 0:
            continue
        at, state = find(slots, known, keys, i, hashes[i], id_bits)
        if state < 0:  # it may stand twice in the batch
            state = n_stored
            n_stored += 1
            for w in range(keys.shape[1]):
                known[state, w] = keys[i, w]
            slots[at] = slot_entry(hashes[i], state, id_bits)
        ids[i] = state
    registers[Reg.STORED] = n_stored


@inlined
def lookup(store, registers, rows, n, ids, hashes, companion, shift):
    """Find the first `n` of `rows`; -1 in `ids` for those that are not stored.

    The arguments are those of `intern`.
    """
    slots = store.slots
    known = store.rows
    keys = folded(store.tree, store.roots, rows, n, False)
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    for i in range(n):
        mixed = hash_row(keys, i)
        hashes[i] = mixed
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        _, state = find(slots, known, keys, i, hashes[i], id_bits)
        ids[i] = state
        if state >= 0:
            prefetch(companion, state >> shift)


@inlined
def store_missing(store, registers, rows, n, ids, hashes):
    """Add those of the first `n` of `rows` that `lookup` has not found.

    Their ids, -1 so far, are written to `ids`.
    """
    keys = folded_missing(store.tree, store.roots, rows, n, ids, hashes)
    enter_all(None, store.slots, store.rows, registers, keys, n, ids, hashes)

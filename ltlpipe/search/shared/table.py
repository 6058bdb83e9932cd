"""The state table of several workers: rows and slots as in `ltlpipe.search.store`.

A worker takes ids in chunks, with one atomic addition.  A row is written at the
worker's next id, which no other worker knows, and becomes known by one compare-and-swap
of its slot from 0.  Who loses that looks at the slot again, like at any other; its id
is still free for the next row.  No worker ever waits.

Why no row is there twice: a slot changes only once, from 0 to an entry, and all who
look for a row look at the same slots in the same order, up to the first that is 0.  Of
two who add the same row, the second to swap finds the first one's entry in that slot or
before it.  Why a row that is found is whole: it was written before the swap, which
releases, and is read after a load that acquires.

Source: A. Laarman, J. van de Pol and M. Weber, "Boosting Multi-Core Reachability
Performance with Shared Hash Tables", FMCAD 2010, pp. 247-255.

Differences from the source: rows lie apart from the slots, so there is no state in
which a row is being written, and no worker waits for one; tags use the bits of a slot
that ids do not need.

Ids that a worker has taken and not used are holes: their rows mean nothing, and no slot
leads to them.  They are what is left of two chunks of each worker.

Cost: 8 bytes per word of a row, and 4 bytes per slot with 4 slots for 3 states or more.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load
from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import hash_row, home_slot, slot_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.search.store import Store

CHUNK = 1 << 10
"""Ids that a worker takes at a time, at least."""

_BLOCK = 1 << 16  # rows that are entered into a new table without a pause: some 5 ms


class Own(IntEnum):
    """Places in the registers that each worker has for itself."""

    NEXT = 0  # the worker's ids: from NEXT to before END, and then
    END = 1
    SPARE = 2  # from SPARE to before SPARE_END
    SPARE_END = 3
    ID_BITS = 4  # a copy of Reg.ID_BITS, which others' writes do not slow down
    EXPANSIONS = 5
    TRANSITIONS = 6
    LOST = 7  # rows that another worker has added in the same moment
    TOP = 8  # entries of the stack
    N_ROOTS = 9  # entries of the stack of roots
    CURSOR = 10  # where in Fstates it looks for work next
    NUMBER = 11  # of the worker, from 0
    SHUFFLE = 12  # state of its random numbers; 0: the order is the product's
    DEPTH = 13  # states on its stack
    MAX_DEPTH = 14
    CHUNK = 15  # ids that it takes at a time
    VISITED = 16  # states that it was the first to enter
    REENTERED = 17  # the same, in a later round
    PERMITS = 18  # states that it may enter without asking
    N_SCCS = 19  # complete SCCs that it has found to be that
    BUDGET = 20  # states that it may expand without asking

    REDUCED = 30  # states expanded by fewer than all of their steps
    ATTEMPTS = 31  # states for which an ample set has been looked for
    EXAMINED = 32  # actions that were looked at to choose among steps

    # ufscc and what is built on it: see `ltlpipe.search.shared.sharing`
    IS_WAITING = 21  # for an answer of another worker
    GIVER = 22  # whom it has asked last
    TRIES = 23  # answers without anything since it has got something
    TOLD = 24  # states that others have named to it
    OFFERED = 25  # stack entries below have been offered to others, or are not new

    POLLS = 29  # looks at an answer that has not come

    # cndfs
    RED_BASE = 26  # stack entries below the red search, 0 if none runs
    N_RED = 27  # states that the red search has entered
    N_AWAITED = 28  # accepting ones among them, but for the seed


_LINE = 128  # bytes; cores that write to the same ones wait for each other


def new_owns(n: int) -> list[np.ndarray]:
    """Return registers for so many workers, int64[max(Own) + 1] each, far apart."""
    length = -(-(max(Own) + 1) * 8 // _LINE) * _LINE // 8
    memory = np.zeros((n + 1) * length, dtype=np.int64)
    start = -memory.ctypes.data % _LINE // 8
    return [memory[start + k * length :][: max(Own) + 1] for k in range(n)]


@inlined
def lacks_ids(own, n):
    """Whether a worker has fewer than `n` ids."""
    left = own[Own.END] - own[Own.NEXT] + own[Own.SPARE_END] - own[Own.SPARE]
    return left < n


@inlined
def take_ids(registers, own, size, room):
    """Take a chunk of ids; return False if the table has no room for it.

    `room` are the states that it has room for.
    """
    while True:
        first = load(registers, Reg.STORED)
        if first + size > room:
            return False
        if compare_and_swap(registers, Reg.STORED, first, first + size):
            break
    if own[Own.NEXT] == own[Own.END]:
        own[Own.NEXT], own[Own.END] = first, first + size
    else:  # less than a chunk was left, so the spare one is used up
        own[Own.SPARE], own[Own.SPARE_END] = first, first + size
    return True


@inlined
def lacks_ids_or_room(product, store, registers, own):
    """Whether there is no room for the successors of one more state.

    Ids are taken if the worker has too few.
    """
    if not lacks_ids(own, product.ids.shape[0]):
        return False
    room = min(store.rows.shape[0], 3 * store.slots.shape[0] // 4)
    return not take_ids(registers, own, own[Own.CHUNK], room)


@inlined
def intern_shared(store, own, rows, n, ids, hashes, companion):
    """Find or add the first `n` of `rows`, and write their ids to `ids`.

    rows uint64[k, n_words], ids int32[k], hashes uint64[k] with k >= n.  The worker has
    `n` ids at least, and is going to look at ``companion[id]``.
    """
    slots = store.slots
    known = store.rows
    n_slots = slots.shape[0]
    id_bits = np.uint64(own[Own.ID_BITS])
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    for i in range(n):
        mixed = hash_row(rows, i)
        hashes[i] = mixed
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        slot = np.uint64(slots[home_slot(hashes[i], n_slots)])
        if slot != 0:  # only a hint: it is looked at again
            state = np.int64(slot & id_mask) - 1
            prefetch(known, state)
            prefetch(companion, state)
    for i in range(n):
        ids[i] = find_or_add(slots, known, own, rows, i, hashes[i], id_bits)


@inlined
def find_or_add(slots, known, own, rows, i, mixed, id_bits):
    """Return the id of ``rows[i]``."""
    n_slots = slots.shape[0]
    tag = (mixed & np.uint64(0xFFFFFFFF)) >> id_bits
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    at = home_slot(mixed, n_slots)
    is_written = False
    while True:
        slot = np.uint64(load(slots, at))
        if slot == 0:
            state = own[Own.NEXT]
            if not is_written:
                for w in range(rows.shape[1]):
                    known[state, w] = rows[i, w]
                is_written = True
            if compare_and_swap(slots, at, 0, slot_entry(mixed, state, id_bits)):
                use_id(own)
                return state
            own[Own.LOST] += 1
            continue  # the slot is another row's now, or this one's
        if slot >> id_bits == tag:
            state = np.int64(slot & id_mask) - 1
            same = True
            for w in range(rows.shape[1]):
                if known[state, w] != rows[i, w]:
                    same = False
                    break
            if same:
                return state
        at += 1
        if at == n_slots:
            at = 0


@inlined
def use_id(own):
    """Go on to the next id."""
    own[Own.NEXT] += 1
    if own[Own.NEXT] == own[Own.END]:
        own[Own.NEXT], own[Own.END] = own[Own.SPARE], own[Own.SPARE_END]
        own[Own.SPARE] = own[Own.SPARE_END]


def holes(owns: Iterable[np.ndarray]) -> list[tuple[int, int]]:
    """Return the ids that workers have not used, as ranges, ascending."""
    places = ((Own.NEXT, Own.END), (Own.SPARE, Own.SPARE_END))
    ranges = [(int(own[a]), int(own[b])) for own in owns for a, b in places]
    return sorted((first, last) for first, last in ranges if first < last)


def begin_resizing(
    store: Store, registers: np.ndarray, owns: list[np.ndarray]
) -> list[tuple[int, int]]:
    """Begin to fill the slots, all empty, when no worker is at work.

    Returns the rows to be entered by `fill_shared`, as ranges of at most some ten
    thousand.
    """
    registers[Reg.ID_BITS] = int(store.slots.shape[0]).bit_length()
    for own in owns:
        own[Own.ID_BITS] = registers[Reg.ID_BITS]
    n_ids = int(registers[Reg.STORED])
    ranges, begin = [], 0
    for first, last in [*holes(owns), (n_ids, n_ids)]:
        starts = range(begin, first, _BLOCK)
        ranges += [(start, min(start + _BLOCK, first)) for start in starts]
        begin = last
    return ranges


@njit
def fill_shared(store, registers, first, last):
    """Enter the rows from `first` to before `last`, while others enter other rows."""
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
            while load(slots, at) != 0 or not compare_and_swap(slots, at, 0, entry):
                at += 1
                if at == n_slots:
                    at = 0

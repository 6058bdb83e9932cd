"""The state store: rows of 64-bit words, found by open addressing.

A state is its id, the place of its row in `rows`.  A slot of the hash table
holds id + 1 in its lower bits and, in the bits that ids do not need yet, a tag
from the hash, so that a slot of another state is nearly always passed over
without a look at its row.  An empty slot is 0.

`ltlpipe.search.interning` is how searches look up their states.

Cost: 8 bytes per word of a row, and 4 bytes per slot with 4 slots for 3 states
or more; the table is rebuilt from the rows when it grows, without a copy.

**Several workers** share such a table. A worker takes ids in chunks, with one atomic
addition. A row is written at the worker's next id, which no other worker knows, and
becomes known by one compare-and-swap of its slot from 0. Who loses that looks for the
row once more; its id is still free for the next one. No worker ever waits.

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
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load
from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch, specialised
from ltlpipe.runtime.kernels.rows import hash_row, same_row
from ltlpipe.search.growth import is_mapped, lengthened, renewed
from ltlpipe.search.registers import N_REGISTERS, PRIVATE, Reg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

MAX_LOAD = 0.75
"""States per slot at which the table grows."""

_BLOCK = 1 << 18  # rows that are entered into a new table without a pause: some 20 ms


class Store(NamedTuple):
    """The arrays of a store with room for n states and m slots."""

    rows: np.ndarray  # uint64[n, n_words], or uint64[n, 1] with a tree
    slots: np.ndarray  # uint32[m]
    tree: Any = None  # ltlpipe.search.interning.Tree, for rows of several words
    roots: Any = None  # uint64[b, 1] with a tree: what it makes of b rows at a time
    shared: Any = None  # not None: several workers write to it


@inlined
def copy_row(rows, i, to, k):
    """Write ``rows[i]`` to ``to[k]``."""
    for w in range(rows.shape[1]):
        to[k, w] = rows[i, w]


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
            if same_row(rows, i, known, state):
                return at, state
        at += 1
        if at == n_slots:
            at = 0


def with_room(store: Store, length: int) -> Store:
    """Return the store with room for `length` rows: the same one if it can grow.

    Raises `DiskFullError` if they are in a file.
    """
    if is_mapped(store.rows):
        return store._replace(rows=lengthened(store.rows, length))
    store.rows.resize((length, store.rows.shape[1]), refcheck=False)
    return store


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


CHUNK = 1 << 10
"""Ids that a worker takes at a time, at least."""

_SHARED_BLOCK = (
    1 << 16
)  # rows that are entered into a new table without a pause: some 5 ms


class Worker(IntEnum):
    """Places in the registers of each worker, which has those of `Reg`, too.

    And in those that all workers share, for what is counted together.
    """

    NEXT = PRIVATE  # the worker's ids: from NEXT to before END, and then
    END = PRIVATE + 1
    SPARE = PRIVATE + 2  # from SPARE to before SPARE_END
    SPARE_END = PRIVATE + 3
    CHUNK = PRIVATE + 4  # ids that it takes at a time
    LOST = PRIVATE + 5  # rows that another worker has added in the same moment
    NUMBER = PRIVATE + 6  # of the worker, from 0
    SHUFFLE = PRIVATE + 7  # state of its random numbers; 0: the product's order
    CURSOR = PRIVATE + 8  # where in Fstates it looks for work next
    REENTERED = PRIVATE + 9  # states that it was the first to enter in a later round
    N_SCCS = PRIVATE + 10  # complete SCCs that it has found to be that

    # ufscc and what is built on it: see `ltlpipe.search.shared.sharing`
    IS_WAITING = PRIVATE + 11  # for an answer of another worker
    GIVER = PRIVATE + 12  # whom it has asked last
    TRIES = PRIVATE + 13  # answers without anything since it has got something
    TOLD = PRIVATE + 14  # states that others have named to it
    OFFERED = PRIVATE + 15  # stack entries below have been offered, or are not new
    POLLS = PRIVATE + 16  # looks at an answer that has not come

    # cndfs
    N_RED = PRIVATE + 17  # states that the red search has entered
    N_AWAITED = PRIVATE + 18  # accepting ones among them, but for the seed

    # Shared by all, and of one search
    N_FSTATES = PRIVATE + 20  # entries of the list of states to begin with
    IS_LATER = PRIVATE + 21  # whether the product has been searched before
    EMPTY_ACCEPTS = PRIVATE + 22  # whether a cycle without marks is accepting
    CLOSING_MARKS = PRIVATE + 23  # for which the set of CLOSING was found to accept

    # Shared by all, far from what is read often; of a worker what it has taken
    PERMITS = PRIVATE + 42  # states that may be entered
    STOP = PRIVATE + 58  # not 0: all workers return


_LINE = 128  # bytes; cores that write to the same ones wait for each other


def new_owns(n: int) -> list[np.ndarray]:
    """Return registers for so many workers, int64[N_REGISTERS] each, far apart."""
    length = -(-N_REGISTERS * 8 // _LINE) * _LINE // 8
    memory = np.zeros((n + 1) * length, dtype=np.int64)
    start = -memory.ctypes.data % _LINE // 8
    return [memory[start + k * length :][:N_REGISTERS] for k in range(n)]


@inlined
def lacks_ids(own, n):
    """Whether a worker has fewer than `n` ids."""
    left = own[Worker.END] - own[Worker.NEXT]
    return left + own[Worker.SPARE_END] - own[Worker.SPARE] < n


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
    if own[Worker.NEXT] == own[Worker.END]:
        own[Worker.NEXT], own[Worker.END] = first, first + size
    else:  # less than a chunk was left, so the spare one is used up
        own[Worker.SPARE], own[Worker.SPARE_END] = first, first + size
    return True


@inlined
def lacks_ids_or_room(product, store, registers, own):
    """Whether there is no room for the successors of one more state.

    Ids are taken if the worker has too few.
    """
    if not lacks_ids(own, product.ids.shape[0]):
        return False
    room = min(store.rows.shape[0], 3 * store.slots.shape[0] // 4)
    return not take_ids(registers, own, own[Worker.CHUNK], room)


@inlined
def find_or_add(slots, known, own, rows, i, mixed, id_bits):
    """Return the id of ``rows[i]``; the worker has an id for it."""
    while True:
        at, state = find(slots, known, rows, i, mixed, id_bits)
        if state < 0:
            state = own[Worker.NEXT]
            copy_row(rows, i, known, state)
            if not compare_and_swap(slots, at, 0, slot_entry(mixed, state, id_bits)):
                own[Worker.LOST] += 1
                continue  # the slot is another row's now, or this one's
            use_id(own)
        return state


@inlined
def use_id(own):
    """Go on to the next id."""
    own[Worker.NEXT] += 1
    if own[Worker.NEXT] == own[Worker.END]:
        own[Worker.NEXT], own[Worker.END] = own[Worker.SPARE], own[Worker.SPARE_END]
        own[Worker.SPARE] = own[Worker.SPARE_END]


def holes(owns: Iterable[np.ndarray]) -> list[tuple[int, int]]:
    """Return the ids that workers have not used, as ranges, ascending."""
    places = ((Worker.NEXT, Worker.END), (Worker.SPARE, Worker.SPARE_END))
    ranges = [(int(own[a]), int(own[b])) for own in owns for a, b in places]
    return sorted((first, last) for first, last in ranges if first < last)


def begin_resizing(
    store: Store, registers: np.ndarray, owns: list[np.ndarray]
) -> list[tuple[int, int]]:
    """Begin to fill the slots, all empty, when no worker is at work.

    Returns the rows to be entered by `fill_slots`, as ranges of at most some ten
    thousand.
    """
    registers[Reg.ID_BITS] = int(store.slots.shape[0]).bit_length()
    for own in owns:
        own[Reg.ID_BITS] = registers[Reg.ID_BITS]
    n_ids = int(registers[Reg.STORED])
    ranges, begin = [], 0
    for first, last in [*holes(owns), (n_ids, n_ids)]:
        starts = range(begin, first, _SHARED_BLOCK)
        ranges += [(start, min(start + _SHARED_BLOCK, first)) for start in starts]
        begin = last
    return ranges

"""The path of a bitstate search: a byte or two per state, and a table to find it by.

**Stack.**  A frame says which of its state's successors the path goes on with.  Rows
are kept of every `BLOCK`-th state only, and of the topmost ones, between one and two
blocks, which are all that a search looks at; where it comes back to a block whose rows
are gone, they are generated again, from the kept one on.  That takes one expansion per
frame that is left, at most, since a block has to be left before the one below it is
needed.  Successors are taken in the order in which the system has them or, so that
searches of one product can differ, beginning with one that depends on the state and on
an `order`.

**Table.**  States on the path are found by their hashes.  A slot holds the number of a
block of the stack, whether the state accepts, and a tag from its hash.  A look-up that
finds a slot compares the rows of the block: the answer is exact.  The last frame in is
the first out, so that a slot is freed by emptying it.  A frame whose slot would be
equal to one that a look-up meets first has none of its own, and says so
(`Flag.SHARED`).

Cost: a byte per frame, two where states have more than 30 successors; a row per `BLOCK`
frames; four bytes per slot, with 4 slots for 3 frames or more.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.search.product import successors
from ltlpipe.search.registers import PRIVATE, Reg
from ltlpipe.search.store import hash_row, home_slot

BLOCK = 64
"""Frames per row that is kept."""

WINDOW = 2 * BLOCK
"""Frames on top whose rows are at hand, at most."""

_MULTIPLIER = np.uint64(0xD1342543DE82EF95)
_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


class Flag(IntEnum):
    """Bits of a frame's entry; the number of successors taken stands above them."""

    MORE = 1  # others may have to be taken, too
    ACCEPTING = 2  # its state is
    SHARED = 4  # another frame's entry in the table of the path stands for it


FLAG_BITS = 3


class BitstateReg(IntEnum):
    """Places in the registers that bitstate searches have beside `Reg`."""

    ACCEPTING = PRIVATE  # accepting states on the blue stack
    RED_VISITS = PRIVATE + 1  # visits of red searches
    WINDOW_LOW = PRIVATE + 2  # the lowest frame whose row is at hand
    FRESH = PRIVATE + 3  # whether the top frame has been expanded since it is on top
    SAMPLED = PRIVATE + 4  # states in the sample


class Steps(NamedTuple):
    """The arrays of a stack with room for k frames."""

    entries: np.ndarray  # uint8[k, width]
    kept: np.ndarray  # uint64[k / BLOCK + 1, n_words], the first rows of blocks
    window: np.ndarray  # uint64[WINDOW + BLOCK + 1, n_words]; see `place_in_block`
    order: np.ndarray  # uint64[1], 0 for that of the system


def width_for(branching: int) -> int:
    """Return the bytes of an entry if states have so many successors at most."""
    width = 1
    while branching >= unlooked_count(width):
        width += 1
    return width


def unlooked_count(width: int) -> int:
    """Return what `unlooked` does for entries of so many bytes."""
    return (1 << (8 * width - FLAG_BITS)) - 1


@inlined
def unlooked(steps):
    """Return the count of a frame none of whose successors have been looked at."""
    return (1 << (8 * steps.entries.shape[1] - FLAG_BITS)) - 1


@inlined
def read_entry(steps, frame):
    """Return the entry of a frame."""
    entry = np.int64(0)
    for b in range(steps.entries.shape[1]):
        entry |= np.int64(steps.entries[frame, b]) << (8 * b)
    return entry


@inlined
def write_entry(steps, frame, entry):
    """Replace the entry of a frame."""
    for b in range(steps.entries.shape[1]):
        steps.entries[frame, b] = np.uint8((entry >> (8 * b)) & 255)


@inlined
def first_taken(steps, mixed, n):
    """Return which of `n` successors of a state with this hash is taken first."""
    order = steps.order[0]
    if order == np.uint64(0):
        return np.int64(0)
    key = (mixed ^ order) * _MULTIPLIER
    return np.int64(((key >> _U32) * np.uint64(n)) >> _U32)


@inlined
def taken(first, count, n):
    """Return the place of the successor that is taken after `count` others."""
    i = first + count
    return i - n if i >= n else i


@inlined
def copy_row(rows, i, to, k):
    """Write ``rows[i]`` to ``to[k]``."""
    for w in range(rows.shape[1]):
        to[k, w] = rows[i, w]


@inlined
def same_row(rows, i, others, k):
    """Whether ``rows[i]`` is ``others[k]``."""
    for w in range(rows.shape[1]):  # noqa: SIM110 (a kernel has no `all`)
        if rows[i, w] != others[k, w]:
            return False
    return True


@called
def regenerate(expand, product, steps, first, to, n_frames):
    """Write the rows of frames from `first`, that of a block, to ``window[to:]``.

    The buffers of the product are used.
    """
    window = steps.window
    copy_row(steps.kept, first // BLOCK, window, to)
    for k in range(n_frames - 1):
        n = successors(expand, product, window[to + k])
        begin = first_taken(steps, hash_row(window, to + k), n)
        count = (read_entry(steps, first + k) >> FLAG_BITS) - 1
        copy_row(product.rows, taken(begin, count, n), window, to + k + 1)


@called
def place_in_block(expand, product, registers, steps, first, n_frames, i):
    """Return the frame of a block that is ``product.rows[i]``, or -1.

    The block begins with frame `first`.  If the rows of its frames are not at hand,
    they are written behind the window, with the one that is looked for after them, and
    the buffers of the product then hold the successors of the top frame, as before.
    """
    window, rows = steps.window, product.rows
    if first >= registers[BitstateReg.WINDOW_LOW]:
        at = first % WINDOW
        for k in range(n_frames):
            if same_row(window, at + k, rows, i):
                return first + k
        return np.int64(-1)
    wanted = WINDOW + BLOCK
    copy_row(rows, i, window, wanted)
    regenerate(expand, product, steps, first, WINDOW, n_frames)
    place = np.int64(-1)
    for k in range(n_frames):
        if same_row(window, WINDOW + k, window, wanted):
            place = first + k
    successors(expand, product, window[(registers[Reg.DEPTH] - 1) % WINDOW])
    return place


@njit
def write_path(expand, product, steps, rows, first, last):
    """Write the rows of frames from `first`, that of a block, to before `last`.

    rows uint64[k, n_words] with k >= last.
    """
    for begin in range(first, last, BLOCK):
        n_frames = min(BLOCK, last - begin)
        regenerate(expand, product, steps, begin, WINDOW, n_frames)
        for k in range(n_frames):
            copy_row(steps.window, WINDOW + k, rows, begin + k)


def block_bits(n_slots: int) -> int:
    """Return the bits of a slot that hold the number of a block, plus 1."""
    return int(n_slots // BLOCK + 2).bit_length()


@inlined
def slot_of(mixed, frame, accepting, id_bits):
    """Return what the slot of a frame holds whose state has this hash."""
    bits = np.uint64(id_bits)
    above = (((mixed & _LOW) >> (bits + _ONE)) << _ONE) | np.uint64(accepting)
    return np.uint32((above << bits) | np.uint64(frame // BLOCK + 1))


@inlined
def enter_path(slots, value, mixed):
    """Enter a frame; return whether another one's slot stands for it."""
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != 0:
        if slots[at] == value:
            return True
        at += 1
        if at == slots.shape[0]:
            at = 0
    slots[at] = value
    return False


@inlined
def leave_path(slots, value, mixed):
    """Empty the slot of a frame, the last one that was entered and has one."""
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != value:
        at += 1
        if at == slots.shape[0]:
            at = 0
    slots[at] = 0


@inlined
def frame_of(expand, product, registers, arrays, i, n_frames, only_accepting):
    """Return the frame of ``product.rows[i]`` among the first `n_frames`, or -1.

    If `only_accepting`, frames of other states may be left out.  The buffers of the
    product hold the successors of the top frame.
    """
    steps, slots = arrays.steps, arrays.slots
    mixed = product.hashes[i]
    bits = np.uint64(registers[Reg.ID_BITS])
    tag = (mixed & _LOW) >> (bits + _ONE)
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != 0:
        slot = np.uint64(slots[at])
        above = slot >> bits
        if above >> _ONE == tag and not (only_accepting and above & _ONE == 0):
            first = (np.int64(slot & ((_ONE << bits) - _ONE)) - 1) * BLOCK
            n = min(BLOCK, n_frames - first)
            place = place_in_block(expand, product, registers, steps, first, n, i)
            if place >= 0:
                return place
        at += 1
        if at == slots.shape[0]:
            at = 0
    return np.int64(-1)


@njit
def fill_path(expand, product, registers, steps, slots, first, last):
    """Enter frames from `first`, that of a block, to before `last`, in their order."""
    for begin in range(first, last, BLOCK):
        n_frames = min(BLOCK, last - begin)
        regenerate(expand, product, steps, begin, WINDOW, n_frames)
        for k in range(n_frames):
            mixed = hash_row(steps.window, WINDOW + k)
            entry = read_entry(steps, begin + k) & ~np.int64(Flag.SHARED)
            accepting = entry & Flag.ACCEPTING != 0
            value = slot_of(mixed, begin + k, accepting, registers[Reg.ID_BITS])
            if enter_path(slots, value, mixed):
                entry |= Flag.SHARED
            write_entry(steps, begin + k, entry)

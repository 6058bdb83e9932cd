"""The states on the path, found by their hashes: which block may a state be in?

A slot holds the number of a block of the stack (`ltlpipe.search.nested.step_stack`),
whether the state accepts, and a tag from its hash.  A look-up that finds a slot
compares the rows of the block: the answer is exact.  The last frame in is the first
out, so that a slot is freed by emptying it.  A frame whose slot would be equal to one
that a look-up meets first has none of its own, and says so (`Flag.SHARED`).

Cost: four bytes per slot, with 4 slots for 3 frames or more.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.nested.step_stack import (
    BLOCK,
    WINDOW,
    Flag,
    place_in_block,
    read_entry,
    regenerate,
    write_entry,
)
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import hash_row, home_slot

_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


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
def frame_of(expand, product, steps, slots, registers, i, n_frames, only_accepting):
    """Return the frame of ``product.rows[i]`` among the first `n_frames`, or -1.

    If `only_accepting`, frames of other states may be left out.  The buffers of the
    product hold the successors of the top frame.
    """
    mixed = product.hashes[i]
    id_bits = registers[Reg.ID_BITS]
    bits = np.uint64(id_bits)
    tag = (mixed & _LOW) >> (bits + _ONE)
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != 0:
        slot = np.uint64(slots[at])
        above = slot >> bits
        if above >> _ONE == tag and not (only_accepting and above & _ONE == 0):
            first = (np.int64(slot & ((_ONE << bits) - _ONE)) - 1) * BLOCK
            place = place_in_block(
                expand,
                product,
                steps,
                first,
                min(BLOCK, n_frames - first),
                registers[Reg.WINDOW_LOW],
                i,
                (registers[Reg.DEPTH] - 1) % WINDOW,
            )
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

"""The steps of a nested depth-first search that keeps few bits of a state.

See `ltlpipe.search.nested.bitstate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.nested.coverage import (
    Sample,
    is_crowded,
    sample_entered,
    sample_met,
)
from ltlpipe.search.nested.step_stack import (
    BLOCK,
    FLAG_BITS,
    WINDOW,
    BitstateReg,
    Flag,
    Steps,
    copy_row,
    enter_path,
    first_taken,
    frame_of,
    leave_path,
    read_entry,
    regenerate,
    slot_of,
    taken,
    unlooked,
    write_entry,
)
from ltlpipe.search.nested.visits import ask_for, has_visited, is_full, visit
from ltlpipe.search.product import at_limit, leaves_accepting, successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import hash_row

if TYPE_CHECKING:
    from ltlpipe.search.nested.visits import Prints

_KEPT_FLAGS = Flag.ACCEPTING | Flag.SHARED


class Arrays(NamedTuple):
    """The arrays of one search."""

    bits: np.ndarray | None  # uint64[...]; see `visits`
    prints: Prints | None  # in their place
    salt: np.ndarray  # uint64[1], which hash function
    slots: np.ndarray  # uint32[...], the table of the path
    steps: Steps
    sample: Sample


@inlined
def generate(expand, product, arrays, frame):
    """Generate the successors of a frame's state; ask for what is kept of them.

    Returns how many they are, and the hash of the state.
    """
    window = arrays.steps.window
    n = successors(expand, product, window[frame % WINDOW])
    rows, hashes = product.rows, product.hashes
    for i in range(n):
        hashes[i] = hash_row(rows, i)
        ask_for(arrays.bits, arrays.prints, arrays.salt[0], hashes[i])
    return n, hash_row(window, frame % WINDOW)


@inlined
def arrive_blue(product, registers, arrays, frame, n, mixed):
    """Tell what a blue frame's successors say of it (Fig. 3, line 5); return flags."""
    accepting = leaves_accepting(product, n)
    registers[BitstateReg.ACCEPTING] += accepting
    sample_met(arrays.sample, registers, product.hashes, n, mixed)
    value = slot_of(mixed, frame, accepting, registers[Reg.ID_BITS])
    flags = Flag.ACCEPTING * np.int64(accepting)
    if enter_path(arrays.slots, value, mixed):
        flags |= np.int64(Flag.SHARED)
    return flags


@inlined
def closing_of(expand, product, registers, arrays, n, flags):
    """Return the frame at which a step of the top frame closes a cycle, or -1.

    Of an accepting one, if the search is blue (lines 6-8, 18-19).
    """
    bits, prints, salt = arrays.bits, arrays.prints, arrays.salt[0]
    base = registers[Reg.RED_BASE]
    n_frames = base if base > 0 else registers[Reg.DEPTH]
    accepting = base == 0 and flags & Flag.ACCEPTING == 0
    for i in range(n - 1, -1, -1):
        if has_visited(bits, prints, salt, product.hashes[i], False):
            place = frame_of(expand, product, registers, arrays, i, n_frames, accepting)
            if place >= 0:
                return place
    return np.int64(-1)


@inlined
def next_unvisited(product, arrays, first, count, n, red):
    """Return how many successors are passed over before one to be entered; or n."""
    bits, prints, salt = arrays.bits, arrays.prints, arrays.salt[0]
    while count < n:
        mixed = product.hashes[taken(first, count, n)]
        noted = has_visited(bits, prints, salt, mixed, False)
        if red:  # lines 20-22: what blue has not seen, it will
            if noted and not has_visited(bits, prints, salt, mixed, True):
                break
        elif not noted:  # lines 9-10
            break
        count += 1
    return count


@inlined
def push(product, registers, arrays, i, red):
    """Enter ``product.rows[i]``."""
    steps = arrays.steps
    frame = registers[Reg.DEPTH]
    if frame % BLOCK == 0:
        copy_row(product.rows, i, steps.kept, frame // BLOCK)
        if frame - registers[BitstateReg.WINDOW_LOW] >= WINDOW:
            registers[BitstateReg.WINDOW_LOW] += BLOCK
    copy_row(product.rows, i, steps.window, frame % WINDOW)
    write_entry(steps, frame, unlooked(steps) << FLAG_BITS | Flag.MORE)
    registers[Reg.DEPTH] = frame + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], frame + 1)
    registers[BitstateReg.FRESH] = 0
    mixed = product.hashes[i]
    visit(arrays.bits, arrays.prints, arrays.salt[0], mixed, red)
    if red:
        registers[BitstateReg.RED_VISITS] += 1
    else:
        registers[Reg.VISITED] += 1
        sample_entered(arrays.sample, registers, mixed)


@inlined
def leave_blue(registers, arrays, frame, entry):
    """End a blue frame: its state is cyan no more (lines 13-15)."""
    mixed = hash_row(arrays.steps.window, frame % WINDOW)
    accepting = entry & Flag.ACCEPTING != 0
    registers[Reg.RED_BASE] = 0
    if accepting:
        visit(arrays.bits, arrays.prints, arrays.salt[0], mixed, True)
        registers[BitstateReg.RED_VISITS] += 1
        registers[BitstateReg.ACCEPTING] -= 1
    if entry & Flag.SHARED == 0:
        value = slot_of(mixed, frame, accepting, registers[Reg.ID_BITS])
        leave_path(arrays.slots, value, mixed)


@inlined
def pop(expand, product, registers, arrays):
    """Take the top frame off; return how many states were expanded for that."""
    depth = registers[Reg.DEPTH] - 1
    registers[Reg.DEPTH] = depth
    registers[BitstateReg.FRESH] = 0
    if depth == 0 or depth > registers[BitstateReg.WINDOW_LOW]:
        return 0
    first = registers[BitstateReg.WINDOW_LOW] - BLOCK
    registers[BitstateReg.WINDOW_LOW] = first
    regenerate(expand, product, arrays.steps, first, first % WINDOW, BLOCK)
    registers[Reg.EXPANSIONS] += BLOCK - 1
    return BLOCK - 1


@inlined
def lacks_room(registers, arrays):
    """Whether there is no room for one more frame, or in the sample."""
    frames = registers[Reg.DEPTH] + 1
    return (
        is_full(arrays.prints, registers)
        or frames > arrays.steps.entries.shape[0]
        or 4 * frames > 3 * arrays.slots.shape[0]
        or is_crowded(arrays.sample, registers)
    )


@njit
def bitstate_step(expand, product, _store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3, over bits or prints.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the one to which the last one has a transition.
    """
    steps = arrays.steps
    at_hand = False  # the buffers hold the successors of the top frame
    n, mixed, first = np.int64(0), np.uint64(0), np.int64(0)
    while budget > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0 and registers[Reg.VISITED] > 0:
            return Status.EMPTY
        if lacks_room(registers, arrays):
            return Status.GROW  # before any write: the call can be repeated
        red = registers[Reg.RED_BASE] > 0
        top = depth - 1
        entry = read_entry(steps, max(top, 0))
        flags = entry & _KEPT_FLAGS
        child = np.int64(-1)
        if depth == 0:  # the initial state
            copy_row(steps.kept, 0, product.rows, 0)
            product.hashes[0] = hash_row(product.rows, 0)
            child = np.int64(0)
        elif entry & Flag.MORE:
            if not (at_hand and registers[BitstateReg.FRESH]):
                n, mixed = generate(expand, product, arrays, top)
                first = first_taken(steps, mixed, n)
                # Once more only because a call has ended: not counted.
                registers[Reg.EXPANSIONS] += not registers[BitstateReg.FRESH]
                budget -= 1
                registers[BitstateReg.FRESH] = 1
                at_hand = True
            count = entry >> FLAG_BITS
            if count == unlooked(steps):
                count = np.int64(0)
                registers[Reg.TRANSITIONS] += n
                if not red:
                    flags = arrive_blue(product, registers, arrays, top, n, mixed)
                write_entry(steps, top, flags | Flag.MORE)
                if red or registers[BitstateReg.ACCEPTING] > 0:
                    closing = closing_of(expand, product, registers, arrays, n, flags)
                    if closing >= 0:
                        registers[Reg.CLOSING] = closing
                        return Status.FOUND
            count = next_unvisited(product, arrays, first, count, n, red)
            if count < n:
                if not red and at_limit(registers):
                    return Status.LIMIT
                child = taken(first, count, n)
                count += 1
                if next_unvisited(product, arrays, first, count, n, red) < n:
                    flags |= np.int64(Flag.MORE)
                flags |= count << FLAG_BITS
            write_entry(steps, top, flags)
        elif not red and entry & Flag.ACCEPTING:  # lines 11-12
            registers[Reg.RED_BASE] = depth
            registers[BitstateReg.FRESH] = 0
            flags |= np.int64(Flag.MORE)
            write_entry(steps, top, (unlooked(steps) << FLAG_BITS) | flags)
        else:
            if depth <= registers[Reg.RED_BASE] or not red:
                leave_blue(registers, arrays, top, entry)
            budget -= pop(expand, product, registers, arrays)
            at_hand = False
        if child >= 0:
            push(product, registers, arrays, child, red)
    return Status.RUNNING

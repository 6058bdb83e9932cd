"""Stacks of depth-first searches, and colours and sets of marks, packed.

A `Colour` takes two bits.  A set of marks takes their number in bits, rounded up to a
power of two, so that none straddles two words.

**The stack of a nested search** holds, from the bottom, for each state on the path a
frame marker, followed by those of its successors that still wait; a red search lies
above `Reg.RED_BASE`. ``post(s)`` is computed once per visit. Successors of which the
search need not know more than it does now are judged at once, and only those that may
have to be entered wait: the order of ``post`` is "known states first".

**Sweeping.** States that wait on a full stack for nothing are taken off before it
grows. A search stacks the successors that it does not know yet. Most of them it comes
to know while it is above them, and where it comes back it passes them over. A stack
that is full is looked through from the top: a state that is known by now is taken off,
and so is one that waits further up, too, since it will be known when its turn comes
here. What is left is a frame per state on the path and an entry per unknown one: not
more than there are states, whatever the branching.

The search enters the same states in the same order as without.  Growing is put off
while sweeping frees a third of the stack, so that each entry is looked at a few times
at most.

Cost: a bit per stored state while a stack is swept.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.growth import Column
from ltlpipe.search.product import Setting, property_state, system_steps
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Colour(IntEnum):
    """The four colours of Schwoon & Esparza 2005, Sec. 3.2."""

    WHITE = 0  # generated, not entered
    CYAN = 1  # its blue search has not ended
    BLUE = 2  # its blue search has ended
    RED = 3  # entered by a red search, or the seed of one that has ended


COLOUR_SHIFT = 2
"""States of one byte of colours, as a power of two."""

COLOURS = Column(np.uint8, packed=4)


@inlined
def colour_of(colours, state):
    """Return the Colour of a state."""
    return (colours[state >> 2] >> (2 * (state & 3))) & 3


@inlined
def set_colour(colours, state, colour):
    """Give a state another Colour."""
    shift = 2 * (state & 3)
    kept = colours[state >> 2] & ~(3 << shift)
    colours[state >> 2] = np.uint8(kept | (colour << shift))


def unpacked_colours(colours: np.ndarray, n_states: int) -> np.ndarray:
    """Return uint8[n_states], the Colour of every state."""
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8)
    return ((colours[:, None] >> shifts) & 3).ravel()[:n_states]


@inlined
def read_marks(packed, bits, entry):
    """Return the set of an entry; packed uint32[...], `bits` bits each."""
    at = entry * bits
    shifted = packed[at >> 5] >> np.uint32(at & 31)
    return shifted & np.uint32((1 << bits) - 1)


@inlined
def write_marks(packed, bits, entry, marks):
    """Replace the set of an entry."""
    at = entry * bits
    shift = np.uint32(at & 31)
    hole = np.uint32((1 << bits) - 1) << shift
    packed[at >> 5] = (packed[at >> 5] & ~hole) | (marks << shift)


def mark_bits(n_marks: int) -> int:
    """Return the bits per set of so many marks."""
    return 0 if n_marks == 0 else 1 << (n_marks - 1).bit_length()


def sets_of(bits: int) -> Column:
    """Declare uint32[...], sets of so many bits, of which there may be none."""
    return Column(np.uint32, packed=32 // bits if bits else 1 << 62)


@inlined
def marker(state, accepting):
    """Return the stack entry (negative) of the frame of a state."""
    return -1 - (2 * state + accepting)


@inlined
def push_frame(registers, arrays, entry):
    """Put a frame marker on the stack."""
    arrays.stack[registers[Reg.TOP]] = entry
    registers[Reg.TOP] += 1
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])


@inlined
def push_waiting(registers, arrays, state):
    """Let a successor wait for its turn."""
    arrays.stack[registers[Reg.TOP]] = state
    registers[Reg.TOP] += 1


@inlined
def pop_frame(registers):
    """Take a frame marker off the stack."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1


@inlined
def is_accepting(expand, product, row):
    """Decide whether the transitions that leave `row`, at least one, carry all marks.

    The marks of a state are those of its steps, whatever the kind of system: the state
    is expanded once more, which overwrites the product's buffers (not its `ids`).
    """
    settings = product.settings
    full = np.uint32(settings[Setting.FULL])
    first = property_state(product, row) * settings[Setting.N_LETTERS]
    marks = product.edge_marks[product.first_edge[first]]
    if settings[Setting.SYSTEM_MARKS] > 0:
        system_steps(expand, product, row)
        shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
        marks |= product.system_marks[0] << shift
    return marks & full == full


@njit
def accepts_row(expand, product, row):
    """Decide what `is_accepting` does, for callers outside of kernels."""
    return is_accepting(expand, product, row)


def stack_frames(stack: np.ndarray) -> np.ndarray:
    """Return int32[...], the states that have a frame marker, from the bottom."""
    return np.asarray((-1 - stack[stack < 0]) >> 1)


GONE = 0x7FFFFFFF
"""Stack entry that is taken off; no state has this number."""

_BLOCK = 1 << 20  # entries that are looked at without a pause: some 20 ms


def swept(
    registers: np.ndarray,
    forget: Callable[[np.ndarray, int, int, int], None],
    close: Callable[[int, int, int], int],
) -> Iterator[None]:
    """Take off what waits for nothing, with pauses.

    Changes ``registers[Reg.TOP]`` and ``registers[Reg.RED_BASE]``.  The stack is of no
    use before the end.

    Parameters
    ----------
    registers : int64[N_REGISTERS]
        Those of the search.
    forget : callable
        Writes GONE, with ``forget(seen, base, first, last)``, to the entries from
        `first` to before `last` that wait for nothing; it is called for higher ones
        first.  `seen` has a bit per state, for those that wait above.
    close : callable
        Moves what is left of the entries from `first` to before `last` down to `to`,
        with ``close(to, first, last)``; it returns where that ends.
    """
    top, base = int(registers[Reg.TOP]), int(registers[Reg.RED_BASE])
    seen = np.zeros(int(registers[Reg.STORED]) // 8 + 1, dtype=np.uint8)
    for last in range(top, 0, -_BLOCK):
        forget(seen, base, max(last - _BLOCK, 0), last)
        if top > _BLOCK:  # smaller ones are swept in one go
            yield
    ends = []
    to = 0
    for begin, end in ((0, base), (base, top)):
        for first in range(begin, end, _BLOCK):
            to = close(to, first, min(first + _BLOCK, end))
            if top > _BLOCK:
                yield
        ends.append(to)
    registers[Reg.RED_BASE], registers[Reg.TOP] = ends


@njit
def forget_coloured(stack, colours, seen, base, first, last):
    """Do what `swept` says for states that wait to be entered in blue or in red.

    Red ones are those from entry `base` on, if that is not 0.
    """
    for at in range(last - 1, first - 1, -1):
        state = np.int64(stack[at])
        if state < 0:
            continue
        colour = Colour.BLUE if base > 0 and at >= base else Colour.WHITE
        bit = np.uint8(1 << (state & 7))
        if colour_of(colours, state) != colour or seen[state >> 3] & bit != 0:
            stack[at] = GONE
        else:
            seen[state >> 3] |= bit


@njit
def forget_numbered(stack, marks, bits, numbers, seen, first, last):
    """Do what `swept` says for states that wait for a number, with marks.

    A state that has one may still be live, and then matters for the marks of the
    transition to it; without `bits` there are none.
    """
    for at in range(last - 1, first - 1, -1):
        state = np.int64(stack[at])
        if state < 0:
            continue
        number = numbers[state]
        bit = np.uint8(1 << (state & 7))
        known = number != 0 or seen[state >> 3] & bit != 0
        counts = bits > 0 and read_marks(marks, bits, at) != 0
        if number < 0 or (known and not counts):
            stack[at] = GONE
        elif number == 0:
            seen[state >> 3] |= bit


@njit
def close_gaps(stack, to, first, last):
    """Move entries that are not GONE down to `to`; return where they end."""
    for at in range(first, last):
        if stack[at] != GONE:
            stack[to] = stack[at]
            to += 1
    return to


@njit
def close_marked_gaps(stack, marks, bits, to, first, last):
    """Do what `close_gaps` does; the marks of entries move with them."""
    for at in range(first, last):
        if stack[at] != GONE:
            stack[to] = stack[at]
            write_marks(marks, bits, to, read_marks(marks, bits, at))
            to += 1
    return to

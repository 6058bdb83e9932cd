"""States that wait on a full stack for nothing are taken off before it grows.

A search stacks the successors that it does not know yet.  Most of them it comes to know
while it is above them, and where it comes back it passes them over.  A stack that is
full is looked through from the top: a state that is known by now is taken off, and so
is one that waits further up, too, since it will be known when its turn comes here.
What is left is a frame per state on the path and an entry per unknown one: not more
than there are states, whatever the branching.

The search enters the same states in the same order as without.  Growing is put off
while sweeping frees a third of the stack, so that each entry is looked at a few times
at most.

Cost: a bit per stored state while a stack is swept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.packed import Colour, colour_of, read_marks, write_marks
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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

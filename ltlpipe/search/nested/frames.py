"""The stack that a blue and a red search share, and what is read off it.

It holds, from the bottom, for each state on the path a frame marker, followed
by those of its successors that still wait; a red search lies above
`Reg.RED_BASE`.  ``post(s)`` is computed once per visit.  Successors of which the
search need not know more than it does now are judged at once, and only those
that may have to be entered wait: the order of ``post`` is "known states first".
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.product import Setting, property_state, system_steps
from ltlpipe.search.registers import Reg


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

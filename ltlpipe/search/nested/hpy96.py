"""Nested depth-first search that stops at the stack (``--emptiness hpy96``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: G. Holzmann, D. Peled and M. Yannakakis, "On Nested Depth First Search",
SPIN 1996, as S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, describe it in Sec. 3.1: the search of their Fig. 1,
whose red part ends as soon as it meets a state on the call stack of the blue
one, which is bound to reach the seed.

Differences from the source: the order of ``post`` is "known states first"
(`ltlpipe.search.nested.frames`).

Invariants: a state has the flag STACK iff it has a blue marker on the stack
(asserted by `assert_consistent`); red states are blue (Sec. 3.2).

Cost: three bits per state; four bytes of stack per state on the path and per
waiting successor; at most two looks at every transition.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.nested.frames import (
    Flag,
    FlagSearch,
    marker,
    pop_frame,
    push_frame,
    push_waiting,
)
from ltlpipe.search.packed import PLANE_SHIFT, clear_flag, has_flag, set_flag
from ltlpipe.search.product import at_limit, is_full, leaves_accepting, visit
from ltlpipe.search.registers import Reg, Status


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a state that is not blue (Fig. 1, lines 4-7)."""
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    registers[Reg.VISITED] += 1
    set_flag(planes, state, Flag.BLUE)
    set_flag(planes, state, Flag.STACK)
    accepting = leaves_accepting(product, n)
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        if not has_flag(planes, product.ids[i], Flag.BLUE):
            push_waiting(registers, arrays, product.ids[i])


@inlined
def enter_red(expand, product, store, registers, arrays, state):
    """Enter a state in the red search (Fig. 1, lines 12-17, with Sec. 3.1)."""
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    set_flag(planes, state, Flag.RED)
    return stack_red(product, registers, arrays, n)


@inlined
def stack_red(product, registers, arrays, n):
    """Look at the `n` successors just generated as the red search does."""
    planes = arrays.planes
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        if has_flag(planes, dst, Flag.STACK):
            registers[Reg.CLOSING] = dst
            return Status.FOUND
        if not has_flag(planes, dst, Flag.RED):
            push_waiting(registers, arrays, dst)
    return Status.RUNNING


@njit
def hpy96_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 1 with Sec. 3.1.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the state of it to which the last one has a transition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    planes = arrays.planes
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if top > room or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        base = registers[Reg.RED_BASE]
        status = Status.RUNNING
        if entry >= 0:  # a successor whose turn has come
            blue = has_flag(planes, entry, Flag.BLUE)
            if not blue and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if base > 0 and not has_flag(planes, entry, Flag.RED):
                push_frame(registers, arrays, marker(entry, 0))
                status = enter_red(expand, product, store, registers, arrays, entry)
                budget -= 1
            elif base == 0 and not blue:
                enter_blue(expand, product, store, registers, arrays, entry)
                budget -= 1
        elif base < top and base > 0:  # a red frame has ended
            pop_frame(registers)
        else:
            state = (-1 - entry) >> 1
            if base == 0 and (-1 - entry) & 1:  # Fig. 1, lines 8-10
                registers[Reg.RED_BASE] = top
                status = enter_red(expand, product, store, registers, arrays, state)
                budget -= 1
            else:  # a blue frame has ended
                clear_flag(planes, state, Flag.STACK)
                registers[Reg.RED_BASE] = 0
                pop_frame(registers)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class HPY96(FlagSearch):
    """The search of Schwoon & Esparza 2005, Sec. 3.1 (first part), in progress."""

    name = "hpy96"
    kernel = staticmethod(hpy96_step)
    flags = (Flag.BLUE, Flag.RED, Flag.STACK)

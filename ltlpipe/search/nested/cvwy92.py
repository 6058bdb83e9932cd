"""Nested depth-first search in its first form (``--emptiness cvwy92``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: C. Courcoubetis, M. Vardi, P. Wolper and M. Yannakakis, "Memory-Efficient
Algorithms for the Verification of Temporal Properties", FMSD 1992, as S. Schwoon
and J. Esparza, "A Note on On-The-Fly Verification Algorithms", TACAS 2005, give
it in Fig. 1.

Differences from the source: the order of ``post`` is "known states first"
(`ltlpipe.search.nested.frames`).

A red search may leave what the blue one has seen: it enters states that wait for
the blue search on the stack.  `Reg.VISITED` counts each state once, whichever
search comes first.

Cost: two bits per state, one for each search; four bytes of stack per state on
the path and per waiting successor; at most two looks at every transition.
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
from ltlpipe.search.packed import PLANE_SHIFT, has_flag, set_flag
from ltlpipe.search.product import at_limit, is_full, leaves_accepting, visit
from ltlpipe.search.registers import Reg, Status


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a state that is not blue (lines 4-7)."""
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    registers[Reg.VISITED] += not has_flag(planes, state, Flag.RED)
    set_flag(planes, state, Flag.BLUE)
    accepting = leaves_accepting(product, n)
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        if not has_flag(planes, product.ids[i], Flag.BLUE):
            push_waiting(registers, arrays, product.ids[i])


@inlined
def enter_red(expand, product, store, registers, arrays, state, seed):
    """Enter a state in the red search from `seed` (lines 12-17)."""
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    registers[Reg.VISITED] += not (
        has_flag(planes, state, Flag.BLUE) or has_flag(planes, state, Flag.RED)
    )
    set_flag(planes, state, Flag.RED)
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        if dst == seed:
            registers[Reg.CLOSING] = seed
            return Status.FOUND
        if not has_flag(planes, dst, Flag.RED):
            push_waiting(registers, arrays, dst)
    return Status.RUNNING


@njit
def cvwy92_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 1.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the seed, to which the last one has a transition.
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
            red = has_flag(planes, entry, Flag.RED)
            if not blue and not red and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if base > 0 and not red:  # lines 14-15
                push_frame(registers, arrays, marker(entry, 0))
                seed = (-1 - np.int64(arrays.stack[base - 1])) >> 1
                status = enter_red(
                    expand, product, store, registers, arrays, entry, seed
                )
                budget -= 1
            elif base == 0 and not blue:  # lines 6-7
                enter_blue(expand, product, store, registers, arrays, entry)
                budget -= 1
        elif base < top and base > 0:  # a red frame has ended
            pop_frame(registers)
        elif base == 0 and (-1 - entry) & 1:  # lines 8-10
            state = (-1 - entry) >> 1
            registers[Reg.RED_BASE] = top
            status = enter_red(expand, product, store, registers, arrays, state, state)
            budget -= 1
        else:  # a blue frame has ended
            registers[Reg.RED_BASE] = 0
            pop_frame(registers)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class CVWY92(FlagSearch):
    """The search of Schwoon & Esparza 2005, Fig. 1, in progress."""

    name = "cvwy92"
    kernel = staticmethod(cvwy92_step)
    flags = (Flag.BLUE, Flag.RED)

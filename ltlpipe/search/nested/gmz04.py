"""Nested depth-first search with black states (``--emptiness gmz04``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: P. Gastin, P. Moro and M. Zeitoun, "Minimization of Counterexamples in
SPIN", SPIN 2004, as S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, describe it in Sec. 3.1: the search of Holzmann et al.
(`ltlpipe.search.nested.hpy96`) in which

1. the blue search reports a transition back to an accepting state on its stack;
2. a state all of whose successors are black at the end of its blue visit becomes
   black, and red searches pass black states by.

Differences from the source:

- The order of ``post`` is "known states first" (`ltlpipe.search.nested.frames`).
- A state that a red search has left without a cycle lies on no accepting run, as
  a black one does not: one flag says both.  Black for red and red for black
  save visits and cost nothing.
- The generalisation of 1 to an accepting *source* is Schwoon and Esparza's, not
  Gastin et al.'s, and is left to se05.
- The visit that decides whether a state is black serves the red search from it,
  too.

Invariants, asserted by `assert_consistent`: a state has the flag STACK iff it
has a blue marker on the stack.

Cost: three bits per state; four bytes of stack per state on the path and per
waiting successor; two looks at every transition, at most three.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.interning import row_of
from ltlpipe.search.nested.frames import (
    Flag,
    FlagSearch,
    is_accepting,
    marker,
    pop_frame,
    push_frame,
    push_waiting,
)
from ltlpipe.search.nested.hpy96 import enter_red, stack_red
from ltlpipe.search.packed import PLANE_SHIFT, clear_flag, has_flag, set_flag
from ltlpipe.search.product import at_limit, is_full, leaves_accepting, visit
from ltlpipe.search.registers import Reg, Status


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a state that is not blue, and report as the first addition says."""
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    registers[Reg.VISITED] += 1
    set_flag(planes, state, Flag.BLUE)
    set_flag(planes, state, Flag.STACK)
    accepting = leaves_accepting(product, n)
    registers[Reg.ACCEPTING] += accepting
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        if not has_flag(planes, dst, Flag.BLUE):
            push_waiting(registers, arrays, dst)
        elif (
            registers[Reg.ACCEPTING] > 0
            and has_flag(planes, dst, Flag.STACK)
            and is_accepting(expand, product, row_of(product, store, dst))
        ):
            registers[Reg.CLOSING] = dst
            return Status.FOUND
    return Status.RUNNING


@inlined
def leave_blue(expand, product, store, registers, arrays, state, accepting):
    """Make a state black if its successors are; else begin a red search.

    Only accepting states are seeds.  Returns a Status; `Reg.RED_BASE` says
    whether the red search runs.
    """
    planes = arrays.planes
    n = visit(expand, product, store, registers, state, planes, PLANE_SHIFT)
    black = True
    for i in range(n):
        if not has_flag(planes, product.ids[i], Flag.RED):
            black = False
            break
    if black:
        set_flag(planes, state, Flag.RED)
    elif accepting:
        set_flag(planes, state, Flag.RED)
        registers[Reg.RED_BASE] = registers[Reg.TOP]
        return stack_red(product, registers, arrays, n)
    return Status.RUNNING


@njit
def gmz04_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Gastin et al. (Schwoon & Esparza 2005, Sec. 3.1).

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
                status = enter_blue(expand, product, store, registers, arrays, entry)
                budget -= 1
        elif base < top and base > 0:  # a red frame has ended
            pop_frame(registers)
        else:
            state = (-1 - entry) >> 1
            accepting = (-1 - entry) & 1
            if base == 0:
                status = leave_blue(
                    expand, product, store, registers, arrays, state, accepting
                )
                budget -= 1
            else:  # the red search from this state has ended
                registers[Reg.RED_BASE] = 0
            if registers[Reg.RED_BASE] == 0:
                clear_flag(planes, state, Flag.STACK)
                registers[Reg.ACCEPTING] -= accepting
                pop_frame(registers)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class GMZ04(FlagSearch):
    """The search of Gastin et al. (Schwoon & Esparza 2005, Sec. 3.1), in progress."""

    name = "gmz04"
    kernel = staticmethod(gmz04_step)
    flags = (Flag.BLUE, Flag.RED, Flag.STACK)

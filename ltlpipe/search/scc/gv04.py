"""Tarjan's algorithm with an early report (``--emptiness gv04``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle; it stops as soon
as the transitions of such a cycle have been generated.

Source: J. Geldenhuys and A. Valmari, "Tarjan's Algorithm Makes On-the-Fly LTL
Verification More Efficient", TACAS 2004, as S. Schwoon and J. Esparza, "A Note
on On-The-Fly Verification Algorithms", TACAS 2005, give it in Fig. 7.

Differences from the source:

- Current and its numbers are as `ltlpipe.search.scc.tarjan_stack` describes them.
- ``post(s)`` is computed once per visit, in the order "known states first":
  lines 15-18 run for all known successors when `s` is entered.
- The argument ``goal`` of a call is the last accepting state on the path, so a
  stack of the accepting ones takes its place.

Cost: see `ltlpipe.search.scc.tarjan_stack`, and four bytes per state on the path; one
look at every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.tarjan_stack import (
    ACCEPTING,
    FRAME,
    SELF_LOOP,
    CurrentSearch,
    enter,
    is_short,
    leave,
    remove,
    see_again,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso


@inlined
def reaches_goal(registers, arrays, lowlink):
    """Decide line 17: whether a cycle through the goal is closed."""
    n_goals = registers[Reg.N_GOALS]
    if n_goals > 0 and lowlink <= arrays.goals[n_goals - 1]:
        return Status.FOUND
    return Status.RUNNING


@inlined
def enter_towards(expand, product, store, registers, arrays, state):
    """Enter an unknown state, as a goal if it accepts (lines 7-18)."""
    place = enter(expand, product, store, registers, arrays, state)
    kind = arrays.kinds[place - 1]
    if kind & ACCEPTING:
        arrays.goals[registers[Reg.N_GOALS]] = place
        registers[Reg.N_GOALS] += 1
    lowlink = np.int64(arrays.lowlinks[place - 1])
    if lowlink < place or kind & SELF_LOOP:  # a successor is in Current
        return reaches_goal(registers, arrays, lowlink)
    return Status.RUNNING


@inlined
def leave_towards(registers, arrays):
    """End the frame of the last state on the path (lines 19-22, then 15-18)."""
    place = np.int64(arrays.path[registers[Reg.DEPTH] - 1])
    leave(registers)
    n_goals = registers[Reg.N_GOALS]
    if n_goals > 0 and arrays.goals[n_goals - 1] == place:
        registers[Reg.N_GOALS] = n_goals - 1
    if arrays.lowlinks[place - 1] == place:
        remove(registers, arrays, place)
        return Status.RUNNING
    return reaches_goal(registers, arrays, see_again(registers, arrays, place))


@njit
def gv04_step(expand, product, store, registers, arrays, budget):
    """Advance the search of Schwoon & Esparza 2005, Fig. 7.

    After FOUND the last of the goals lies on an accepting cycle.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or is_short(registers, arrays)
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        status = Status.RUNNING
        if entry == FRAME:
            status = leave_towards(registers, arrays)
        else:
            number = np.int64(arrays.numbers[entry])
            if number == 0 and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if number == 0:
                status = enter_towards(expand, product, store, registers, arrays, entry)
                budget -= 1
            elif number > 0:
                lowlink = see_again(registers, arrays, number)
                status = reaches_goal(registers, arrays, lowlink)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class GV04(CurrentSearch):
    """The search of Schwoon & Esparza 2005, Fig. 7, in progress."""

    name = "gv04"
    kernel = staticmethod(gv04_step)
    keeps_goals = True

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        goal = self.arrays.goals[self.registers[Reg.N_GOALS] - 1]
        state = int(self.arrays.current[goal - 1])
        return (yield from PathFinder(self).lasso_through(state))

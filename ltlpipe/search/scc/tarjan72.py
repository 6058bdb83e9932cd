"""Tarjan's algorithm, one kernel (``--emptiness tarjan72`` and ``gv04``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.  `Tarjan72` tests for
acceptance when an SCC is complete; `GV04`, with the rule `goals`, stops as soon as the
transitions of an accepting cycle have been generated.

*Current* holds the states of the SCCs that are not complete, in the order in
which they were entered.  The place of a state in it, counted from 1, serves as
its DFS number: it orders the states that are still there as numbers that only
ever go up would, and leads from a state to its lowlink, which is kept in Current
and not per state.

Sources: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on
Computing 1972, with the test for acceptance of S. Schwoon and J. Esparza, "A Note on
On-The-Fly Verification Algorithms", TACAS 2005, Sec. 4, property (4): when a root is
done, the SCC above it in Current is accepting iff it is not trivial and one of its
states accepts.  J. Geldenhuys and A. Valmari, "Tarjan's Algorithm Makes On-the-Fly LTL
Verification More Efficient", TACAS 2004, as Schwoon & Esparza give it in Fig. 7.

Differences from the sources:

- ``post(s)`` is computed once per visit, in the order "known states first": lines
  15-18 run for all known successors when `s` is entered.
- The argument ``goal`` of a call is the last accepting state on the path, so a
  stack of the accepting ones takes its place.

Invariants, asserted by `tests.invariants`: the number of a state is its place
in Current, or it is unknown or removed; a lowlink is at most the place it is
kept at.

Cost: four bytes per state, nine more per state in Current, four of stack per
state on the path and per waiting successor, and four more per state on the path (gv04:
eight); one look at every transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT8
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full, leaves_accepting, visit
from ltlpipe.search.registers import PRIVATE, Reg, Status

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout

REMOVED = -1
"""The number of a state whose SCC is complete."""

FRAME = -1
"""The stack entry of a frame; which state it is, the path says."""

ACCEPTING = 1
"""Bit of `Arrays.kinds`: transitions that leave the state carry the mark."""

SELF_LOOP = 2
"""Bit of `Arrays.kinds`: a transition leads from the state to itself."""


class TarjanReg(IntEnum):
    """Places in the registers of these searches."""

    N_CURRENT = PRIVATE  # states of SCCs that are not complete
    MAX_CURRENT = PRIVATE + 1  # its largest value
    N_GOALS = PRIVATE + 2  # gv04: accepting states on the call stack


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, c current, p path."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 place in Current, or REMOVED
    stack: np.ndarray  # int32[k], a waiting state, or FRAME
    current: np.ndarray  # int32[c], the state
    lowlinks: np.ndarray  # int32[c]
    kinds: np.ndarray  # uint8[c], ACCEPTING and SELF_LOOP
    path: np.ndarray  # int32[p], places in Current of the states on the path
    goals: np.ndarray | None = None  # int32[p], places of the accepting ones (gv04)


@inlined
def is_short(registers, arrays):
    """Whether Current or the path lacks room for one more state."""
    return (
        registers[TarjanReg.N_CURRENT] == arrays.current.shape[0]
        or registers[Reg.DEPTH] == arrays.path.shape[0]
    )


@specialised
def add_goal(goals, registers, place, kind):
    """Make the state just entered a goal if it accepts."""
    if goals is not None and kind & ACCEPTING:
        goals[registers[TarjanReg.N_GOALS]] = place
        registers[TarjanReg.N_GOALS] += 1


@specialised
def reaches_goal(goals, registers, lowlink):
    """Decide line 17: whether a cycle through the goal is closed."""
    if goals is None:
        return Status.RUNNING
    n_goals = registers[TarjanReg.N_GOALS]
    if n_goals > 0 and lowlink <= goals[n_goals - 1]:
        return Status.FOUND
    return Status.RUNNING


@specialised
def drop_goal(goals, registers, place):
    """Note that the frame of a state has ended."""
    if goals is not None:
        n_goals = registers[TarjanReg.N_GOALS]
        if n_goals > 0 and goals[n_goals - 1] == place:
            registers[TarjanReg.N_GOALS] = n_goals - 1


@specialised
def is_accepting_scc(goals, registers, arrays, place):
    """Whether the SCC of the states from `place` on is accepting; asked for if there
    are no goals.
    """
    if goals is not None:
        return False
    kinds = arrays.kinds
    last = registers[TarjanReg.N_CURRENT]
    if last == place and kinds[place - 1] & SELF_LOOP == 0:
        return False
    for i in range(place - 1, last):  # noqa: SIM110 (a kernel has no `any`)
        if kinds[i] & ACCEPTING:
            return True
    return False


@inlined
def enter(expand, product, store, registers, arrays, state):
    """Enter an unknown state (Fig. 7, lines 7-12, and 15-16 for known successors).

    Its successors that are unknown wait on the stack.
    """
    n = visit(expand, product, store, registers, state, arrays.numbers, 0)
    registers[Reg.VISITED] += 1
    registers[TarjanReg.N_CURRENT] += 1
    registers[TarjanReg.MAX_CURRENT] = max(
        registers[TarjanReg.MAX_CURRENT], registers[TarjanReg.N_CURRENT]
    )
    place = registers[TarjanReg.N_CURRENT]
    numbers, stack = arrays.numbers, arrays.stack
    numbers[state] = place
    arrays.current[place - 1] = state
    arrays.path[registers[Reg.DEPTH]] = place
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    top = registers[Reg.TOP]
    stack[top] = FRAME
    top += 1
    arrays.lowlinks[place - 1] = place
    lowlink = place
    kind = ACCEPTING * leaves_accepting(product, n)
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        number = np.int64(numbers[dst])
        if number == 0:
            stack[top] = dst
            top += 1
        elif number > 0:
            if dst == state:
                kind |= SELF_LOOP
            lowlink = min(lowlink, np.int64(arrays.lowlinks[number - 1]))
    registers[Reg.TOP] = top
    arrays.lowlinks[place - 1] = lowlink
    arrays.kinds[place - 1] = kind
    add_goal(arrays.goals, registers, place, kind)
    if lowlink < place or kind & SELF_LOOP:  # a successor is in Current
        return reaches_goal(arrays.goals, registers, lowlink)
    return Status.RUNNING


@inlined
def see_again(registers, arrays, number):
    """Note a transition from the last state on the path to one of Current."""
    place = arrays.path[registers[Reg.DEPTH] - 1]
    lowlink = min(arrays.lowlinks[place - 1], arrays.lowlinks[number - 1])
    arrays.lowlinks[place - 1] = lowlink
    return reaches_goal(arrays.goals, registers, lowlink)


@inlined
def leave(registers, arrays):
    """End the frame of the last state on the path (lines 19-22, then 15-18)."""
    place = np.int64(arrays.path[registers[Reg.DEPTH] - 1])
    is_root = arrays.lowlinks[place - 1] == place
    if is_root and is_accepting_scc(arrays.goals, registers, arrays, place):
        return Status.FOUND
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    drop_goal(arrays.goals, registers, place)
    if not is_root:
        return see_again(registers, arrays, place)
    numbers, current = arrays.numbers, arrays.current
    for i in range(place - 1, registers[TarjanReg.N_CURRENT]):
        numbers[current[i]] = REMOVED
    registers[TarjanReg.N_CURRENT] = place - 1
    return Status.RUNNING


@njit
def tarjan72_step(expand, product, store, registers, arrays, budget):
    """Advance Tarjan's algorithm (Schwoon & Esparza 2005, Sec. 4 and Fig. 7).

    After FOUND the last of the goals lies on an accepting cycle; without goals the
    states of Current from the last one on the path on are an accepting SCC.
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
            status = leave(registers, arrays)
        else:
            number = np.int64(arrays.numbers[entry])
            if number == 0 and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if number == 0:
                status = enter(expand, product, store, registers, arrays, entry)
                budget -= 1
            elif number > 0:
                status = see_again(registers, arrays, number)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Tarjan72(Search):
    """Tarjan's algorithm in progress."""

    name = "tarjan72"
    generalised = False
    counts: ClassVar = {"max_current": TarjanReg.MAX_CURRENT}
    kernel = staticmethod(tarjan72_step)

    array_type = Arrays
    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32},
            TarjanReg.N_CURRENT: {"current": INT32, "lowlinks": INT32, "kinds": UINT8},
            Reg.DEPTH: {"path": INT32},
        }

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        inside = np.zeros(self.n_stored, dtype=np.bool_)
        root = self.arrays.path[self.registers[Reg.DEPTH] - 1]
        inside[self.arrays.current[root - 1 : self.registers[TarjanReg.N_CURRENT]]] = (
            True
        )
        return (yield from PathFinder(self).lasso_in(inside))


class GV04(Tarjan72):
    """The search of Schwoon & Esparza 2005, Fig. 7, in progress."""

    name = "gv04"

    def _layout(self) -> Layout:
        layout = super()._layout()
        layout[Reg.DEPTH]["goals"] = INT32
        return layout

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        assert self.arrays.goals is not None
        goal = self.arrays.goals[self.registers[TarjanReg.N_GOALS] - 1]
        state = int(self.arrays.current[goal - 1])
        return (yield from PathFinder(self).lasso_through(state))

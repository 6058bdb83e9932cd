"""The stack of states of Tarjan's algorithm, for the searches that keep one.

*Current* holds the states of the SCCs that are not complete, in the order in
which they were entered.  The place of a state in it, counted from 1, serves as
its DFS number: it orders the states that are still there as numbers that only
ever go up would, and leads from a state to its lowlink, which is kept in Current
and not per state.

Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal
on Computing 1972, as S. Schwoon and J. Esparza, "A Note on On-The-Fly
Verification Algorithms", TACAS 2005, describe it in Sec. 4 and Fig. 7.

Invariants, asserted by `assert_consistent`: the number of a state is its place
in Current, or it is unknown or removed; a lowlink is at most the place it is
kept at.

Cost: four bytes per state, nine more per state in Current, four of stack per
state on the path and per waiting successor, and four more per state on the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT8
from ltlpipe.search.product import leaves_accepting, visit
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.search.growth import Layout

REMOVED = -1
"""The number of a state whose SCC is complete."""

FRAME = -1
"""The stack entry of a frame; which state it is, the path says."""

ACCEPTING = 1
"""Bit of `Arrays.kinds`: transitions that leave the state carry the mark."""

SELF_LOOP = 2
"""Bit of `Arrays.kinds`: a transition leads from the state to itself."""


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, c current, p path."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 place in Current, or REMOVED
    stack: np.ndarray  # int32[k], a waiting state, or FRAME
    current: np.ndarray  # int32[c], the state
    lowlinks: np.ndarray  # int32[c]
    kinds: np.ndarray  # uint8[c], ACCEPTING and SELF_LOOP
    path: np.ndarray  # int32[p], places in Current of the states on the path
    goals: np.ndarray  # int32[p], places of the accepting ones among them (gv04)


@inlined
def is_short(registers, arrays):
    """Whether Current or the path lacks room for one more state."""
    return (
        registers[Reg.N_CURRENT] == arrays.current.shape[0]
        or registers[Reg.DEPTH] == arrays.path.shape[0]
    )


@inlined
def enter(expand, product, store, registers, arrays, state):
    """Enter an unknown state (Fig. 7, lines 7-12, and 15-16 for known successors).

    Returns the place of the state in Current; its successors that are unknown
    wait on the stack.
    """
    n = visit(expand, product, store, registers, state, arrays.numbers, 0)
    registers[Reg.VISITED] += 1
    registers[Reg.N_CURRENT] += 1
    registers[Reg.MAX_CURRENT] = max(
        registers[Reg.MAX_CURRENT], registers[Reg.N_CURRENT]
    )
    place = registers[Reg.N_CURRENT]
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
    return place


@inlined
def see_again(registers, arrays, number):
    """Note a transition to a state of Current (Fig. 7, lines 15-16).

    Returns the lowlink of the state it comes from, the last one on the path.
    """
    place = arrays.path[registers[Reg.DEPTH] - 1]
    lowlink = min(arrays.lowlinks[place - 1], arrays.lowlinks[number - 1])
    arrays.lowlinks[place - 1] = lowlink
    return lowlink


@inlined
def remove(registers, arrays, place):
    """Remove the states from `place` on (Fig. 7, lines 20-22)."""
    numbers, current = arrays.numbers, arrays.current
    for i in range(place - 1, registers[Reg.N_CURRENT]):
        numbers[current[i]] = REMOVED
    registers[Reg.N_CURRENT] = place - 1


@inlined
def leave(registers):
    """Take the last state off the path."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1


class CurrentSearch(Search):
    """A search for SCCs that keeps the stack Current."""

    generalised = False
    counts: ClassVar = {"max_current": Reg.MAX_CURRENT}
    keeps_goals: ClassVar[bool] = False

    arrays: Arrays

    def _layout(self) -> Layout:
        goals = {"goals": INT32} if self.keeps_goals else {}
        return {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32},
            Reg.N_CURRENT: {"current": INT32, "lowlinks": INT32, "kinds": UINT8},
            Reg.DEPTH: {"path": INT32, **goals},
        }

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        return Arrays(**{"goals": np.zeros(0, dtype=np.int32), **made})

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        n_current = int(self.registers[Reg.N_CURRENT])
        places = np.arange(1, n_current + 1)
        numbers = self.arrays.numbers[: self.n_stored]
        current = self.arrays.current[:n_current]
        assert numbers[current].tolist() == places.tolist()
        assert sorted(numbers[numbers > 0].tolist()) == places.tolist()
        assert (self.arrays.lowlinks[:n_current] <= places).all()
        path = self.arrays.path[: self.registers[Reg.DEPTH]]
        assert (np.diff(path) > 0).all()

"""Nested depth-first search with four colours (``--emptiness se05``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3.

Differences from the source:

- ``post(s)`` is computed once, when `s` is entered.  Successors that are not
  white can be judged at once (cyan reports or not, blue and red never matter),
  so lines 6-8 run for all of them before line 10 runs for the first white one:
  the order of ``post`` is "known states first".  Only white successors wait on
  the stack.  The same holds for cyan and blue in the red search.
- Both procedures share one explicit stack.  It holds, from the bottom, for each
  state on the path a frame marker, followed by those of its successors that
  still wait; a red search lies above `Reg.RED_BASE`.
- Line 7 asks whether `t` is accepting only while some accepting state is cyan.

Invariants, asserted by `assert_consistent`: a state is cyan iff it has a blue
marker on the stack; while no red search runs, every successor of a red state is
red.

Cost: two bits of colour per state; four bytes of stack per state on the path and
per waiting successor; at most two looks at every transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe._jit import inlined, njit
from ltlpipe.search.emptiness import FIRST_ENTRIES, Search
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import (
    Setting,
    at_limit,
    is_full,
    property_state,
    stutter,
    visit_successors,
)
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.search.driver import Interrupt
    from ltlpipe.search.paths import ProductLasso


class Colour(IntEnum):
    """The four colours of Schwoon & Esparza 2005, Sec. 3.2."""

    WHITE = 0  # generated, not entered
    CYAN = 1  # its blue search has not ended
    BLUE = 2  # its blue search has ended
    RED = 3  # entered by a red search, or the seed of one that has ended


class Arrays(NamedTuple):
    """The arrays of one search: room for n states, k stack entries."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    stack: np.ndarray  # int32[k], a waiting state, or a frame (see `marker`)


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


@inlined
def marker(state, accepting):
    """Return the stack entry (negative) of the frame of a state."""
    return -1 - (2 * state + accepting)


@inlined
def is_accepting(expand, product, row):
    """Decide whether the transitions that leave `row` carry all marks."""
    settings = product.settings
    full = np.uint32(settings[Setting.FULL])
    first = property_state(product, row) * settings[Setting.N_LETTERS]
    marks = product.edge_marks[product.first_edge[first]]
    if settings[Setting.SYSTEM_MARKS] > 0:
        stutter(expand, product, row)
        shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
        marks |= product.system_marks[0] << shift
    return marks & full == full


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a white state (lines 4-9) and stack its white successors."""
    n = visit_successors(expand, product, store, registers, state, arrays.colours, 2)
    full = np.uint32(product.settings[Setting.FULL])
    accepting = n > 0 and product.marks[0] & full == full
    registers[Reg.VISITED] += 1
    registers[Reg.ACCEPTING] += accepting
    set_colour(arrays.colours, state, Colour.CYAN)
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        colour = colour_of(arrays.colours, dst)
        if colour == Colour.WHITE:
            arrays.stack[registers[Reg.TOP]] = dst
            registers[Reg.TOP] += 1
        elif (
            colour == Colour.CYAN
            and registers[Reg.ACCEPTING] > 0
            and (accepting or is_accepting(expand, product, store.rows[dst]))
        ):  # lines 6-8
            registers[Reg.CLOSING] = dst
            return Status.FOUND
    return Status.RUNNING


@inlined
def enter_red(expand, product, store, registers, arrays, state):
    """Look at the successors of a state in the red search (lines 17-20)."""
    n = visit_successors(expand, product, store, registers, state, arrays.colours, 2)
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        colour = colour_of(arrays.colours, dst)
        if colour == Colour.CYAN:
            registers[Reg.CLOSING] = dst
            return Status.FOUND
        if colour == Colour.BLUE:
            arrays.stack[registers[Reg.TOP]] = dst
            registers[Reg.TOP] += 1
    return Status.RUNNING


@inlined
def push_frame(registers, arrays, entry):
    """Put a frame marker on the stack."""
    arrays.stack[registers[Reg.TOP]] = entry
    registers[Reg.TOP] += 1
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])


@inlined
def pop_frame(registers):
    """Take a frame marker off the stack."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1


@njit
def se05_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3.

    `registers` (int64[N_REGISTERS]) and the arrays are changed in place; at
    most `budget` >= 1 states are expanded.  Returns a Status; after FOUND the
    frames on the stack are the path, and ``registers[Reg.CLOSING]`` is the
    state of it to which the last one has a transition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if top > room or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        red = registers[Reg.RED_BASE] > 0
        status = Status.RUNNING
        if entry >= 0:  # a successor whose turn has come
            colour = colour_of(arrays.colours, entry)
            if not red and colour == Colour.WHITE and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if red and colour == Colour.BLUE:  # lines 20-22
                set_colour(arrays.colours, entry, Colour.RED)
                push_frame(registers, arrays, marker(entry, 0))
                status = enter_red(expand, product, store, registers, arrays, entry)
                budget -= 1
            elif not red and colour == Colour.WHITE:  # lines 9-10
                status = enter_blue(expand, product, store, registers, arrays, entry)
                budget -= 1
        elif red and registers[Reg.RED_BASE] < top:  # a red frame has ended
            pop_frame(registers)
        else:
            state = (-1 - entry) >> 1
            accepting = (-1 - entry) & 1
            if accepting and not red:  # lines 11-12
                registers[Reg.RED_BASE] = top
                status = enter_red(expand, product, store, registers, arrays, state)
                budget -= 1
            else:  # lines 13-15
                set_colour(arrays.colours, state, Colour.RED if red else Colour.BLUE)
                registers[Reg.RED_BASE] = 0
                registers[Reg.ACCEPTING] -= accepting
                pop_frame(registers)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class SE05(Search):
    """The search of Schwoon & Esparza 2005, Fig. 3, in progress."""

    name = "se05"
    generalised = False
    bytes_per_state = 0.25
    kernel = staticmethod(se05_step)

    arrays: Arrays

    def _new_arrays(self, n_states: int) -> Arrays:
        return Arrays(
            colours=np.zeros(n_states // 4 + 1, dtype=np.uint8),
            stack=np.zeros(self._stack_room() + FIRST_ENTRIES, dtype=np.int32),
        )

    def _begin(self) -> None:
        self.arrays.stack[0] = 0
        self.registers[Reg.TOP] = 1

    def _stacks(self) -> dict[str, tuple[int, float]]:
        return {"stack": (self._stack_room(), 4)}

    def _follow(self) -> None:
        n_bytes = self.store.rows.shape[0] // 4 + 1
        self.arrays.colours.resize(n_bytes, refcheck=False)

    def colours(self) -> np.ndarray:
        """Return uint8[n_stored], the Colour of every state."""
        shifts = np.array([0, 2, 4, 6], dtype=np.uint8)
        return ((self.arrays.colours[:, None] >> shifts) & 3).ravel()[: self.n_stored]

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.colours() != Colour.WHITE)

    def frames(self) -> np.ndarray:
        """Return int32[depth], the states on the path, red ones last."""
        stack = self.arrays.stack[: self.registers[Reg.TOP]]
        return np.asarray((-1 - stack[stack < 0]) >> 1)

    def lasso(self, interrupt: Interrupt | None = None) -> ProductLasso:
        """Return a short accepting run; the search must have answered FOUND.

        The cycle is a shortest one through an accepting state of the cycle on
        the stack.
        """
        path = self.frames()
        start = int(np.flatnonzero(path == self.registers[Reg.CLOSING])[0])
        finder = PathFinder(self, interrupt)
        problem = self.problem
        accepting = next(
            int(state)
            for state in path[start:]
            if is_accepting(problem.expand, problem.product, self.store.rows[state])
        )
        cycle, actions = finder.shortest_cycle(accepting, self.visited())
        goal = np.zeros(self.n_stored, dtype=np.bool_)
        goal[cycle] = True
        return finder.lasso(finder.prefix_to(goal), cycle, actions)

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {}

    def assert_consistent(self) -> None:
        """Check that exactly the states with a blue frame are cyan."""
        base = self.registers[Reg.RED_BASE] or self.registers[Reg.TOP]
        blue = self.arrays.stack[:base]
        cyan = set(((-1 - blue[blue < 0]) >> 1).tolist())
        assert cyan == set(np.flatnonzero(self.colours() == Colour.CYAN).tolist())

"""Nested depth-first search with four colours (``--emptiness se05``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3.

Differences from the source:

- The order of ``post`` is "known states first" (`ltlpipe.search.nested.frames`):
  cyan states report or not, blue and red ones never matter, and only white ones
  wait.  The same holds for cyan and blue in the red search.
- Line 7 asks whether `t` is accepting only while some accepting state is cyan.
- With ample sets (`ltlpipe.search.reduced`) the blue search leaves steps out.  The
  red one takes the same steps ("stored"), or all that lead to states which the blue
  one has met ("full").  A cyan state that it reaches over a step left out closes a
  cycle of the whole product, so nothing wrong is found; and nothing is missed, for
  what follows is said of the steps that the blue search took.

Invariants: a state is cyan iff it has a blue marker on the stack (asserted by
`assert_consistent`); while no red search runs, every successor of a red state by a
step that the blue search took is red.

Cost: two bits of colour per state, two bytes more for "stored" ample sets; four bytes
of stack per state on the path and per state that waits (`ltlpipe.search.sweeping`); at
most two looks at every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.por.component_sets import MAX_SEED, Inner, Reduction, highest_seed
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.growth import INT32, Column
from ltlpipe.search.interning import row_of
from ltlpipe.search.nested.frames import (
    PathSearch,
    is_accepting,
    marker,
    pop_frame,
    push_frame,
    push_waiting,
)
from ltlpipe.search.packed import (
    COLOURS,
    Colour,
    colour_of,
    set_colour,
    unpacked_colours,
)
from ltlpipe.search.product import at_limit, is_full, leaves_accepting
from ltlpipe.search.reduced import visit_again, visit_first
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.sweeping import close_gaps, forget_coloured, swept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.search.growth import Layout


class Arrays(NamedTuple):
    """The arrays of one search: room for n states, k stack entries."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    stack: np.ndarray  # int32[k]
    reduction: Reduction | None  # for ample sets


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a white state (lines 4-9) and stack its white successors."""
    set_colour(arrays.colours, state, Colour.CYAN)
    n = visit_first(
        expand, product, store, registers, state, arrays.colours, arrays.reduction
    )
    accepting = leaves_accepting(product, n)
    registers[Reg.VISITED] += 1
    registers[Reg.ACCEPTING] += accepting
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        colour = colour_of(arrays.colours, dst)
        if colour == Colour.WHITE:
            push_waiting(registers, arrays, dst)
        elif (
            colour == Colour.CYAN
            and registers[Reg.ACCEPTING] > 0
            and (
                accepting or is_accepting(expand, product, row_of(product, store, dst))
            )
        ):  # lines 6-8
            registers[Reg.CLOSING] = dst
            return Status.FOUND
    return Status.RUNNING


@inlined
def enter_red(expand, product, store, registers, arrays, state):
    """Look at the successors of a state in the red search (lines 17-20)."""
    colours = arrays.colours
    n = visit_again(expand, product, store, registers, state, colours, arrays.reduction)
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        if dst < 0:  # left out by the blue search
            continue
        colour = colour_of(colours, dst)
        if colour == Colour.CYAN:
            registers[Reg.CLOSING] = dst
            return Status.FOUND
        if colour == Colour.BLUE:
            push_waiting(registers, arrays, dst)
    return Status.RUNNING


@njit
def se05_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the state of it to which the last one has a transition.
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
        looking = np.int64(-1)  # the state whose successors the red search looks at
        if entry >= 0:  # a successor whose turn has come
            colour = colour_of(arrays.colours, entry)
            if not red and colour == Colour.WHITE and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if red and colour == Colour.BLUE:  # lines 20-22
                set_colour(arrays.colours, entry, Colour.RED)
                push_frame(registers, arrays, marker(entry, 0))
                looking = entry
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
                looking = state
            else:  # lines 13-15
                set_colour(arrays.colours, state, Colour.RED if red else Colour.BLUE)
                registers[Reg.RED_BASE] = 0
                registers[Reg.ACCEPTING] -= accepting
                pop_frame(registers)
        if looking >= 0:
            status = enter_red(expand, product, store, registers, arrays, looking)
            budget -= 1
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class SE05(PathSearch):
    """The search of Schwoon & Esparza 2005, Fig. 3, in progress."""

    name = "se05"
    kernel = staticmethod(se05_step)

    arrays: Arrays

    def _layout(self) -> Layout:
        of_states = {"colours": COLOURS}
        if self.problem.ample is not None and self._stores_seeds:
            of_states["reduction.seeds"] = Column(np.uint16)
        return {Reg.STORED: of_states, Reg.TOP: {"stack": INT32}}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        seeds = made.pop("reduction.seeds", np.zeros(0, dtype=np.uint16))
        tables = self.problem.ample
        if tables is None:
            return Arrays(**made, reduction=None)
        if self._stores_seeds and highest_seed(tables) > MAX_SEED:
            what = "components" if tables.stubborn is None else "actions"
            raise UnsupportedError(
                f"--red-ample=stored takes at most {MAX_SEED} {what}: use full"
            )
        return Arrays(**made, reduction=Reduction(tables, seeds))

    @property
    def _stores_seeds(self) -> bool:
        """Whether the ample set of every state is noted for the red search."""
        return self.problem.inner == Inner.STORED

    def _sweep(self) -> Iterator[None]:
        stack, colours = self.arrays.stack, self.arrays.colours
        return swept(
            self.registers,
            lambda *where: forget_coloured(stack, colours, *where),
            lambda *where: int(close_gaps(stack, *where)),
        )

    def colours(self) -> np.ndarray:
        """Return uint8[n_stored], the Colour of every state."""
        return unpacked_colours(self.arrays.colours, self.n_stored)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.colours() != Colour.WHITE)

    def _on_blue_stack(self) -> np.ndarray:
        return np.asarray(self.colours() == Colour.CYAN)

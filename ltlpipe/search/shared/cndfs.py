"""Nested depth-first search by several workers (``--emptiness cndfs``).

Decides whether a product whose acceptance is one mark on states has a reachable
accepting cycle.  Each worker has a blue and a red search of its own; that a state is
blue or red for one is known to all, and no worker enters it again.

Source: S. Evangelista, A. Laarman, L. Petrucci and J. van de Pol, "Improved Multi-Core
Nested Depth-First Search", ATVA 2012, LNCS 7561, pp. 269-283, Fig. 3.

Differences from the source:

- The recursion is one stack: frames of the blue search, above them states that wait for
  the red one, which needs no frames.
- A blue search that comes from an accepting state to a state of its own path has found
  a cycle at once.
- Workers but the first take successors in an order of their own.
- Who waits for accepting states to become red returns when its budget is spent, and
  goes on waiting with the next call.

Why waiting ends, and no cycle is missed: the proofs of the source (Sec. 3.2) use that
blue and red are never taken back, that a state is blue before its red search begins,
and that what a red search has entered becomes red only after the wait.  Both colours
are set by an atomic or, which all workers see in one order.  The search is over when
the blue searches of *all* workers have ended: a state is blue before its red search is
over.

Invariants, asserted by `tests.invariants` between calls: no row is stored twice; the
states that are cyan for a worker are those of the frames on its stack; what is red is
blue or has been entered by a red search.

Cost: one byte per state, and two bits for each worker; four bytes of a worker's stack
per state on its path and per waiting successor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    fetch_or,
    load,
    pause,
)
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.growth import INT32, UINT8, Column
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import leaves_accepting, visit
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.search import (
    SharedSearch,
    count_entry,
    is_at_limit,
    shuffle,
    stopped,
)
from ltlpipe.search.stacks import (
    COLOURS,
    Colour,
    colour_of,
    marker,
    set_colour,
)
from ltlpipe.search.store import Worker, lacks_ids_or_room
from ltlpipe.search.union_find import NONE

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout

MET, BLUE, RED = np.uint8(1), np.uint8(2), np.uint8(4)
"""What all workers know of a state: it has been entered, is blue, is red."""


class Arrays(NamedTuple):
    """The arrays of one worker: n states, k stack entries; `known` is shared."""

    known: np.ndarray  # uint8[n], MET, BLUE and RED
    colours: np.ndarray  # uint8[n / 4], CYAN, or RED: entered by its red search
    stack: np.ndarray  # int32[k], a waiting state s, or a `marker` for a blue frame
    red: np.ndarray  # int32[r], states that its red search has entered
    awaited: np.ndarray  # int32[a], the accepting ones among them
    own: np.ndarray  # int64[N_REGISTERS], see `Worker`


@inlined
def has_room(product, store, registers, arrays):
    """Whether all arrays have room for one more step; ids are taken if need be."""
    own = arrays.own
    if own[Reg.TOP] + product.ids.shape[0] + 1 > arrays.stack.shape[0]:
        return False
    if own[Worker.N_RED] + 1 > arrays.red.shape[0]:
        return False
    if own[Worker.N_AWAITED] + 1 > arrays.awaited.shape[0]:
        return False
    return not lacks_ids_or_room(product, store, registers, own)


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a state that is white; return whether that closes an accepting cycle."""
    own, known, colours = arrays.own, arrays.known, arrays.colours
    if fetch_or(known, state, MET) & MET == 0:
        count_entry(registers, own)
    set_colour(colours, state, Colour.CYAN)
    n = visit(expand, product, store, own, state, known, 0)
    accepting = leaves_accepting(product, n)
    if own[Worker.SHUFFLE] != 0:
        shuffle(own, product, n)
    own[Reg.DEPTH] += 1
    own[Reg.MAX_DEPTH] = max(own[Reg.MAX_DEPTH], own[Reg.DEPTH])
    top = own[Reg.TOP]
    arrays.stack[top] = marker(state, np.int64(accepting))
    top += 1
    for i in range(n - 1, -1, -1):
        target = np.int64(product.ids[i])
        if colour_of(colours, target) == Colour.CYAN:
            if accepting:
                own[Reg.TOP] = top
                compare_and_swap(registers, Reg.CLOSING, NONE, state)
                return True
        elif load(known, target) & BLUE == 0:
            arrays.stack[top] = target
            top += 1
    own[Reg.TOP] = top
    return False


@inlined
def enter_red(expand, product, store, registers, arrays, state, seed):
    """Look at the successors of a state for the seed; whether a cycle is closed."""
    own, known, colours = arrays.own, arrays.known, arrays.colours
    n = visit(expand, product, store, own, state, known, 0)
    if state != seed:
        set_colour(colours, state, Colour.RED)
        arrays.red[own[Worker.N_RED]] = state
        own[Worker.N_RED] += 1
        if leaves_accepting(product, n):
            arrays.awaited[own[Worker.N_AWAITED]] = state
            own[Worker.N_AWAITED] += 1
    top = own[Reg.TOP]
    for i in range(n):
        target = np.int64(product.ids[i])
        colour = colour_of(colours, target)
        if colour == Colour.CYAN:
            compare_and_swap(registers, Reg.CLOSING, NONE, seed)
            return True
        if colour != Colour.RED and load(known, target) & RED == 0:
            arrays.stack[top] = target
            top += 1
    own[Reg.TOP] = top
    return False


@inlined
def all_red(arrays):
    """Whether the accepting states that the red search has met are red for all."""
    own = arrays.own
    while own[Worker.N_AWAITED] > 0:
        state = arrays.awaited[own[Worker.N_AWAITED] - 1]
        if load(arrays.known, state) & RED == 0:
            return False
        own[Worker.N_AWAITED] -= 1
    return True


@inlined
def end_red(arrays, seed):
    """Make all states that the red search has entered red for all."""
    own = arrays.own
    for k in range(own[Worker.N_RED]):
        fetch_or(arrays.known, arrays.red[k], RED)
        set_colour(arrays.colours, arrays.red[k], Colour.WHITE)
    fetch_or(arrays.known, seed, RED)
    own[Worker.N_RED] = own[Reg.RED_BASE] = 0


@inlined
def leave_blue(arrays, state):
    """End the frame of a state, on top of the stack."""
    own = arrays.own
    set_colour(arrays.colours, state, Colour.WHITE)
    own[Reg.TOP] -= 1
    own[Reg.DEPTH] -= 1


@njit
def cndfs_step(expand, product, store, registers, arrays, budget):
    """Advance one worker of Evangelista et al. 2012, Fig. 3.

    `registers` are shared, `arrays` are the worker's.  EMPTY says that its blue search
    has ended; the other workers go on.  After FOUND state ``registers[Reg.CLOSING]`` is
    accepting and lies on a cycle.
    """
    own, known, colours = arrays.own, arrays.known, arrays.colours
    while budget > 0 and load(registers, Worker.STOP) == 0:
        top = own[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if not has_room(product, store, registers, arrays):
            return stopped(registers, Status.GROW)
        entry = np.int64(arrays.stack[top - 1])
        base = own[Reg.RED_BASE]
        if entry >= 0 and base > 0:  # a state that waits for the red search
            own[Reg.TOP] = top - 1
            if colour_of(colours, entry) == Colour.RED or load(known, entry) & RED != 0:
                continue
            seed = (-1 - np.int64(arrays.stack[base - 1])) >> 1
            budget -= 1
            if enter_red(expand, product, store, registers, arrays, entry, seed):
                return stopped(registers, Status.FOUND)
        elif entry >= 0:
            is_open = colour_of(colours, entry) == Colour.WHITE
            seen = load(known, entry)
            if not is_open or seen & BLUE != 0:
                own[Reg.TOP] = top - 1
                continue
            if seen & MET == 0 and is_at_limit(registers, own):
                return stopped(registers, Status.LIMIT)
            own[Reg.TOP] = top - 1
            budget -= 1
            if enter_blue(expand, product, store, registers, arrays, entry):
                return stopped(registers, Status.FOUND)
        else:
            state, accepting = (-1 - entry) >> 1, (-1 - entry) & 1
            if base == 0:
                fetch_or(known, state, BLUE)
                if accepting == 0:
                    leave_blue(arrays, state)
                    continue
                own[Reg.RED_BASE] = top
                budget -= 1
                if enter_red(expand, product, store, registers, arrays, state, state):
                    return stopped(registers, Status.FOUND)
            elif all_red(arrays):
                end_red(arrays, state)
                leave_blue(arrays, state)
            else:
                budget -= 1
                pause()
    return Status.RUNNING


class CNDFS(SharedSearch):
    """The search of Evangelista et al. 2012, Fig. 3, in progress."""

    name = "cndfs"
    generalised = False
    kernel = staticmethod(cndfs_step)
    array_type: ClassVar[type[Any]] = Arrays

    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"known": UINT8},
            Reg.TOP: {"stack": INT32},
            Worker.N_RED: {"red": INT32},
            Worker.N_AWAITED: {"awaited": INT32},
        }

    def _own_states(self) -> dict[str, Column]:
        return {"colours": COLOURS}

    def _begin(self) -> None:
        self.registers[Reg.CLOSING] = NONE
        for arrays in self._of_workers:
            arrays.stack[0] = 0
            arrays.own[Reg.TOP] = 1

    def _answer(self, answers: list[Status]) -> Status:
        """Return what the answers come to: EMPTY if it is that of all workers."""
        told: list[Status] = [a for a in answers if a != Status.EMPTY]
        return super()._answer(told) if told else Status.EMPTY

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been entered."""
        return np.asarray(self.arrays.known[: self.n_stored] & MET != 0)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        return (
            yield from PathFinder(self).lasso_through(int(self.registers[Reg.CLOSING]))
        )

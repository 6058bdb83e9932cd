"""Nested search for generalised Büchi acceptance (``--emptiness tauriainen03``).

Decides whether a product with n marks on transitions has a reachable cycle that
sees every mark.  A state is entered once by the blue search and at most n times
by red ones, n + 1 times in all.

Source: H. Tauriainen, "Nested Emptiness Search for Generalized Büchi Automata",
Helsinki University of Technology, Report A79, 2003, to which S. Schwoon and
J. Esparza, "A Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 5.2,
refer.  The report is not at hand: what follows is its idea in our words, with
the argument why it is sound.

Each state s has a set M(s) of marks, empty at first.  When the blue search is
done with the successors of s, it looks at each transition s -a-> t once more: if
A = M(s) | a is not within M(t), a red search from t adds A to M of all states
that the blue search has seen and that can be reached over such states, passing
by those that have A already.  Each red visit adds a mark, hence at most n visits.
If M(s) is all marks in the end, s lies on an accepting cycle.

Soundness: let the mark i be in M(t).  It comes from a transition u -i-> v of a
state u that the blue search has left (or is about to), and t is reached from v.
While t is on the blue stack, t was entered before u was left, so u was entered
from t: t lies on a cycle with that transition.  This holds for every state on
the blue stack at any time, so a cycle is reported as soon as *any* of them has
all marks, not only the seed at its end.

Completeness: when the blue search leaves s, M(s) | a is within M(t) for every
transition s -a-> t, and stays so, since a red visit passes on what it adds.  So all
states of an SCC that it has left have the same M, with every mark inside the SCC.

Differences from the source: the early report of the last sentence, for which
states on the blue stack have a colour of their own; and the order of ``post`` is
"known states first" (`ltlpipe.search.stacks`).

The accepting run is then found by `ltlpipe.search.scc.couvreur99` among the
states that are stored: it needs no more of them.

Invariants, asserted by `tests.invariants`: a state is cyan iff it has a blue
marker on the stack.

Cost: per state two bits of colour and a bit per mark, rounded up to a power of
two; four bytes of stack, and as many bits, per state on the path and per waiting
successor; at most n + 2 looks at every transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32
from ltlpipe.search.product import Setting, at_limit, is_full, visit
from ltlpipe.search.registers import PRIVATE, Reg, Status
from ltlpipe.search.stacks import (
    COLOUR_SHIFT,
    COLOURS,
    Colour,
    colour_of,
    mark_bits,
    marker,
    pop_frame,
    push_frame,
    read_marks,
    set_colour,
    sets_of,
    unpacked_colours,
    write_marks,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout


class RedReg(IntEnum):
    """Places in the registers that this search has beside `Reg`."""

    POST_BASE = PRIVATE  # stack entries below the seed's transitions
    RED_MARKS = PRIVATE + 1  # the marks that the red search carries
    RED_VISITS = PRIVATE + 2  # visits of red searches


class Arrays(NamedTuple):
    """The arrays of one search: room for n states, k stack entries."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    seen: np.ndarray  # uint32[...], packed: M of every state
    stack: np.ndarray  # int32[k]
    stack_marks: np.ndarray  # uint32[...], packed: marks of a transition of the seed


@inlined
def wanted_marks(product):
    """Return the set of all marks; if there is none, of one on every transition."""
    return np.uint32(max(product.settings[Setting.FULL], 1))


@inlined
def carried_marks(product, i):
    """Return the marks of the transition to the i-th successor."""
    if product.settings[Setting.FULL] == 0:
        return np.uint32(1)
    return product.marks[i]


@inlined
def push_marked(registers, arrays, state, marks):
    """Let a successor wait, with marks."""
    top = registers[Reg.TOP]
    arrays.stack[top] = state
    write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top, marks)
    registers[Reg.TOP] = top + 1


@inlined
def enter_blue(expand, product, store, registers, arrays, state):
    """Enter a white state and stack its white successors."""
    n = visit(expand, product, store, registers, state, arrays.colours, COLOUR_SHIFT)
    registers[Reg.VISITED] += 1
    set_colour(arrays.colours, state, Colour.CYAN)
    marked = np.int64(0)
    for i in range(n):
        marked |= carried_marks(product, i) != 0
    push_frame(registers, arrays, marker(state, marked))
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        if colour_of(arrays.colours, dst) == Colour.WHITE:
            push_marked(registers, arrays, dst, np.uint32(0))


@inlined
def look_again(expand, product, store, registers, arrays, state):
    """Stack the transitions of a seed for its red searches."""
    n = visit(expand, product, store, registers, state, arrays.colours, COLOUR_SHIFT)
    for i in range(n - 1, -1, -1):
        marks = carried_marks(product, i)
        push_marked(registers, arrays, product.ids[i], marks)


@inlined
def enter_red(expand, product, store, registers, arrays, state):
    """Add the marks that the red search carries to a state; go on from there."""
    marks = np.uint32(registers[RedReg.RED_MARKS])
    bits = registers[Reg.MARK_BITS]
    marks_of_state = read_marks(arrays.seen, bits, state) | marks
    write_marks(arrays.seen, bits, state, marks_of_state)
    registers[RedReg.RED_VISITS] += 1
    push_frame(registers, arrays, marker(state, 0))
    if (
        marks_of_state == wanted_marks(product)
        and colour_of(arrays.colours, state) == Colour.CYAN
    ):
        return Status.FOUND
    n = visit(expand, product, store, registers, state, arrays.colours, COLOUR_SHIFT)
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        if (
            colour_of(arrays.colours, dst) != Colour.WHITE
            and marks & ~read_marks(arrays.seen, bits, dst) != 0
        ):
            push_marked(registers, arrays, dst, np.uint32(0))
    return Status.RUNNING


@inlined
def begin_red(registers, arrays, entry):
    """Begin the red search over a seed's transition that has waited, if needed.

    Returns whether the state at its end is to be entered.
    """
    bits = registers[Reg.MARK_BITS]
    seed = (-1 - np.int64(arrays.stack[registers[RedReg.POST_BASE] - 1])) >> 1
    marks = read_marks(arrays.stack_marks, bits, registers[Reg.TOP])
    marks |= read_marks(arrays.seen, bits, seed)
    if marks & ~read_marks(arrays.seen, bits, entry) == 0:
        return False
    registers[RedReg.RED_MARKS] = marks
    registers[Reg.RED_BASE] = registers[Reg.TOP]
    return True


@inlined
def take_waiting(expand, product, store, registers, arrays, entry):
    """Enter the state that has waited on top of the stack, if need be."""
    registers[Reg.TOP] -= 1
    if registers[RedReg.POST_BASE] == 0:
        if colour_of(arrays.colours, entry) == Colour.WHITE:
            enter_blue(expand, product, store, registers, arrays, entry)
        return Status.RUNNING
    if registers[Reg.RED_BASE] == 0:
        needed = begin_red(registers, arrays, entry)
    else:
        bits = registers[Reg.MARK_BITS]
        marks = np.uint32(registers[RedReg.RED_MARKS])
        needed = marks & ~read_marks(arrays.seen, bits, entry) != 0
    if needed:
        return enter_red(expand, product, store, registers, arrays, entry)
    return Status.RUNNING


@inlined
def leave(expand, product, store, registers, arrays, entry):
    """End the frame on top of the stack; return whether states were expanded."""
    top = registers[Reg.TOP]
    state = (-1 - entry) >> 1
    if registers[Reg.RED_BASE] > 0:  # a red frame
        pop_frame(registers)
        if registers[Reg.TOP] == registers[Reg.RED_BASE]:
            registers[Reg.RED_BASE] = 0
        return False
    marks = read_marks(arrays.seen, registers[Reg.MARK_BITS], state)
    if registers[RedReg.POST_BASE] == 0 and ((-1 - entry) & 1 != 0 or marks != 0):
        registers[RedReg.POST_BASE] = top
        look_again(expand, product, store, registers, arrays, state)
        return True
    registers[RedReg.POST_BASE] = 0
    set_colour(arrays.colours, state, Colour.BLUE)
    pop_frame(registers)
    return False


@njit
def tauriainen03_step(expand, product, store, registers, arrays, budget):
    """Advance the generalised nested search after Tauriainen 2003.

    After FOUND the last frame is a state on an accepting cycle.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if top > room or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            budget -= leave(expand, product, store, registers, arrays, entry)
            continue
        if (
            registers[RedReg.POST_BASE] == 0
            and at_limit(registers)
            and colour_of(arrays.colours, entry) == Colour.WHITE
        ):
            return Status.LIMIT
        budget -= 1
        status = take_waiting(expand, product, store, registers, arrays, entry)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Tauriainen03(Search):
    """The search of Tauriainen 2003 in progress."""

    name = "tauriainen03"
    generalised = True
    kernel = staticmethod(tauriainen03_step)
    counts: ClassVar = {"red_visits": RedReg.RED_VISITS}

    array_type = Arrays
    arrays: Arrays

    def _layout(self) -> Layout:
        bits = mark_bits(max(self.problem.n_marks, 1))
        return {
            Reg.STORED: {"colours": COLOURS, "seen": sets_of(bits)},
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(bits)},
        }

    def _begin(self) -> None:
        super()._begin()
        self.registers[Reg.MARK_BITS] = mark_bits(max(self.problem.n_marks, 1))

    def colours(self) -> np.ndarray:
        """Return uint8[n_stored], the Colour of every state."""
        return unpacked_colours(self.arrays.colours, self.n_stored)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.colours() != Colour.WHITE)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        from ltlpipe.search.scc.couvreur99 import Couvreur99

        return (yield from Couvreur99.retrace(self))

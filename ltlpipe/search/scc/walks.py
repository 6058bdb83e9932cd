"""Walks: short searches one after another, each in an order of its own.

Looks for an accepting run of a product without the aim to see all of it.  A walk
begins in the initial state, goes on to the best successor (`ltlpipe.search.guidance`)
and, where there is none that is new, back: it is a depth-first search that recognises
SCCs, and finds an accepting cycle as soon as its transitions have been generated,
whether or not the walk has closed it in one go.  After a number of states it is given
up, what it has stored is forgotten, and the next begins, in another order.  Most walks
are short, as most violations are near for some order; after k short ones there is a
longer one.

Source: the search of `ltlpipe.search.scc.couvreur99`; restarts with lengths that are
long the more seldom after M. Luby, A. Sinclair and D. Zuckerman, "Optimal Speedup of
Las Vegas Algorithms", Information Processing Letters 47 (1993), pp. 173-180.

Differences from the source: lengths grow by 4 where the sequence of Luby et al. grows
by 2, and each length is tried in every `Manner` before the next of the sequence; a walk
also ends when it has stored `MOST_STORED` states.

It answers EMPTY iff a walk has ended by itself: then that has been all of the product
from which an accepting run may be left.

Invariants: those of `couvreur99`, of the walk that is being taken.

Cost: that of `couvreur99`, for the states of one walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.guidance import (
    N_MANNERS,
    Guidance,
    arrange,
    begin_walk,
    make_guidance,
    note_marks,
)
from ltlpipe.search.interning import intern, row_of
from ltlpipe.search.packed import read_marks
from ltlpipe.search.product import (
    Setting,
    at_limit,
    is_full,
    property_state,
    successors,
)
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import (
    Couvreur99,
    begin_frame,
    is_live_in,
    leave,
    merge,
)

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.search.problem import Problem

SHORTEST = 256
LONGEST = 1 << 16
"""States of a walk."""

MOST_STORED = 1 << 20
"""States that a walk may store, entered or not."""


class Arrays(NamedTuple):
    """Those of `couvreur99`, and the guidance."""

    numbers: np.ndarray
    stack: np.ndarray
    stack_marks: np.ndarray
    roots: np.ndarray
    root_marks: np.ndarray
    entry_marks: np.ndarray
    dead_first: np.ndarray
    dead_last: np.ndarray
    path: None
    clauses: np.ndarray | None
    guidance: Guidance


@inlined
def length_of(number, shortest):
    """Return the states of walk `number`, counted from 1."""
    turn = number // N_MANNERS
    length = shortest
    while turn > 0 and turn & 1 == 0 and length < LONGEST:
        turn >>= 1
        length *= 4
    return length


@inlined
def restart(product, store, registers, arrays):
    """Forget what has been seen, and put the initial state, id 0, on the stack."""
    full = np.uint32(product.settings[Setting.FULL])
    arrays.numbers[: registers[Reg.STORED]] = 0
    store.slots[:] = 0
    initial = row_of(product, store, 0)
    for w in range(product.rows.shape[1]):
        product.rows[0, w] = initial[w]
    registers[Reg.STORED] = 0
    intern(
        store,
        registers,
        product.rows,
        1,
        product.ids,
        product.hashes,
        arrays.numbers,
        0,
    )
    arrays.stack[0] = 0
    registers[Reg.TOP] = 1
    registers[Reg.DEPTH] = 0
    registers[Reg.COUNT] = 0
    registers[Reg.N_ROOTS] = 0
    registers[Reg.N_DEAD] = 0
    registers[Reg.WALKS] += 1
    registers[Reg.LEFT] = length_of(registers[Reg.WALKS], registers[Reg.SHORTEST])
    begin_walk(arrays.guidance, registers[Reg.WALKS], full)


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter an unknown state as `couvreur99` does, its successors in order."""
    registers[Reg.VISITED] += 1
    registers[Reg.LEFT] -= 1
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    full = np.uint32(product.settings[Setting.FULL])
    note_marks(arrays.guidance, marks, full)
    row = row_of(product, store, state)
    src = property_state(product, row)
    n = successors(expand, product, row)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    n = arrange(product, n, src, arrays.guidance)
    intern(
        store,
        registers,
        product.rows,
        n,
        product.ids,
        product.hashes,
        arrays.numbers,
        0,
    )
    return begin_frame(product, registers, arrays, state, marks, n)


@njit
def walks_step(expand, product, store, registers, arrays, budget):
    """Advance walks; see `ltlpipe.search.scc.couvreur99.couvreur99_step`.

    EMPTY says that a walk has come to an end before its length.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    full = np.uint32(product.settings[Setting.FULL])
    while budget > 0:
        if registers[Reg.LEFT] == 0 or registers[Reg.STORED] > MOST_STORED:
            if at_limit(registers):
                return Status.LIMIT
            restart(product, store, registers, arrays)
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or registers[Reg.N_DEAD] == arrays.dead_first.shape[0]
            or is_full(product, store, registers)
        ):
            return Status.GROW
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
        number = arrays.numbers[entry]
        status = Status.RUNNING
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if number == 0:
            status = enter(expand, product, store, registers, arrays, entry, marks)
            budget -= 1
        elif number > 0 and is_live_in(registers, arrays, number):
            status = merge(registers, arrays, number, marks, full)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Walks(Couvreur99):
    """Walks in progress.

    Parameters
    ----------
    problem : Problem
        The product; it is not reduced by ample sets.
    automaton : PropertyAutomaton
        That of the product, which guides.
    seed : int
        Other walks for another seed.
    shortest : int
        States of the shortest walks.

    Raises
    ------
    UnsupportedError
        The product's condition has Fin: an SCC does not show by its marks that a cycle
        of it is accepting.
    """

    name = "walks"
    kernel = staticmethod(walks_step)
    array_type: ClassVar[type[Any]] = Arrays
    counts: ClassVar = {"walks": Reg.WALKS}

    arrays: Any

    def __init__(
        self,
        problem: Problem,
        automaton: PropertyAutomaton,
        seed: int = 0,
        shortest: int = SHORTEST,
    ) -> None:
        if problem.ample is not None:
            raise ValueError("walks take all steps")
        self._automaton, self._seed = automaton, seed
        super().__init__(problem)
        self.registers[Reg.SHORTEST] = shortest

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        guidance = make_guidance(self._automaton, self._branching, self._seed)
        return Arrays(**made, path=None, clauses=self._clauses(), guidance=guidance)

"""Searching a product again, after a search that has stored all of it.

A search with several passes is at its first one until that ends without a cycle;
then the store holds every state that can be reached.  A later pass starts from
each stored state that it has not met, in the order of their ids, and leaves out all
states whose property state lies on no cycle of the property automaton that is of
use: their numbers are REMOVED from the beginning.

The first pass goes on from the states behind Fin transitions.  They are the set
*Fstates* of V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Algorithm 3.  An
unknown state that is put on the list gets the number NOTED, so it is put there once; it
stays on the list when it is entered after all, and is passed over in the end.

Difference from the source: the list is a stack, not a cyclic list; that one is for
several workers on the same pair.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.sccs import Step, decompose
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.interning import rows_of
from ltlpipe.search.product import Product, Setting
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.couvreur99 import REMOVED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.search.emptiness import Search

NOTED = -2
"""The number of a state that is on the list and has not been entered."""

_CHUNK = 1 << 16  # states whose numbers are set at a time


@inlined
def note(registers, arrays, state):
    """Put an unknown state on the list; a later pass meets all states without."""
    if arrays.numbers[state] == 0 and registers[Reg.IS_LATER] == 0:
        arrays.numbers[state] = NOTED
        arrays.fstates[registers[Reg.N_FSTATES]] = state
        registers[Reg.N_FSTATES] += 1


@inlined
def pick(registers, arrays):
    """Take a state off the list that has not been entered; -1 if there is none."""
    numbers, fstates = arrays.numbers, arrays.fstates
    n = registers[Reg.N_FSTATES]
    state = np.int64(-1)
    while n > 0 and state < 0:
        n -= 1
        if numbers[fstates[n]] == NOTED:
            state = np.int64(fstates[n])
    registers[Reg.N_FSTATES] = n
    return state


@inlined
def next_start(registers, arrays):
    """Return a state from which the search of this pass goes on; -1 if none is left."""
    if registers[Reg.IS_LATER] == 0:
        return pick(registers, arrays)
    numbers = arrays.numbers
    state = registers[Reg.CURSOR]
    while state < registers[Reg.STORED] and numbers[state] != 0:
        state += 1
    registers[Reg.CURSOR] = state
    return state if state < registers[Reg.STORED] else np.int64(-1)


def begin_later(search: Search, of_use: np.ndarray) -> None:
    """Prepare `search`, whose pass has ended, for the next one.

    That is about the property states `of_use`, bool[n_property_states].  The numbers of
    states are set, and CURSOR and IS_LATER.
    """
    settings = search.problem.product.settings
    shift = np.uint64(settings[Setting.SHIFT])
    mask = np.uint64(settings[Setting.MASK])
    numbers = search.arrays.numbers
    of_state = np.where(of_use, 0, REMOVED).astype(np.int32)
    for begin in range(0, search.n_stored, _CHUNK):
        ids = np.arange(begin, min(begin + _CHUNK, search.n_stored))
        words = rows_of(search.store, ids)[:, settings[Setting.WORD]]
        states = ((words >> shift) & mask).astype(np.int64)
        numbers[ids] = of_state[states]
    search.registers[Reg.CURSOR] = 0
    search.registers[Reg.IS_LATER] = 1


def entered(search: Search) -> np.ndarray:
    """Return bool[n_stored]: the states that the passes have expanded."""
    if search.registers[Reg.IS_LATER]:
        return np.ones(search.n_stored, dtype=np.bool_)
    numbers = search.arrays.numbers[: search.n_stored]
    return np.asarray((numbers != 0) & (numbers != NOTED))


def useful_states(
    product: Product, avoided: int, may_accept: Callable[[int], bool]
) -> np.ndarray:
    """Return bool[n_property_states]: the states on cycles that may be accepting.

    `avoided` are the marks that an accepting cycle avoids, as bits; `may_accept` tells
    whether a cycle in an SCC with some marks may be accepting.
    """
    settings = product.settings
    n_letters = int(settings[Setting.N_LETTERS])
    n_states = (len(product.first_edge) - 1) // n_letters
    counts = np.diff(product.first_edge)
    src = np.repeat(np.arange(n_states).repeat(n_letters), counts)
    keep = product.edge_marks & np.uint32(avoided) == 0
    pairs = src[keep] * n_states + product.edge_dst[keep]
    pairs, place = np.unique(pairs, return_inverse=True)
    marks = np.zeros(len(pairs), dtype=np.uint32)
    np.bitwise_or.at(marks, place, product.edge_marks[keep])
    columns = (pairs // n_states, pairs % n_states, marks)
    steps = list(map(Step, *(column.tolist() for column in columns)))
    system = (1 << int(settings[Setting.SYSTEM_MARKS])) - 1
    others = (system << int(settings[Setting.SYSTEM_SHIFT])) & ~avoided
    useful = np.zeros(n_states, dtype=np.bool_)
    for scc in decompose(steps, range(len(steps)), range(n_states)).inside:
        seen = reduce(or_, (steps[i].marks for i in scc), others)
        useful[[steps[i].src for i in scc]] = may_accept(seen)
    return useful

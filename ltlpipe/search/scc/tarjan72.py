"""Tarjan's algorithm, acceptance tested when an SCC is complete (``tarjan72``).

Decides whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle.

Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal
on Computing 1972, with the test for acceptance of S. Schwoon and J. Esparza, "A
Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 4, property (4):
when a root is done, the SCC above it in Current is accepting iff it is not
trivial and one of its states accepts.

Differences from the source:

- Current and its numbers are as `ltlpipe.search.scc.tarjan_stack` describes them.
- ``post(s)`` is computed once per visit, in the order "known states first".

Cost: see `ltlpipe.search.scc.tarjan_stack`; one look at every transition.
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
def is_accepting_scc(registers, arrays, place):
    """Whether the SCC of the states from `place` on is accepting."""
    kinds = arrays.kinds
    last = registers[Reg.N_CURRENT]
    if last == place and kinds[place - 1] & SELF_LOOP == 0:
        return False
    for i in range(place - 1, last):  # noqa: SIM110 (a kernel has no `any`)
        if kinds[i] & ACCEPTING:
            return True
    return False


@inlined
def complete(registers, arrays):
    """End the frame of the last state on the path (Sec. 4, properties 3 and 4)."""
    place = np.int64(arrays.path[registers[Reg.DEPTH] - 1])
    if arrays.lowlinks[place - 1] == place:
        if is_accepting_scc(registers, arrays, place):
            return Status.FOUND
        leave(registers)
        remove(registers, arrays, place)
    else:
        leave(registers)
        see_again(registers, arrays, place)
    return Status.RUNNING


@njit
def tarjan72_step(expand, product, store, registers, arrays, budget):
    """Advance Tarjan's algorithm (Schwoon & Esparza 2005, Sec. 4).

    After FOUND the states of Current from the last one on the path on are an accepting
    SCC.
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
        if entry == FRAME:
            if complete(registers, arrays) == Status.FOUND:
                return Status.FOUND
            continue
        number = np.int64(arrays.numbers[entry])
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if number == 0:
            enter(expand, product, store, registers, arrays, entry)
            budget -= 1
        elif number > 0:
            see_again(registers, arrays, number)
    return Status.RUNNING


class Tarjan72(CurrentSearch):
    """Tarjan's algorithm in progress."""

    name = "tarjan72"
    kernel = staticmethod(tarjan72_step)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        inside = np.zeros(self.n_stored, dtype=np.bool_)
        root = self.arrays.path[self.registers[Reg.DEPTH] - 1]
        inside[self.arrays.current[root - 1 : self.registers[Reg.N_CURRENT]]] = True
        return (yield from PathFinder(self).lasso_in(inside))

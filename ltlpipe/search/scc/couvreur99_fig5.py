"""SCC-based search whose SCCs are removed by a second traversal.

The search of `ltlpipe.search.scc.couvreur99` with ``remove`` as the paper has it
(``--emptiness couvreur99-fig5``), so that the two can be compared: this one
generates every transition of a removed SCC once more.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 5, and Sec. 5.2 for more
than one mark.

Differences from the source:

- Marks lie on transitions, and the order of ``post`` is "known states first", as
  in `ltlpipe.search.scc.couvreur99`.
- ``remove`` shares the stack with the search.  A state is marked as removed when
  it is put there, so it is put there once.

Invariants, asserted by `assert_consistent`: while nothing is being removed, the
states with a positive number are those whose SCC is not complete, and roots
ascend.

Cost: as `ltlpipe.search.scc.couvreur99` without the dead intervals; two looks at
every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.packed import read_marks
from ltlpipe.search.product import Setting, at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import REMOVED, Couvreur99, enter, merge

if TYPE_CHECKING:
    from collections.abc import Iterator


@inlined
def remove(expand, product, store, registers, arrays, state):
    """Stack the successors that are to be removed, too (lines 6-7)."""
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    numbers = arrays.numbers
    for i in range(n):
        dst = product.ids[i]
        if numbers[dst] > 0:
            numbers[dst] = REMOVED
            arrays.stack[registers[Reg.TOP]] = dst
            registers[Reg.TOP] += 1


@inlined
def leave(registers, arrays, state):
    """End the frame of a state (lines 21-23); a root is removed from now on."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    if arrays.roots[registers[Reg.N_ROOTS] - 1] == arrays.numbers[state]:
        registers[Reg.N_ROOTS] -= 1
        arrays.numbers[state] = REMOVED
        registers[Reg.REMOVE_BASE] = registers[Reg.TOP] + 1  # never 0
        arrays.stack[registers[Reg.TOP]] = state
        registers[Reg.TOP] += 1


@njit
def couvreur99_fig5_step(expand, product, store, registers, arrays, budget):
    """Advance the search of Schwoon & Esparza 2005, Fig. 5.

    After FOUND the states whose number is at least that of the last root are strongly
    connected and their transitions carry every mark.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    full = np.uint32(product.settings[Setting.FULL])
    while budget > 0:
        top = registers[Reg.TOP]
        if registers[Reg.REMOVE_BASE] > top:
            registers[Reg.REMOVE_BASE] = 0  # all is removed
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        number = np.int64(arrays.numbers[entry])
        status = Status.RUNNING
        removing = registers[Reg.REMOVE_BASE] > 0
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if removing:
            remove(expand, product, store, registers, arrays, entry)
            budget -= 1
        elif number >= 0:
            marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
            if number == 0:
                status = enter(expand, product, store, registers, arrays, entry, marks)
                budget -= 1
            else:
                status = merge(registers, arrays, number, marks, full)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Couvreur99Fig5(Couvreur99):
    """The search of Schwoon & Esparza 2005, Fig. 5, to the letter, in progress."""

    name = "couvreur99-fig5"
    kernel = staticmethod(couvreur99_fig5_step)

    def _sweep(self) -> Iterator[None]:
        return iter(())  # states may be given up and come back

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        roots = self.arrays.roots[: self.registers[Reg.N_ROOTS]]
        assert (np.diff(roots) > 0).all()
        if self.registers[Reg.REMOVE_BASE] == 0:
            numbers = self.arrays.numbers[: self.n_stored]
            live = np.sort(numbers[numbers > 0])
            assert len(np.unique(live)) == len(live)
            assert set(roots.tolist()) <= set(live.tolist())

"""The nearest state without a step, breadth first.

States are expanded in the order in which they become known, so no state without
successors is nearer to the initial one than the first that is met.

Cost: nothing per state but its row and its slot; one look at every transition, and
where there is a deadlock, one more at those that were explored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe._jit import njit
from ltlpipe.search.exploring import ONE_PLACE, Exploration
from ltlpipe.search.paths import PathFinder, ProductLasso
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.search.driver import Interrupt


@njit
def deadlock_step(expand, product, store, registers, arrays, budget):
    """Expand at most `budget` >= 1 states, in the order of their numbers.

    `registers` (int64[N_REGISTERS]) is changed in place.  Returns a Status; after
    FOUND the state of `Reg.CLOSING` has no successors.
    """
    while budget > 0:
        state = registers[Reg.VISITED]
        if state == registers[Reg.STORED]:
            return Status.EMPTY
        if is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        if at_limit(registers):
            return Status.LIMIT
        n = visit_successors(
            expand, product, store, registers, state, arrays.counted, ONE_PLACE
        )
        registers[Reg.VISITED] = state + 1
        if n == 0:
            registers[Reg.CLOSING] = state
            return Status.FOUND
        budget -= 1
    return Status.RUNNING


class DeadlockSearch(Exploration):
    """A search for a state without successors in progress."""

    name = "breadth-first"
    kernel = staticmethod(deadlock_step)

    def lasso(self, interrupt: Interrupt | None = None) -> ProductLasso:
        """Return a shortest way to the deadlock, which repeats itself for ever."""
        state = int(self.registers[Reg.CLOSING])
        goal = np.zeros(self.n_stored, dtype=np.bool_)
        goal[state] = True
        finder = PathFinder(self, interrupt)
        prefix = finder.prefix_to(goal)
        return ProductLasso(
            prefix=prefix,
            cycle=np.array([state, state], dtype=np.int32),
            prefix_actions=finder.label(prefix)[0],
            cycle_actions=np.array([-1], dtype=np.int32),
        )

    def statistics(self) -> dict[str, int]:
        """Return nothing: all figures are those of every search."""
        return {}

"""The nearest state without a step, breadth first.

States are expanded in the order in which they become known, so no state without
successors is nearer to the initial one than the first that is met.

Cost: nothing per state but its row and its slot; one look at every transition, and
where there is a deadlock, one more at those that were explored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.search.emptiness import ProductLasso
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job


class DeadlockSearch(Exploration):
    """A search for a state without successors in progress."""

    name = "breadth-first"

    def _begin(self) -> None:
        self.registers[Reg.STOPS] = 1

    def lasso(self) -> Job[ProductLasso]:
        """Return a shortest way to the deadlock, which repeats itself for ever."""
        state = int(self.registers[Reg.CLOSING])
        goal = np.zeros(self.n_stored, dtype=np.bool_)
        goal[state] = True
        finder = PathFinder(self)
        prefix = yield from finder.prefix_to(goal)
        actions, _ = yield from finder.label(prefix)
        return ProductLasso(
            prefix=prefix,
            cycle=np.array([state, state], dtype=np.int32),
            prefix_actions=actions,
            cycle_actions=np.array([-1], dtype=np.int32),
        )

    def statistics(self) -> dict[str, int]:
        """Return nothing: all figures are those of every search."""
        return {}

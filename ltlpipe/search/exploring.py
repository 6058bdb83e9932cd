"""The whole product, breadth first: its size, its Fin marks, its nearest deadlock.

The share of transitions with Fin marks decides how a search for generalised Rabin
acceptance fares: such transitions are where it breaks off.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 5.2.3, which counts the
transitions of the product that are in some Fin set.

Differences from the source: none.

The store gives states their numbers in the order in which they become known, so that
the states that wait are those behind the last one that was expanded: no stack is
needed.  No state without successors is nearer to the initial one than the first that
is met.

Cost: nothing per state but its row and its slot; one look at every transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.driver import advance
from ltlpipe.search.emptiness import ProductLasso, Search
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.registers import PRIVATE, Reg, Status

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_ONE_PLACE = 31
"""Shifts every state id to the one entry of the counters."""


class Exploring(IntEnum):
    """Places in the registers that explorations have beside `Reg`."""

    STOPS = PRIVATE  # whether a deadlock ends it


class Counted(NamedTuple):
    """The arrays of an exploration."""

    fin: np.ndarray  # uint32[1], the Fin marks
    counted: np.ndarray  # int64[1], transitions that carry some of them


@njit
def exploring_step(expand, product, store, registers, arrays, budget):
    """Expand at most `budget` >= 1 states, in the order of their numbers.

    `registers` (int64[N_REGISTERS]) and the arrays are changed in place.  Returns a
    Status, EMPTY when all states have been expanded.  With `Exploring.STOPS`, a state
    without successors ends it: FOUND, and `Reg.CLOSING` is the state.
    """
    fin = arrays.fin[0]
    while budget > 0:
        state = registers[Reg.VISITED]
        if state == registers[Reg.STORED]:
            return Status.EMPTY
        if is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        if at_limit(registers):
            return Status.LIMIT
        n = visit_successors(
            expand, product, store, registers, state, arrays.counted, _ONE_PLACE
        )
        for i in range(n):
            arrays.counted[0] += product.marks[i] & fin != 0
        registers[Reg.VISITED] = state + 1
        if n == 0 and registers[Exploring.STOPS] != 0:
            registers[Reg.CLOSING] = state
            return Status.FOUND
        budget -= 1
    return Status.RUNNING


class Exploration(Search):
    """An exploration of a product in progress; it looks for no run."""

    name = "exploration"
    generalised = True
    emerson_lei = True
    kernel = staticmethod(exploring_step)

    arrays: Counted

    def _layout(self) -> Layout:
        return {}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Counted:
        condition = self.problem.condition
        fin = 0 if condition is None else condition.fin_marks
        return Counted(
            **made,
            fin=np.array([fin], dtype=np.uint32),
            counted=np.zeros(1, dtype=np.int64),
        )

    def _begin(self) -> None:
        """Do nothing: the initial state is stored, and so it waits."""

    @property
    def fin_transitions(self) -> int:
        """Transitions that carry Fin marks, so far."""
        return int(self.arrays.counted[0])

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(np.arange(self.n_stored) < self.registers[Reg.VISITED])

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {"fin_transitions": self.fin_transitions}

    def assert_consistent(self) -> None:
        """Check that what is expanded is stored, and what is counted generated."""
        registers = self.registers
        assert 0 <= registers[Reg.VISITED] <= registers[Reg.STORED]
        assert 0 <= self.fin_transitions <= registers[Reg.TRANSITIONS]


class DeadlockSearch(Exploration):
    """A search for a state without successors in progress."""

    name = "breadth-first"

    def _begin(self) -> None:
        self.registers[Exploring.STOPS] = 1

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


class ProductSize(NamedTuple):
    """The size of the reachable product."""

    states: int
    transitions: int
    # That carry a mark of which the acceptance condition has a Fin term, if it has any.
    fin_transitions: int | None

    @property
    def fin_share(self) -> float | None:
        """The share of transitions with Fin marks; None without Fin or transitions."""
        if self.fin_transitions is None or not self.transitions:
            return None
        return self.fin_transitions / self.transitions


def product_size_of(
    problem: Problem, *, max_states: int | None = None
) -> Job[ProductSize | None]:
    """Explore a product completely; None if it has too many states."""
    search = Exploration(problem)
    outcome = yield from advance(search, max_states=max_states)
    if outcome.reason is not None:
        return None
    condition = problem.condition
    has_fin = condition is not None and condition.fin_marks != 0
    return ProductSize(
        states=int(search.registers[Reg.VISITED]),
        transitions=int(search.registers[Reg.TRANSITIONS]),
        fin_transitions=search.fin_transitions if has_fin else None,
    )

"""The product stored breadth first, level by level, with its transitions.

The states of depth d are stored one after the other, and so are the transitions of a
state: no stack is needed, and a lasso of n steps lies in the first n levels.

Cost: beside its row and slot, 12 bytes per state and 12 per transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, INT64, UINT32
from ltlpipe.search.product import Setting, at_limit, is_full, visit_successors
from ltlpipe.search.registers import PRIVATE, Reg, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_NO_SHIFT = 0


class Breadth(IntEnum):
    """Places in the registers that recordings have beside `Reg`."""

    N_EDGES = PRIVATE  # transitions that are recorded
    N_LEVELS = PRIVATE + 1  # levels that have been begun
    LEVEL_END = PRIVATE + 2  # first state behind the level that is being expanded
    MOST_LEVELS = PRIVATE + 3  # levels to expand
    NEXT_STOP = PRIVATE + 4  # levels after which to return first


class Arrays(NamedTuple):
    """The arrays of a recording: n states, m transitions, d levels."""

    first: np.ndarray  # int64[n], the first transition of each expanded state
    parent: np.ndarray  # int32[n], the state from which each was met first
    dst: np.ndarray  # int32[m]
    marks: np.ndarray  # uint32[m]
    actions: np.ndarray  # int32[m]
    levels: np.ndarray  # int32[d], the first state of each level


@njit
def recording_step(expand, product, store, registers, arrays, budget):
    """Expand at most `budget` >= 1 states of the first ``Breadth.MOST_LEVELS`` levels.

    Returns a Status: EMPTY when all of them have been expanded, and FOUND when
    ``Breadth.NEXT_STOP`` levels have.
    """
    dst, marks, actions = arrays.dst, arrays.marks, arrays.actions
    parent, levels = arrays.parent, arrays.levels
    while budget > 0:
        state = registers[Reg.VISITED]
        if state == registers[Breadth.LEVEL_END]:
            n_levels = registers[Breadth.N_LEVELS]
            stored = registers[Reg.STORED]
            if state == stored or n_levels >= registers[Breadth.MOST_LEVELS]:
                return Status.EMPTY
            if n_levels >= levels.shape[0]:
                return Status.GROW
            levels[n_levels] = state
            registers[Breadth.N_LEVELS] = n_levels + 1
            registers[Reg.DEPTH] = registers[Reg.MAX_DEPTH] = n_levels + 1
            registers[Breadth.LEVEL_END] = stored
            if n_levels == registers[Breadth.NEXT_STOP]:
                return Status.FOUND
        at = registers[Breadth.N_EDGES]
        full = at + product.ids.shape[0] > dst.shape[0]
        if full or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        if at_limit(registers):
            return Status.LIMIT
        known = registers[Reg.STORED]
        n = visit_successors(
            expand, product, store, registers, state, parent, _NO_SHIFT
        )
        arrays.first[state] = at
        for i in range(n):
            target = product.ids[i]
            if target >= known:
                parent[target] = state
            dst[at + i] = target
            marks[at + i] = product.marks[i]
            actions[at + i] = product.row_actions[i]
        registers[Breadth.N_EDGES] = at + n
        registers[Reg.VISITED] = state + 1
        budget -= 1
    return Status.RUNNING


class Recording(Search):
    """A product being recorded; it looks for no run.

    Its `step` returns FOUND at the levels that `stop_at` names, and can go on.

    Parameters
    ----------
    problem : Problem
        The product.
    starts : sequence of int
        The initial states of the property, if they are several.
    """

    name = "recording"
    generalised = True
    emerson_lei = True
    kernel = staticmethod(recording_step)
    array_type = Arrays
    waiting: ClassVar = (Breadth.N_EDGES,)

    arrays: Arrays

    def __init__(self, problem: Problem, starts: Sequence[int] = ()) -> None:
        self._starts = starts
        super().__init__(problem)

    def _new_store(self, initial: np.ndarray) -> None:
        """Store one initial state for each that the property has."""
        settings = self.problem.product.settings
        word, shift = settings[Setting.WORD], np.uint64(settings[Setting.SHIFT])
        rows = np.repeat(initial, max(len(self._starts), 1), axis=0)
        for row, start in zip(rows, self._starts, strict=False):
            row[word] &= ~(np.uint64(settings[Setting.MASK]) << shift)
            row[word] |= np.uint64(start) << shift
        super()._new_store(rows)

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"first": INT64, "parent": INT32},
            Breadth.N_EDGES: {"dst": INT32, "marks": UINT32, "actions": INT32},
            Breadth.N_LEVELS: {"levels": INT32},
        }

    def _begin(self) -> None:
        """Expand the initial states first."""
        self.registers[Breadth.N_LEVELS] = 1
        self.registers[Breadth.LEVEL_END] = self.n_initial

    @property
    def n_initial(self) -> int:
        """The first states are initial ones."""
        return max(len(self._starts), 1)

    @property
    def n_levels(self) -> int:
        """Levels of which all states have been expanded."""
        begun = int(self.registers[Breadth.N_LEVELS])
        done = self.registers[Reg.VISITED] == self.registers[Breadth.LEVEL_END]
        return begun if done else begun - 1

    @property
    def is_complete(self) -> bool:
        """Whether all states have been expanded."""
        return bool(self.registers[Reg.VISITED] == self.registers[Reg.STORED])

    @property
    def has_ended(self) -> bool:
        """Whether all levels that are wanted have been expanded."""
        wanted = self.registers[Breadth.MOST_LEVELS]
        return self.is_complete or bool(self.n_levels >= wanted)

    def stop_at(self, most_levels: int, next_stop: int) -> None:
        """Expand at most so many levels, and return before that after some."""
        self.registers[Breadth.MOST_LEVELS] = most_levels
        self.registers[Breadth.NEXT_STOP] = next_stop

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(np.arange(self.n_stored) < self.registers[Reg.VISITED])

    def assert_consistent(self) -> None:
        """Check that levels and transitions are in order."""
        arrays, registers = self.arrays, self.registers
        first = arrays.first[: registers[Reg.VISITED]]
        assert (np.diff(first) >= 0).all()
        assert (np.diff(arrays.levels[: registers[Breadth.N_LEVELS]]) > 0).all()
        n = self.n_stored
        assert (arrays.parent[1:n] < np.arange(1, n)).all()

"""The whole product, breadth first: its states, its Fin marks, its nearest deadlock.

The store gives states their numbers in the order in which they become known, so that
the states that wait are those behind the last one that was expanded: no stack is
needed.  No state without successors is nearer to the initial one than the first that
is met.

States are expanded before the successors of those before them are looked up, so that
the waits of many look-ups for memory overlap (`BATCH`).

Cost: nothing per state but its row and its slot; one look at every transition.

**Recordings** have the transitions, too: breadth first, or of a product that is stored
already. Breadth first the states of depth d are stored one after the other, level by
level, and a lasso of n steps lies in the first n levels. A search that has found
nothing has stored all states that can be reached; one pass over them writes down their
transitions. The transitions of a state lie one after the other, too, so no stack is
needed.

Cost: a look at every transition; beside row and slot 8 bytes per state and 8 per
transition, and 4 more of each where runs are to be told.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.emptiness import ProductLasso, Search
from ltlpipe.search.growth import INT32, INT64, UINT32
from ltlpipe.search.interning import intern, row_of
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import Setting, at_limit, is_full, successors_behind
from ltlpipe.search.registers import PRIVATE, Reg, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

BATCH = 64
"""Successors behind which no other state is expanded before they are looked up."""

_ONE_PLACE = 31
"""Shifts every state id to the one entry of the counters."""


class Exploring(IntEnum):
    """Places in the registers that explorations have beside `Reg`."""

    STOPS = PRIVATE  # whether a deadlock ends it


class Counted(NamedTuple):
    """The arrays of an exploration."""

    fin: np.ndarray  # uint32[1], the Fin marks
    counted: np.ndarray  # int64[1], transitions that carry some of them


@inlined
def last_of_batch(registers, end, budget):
    """Return the state before which a batch ends, of those before `end`."""
    last = min(end, registers[Reg.MAX_STATES])
    return min(last, registers[Reg.VISITED] + budget)


@specialised
def fits(tree, n):
    """Whether one more state is to be expanded before `n` successors are looked up.

    Not with trees, where a row shares what is known of its source's parts.
    """
    if tree is not None:
        return n == 0
    return n <= BATCH


@inlined
def enter(product, store, registers, first, last, n, companion, shift):
    """Count and store the `n` successors of the states from `first` to before `last`.

    See `ltlpipe.search.product.visit_successors`.
    """
    rows, ids, hashes = product.rows, product.ids, product.hashes
    intern(store, registers, rows, n, ids, hashes, companion, shift)
    registers[Reg.VISITED] = last
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += last - first


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
        last = last_of_batch(registers, registers[Reg.STORED], budget)
        stops = registers[Exploring.STOPS] != 0
        first, n, before = state, 0, -1
        while state < last and fits(store.tree, n) and not (stops and n == before):
            before = n
            n = successors_behind(expand, product, row_of(product, store, state), n)
            state += 1
        enter(product, store, registers, first, state, n, arrays.counted, _ONE_PLACE)
        for i in range(n):
            arrays.counted[0] += product.marks[i] & fin != 0
        if stops and n == before:
            registers[Reg.CLOSING] = state - 1
            return Status.FOUND
        budget -= state - first
    return Status.RUNNING


class _InOrder(Search):
    """A search that expands states in the order of their numbers."""

    generalised = True
    emerson_lei = True

    def __init__(self, problem: Problem, *, known: Search | None = None) -> None:
        super().__init__(problem.with_own_buffers(BATCH), known=known)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(np.arange(self.n_stored) < self.registers[Reg.VISITED])


class Exploration(_InOrder):
    """An exploration of a product in progress; it looks for no run."""

    name = "exploration"
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

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {"fin_transitions": self.fin_transitions}


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


_NO_SHIFT = 0
_ALL_LEVELS = 1 << 62


class Breadth(IntEnum):
    """Places in the registers that recordings have beside `Reg`."""

    N_EDGES = PRIVATE  # transitions that are recorded
    N_LEVELS = PRIVATE + 1  # levels that have been begun
    LEVEL_END = PRIVATE + 2  # first state behind the level that is being expanded
    MOST_LEVELS = PRIVATE + 3  # levels to expand
    NEXT_STOP = PRIVATE + 4  # levels after which to return first


class Arrays(NamedTuple):
    """The arrays of a recording: n states, m transitions, d levels."""

    ends: np.ndarray  # int64[n], where the transitions of each expanded state end
    dst: np.ndarray  # int32[m]
    marks: np.ndarray  # uint32[m]
    levels: np.ndarray  # int32[d], the first state of each level
    parent: Any = None  # int32[n], whence each was met first, or None
    actions: Any = None  # int32[m], or None


@njit
def recording_step(expand, product, store, registers, arrays, budget):
    """Expand at most `budget` >= 1 states of the first ``Breadth.MOST_LEVELS`` levels.

    Returns a Status: EMPTY when all of them have been expanded, and FOUND when
    ``Breadth.NEXT_STOP`` levels have.
    """
    dst, marks, levels = arrays.dst, arrays.marks, arrays.levels
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
        last = last_of_batch(registers, registers[Breadth.LEVEL_END], budget)
        first, n = state, 0
        while state < last and fits(store.tree, n):
            n = successors_behind(expand, product, row_of(product, store, state), n)
            arrays.ends[state] = at + n
            state += 1
        enter(product, store, registers, first, state, n, arrays.ends, _NO_SHIFT)
        for i in range(n):
            dst[at + i] = product.ids[i]
            marks[at + i] = product.marks[i]
        note_ways(arrays.parent, arrays, product, known, first, n, at)
        registers[Breadth.N_EDGES] = at + n
        budget -= state - first
    return Status.RUNNING


@specialised
def note_ways(parent, arrays, product, known, state, n, at):
    """Note by which actions `n` successors are met, and whence those not `known` are.

    They are those of `state` and the states behind it, and begin at the place `at`.
    """
    if parent is None:
        return
    for i in range(n):
        while arrays.ends[state] == at + i:
            state += 1
        if product.ids[i] == known:  # met first: numbers are given in this order
            parent[known] = state
            known += 1
        arrays.actions[at + i] = product.row_actions[i]


class Recording(_InOrder):
    """A product being recorded; it looks for no run.

    Its `step` returns FOUND at the levels that `stop_at` names, and can go on.

    Parameters
    ----------
    problem : Problem
        The product.
    starts : sequence of int
        The initial states of the property, if they are several.
    known : Search, optional
        A search that has stored all states; there are no levels then.
    ways : bool
        Whether runs are to be told: where states come from, and by which actions.
    """

    name = "recording"
    kernel = staticmethod(recording_step)
    array_type = Arrays
    waiting: ClassVar = (Breadth.N_EDGES,)

    arrays: Arrays

    def __init__(
        self,
        problem: Problem,
        starts: Sequence[int] = (),
        *,
        known: Search | None = None,
        ways: bool = True,
    ) -> None:
        self._starts, self._ways = starts, ways
        super().__init__(problem, known=known)

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
        ways: Any = {"parent": INT32}, {"actions": INT32}
        of_states, of_edges = ways if self._ways else ({}, {})
        return {
            Reg.STORED: {"ends": INT64, **of_states},
            Breadth.N_EDGES: {"dst": INT32, "marks": UINT32, **of_edges},
            Breadth.N_LEVELS: {"levels": INT32},
        }

    def _begin(self) -> None:
        """Expand the states that are stored first."""
        self.registers[Breadth.N_LEVELS] = 1
        self.registers[Breadth.LEVEL_END] = self.n_stored
        self.registers[Breadth.MOST_LEVELS] = _ALL_LEVELS

    @property
    def n_initial(self) -> int:
        """The first states are initial ones."""
        return max(len(self._starts), 1)

    @property
    def n_transitions(self) -> int:
        """Transitions recorded so far."""
        return int(self.registers[Breadth.N_EDGES])

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

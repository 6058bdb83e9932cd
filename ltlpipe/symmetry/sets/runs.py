"""Accepting runs through the sets of a search that has found some.

The run of sets is looked for breadth first among the active ones: first from an initial
set to the last SCC, then round inside of it until all marks have been seen.  An active
set is a successor of another one if it is *included* in what the successor function
gives: each of its states has a predecessor there (property 5), and no more is needed.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 5.

Differences from the source: there the states of the sets are searched, restricted to
the sets; here only the sets are, and what runs through them is then read backwards.

Cost: 12 bytes per active set while it runs, which count towards the limit of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import OutOfMemoryError
from ltlpipe.search.registers import Reg
from ltlpipe.symmetry.sets.inclusion_checks import chain_of, generate, operate

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.sets.powerset_search import PowersetSearch

_BUDGET = 1 << 10


class Front(NamedTuple):
    """The arrays of a breadth-first search over n active sets.

    Those about a set have its place, which is its number minus 1.
    """

    queue: np.ndarray  # int32[n], sets
    parent: np.ndarray  # int32[n], the set before it plus 1, 0 for none
    marks: np.ndarray  # uint32[n], marks of the transition from there
    ends: np.ndarray  # int64[6], first and last of the queue, then what was found,
    # and whether the first set of the queue has more successors


FRONT_BYTES = 12
"""Of a `Front`, per active set."""


class SetRun(NamedTuple):
    """An accepting run of sets, by their ids, int64[k], and marks, uint32[k - 1]."""

    prefix: np.ndarray
    prefix_marks: np.ndarray
    cycle: np.ndarray  # begins with the last of the prefix and ends with it
    cycle_marks: np.ndarray


@njit
def spread(
    successors,
    includes,
    key_of,
    tables,
    own_tables,
    rows,
    arrays,
    front,
    lowest,
    wanted,
    goal,
    budget,
):
    """Go on breadth first from the sets in the queue.

    It returns after `budget` units of work, successors and comparisons, or some
    successors more; these are generated with tables of their own (`own_tables`).
    Only active sets are in the chains of `arrays`, and those numbered below `lowest`
    are not entered.  The goal is a transition with one of the marks `wanted` or, if
    that is 0, to the set `goal`.  Returns 1 if it is reached, 0 if not yet, -1 if it
    cannot be, and -2 if the results of an operation need more room.  `front` is changed
    in place; ``ends[2:]`` is written at the goal: the last transition's two sets and
    its marks.
    """
    index = arrays.chains
    ends = front.ends
    work = np.int64(0)
    while work < budget:
        if ends[0] == ends[1]:
            return -1
        state = np.int64(front.queue[ends[0]])
        row = rows[state]
        n, more = generate(successors, own_tables, arrays, row, ends[5] != 0)
        if n < 0:
            return -2
        ends[0] += 0 if more else 1
        ends[5] = more
        work += 1 + n
        for i in range(n):
            row = arrays.out_rows[i]
            key = operate(key_of, tables, arrays, row, row) | 1
            following = np.int64(index.heads[chain_of(index, key)])
            while following > 0:
                other = following - 1
                following = np.int64(index.following[other])
                number = np.int64(arrays.numbers[other])
                if index.keys[other] != key or number < lowest:
                    continue
                marks = arrays.out_marks[i]
                reached = (wanted == 0 and other == goal) or (marks & wanted) != 0
                if front.parent[number - 1] != 0 and not reached:
                    continue
                work += 1
                if operate(includes, tables, arrays, row, rows[other]) == 0:
                    continue
                if reached:
                    ends[2] = state
                    ends[3] = other
                    ends[4] = marks
                    return 1
                front.parent[number - 1] = state + 1
                front.marks[number - 1] = marks
                front.queue[ends[1]] = other
                ends[1] += 1
    return 0


class SetRuns:
    """Looks for runs in the sets of a search that has ended with FOUND.

    The search's index is changed; `extraction_bytes` is what its own arrays have taken.
    """

    def __init__(self, search: PowersetSearch) -> None:
        self.search = search
        self.extraction_bytes = 0
        search.index_active()

    def accepting(self) -> Job[SetRun]:
        """Return an accepting run of sets; raises `StoppedError` without memory."""
        registers, arrays = self.search.registers, self.search.arrays
        root = int(arrays.roots[registers[Reg.N_ROOTS] - 1])
        start = int(arrays.active[root - 1])
        n_initial = len(self.search.automaton.initial)
        initial = [s for s in range(n_initial) if arrays.numbers[s] > 0]
        prefix, prefix_marks = np.array([start]), np.zeros(0, dtype=np.uint32)
        if start not in initial:
            prefix, prefix_marks = yield from self._path(initial, 1, 0, start)
        cycle, marks = [np.array([start])], [np.zeros(0, dtype=np.uint32)]
        missing = int(registers[Reg.ALL_MARKS])
        while missing:
            path, seen = yield from self._path([int(cycle[-1][-1])], root, missing, -1)
            cycle.append(path[1:])
            marks.append(seen)
            missing &= ~int(np.bitwise_or.reduce(seen))
        if len(cycle) == 1 or cycle[-1][-1] != start:
            path, seen = yield from self._path([int(cycle[-1][-1])], root, 0, start)
            cycle.append(path[1:])
            marks.append(seen)
        return SetRun(
            prefix, prefix_marks, np.concatenate(cycle), np.concatenate(marks)
        )

    def _path(
        self, starts: list[int], lowest: int, wanted: int, goal: int
    ) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return a shortest path of sets, at least one step long, and its marks."""
        numbers = self.search.arrays.numbers
        front = yield from self._new_front(len(starts))
        front.queue[: len(starts)] = starts
        front.parent[numbers[starts] - 1] = np.array(starts) + 1
        yield from self._spread(front, lowest, wanted, goal)
        state, other, last = front.ends[2:5].tolist()
        states, marks = [other], [last]
        while state not in starts:
            states.append(state)
            place = numbers[state] - 1
            marks.append(int(front.marks[place]))
            state = int(front.parent[place]) - 1
        states.append(state)
        return np.array(states[::-1]), np.array(marks[::-1], dtype=np.uint32)

    def _progress(self, n_sets: int = 0) -> Progress:
        """Return what is said after so many sets."""
        search = self.search
        return Progress(
            EXTRACTING,
            work=n_sets * search.unit_work,
            memory_bytes=search.memory_bytes + self.extraction_bytes,
        )

    def _new_front(self, n_starts: int) -> Job[Front]:
        """Return the arrays of a search from so many sets, if there is memory."""
        n = int(self.search.registers[Reg.COUNT])
        self.extraction_bytes = FRONT_BYTES * n
        grant = yield self._progress()
        if self.search.memory_bytes + self.extraction_bytes > grant.memory_bytes:
            raise StoppedError(MEMORY)
        return Front(
            queue=np.zeros(n, dtype=np.int32),
            parent=np.zeros(n, dtype=np.int32),
            marks=np.zeros(n, dtype=np.uint32),
            ends=np.array([0, n_starts, 0, 0, 0, 0], dtype=np.int64),
        )

    def _spread(self, front: Front, lowest: int, wanted: int, goal: int) -> Job[None]:
        search = self.search
        operations, tables = search.operations, search.automaton.tables
        own_tables = tables._replace(
            scratch=tables.scratch.copy(), step_rows=tables.step_rows.copy()
        )
        while True:
            reached = yield from called(
                spread,
                operations.successors,
                operations.includes,
                operations.key,
                tables,
                own_tables,
                search.store.rows,
                search.arrays,
                front,
                lowest,
                np.uint32(wanted),
                goal,
                _BUDGET,
            )
            if reached == 1:
                return
            if reached == -1:
                raise ReplayError("the search reported a run that is not there")
            grant = yield self._progress(_BUDGET)
            if reached == -2:
                yield from self._grow(grant.memory_bytes)

    def _grow(self, memory_bytes: float) -> Job[None]:
        """Make room for more results of an operation, within the memory of all."""
        self.search.registers[Reg.MORE] = 1
        try:
            for _ in self.search.grow(memory_bytes - self.extraction_bytes):
                yield self._progress(0)
        except OutOfMemoryError as error:
            raise StoppedError(MEMORY) from error

"""Accepting runs through the sets of a search that has found some.

The run of sets is looked for breadth first among the active ones: first from an initial
set to the last SCC, then round inside of it until all marks have been seen.  An active
set is a successor of another one if it is *included* in what the successor function
gives: each of its states has a predecessor there (property 5), and no more is needed.

That run of sets is read backwards: each marking of a set has a predecessor in the set
before it, by a step of the net that the property follows with the marks of the run.
Turn after turn round the cycle of sets the walk goes on until it comes to a marking a
second time at the same place; from there it is walked back to the initial marking.
Nothing has to be searched.  Moves and propositions are those of plain Python: neither
the tables of the search nor its representatives have a part in the marking that comes
before, but for whether it is in a set.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 5.

Differences from the source: there the states of the sets are searched forwards,
restricted to the sets of the SCCs on the stack; here only the sets are.

Cost: 12 bytes per active set while it runs, which count towards the limit of memory.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import OutOfMemoryError
from ltlpipe.search.registers import Reg
from ltlpipe.symmetry.sets.inclusion_checks import chain_of, generate, key_of, operate
from ltlpipe.symmetry.sets.tables import single_set
from ltlpipe.systems.nets.coloured.bindings import first_alike
from ltlpipe.systems.propositions.letters import Letters
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.sets.powerset_search import PowersetSearch
    from ltlpipe.symmetry.sets.tables import Made
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

_BUDGET = 1 << 10


class At(IntEnum):
    """Places in the registers of `spread`."""

    FIRST = 0  # of the queue
    END = 1  # of the queue
    MORE = 2  # whether the first set of the queue has more successors
    LOWEST = 3  # sets that are numbered below are not entered
    WANTED = 4  # marks of which the transition looked for has one; or 0 and ...
    GOAL = 5  # ... it leads to this set
    SOURCE = 6  # the transition that has been found
    TARGET = 7
    MARKS = 8


class Front(NamedTuple):
    """The arrays of a breadth-first search over n active sets.

    Those about a set have its place, which is its number minus 1.
    """

    queue: np.ndarray  # int32[n], sets
    parent: np.ndarray  # int32[n], the set before it plus 1, 0 for none
    marks: np.ndarray  # uint32[n], marks of the transition from there
    at: np.ndarray  # int64[len(At)]


FRONT_BYTES = 12
"""Of a `Front`, per active set."""


class SetRun(NamedTuple):
    """An accepting run of sets, by their ids, int64[k], and marks, uint32[k - 1]."""

    prefix: np.ndarray
    prefix_marks: np.ndarray
    cycle: np.ndarray  # begins with the last of the prefix and ends with it
    cycle_marks: np.ndarray


@njit
def spread(operations, own, rows, arrays, front, budget):
    """Go on breadth first from the sets in the queue.

    It returns after `budget` units of work, successors and comparisons, or some
    successors more; these are generated with tables of their own (those of `own`).
    Only active sets are in the chains of `arrays`.  Returns 1 if what is looked for is
    reached, 0 if not yet, -1 if it cannot be, and -2 if the results of an operation
    need more room.  `front` is changed in place.
    """
    index, at = arrays.chains, front.at
    work = np.int64(0)
    while work < budget:
        if at[At.FIRST] == at[At.END]:
            return -1
        state = np.int64(front.queue[at[At.FIRST]])
        n, more = generate(own, arrays, rows[state], at[At.MORE] != 0)
        if n < 0:
            return -2
        at[At.FIRST] += 0 if more else 1
        at[At.MORE] = more
        work += 1 + n
        for i in range(n):
            row = arrays.out_rows[i]
            key = key_of(operations, arrays, row)
            following = np.int64(index.heads[chain_of(index, key)])
            while following > 0:
                other = following - 1
                following = np.int64(index.following[other])
                number = np.int64(arrays.numbers[other])
                if index.keys[other] != key or number < at[At.LOWEST]:
                    continue
                marks = np.int64(arrays.out_marks[i])
                wanted = at[At.WANTED]
                reached = marks & wanted != 0
                reached = reached or (wanted == 0 and other == at[At.GOAL])
                if front.parent[number - 1] != 0 and not reached:
                    continue
                work += 1
                part = rows[other]
                if operate(operations.includes, operations, arrays, row, part) == 0:
                    continue
                if reached:
                    at[At.SOURCE] = state
                    at[At.TARGET] = other
                    at[At.MARKS] = marks
                    return 1
                front.parent[number - 1] = state + 1
                front.marks[number - 1] = marks
                front.queue[at[At.END]] = other
                at[At.END] += 1
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
        front = yield from self._new_front()
        front.at[: At.SOURCE] = 0, len(starts), 0, lowest, wanted, goal
        front.queue[: len(starts)] = starts
        front.parent[numbers[starts] - 1] = np.array(starts) + 1
        yield from self._spread(front)
        state, other, last = front.at[At.SOURCE :].tolist()
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

    def _new_front(self) -> Job[Front]:
        """Return the arrays of a search, if there is memory."""
        n = int(self.search.registers[Reg.COUNT])
        self.extraction_bytes = FRONT_BYTES * n
        grant = yield self._progress()
        if self.search.memory_bytes + self.extraction_bytes > grant.memory_bytes:
            raise StoppedError(MEMORY)
        queue, parent = np.zeros((2, n), dtype=np.int32)
        at = np.zeros(len(At), dtype=np.int64)
        return Front(queue, parent, np.zeros(n, dtype=np.uint32), at)

    def _spread(self, front: Front) -> Job[None]:
        search = self.search
        operations, tables = search.operations, search.automaton.tables
        own = tables._replace(
            scratch=tables.scratch.copy(), step_rows=tables.step_rows.copy()
        )
        while True:
            reached = yield from called(
                spread,
                operations,
                operations._replace(tables=own),
                search.store.rows,
                search.arrays,
                front,
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


_TICKS = 20  # microseconds for a state that is looked at, roughly

STUTTER = -1
"""The action of the step in which a deadlocked marking repeats itself."""


class State(NamedTuple):
    """A state of the product."""

    local: tuple[int, ...]  # the marking
    watching: int  # state of the property


class NetSteps:
    """The product of a net and a property, with steps backwards.

    Parameters
    ----------
    net : SymmetricNet
        States are its markings.
    propositions : sequence of Expression
        Letters are sets of them.
    automaton : PropertyAutomaton
        What is searched for.
    made : Made
        The symbolic product, which says what is where in rows.
    stutter : bool
        Whether a marking without successors repeats itself for ever.
    ends : sequence of int
        States of the property in which every marking does.
    """

    def __init__(
        self,
        net: SymmetricNet,
        propositions: Sequence[Expression],
        automaton: PropertyAutomaton,
        made: Made,
        *,
        stutter: bool,
        ends: Sequence[int] = (),
    ) -> None:
        self.ends = frozenset(ends)
        self.net = net
        self.automaton = automaton
        self.made = made
        self.stutter = stutter
        self._letters = Letters(propositions)

    def state_of(self, row: np.ndarray) -> State:
        """Return the representative of a row."""
        tokens = (0 if p is None else _read(row, p) for p in self.made.places)
        return State(tuple(tokens), _read(row, self.made.of_property))

    def set_of(self, state: State) -> np.ndarray | None:
        """Return the row of the set that holds just this; None if it does not fit."""
        made = self.made
        tables = made.automaton.tables
        return single_set(made.places, made.of_property, tables, *state)

    def predecessors(
        self,
        after: State,
        blocks: list[int],
        watching: int,
        marks: int,
    ) -> Iterator[tuple[int, State] | None]:
        """Yield actions and states of the product from which one step leads to a state.

        The property is in state `watching` before, and the step has these marks;
        `blocks` are those of the members in the set before.  None
        is yielded wherever the search for the next one may take long.  Those come first
        in which the first of the colours that look alike are bound; then all.
        """
        repeated = State(after.local, watching)
        letter = self._letters.of(after.local, STUTTER)
        repeats = self._goes(letter, watching, after.watching, marks)
        if repeats and watching in self.ends:  # first: the others may be millions
            yield STUTTER, repeated
        first = first_alike(self.net.coloured, self._alike(after.local, blocks))
        for admits in (first, None):
            for step in self.net.firing.each_step_onto(after.local, admits):
                yield None
                if step is None:
                    continue
                letter = self._letters.of(step.state, step.action)
                if self._goes(letter, watching, after.watching, marks):
                    yield step.action, State(step.state, watching)
        if repeats and self.stutter and self.net.firing.is_dead(after.local):
            yield STUTTER, repeated

    def _alike(
        self, tokens: tuple[int, ...], blocks: list[int]
    ) -> dict[tuple[int, int], list[int]]:
        """Return the colours of one block that look alike in a marking, for each."""
        members = self.made.members
        said: dict[tuple[int, int], list[object]] = {m: [] for m in members}
        for cell, count in enumerate(tokens):
            if not count:
                continue
            place, colours = self.net.cells.split(cell)
            pairs = list(zip(self.net.cells.domains[place], colours, strict=True))
            for pair in dict.fromkeys(pairs):
                others = tuple(None if other == pair else other for other in pairs)
                if pair in said:
                    said[pair].append((place, others, count))
        groups: dict[object, list[int]] = defaultdict(list)
        keys = {}
        for member, block in zip(members, blocks, strict=True):
            keys[member] = (block, member[0], tuple(said[member]))
            groups[keys[member]].append(member[1])
        return {member: groups[key] for member, key in keys.items()}

    def _goes(self, letter: int, src: int, dst: int, marks: int) -> bool:
        table = self.automaton
        at = src * table.n_letters + letter
        own = slice(*table.first_edge[at : at + 2])
        ends, seen = table.edge_dst[own], table.edge_marks[own]
        return bool(((ends == dst) & (seen == marks)).any())


def _read(row: np.ndarray, place: Field) -> int:
    return int(row[place.word]) >> place.shift & place.mask


def run_through(underlying: NetSteps, search: PowersetSearch, sets: SetRun) -> Job[Run]:
    """Return an accepting run whose states are in the sets of an accepting run of sets.

    Raises `StoppedError` if it is longer than `most_steps` allows, and ReplayError if
    a state has no predecessor: then the sets are not what they should be.
    """
    grant = yield Progress(EXTRACTING, memory_bytes=search.memory_bytes)
    most = most_steps(grant.memory_bytes, len(underlying.made.places))
    ticks = Ticks(EXTRACTING, _TICKS, search.memory_bytes)
    steps: list[tuple[int, State]] = []  # backwards: an action, the state before it
    turns: list[tuple[int, State]] = []  # those of the cycle

    def back(after: State, set_before: int, marks: int) -> Job[State]:
        """Step from a state to one before it, in a set."""
        if len(steps) + len(turns) >= most:
            raise StoppedError(MEMORY)
        whole = search.store.rows[set_before]
        watching = underlying.state_of(whole).watching
        blocks = [_read(whole, field) for field in underlying.made.of_members]
        for step in underlying.predecessors(after, blocks, watching, marks):
            yield from ticks.worked()
            if step is None:
                continue
            row = underlying.set_of(step[1])
            if row is not None and search.includes(whole, row):
                steps.append(step)
                return step[1]
        raise ReplayError("a state of a set has no predecessor in the set before it")

    cycle, marks = sets.cycle.tolist(), sets.cycle_marks.tolist()
    length = len(marks)
    at, state = length, underlying.state_of(search.store.rows[cycle[0]])
    seen: dict[tuple[int, State], int] = {}
    while (at, state) not in seen:
        seen[at, state] = len(steps)
        state = yield from back(state, cycle[at - 1], marks[at - 1])
        at = at - 1 or length
    turns = steps[seen[at, state] :]
    # The prefix leads to the set at the cycle's beginning: go on to there.
    steps, first = [], state
    while at != length:
        state = yield from back(state, cycle[at - 1], marks[at - 1])
        at = at - 1 or length
    for k in range(len(sets.prefix) - 1, 0, -1):
        state = yield from back(
            state, sets.prefix[k - 1], int(sets.prefix_marks[k - 1])
        )
    run = [*turns, *steps][::-1]
    states = [state.local for _, state in run] + [first.local]
    return Run(
        np.array([action for action, _ in run], dtype=np.int64),
        np.array(states, dtype=np.int64),
        len(steps),
    )

"""Is there an accepting cycle in a graph whose transitions are stored already?

States and transitions are numbers, so nothing is packed, generated, looked up or
copied: transitions are read where the graph keeps them, as lists.

Sources: as `ltlpipe.search.scc.tela`; for conditions without Fin this is J.-M.
Couvreur, "On-the-Fly Verification of Linear Temporal Logic", FM 1999, LNCS 1708.

Differences from `tela`: a state's transitions are followed one by one, from a frame
that knows the next one, instead of being stacked; there is one pass, which avoids
nothing.  What happens between SCCs is the same code.

Invariants: those of `tela`; the frame at k has the place in Current of its state.

Cost: 28 bytes per state, and four more where a condition has Fin, those that cannot be
reached included; nine more while a run is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import Progress, reserved
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.acceptance import Formula, holds, implicant, tabulate
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.product import MAX_MARKS
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.scc.rules import REMOVED
from ltlpipe.search.scc.tela import (
    WAITING,
    Level,
    TelaReg,
    choose,
    complete,
    end_search,
    next_state,
)

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.graphs import Lists
    from ltlpipe.runtime.jobs import Job

_BUDGET = 1 << 20  # transitions that one call of a kernel looks at
_STEP_WORK = 0.03  # microseconds of one
_FIRST_ROWS = 8
_PATH_BYTES = 9  # per state, while a path is looked for


class Arrays(NamedTuple):
    """The arrays of one search of n states; those that `tela` has say the same."""

    numbers: np.ndarray  # int32[n]
    current: np.ndarray  # int32[c]
    cursors: np.ndarray  # int32[n + 1], next transition of the states on the path, or 0
    places: np.ndarray  # int32[n + 1], and where these states are in Current
    roots: np.ndarray  # int32[n + 1]
    root_marks: np.ndarray  # uint32[n + 1]
    entry_marks: np.ndarray  # uint32[n + 1]
    fstates: np.ndarray  # int32[0]
    levels: np.ndarray  # int64[MAX_MARKS + 2, len(Level)]
    rows: np.ndarray  # uint8[a, m]
    formula: Formula
    goal: Formula
    necessary: np.ndarray  # uint32[2]: marks that each cycle needs; all Fin marks


@njit
def walk(lists, registers, arrays, entered, budget):
    """Search on, on one level, from a state to be entered if it is not -1.

    Returns a Status and the budget that is left: EMPTY if nothing is left on the path
    of the level; LIMIT if the SCC of the last root is complete and has to be judged.
    """
    dst, marks_of, following = lists.dst, lists.marks, lists.following
    first, used = lists.first, np.uint32(lists.used)
    numbers, current = arrays.numbers, arrays.current
    cursors, places = arrays.cursors, arrays.places
    roots, inside, arcs = arrays.roots, arrays.root_marks, arrays.entry_marks
    necessary, fins = arrays.necessary
    level = registers[TelaReg.LEVEL]
    fields = arrays.levels[level]
    below, base = fields[Level.END], fields[Level.STACK_BASE]
    avoided = np.uint32(fields[Level.AVOIDED])
    unknown = np.int32(WAITING - level if level > 0 else 0)
    accepts_none = registers[Reg.EMPTY_ACCEPTS] != 0
    top, n_live = registers[Reg.TOP], registers[TelaReg.N_CURRENT]
    n_roots, depth = registers[Reg.N_ROOTS], registers[Reg.MAX_DEPTH]
    count = np.int64(0)
    left = budget
    arc, taken = np.uint32(0), np.int64(0)
    state = np.int64(entered)
    status = Status.EMPTY
    while True:
        if state >= 0:  # enter it
            if n_live == current.shape[0]:
                status = Status.GROW
                cursors[top - 1] = taken  # once more
                break
            current[n_live] = state
            n_live += 1
            numbers[state] = n_live
            cursors[top] = first[state]
            places[top] = n_live
            roots[n_roots] = n_live
            inside[n_roots] = 0
            arcs[n_roots] = arc
            n_roots += 1
            top += 1
            depth = max(depth, top)
            count += 1
            state = np.int64(-1)
        if top == base:
            break
        edge = np.int64(cursors[top - 1])
        if edge == 0:
            place = places[top - 1]
            top -= 1
            if roots[n_roots - 1] == place:
                if inside[n_roots - 1] & fins != 0:
                    status = Status.LIMIT
                    break
                n_roots -= 1
                for i in range(place - 1, n_live):
                    numbers[current[i]] = REMOVED
                n_live = np.int64(place - 1)
            continue
        if left <= 0:
            status = Status.RUNNING
            break
        left -= 1
        cursors[top - 1] = following[edge]
        marks = marks_of[edge] & used
        if marks & avoided != 0:
            continue
        target = np.int64(dst[edge])
        number = numbers[target]
        if number == unknown:
            state = target
            arc = marks
            taken = edge
        elif number > below:
            last = n_roots - 1
            while roots[last] > number:
                marks |= inside[last] | arcs[last]
                last -= 1
            n_roots = last + 1
            before = inside[last]
            marks |= before
            inside[last] = marks
            if (
                marks & necessary == necessary
                and (marks != before or (marks == 0 and accepts_none))
                and holds(arrays.goal, marks)
            ):
                status = Status.FOUND
                break
    registers[Reg.TOP] = top
    registers[TelaReg.N_CURRENT] = n_live
    registers[Reg.N_ROOTS] = n_roots
    registers[Reg.MAX_DEPTH] = depth
    registers[Reg.TRANSITIONS] += budget - left
    if level == 0:
        registers[Reg.VISITED] += count
    return status, left


@njit
def stored_step(lists, registers, arrays, initial, budget):
    """Search on by about `budget` transitions; returns a Status.

    After FOUND the states of Current from the last root on are strongly connected by
    transitions whose marks are those of the root, and these satisfy the condition.
    """
    entered = np.int64(-1)
    if registers[Reg.VISITED] == 0:
        entered = np.int64(initial)
    while budget > 0:
        if registers[TelaReg.N_ROWS] + 1 >= arrays.rows.shape[0]:
            return Status.GROW
        if registers[TelaReg.IS_CHOOSING] != 0:
            choose(registers, arrays)
            continue
        level = registers[TelaReg.LEVEL]
        if entered < 0 and registers[Reg.TOP] == arrays.levels[level, Level.STACK_BASE]:
            if level == 0:
                return Status.EMPTY
            entered = next_state(registers, arrays)
            if entered < 0:
                end_search(registers, arrays)
                continue
            if registers[TelaReg.N_CURRENT] == arrays.current.shape[0]:
                return Status.GROW
        status, budget = walk(lists, registers, arrays, entered, budget)
        entered = np.int64(-1)
        if status == Status.LIMIT:
            root = registers[Reg.N_ROOTS] - 1
            registers[Reg.N_ROOTS] = root
            complete(registers, arrays, arrays.roots[root] - 1, arrays.root_marks[root])
            budget -= 1
        elif status != Status.EMPTY:
            return status
    return Status.RUNNING


@njit
def path_step(lists, flags, parents, queue, ends, missing, avoid, budget):
    """Look for the nearest transition that carries one of the marks `missing`.

    With `missing` 0: the nearest one into a state whose flag is 3.  No transition has a
    mark of `avoid`, and only states with a flag are entered.  Returns whether the
    search has ended; then ``ends[2]`` is the transition, or 0.

    parents uint32[n] has the transitions by which states were entered; ends int64[3]
    also where the queue begins and ends.
    """
    used = np.uint32(lists.used)
    while ends[0] < ends[1] and budget > 0:
        edge = np.int64(lists.first[queue[ends[0]]])
        ends[0] += 1
        while edge != 0:
            budget -= 1
            target = np.int64(lists.dst[edge])
            marks = lists.marks[edge] & used
            if flags[target] != 0 and marks & avoid == 0:
                if (missing == 0 and flags[target] == 3) or marks & missing != 0:
                    ends[2] = edge
                    return True
                if parents[target] == 0:
                    parents[target] = edge
                    queue[ends[1]] = target
                    ends[1] += 1
            edge = np.int64(lists.following[edge])
    return ends[0] == ends[1]


class StoredSearch:
    """The search of a graph in progress; `lists` are its transitions.

    `condition` is what a cycle has to satisfy, over the marks that are used.
    """

    def __init__(self, lists: Lists, initial: int, condition: Condition) -> None:
        self.lists, self.initial, self.condition = lists, initial, condition
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)

    @property
    def bytes_per_state(self) -> int:
        """Bytes of the arrays of a search, per state."""
        return 32 if self.condition.fin_marks else 28

    def figures(self) -> dict[str, Any]:
        """Return what statistics say of the search."""
        names = "states", "transitions", "max_depth"
        places = [Reg.VISITED, Reg.TRANSITIONS, Reg.MAX_DEPTH]
        told = dict(zip(names, self.registers[places].tolist(), strict=True))
        return told | {"bytes_per_state": float(self.bytes_per_state)}

    def _begin(self) -> Arrays:
        n = len(self.lists.first)
        formula = tabulate(self.condition)
        self.registers[TelaReg.N_ROWS] = 1
        self.registers[Reg.EMPTY_ACCEPTS] = self.condition.satisfied_by(0)
        needed = _necessary(self.condition), self.condition.fin_marks
        n_current = 2 * n if self.condition.fin_marks else n
        kinds = 3 * [np.int32] + 2 * [np.uint32]
        made: list[Any] = [
            np.zeros(n, dtype=np.int32),
            np.zeros(n_current, dtype=np.int32),
            *(np.zeros(n + 1, dtype=kind) for kind in kinds),
            np.zeros(0, dtype=np.int32),
            np.zeros((MAX_MARKS + 2, len(Level)), dtype=np.int64),
            np.zeros((_FIRST_ROWS, len(formula.ops)), dtype=np.uint8),
        ]
        necessary = np.array(needed, dtype=np.uint32)
        return Arrays._make([*made, formula, formula, necessary])

    def found(self) -> Job[bool]:
        """Return whether there is an accepting cycle."""
        held = self.bytes_per_state * len(self.lists.first)
        yield from reserved("searching", held)
        self.arrays = self._begin()
        while True:
            status = yield from called(
                stored_step,
                self.lists,
                self.registers,
                self.arrays,
                self.initial,
                _BUDGET,
            )
            if status in (Status.EMPTY, Status.FOUND):
                return bool(status == Status.FOUND)
            if status == Status.GROW:
                yield from self._grow()
            visited = int(self.registers[Reg.VISITED])
            yield Progress("searching", _BUDGET * _STEP_WORK, held, visited)

    def _grow(self) -> Job[None]:
        """Double what is full: alternatives, or Current."""
        arrays, name = self.arrays, "rows"
        if self.registers[TelaReg.N_CURRENT] == len(arrays.current):
            name = "current"
        before = getattr(arrays, name)
        yield from reserved("searching", total_bytes(arrays) + before.nbytes)
        grown: Any = {name: np.concatenate([before, np.zeros_like(before)])}
        self.arrays = arrays._replace(**grown)

    def run(self) -> Job[tuple[list[int], int]]:
        """Return the transitions of a short accepting run, and how many come first."""
        arrays, registers = self.arrays, self.registers
        root = registers[Reg.N_ROOTS] - 1
        live = arrays.current[arrays.roots[root] - 1 : registers[TelaReg.N_CURRENT]]
        clause = implicant(self.condition, int(arrays.root_marks[root]))
        if clause is None:
            raise ReplayError("the search reported an SCC that is not accepting")
        avoid, wanted = clause
        flags = np.ones(len(self.lists.first), dtype=np.uint8)
        flags[live] = 3
        prefix = []
        start = self.initial
        if flags[start] != 3:
            prefix = yield from self._path(start, flags)
            start = int(self.lists.dst[prefix[-1]])
        flags[:] = 0
        flags[live] = 1
        cycle: list[int] = []
        state, seen = start, 0
        while wanted & ~seen or state != start or not cycle:
            flags[start] = 1 if wanted & ~seen else 3
            piece = yield from self._path(state, flags, wanted & ~seen, avoid)
            marks = self.lists.marks[piece]
            seen |= int(np.bitwise_or.reduce(marks)) & self.lists.used
            cycle += piece
            state = int(self.lists.dst[piece[-1]])
        return prefix + cycle, len(prefix)

    def _path(
        self, start: int, flags: np.ndarray, missing: int = 0, avoid: int = 0
    ) -> Job[list[int]]:
        """Return the transitions of a shortest path, at least one; see `path_step`."""
        n = len(flags)
        memory = (self.bytes_per_state + _PATH_BYTES) * n
        parents, queue = np.zeros(n, dtype=np.uint32), np.zeros(n, dtype=np.int32)
        queue[0], parents[start] = start, 0xFFFFFFFF
        ends = np.array([0, 1, 0], dtype=np.int64)
        arrays: Any = self.lists, flags, parents, queue, ends
        marks = np.uint32(missing), np.uint32(avoid)
        while not (yield from called(path_step, *arrays, *marks, _BUDGET)):
            yield Progress("searching", work=_BUDGET * _STEP_WORK, memory_bytes=memory)
        path = [int(ends[2])]
        if not path[0]:
            raise ReplayError("the search reported a run that is not there")
        while (state := int(self.lists.src[path[-1]])) != start:
            path.append(int(parents[state]))
        return path[::-1]


def _necessary(condition: Condition) -> int:
    """Return marks that a cycle has to have, as bits."""
    needed = 0
    for mark in range(condition.n_marks):
        rest = condition.marks & ~(1 << mark)
        needed |= (not condition.fin_marks and not condition.satisfied_by(rest)) << mark
    return needed

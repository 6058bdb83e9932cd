"""SCCs of the decoupled composition, for properties of networks.

The components of a network only say which global labels can follow each other; what
accepts is a monitor, in one state at a time.  A network can follow an infinite sequence
of global labels iff it can follow each of its beginnings (by König's lemma), that is
iff the sequence leads through decoupled states that are not empty.  So a run is
accepted iff the decoupled states have an infinite path whose marks accept: no
references are needed, and any emptiness check for automata will do.

What is left is dominance.  Two searches take turns, and the first to know the answer
gives it: `mark_counts` counts marks, with the largest states first, and may end without
an answer.  The other one, here, searches for SCCs depth first, and has two passes.

*Relaxed:* a successor that is included in a visited state stands for no run that the
visited one does not have, so an edge to the visited state takes its place.  The graph
that results has all accepted runs and maybe more.  States from which no accepting SCC
of it can be reached are *dead*: no run is accepted from them.  If it has an accepting
SCC, the labels of the path that closes it are followed for true, turn after turn, until
the decoupled state stays the same, which proves a run, or is empty.

*Exact*, if the initial state is not dead and no run has been proved: a successor is
left out only if a dead state includes it.  An accepting SCC is one of the decoupled
composition then, and proves a run; all others are dead.

Sources: J.-M. Couvreur, "On-the-Fly Verification of Linear Temporal Logic", FM 1999,
LNCS 1708, pp. 253-271 (the search for SCCs).  D. Gnad, J. Eisenhut, A. Lluch Lafuente
and J. Hoffmann, "Model Checking omega-Regular Properties with Decoupled Search", CAV
2021, Sec. 7, which leaves searches for SCCs open.  F. Herbreteau, B. Srivathsan, T. T.
Tran and I. Walukiewicz, "Why Liveness for Timed Automata Is Hard, and What We Can Do
About It", FSTTCS 2016 (the same question for zones).

Differences from the sources: the first has no dominance; the last refines the relaxed
graph SCC by SCC, here all that is not dead is searched again.  docs/decoupled.md has
the proofs.

Invariants: those of `dominance`; the numbers of live states are their places on the
stack of live states; roots are live states in ascending order.

Cost: that of `dominance`; 12 bytes per state, and 21 per state on the path; that of
`mark_counts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import (
    LOCAL,
    DecoupledSearch,
    has_local_run,
    is_enabled,
    watching,
    write_successor,
)
from ltlpipe.decoupled.dominance import ANY, add_row, find_including, has_room
from ltlpipe.decoupled.lassos import GlobalTrace
from ltlpipe.decoupled.mark_counts import MarkCounts, count_step
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import FIRST_ENTRIES, OutOfMemoryError, lengthen, total_bytes
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import find, hash_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.decoupled.composition import DecoupledNetwork
    from ltlpipe.runtime.jobs import Job

DEAD = -2
"""The number of a state from which no run is accepted."""

UNKNOWN = -1
"""The number of a state of which the relaxed pass could not tell."""

MAX_REFUTED = 64
"""Cycles that are not there, before the relaxed pass gives up."""

COUNTING_TURN, SEARCHING_TURN = 3 << 12, 1 << 12
"""Labels that counting, and the search for SCCs, look at in a turn."""

NO_END = 1 << 62


class Path(NamedTuple):
    """The stack of a depth-first search, d entries, and room for a new row."""

    states: np.ndarray  # int32[d], the visited states on the path
    cursor: np.ndarray  # int32[d], the next label of each
    fresh: np.ndarray  # uint64[1, n_words], the successor that is looked at


class Components(NamedTuple):
    """Room for n visited states and d states on the path."""

    number: np.ndarray  # int32[n], place among the live states, DEAD or UNKNOWN
    place: np.ndarray  # int32[n], place on the path, -1 if it is not there
    live: np.ndarray  # int32[n], states of SCCs that are not complete
    roots: np.ndarray  # int32[d], the numbers of their roots
    inner_marks: np.ndarray  # uint32[d], the marks inside of each
    arc_marks: np.ndarray  # uint32[d], those on the way to its root
    doubtful: np.ndarray  # uint8[d], whether a state that is UNKNOWN can be reached


@inlined
def enter(registers, path, parts, state, arc):
    """Put a state on the path, a root of its own, by an arc with these marks."""
    depth = registers[Reg.DEPTH]
    count = registers[Reg.COUNT]
    root = registers[Reg.N_ROOTS]
    path.states[depth] = state
    path.cursor[depth] = -1
    parts.number[state] = count
    parts.place[state] = depth
    parts.live[count] = state
    parts.roots[root] = count
    parts.inner_marks[root] = 0
    parts.arc_marks[root] = arc
    parts.doubtful[root] = 0
    registers[Reg.COUNT] = count + 1
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.DEPTH] = depth + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)


@inlined
def leave(registers, parts, state):
    """Take the state at the end of the path off; its SCC if it is the root."""
    registers[Reg.DEPTH] -= 1
    parts.place[state] = -1
    root = registers[Reg.N_ROOTS] - 1
    first = np.int64(parts.number[state])
    if parts.roots[root] == first:
        doubtful = parts.doubtful[root] != 0
        number = UNKNOWN if doubtful else DEAD
        for k in range(first, registers[Reg.COUNT]):
            parts.number[parts.live[k]] = number
        registers[Reg.COUNT] = first
        registers[Reg.N_ROOTS] = root
        registers[Reg.N_SCCS] += 1
        if doubtful and root > 0:
            parts.doubtful[root - 1] = 1


@inlined
def unite(registers, parts, number, marks):
    """Make one SCC of those from that of a live state to the end of the path.

    Returns the marks in it, `marks` included.
    """
    root = registers[Reg.N_ROOTS] - 1
    doubtful = np.uint8(0)
    while parts.roots[root] > number:
        marks |= parts.inner_marks[root] | parts.arc_marks[root]
        doubtful |= parts.doubtful[root]
        root -= 1
    registers[Reg.N_ROOTS] = root + 1
    parts.inner_marks[root] |= marks
    parts.doubtful[root] |= doubtful
    return parts.inner_marks[root]


@inlined
def marks_on_path(tables, label_marks, rows, path, first, last):
    """Return the marks of the labels taken from the path's states first to last."""
    marks = np.uint32(0)
    for k in range(first, last + 1):
        state = np.int64(path.states[k])
        marks |= label_marks[path.cursor[k] - 1, watching(tables, rows, state)]
    return marks


@inlined
def find_stand_in(visited, known, registers, parts, rows):
    """Return the visited state that stands for ``rows[0]``, or -1.

    A dead one that includes it; else the same; else, in the relaxed pass, any that
    includes it.
    """
    store = visited.store
    mixed = hash_row(rows, 0)
    id_bits = np.uint64(known[Reg.ID_BITS])
    _, same = find(store.slots, store.rows, rows, 0, mixed, id_bits)
    if same >= 0:
        known[Reg.DUPLICATES] += 1
        if parts.number[same] == DEAD:
            return same
    any_ = same
    if same < 0 and registers[Reg.EXACT] == 0:
        any_ = find_including(visited, known, rows, 0, parts.number, ANY, False)
        if any_ < 0 or parts.number[any_] == DEAD:
            return any_
    dead = find_including(visited, known, rows, 0, parts.number, DEAD, False)
    return dead if dead >= 0 else any_


@inlined
def follow(tables, label_marks, visited, known, registers, path, parts, label):
    """Follow an enabled label from the end of the path; return a Status.

    The cursor there is behind the label.
    """
    rows = visited.store.rows
    end = registers[Reg.DEPTH] - 1
    src = np.int64(path.states[end])
    marks = label_marks[label, watching(tables, rows, src)]
    united = write_successor(tables, tables, rows, src, label, path.fresh, 0)
    registers[Reg.UNITED] += united
    found = find_stand_in(visited, known, registers, parts, path.fresh)
    number = np.int64(DEAD) if found < 0 else np.int64(parts.number[found])
    again = number == UNKNOWN and registers[Reg.EXACT] != 0
    if found < 0 or again:
        if at_limit(registers):
            path.cursor[end] = label  # the call can be repeated
            registers[Reg.TURN] += 1
            return Status.LIMIT
        registers[Reg.VISITED] += 1
        if found < 0:
            found = add_row(visited, known, path.fresh, 0)
        enter(registers, path, parts, found, marks)
    elif number == UNKNOWN:
        parts.doubtful[registers[Reg.N_ROOTS] - 1] = 1
    elif number != DEAD:
        full = np.uint32(registers[Reg.MARK_BITS])
        inside = unite(registers, parts, number, marks)
        if inside & full == full:
            registers[Reg.CLOSING] = parts.place[found]
            registers[Reg.TRANSITIONS] += 1
            if registers[Reg.EXACT] != 0:
                return Status.FOUND
            parts.doubtful[registers[Reg.N_ROOTS] - 1] = 1
            place = np.int64(parts.place[found])
            if place >= 0 and (
                marks_on_path(tables, label_marks, rows, path, place, end) & full
                == full
            ):
                return Status.FOUND
            return Status.RUNNING
    registers[Reg.TRANSITIONS] += 1
    return Status.RUNNING


@njit
def scc_step(tables, label_marks, visited, known, registers, path, parts, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited (Visited) with its registers `known`, `registers` of the search, `path` and
    `parts` (Components) are changed in place; label_marks : uint32[n_labels, k].
    Returns a Status.  In the relaxed pass FOUND is no more than a candidate, and the
    search can go on: ``registers[Reg.CLOSING]`` is the place on the path to which the
    last label leads back.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = visited.store.rows
    while budget > 0 and registers[Reg.TURN] > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0:
            return Status.EMPTY
        if depth == path.states.shape[0] or not has_room(visited, known):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        registers[Reg.TURN] -= 1
        src = np.int64(path.states[depth - 1])
        label = np.int64(path.cursor[depth - 1])
        if label == n_labels:
            leave(registers, parts, src)
            continue
        path.cursor[depth - 1] = label + 1
        if label < 0:
            if has_local_run(tables, rows, src):
                registers[Reg.CLOSING] = LOCAL
                return Status.FOUND
            continue
        if not is_enabled(tables, tables, rows, src, label):
            continue
        status = follow(
            tables, label_marks, visited, known, registers, path, parts, label
        )
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@njit
def begin(registers, path, parts):
    """Begin a pass in the initial state, the first that was visited."""
    registers[Reg.DEPTH] = 0
    registers[Reg.COUNT] = 0
    registers[Reg.N_ROOTS] = 0
    enter(registers, path, parts, 0, np.uint32(0))


@njit
def take_turn(tables, rows, labels):
    """Follow labels from ``rows[0]``; the end is in ``rows[0]`` again.

    rows : uint64[2, n_words]; labels : int64[k].  Returns whether they are enabled.
    """
    for label in labels:
        if not is_enabled(tables, tables, rows, 0, label):
            return False
        write_successor(tables, tables, rows, 0, label, rows, 1)
        for w in range(rows.shape[1]):
            rows[0, w] = rows[1, w]
    return True


@njit
def write_targets(tables, store, known, state, fresh, targets):
    """Write to ``targets[label]`` where labels lead from a state, or -1.

    fresh : uint64[1, n_words], room for a row; targets : int64[n_labels].
    """
    rows = store.rows
    for label in range(targets.shape[0]):
        targets[label] = -1
        if is_enabled(tables, tables, rows, state, label):
            write_successor(tables, tables, rows, state, label, fresh, 0)
            id_bits = np.uint64(known[Reg.ID_BITS])
            mixed = hash_row(fresh, 0)
            _, targets[label] = find(store.slots, rows, fresh, 0, mixed, id_bits)


class Candidate(NamedTuple):
    """Labels of a cycle that may be there."""

    prefix: np.ndarray  # int64[k], labels
    cycle: np.ndarray  # int64[c], labels
    row: np.ndarray  # uint64[W], what the turns so far have left


class DecoupledSCC(DecoupledSearch):
    """The search for SCCs; the network has a monitor, and no acceptors.

    `visited` has the decoupled states of both passes, `parts` what is known of them.
    `counting` is the search that it takes turns with, with `n_levels` levels; None if
    these are 0, or it has ended without an answer.
    """

    def __init__(
        self, network: DecoupledNetwork, *, n_levels: int | None = None
    ) -> None:
        super().__init__(network)
        self.registers[Reg.MARK_BITS] = (1 << network.n_marks) - 1
        n_rows = self.visited.arrays.store.rows.shape[0]
        self.path = Path(
            states=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            fresh=np.zeros((1, len(network.initial)), dtype=np.uint64),
        )
        self.parts = Components(
            number=np.zeros(n_rows, dtype=np.int32),
            place=np.full(n_rows, -1, dtype=np.int32),
            live=np.zeros(n_rows, dtype=np.int32),
            roots=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            inner_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            arc_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            doubtful=np.zeros(FIRST_ENTRIES, dtype=np.uint8),
        )
        if n_levels is None:
            n_levels = MarkCounts.levels_for(network)
        self.counting: MarkCounts | None = None
        self.is_counting = False  # whether it is the turn of that
        self.registers[Reg.TURN] = NO_END
        if n_levels:
            self.counting = MarkCounts(network, self.registers, n_levels)
            self.registers[Reg.TURN] = SEARCHING_TURN  # what is small needs no more
        self._n_refuted = 0  # by the search for SCCs
        self._n_counted = 0  # states entered by counting, when that has ended
        self._relaxed_states = 0
        self._candidate: Candidate | None = None
        self._trace: GlobalTrace | None = None
        begin(self.registers, self.path, self.parts)

    @property
    def is_exact(self) -> bool:
        """Whether the exact pass has begun."""
        return bool(self.registers[Reg.EXACT])

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        if self.counting is not None and self.is_counting:
            return count_step, self.counting.arguments(budget)
        return scc_step, (
            self.network.tables,
            self.network.marks,
            self.visited.arrays,
            self.visited.registers,
            self.registers,
            self.path,
            self.parts,
            budget,
        )

    def step(self, budget: int) -> Status:
        """Follow at most `budget` labels."""
        if self._trace is not None:
            return Status.FOUND
        if self._candidate is not None:
            return self._follow(budget)
        if self.registers[Reg.TURN] == 0:
            self._take_turns()
            return Status.GROW  # another kernel is called from now on
        status = super().step(min(budget, int(self.registers[Reg.TURN])))
        if self.is_counting:
            return self._counted(status)
        if status == Status.FOUND and not self.is_exact:
            return self._propose()
        if status == Status.EMPTY and self.parts.number[0] != DEAD:
            self._begin_exact()
            status = Status.RUNNING
        return status

    def _take_turns(self) -> None:
        """Let the other search go on, as long as there are two."""
        self.is_counting = not self.is_counting and self.counting is not None
        length = COUNTING_TURN if self.is_counting else SEARCHING_TURN
        self.registers[Reg.TURN] = NO_END if self.counting is None else length

    def _counted(self, status: Status) -> Status:
        """Draw the conclusion from what a step of counting says."""
        counting = self.counting
        assert counting is not None
        if status == Status.FOUND:
            prefix, cycle = (np.array(part, np.int64) for part in counting.labels())
            if len(cycle) == 0:
                self._trace = self._named(prefix, cycle)
                return status
            self._candidate = Candidate(prefix, cycle, self._after(prefix))
            return Status.RUNNING
        if status == Status.EMPTY and not counting.is_conclusive:
            self._n_counted = counting.n_entered
            self.counting = None
            self._take_turns()
            return Status.GROW
        return status

    def _begin_exact(self) -> None:
        """Begin the second pass; what is not dead is unknown now."""
        numbers = self.parts.number[: self.visited.n_stored]
        numbers[numbers != DEAD] = UNKNOWN
        self._relaxed_states = self._n_searched
        self.registers[Reg.EXACT] = 1
        begin(self.registers, self.path, self.parts)

    def _labels_taken(self) -> np.ndarray:
        """Return int64[depth], the label that each state on the path is at."""
        depth = int(self.registers[Reg.DEPTH])
        return self.path.cursor[:depth].astype(np.int64) - 1

    def _propose(self) -> Status:
        """Take the cycle on the path for a candidate, to be followed for ever."""
        place, taken = int(self.registers[Reg.CLOSING]), self._labels_taken()
        if place == LOCAL:
            self._trace = self._named(taken[:-1], taken[:0])
            return Status.FOUND
        prefix, cycle = taken[:place], taken[place:]
        self._candidate = Candidate(prefix, cycle, self._after(prefix))
        return Status.RUNNING

    def _follow(self, budget: int) -> Status:
        """Follow the candidate; each turn leads to a part of what the last one did."""
        assert self._candidate is not None
        prefix, cycle, row = self._candidate
        rows = np.zeros((2, len(row)), dtype=np.uint64)
        rows[0] = row
        for _ in range(max(budget // len(cycle), 1)):
            self.registers[Reg.EXPANSIONS] += len(cycle)
            before = rows[0].copy()
            if not take_turn(self.network.tables, rows, cycle):
                self._candidate = None
                self._refute()
                return Status.RUNNING
            rows[0] &= before
            if np.array_equal(rows[0], before):
                self._candidate = None
                self._trace = self._named(prefix, cycle)
                return Status.FOUND
        self._candidate = Candidate(prefix, cycle, rows[0].copy())
        return Status.RUNNING

    def _refute(self) -> None:
        """Note that the candidate is no run."""
        if self.is_counting and self.counting is not None:
            self.counting.refute()
            return
        self._n_refuted += 1
        if self._n_refuted == MAX_REFUTED:
            self._begin_exact()

    def _after(self, labels: np.ndarray) -> np.ndarray:
        """Return the decoupled state (uint64[W]) that labels lead to."""
        rows = np.zeros((2, len(self.network.initial)), dtype=np.uint64)
        rows[0] = self.network.initial
        take_turn(self.network.tables, rows, labels)
        reached: np.ndarray = rows[0]
        return reached

    def _named(self, prefix: np.ndarray, cycle: np.ndarray) -> GlobalTrace:
        names = self.network.labels
        middle = self._after(prefix)
        return GlobalTrace(
            names[prefix].tolist(), names[cycle].tolist(), middle, returns=False
        )

    def trace(self) -> Job[GlobalTrace]:
        """Return the labels of the run that was found; after FOUND."""
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)
        if self._trace is None:
            taken = self._labels_taken()
            if self.registers[Reg.CLOSING] == LOCAL:
                self._trace = self._named(taken[:-1], taken[:0])
            else:
                root = int(self.parts.roots[int(self.registers[Reg.N_ROOTS]) - 1])
                start = int(self.parts.live[root])
                cycle = yield from self._accepting_cycle(start)
                place = int(self.parts.place[start])
                self._trace = self._named(taken[:place], np.array(cycle))
        return self._trace

    def _accepting_cycle(self, start: int) -> Job[list[int]]:
        """Return the labels of a cycle with all marks through the root of an SCC.

        The states of the SCC are stored, its transitions are computed again, from the
        states that a breadth-first search meets.
        """
        ticks = Ticks(EXTRACTING, memory_bytes=self.memory_bytes)
        cycle: list[int] = []
        state = start
        missing = (1 << self.network.n_marks) - 1
        while missing:
            way = self._way(state, ticks, start, wanted=missing)
            labels, state, marks = yield from way
            cycle += labels
            missing &= ~marks
        if state != start or not cycle:
            labels, _, _ = yield from self._way(state, ticks, start, goal=start)
            cycle += labels
        return cycle

    def _way(
        self, src: int, ticks: Ticks, root: int, *, wanted: int = 0, goal: int = -1
    ) -> Job[tuple[list[int], int, int]]:
        """Return labels up to a transition with a wanted mark, or to the goal.

        Its target and its marks are returned, too; states of the SCC have a number that
        is not less than that of its root.
        """
        came: dict[int, tuple[int, int]] = {}
        frontier = [src]
        least = self.parts.number[root]
        for state in frontier:  # grows while it is read
            if ticks.over(10 + len(self.network.labels)):
                yield ticks.progress
            for label, target, marks in self._leaving(state):
                if self.parts.number[target] < least:
                    continue
                if target == goal or marks & wanted:
                    labels = [label]
                    while state != src:
                        state, label = came[state]
                        labels.append(label)
                    return labels[::-1], target, marks
                if target not in came and target != src:
                    came[target] = (state, label)
                    frontier.append(target)
        raise ReplayError("the search reported a cycle that is not there")

    def _leaving(self, state: int) -> list[tuple[int, int, int]]:
        """Return (label, target, marks) of the transitions from a stored state."""
        network, visited = self.network, self.visited
        targets = np.zeros(len(network.labels), dtype=np.int64)
        store, known = visited.arrays.store, visited.registers
        write_targets(network.tables, store, known, state, self.path.fresh, targets)
        (watching,) = network.unpack(store.rows[state])[-1]
        return [
            (label, target, int(network.marks[label, watching]))
            for label, target in enumerate(targets.tolist())
            if target >= 0
        ]

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        other = total_bytes((self.path, self.parts, self.network.tables))
        if self.counting is not None:
            other += self.counting.memory_bytes
        return other + self.network.marks.nbytes + self.visited.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        if self.counting is not None and self.is_counting:
            yield from self.counting.grow(limit_bytes - self.memory_bytes)
            return
        parts = self.parts
        stacks = (self.path.states, self.path.cursor, *parts[3:])
        needed = int(self.registers[Reg.DEPTH]) + 1
        lengthen(stacks, needed, limit_bytes - self.memory_bytes)
        yield from self.visited.grow(limit_bytes - self.memory_bytes)
        n_rows = self.visited.arrays.store.rows.shape[0]
        if 12 * (n_rows - len(parts.live)) + self.memory_bytes > limit_bytes:
            raise OutOfMemoryError
        for array in parts[:3]:
            array.resize(n_rows, refcheck=False)

    @property
    def _n_entered_by_counting(self) -> int:
        return self._n_counted if self.counting is None else self.counting.n_entered

    @property
    def _n_searched(self) -> int:
        """States that the search for SCCs has entered."""
        return int(self.registers[Reg.VISITED]) - self._n_entered_by_counting

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned, and how it was found."""
        n_counted, level = self._n_entered_by_counting, int(self.registers[Reg.HIGHEST])
        exact = self._n_searched - self._relaxed_states if self.is_exact else 0
        known = {} if self.counting is None else self.counting.statistics()
        return {
            "decoupled_states": int(self.registers[Reg.VISITED]),
            "counted_states": n_counted,
            "highest_level": level,
            "decoupled_sccs": int(self.registers[Reg.N_SCCS]),
            "refuted_cycles": self._n_refuted,
            "exact_states": exact,
            **self.visited.statistics(),
            **known,
        }

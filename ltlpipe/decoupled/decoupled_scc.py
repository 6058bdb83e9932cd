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
from ltlpipe.decoupled.dominance import (
    ANY,
    add_row,
    find_including,
    find_same,
    has_room,
)
from ltlpipe.decoupled.lassos import GlobalTrace
from ltlpipe.decoupled.mark_counts import MarkCounts, count_step
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.runtime.kernels.rows import hash_row
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import FIRST_ENTRIES, OutOfMemoryError, lengthen, total_bytes
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.decoupled.composition import DecoupledNetwork
    from ltlpipe.decoupled.dominance import Visited
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


class Arrays(NamedTuple):
    """Room for n visited states and d states on the path."""

    visited: Visited
    marks: np.ndarray  # uint32[n_labels, k], of each label in each monitor's state
    fresh: np.ndarray  # uint64[1, n_words], the successor that is looked at
    number: np.ndarray  # int32[n], place among the live states, DEAD or UNKNOWN
    place: np.ndarray  # int32[n], place on the path, -1 if it is not there
    live: np.ndarray  # int32[n], states of SCCs that are not complete
    states: np.ndarray  # int32[d], the path
    cursor: np.ndarray  # int32[d], the next label of each state on it
    roots: np.ndarray  # int32[d], the numbers of the roots of SCCs
    inner_marks: np.ndarray  # uint32[d], the marks inside of each
    arc_marks: np.ndarray  # uint32[d], those on the way to its root
    doubtful: np.ndarray  # uint8[d], whether a state that is UNKNOWN can be reached


@inlined
def enter(registers, arrays, state, arc):
    """Put a state on the path, a root of its own, by an arc with these marks."""
    depth = registers[Reg.DEPTH]
    count = registers[Reg.COUNT]
    root = registers[Reg.N_ROOTS]
    arrays.states[depth] = state
    arrays.cursor[depth] = -1
    arrays.number[state] = count
    arrays.place[state] = depth
    arrays.live[count] = state
    arrays.roots[root] = count
    arrays.inner_marks[root] = 0
    arrays.arc_marks[root] = arc
    arrays.doubtful[root] = 0
    registers[Reg.COUNT] = count + 1
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.DEPTH] = depth + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)


@inlined
def leave(registers, arrays, state):
    """Take the state at the end of the path off; its SCC if it is the root."""
    registers[Reg.DEPTH] -= 1
    arrays.place[state] = -1
    root = registers[Reg.N_ROOTS] - 1
    first = np.int64(arrays.number[state])
    if arrays.roots[root] == first:
        doubtful = arrays.doubtful[root] != 0
        number = UNKNOWN if doubtful else DEAD
        for k in range(first, registers[Reg.COUNT]):
            arrays.number[arrays.live[k]] = number
        registers[Reg.COUNT] = first
        registers[Reg.N_ROOTS] = root
        registers[Reg.N_SCCS] += 1
        if doubtful and root > 0:
            arrays.doubtful[root - 1] = 1


@inlined
def unite(registers, arrays, number, marks):
    """Make one SCC of those from that of a live state to the end of the path.

    Returns the marks in it, `marks` included.
    """
    root = registers[Reg.N_ROOTS] - 1
    doubtful = np.uint8(0)
    while arrays.roots[root] > number:
        marks |= arrays.inner_marks[root] | arrays.arc_marks[root]
        doubtful |= arrays.doubtful[root]
        root -= 1
    registers[Reg.N_ROOTS] = root + 1
    arrays.inner_marks[root] |= marks
    arrays.doubtful[root] |= doubtful
    return arrays.inner_marks[root]


@inlined
def marks_on_path(tables, arrays, first, last):
    """Return the marks of the labels taken from the path's states first to last."""
    marks = np.uint32(0)
    rows = arrays.visited.store.rows
    for k in range(first, last + 1):
        watched = watching(tables, rows, np.int64(arrays.states[k]))
        marks |= arrays.marks[arrays.cursor[k] - 1, watched]
    return marks


@inlined
def find_stand_in(registers, arrays):
    """Return the visited state that stands for ``fresh[0]``, or -1.

    A dead one that includes it; else the same; else, in the relaxed pass, any that
    includes it.
    """
    visited, rows, number = arrays.visited, arrays.fresh, arrays.number
    same = find_same(visited, rows, 0)
    if same >= 0 and number[same] == DEAD:
        return same
    any_ = same
    if same < 0 and registers[Reg.EXACT] == 0:
        any_ = find_including(visited, rows, 0, number, ANY, False)
        if any_ < 0 or number[any_] == DEAD:
            return any_
    dead = find_including(visited, rows, 0, number, DEAD, False)
    return dead if dead >= 0 else any_


@inlined
def follow(tables, registers, arrays, label):
    """Follow an enabled label from the end of the path; return a Status.

    The cursor there is behind the label.
    """
    rows = arrays.visited.store.rows
    end = registers[Reg.DEPTH] - 1
    src = np.int64(arrays.states[end])
    marks = arrays.marks[label, watching(tables, rows, src)]
    write_successor(tables, tables.places, registers, rows, src, label, arrays.fresh)
    found = find_stand_in(registers, arrays)
    number = np.int64(DEAD) if found < 0 else np.int64(arrays.number[found])
    is_new = found < 0 or (number == UNKNOWN and registers[Reg.EXACT] != 0)
    if is_new and at_limit(registers):
        arrays.cursor[end] = label  # the call can be repeated
        registers[Reg.TURN] += 1
        return Status.LIMIT
    registers[Reg.TRANSITIONS] += 1
    if is_new:
        registers[Reg.VISITED] += 1
        if found < 0:
            found = add_row(arrays.visited, arrays.fresh, 0)
        enter(registers, arrays, found, marks)
    elif number == UNKNOWN:
        arrays.doubtful[registers[Reg.N_ROOTS] - 1] = 1
    elif number != DEAD:
        full = np.uint32(registers[Reg.MARK_BITS])
        if unite(registers, arrays, number, marks) & full == full:
            place = np.int64(arrays.place[found])
            registers[Reg.CLOSING] = place
            if registers[Reg.EXACT] != 0:
                return Status.FOUND
            arrays.doubtful[registers[Reg.N_ROOTS] - 1] = 1
            if place < 0:
                return Status.RUNNING
            if marks_on_path(tables, arrays, place, end) & full == full:
                return Status.FOUND
    return Status.RUNNING


@njit
def scc_step(tables, registers, arrays, budget):
    """Advance the search by at most `budget` >= 1 labels; return a Status.

    `registers` and `arrays` are changed in place.  In the relaxed pass FOUND is no more
    than a candidate, and the search can go on: ``registers[Reg.CLOSING]`` is the place
    on the path to which the last label leads back.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = arrays.visited.store.rows
    while budget > 0 and registers[Reg.TURN] > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0:
            return Status.EMPTY
        if depth == arrays.states.shape[0] or not has_room(arrays.visited):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        registers[Reg.TURN] -= 1
        registers[Reg.EXPANSIONS] += 1
        src = np.int64(arrays.states[depth - 1])
        label = np.int64(arrays.cursor[depth - 1])
        if label == n_labels:
            leave(registers, arrays, src)
            continue
        arrays.cursor[depth - 1] = label + 1
        status = Status.RUNNING
        if label >= 0:
            if is_enabled(tables, tables.places, rows, src, label):
                status = follow(tables, registers, arrays, label)
        elif has_local_run(tables, rows, src):
            registers[Reg.CLOSING] = LOCAL
            status = Status.FOUND
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@njit
def begin(registers, arrays):
    """Begin a pass in the initial state, the first that was visited."""
    registers[Reg.DEPTH] = 0
    registers[Reg.COUNT] = 0
    registers[Reg.N_ROOTS] = 0
    enter(registers, arrays, 0, np.uint32(0))


@njit
def take_turn(tables, registers, row, fresh, labels):
    """Follow labels from ``row[0]``, where the end is left, too.

    fresh : uint64[1, n_words], room for a row; labels : int64[k].  Returns whether they
    are enabled.
    """
    for label in labels:
        if not is_enabled(tables, tables.places, row, 0, label):
            return False
        write_successor(tables, tables.places, registers, row, 0, label, fresh)
        for w in range(row.shape[1]):
            row[0, w] = fresh[0, w]
    return True


@njit
def write_targets(tables, registers, arrays, state, targets):
    """Write to ``targets[label]`` where labels lead from a state, or -1.

    targets : int64[n_labels].
    """
    visited, fresh = arrays.visited, arrays.fresh
    rows, id_bits = visited.store.rows, np.uint64(visited.registers[Reg.ID_BITS])
    for label in range(targets.shape[0]):
        targets[label] = -1
        if is_enabled(tables, tables.places, rows, state, label):
            write_successor(tables, tables.places, registers, rows, state, label, fresh)
            slots, mixed = visited.store.slots, hash_row(fresh, 0)
            _, targets[label] = find(slots, rows, fresh, 0, mixed, id_bits)


class Candidate(NamedTuple):
    """Labels of a cycle that may be there."""

    prefix: np.ndarray  # int64[k], labels
    cycle: np.ndarray  # int64[c], labels
    row: np.ndarray  # uint64[1, W], what the turns so far have left


class DecoupledSCC(DecoupledSearch):
    """The search for SCCs; the network has a monitor, and no acceptors.

    `visited` has the decoupled states of both passes, `arrays` what is known of them.
    `counting` is the search that it takes turns with, with `n_levels` levels; None if
    these are 0, or it has ended without an answer.
    """

    def __init__(
        self, network: DecoupledNetwork, *, n_levels: int | None = None
    ) -> None:
        super().__init__(network)
        self.registers[Reg.MARK_BITS] = (1 << network.n_marks) - 1
        n_rows = self.visited.arrays.store.rows.shape[0]
        self.arrays = Arrays(
            visited=self.visited.arrays,
            marks=network.marks,
            fresh=np.zeros((1, len(network.initial)), dtype=np.uint64),
            number=np.zeros(n_rows, dtype=np.int32),
            place=np.full(n_rows, -1, dtype=np.int32),
            live=np.zeros(n_rows, dtype=np.int32),
            states=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
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
        begin(self.registers, self.arrays)

    @property
    def is_exact(self) -> bool:
        """Whether the exact pass has begun."""
        return bool(self.registers[Reg.EXACT])

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        if self.counting is not None and self.is_counting:
            return count_step, self.counting.arguments(budget)
        return scc_step, (self.network.tables, self.registers, self.arrays, budget)

    def step(self, budget: int) -> Status:
        """Follow at most `budget` labels."""
        if self._trace is not None:
            return Status.FOUND
        if self._candidate is not None:
            return self._follow(budget, *self._candidate)
        if self.registers[Reg.TURN] == 0:
            self._take_turns()
            return Status.GROW  # another kernel is called from now on
        status = super().step(min(budget, int(self.registers[Reg.TURN])))
        counting = self.counting if self.is_counting else None
        if status == Status.FOUND and (counting is not None or not self.is_exact):
            labels = self._labels() if counting is None else counting.labels()
            return self._propose(*labels)
        if status == Status.EMPTY and counting is not None:
            if not counting.is_conclusive:
                self._n_counted = counting.n_entered
                self.counting = None
                self._take_turns()
                return Status.GROW
        elif status == Status.EMPTY and self.arrays.number[0] != DEAD:
            self._begin_exact()
            return Status.RUNNING
        return status

    def _take_turns(self) -> None:
        """Let the other search go on, as long as there are two."""
        self.is_counting = not self.is_counting and self.counting is not None
        length = COUNTING_TURN if self.is_counting else SEARCHING_TURN
        self.registers[Reg.TURN] = NO_END if self.counting is None else length

    def _begin_exact(self) -> None:
        """Begin the second pass; what is not dead is unknown now."""
        numbers = self.arrays.number[: self.visited.n_stored]
        numbers[numbers != DEAD] = UNKNOWN
        self._relaxed_states = self._n_searched
        self.registers[Reg.EXACT] = 1
        begin(self.registers, self.arrays)

    def _labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels of the path to where the last one closes it, and behind.

        No labels are behind if a component goes on alone.
        """
        depth, place = (int(self.registers[reg]) for reg in (Reg.DEPTH, Reg.CLOSING))
        taken = self.arrays.cursor[:depth].astype(np.int64) - 1
        if place == LOCAL:
            return taken[:-1], taken[:0]
        return taken[:place], taken[place:]

    def _propose(self, prefix: np.ndarray, cycle: np.ndarray) -> Status:
        """Take a cycle for a candidate, to be followed for ever."""
        if not len(cycle):
            self._trace = self._named(prefix, cycle)
            return Status.FOUND
        self._candidate = Candidate(prefix, cycle, self._after(prefix))
        return Status.RUNNING

    def _follow(
        self, budget: int, prefix: np.ndarray, cycle: np.ndarray, row: np.ndarray
    ) -> Status:
        """Follow the candidate; each turn leads to a part of what the last one did."""
        for _ in range(max(budget // len(cycle), 1)):
            self.registers[Reg.EXPANSIONS] += len(cycle)
            before = row.copy()
            if not self._led_along(row, cycle):
                self._candidate = None
                self._refute()
                return Status.RUNNING
            row &= before
            if np.array_equal(row, before):
                self._candidate = None
                self._trace = self._named(prefix, cycle)
                return Status.FOUND
        return Status.RUNNING

    def _refute(self) -> None:
        """Note that the candidate is no run."""
        if self.is_counting and self.counting is not None:
            self.counting.refute()
            return
        self._n_refuted += 1
        if self._n_refuted == MAX_REFUTED:
            self._begin_exact()

    def _led_along(self, row: np.ndarray, labels: np.ndarray) -> bool:
        """Lead a row (uint64[1, W]) along labels; return whether they are enabled."""
        tables, fresh = self.network.tables, self.arrays.fresh
        return bool(take_turn(tables, self.registers, row, fresh, labels))

    def _after(self, labels: np.ndarray) -> np.ndarray:
        """Return the decoupled state (uint64[1, W]) that labels lead to."""
        row = self.network.initial[np.newaxis].copy()
        self._led_along(row, labels)
        return row

    def _named(self, prefix: np.ndarray, cycle: np.ndarray) -> GlobalTrace:
        names, (middle,) = self.network.labels, self._after(prefix)
        labels = names[prefix].tolist(), names[cycle].tolist()
        return GlobalTrace(*labels, middle, returns=False)

    def trace(self) -> Job[GlobalTrace]:
        """Return the labels of the run that was found; after FOUND."""
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)
        if self._trace is None:
            prefix, cycle = self._labels()
            if len(cycle):
                root = int(self.arrays.roots[int(self.registers[Reg.N_ROOTS]) - 1])
                start = int(self.arrays.live[root])
                labels = yield from self._accepting_cycle(start)
                place = int(self.arrays.place[start])
                prefix = np.concatenate([prefix, cycle])[:place]
                cycle = np.array(labels, dtype=np.int64)
            self._trace = self._named(prefix, cycle)
        return self._trace

    def _accepting_cycle(self, start: int) -> Job[list[int]]:
        """Return the labels of a cycle with all marks through the root of an SCC.

        The states of the SCC are stored, its transitions are computed again, from the
        states that a breadth-first search meets.
        """
        ticks = Ticks(EXTRACTING, memory_bytes=self.memory_bytes)
        cycle: list[int] = []
        state, missing = start, (1 << self.network.n_marks) - 1
        while missing or state != start or not cycle:
            labels, state, marks = yield from self._way(state, start, missing, ticks)
            cycle += labels
            missing &= ~marks
        return cycle

    def _way(
        self, src: int, root: int, wanted: int, ticks: Ticks
    ) -> Job[tuple[list[int], int, int]]:
        """Return labels up to a transition with a wanted mark, or to the root if none.

        Its target and its marks are returned, too; states of the SCC have a number that
        is not less than that of its root.
        """
        came: dict[int, tuple[int, int]] = {}
        frontier = [src]
        least = self.arrays.number[root]
        for state in frontier:  # grows while it is read
            yield from ticks.worked(10 + len(self.network.labels))
            for label, target, marks in self._leaving(state):
                if self.arrays.number[target] < least:
                    continue
                if marks & wanted or (not wanted and target == root):
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
        network, arrays = self.network, self.arrays
        targets = np.zeros(len(network.labels), dtype=np.int64)
        write_targets(network.tables, self.registers, arrays, state, targets)
        (watching,) = network.unpack(arrays.visited.store.rows[state])[-1]
        marks = network.marks[:, watching].tolist()
        return [
            (label, target, marks[label])
            for label, target in enumerate(targets.tolist())
            if target >= 0
        ]

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        own = total_bytes((self.arrays, self.network.tables))
        return own if self.counting is None else own + self.counting.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        if self.counting is not None and self.is_counting:
            yield from self.counting.grow(limit_bytes - self.memory_bytes)
            return
        arrays, needed = self.arrays, int(self.registers[Reg.DEPTH]) + 1
        lengthen(arrays[6:], needed, limit_bytes - self.memory_bytes)
        yield from self.visited.grow(limit_bytes - self.memory_bytes)
        n_rows = self.visited.arrays.store.rows.shape[0]
        if 12 * (n_rows - len(arrays.live)) + self.memory_bytes > limit_bytes:
            raise OutOfMemoryError
        for array in (arrays.number, arrays.place, arrays.live):
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
        exact = self._n_searched - self._relaxed_states if self.is_exact else 0
        known = {} if self.counting is None else self.counting.statistics()
        return {
            "decoupled_states": int(self.registers[Reg.VISITED]),
            "counted_states": self._n_entered_by_counting,
            "highest_level": int(self.registers[Reg.HIGHEST]),
            "decoupled_sccs": int(self.registers[Reg.N_SCCS]),
            "refuted_cycles": self._n_refuted,
            "exact_states": exact,
            **self.visited.statistics(),
            **known,
        }

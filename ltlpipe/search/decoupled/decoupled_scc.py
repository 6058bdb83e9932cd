"""SCCs of the decoupled composition, for properties of networks.

The components of a network only say which global labels can follow each other; what
accepts is a monitor, in one state at a time.  A network can follow an infinite sequence
of global labels iff it can follow each of its beginnings (by König's lemma), that is
iff the sequence leads through decoupled states that are not empty.  So a run is
accepted iff the decoupled states have an infinite path whose marks accept: no
references are needed, and any emptiness check for automata will do.

What is left is dominance.  A successor that is included in a visited state stands for
no run that the visited one does not have, so an edge to the visited state takes its
place.  The graph that results has all accepted runs and maybe more: if it has no
accepting SCC, there is none.  If it has, the labels of the cycle that closes it are
followed for true, turn after turn, until the decoupled state stays the same, which
proves a run, or is empty.  A search that ends with accepting SCCs in which no cycle was
proved is *in doubt*, and another has to decide.

Sources: J.-M. Couvreur, "On-the-Fly Verification of Linear Temporal Logic", FM 1999,
LNCS 1708, pp. 253-271 (the search for SCCs).  D. Gnad, J. Eisenhut, A. Lluch Lafuente
and J. Hoffmann, "Model Checking omega-Regular Properties with Decoupled Search", CAV
2021, Sec. 7, which leaves searches for SCCs open.  F. Herbreteau, B. Srivathsan, T. T.
Tran and I. Walukiewicz, "Why Liveness for Timed Automata Is Hard, and What We Can Do
About It", FSTTCS 2016 (the same question for zones).

Differences from the sources: the first has no dominance; a cycle is looked for where a
path meets itself only; docs/decoupled.md has the proofs.

Invariants: those of `dominance`; the numbers of live states are their places on the
stack of live states; roots are live states in ascending order.

Cost: that of `dominance`; 12 bytes per state, and 20 per state on the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe._jit import inlined, njit
from ltlpipe.search.decoupled.composition import (
    Path,
    is_enabled,
    lowest_bit,
    write_successor,
)
from ltlpipe.search.decoupled.decoupled_ndfs import has_local_cycle, meets
from ltlpipe.search.decoupled.dominance import (
    VisitedSets,
    add_row,
    find_dominating,
    has_room,
)
from ltlpipe.search.decoupled.lassos import GlobalTrace
from ltlpipe.search.emptiness import (
    FIRST_ENTRIES,
    MAX_STATES,
    OutOfMemoryError,
    total_bytes,
)
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import N_REGISTERS, Reg, Status

if TYPE_CHECKING:
    from ltlpipe.search.decoupled.tables import DecoupledNetwork
    from ltlpipe.search.driver import Limits

MAX_DOUBTS = 64
"""Cycles that are not there, before the search gives up."""

DEAD = -1
"""The number of a state from which no run is accepted."""

_LOCAL = -1  # Reg.CLOSING: internal transitions close the cycle


class Components(NamedTuple):
    """Room for n visited states and d states on the path."""

    number: np.ndarray  # int32[n], place among the live states, or DEAD
    place: np.ndarray  # int32[n], place on the path, -1 if it is not there
    live: np.ndarray  # int32[n], states of SCCs that are not complete
    roots: np.ndarray  # int32[d], the numbers of their roots
    inner_marks: np.ndarray  # uint32[d], the marks inside of each
    arc_marks: np.ndarray  # uint32[d], those on the way to its root


@inlined
def watching(tables, rows, i):
    """Return the state of the monitor, the last component, in ``rows[i]``."""
    monitor = tables.first_word.shape[0] - 1
    first = tables.first_word[monitor]
    state = np.int64(0)
    for w in range(tables.n_words[monitor]):
        word = rows[i, first + w] & tables.mask[monitor]
        if word != 0:
            state = 64 * w + lowest_bit(word) - tables.shift[monitor]
    return state


@inlined
def enter(visited, known, registers, path, parts, arc):
    """Visit ``path.fresh``, which is a root of its own, by an arc with these marks."""
    state = add_row(visited, known, path.fresh, 0)
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
        for k in range(first, registers[Reg.COUNT]):
            parts.number[parts.live[k]] = DEAD
        registers[Reg.COUNT] = first
        registers[Reg.N_ROOTS] = root
        registers[Reg.N_SCCS] += 1


@inlined
def unite(registers, parts, number, marks):
    """Make one SCC of those from that of a live state to the end of the path.

    Returns the marks in it, `marks` included.
    """
    root = registers[Reg.N_ROOTS] - 1
    while parts.roots[root] > number:
        marks |= parts.inner_marks[root] | parts.arc_marks[root]
        root -= 1
    registers[Reg.N_ROOTS] = root + 1
    parts.inner_marks[root] |= marks
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
def follow(tables, label_marks, visited, known, registers, path, parts, label):
    """Follow an enabled label from the end of the path; return a Status.

    The cursor there is behind the label.
    """
    rows = visited.store.rows
    end = registers[Reg.DEPTH] - 1
    src = np.int64(path.states[end])
    marks = label_marks[label, watching(tables, rows, src)]
    write_successor(tables, rows, src, label, path.fresh, 0)
    found = find_dominating(visited, known, path.fresh, 0)
    if found < 0:
        if at_limit(registers):
            path.cursor[end] = label  # the call can be repeated
            return Status.LIMIT
        registers[Reg.VISITED] += 1
        enter(visited, known, registers, path, parts, marks)
    elif parts.number[found] != DEAD:
        full = np.uint32(registers[Reg.MARK_BITS])
        inside = unite(registers, parts, parts.number[found], marks)
        if inside & full == full:
            registers[Reg.DOUBTS] += 1
            place = np.int64(parts.place[found])
            if place >= 0 and (
                marks_on_path(tables, label_marks, rows, path, place, end) & full
                == full
            ):
                registers[Reg.CLOSING] = place
                registers[Reg.TRANSITIONS] += 1
                return Status.FOUND
    registers[Reg.TRANSITIONS] += 1
    return Status.RUNNING


@njit
def scc_step(tables, label_marks, visited, known, registers, path, parts, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited (Visited) with its registers `known`, `registers` of the search, `path` and
    `parts` (Components) are changed in place; label_marks : uint32[n_labels, k].
    Returns a Status.  FOUND is no more than a candidate, and the search can go on:
    ``registers[Reg.CLOSING]`` is the place on the path to which the last label leads
    back.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = visited.store.rows
    while budget > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0:
            return Status.EMPTY
        if depth == path.states.shape[0] or not has_room(visited, known):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        src = np.int64(path.states[depth - 1])
        label = np.int64(path.cursor[depth - 1])
        if label == n_labels:
            leave(registers, parts, src)
            continue
        path.cursor[depth - 1] = label + 1
        if label < 0:
            if has_local_cycle(tables, rows, src) and meets(
                tables, tables.accepting, rows, src
            ):
                registers[Reg.CLOSING] = _LOCAL
                return Status.FOUND
            continue
        if not is_enabled(tables, rows, src, label):
            continue
        status = follow(
            tables, label_marks, visited, known, registers, path, parts, label
        )
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@njit
def begin(visited, known, registers, path, parts):
    """Visit the initial state, which is in ``path.fresh``."""
    enter(visited, known, registers, path, parts, np.uint32(0))


@njit
def take_turn(tables, rows, labels):
    """Follow labels from ``rows[0]``; the end is in ``rows[0]`` again.

    rows : uint64[2, n_words]; labels : int64[k].  Returns whether they are enabled.
    """
    for label in labels:
        if not is_enabled(tables, rows, 0, label):
            return False
        write_successor(tables, rows, 0, label, rows, 1)
        for w in range(rows.shape[1]):
            rows[0, w] = rows[1, w]
    return True


class DecoupledSCC:
    """The search for SCCs, as the driver takes it.

    Parameters
    ----------
    network : DecoupledNetwork
        With a monitor, and without acceptors.  It is not changed.

    Attributes
    ----------
    registers : int64[N_REGISTERS]
        See `ltlpipe.search.registers.Reg`.
    visited : VisitedSets
        The decoupled states.
    """

    def __init__(self, network: DecoupledNetwork) -> None:
        self.network = network
        self.limits: Limits | None = None
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        self.registers[Reg.MAX_STATES] = MAX_STATES
        self.registers[Reg.MARK_BITS] = (1 << network.n_marks) - 1
        self.registers[Reg.VISITED] = 1
        n_words = len(network.initial)
        self.visited = VisitedSets(n_words)
        n_rows = self.visited.arrays.store.rows.shape[0]
        self.path = Path(
            states=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            fresh=network.initial[np.newaxis].copy(),
        )
        self.parts = Components(
            number=np.zeros(n_rows, dtype=np.int32),
            place=np.zeros(n_rows, dtype=np.int32),
            live=np.zeros(n_rows, dtype=np.int32),
            roots=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            inner_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            arc_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
        )
        self._refuted = 0
        self._trace: GlobalTrace | None = None
        begin(
            self.visited.arrays,
            self.visited.registers,
            self.registers,
            self.path,
            self.parts,
        )

    @property
    def in_doubt(self) -> bool:
        """Whether an answer that there is no run proves nothing."""
        return bool(self.registers[Reg.DOUBTS])

    def step(self, budget: int) -> Status:
        """Follow at most `budget` labels; FOUND has been proved."""
        status = Status(
            scc_step(
                self.network.tables,
                self.network.marks,
                self.visited.arrays,
                self.visited.registers,
                self.registers,
                self.path,
                self.parts,
                budget,
            )
        )
        if status != Status.FOUND:
            return status
        trace = self._closed_trace()
        if trace is not None:
            self._trace = trace
            return Status.FOUND
        self._refuted += 1
        return Status.EMPTY if self._refuted == MAX_DOUBTS else Status.RUNNING

    def _closed_trace(self) -> GlobalTrace | None:
        """Return the labels of the candidate if they can be followed for ever."""
        place = int(self.registers[Reg.CLOSING])
        taken = self.path.cursor[: int(self.registers[Reg.DEPTH])].astype(np.int64) - 1
        names = self.network.labels
        if place == _LOCAL:
            return GlobalTrace(names[taken[:-1]].tolist(), [])
        state = self.path.states[place]
        rows = np.zeros((2, len(self.network.initial)), dtype=np.uint64)
        rows[0] = before = self.visited.arrays.store.rows[state].copy()
        # Each turn leads to a subset, as the first one does.
        while take_turn(self.network.tables, rows, taken[place:]):
            if np.array_equal(rows[0], before):
                return GlobalTrace(
                    names[taken[:place]].tolist(), names[taken[place:]].tolist()
                )
            before = rows[0].copy()
        return None

    def trace(self) -> GlobalTrace:
        """Return the labels of the run that was found; after FOUND."""
        assert self._trace is not None
        return self._trace

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        other = total_bytes((self.path, self.parts, self.network.tables))
        return other + self.network.marks.nbytes + self.visited.memory_bytes

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next state may lack it.

        Raises
        ------
        OutOfMemoryError
            The arrays would need more than `limit_bytes`, or the system refuses
            to give more.
        """
        parts = self.parts
        stacks = (self.path.states, self.path.cursor, *parts[3:])
        try:
            length = stacks[0].shape[0]
            if self.registers[Reg.DEPTH] == length:
                if self.memory_bytes + 10 * length > limit_bytes:
                    raise OutOfMemoryError
                for array in stacks:
                    array.resize(length + length // 2, refcheck=False)
            self.visited.grow(limit_bytes - self.memory_bytes)
            n_rows = self.visited.arrays.store.rows.shape[0]
            if 12 * (n_rows - len(parts.live)) + self.memory_bytes > limit_bytes:
                raise OutOfMemoryError
            for array in parts[:3]:
                array.resize(n_rows, refcheck=False)
        except MemoryError as error:
            raise OutOfMemoryError from error

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned, and how it was found."""
        return {
            "decoupled_states": self.visited.n_stored,
            "decoupled_sccs": int(self.registers[Reg.N_SCCS]),
            "refuted_cycles": self._refuted,
            **self.visited.statistics(),
        }

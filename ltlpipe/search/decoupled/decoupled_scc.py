"""SCCs of the decoupled composition, for properties of networks.

The components of a network only say which global labels can follow each other; what
accepts is a monitor, in one state at a time.  A network can follow an infinite sequence
of global labels iff it can follow each of its beginnings (by König's lemma), that is
iff the sequence leads through decoupled states that are not empty.  So a run is
accepted iff the decoupled states have an infinite path whose marks accept: no
references are needed, and any emptiness check for automata will do.

What is left is dominance.  The search has two passes.

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

Cost: that of `dominance`; 12 bytes per state, and 21 per state on the path.
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
    find_including,
    has_room,
)
from ltlpipe.search.decoupled.lassos import GlobalTrace
from ltlpipe.search.decoupled.scc_cycles import accepting_cycle
from ltlpipe.search.emptiness import (
    FIRST_ENTRIES,
    MAX_STATES,
    OutOfMemoryError,
    total_bytes,
)
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import find, hash_row

if TYPE_CHECKING:
    from ltlpipe.search.decoupled.tables import DecoupledNetwork
    from ltlpipe.search.driver import Limits

MAX_REFUTED = 64
"""Cycles that are not there, before the relaxed pass gives up."""

DEAD = -2
"""The number of a state from which no run is accepted."""

UNKNOWN = -1
"""The number of a state of which the relaxed pass could not tell."""

_ANY = np.iinfo(np.int32).max
_LOCAL = -2  # Reg.CLOSING: internal transitions close the cycle


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
        any_ = find_including(visited, known, rows, 0, parts.number, _ANY)
        if any_ < 0 or parts.number[any_] == DEAD:
            return any_
    dead = find_including(visited, known, rows, 0, parts.number, DEAD)
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
    write_successor(tables, rows, src, label, path.fresh, 0)
    found = find_stand_in(visited, known, registers, parts, path.fresh)
    number = np.int64(DEAD) if found < 0 else np.int64(parts.number[found])
    again = number == UNKNOWN and registers[Reg.EXACT] != 0
    if found < 0 or again:
        if at_limit(registers):
            path.cursor[end] = label  # the call can be repeated
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
def add_first(visited, known, rows):
    """Add ``rows[0]`` to visited states that are none so far."""
    add_row(visited, known, rows, 0)


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
        The decoupled states of both passes.
    parts : Components
        What is known of them.
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
            place=np.full(n_rows, -1, dtype=np.int32),
            live=np.zeros(n_rows, dtype=np.int32),
            roots=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            inner_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            arc_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            doubtful=np.zeros(FIRST_ENTRIES, dtype=np.uint8),
        )
        self._n_refuted = 0
        self._relaxed_states = 0
        self._trace: GlobalTrace | None = None
        add_first(self.visited.arrays, self.visited.registers, self.path.fresh)
        begin(self.registers, self.path, self.parts)

    @property
    def is_exact(self) -> bool:
        """Whether the exact pass has begun."""
        return bool(self.registers[Reg.EXACT])

    def step(self, budget: int) -> Status:
        """Follow at most `budget` labels."""
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
        if status == Status.FOUND and not self.is_exact:
            self._trace = self._followed()
            if self._trace is None:
                self._n_refuted += 1
                status = Status.RUNNING
                if self._n_refuted == MAX_REFUTED:
                    self._begin_exact()
        elif status == Status.EMPTY and self.parts.number[0] != DEAD:
            self._begin_exact()
            status = Status.RUNNING
        return status

    def _begin_exact(self) -> None:
        """Begin the second pass; what is not dead is unknown now."""
        numbers = self.parts.number[: self.visited.n_stored]
        numbers[numbers != DEAD] = UNKNOWN
        self._relaxed_states = int(self.registers[Reg.VISITED])
        self.registers[Reg.EXACT] = 1
        begin(self.registers, self.path, self.parts)

    def _labels_taken(self) -> np.ndarray:
        """Return int64[depth], the label that each state on the path is at."""
        depth = int(self.registers[Reg.DEPTH])
        return self.path.cursor[:depth].astype(np.int64) - 1

    def _followed(self) -> GlobalTrace | None:
        """Return the labels of the candidate if they can be followed for ever."""
        place, taken = int(self.registers[Reg.CLOSING]), self._labels_taken()
        if place == _LOCAL:
            return self._named(taken[:-1], taken[:0])
        state = self.path.states[place]
        rows = np.zeros((2, len(self.network.initial)), dtype=np.uint64)
        rows[0] = before = self.visited.arrays.store.rows[state].copy()
        # Each turn leads to a subset, as the first one does.
        while take_turn(self.network.tables, rows, taken[place:]):
            if np.array_equal(rows[0], before):
                return self._named(taken[:place], taken[place:])
            before = rows[0].copy()
        return None

    def _named(self, prefix: np.ndarray, cycle: np.ndarray) -> GlobalTrace:
        names = self.network.labels
        middle = self.visited.arrays.store.rows[self.path.states[len(prefix)]]
        return GlobalTrace(
            names[prefix].tolist(), names[cycle].tolist(), middle.copy(), returns=False
        )

    def trace(self) -> GlobalTrace:
        """Return the labels of the run that was found; after FOUND."""
        if self._trace is None:
            taken = self._labels_taken()
            if self.registers[Reg.CLOSING] == _LOCAL:
                self._trace = self._named(taken[:-1], taken[:0])
            else:
                root = int(self.parts.roots[int(self.registers[Reg.N_ROOTS]) - 1])
                start = int(self.parts.live[root])
                cycle = accepting_cycle(
                    self.network, self.visited, self.parts.number, start
                )
                place = int(self.parts.place[start])
                self._trace = self._named(taken[:place], np.array(cycle))
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
                if self.memory_bytes + 11 * length > limit_bytes:
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
        exact = 0
        if self.is_exact:
            exact = int(self.registers[Reg.VISITED]) - self._relaxed_states
        return {
            "decoupled_states": self.visited.n_stored,
            "decoupled_sccs": int(self.registers[Reg.N_SCCS]),
            "refuted_cycles": self._n_refuted,
            "exact_states": exact,
            **self.visited.statistics(),
        }

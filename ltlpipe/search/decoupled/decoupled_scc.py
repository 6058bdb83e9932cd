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

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.search.decoupled.composition import Path
from ltlpipe.search.decoupled.dominance import VisitedSets
from ltlpipe.search.decoupled.lassos import GlobalTrace
from ltlpipe.search.decoupled.scc_cycles import accepting_cycle
from ltlpipe.search.decoupled.scc_steps import (
    DEAD,
    LOCAL,
    UNKNOWN,
    Components,
    begin,
    scc_step,
    take_turn,
)
from ltlpipe.search.decoupled.work import LabelSteps
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    MAX_STATES,
    OutOfMemoryError,
    lengthen,
    total_bytes,
)
from ltlpipe.search.registers import N_REGISTERS, Reg, Status

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.tables import DecoupledNetwork

MAX_REFUTED = 64
"""Cycles that are not there, before the relaxed pass gives up."""


class DecoupledSCC(LabelSteps):
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
            fresh=np.zeros((1, n_words), dtype=np.uint64),
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
        self._candidate: np.ndarray | None = None  # the row before its next turn
        self._trace: GlobalTrace | None = None
        self.visited.add_first(network.initial)
        begin(self.registers, self.path, self.parts)

    @property
    def is_exact(self) -> bool:
        """Whether the exact pass has begun."""
        return bool(self.registers[Reg.EXACT])

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
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
        transitions = int(self.registers[Reg.TRANSITIONS])
        kernel, arguments = self.kernel_call(budget)
        status = Status(kernel(*arguments))
        self._count(status, budget, transitions)
        if status == Status.FOUND and not self.is_exact:
            return self._propose()
        if status == Status.EMPTY and self.parts.number[0] != DEAD:
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

    def _propose(self) -> Status:
        """Take the cycle on the path for a candidate, to be followed for ever."""
        place, taken = int(self.registers[Reg.CLOSING]), self._labels_taken()
        if place == LOCAL:
            self._trace = self._named(taken[:-1], taken[:0])
            return Status.FOUND
        state = self.path.states[place]
        self._candidate = self.visited.arrays.store.rows[state].copy()
        return Status.RUNNING

    def _follow(self, budget: int) -> Status:
        """Follow the candidate; each turn leads to a subset, as the first one does."""
        place, taken = int(self.registers[Reg.CLOSING]), self._labels_taken()
        assert self._candidate is not None
        rows = np.zeros((2, len(self._candidate)), dtype=np.uint64)
        rows[0] = before = self._candidate
        cycle = taken[place:]
        for _ in range(max(budget // len(cycle), 1)):
            self.n_steps += len(cycle)
            if not take_turn(self.network.tables, rows, cycle):
                self._candidate = None
                self._n_refuted += 1
                if self._n_refuted == MAX_REFUTED:
                    self._begin_exact()
                return Status.RUNNING
            if np.array_equal(rows[0], before):
                self._candidate = None
                self._trace = self._named(taken[:place], cycle)
                return Status.FOUND
            self._candidate = before = rows[0].copy()
        return Status.RUNNING

    def _named(self, prefix: np.ndarray, cycle: np.ndarray) -> GlobalTrace:
        names = self.network.labels
        middle = self.visited.arrays.store.rows[self.path.states[len(prefix)]]
        return GlobalTrace(
            names[prefix].tolist(), names[cycle].tolist(), middle.copy(), returns=False
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
                cycle = yield from accepting_cycle(
                    self.network,
                    self.visited,
                    self.parts.number,
                    start,
                    self.memory_bytes,
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
            needed = int(self.registers[Reg.DEPTH]) + 1
            lengthen(stacks, needed, limit_bytes - self.memory_bytes)
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

"""The emptiness checks of automata over sets, as the driver takes them.

The kernels are in `ltlpipe.search.powerset.checks`, with source and cost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    MAX_STATES,
    OutOfMemoryError,
    affordable_length,
    lengthen,
    total_bytes,
)
from ltlpipe.search.powerset.checks import (
    AEC,
    IEC,
    NSIEC,
    REMOVED,
    TEC,
    Arrays,
    operate,
    powerset_step,
)
from ltlpipe.search.powerset.index import Index, enlist_all, rehash
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, resize_slots

if TYPE_CHECKING:
    from ltlpipe.search.powerset.automaton import PowersetAutomaton

KINDS = {"tec": TEC, "nsiec": NSIEC, "iec": IEC, "aec": AEC, "aec-closed": AEC}
"""The checks by name."""

_FIRST_RESULTS = 1 << 8


@njit
def call(operation, tables, arrays, row, other):
    """Call an operation on sets; for Python."""
    return operate(operation, tables, arrays, row, other)


class PowersetSearch:
    """One emptiness check of an automaton over sets in progress.

    ``aec`` goes on as ``iec`` where it has found a cycle that need not be there.

    Parameters
    ----------
    automaton : PowersetAutomaton
        Its buffers serve this search alone.
    name : str
        A name of `KINDS`.

    Attributes
    ----------
    registers : int64[N_REGISTERS]
        See `ltlpipe.search.registers.Reg`.
    store : Store
        The sets known so far.
    arrays : Arrays
        See `ltlpipe.search.powerset.checks`.
    approximate_states : int or None
        Sets that aec had visited when it could not tell; None if it could.
    has_found : bool
        Whether the answer is FOUND; it stays so, whatever is stepped on.
    """

    unit_work: ClassVar[float] = 4.0  # microseconds per set, roughly
    granted_bytes: float = math.inf

    def __init__(self, automaton: PowersetAutomaton, name: str) -> None:
        self.automaton = automaton
        self.name = name
        self.approximate_states: int | None = None
        self.has_found = False
        self.operations = automaton.operations()
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        self.registers[Reg.MAX_STATES] = MAX_STATES
        self.registers[Reg.KIND] = KINDS[name]
        self.registers[Reg.ALL_MARKS] = (1 << automaton.n_marks) - 1
        n_initial = len(automaton.initial)
        results = max(_FIRST_RESULTS, n_initial)
        room = FIRST_ENTRIES + results
        self.store = Store(
            rows=np.zeros((room, automaton.n_words), dtype=np.uint64),
            slots=np.zeros(0, dtype=np.uint32),
        )
        self.arrays = Arrays(
            numbers=np.zeros(room, dtype=np.int32),
            active=np.zeros(room, dtype=np.int32),
            chains=Index(
                keys=np.zeros(room, dtype=np.int64),
                following=np.zeros(room, dtype=np.int32),
                heads=np.zeros(room, dtype=np.int32),
            ),
            stack=np.zeros(room + results, dtype=np.int32),
            stack_marks=np.zeros(room + results, dtype=np.uint32),
            roots=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            root_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            entry_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            out_rows=np.zeros((results, automaton.n_words), dtype=np.uint64),
            out_marks=np.zeros(results, dtype=np.uint32),
            ids=np.zeros(results, dtype=np.int32),
            hashes=np.zeros(results, dtype=np.uint64),
        )
        self.store.rows[:n_initial] = automaton.initial
        self.registers[Reg.STORED] = n_initial
        resize_slots(self.store, self.registers, int(room / MAX_LOAD) + 1)
        self._begin()

    def _begin(self) -> None:
        """Put the initial sets on the stack."""
        n_initial = len(self.automaton.initial)
        self.arrays.stack[:n_initial] = np.arange(n_initial)[::-1]
        self.arrays.stack_marks[:n_initial] = 0
        for register in (Reg.COUNT, Reg.N_ROOTS, Reg.DEPTH):
            self.registers[register] = 0
        self.registers[Reg.TOP] = n_initial

    @property
    def n_steps(self) -> int:
        """Sets expanded so far."""
        return int(self.registers[Reg.EXPANSIONS])

    @property
    def n_stored(self) -> int:
        """Number of sets in the store."""
        return int(self.registers[Reg.STORED])

    def coverage(self) -> None:
        """Return None: no set is missed."""

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        return powerset_step, (
            *self.operations,
            self.automaton.tables,
            self.store,
            self.registers,
            self.arrays,
            budget,
        )

    def step(self, budget: int) -> Status:
        """Look at no more than `budget` stack entries."""
        if self.has_found:  # a run may be asked for again, with more memory
            return Status.FOUND
        kernel, arguments = self.kernel_call(budget)
        status = Status(kernel(*arguments))
        if status == Status.FOUND and self._is_deceived():
            self._begin_exact()
            return Status.RUNNING
        self.has_found = status == Status.FOUND
        return status

    def _is_deceived(self) -> bool:
        """Whether an accepting cycle need not be there."""
        if self.registers[Reg.KIND] != AEC:
            return False
        return bool(self.registers[Reg.REPLACED]) or self.automaton.widened()

    def _begin_exact(self) -> None:
        """Begin iec anew; what is removed stays so."""
        self.approximate_states = int(self.registers[Reg.VISITED])
        self.registers[Reg.KIND] = IEC
        self.automaton.narrow()
        numbers, index = self.arrays.numbers, self.arrays.chains
        numbers[numbers > 0] = 0
        index.heads[:] = 0
        enlist_all(index, numbers, self.n_stored, REMOVED)
        self._begin()

    def index_active(self) -> None:
        """Leave just the active sets in the chains; for runs, after FOUND."""
        arrays, index = self.arrays, self.arrays.chains
        if self.registers[Reg.KIND] == TEC:
            for state in arrays.active[: self.registers[Reg.COUNT]].tolist():
                index.keys[state] = self.key(self.store.rows[state])
        index.heads[:] = 0
        enlist_all(index, arrays.numbers, self.n_stored, 1)

    def key(self, row: np.ndarray) -> int:
        """Return the key of a set, as the index has it."""
        return int(self._call(self.operations.key, row, row)) | 1

    def includes(self, row: np.ndarray, other: np.ndarray) -> bool:
        """Return whether the first of two sets includes the second."""
        return bool(self._call(self.operations.includes, row, other))

    def _call(self, operation: Any, row: np.ndarray, other: np.ndarray) -> int:
        arrays = self.arrays
        return int(call(operation, self.automaton.tables, arrays, row, other))

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        return total_bytes((self.store, self.arrays, self.automaton.tables))

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each set beside its row and slot."""
        return 8.0 if self.registers[Reg.KIND] == TEC else 24.0

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next set may lack it.

        Raises
        ------
        OutOfMemoryError
            The arrays would need more than `limit_bytes`, or the system refuses to
            give more.
        """
        try:
            if self.registers[Reg.MORE]:
                self.registers[Reg.MORE] = 0
                self._grow_results(limit_bytes)
            self._grow_sets(limit_bytes)
            self._grow_stacks(limit_bytes)
        except MemoryError as error:
            raise OutOfMemoryError from error

    def _grow_results(self, limit_bytes: float) -> None:
        arrays = self.arrays
        results = (arrays.out_rows, arrays.out_marks, arrays.ids, arrays.hashes)
        lengthen(results, 2 * arrays.ids.shape[0], limit_bytes - self.memory_bytes)

    def _grow_sets(self, limit_bytes: float) -> None:
        arrays, rows, slots = self.arrays, self.store.rows, self.store.slots
        index = arrays.chains
        needed = self.n_stored + arrays.ids.shape[0]
        if needed > MAX_STATES:
            raise OutOfMemoryError
        of_sets = (rows, arrays.numbers, arrays.active, *index)
        if lengthen(of_sets, needed, limit_bytes - self.memory_bytes):
            index.heads[:] = 0
            count = int(self.registers[Reg.COUNT])
            rehash(index, arrays.numbers, arrays.active, count, self.n_stored)
        if needed > MAX_LOAD * slots.shape[0]:
            minimum, free = int(needed / MAX_LOAD) + 1, limit_bytes - self.memory_bytes
            length = affordable_length(slots, minimum, 4, free)
            resize_slots(self.store, self.registers, length)

    def _grow_stacks(self, limit_bytes: float) -> None:
        arrays, registers = self.arrays, self.registers
        stacks = (arrays.stack, arrays.stack_marks)
        needed = int(registers[Reg.TOP]) + arrays.ids.shape[0] + 2
        lengthen(stacks, needed, limit_bytes - self.memory_bytes)
        roots = (arrays.roots, arrays.root_marks, arrays.entry_marks)
        needed = int(registers[Reg.N_ROOTS]) + 1
        lengthen(roots, needed, limit_bytes - self.memory_bytes)

    def statistics(self) -> dict[str, int]:
        """Return what only these searches count."""
        registers = self.registers
        found = {
            "sets_left_out": int(registers[Reg.DOMINATED]),
            "sets_replaced": int(registers[Reg.REPLACED]),
            "parts": int(registers[Reg.PARTS]),
            "compared": int(registers[Reg.COMPARED]),
        }
        if self.approximate_states is not None:
            found["approximate_states"] = self.approximate_states
        return found

    def assert_consistent(self) -> None:
        """Check the invariants that `ltlpipe.search.powerset.checks` states."""
        arrays, registers = self.arrays, self.registers
        count, n_roots = int(registers[Reg.COUNT]), int(registers[Reg.N_ROOTS])
        active = arrays.active[:count]
        assert np.array_equal(arrays.numbers[active], np.arange(1, count + 1))
        assert np.count_nonzero(arrays.numbers[: self.n_stored] > 0) == count
        roots = arrays.roots[:n_roots]
        assert (np.diff(roots) > 0).all()
        assert n_roots == 0 or (roots[0] == 1 and roots[-1] <= count)
        listed = []
        for first in arrays.chains.heads.tolist():
            while first:
                listed.append(first - 1)
                first = int(arrays.chains.following[first - 1])
        assert len(set(listed)) == len(listed)
        if registers[Reg.KIND] != TEC:
            assert set(active.tolist()) <= set(listed)
        assert (arrays.numbers[listed] != 0).all()

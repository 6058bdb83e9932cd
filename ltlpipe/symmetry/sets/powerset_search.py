"""Automata over sets of states, and their emptiness checks as the driver takes them.

The kernels of these are in `ltlpipe.symmetry.sets.inclusion_checks`, with source and
cost.

The states of an automaton over sets are rows of 64-bit words, each of which stands for
a set of states of an *underlying* automaton.  Five properties tie the two (Def. 5 of
the source): sets are not empty (1); the marks are the same (2); the initial sets make
up the initial states (3); what a state of a set can reach in one step is in a successor
of the set, with the same marks (4); and each state of a successor can be reached in one
step from some state of the set, with the same marks (5).  Then both accept a run, or
neither.

All operations have one signature and are called through pointers, so that the searches
are compiled once::

    operation(tables, row, other, out_rows, out_marks) -> number

tables : Tables
    The automaton's own.
row, other : uint64[n_words]
    One set or two.
out_rows, out_marks : uint64[k, n_words], uint32[k]
    Results that are sets.

``successors``
    Writes the successors of `row` and the marks of the transitions to them; returns
    their number.  If there are more, ``-2 - n`` says that n are written, and the next
    call, with an empty `other` (uint64[0]), goes on behind them; before it no other
    operation may use the tables.  -1 says that those of one state alone do not fit.
``includes``
    Returns 1 if the set `row` includes the set `other`, else 0.
``decompose``
    `other` is included in `row`: writes sets that are disjoint from it and make up
    `row` with it; returns their number, or -1 if there are more than k.
``key``
    Returns a number that is the same for sets of which one includes the other.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Secs. 2, 3 and 6.3.

Differences from the source: Decomp returns what completes the given subset, not that
subset itself; the key stands for both levels of the hash table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import njit, operation_signature, pointer
from ltlpipe.search.emptiness import StoredSearch
from ltlpipe.search.growth import INT32, INT64, UINT32, lengthen, total_bytes
from ltlpipe.search.registers import Reg, Status
from ltlpipe.symmetry.sets.inclusion_checks import (
    AEC,
    ALARM,
    IEC,
    NSIEC,
    REMOVED,
    TEC,
    WITHIN,
    Arrays,
    Index,
    enlist_all,
    operate,
    powerset_step,
    rehash,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout


class Tables(NamedTuple):
    """The tables and buffers of the operations; their use is the automaton's affair."""

    ints: np.ndarray  # int64[...]
    words: np.ndarray  # uint64[...]
    scratch: np.ndarray  # int64[k, m]
    step_rows: np.ndarray  # uint64[s, n_words]


class Operations(NamedTuple):
    """Four functions of one signature, and the tables that they take."""

    successors: Any
    includes: Any
    decompose: Any
    key: Any
    tables: Tables


@dataclass(frozen=True)
class PowersetAutomaton:
    """An automaton over sets, as the searches take it.

    A run is accepted iff it sees each mark infinitely often.  If a successor was made
    larger than it is (`widened`), property 5 may not hold, and a run that is accepted
    need not be there; `narrow` makes successors what they are from then on.
    """

    made_of: Operations  # not yet compiled; the buffers serve one search at a time
    initial: np.ndarray  # uint64[n, n_words], the initial sets, n >= 1
    n_marks: int
    widened: Callable[[], bool] = lambda: False
    narrow: Callable[[], None] = lambda: None

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return int(self.initial.shape[1])

    @property
    def tables(self) -> Tables:
        """The tables of the operations."""
        return self.made_of.tables

    def ready(self) -> Job[None]:
        """Have the operations compiled, or load their machine code."""
        from ltlpipe.runtime.kernels.compilation import ready_pointer

        for function in self.made_of[:-1]:
            yield from ready_pointer(function, operation_signature(Tables))

    def operations(self) -> Operations:
        """Return the operations as kernels take them."""
        signature = operation_signature(Tables)
        made = (pointer(function, signature) for function in self.made_of[:-1])
        return Operations._make([*made, self.tables])


KINDS = {"tec": TEC, "nsiec": NSIEC, "iec": IEC, "aec": AEC, "aec-closed": AEC}
"""The checks by name."""

FEW_INSIDE = 64
"""Sets that may be visited to realise an alarm, however early it was given."""

_FIRST_RESULTS = 1 << 8


@njit
def call(operation, operations, arrays, row, other):
    """Call an operation on sets; for Python."""
    return operate(operation, operations, arrays, row, other)


class PowersetSearch(StoredSearch):
    """One emptiness check of an automaton over sets in progress, by a name of `KINDS`.

    Where ``aec`` has found a cycle that need not be there, it looks for one inside of
    the sets on its stack, and goes on as ``iec`` if there is none: `approximate_states`
    are the sets that it had visited when it gave the alarm, and `inside_states` those
    that were visited inside in vain, else None.  The automaton's buffers serve this
    search alone.  Once `has_found`, the answer stays
    FOUND, whatever is stepped on.
    """

    unit_work: ClassVar[float] = 1.0  # microseconds per unit of work, roughly
    counts: ClassVar = {
        "sets_left_out": Reg.DOMINATED,
        "sets_replaced": Reg.REPLACED,
        "parts": Reg.PARTS,
        "compared": Reg.COMPARED,
    }
    arrays: Arrays

    def __init__(self, automaton: PowersetAutomaton, name: str) -> None:
        self.automaton = automaton
        self.name = name
        self.approximate_states: int | None = None
        self.inside_states: int | None = None
        self._removed = np.zeros(0, dtype=np.uint8)  # bits of those before an alarm
        self.has_found = False
        self.operations = automaton.operations()
        super().__init__()
        self.registers[Reg.KIND] = KINDS[name]
        self.registers[Reg.ALL_MARKS] = (1 << automaton.n_marks) - 1
        self._new_store(automaton.initial)
        self._begin()

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {
                "numbers": INT32,
                "active": INT32,
                "chains.keys": INT64,
                "chains.following": INT32,
                "chains.heads": INT32,
            },
            Reg.TOP: {"stack": INT32, "stack_marks": UINT32},
            Reg.N_ROOTS: {"roots": INT32, "root_marks": UINT32, "entry_marks": UINT32},
        }

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        n = self._branching
        return Arrays(
            chains=Index(*(made.pop(f"chains.{name}") for name in Index._fields)),
            out_rows=np.zeros((n, self.automaton.n_words), dtype=np.uint64),
            out_marks=np.zeros(n, dtype=np.uint32),
            ids=np.zeros(n, dtype=np.int32),
            hashes=np.zeros(n, dtype=np.uint64),
            **made,
        )

    @property
    def _branching(self) -> int:
        if hasattr(self, "arrays"):
            return int(self.arrays.ids.shape[0])
        return max(_FIRST_RESULTS, len(self.automaton.initial))

    def _begin(self) -> None:
        """Put the initial sets on the stack."""
        n_initial = len(self.automaton.initial)
        self.arrays.stack[:n_initial] = np.arange(n_initial)[::-1]
        self.arrays.stack_marks[:n_initial] = 0
        for register in (Reg.COUNT, Reg.N_ROOTS, Reg.DEPTH, Reg.PENDING):
            self.registers[register] = 0
        self.registers[Reg.TOP] = n_initial

    @property
    def n_steps(self) -> int:
        """Units of work done so far."""
        return int(self.registers[Reg.WORK])

    @property
    def work_per_step(self) -> float:
        """Microseconds that a unit takes, roughly."""
        return self.unit_work

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        arguments = (self.operations, self.store, self.registers, self.arrays, budget)
        return powerset_step, arguments

    def step(self, budget: int) -> Status:
        """Do no more than `budget` units of work, or one result more."""
        if self.has_found:  # a run may be asked for again, with more memory
            return Status.FOUND
        status = super().step(budget)
        if status == Status.FOUND and self._is_deceived():
            self._begin_inside()
            return Status.RUNNING
        if status == Status.EMPTY and self.registers[Reg.KIND] == WITHIN:
            self._begin_exact()
            return Status.RUNNING
        self.has_found = status == Status.FOUND
        return status

    def _is_deceived(self) -> bool:
        """Whether an accepting cycle need not be there."""
        if self.registers[Reg.KIND] != AEC:
            return False
        return bool(self.registers[Reg.REPLACED]) or self.automaton.widened()

    def _begin_inside(self) -> None:
        """Begin to look for a cycle inside of the sets of an alarm."""
        visited = int(self.registers[Reg.VISITED])
        self.approximate_states = visited
        self.registers[Reg.KIND] = WITHIN
        self.registers[Reg.INSIDE_LIMIT] = visited + max(visited, FEW_INSIDE)
        self.automaton.narrow()
        numbers = self.arrays.numbers
        self._removed = np.packbits(numbers[: self.n_stored] == REMOVED)
        numbers[numbers > 0] = ALARM
        self._begin()

    def _begin_exact(self) -> None:
        """Begin iec anew; what was removed before the alarm stays so."""
        assert self.approximate_states is not None  # since the alarm
        visited = int(self.registers[Reg.VISITED])
        self.inside_states = visited - self.approximate_states
        self.registers[Reg.KIND] = IEC
        numbers, index = self.arrays.numbers, self.arrays.chains
        removed = np.flatnonzero(np.unpackbits(self._removed))
        numbers[:] = 0
        numbers[removed] = REMOVED
        self._removed = self._removed[:0]
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
        return int(call(operation, self.operations, self.arrays, row, other))

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        arrays = (self.store, self.arrays, self.automaton.tables)
        return total_bytes(arrays) + self._removed.nbytes

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each set beside its row and slot."""
        return 8.0 if self.registers[Reg.KIND] == TEC else 24.0

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        if self.registers[Reg.MORE]:
            self.registers[Reg.MORE] = 0
            arrays = self.arrays
            results = (arrays.out_rows, arrays.out_marks, arrays.ids, arrays.hashes)
            lengthen(results, 2 * self._branching, limit_bytes - self.memory_bytes)
        yield from super()._grow(limit_bytes)

    def _follow(self) -> None:
        arrays, index = self.arrays, self.arrays.chains
        n_heads = len(index.heads)
        super()._follow()
        if len(index.heads) != n_heads:
            index.heads[:] = 0
            count = int(self.registers[Reg.COUNT])
            rehash(index, arrays.numbers, arrays.active, count, self.n_stored)

    def statistics(self) -> dict[str, int]:
        """Return what only these searches count."""
        found = super().statistics()
        if self.approximate_states is not None:
            inside = int(self.registers[Reg.VISITED]) - self.approximate_states
            before = self.inside_states
            found["approximate_states"] = self.approximate_states
            found["inside_states"] = inside if before is None else before
            found["realised"] = int(self.has_found and before is None)
        return found

"""The base of all emptiness checks: arrays, their growth, results.

An algorithm is a subclass of `Search` that declares which arrays it keeps per state
and on its stacks, what it counts, and which kernel advances it; allocation, growth,
memory and statistics follow from that.

All kernels have one signature, ``step(expand, product, store, registers, arrays,
budget)``.  They expand at most `budget` >= 1 states, change `registers` (a `Reg` each)
and the arrays in place, and return a Status; GROW comes before any write, so that the
call can be repeated.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.errors import ReplayError, UnsupportedError, warn
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search.driver import EXTRACTING, Resumable, advance
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    MAX_STATES,
    ROUNDING,
    DiskFullError,
    OutOfMemoryError,
    affordable_length,
    file_bytes,
    in_file,
    is_mapped,
    total_bytes,
    zeros,
)
from ltlpipe.search.interning import FEWEST_WORDS, fold_rows, new_tree, parts_per_row
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import (
    MAX_LOAD,
    Store,
    fill,
    resize_slots,
    with_room,
    with_slots,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from enum import IntEnum

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_SWEPT = 2 / 3  # of a stack that has been swept: with more it grows
_SPILLED = 8 << 20  # bytes that are moved to a file without a pause


@dataclass(frozen=True)
class ProductLasso:
    """A lasso of the product: k prefix steps and a cycle of c >= 1 steps.

    An action is the system's; -1 repeats a state without successors.
    """

    prefix: np.ndarray  # int32[k + 1], ids from the initial state to the cycle
    cycle: np.ndarray  # int32[c + 1], from there back to there
    prefix_actions: np.ndarray  # int32[k]
    cycle_actions: np.ndarray  # int32[c]


class StoredSearch(Resumable):
    """A search that stores states, with arrays that it declares.

    Attributes
    ----------
    store : Store
        The states known so far.
    arrays : NamedTuple
        The algorithm's own.
    """

    array_type: ClassVar[type[Any]]  # of `arrays`
    counts: ClassVar[dict[str, IntEnum]] = {}  # what only this algorithm counts

    waiting: ClassVar[tuple[IntEnum, ...]] = (Reg.TOP, Reg.N_FSTATES)
    # Of arrays on which states wait, each successor in an entry of its own.

    arrays: Any
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self._columns = self._layout()

    @property
    @abstractmethod
    def _branching(self) -> int:
        """The most successors of a state."""

    @abstractmethod
    def _layout(self) -> Layout:
        """Declare the arrays; those counted by STORED have an entry per state.

        "part.name" is the array `name` of the tuple `part` among the arrays.
        """

    def _new_arrays(self, n_states: int) -> Any:
        """Return the algorithm's NamedTuple of arrays."""
        return self._as_arrays(self._new_columns(n_states))

    def _new_columns(self, n_states: int) -> dict[str, Any]:
        """Return new arrays, those that are declared, by their names."""
        made: dict[str, Any] = {}
        for register, columns in self._columns.items():
            of_states = register == Reg.STORED
            needed = FIRST_ENTRIES + self._needed(register, self.registers)
            made |= zeros(columns, n_states if of_states else needed)
        return made

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Any:
        """Return the NamedTuple of the arrays declared, and what else is in it."""
        return self.array_type(**made)

    def _new_store(self, initial: np.ndarray) -> None:
        """Make all arrays, and store the initial states, uint64[n, n_words]."""
        self.n_words = initial.shape[1]
        room = self._branching + FIRST_ENTRIES + len(initial)
        tree = roots = None
        if self._compresses and initial.shape[1] >= FEWEST_WORDS:
            tree = new_tree(initial.shape[1], len(initial), self._branching)
            rows, initial = initial, np.zeros((len(initial), 1), dtype=np.uint64)
            fold_rows(tree, rows, initial)
            roots = np.zeros((self._branching, 1), dtype=np.uint64)
        self.store = Store(
            rows=np.zeros((room, initial.shape[1]), dtype=np.uint64),
            slots=np.zeros(0, dtype=np.uint32),
            tree=tree,
            roots=roots,
        )
        self.arrays = self._new_arrays(room)
        self.store.rows[: len(initial)] = initial
        self.registers[Reg.STORED] = len(initial)
        for _ in resize_slots(self.store, self.registers, int(room / MAX_LOAD) + 1):
            pass
        for _ in self._grow_states(math.inf):
            pass

    @property
    def _compresses(self) -> bool:
        """Whether rows of several words are kept as trees."""
        return False

    @property
    def n_stored(self) -> int:
        """Number of states in the store."""
        return int(self.registers[Reg.STORED])

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each state beside its row and slot."""
        return self._entry_bytes(Reg.STORED)

    def _entry_bytes(self, register: IntEnum) -> float:
        """Return the bytes of an entry of all arrays of one register."""
        columns = self._columns.get(register, {})
        return sum(column.entry_bytes for column in columns.values())

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return {name: int(self.registers[r]) for name, r in self.counts.items()}

    def _needed(self, register: IntEnum, registers: np.ndarray) -> int:
        """Return the entries that one more expansion can need in all."""
        more = self._branching + 2 if register in self.waiting else 1
        return int(registers[register]) + more

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        try:
            yield from self._grow_arrays(limit_bytes)
        except (OutOfMemoryError, MemoryError):
            if self._spill_folder is None or is_mapped(self.store.slots):
                raise
            yield from self._spill(self._spill_folder)
            yield from self._grow_arrays(limit_bytes)

    @property
    def _spill_folder(self) -> str | None:
        """Where rows and slots go if memory is short; None if they stay."""
        return None

    def _spill(self, folder: str) -> Iterator[None]:
        """Move rows and slots to files, with pauses."""
        for name in ("rows", "slots"):
            array = getattr(self.store, name)
            if is_mapped(array):  # memory was refused half-way
                continue
            with self._room_on_disk():
                copy = in_file(folder, array)
            size = max(_SPILLED // array.strides[0], 1)
            for first in range(0, len(array), size):
                copy[first : first + size] = array[first : first + size]
                yield
            self.store = self.store._replace(**{name: copy})
            del array, copy

    @contextmanager
    def _room_on_disk(self) -> Iterator[None]:
        """Where the disk is full, say so and run out of memory."""
        try:
            yield
        except DiskFullError as error:
            warn(
                f"--spill={self._spill_folder}: {error}: the search ends at its limit "
                "of memory"
            )
            raise OutOfMemoryError from None

    @property
    def file_bytes(self) -> int:
        """Bytes of its arrays that lie in files."""
        return file_bytes((self.store.rows, self.store.slots))

    def _grow_arrays(self, limit_bytes: float) -> Iterator[None]:
        yield from self._grow_states(limit_bytes)
        yield from self._grow_stacks(self.arrays, self.registers, limit_bytes)
        self._follow()  # once more: memory may have been refused half-way

    def _grow_stacks(
        self, arrays: Any, registers: np.ndarray, limit_bytes: float
    ) -> Iterator[None]:
        """Make room in the arrays that other registers than STORED count."""
        for register, columns in self._columns.items():
            if register == Reg.STORED:
                continue
            stacks = [attrgetter(name)(arrays) for name in columns]
            length = len(stacks[0])
            if self._needed(register, registers) > length:
                if register == Reg.TOP:
                    yield from self._sweep()
                needed = self._needed(register, registers)
                if needed > _SWEPT * length:
                    entry_bytes = self._entry_bytes(register)
                    length = self._new_length(
                        stacks[0], needed, limit_bytes, entry_bytes
                    )
            for stack, column in zip(stacks, columns.values(), strict=True):
                stack.resize(column.shape(length), refcheck=False)

    def _sweep(self) -> Iterator[None]:
        """Take off a full stack what can be taken off, with pauses."""
        yield from ()

    def _follow(self) -> None:
        """Give each state that has a row its entries."""
        for name, column in self._columns.get(Reg.STORED, {}).items():
            shape = column.shape(len(self.store.rows))
            attrgetter(name)(self.arrays).resize(shape, refcheck=False)

    @property
    def _state_bytes(self) -> float:
        """Bytes by which the arrays grow with a state, its row and slot apart."""
        return self._entry_bytes(Reg.STORED)

    @property
    def _more_states(self) -> int:
        """The most states that are stored before room is looked at again."""
        return self._branching

    def _grow_states(self, limit_bytes: float) -> Iterator[None]:
        table = self.registers, self._more_states, limit_bytes
        self.store = self._with_rows(self.store, *table, self._state_bytes)
        self._follow()
        self.store = yield from self._with_slots(self.store, *table)
        tree = self.store.tree
        if tree is not None:
            more = self._more_states * parts_per_row(tree)
            table = tree.registers, more, limit_bytes
            self._with_rows(tree.parts, *table, 0)
            yield from self._with_slots(tree.parts, *table)

    def _with_rows(
        self,
        store: Store,
        registers: np.ndarray,
        more: int,
        limit_bytes: float,
        row_bytes: float,
    ) -> Store:
        """Make room for more rows, which take so many bytes beside their words."""
        rows, needed = store.rows, int(registers[Reg.STORED]) + more
        if needed > MAX_STATES:
            raise OutOfMemoryError
        if needed <= len(rows):
            return store
        row_bytes += 0 if is_mapped(rows) else 8 * rows.shape[1]
        length = self._new_length(rows, needed, limit_bytes, max(row_bytes, 1 / 64))
        with self._room_on_disk():
            return with_room(store, min(length, MAX_STATES))

    def _with_slots(
        self, store: Store, registers: np.ndarray, more: int, limit_bytes: float
    ) -> Generator[None, None, Store]:
        """Make room for the slots of more rows, with pauses."""
        slots, needed = store.slots, int(registers[Reg.STORED]) + more
        if needed > MAX_LOAD * len(slots):
            length = int(needed / MAX_LOAD) + 1
            if not is_mapped(slots):
                length = self._new_length(slots, length, limit_bytes, 4, rebuilt=True)
            with self._room_on_disk():
                store = with_slots(store, length)
            yield from self._fill(store, registers)
        return store

    def _fill(self, store: Store, registers: np.ndarray) -> Iterator[None]:
        """Enter all rows into empty slots, with pauses."""
        return fill(store, registers)

    def _new_length(
        self,
        array: np.ndarray,
        needed: int,
        limit_bytes: float,
        entry_bytes: float,
        *,
        rebuilt: bool = False,
    ) -> int:
        """Return the new length of `array`: generous, but within the limit."""
        free = limit_bytes - self.memory_bytes - ROUNDING
        length = array.shape[0]
        return affordable_length(length, needed, entry_bytes, free, rebuilt=rebuilt)


class Search(StoredSearch):
    """One emptiness check in progress.

    Parameters
    ----------
    problem : Problem
        The product to search.
    known : Search, optional
        A search over the same product that has ended; its store is taken over.

    Raises
    ------
    UnsupportedError
        The product's acceptance is more than the algorithm takes.
    """

    name: ClassVar[str]
    generalised: ClassVar[bool]  # takes any number of marks, on transitions
    fin_less: ClassVar[bool] = False  # takes conditions without Fin, too
    emerson_lei: ClassVar[bool] = False  # takes every condition
    takes_workers: ClassVar[bool] = False  # is made with a number of `workers`

    kernel: Callable[..., int]  # advances the search, returns a Status

    def __init__(self, problem: Problem, *, known: Search | None = None) -> None:
        if not self.generalised and (problem.n_marks > 1 or not problem.state_based):
            raise UnsupportedError(
                f"{self.name} takes one acceptance mark on states: "
                "use --emptiness=couvreur99"
            )
        self._refuse_condition(problem)
        self.problem = problem
        super().__init__()
        self.extraction_bytes = 0  # of another search that extracted the lasso
        if known is None:
            self._new_store(problem.initial[np.newaxis])
        else:
            self.store = known.store
            for register in (Reg.STORED, Reg.ID_BITS):
                self.registers[register] = known.registers[register]
            self.arrays = self._new_arrays(self.store.rows.shape[0])
        self._begin()

    def _refuse_condition(self, problem: Problem) -> None:
        """Raise UnsupportedError where the condition is beyond the algorithm."""
        condition = problem.condition
        if condition is None or self.emerson_lei:
            return
        if self.fin_less and not condition.fin_marks:
            return
        taken = "conditions without Fin" if self.fin_less else "generalised Büchi"
        raise UnsupportedError(
            f"{self.name} takes {taken}, not {condition}: use --emptiness=tela"
        )

    def _begin(self) -> None:
        """Put the initial state, id 0, on the stack."""
        self.arrays.stack[0] = 0
        self.registers[Reg.TOP] = 1

    @property
    def _compresses(self) -> bool:
        return self.problem.compress

    @property
    def _spill_folder(self) -> str | None:
        return self.problem.spill

    @property
    def _branching(self) -> int:
        return int(self.problem.product.ids.shape[0])

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.arrays.numbers[: self.n_stored] != 0)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND.

        Raises `StoppedError` if the run had to be looked for further, and a limit is
        hit.
        """
        raise AssertionError(f"{self.name} looks for no run")

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        problem = self.problem
        return self.kernel, (
            problem.expand,
            problem.product,
            self.store,
            self.registers,
            self.arrays,
            budget,
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        return total_bytes((self.store, self.arrays, self.problem.product))

    def run_on(self, held_bytes: float = 0) -> Job[None]:
        """Search on to an accepting run that is known to be there.

        Others hold `held_bytes` meanwhile.  Raises `StoppedError` if memory does not
        suffice, or the limit of states is hit.
        """
        outcome = yield from advance(
            self,
            max_states=int(self.registers[Reg.MAX_STATES]),
            phase=EXTRACTING,
            held_bytes=held_bytes,
        )
        if outcome.reason is not None:
            raise StoppedError(outcome.reason)
        if outcome.status != Status.FOUND:
            raise ReplayError("the search reported a run that is not there")

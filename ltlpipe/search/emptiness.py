"""What every emptiness check has in common: its arrays, their growth, its result.

An algorithm is a subclass of `Search` that says which arrays it keeps per state
and on its stacks, and which kernel advances it.  The driver
(`ltlpipe.search.driver`) sees nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, resize_slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.search.driver import Interrupt, Limits
    from ltlpipe.search.paths import ProductLasso
    from ltlpipe.search.problem import Problem

_GROWTH = 1.5
_FIRST_STATES = 1 << 10
_BUDGET = 1 << 15
_ROUNDING = 64  # bytes by which packed arrays may exceed what their entries need
FIRST_ENTRIES = 1 << 10
"""Entries of a new stack, beside the room that one expansion needs."""

MAX_STATES = 1 << 30
"""State ids that a stack entry can hold."""


class Interrupted(Exception):  # noqa: N818 (not an error: a request)
    """The extraction of a run was ended by Ctrl-C or by a limit.

    Parameters
    ----------
    reason : str
        "interrupted", "timeout", "memory" or "max-states".
    """

    def __init__(self, reason: str = "interrupted") -> None:
        super().__init__(reason)
        self.reason = reason


class OutOfMemoryError(Exception):
    """An array would have to grow beyond the limit."""


def total_bytes(tables: Any) -> int:
    """Return the bytes of all arrays in nested tuples; one that stands twice is one."""
    different = {id(array): array.nbytes for array in _arrays_in(tables)}
    return int(sum(different.values()))


def _arrays_in(tables: Any) -> Iterator[np.ndarray]:
    if isinstance(tables, np.ndarray):
        yield tables
    elif tables is not None:
        for part in tables:
            yield from _arrays_in(part)


def affordable_length(
    array: np.ndarray, needed: int, entry_bytes: float, free_bytes: float
) -> int:
    """Return how long an array shall be: longer by half, or what memory is left for.

    Parameters
    ----------
    array : ndarray
        It is not changed.
    needed : int
        Entries that it shall have at least.
    entry_bytes : float
        Bytes of an entry, those of arrays that follow its length included.
    free_bytes : float
        What may be taken.

    Raises
    ------
    OutOfMemoryError
        That does not suffice.
    """
    length = array.shape[0]
    affordable = length + int(min(free_bytes, 1 << 50) // entry_bytes)
    # Growing by crumbs would take for ever; then the limit is reached.
    least = max(needed, int(1.05 * length))
    if affordable < least:
        raise OutOfMemoryError
    return int(min(max(least, _GROWTH * length), affordable))


def lengthen(arrays: Sequence[np.ndarray], needed: int, free_bytes: float) -> bool:
    """Make arrays of equal length longer by half if they have too few entries.

    Parameters
    ----------
    arrays : sequence of ndarray
        Resized in place along their first axis; new entries are 0.
    needed : int
        Entries that they shall have at least.
    free_bytes : float
        What may be taken.

    Returns
    -------
    bool
        Whether they have become longer.

    Raises
    ------
    OutOfMemoryError
        That takes more than `free_bytes`; nothing is changed.
    """
    length = arrays[0].shape[0]
    if needed <= length:
        return False
    longer = max(needed, int(_GROWTH * length))
    if (longer - length) * sum(array.strides[0] for array in arrays) > free_bytes:
        raise OutOfMemoryError
    for array in arrays:
        array.resize((longer, *array.shape[1:]), refcheck=False)
    return True


class Search(ABC):
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

    Attributes
    ----------
    registers : int64[N_REGISTERS]
        See `ltlpipe.search.registers.Reg`.
    store : Store
        The states known so far.
    """

    name: ClassVar[str]
    generalised: ClassVar[bool]  # takes any number of marks, on transitions
    fin_less: ClassVar[bool] = False  # takes conditions without Fin, too
    emerson_lei: ClassVar[bool] = False  # takes every condition
    bytes_per_state: float  # beside the state's row and slot

    kernel: Callable[..., int]  # advances the search, returns a Status

    arrays: Any  # the algorithm's own NamedTuple
    store: Store

    def __init__(self, problem: Problem, *, known: Search | None = None) -> None:
        if not self.generalised and (problem.n_marks > 1 or not problem.state_based):
            raise UnsupportedError(
                f"{self.name} takes one acceptance mark on states: "
                "use --emptiness couvreur99"
            )
        self._refuse_condition(problem)
        self.problem = problem
        if problem.ample is not None:
            self.bytes_per_state += self._ample_bytes()
        self.limits: Limits | None = None  # those it was last driven with
        self.extraction_bytes = 0  # of another search that extracted the lasso
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        self.registers[Reg.MAX_STATES] = MAX_STATES
        if known is None:
            self._new_store()
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
            f"{self.name} takes {taken}, not {condition}: use --emptiness tela"
        )

    def _new_store(self) -> None:
        """Make all arrays, and store the initial state."""
        problem = self.problem
        room = problem.product.ids.shape[0] + _FIRST_STATES
        n_words = problem.initial.shape[0]
        self.store = Store(
            rows=np.zeros((room, n_words), dtype=np.uint64),
            slots=np.zeros(0, dtype=np.uint32),
        )
        self.arrays = self._new_arrays(room)
        self.store.rows[0] = problem.initial
        self.registers[Reg.STORED] = 1
        resize_slots(self.store, self.registers, int(room / MAX_LOAD) + 1)

    @abstractmethod
    def _new_arrays(self, n_states: int) -> Any:
        """Return the algorithm's NamedTuple of arrays."""

    def _ample_bytes(self) -> float:
        """Return the bytes per state that ample sets add."""
        return 0.0

    @abstractmethod
    def _begin(self) -> None:
        """Put the initial state, id 0, on the stack."""

    @abstractmethod
    def _stacks(self) -> dict[str, tuple[int, float]]:
        """Return, per stack, the length one more expansion needs, and bytes per entry.

        The bytes are those of the stack and of the arrays that `_follow` gives
        its length.
        """

    @abstractmethod
    def _follow(self) -> None:
        """Resize the arrays whose lengths depend on others'."""

    @abstractmethod
    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""

    @abstractmethod
    def lasso(self, interrupt: Interrupt | None = None) -> ProductLasso:
        """Return a short accepting run; the search must have answered FOUND.

        Raises
        ------
        Interrupted
            `interrupt` was pressed meanwhile, or the run had to be looked for
            further and a limit was hit.
        """

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""

    def coverage(self) -> float | None:
        """Return the estimated share of states not missed; None if none can be."""
        return None

    @abstractmethod
    def assert_consistent(self) -> None:
        """Check the invariants that the module states; for tests."""

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""
        problem = self.problem
        return Status(
            self.kernel(
                problem.expand,
                problem.product,
                self.store,
                self.registers,
                self.arrays,
                budget,
            )
        )

    @property
    def n_stored(self) -> int:
        """Number of states in the store."""
        return int(self.registers[Reg.STORED])

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        return total_bytes((self.store, self.arrays, self.problem.product))

    def _stack_room(self) -> int:
        """Return the stack entries that one more expansion can need in all."""
        return int(self.registers[Reg.TOP] + self.problem.product.ids.shape[0] + 2)

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next expansion may lack it.

        Raises
        ------
        OutOfMemoryError
            The arrays would need more than `limit_bytes`, or the system
            refuses to give more.
        """
        try:
            self._grow_states(limit_bytes)
            for name, (needed, entry_bytes) in self._stacks().items():
                array = getattr(self.arrays, name)
                if needed > array.shape[0]:
                    length = self._new_length(array, needed, limit_bytes, entry_bytes)
                    array.resize(length, refcheck=False)
            self._follow()
        except MemoryError as error:
            raise OutOfMemoryError from error

    def _grow_states(self, limit_bytes: float) -> None:
        needed = self.n_stored + self.problem.product.ids.shape[0]
        if needed > MAX_STATES:
            raise OutOfMemoryError
        rows, slots = self.store
        if needed > rows.shape[0]:
            row_bytes = 8 * rows.shape[1] + self.bytes_per_state
            length = self._new_length(rows, needed, limit_bytes, row_bytes)
            rows.resize((length, rows.shape[1]), refcheck=False)
            self._follow()
        if needed > MAX_LOAD * slots.shape[0]:
            minimum = int(needed / MAX_LOAD) + 1
            length = self._new_length(slots, minimum, limit_bytes, 4)
            resize_slots(self.store, self.registers, length)

    def _new_length(
        self,
        array: np.ndarray,
        needed: int,
        limit_bytes: float,
        entry_bytes: float,
    ) -> int:
        """Return how long `array` shall be: generously, but within the limit."""
        free = limit_bytes - self.memory_bytes - _ROUNDING
        return affordable_length(array, needed, entry_bytes, free)

    def run_on(self, interrupt: Interrupt | None, limits: Limits | None) -> None:
        """Search on to an accepting run that is known to be there.

        Raises
        ------
        Interrupted
            `interrupt` was pressed, or a limit is hit.
        """
        status = Status.RUNNING
        while status != Status.FOUND:
            if interrupt is not None and interrupt.pressed:
                raise Interrupted
            if limits is not None and limits.expired:
                raise Interrupted("timeout")
            if status == Status.GROW:
                try:
                    self.grow(float("inf") if limits is None else limits.memory_bytes)
                except OutOfMemoryError as error:
                    raise Interrupted("memory") from error
            elif status == Status.LIMIT:
                raise Interrupted("max-states")
            elif status != Status.RUNNING:
                raise RuntimeError("the search reported a run that is not there")
            status = self.step(_BUDGET)

"""What every emptiness check has in common: its arrays, their growth, its result.

An algorithm is a subclass of `Search` that says which arrays it keeps per state
and on its stacks, and which kernel advances it.  The driver
(`ltlpipe.search.driver`) sees nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search.driver import EXTRACTING, advance
from ltlpipe.search.growth import (
    MAX_STATES,
    OutOfMemoryError,
    affordable_length,
    total_bytes,
)
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, resize_slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem

_FIRST_STATES = 1 << 10
_ROUNDING = 64  # bytes by which packed arrays may exceed what their entries need


@dataclass(frozen=True)
class ProductLasso:
    """An accepting run of the product, with its actions.

    Parameters
    ----------
    prefix : int32[k + 1]
        State ids from the initial state to where the cycle begins.
    cycle : int32[c + 1]
        State ids from there back to there, c >= 1.
    prefix_actions, cycle_actions : int32[k], int32[c]
        Actions of the system; -1 is the repetition of a state without
        successors.
    """

    prefix: np.ndarray
    cycle: np.ndarray
    prefix_actions: np.ndarray
    cycle_actions: np.ndarray


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
    unit_work: ClassVar[float] = 1.0  # microseconds per expansion, roughly
    bytes_per_state: float  # beside the state's row and slot

    kernel: Callable[..., int]  # advances the search, returns a Status

    arrays: Any  # the algorithm's own NamedTuple
    store: Store
    granted_bytes: float = math.inf  # what the arrays may take, by the latest grant

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
    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND.

        Raises
        ------
        StoppedError
            The run had to be looked for further, and memory does not suffice or the
            limit of states is hit.
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
        kernel, arguments = self.kernel_call(budget)
        return Status(kernel(*arguments))

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
    def n_steps(self) -> int:
        """Expansions so far."""
        return int(self.registers[Reg.EXPANSIONS])

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

    def run_on(self, held_bytes: float = 0) -> Job[None]:
        """Search on to an accepting run that is known to be there.

        Parameters
        ----------
        held_bytes : float
            What others hold meanwhile.

        Raises
        ------
        StoppedError
            Memory does not suffice, or the limit of states is hit.
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
            raise RuntimeError("the search reported a run that is not there")

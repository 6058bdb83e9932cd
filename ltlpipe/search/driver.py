"""The job that advances a search: budgets, growth, memory."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.jobs import MAX_STATES as TOO_MANY_STATES
from ltlpipe.runtime.jobs import MEMORY, Progress
from ltlpipe.runtime.kernels.compilation import ready, worked
from ltlpipe.search.growth import MAX_STATES, OutOfMemoryError
from ltlpipe.search.registers import N_REGISTERS, Reg, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.runtime.jobs import Grant, Job
    from ltlpipe.runtime.kernels.jit import Interim

_FIRST_BUDGET = 1 << 10
_STEP_SECONDS = 0.05  # what one call of a kernel should take
_TRANSITION_WORK, _WORD_WORK = 0.08, 0.06  # microseconds, for each word of its row
_EXAMINED_WORK = 0.005  # what is looked at when an ample set is chosen
_SIGNED_BITS = 63

SEARCHING, EXTRACTING, TABULATING = "searching", "extracting", "tabulating"
"""Phases of jobs: the search, its run, the tables that it needs."""

OVERFLOW = "overflow"
"""The reason if rows are too narrow for a state of the system."""


@dataclass(frozen=True)
class Outcome:
    """How a search ended."""

    status: Status  # EMPTY, FOUND, or RUNNING if it came to a limit
    reason: str | None = None  # MEMORY, "max-states" or OVERFLOW iff RUNNING


class Resumable(ABC):
    """A search as `advance` takes it.

    Attributes
    ----------
    registers : int64[N_REGISTERS]
        See `ltlpipe.search.registers.Reg`.
    granted_bytes : float
        What its arrays may take, by the latest grant.
    n_words : int
        Words of a row.
    """

    unit_work: ClassVar[float] = 1.0  # microseconds per step, roughly
    granted_bytes: float = math.inf
    n_words: int = 1

    def __init__(self) -> None:
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        self.registers[Reg.MAX_STATES] = MAX_STATES

    @property
    def n_steps(self) -> int:
        """Steps (expansions) taken so far."""
        return int(self.registers[Reg.EXPANSIONS])

    @property
    def work_per_step(self) -> float:
        """Microseconds that a step takes, roughly, by those taken so far.

        More than `unit_work` where states have many successors, or ample sets take
        long to choose.
        """
        registers, n_steps = self.registers, max(self.n_steps, 1)
        per_transition = _TRANSITION_WORK + _WORD_WORK * self.n_words
        work = per_transition * int(registers[Reg.TRANSITIONS])
        work += _EXAMINED_WORK * int(registers[Reg.EXAMINED])
        return max(self.unit_work, work / n_steps)

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""

    @abstractmethod
    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""

    def step(self, budget: int) -> Status:
        """Take at most `budget` steps."""
        kernel, arguments = self.kernel_call(budget)
        return Status(kernel(*arguments))

    def grow(self, limit_bytes: float) -> Iterator[None]:
        """Make room wherever the next expansion may lack it, with pauses.

        The search is of no use before the end.

        Raises
        ------
        OutOfMemoryError
            The arrays would need more than `limit_bytes`, or the system refuses
            to give more.
        """
        try:
            yield from self._grow(limit_bytes)
        except MemoryError as error:
            raise OutOfMemoryError from error

    @abstractmethod
    def _grow(self, limit_bytes: float) -> Iterator[None]:
        """Do what `grow` says; a `MemoryError` is the system's."""

    def coverage(self) -> float | None:
        """Return the estimated share of states not missed; None if none can be."""
        return None


def advance(
    search: Resumable,
    *,
    max_states: int | None = None,
    overflowed: Callable[[], int | None] | None = None,
    max_budget: int | None = None,
    phase: str = SEARCHING,
    held_bytes: float = 0,
) -> Job[Outcome]:
    """Advance a search to its end.

    Parameters
    ----------
    search : Resumable
        It is advanced in place.  A new job goes on where one has ended at a limit,
        unless the system had no memory left, or was closed.
    max_states : int, optional
        States that it may enter.
    overflowed : callable, optional
        Says whether the system has states that its rows are too narrow for: whatever
        the search says is then for nothing.
    max_budget : int, optional
        Most steps of one call of the kernel; for tests.
    phase : str
        What the job calls itself.
    held_bytes : float
        What others hold that counts towards the memory of this job.
    """
    interim = yield from _ready_kernel(search)
    budget = min(_FIRST_BUDGET, max_budget or _FIRST_BUDGET)
    search.registers[Reg.MAX_STATES] = min(max_states or MAX_STATES, MAX_STATES)
    # Estimates change after 2^k steps only, so that turns end after the same steps
    # wherever the calls of the kernel end.
    mark, unit = max(1, 2 * search.n_steps), search.work_per_step
    progress = _progress(search, phase, 0, held_bytes)
    grant = yield progress
    while True:
        search.granted_bytes = grant.memory_bytes - held_bytes
        if progress.memory_bytes > grant.memory_bytes:  # arrays grow below only
            return Outcome(Status.RUNNING, MEMORY)
        steps = min(_affordable(budget, unit, grant), max(mark - search.n_steps, 1))
        before, started = search.n_steps, time.monotonic()
        status = search.step(steps)
        elapsed = time.monotonic() - started
        if interim is not None:
            worked(interim, elapsed)
        # A call that only asks for room is none: where calls end must not matter.
        done = search.n_steps - before
        work = (done if status == Status.GROW else max(done, 1)) * unit
        if search.n_steps >= mark:
            mark, unit = 2 * search.n_steps, search.work_per_step
        if status == Status.GROW:
            try:
                for _ in search.grow(search.granted_bytes):
                    yield _progress(search, phase, work, held_bytes)
                    work = 0
            except OutOfMemoryError:
                return Outcome(Status.RUNNING, MEMORY)
            yield from _ready_kernel(search)  # that of the next pass may be another
        elif overflowed is not None and overflowed() is not None:
            # Nor is what was found worth anything: a state whose only successor
            # is missing looks like a deadlock.
            return Outcome(Status.RUNNING, OVERFLOW)
        elif status == Status.LIMIT:
            return Outcome(Status.RUNNING, TOO_MANY_STATES)
        elif status != Status.RUNNING:
            return Outcome(status)
        elif elapsed > _STEP_SECONDS * 2:
            budget = max(steps // 2, 1)
        elif max_budget is None and elapsed * budget < done * _STEP_SECONDS / 2:
            # By what a step took: a search that takes turns may return early.
            budget *= 2
        progress = _progress(search, phase, work, held_bytes)
        grant = yield progress


def _ready_kernel(search: Resumable) -> Job[Interim | None]:
    """Have the kernel compiled; views of arrays that may move are not held.

    Returns its successor function if that is only one for the meantime.
    """
    kernel, arguments = search.kernel_call(1)
    # Numba takes a millisecond to find out the types: longer than a small search.
    called = kernel, _layout(arguments)
    if called not in _READIED:
        yield from ready(kernel, *arguments)
        _READIED.add(called)
    return next((a for a in arguments if hasattr(a, "is_replaced")), None)


def _layout(value: Any) -> Any:
    """Return what the type that Numba gives to an argument depends on; no array."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, tuple):
        return type(value), *map(_layout, value)
    if isinstance(value, int):
        return type(value), value.bit_length() > _SIGNED_BITS
    if isinstance(value, float | np.generic):
        return type(value)
    return getattr(value, "_numba_type_", value)  # functions of a model are not kept


_READIED: set[Any] = set()  # kernels with layouts for which they are there


def _affordable(budget: int, unit_work: float, grant: Grant) -> int:
    """Return how many steps of a budget are granted, at least one."""
    return max(int(min(budget, grant.work / unit_work)), 1)


def _progress(
    search: Resumable, phase: str, work: float, held_bytes: float
) -> Progress:
    registers = search.registers
    return Progress(
        phase,
        work=work,
        memory_bytes=search.memory_bytes + held_bytes,
        states=int(registers[Reg.VISITED]),
        depth=int(registers[Reg.DEPTH]),
    )

"""The one loop that runs every search: limits, Ctrl-C, growth, progress."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search.emptiness import MAX_STATES, OutOfMemoryError
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

_FIRST_BUDGET = 1 << 10
_MAX_BUDGET = 1 << 40  # a search may return early, again and again
_STEP_SECONDS = 0.05  # what one call of a kernel should take
MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much a search may use; None is no limit.

    Parameters
    ----------
    deadline : float, optional
        Value of `time.monotonic` at which to stop.
    memory_mib : float, optional
        Memory of the search's arrays in MiB, all in.
    max_states : int, optional
        Product states that the search may enter.
    """

    deadline: float | None = None
    memory_mib: float | None = None
    max_states: int | None = None

    @classmethod
    def within(
        cls,
        timeout: float | None,
        memory_mib: float | None = None,
        max_states: int | None = None,
    ) -> Limits:
        """Return limits whose deadline is `timeout` seconds from now.

        Raises
        ------
        UnsupportedError
            A limit is negative or not a number.
        """
        for name, value in (("timeout", timeout), ("memory", memory_mib)):
            if value is not None and not value >= 0:
                raise UnsupportedError(f"--{name} {value}: expected 0 or more")
        if max_states is not None and max_states < 1:
            raise UnsupportedError(f"--max-states {max_states}: expected 1 or more")
        deadline = None if timeout is None else time.monotonic() + timeout
        return cls(deadline, memory_mib, max_states)

    @property
    def memory_bytes(self) -> float:
        """The memory limit in bytes; infinite if there is none."""
        return float("inf") if self.memory_mib is None else self.memory_mib * MIB

    def without(self, n_bytes: float) -> Limits:
        """Return what is left where something else has taken so many bytes."""
        if self.memory_mib is None:
            return self
        return replace(self, memory_mib=max(0.0, self.memory_mib - n_bytes / MIB))

    def within_seconds(self, seconds: float) -> Limits:
        """Return limits of which the deadline is so far away at most."""
        soon = time.monotonic() + seconds
        return replace(self, deadline=min(soon, self.deadline or soon))

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


class Interrupt:
    """Whether Ctrl-C has been pressed; see `interruptible`."""

    def __init__(self) -> None:
        self.pressed = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Turn Ctrl-C into a flag while the block runs; a second one raises.

    Outside the main thread, where signals cannot be caught, the flag stays
    down.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(_signal: int, _frame: object) -> None:
        interrupt.pressed = True
        signal.signal(signal.SIGINT, previous or signal.SIG_DFL)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous or signal.SIG_DFL)


def stop_in_time(limits: Limits, interrupt: Interrupt) -> None:
    """End what is no search: raise `StoppedError` once it has to stop."""
    if interrupt.pressed:
        raise StoppedError("interrupted")
    if limits.expired:
        raise StoppedError("timeout")


OVERFLOW = "overflow"
"""The reason if rows are too narrow for a state of the system."""


@dataclass(frozen=True)
class Outcome:
    """How a search ended.

    Parameters
    ----------
    status : Status
        EMPTY, FOUND, or RUNNING if a limit ended it.
    reason : str or None
        "timeout", "memory", "max-states", "interrupted" or "overflow" iff RUNNING.
    """

    status: Status
    reason: str | None = None


class Progress(Protocol):
    """Whoever wants to know how a search is getting on."""

    def __call__(self, states: int, depth: int) -> None:
        """Take the states expanded so far and the depth of the stack."""


class Resumable(Protocol):
    """What the driver sees of a search."""

    registers: np.ndarray
    limits: Limits | None

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next expansion may lack it."""


def drive(
    search: Resumable,
    limits: Limits,
    *,
    interrupt: Interrupt | None = None,
    progress: Progress | None = None,
    max_budget: int | None = None,
    overflowed: Callable[[], int | None] | None = None,
) -> Outcome:
    """Run `search` until it ends or a limit is hit.

    Parameters
    ----------
    search : Resumable
        It is advanced in place and can be driven on after a limit, unless the
        system had no memory left.
    limits : Limits
        Checked between two calls of the kernel.
    interrupt : Interrupt, optional
        Ends the search when pressed.
    progress : callable, optional
        Called after each call of the kernel.
    max_budget : int, optional
        Most expansions of one call; for tests.
    overflowed : callable, optional
        Says whether the system has states that its rows are too narrow for: whatever
        the search says is then for nothing.
    """
    memory = limits.memory_bytes
    search.limits = limits
    budget = min(_FIRST_BUDGET, max_budget or _FIRST_BUDGET)
    search.registers[Reg.MAX_STATES] = min(limits.max_states or MAX_STATES, MAX_STATES)
    if search.memory_bytes > memory:
        return Outcome(Status.RUNNING, "memory")
    while True:
        if interrupt is not None and interrupt.pressed:
            return Outcome(Status.RUNNING, "interrupted")
        if limits.expired:
            return Outcome(Status.RUNNING, "timeout")
        started = time.monotonic()
        status = search.step(budget)
        elapsed = time.monotonic() - started
        if progress is not None:
            progress(
                int(search.registers[Reg.VISITED]), int(search.registers[Reg.DEPTH])
            )
        if status == Status.GROW:
            try:
                search.grow(memory)
            except OutOfMemoryError:
                return Outcome(Status.RUNNING, "memory")
        elif overflowed is not None and overflowed() is not None:
            # Nor is what was found worth anything: a state whose only successor
            # is missing looks like a deadlock.
            return Outcome(Status.RUNNING, OVERFLOW)
        elif status == Status.FOUND:
            return Outcome(status)
        elif status == Status.LIMIT:
            return Outcome(Status.RUNNING, "max-states")
        elif status != Status.RUNNING:
            return Outcome(status)
        elif elapsed < _STEP_SECONDS / 2 and max_budget is None:
            budget = min(2 * budget, _MAX_BUDGET)
        elif elapsed > _STEP_SECONDS * 2:
            budget = max(budget // 2, 1)

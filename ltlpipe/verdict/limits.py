"""Limits with a deadline, and jobs advanced within them, for questions."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import INTERRUPTED, MIB, TIMEOUT, StoppedError
from ltlpipe.search.driver import Outcome, advance
from ltlpipe.search.registers import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Interrupt, Job
    from ltlpipe.search.driver import Resumable
    from ltlpipe.search.emptiness import ProductLasso, Search

Result = TypeVar("Result")


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
        jobs.Limits(timeout, memory_mib, max_states)  # looks at the values
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


class Progress(Protocol):
    """Observer of a search."""

    def __call__(self, states: int, depth: int) -> None:
        """Take the states expanded so far and the depth of the stack."""


def stop_in_time(limits: Limits, interrupt: Interrupt) -> None:
    """End what is no job: raise `StoppedError` once it has to stop."""
    if interrupt.pressed:
        raise StoppedError(INTERRUPTED)
    if limits.expired:
        raise StoppedError(TIMEOUT)


def finished(
    job: Job[Result],
    limits: Limits | None = None,
    interrupt: Interrupt | None = None,
    progress: Progress | None = None,
) -> Result:
    """Advance a job to its end within limits.

    Raises
    ------
    StoppedError
        A limit is hit, or Ctrl-C was pressed, before or meanwhile.
    """
    limits = limits or Limits()
    timeout = None
    if limits.deadline is not None:
        timeout = max(limits.deadline - time.monotonic(), 0.0)

    def look(said: jobs.Progress) -> None:
        if progress is not None and said.states is not None:
            progress(said.states, said.depth or 0)
        if interrupt is not None and interrupt.pressed:
            raise StoppedError(INTERRUPTED)

    try:
        return jobs.run(job, jobs.Limits(timeout, limits.memory_mib), observer=look)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED and interrupt is not None:
            interrupt.pressed = True
        raise


def extracted(search: Search, limits: Limits, interrupt: Interrupt) -> ProductLasso:
    """Return the run that a search has found.

    Its extraction is limited where it is a search of its own; a run that was found in
    time is not given up elsewhere.
    """
    searches_on = search.name in ("reach-terminal", "tauriainen03")
    return finished(search.lasso(), limits if searches_on else None, interrupt)


def drive(
    search: Resumable,
    limits: Limits,
    *,
    interrupt: Interrupt | None = None,
    progress: Progress | None = None,
    overflowed: Callable[[], int | None] | None = None,
) -> Outcome:
    """Advance a search to its end or to a limit."""
    job = advance(search, max_states=limits.max_states, overflowed=overflowed)
    try:
        return finished(job, limits, interrupt, progress)
    except StoppedError as stopped:
        return Outcome(Status.RUNNING, stopped.reason)

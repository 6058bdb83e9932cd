"""Many calls of one operation in worker processes, each for a limited time."""

from __future__ import annotations

import time
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import LOOK_SECONDS, TIMEOUT, Grant, StoppedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job, Progress


class Outcome(NamedTuple):
    """The outcome of one call."""

    number: int  # of the call, from 0
    parts: list[Any]  # all, or those that were had before the end
    error: Exception | None  # StoppedError after the time limit, or what was raised
    seconds: float


def call_many(
    operation: str,
    calls: Sequence[dict[str, Any]],
    *,
    timeout: float | None,
    jobs: int = 1,
) -> Iterator[Outcome]:
    """Have worker processes do an operation many times; yield outcomes in any order.

    `operation` is a key of `ltlpipe.worker.OPERATIONS` that yields the parts of its
    answer, `calls` are its arguments, `jobs` the processes at once.  The timeout is in
    seconds for each call, starting a worker excepted; None is no limit.
    """
    if timeout is not None and timeout <= 0:
        for number in range(len(calls)):
            yield Outcome(number, [], StoppedError(TIMEOUT), 0.0)
        return
    todo = iter(enumerate(calls))
    active: list[_Call] = []
    try:
        while True:
            while len(active) < jobs and (item := next(todo, None)) is not None:
                active.append(_Call(item[0], operation, item[1]))
            if not active:
                return
            waits = {x for call in active for x in call.waits}
            wait(list(waits), _patience(active, timeout))
            for call in list(active):
                outcome = call.advanced(timeout)
                if outcome is not None:
                    active.remove(call)
                    yield outcome
    finally:
        for call in active:
            call.job.close()


def _patience(active: list[_Call], timeout: float | None) -> float:
    """Return the seconds until the next check."""
    if timeout is None:
        return LOOK_SECONDS
    first = min(call.started for call in active)
    return min(max(first + timeout - time.monotonic(), 0.0), LOOK_SECONDS)


class _Call:
    """One call that a worker works on."""

    def __init__(self, number: int, operation: str, arguments: dict[str, Any]) -> None:
        self._number = number
        self._parts: list[Any] = []
        self.job: Job[Any] = workers.call(operation, parts=self._parts, **arguments)
        self.started = time.monotonic()
        self.waits: tuple[Any, ...] = ()
        self._note(next(self.job))

    def _note(self, progress: Progress) -> None:
        self.waits = progress.waits
        if progress.phase == workers.STARTING:
            self.started = time.monotonic()

    def advanced(self, timeout: float | None) -> Outcome | None:
        """Look for news; return how the call has ended, if it has."""
        error: Exception | None = None
        try:
            if not self._is_late(timeout) or wait(self.waits, 0):
                self._note(self.job.send(Grant()))
                if not self._is_late(timeout):
                    return None
            error = StoppedError(TIMEOUT)
        except StopIteration:
            pass
        except Exception as raised:
            error = raised
        self.job.close()
        seconds = time.monotonic() - self.started
        return Outcome(self._number, self._parts, error, seconds)

    def _is_late(self, timeout: float | None) -> bool:
        return timeout is not None and time.monotonic() - self.started >= timeout

"""Many calls in a few copies of this process, each for a limited time.

Copies have what has been compiled here, and tasks that cannot be sent.  They live on
from call to call and are replaced only after one that had to be killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.worker_process import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Part = TypeVar("Part")


@dataclass(frozen=True)
class Outcome(Generic[Part]):
    """The outcome of one item."""

    number: int  # of the item, from 0
    parts: list[Part]  # all, or those that were had before the end
    error: Exception | None  # StoppedError after the time limit, or what was raised
    seconds: float


def bounded_map(
    function: Callable[[Item], Iterator[Part]],
    items: Sequence[Item],
    *,
    timeout: float | None,
    jobs: int = 1,
) -> Iterator[Outcome[Part]]:
    """Apply a function to items in other processes, each call for a limited time.

    Parameters
    ----------
    function : callable
        Yields the parts of its answer as it goes; they are pickled.
    items : sequence
        They are inherited by the processes, not pickled.
    timeout : float, optional
        Seconds for each item; None is no limit.
    jobs : int
        Processes at once.

    Yields
    ------
    Outcome
        As items are done, in any order.
    """
    if not hasattr(os, "fork"):
        for index, item in enumerate(items):
            yield _called(function, index, item)
        return
    todo = iter(range(len(items)))
    workers = [_Worker(function, items) for _ in range(min(jobs, len(items)))]
    try:
        busy = [w for w in workers if w.begin(next(todo, None), timeout)]
        while busy:
            yield from _round(busy, workers, todo, timeout)
            busy = [worker for worker in workers if worker.index is not None]
    finally:
        for worker in workers:
            worker.kill()


def _round(
    busy: list[_Worker],
    workers: list[_Worker],
    todo: Iterator[int],
    limit: float | None,
) -> Iterator[Outcome[Any]]:
    """Wait for news once, and give those that are done something else to do."""
    ends = [worker.deadline for worker in busy if worker.deadline is not None]
    left = max(min(ends) - time.monotonic(), 0) if ends else None
    ready = wait([worker.connection for worker in busy], left)
    for worker in busy:
        outcome = worker.news(worker.connection in ready)
        if outcome is None:
            continue
        if not worker.alive:
            workers.remove(worker)
            worker = _Worker(worker.function, worker.items)
            workers.append(worker)
        worker.begin(next(todo, None), limit)
        yield outcome


def _called(
    function: Callable[[Any], Iterator[Any]], index: int, item: Any
) -> Outcome[Any]:
    started = time.monotonic()
    parts: list[Any] = []
    error = None
    try:
        parts.extend(function(item))
    except Exception as raised:
        error = raised
    return Outcome(index, parts, error, time.monotonic() - started)


class _Worker:
    """A process that works on one item after the other."""

    def __init__(
        self, function: Callable[[Any], Iterator[Any]], items: Sequence[Any]
    ) -> None:
        self.function, self.items = function, items
        self.index: int | None = None
        self.deadline: float | None = None
        self.alive = True
        self._parts: list[Any] = []
        self._started = 0.0
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(function, items, theirs), daemon=True
        )
        with warnings.catch_warnings():
            # Threads of other libraries do not exist in the copy, which runs
            # Spot and pickle alone and needs none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    def begin(self, index: int | None, timeout: float | None) -> bool:
        """Start to work on an item; None is nothing to do."""
        self.index, self._parts = index, []
        if index is None:
            return False
        self._started = time.monotonic()
        self.deadline = None if timeout is None else self._started + timeout
        self.connection.send(index)
        return True

    def news(self, ready: bool) -> Outcome[Any] | None:
        """Return how an item ended; None if it has not."""
        if ready:
            try:
                kind, value = self.connection.recv()
            except (EOFError, OSError):
                self.kill()
                return self._outcome(self._cause_of_death())
            if kind == "part":
                self._parts.append(value)
            else:
                return self._outcome(value)
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.kill()
            return self._outcome(StoppedError("timeout"))
        return None

    def _outcome(self, error: Exception | None) -> Outcome[Any]:
        assert self.index is not None
        seconds = time.monotonic() - self._started
        return Outcome(self.index, self._parts, error, seconds)

    def _cause_of_death(self) -> Exception:
        if self._process.exitcode in (None, -signal.SIGKILL):
            return StoppedError("memory")  # the system does so when it runs out
        status = self._process.exitcode
        return UnsupportedError(f"Spot crashed on this (exit status {status})")

    def kill(self) -> None:
        """End the process, whatever it does."""
        if not self.alive:
            return
        self.alive = False
        self._process.join(0)  # a crash keeps its exit status
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(
    function: Callable[[Any], Iterator[Any]], items: Sequence[Any], parent: Connection
) -> None:
    """Answer until the parent asks for nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    end_with_parent()
    while True:
        try:
            index = parent.recv()
        except EOFError:
            return
        error: Exception | None = None
        try:
            for part in function(items[index]):
                parent.send(("part", part))
        except MemoryError:
            error = StoppedError("memory")
        except Exception as raised:
            error = raised
        parent.send(("end", error))

"""Workers on this machine that are kept warm from task to task.

How their limits hold from outside, and what becomes of those that die, is told in
`ltlpipe.batch.slots`.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ltlpipe.batch import worker
from ltlpipe.batch.slots import Slot
from ltlpipe.batch.usage import members
from ltlpipe.runtime.memory import default_memory_mib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from ltlpipe.batch.answering import Expected
    from ltlpipe.batch.slots import Activity, Body, Finished
    from ltlpipe.batch.tasks import Task

_LOOK_SECONDS = 0.1  # how often what workers use is looked at


class Pool:
    """Processes that answer tasks; use it in a with statement.

    Parameters
    ----------
    tasks : sequence of Task
        Workers inherit them.
    options : dict
        Those of the run.
    jobs : int
        Processes at once.
    """

    def __init__(
        self, tasks: Sequence[Task], options: Mapping[str, Any], jobs: int
    ) -> None:
        self._tasks = tasks
        self._options = dict(options)
        free = default_memory_mib()
        self._share = None if free is None else free / jobs
        if self._options.get("memory") is None:
            self._options["memory"] = self._share
        self._jobs = jobs
        self._slots: list[Slot] = []
        self._looked = 0.0

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._slots:
            slot.end()

    @property
    def _busy(self) -> list[Slot]:
        """The workers that are at work."""
        return [slot for slot in self._slots if slot.number is not None]

    @property
    def n_running(self) -> int:
        """How many tasks are being answered."""
        return len(self._busy)

    @property
    def has_room(self) -> bool:
        """Whether a further task can be begun."""
        return self.n_running < self._jobs

    def begin(self, number: int, expected: Expected | None = None) -> None:
        """Have a task answered."""
        idle = (slot for slot in self._slots if slot.number is None)
        slot = next(idle, None)
        if slot is None:
            started = _forked(self._tasks, self._options)
            slot = Slot(*started, self._options, self._share)
            self._slots.append(slot)
        try:
            slot.begin(worker.Order(number, expected), self._tasks[number])
        except OSError:  # it died while it had nothing to do
            slot.end()
            self._slots.remove(slot)
            self.begin(number, expected)

    def activities(self) -> list[Activity]:
        """Return what the workers are doing that have something to do."""
        return [slot.activity() for slot in self._busy]

    def wait(self, seconds: float) -> list[Finished]:
        """Wait for news, not longer than this, and return the tasks that have ended."""
        busy = self._busy
        if not busy:
            time.sleep(seconds)
            return []
        ready = wait([slot.connection for slot in busy], min(seconds, _LOOK_SECONDS))
        heard = [slot.listen() for slot in busy if slot.connection in ready]
        finished = [ended for ended in heard if ended is not None]
        finished += self._end_overruns()
        self._slots = [slot for slot in self._slots if slot.alive]
        return finished

    def _end_overruns(self) -> list[Finished]:
        """End the workers that are beyond a limit."""
        moment = time.monotonic()
        if moment - self._looked < _LOOK_SECONDS:
            return []
        self._looked = moment
        busy = self._busy
        used = members([slot.pid for slot in busy])
        return [
            slot.overrun(reason)
            for slot in busy
            if (reason := slot.excess(used[slot.pid])) is not None
        ]


def _forked(tasks: Sequence[Task], options: dict[str, Any]) -> tuple[Connection, Body]:
    """Start a worker that is a copy of this process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=worker.work, args=(theirs, os.getpid(), tasks, options), daemon=True
    )
    with warnings.catch_warnings():
        # Threads of other libraries do not exist in the copy, which needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    return ours, process

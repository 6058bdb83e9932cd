"""The engine of this machine: tasks as jobs, each in a worker process.

`ltlpipe.batch.task_job` enforces their limits from outside and handles workers that
die.
"""

from __future__ import annotations

import os
import time
import uuid
from contextlib import ExitStack, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.procfs import descendants
from ltlpipe.batch.task_data import Orders, shared_bytes
from ltlpipe.batch.task_job import LOOK_SECONDS, TaskJob
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.shared_folder import run_folder
from ltlpipe.runtime.worker_process import MOST_GROWTH
from ltlpipe.runtime.workers import close_idle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.answering import Answer, Expected
    from ltlpipe.batch.task_job import Activity
    from ltlpipe.batch.tasks import Task


class Pool:
    """Answers several tasks at once; use it in a with statement.

    `options` are those of the run; `jobs` tasks are answered at once.
    """

    def __init__(
        self, tasks: Sequence[Task], options: Mapping[str, Any], jobs: int
    ) -> None:
        self._stack = ExitStack()
        self._shared: list[Any] | None = None  # the folder of the run, and its bytes
        free = default_memory_mib()
        self._share = None if free is None else free / jobs
        if options.get("memory") is None:
            options = {**options, "memory": self._share}
        self._shared_bytes = shared_bytes(options)
        self._jobs = jobs
        self._orders = Orders(tasks, options, run=uuid.uuid4().hex)
        self._folder: str | None = None  # base of relative paths
        with suppress(OSError):  # the worker has ended
            self._folder = os.getcwd()  # noqa: PTH109
        self._active: list[TaskJob] = []
        self._ended: list[Answer] = []
        self._looked = 0.0

    def __enter__(self) -> Pool:
        if self._shared_bytes:
            folder = self._stack.enter_context(run_folder())
            if folder is not None:
                self._shared = [str(folder), self._shared_bytes]
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for job in self._active:
                job.close()
        close_idle(MOST_GROWTH)  # large systems are not needed any more

    @property
    def n_running(self) -> int:
        """How many tasks are being answered."""
        return len(self._active) + len(self._ended)

    @property
    def has_room(self) -> bool:
        """Return whether a further task can be started."""
        return self.n_running < self._jobs

    def begin(self, number: int, expected: Expected | None = None) -> None:
        """Have a task answered."""
        try:
            order = self._orders.order(number, expected)
            order["folder"], order["shared"] = self._folder, self._shared
            self._active.append(TaskJob(number, order, self._share))
        except Exception as error:  # an error of one task must not affect the others
            self._ended.append(self._orders.failed(number, error))

    def activities(self) -> list[Activity]:
        """Return the progress of the busy workers."""
        return [job.activity() for job in self._active]

    def wait(self, seconds: float) -> list[Answer]:
        """Wait for news, not longer than this, and return the tasks that have ended."""
        deadline = time.monotonic() + seconds
        while True:
            found, self._ended = self._ended, []
            left = 0.0 if found else max(deadline - time.monotonic(), 0.0)
            waits = {x for job in self._active for x in job.waits}
            ready = wait(list(waits), min(left, LOOK_SECONDS))
            for job in list(self._active):
                if any(x in ready for x in job.waits):
                    self._take(found, job, job.advance())
            self._end_overruns(found)
            if found or time.monotonic() >= deadline:
                return found

    def _take(
        self, found: list[Answer], job: TaskJob, answer: dict[str, Any] | None
    ) -> None:
        """Note the answer of a job, if it has one."""
        if answer is not None:
            self._active.remove(job)
            found.append(self._orders.answered(job.number, answer))

    def _end_overruns(self, found: list[Answer]) -> None:
        """End the workers that are beyond a limit."""
        moment = time.monotonic()
        if moment - self._looked < LOOK_SECONDS:
            return
        self._looked = moment
        # Looking takes longer than small tasks, and no limit is that small.
        old = [job for job in self._active if job.seconds >= LOOK_SECONDS]
        used = descendants([job.pid for job in old]) if old else {}
        for job in old:
            self._take(found, job, job.end_overrun(used[job.pid]))

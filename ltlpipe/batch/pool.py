"""The engine of this machine: tasks as jobs, each in a worker process.

`ltlpipe.batch.pool` enforces their limits from outside and handles workers that
die.

A task in a worker process, supervised from outside.

A task has its limits twice.  The search looks at them itself, and a worker that
overruns one of them by more than a tenth is ended from outside and replaced:
third-party compiled code, or a step that does not check the time, cannot be stopped
otherwise.  The tolerance is at least half a second of time, and for memory that the
search does not count (automata, code, a lasso that is being replayed) 512 MiB.  Time
spent compiling kernels does not count.

A worker that dies takes nothing with it but its task, whose reason is then "crash".

What goes in and out here is data (`ltlpipe.batch.task_data`).
"""

from __future__ import annotations

import os
import signal
import time
import uuid
from contextlib import ExitStack, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.task_data import Orders, shared_bytes
from ltlpipe.batch.tasks import CRASH, Activity, meant, now
from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import (
    CPU_TIME,
    MEMORY,
    MIB,
    TIMEOUT,
    Grant,
    StoppedError,
)
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.shared_folder import run_folder
from ltlpipe.runtime.wire import error_to_dict
from ltlpipe.runtime.worker_process import MOST_GROWTH, WorkerDiedError, descendants
from ltlpipe.runtime.workers import close_idle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.answering import Answer, Expected
    from ltlpipe.batch.tasks import Task
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.runtime.worker_process import Process, Worker

LOOK_SECONDS = 0.1
"""Interval at which the resources of workers are checked."""

_OVERRUN = 1.1
_SLACK_SECONDS = 0.5
_SLACK_MIB = 512.0
_IDLE_SECONDS = 10.0  # without CPU time or news, on a busy machine
_MOST_GROWTH = 512 * MIB  # of a worker: systems, kernels; what a task adds is its own


class TaskJob:
    """One task on its way through a worker.

    `order` are the arguments of `ltlpipe.batch.task_data.answer_task`, `share` is
    the worker's share of the machine's memory in MiB.
    """

    def __init__(self, number: int, order: dict[str, Any], share: float | None) -> None:
        self.number = number
        self._limits = meant(order["options"], "timeout", "cpu_time", "memory")
        self._share = share
        self._parts: list[dict[str, Any]] = []
        self._told: dict[str, Any] = {}
        self.started_at = now()
        self._started = time.monotonic()
        self._began: float | None = None  # when everything had been read
        self._compiling: float | None = None  # since when
        self._compiled = 0.0  # seconds
        self._resident = 0  # bytes when everything had been read
        self._cpu: float | None = None
        self._used_bytes: int | None = None
        self._seen: float | None = None  # CPU time of its processes
        self._active = self._looked = self._started  # when they have last used some
        self._job: Job[dict[str, Any]] = workers.call(
            "answer task",
            subject=None,
            parts=self._parts,
            leased=self._lease,
            most_growth=_MOST_GROWTH,
            **order,
        )
        self.waits: tuple[Any, ...] = ()
        self._note(next(self._job))

    def _lease(self, worker: Worker) -> None:
        self.pid = worker.pid

    @property
    def seconds(self) -> float:
        """For how long the worker has been at it."""
        return time.monotonic() - self._started

    def is_due(self, moment: float) -> bool:
        """Whether it is time to look at what the worker uses."""
        due = moment - self._looked >= LOOK_SECONDS
        self._looked = moment if due else self._looked
        return due

    def activity(self) -> Activity:
        """Return the progress of the worker."""
        return Activity(
            self.number,
            self.seconds,
            self._told.get("states"),
            self._told.get("depth"),
            self._used_bytes,
        )

    def advance(self) -> dict[str, Any] | None:
        """Process a message of the worker; return the answer if it has come."""
        try:
            self._note(self._job.send(Grant()))
        except StopIteration as end:
            answer: dict[str, Any] = end.value
            return answer
        except WorkerDiedError as died:
            return self._crash(died)
        except StoppedError as stopped:  # it ran out of memory at the start
            return lost(stopped.reason, self)
        except Exception as error:  # the operation itself has failed
            answer = lost("error", self, message=str(error))
            return answer | {"error": error_to_dict(error)}
        return None

    def _note(self, progress: Progress) -> None:
        self.waits = progress.waits
        moment = time.monotonic()
        if progress.phase == workers.STARTING:
            self._started = moment
        if self._parts:
            self._active = moment
        for part in self._parts:
            if "began" in part:
                self._began, self._compiled = moment, 0.0
                self._resident, self._cpu = part["began"], None
            elif "compiling" not in part:
                self._told = part
            elif part["compiling"]:
                self._compiling = moment
            elif self._compiling is not None:
                self._compiled += moment - self._compiling
                self._compiling = None
        self._parts.clear()

    def end_overrun(self, processes: list[Process]) -> dict[str, Any] | None:
        """End the worker if it is beyond a limit; return the answer then.

        `processes` are the worker and all that it has started.
        """
        reason = self._excess(processes)
        if reason is None:
            return None
        self.close()
        return lost(reason, self)

    def _excess(self, processes: list[Process]) -> str | None:
        """Return the limit that has been overrun by more than is tolerated."""
        self._used_bytes = sum(p.resident_bytes for p in processes)
        cpu = sum(p.cpu_seconds for p in processes)
        if cpu != self._seen:
            self._seen, self._active = cpu, time.monotonic()
        # In whatever phase it is, it may have been suspended.
        idle = time.monotonic() - self._active - _IDLE_SECONDS
        if _exceeds(idle, self._limits.get("timeout")):
            return TIMEOUT
        if self._compiling is not None:
            return None
        if self._began is None:  # it reads, and looks at the other limits by itself
            return self._outgrown(processes, self._share)
        seconds = time.monotonic() - self._began - self._compiled
        if _exceeds(seconds, self._limits.get("timeout")):
            return TIMEOUT
        if self._cpu is None:
            self._cpu = cpu
        if _exceeds(cpu - self._cpu - self._compiled, self._limits.get("cpu_time")):
            return CPU_TIME
        return self._outgrown(processes, self._limits.get("memory"))

    def _outgrown(self, processes: list[Process], memory: float | None) -> str | None:
        """Return "memory" if the worker has grown far beyond so many MiB."""
        if memory is None:
            return None
        # Python, its libraries and cached systems do not count.
        grown = sum(max(p.resident_bytes - self._resident, 0) for p in processes)
        most = max(_OVERRUN * memory, memory + _SLACK_MIB)
        return MEMORY if grown / MIB > most else None

    def close(self) -> None:
        """End the worker and all that it has started, unless it has answered."""
        self._job.close()

    def _crash(self, died: WorkerDiedError) -> dict[str, Any]:
        code = died.status
        name = signal.Signals(-code).name if code is not None and code < 0 else None
        by = f"exit code {code}" if name is None else name
        message = f"the process that solved this died ({by})"
        if name == "SIGKILL":
            message += ", as when the system is out of memory"
        elif code == 1 and died.printed:
            message += f": {died.printed.splitlines()[-1]}"
        return lost(CRASH, self, signal=name, message=message)


def advanced(
    jobs: Sequence[TaskJob], seconds: float
) -> list[tuple[TaskJob, dict[str, Any]]]:
    """Wait for news of jobs, and return those that have ended, with their answers.

    Those that are beyond a limit are ended.
    """
    ready = wait([x for job in jobs for x in job.waits], seconds)
    answers = {job: job.advance() for job in jobs if {*ready} & {*job.waits}}
    # Looking takes longer than small tasks, and no limit is that small.
    moment = time.monotonic()
    late = [job for job in jobs if answers.get(job) is None and job.is_due(moment)]
    used = descendants([job.pid for job in late]) if late else {}
    answers |= {job: job.end_overrun(used[job.pid]) for job in late}
    return [(job, answer) for job, answer in answers.items() if answer is not None]


def lost(reason: str, task: Any, **known: Any) -> dict[str, Any]:
    """Return the result of a task that has begun and whose worker died.

    `known` has further columns.
    """
    row = {
        "verdict": "unknown",
        "reason": reason,
        "seconds": task.seconds,
        "started_at": task.started_at,
        "wall_seconds": task.seconds,
        "host_cores": os.cpu_count(),
    }
    return {"row": row | known, "plan": None, "error": None, "warned": []}


def _exceeds(used: float, limit: float | None) -> bool:
    return limit is not None and used > max(_OVERRUN * limit, limit + _SLACK_SECONDS)


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
            for job, answer in advanced(self._active, min(left, LOOK_SECONDS)):
                self._active.remove(job)
                found.append(self._orders.answered(job.number, answer))
            if found or time.monotonic() >= deadline:
                return found

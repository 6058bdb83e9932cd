"""Workers that are kept warm, and limits that they cannot overrun.

A task has its limits twice.  The search looks at them itself, and a worker that
overruns one of them by more than a tenth is ended from outside and replaced: in
compiled code of others, or in a step that does not look at the clock, nothing else
helps.  So much room is left besides: half a second of time, and for memory that the
search does not count (automata, code, a lasso that is being replayed) 512 MiB.  Time
in which kernels are compiled is nobody's.

A worker that dies takes nothing with it but its task, whose reason is then "crash".
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from contextlib import suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch import worker
from ltlpipe.batch.answering import CPU_TIME, encodable, now
from ltlpipe.batch.table import host_columns
from ltlpipe.batch.tasks import identity_of
from ltlpipe.batch.usage import members
from ltlpipe.search.driver import MIB
from ltlpipe.search.memory import default_memory_mib
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.batch.answering import Answer, Expected
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task
    from ltlpipe.batch.usage import Process

CRASH = "crash"
"""The reason of a task whose worker died."""

_OVERRUN = 1.1
_SLACK_SECONDS = 0.5
_SLACK_MIB = 512.0
_LOOK_SECONDS = 0.1  # how often what workers use is looked at


class Finished(NamedTuple):
    """How a task ended."""

    number: int
    row: Row
    answer: Answer | None  # None if its worker did not live to give one


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
        self, tasks: Sequence[Task], options: dict[str, Any], jobs: int
    ) -> None:
        self._tasks = tasks
        self._options = dict(options)
        free = default_memory_mib()
        self._share = None if free is None else free / jobs
        if self._options.get("memory") is None:
            self._options["memory"] = self._share
        self._jobs = jobs
        self._slots: list[_Slot] = []
        self._looked = 0.0

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._slots:
            slot.end()

    @property
    def busy(self) -> list[_Slot]:
        """The workers that are at work."""
        return [slot for slot in self._slots if slot.number is not None]

    @property
    def has_room(self) -> bool:
        """Whether a further task can be begun."""
        return len(self.busy) < self._jobs

    def begin(self, number: int, expected: Expected | None = None) -> None:
        """Have a task answered."""
        idle = (slot for slot in self._slots if slot.number is None)
        slot = next(idle, None)
        if slot is None:
            slot = _Slot(self._tasks, self._options, self._share)
            self._slots.append(slot)
        try:
            slot.begin(number, expected)
        except OSError:  # it died while it had nothing to do
            slot.end()
            self._slots.remove(slot)
            self.begin(number, expected)

    def progress(self) -> tuple[int, int] | None:
        """Return the states and the depth of the searches that go on, if any say so."""
        told = [slot.progressed for slot in self.busy if slot.progressed is not None]
        if not told:
            return None
        return sum(p.states for p in told), max(p.depth for p in told)

    def wait(self, seconds: float) -> list[Finished]:
        """Wait for news, not longer than this, and return the tasks that have ended."""
        busy = self.busy
        if not busy:
            time.sleep(seconds)
            return []
        ready = wait([slot.connection for slot in busy], min(seconds, _LOOK_SECONDS))
        finished = []
        for slot in busy:
            if slot.connection in ready:
                finished += slot.listen()
        finished += self._end_overruns()
        for slot in self._slots[:]:
            if not slot.alive:
                self._slots.remove(slot)
        return finished

    def _end_overruns(self) -> list[Finished]:
        """End the workers that are beyond a limit."""
        moment = time.monotonic()
        if moment - self._looked < _LOOK_SECONDS:
            return []
        self._looked = moment
        busy = self.busy
        used = members([slot.pid for slot in busy])
        return [
            slot.overrun(reason)
            for slot in busy
            if (reason := slot.excess(used[slot.pid])) is not None
        ]


class _Slot:
    """The driver's side of a worker."""

    def __init__(
        self, tasks: Sequence[Task], options: dict[str, Any], share: float | None
    ) -> None:
        self._tasks, self._options = tasks, options
        self._share = share  # of the machine's memory in MiB
        self.number: int | None = None
        self.alive = True
        self.progressed: worker.Progressed | None = None
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=worker.work, args=(theirs, os.getpid(), tasks, options), daemon=True
        )
        with warnings.catch_warnings():
            # Threads of other libraries do not exist in the copy, which needs none.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        with suppress(OSError):  # the worker does so, too: whoever comes first
            os.setpgid(self.pid, self.pid)

    def begin(self, number: int, expected: Expected | None) -> None:
        """Start to answer a task."""
        self.connection.send(worker.Order(number, expected))
        self.number = number
        self.progressed = None
        self._limits = {**self._options, **self._tasks[number].options}
        self._started_at, self._started = now(), time.monotonic()
        self._began: float | None = None  # when everything had been read
        self._compiling: float | None = None  # since when
        self._compiled = 0.0  # seconds
        self._resident = 0  # bytes when everything had been read
        self._cpu: float | None = None

    def listen(self) -> list[Finished]:
        """Take what the worker says; return its task if that has ended."""
        try:
            while self.connection.poll():
                message = self.connection.recv()
                if isinstance(message, worker.Done):
                    return [self._answered(message)]
                self._note(message)
        except (EOFError, OSError):
            return [self._died()]
        return []

    def _note(self, message: object) -> None:
        moment = time.monotonic()
        if isinstance(message, worker.Began):
            self._began, self._compiled = moment, 0.0
            self._resident = message.resident_bytes
            self._cpu = None
        elif isinstance(message, worker.Progressed):
            self.progressed = message
        elif isinstance(message, worker.Compiling):
            if message.going_on:
                self._compiling = moment
            elif self._compiling is not None:
                self._compiled += moment - self._compiling
                self._compiling = None

    def _answered(self, message: worker.Done) -> Finished:
        assert self.number is not None
        number, self.number = self.number, None
        for text, category in message.warned:
            warnings.warn(text, category, stacklevel=2)
        return Finished(number, message.answer.row | {"task": number}, message.answer)

    def excess(self, processes: list[Process]) -> str | None:
        """Return the limit that the worker has overrun by more than is tolerated."""
        if self._compiling is not None:
            return None
        if self._began is None:  # it reads, which has no limit but the machine's
            return self._outgrown(processes, self._share)
        limits = self._limits
        seconds = time.monotonic() - self._began - self._compiled
        if _exceeds(seconds, limits.get("timeout")):
            return "timeout"
        cpu = sum(p.cpu_seconds for p in processes)
        if self._cpu is None:
            self._cpu = cpu
        if _exceeds(cpu - self._cpu - self._compiled, limits.get("cpu_time")):
            return CPU_TIME
        return self._outgrown(processes, limits.get("memory"))

    def _outgrown(self, processes: list[Process], memory: float | None) -> str | None:
        """Return "memory" if the worker has grown far beyond so many MiB."""
        if memory is None:
            return None
        # A copy of the worker has its pages in common with it when it begins.
        grown = sum(max(p.resident_bytes - self._resident, 0) for p in processes)
        most = max(_OVERRUN * memory, memory + _SLACK_MIB)
        return "memory" if grown / MIB > most else None

    def overrun(self, reason: str) -> Finished:
        """End the worker, whose task is beyond a limit."""
        self.end()
        return self._lost(reason, {})

    def _died(self) -> Finished:
        self._process.join(1)  # its exit code may come after the end of its pipe
        code = self._process.exitcode
        self.end()
        name = None
        if code is not None and code < 0:
            name = signal.Signals(-code).name
        by = f"exit code {code}" if name is None else name
        message = f"the process that solved this died ({by})"
        if name == "SIGKILL":
            message += ", as when the system is out of memory"
        return self._lost(CRASH, {"signal": name, "message": message})

    def _lost(self, reason: str, known: Row) -> Finished:
        """Return the row of a task whose worker is no more."""
        assert self.number is not None
        number, self.number = self.number, None
        task = self._tasks[number]
        formula_id, formula = identity_of(task.formula)
        seconds = time.monotonic() - self._started
        row = {
            "task": number,
            "system": task.system_name,
            "formula_id": formula_id,
            "formula": formula,
            "verdict": UNKNOWN,
            "reason": reason,
            "seconds": seconds,
            "seed": self._limits.get("seed"),
            "started_at": self._started_at,
            "wall_seconds": seconds,
        }
        return Finished(number, encodable(row | host_columns() | known), None)

    def end(self) -> None:
        """End the process and all that it has started, whatever they do."""
        if not self.alive:
            return
        self.alive = False
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.connection.close()


def _exceeds(used: float, limit: float | None) -> bool:
    return limit is not None and used > max(_OVERRUN * limit, limit + _SLACK_SECONDS)

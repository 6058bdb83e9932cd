"""The side of a worker that is not in it: what it says, what it uses, how it ends.

A task has its limits twice.  The search looks at them itself, and a worker that
overruns one of them by more than a tenth is ended from outside and replaced: in
compiled code of others, or in a step that does not look at the clock, nothing else
helps.  So much room is left besides: half a second of time, and for memory that the
search does not count (automata, code, a lasso that is being replayed) 512 MiB.  Time
in which kernels are compiled is nobody's.

A worker that dies takes nothing with it but its task, whose reason is then "crash".
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ltlpipe.batch import worker
from ltlpipe.batch.answering import CPU_TIME, encodable, now
from ltlpipe.batch.table import host_columns
from ltlpipe.batch.tasks import identity_of
from ltlpipe.runtime.jobs import MIB
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

    from ltlpipe.batch.answering import Answer
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task
    from ltlpipe.batch.usage import Process

CRASH = "crash"
"""The reason of a task whose worker died."""

_OVERRUN = 1.1
_SLACK_SECONDS = 0.5
_SLACK_MIB = 512.0


class Finished(NamedTuple):
    """How a task ended."""

    number: int
    row: Row
    answer: Answer | None  # None if its worker did not live to give one
    warned: tuple[tuple[str, type[Warning]], ...] = ()


class Activity(NamedTuple):
    """What a worker is doing."""

    number: int  # of its task
    seconds: float
    states: int | None
    depth: int | None
    memory_bytes: int | None


class Body(Protocol):
    """The process of a worker."""

    @property
    def pid(self) -> int | None:
        """Its number."""

    @property
    def exitcode(self) -> int | None:
        """As `multiprocessing.Process` has it: -9 is SIGKILL; None if it lives."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""

    def kill(self) -> None:
        """End it."""


class Slot:
    """A worker, seen from outside.

    Parameters
    ----------
    connection : Connection
        Our end of the pipe to it.
    process : Body
        It; `ltlpipe.batch.worker.work` runs there.
    options : mapping
        Those of the run.
    share : float, optional
        Its share of the machine's memory in MiB.
    """

    def __init__(
        self,
        connection: Connection,
        process: Body,
        options: Mapping[str, Any],
        share: float | None,
    ) -> None:
        self.connection, self._process = connection, process
        self._options, self._share = options, share
        self.number: int | None = None
        self.alive = True
        self.progressed: worker.Progressed | None = None
        assert process.pid is not None
        self.pid: int = process.pid
        with suppress(OSError):  # the worker does so, too: whoever comes first
            os.setpgid(self.pid, self.pid)

    def begin(self, order: worker.Order, task: Task) -> None:
        """Start to answer a task.

        Raises
        ------
        OSError
            The worker has died at leisure.
        """
        self.connection.send(order)
        self.number, self._task = order.number, task
        self.progressed = None
        self._limits = {**self._options, **task.options}
        self._started_at, self._started = now(), time.monotonic()
        self._began: float | None = None  # when everything had been read
        self._compiling: float | None = None  # since when
        self._compiled = 0.0  # seconds
        self._resident = 0  # bytes when everything had been read
        self._cpu: float | None = None
        self._used_bytes: int | None = None

    def activity(self) -> Activity:
        """Return what the worker, which has a task, is doing."""
        assert self.number is not None
        told = self.progressed
        return Activity(
            self.number,
            time.monotonic() - self._started,
            None if told is None else told.states,
            None if told is None else told.depth,
            self._used_bytes,
        )

    def listen(self) -> Finished | None:
        """Take what the worker says; return its task if that has ended."""
        try:
            while self.connection.poll():
                message = self.connection.recv()
                if isinstance(message, worker.Done):
                    return self._answered(message)
                self._note(message)
        except (EOFError, OSError):
            return self._died()
        return None

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
        row = message.answer.row | {"task": number}
        return Finished(number, row, message.answer, tuple(message.warned))

    def excess(self, processes: list[Process]) -> str | None:
        """Return the limit that the worker has overrun by more than is tolerated."""
        self._used_bytes = sum(p.resident_bytes for p in processes)
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
        seconds = time.monotonic() - self._started
        known = known | {"seed": self._limits.get("seed")}
        return lost(number, self._task, reason, self._started_at, seconds, known)

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


def lost(
    number: int, task: Task, reason: str, started_at: str, seconds: float, known: Row
) -> Finished:
    """Return the end of a task that nobody has lived to tell of.

    Parameters
    ----------
    number, task : int, Task
        Which.
    reason : str
        Why there is no verdict.
    started_at, seconds : str, float
        When it was begun, and for how long it was worked on.
    known : dict
        Further columns.
    """
    formula_id, formula = identity_of(task.formula)
    row = {
        "task": number,
        "system": task.system_name,
        "formula_id": formula_id,
        "formula": formula,
        "verdict": UNKNOWN,
        "reason": reason,
        "seconds": seconds,
        "started_at": started_at,
        "wall_seconds": seconds,
    }
    return Finished(number, encodable(row | host_columns() | known), None)


def _exceeds(used: float, limit: float | None) -> bool:
    return limit is not None and used > max(_OVERRUN * limit, limit + _SLACK_SECONDS)

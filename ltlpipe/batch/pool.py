"""The engine of this machine: tasks as jobs, each in a worker process.

Tasks and answers travel as data, without pickles: an order goes out, an answer comes
back (`Orders`).  What is a dict here can be sent by `ltlpipe.runtime.wire`.  A network
without a file is sent as bytes with its digest, so that a worker that has it need not
decode it.

A task has its limits twice.  The search looks at them itself, and a worker that
overruns one of them by more than a tenth is ended from outside (`TaskJob`):
third-party compiled code, or a step that does not check the time, cannot be stopped
otherwise.  The tolerance is at least half a second of time, and for memory that the
search does not count (automata, code, a lasso that is being replayed) 512 MiB.  Time
spent compiling kernels does not count.

A worker that dies takes nothing with it but its task, whose reason is then "crash".
"""

from __future__ import annotations

import builtins
import os
import signal
import time
import uuid
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import hoa_text
from ltlpipe.batch.answering import (
    Answer,
    Expected,
    encodable,
    failed_row,
)
from ltlpipe.batch.table import host_columns
from ltlpipe.batch.tasks import (
    Activity,
    AutomatonFile,
    Task,
    meant,
    now,
    portable,
    system_digest,
)
from ltlpipe.logic.formulas import Formula, spot_text
from ltlpipe.logic.history import PLAIN
from ltlpipe.question.answer import Plan, Tried
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime import workers
from ltlpipe.runtime.errors import InputError, LtlpipeWarning, SystemWarning
from ltlpipe.runtime.files import read_text
from ltlpipe.runtime.folders import run_folder
from ltlpipe.runtime.jobs import (
    CPU_TIME,
    MEMORY,
    MIB,
    TIMEOUT,
    Grant,
    StoppedError,
    wait,
)
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.names import spelled
from ltlpipe.runtime.wire import error_from_dict, error_to_dict, packed
from ltlpipe.runtime.worker_process import (
    MOST_GROWTH,
    WorkerDiedError,
    descendants,
)
from ltlpipe.runtime.workers import close_idle
from ltlpipe.systems.graph import SpotGraph, graph_to_data
from ltlpipe.systems.plain import plain_components
from ltlpipe.verdict.verdict import CRASH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.runtime.worker_process import Process, Worker
    from ltlpipe.systems.models import System
    from ltlpipe.systems.networks.lts import Network

_MOST_SHARED_MIB = 1 << 30
_TUPLES = ("reductions", "reasons", "merges")  # of a plan


# --- tasks ------------------------------------------------------------------


class Orders:
    """The orders for workers to answer the tasks of a run, and what they answer.

    `options` are those of the run.  Each system in memory is encoded once.
    """

    def __init__(
        self, tasks: Sequence[Task], options: Mapping[str, Any], run: str
    ) -> None:
        self._tasks, self._options, self._run = tasks, options, run
        self._systems: dict[int, dict[str, Any]] = {}  # they live as long as the run

    def order(self, number: int, expected: Expected | None) -> dict[str, Any]:
        """Return the arguments of `answer_task`; refuse what cannot be written down."""
        task = self._tasks[number]
        options = {**self._options, **task.options}
        sent = {name: _sent(name, value) for name, value in options.items()}
        if expected is not None:  # looked at when it has been read
            expected.refuse_changed_constraint(options.get("constraint"))
        return {
            "task": {
                "system": self._system(task.system),
                "question": _question_to_dict(task.formula),
            },
            "options": sent,
            "expected": None if expected is None else list(expected),
            "run": self._run,
        }

    def _system(self, system: System | tuple[str, ...]) -> dict[str, Any]:
        if isinstance(system, tuple):
            return {"files": list(system)}
        if id(system) not in self._systems:
            own = portable(system)
            self._systems[id(system)] = {
                "name": own.name,
                "digest": system_digest(own),
                "content": packed(
                    graph_to_data(own)
                    if isinstance(own, SpotGraph)
                    else network_to_data(own)
                ),
                "graph": isinstance(own, SpotGraph),
            }
        return self._systems[id(system)]

    def answered(self, number: int, data: dict[str, Any]) -> Answer:
        """Decode the answer of a worker, under the names that tasks have here.

        `data` are what `answer_to_dict` returned, or `ltlpipe.batch.pool.lost`.
        """
        task = self._tasks[number]
        row = data["row"] | encodable(task.columns) | {"task": number}
        if row.get("message") is not None:
            row["message"] = spelled(row["message"])
        plan, error = data["plan"], data["error"]
        if "ltlpipe_version" not in row:  # the worker died
            row = host_columns() | row
        return Answer(
            row,
            None if plan is None else _plan_from_dict(plan),
            None if error is None else error_from_dict(error),
            tuple((text, category) for text, category in data["warned"]),
        )

    def failed(self, number: int, error: Exception) -> Answer:
        """Return the answer for a task that could not even be sent."""
        task = self._tasks[number]
        row = encodable(failed_row(task.system_name, task.formula, error))
        data = {"row": row | {"started_at": now()}, "plan": None, "error": None}
        return self.answered(number, data | {"warned": []})._replace(error=error)


def _question_to_dict(asked: Any) -> dict[str, Any]:
    if isinstance(asked, str):
        return {"text": asked}
    if isinstance(asked, Formula):
        about = {"text": asked.text, "place": list(asked.place)}
        if asked.dialect != PLAIN:  # what it is made of means something there only
            return about | {"dialect": list(asked.dialect)}
        return about | {"formula": spot_text(asked.spot)}
    if isinstance(asked, AutomatonFile):
        return {"path": asked.path, "place": [asked.file, asked.line, asked.name]}
    return {"error": error_to_dict(asked)}


def network_to_data(network: Network) -> dict[str, Any]:
    """Return a network as plain data."""
    return {
        "name": network.name,
        "components": plain_components(network.components),
    }


def shared_bytes(options: Mapping[str, Any]) -> int:
    """Return the bytes of results that the processes of a run may share on disk.

    Invalid values are reported when the task is answered.
    """
    mib = meant(options, "share").get("share") or 0.0
    return int(min(mib, _MOST_SHARED_MIB) * MIB)


def _sent(name: str, value: Any) -> Any:
    """Return the value of an option; automata as HOA, those of files too.

    A worker may run on another machine, or in another folder.
    """
    if name not in OPTIONS or OPTIONS[name].kind is not object or value is None:
        return value
    if hasattr(value, "to_str"):
        return hoa_text(value)
    text = os.fspath(value)
    if not text.startswith("HOA:"):
        with suppress(InputError):  # the worker reports the error
            content = read_text(text)
            return content if content.startswith("HOA:") else os.path.abspath(text)  # noqa: PTH100
    return text


# --- answers ----------------------------------------------------------------


def _plan_from_dict(data: dict[str, Any]) -> Plan:
    lists = {name: tuple(data[name]) for name in _TUPLES}
    tried = tuple(Tried(*t) for t in data["tried"])
    return Plan(**data | lists | {"tried": tried}).spelled()


def category_of(name: str) -> type[Warning]:
    """Return the category of a warning by its name."""
    for own in (LtlpipeWarning, SystemWarning):
        if name == own.__name__:
            return own
    found = getattr(builtins, name, None)
    is_known = isinstance(found, type) and issubclass(found, Warning)
    return found if is_known else UserWarning  # type: ignore[return-value]


# --- in the worker ----------------------------------------------------------


LOOK_SECONDS = 0.1
"""Interval at which the resources of workers are checked."""

_OVERRUN = 1.1
_SLACK_SECONDS = 0.5
_SLACK_MIB = 512.0
_IDLE_SECONDS = 10.0  # without CPU time or news, on a busy machine
_MOST_GROWTH = 512 * MIB  # of a worker: systems, kernels; what a task adds is its own


class TaskJob:
    """One task on its way through a worker.

    `order` are the arguments of `ltlpipe.batch.answering.answer_task`, `share` is
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
        known = {
            "states": self._told.get("states"),
            "max_depth": self._told.get("depth"),
        }
        if self._seen is not None and self._cpu is not None:
            known["cpu_seconds"] = max(self._seen - self._cpu - self._compiled, 0.0)
        return lost(reason, self, **known)

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
    # Jobs whose workers have not been started may wait for the same one.
    ready = wait({x for job in jobs for x in job.waits}, seconds)
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

"""Engines that answer tasks: processes of this machine, or a Dask cluster.

Watchers of runs over many questions: progress bars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.dask_engine import Cluster
    from ltlpipe.batch.pool import Pool
    from ltlpipe.batch.tasks import Activity, Task
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.progress_bar import SearchProgress

_TITLE = 40  # characters of a name on the line of a worker


class Watcher:
    """Observer of a run over many questions; this one shows nothing."""

    progress: SearchProgress | bool = False
    """Receives how far the question in this process has come."""

    def begin(self, question: Any, number: int, total: int) -> None:
        """Receive the next question of this process, counted from 1."""

    def compiling(self, number: int, total: int) -> None:
        """Receive that the kernels of a search are compiled, the first time."""

    def compiled(self, seconds: float) -> None:
        """Receive how long that took; 0 if they were there already."""

    def working(self, activities: Sequence[Activity]) -> None:
        """Receive the progress of other processes, several times a second."""

    def solved(self, task: Task, plan: Plan) -> None:
        """Receive the plan of a verdict."""

    def failed(self, question: Any, error: Exception) -> None:
        """Receive why a question cannot be answered; its row has the message."""

    def stopping(self, running: int) -> None:
        """Receive that after Ctrl-C so many tasks are still brought to their end."""


class RunBar(Watcher):
    """Shows the searches of a run over many questions, one after the other.

    A question is shown as its text.
    """

    progress: SearchProgress

    def __init__(self, progress: SearchProgress) -> None:
        self.progress = progress

    def begin(self, question: Any, number: int, total: int) -> None:
        """Show the next question, counted from 1."""
        self.progress.begin(f"{number}/{total} {question}", total, number - 1)

    def compiling(self, number: int, total: int) -> None:
        """Show which search's kernels are compiled."""
        title = f"compiling {number} of {total} kernels"
        self.progress.begin(title, total, number - 1)


class TaskBar(RunBar):
    """Shows tasks: on one bar, or on one bar per worker process."""

    def __init__(self, progress: SearchProgress, tasks: Sequence[Task]) -> None:
        super().__init__(progress)
        self._tasks = tasks
        self.n_done = 0  # the loop over the rows counts them

    def begin(self, question: Task, number: int, total: int) -> None:
        """Show the task that starts in this process."""
        files = question.system
        name = files[0] if isinstance(files, tuple) else files.name
        super().begin(name, number, total)

    def working(self, activities: Sequence[Activity]) -> None:
        """Show the task of each worker."""
        lines = [
            (_title(self._tasks[activity.number]), _effort(activity))
            for activity in activities
        ]
        self.progress.show_workers(len(self._tasks), self.n_done, lines)


def _title(task: Task) -> str:
    """Return the text of a worker's bar."""
    from ltlpipe.batch.answering import encodable
    from ltlpipe.batch.tasks import identity_of

    texts = {"system": task.system_name, "formula": identity_of(task.formula)[0]}
    return " ".join(_cut(str(text)) for text in encodable(texts).values())


def _cut(text: str) -> str:
    """Return the end of a text that is too long for a line."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _TITLE else "..." + plain[3 - _TITLE :]


def _effort(activity: Activity) -> str:
    """Return the progress of a worker: states, rate, memory."""
    parts = []
    if activity.states is not None:
        rate = activity.states / max(activity.seconds, 1e-9)
        parts = [f"{activity.states:,} states", f"{rate:,.0f} per second"]
    if activity.memory_bytes is not None:
        parts.append(f"{activity.memory_bytes / (1 << 20):,.0f} MiB")
    return ", ".join(parts)


LOCAL, DASK = "local", "dask"

ENGINES = (LOCAL, DASK)
"""What ``--engine`` can be."""

Workers: TypeAlias = "Pool | Cluster"
"""Who answers tasks, used in a with statement whose end ends them."""

ATTEMPTS = 3
"""Default limit on the attempts at a task whose workers die."""


@dataclass(frozen=True)
class Engine:
    """Where tasks are answered, and by how many at once.

    By default it is one at once here, and on a cluster one per thread of a worker.
    """

    name: str = LOCAL  # one of `ENGINES`
    jobs: int | None = None  # tasks at once
    scheduler: str | None = None  # the address of one of Dask
    attempts: int = ATTEMPTS  # limit on the attempts at a task whose Dask workers die

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            listed = ", ".join(ENGINES)
            raise UnsupportedError(f"--engine={self.name}: expected one of {listed}")
        if self.jobs is not None and self.jobs < 1:
            raise UnsupportedError(f"--jobs={self.jobs}: expected 1 or more")
        if self.attempts < 1:
            raise UnsupportedError(f"--attempts={self.attempts}: expected 1 or more")
        if self.name == LOCAL:
            if self.scheduler is not None:
                raise UnsupportedError("--scheduler goes with --engine=dask")
            if self.attempts != ATTEMPTS:
                raise UnsupportedError("--attempts goes with --engine=dask")
            return
        if self.scheduler is None:
            raise UnsupportedError("--engine=dask goes with --scheduler=ADDRESS")
        from ltlpipe.batch.dask_engine import require_dask

        require_dask()

    def workers(self, tasks: Sequence[Task], options: Mapping[str, Any]) -> Workers:
        """Return the workers that answer tasks."""
        if self.name == LOCAL:
            from ltlpipe.batch.pool import Pool

            return Pool(tasks, options, min(self.jobs or 1, len(tasks) or 1))
        from ltlpipe.batch.dask_engine import Cluster

        assert self.scheduler is not None
        return Cluster(
            tasks, options, self.scheduler, jobs=self.jobs, attempts=self.attempts
        )

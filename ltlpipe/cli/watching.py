"""What people see of a run over many tasks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ltlpipe.cli.progress import RunWatcher

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from ltlpipe.batch.task_job import Activity
    from ltlpipe.batch.tasks import Task
    from ltlpipe.cli.plans import PlanPrinter
    from ltlpipe.cli.progress import SearchProgress
    from ltlpipe.question.answer import Plan

_TITLE = 40  # characters of a name on the line of a worker


class TaskWatcher(RunWatcher):
    """Shows tasks and searches: on one bar, or on one for each worker."""

    def __init__(
        self,
        progress: SearchProgress,
        plans: PlanPrinter,
        tasks: Sequence[Task],
        counts: Counter[tuple[str, str | None]],
        *,
        apart: bool,
    ) -> None:
        super().__init__(progress)
        self._plans, self._tasks, self._counts = plans, tasks, counts
        self._apart = apart  # whether other processes solve the tasks

    def working(self, activities: Sequence[Activity]) -> None:
        """Show what each worker does."""
        lines = [
            (_title(self._tasks[activity.number]), _effort(activity))
            for activity in activities
        ]
        self.progress.show_workers(len(self._tasks), self._counts.total(), lines)

    def begin(self, task: Task, number: int, total: int) -> None:
        """Show the task that begins in this process."""
        if self._apart:
            return  # `working` shows it
        system = task.system if isinstance(task.system, tuple) else (task.system.name,)
        label = f"{number}/{total} {system[0]}"
        self.progress.begin(label, total=total, done=number - 1)

    def solved(self, task: Task, plan: Plan) -> None:  # noqa: ARG002
        """Show the plan of a task."""
        self.progress.hide()
        self._plans.show(plan)

    def failed(self, task: Task, error: Exception) -> None:  # noqa: ARG002
        """Say why a task could not be solved."""
        self.complain(error)

    def stopping(self, running: int) -> None:
        """Say that Ctrl-C was pressed."""
        print(
            f"interrupted: {running} tasks come to their end; Ctrl-C again ends them",
            file=sys.stderr,
        )


def _title(task: Task) -> str:
    """Return what a line of one worker says of its task."""
    from ltlpipe.batch.answering import encodable
    from ltlpipe.batch.tasks import identity_of

    texts = {"system": task.system_name, "formula": identity_of(task.formula)[0]}
    return " ".join(_cut(str(text)) for text in encodable(texts).values())


def _cut(text: str) -> str:
    """Return the end of a text that is too long for a line."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _TITLE else "..." + plain[3 - _TITLE :]


def _effort(activity: Activity) -> str:
    """Return how a worker gets on: states, rate, memory."""
    parts = []
    if activity.states is not None:
        rate = activity.states / max(activity.seconds, 1e-9)
        parts = [f"{activity.states:,} states", f"{rate:,.0f} per second"]
    if activity.memory_bytes is not None:
        parts.append(f"{activity.memory_bytes / (1 << 20):,.0f} MiB")
    return ", ".join(parts)

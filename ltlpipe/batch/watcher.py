"""What an observer of a batch run is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ltlpipe.batch.task_job import Activity
    from ltlpipe.batch.tasks import Task
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.jobs import Progress


class Watcher(Protocol):
    """Observer of a batch run."""

    def begin(self, task: Task, number: int, total: int) -> None:
        """Take the task that is begun next, and how many have been, with it."""

    def progress(self, progress: Progress) -> None:
        """Take how far the question in this process has come."""

    def working(self, activities: list[Activity]) -> None:
        """Take what other processes are doing, several times a second."""

    def solved(self, task: Task, plan: Plan) -> None:
        """Take how a task has got its verdict."""

    def failed(self, task: Task, error: Exception) -> None:
        """Take why a task cannot be solved."""

    def stopping(self, running: int) -> None:
        """Take that after Ctrl-C so many tasks are still brought to their end."""

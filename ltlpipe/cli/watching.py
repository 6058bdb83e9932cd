"""The display of a run over many tasks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ltlpipe.batch.bars import TaskBar
from ltlpipe.cli.progress import Complaints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.batch.tasks import Task
    from ltlpipe.cli.plans import PlanPrinter
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.progress_bar import SearchProgress


class TaskWatcher(TaskBar, Complaints):
    """Shows tasks on bars, prints plans and failures."""

    def __init__(
        self,
        progress: SearchProgress,
        plans: PlanPrinter,
        tasks: Sequence[Task],
        *,
        apart: bool,
    ) -> None:
        super().__init__(progress, tasks, apart=apart)
        self._plans = plans

    def solved(self, task: Task, plan: Plan) -> None:  # noqa: ARG002
        """Show the plan of a task."""
        self.progress.hide()
        self._plans.show(plan)

    def failed(self, question: Task, error: Exception) -> None:  # noqa: ARG002
        """Say why a task could not be solved."""
        self.complain(error)

    def stopping(self, running: int) -> None:
        """Say that Ctrl-C was pressed."""
        print(
            f"interrupted: {running} tasks come to their end; Ctrl-C again ends them",
            file=sys.stderr,
        )

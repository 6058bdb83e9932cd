"""Output of commands while they run: progress bars, plans, and error messages."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

from ltlpipe.batch.engines import TaskBar
from ltlpipe.runtime.errors import LtlpipeError, ReplayError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run
from ltlpipe.runtime.names import counted
from ltlpipe.runtime.progress_bar import search_bar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from ltlpipe.batch.tasks import Task
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.jobs import Job, Result
    from ltlpipe.runtime.progress_bar import SearchProgress


class Complaints:
    """Prints the failures of a run over many tasks."""

    found_bug = False
    """Whether a run that was found fails its replay."""

    _said = ""

    def complain(self, error: Exception) -> None:
        """Print an error; the same one in a row is printed once."""
        message = f"error: {error}"
        self.found_bug |= isinstance(error, ReplayError)
        if isinstance(error, StoppedError):
            return  # a limit, which is the reason in the task's row
        if not isinstance(error, LtlpipeError):
            traceback.print_exception(error)
            print("error: this is a bug of ltlpipe; please report it", file=sys.stderr)
        elif message != self._said:
            print(message, file=sys.stderr)
        self._said = message


def search_progress(*, quiet: bool) -> AbstractContextManager[SearchProgress]:
    """Show progress while the block runs, if standard error is a terminal."""
    return search_bar(not quiet)


def run_within(
    job: Job[Result],
    limits: Limits | None = None,
    *,
    progress: SearchProgress | None = None,
) -> Result:
    """Run a job; StoppedError if a limit was hit, KeyboardInterrupt after Ctrl-C."""
    try:
        return run(job, limits, observer=progress)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


class PlanPrinter:
    """Prints each plan of a run once, if ``--explain`` is given.

    Where standard output belongs to JSON, plans go to standard error.
    """

    def __init__(self, *, wanted: bool, as_json: bool) -> None:
        self._wanted = wanted
        self._stream = sys.stderr if as_json else sys.stdout
        self._shown: set[tuple[str, ...]] = set()

    def show(self, plan: Plan) -> None:
        """Print a plan that has not been printed yet."""
        outcomes = (f"{t.strategy} {t.outcome} {t.reason}" for t in plan.tried)
        key = (*plan.reasons, *outcomes)  # without the seconds
        if not self._wanted or key in self._shown:
            return
        self._shown.add(key)
        for title, lines in (
            ("plan", plan.reasons),
            ("components", plan.merges),
            ("strategies", sorted(plan.tried, key=lambda t: t.outcome == "not tried")),
        ):
            if lines:
                print(f"{title}:", file=self._stream)
            for line in lines:
                print(f"  {line}", file=self._stream)


class TaskWatcher(TaskBar, Complaints):
    """Shows tasks on bars, prints plans and failures."""

    def __init__(
        self,
        progress: SearchProgress,
        plans: PlanPrinter,
        tasks: Sequence[Task],
    ) -> None:
        super().__init__(progress, tasks)
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
            f"interrupted: finishing {counted(running, 'running task')}; "
            "Ctrl-C again to stop",
            file=sys.stderr,
        )

"""Jobs within the limits of a question that is not a job itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import INTERRUPTED, StoppedError, TooMuchWorkError, bounded

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Interrupt, Limits

Result = TypeVar("Result")


def finish(job: Job[Result], limits: Limits, interrupt: Interrupt) -> Result:
    """Advance a job to its end, unless the question's deadline passes before.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed; or what the job raises.
    """

    def look(_progress: jobs.Progress) -> None:
        if interrupt.pressed:
            raise StoppedError(INTERRUPTED)

    left = None
    if limits.deadline is not None:
        left = max(limits.deadline - time.monotonic(), 0.0)
    try:
        return jobs.run(job, jobs.Limits(timeout=left), observer=look)
    except StoppedError as stopped:
        interrupt.pressed = interrupt.pressed or stopped.reason == INTERRUPTED
        raise


def decide(
    job: Job[bool], seconds: float, limits: Limits, interrupt: Interrupt
) -> bool | None:
    """Return what a job finds, or None if that takes too much of a worker's CPU time.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed.
    """
    try:
        return finish(bounded(job, work=seconds * 1e6), limits, interrupt)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED or limits.expired:
            raise
        return None
    except (TooMuchWorkError, RuntimeError):  # or more than Spot can do
        return None

"""Jobs under the limits of a question that is not a job itself yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.bounded import StoppedError
from ltlpipe.runtime import jobs
from ltlpipe.search.driver import stop_in_time

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job, Progress, Result
    from ltlpipe.search.driver import Interrupt, Limits


def advance(job: Job[Result], limits: Limits, interrupt: Interrupt) -> Result:
    """Advance a job to its end.

    Raises
    ------
    StoppedError
        The deadline has passed or Ctrl-C was pressed.
    """

    def look(_: Progress) -> None:
        stop_in_time(limits, interrupt)

    try:
        return jobs.run(job, observer=look)
    except jobs.StoppedError as stopped:
        if stopped.reason == jobs.INTERRUPTED:
            interrupt.pressed = True
        raise StoppedError(stopped.reason) from None

"""Jobs of commands: reading may take as long again as the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job, Result
    from ltlpipe.runtime.progress_bar import SearchProgress


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

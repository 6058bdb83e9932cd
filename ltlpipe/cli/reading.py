"""Reading within the limits of a question: as long again as the question may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.cli.progress import SearchProgress
    from ltlpipe.runtime.jobs import Job, Result
    from ltlpipe.verdict.verdict import Verdict


def read_within(
    job: Job[Result],
    progress: SearchProgress,
    *,
    timeout: float | None,
    memory: float | None,
) -> Result:
    """Run the job of a reader.

    Raises
    ------
    StoppedError
        A limit was hit.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    from ltlpipe.runtime.memory import default_memory_mib

    if memory is None:
        memory = default_memory_mib()
    try:
        return run(job, Limits(timeout, memory), observer=progress)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def not_read(
    files: Sequence[str], reason: str, formula: str | None, formula_id: str | None
) -> Verdict:
    """Return the verdict of a question whose system could not be read in time."""
    from ltlpipe.question.answer import Plan, Statistics
    from ltlpipe.verdict.verdict import UNKNOWN, Verdict

    return Verdict(
        verdict=UNKNOWN,
        reason=reason,
        system=" ".join(files),
        formula=formula,
        formula_id=formula_id,
        plan=Plan(None, None, reasons=("the system was not read within the limits",)),
        stats=Statistics(),
    )

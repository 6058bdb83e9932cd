"""Jobs of commands: readers get as long again as the question may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.cli.progress import SearchProgress
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job, Result
    from ltlpipe.verdict.verdict import Verdict


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


def not_read(
    files: Sequence[str], reason: str, formula: Formula | None = None
) -> Verdict:
    """Return the verdict of a question whose system could not be read in time."""
    from ltlpipe.question.answer import Plan, Statistics
    from ltlpipe.verdict.verdict import UNKNOWN, Verdict

    return Verdict(
        verdict=UNKNOWN,
        reason=reason,
        system=" ".join(files),
        formula=None if formula is None else formula.text,
        formula_id=None if formula is None else formula.identifier,
        plan=Plan(None, None, reasons=("the system was not read within the limits",)),
        stats=Statistics(),
    )

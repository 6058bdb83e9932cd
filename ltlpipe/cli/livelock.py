"""``ltlpipe livelock`` and ``ltlpipe deadlocks``: searches without formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.reading import run_within
from ltlpipe.cli.verdicts import Form, exit_code, report
from ltlpipe.question.given_options import manner_of, of_question, understood
from ltlpipe.question.option import DEADLOCKS, LIVELOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.verdict.verdict import Verdict


@shared.takes(LIVELOCK)
def livelock(
    system: shared.System,
    progress: Annotated[
        list[str],
        typer.Option(
            metavar="A,B", help="The progress actions; may be given several times."
        ),
    ],
    as_json: shared.AsJson = False,
    steps: shared.Steps = False,
    chart: shared.Chart = False,
    explain: shared.Explain = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Find an infinite run with only finitely many progress actions.

    With --fairness, only runs that are fair to each component, or to each set of
    --fair-sets, count.  Exit code: 0 there is none, 1 there is one (printed as a
    violation of "infinitely often progress"), 2 bad input or usage, 3 unknown.
    """
    from ltlpipe.verdict.checking import livelock as look_for_one

    form = Form(as_json=as_json, steps=steps, chart=chart).checked()
    chosen["progress_actions"] = [
        name.strip() for names in progress for name in names.split(",")
    ]
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    verdict = _look(system, "livelock", look_for_one, chosen, plans, quiet)
    report(verdict, form)
    raise typer.Exit(exit_code([verdict.verdict]))


@shared.takes(DEADLOCKS)
def deadlocks(
    system: shared.System,
    as_json: shared.AsJson = False,
    steps: shared.Steps = False,
    chart: shared.Chart = False,
    explain: shared.Explain = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Find a reachable deadlock: a state without successors.

    Prints a shortest path to it.  Exit code: 0 there is none, 1 there is one (printed
    as the run that violates "no deadlock"), 2 bad input or usage, 3 unknown.
    """
    from ltlpipe.verdict.deadlocks import deadlocks as look_for_one

    form = Form(as_json=as_json, steps=steps, chart=chart).checked()
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    verdict = _look(system, "deadlock", look_for_one, chosen, plans, quiet)
    report(verdict, form, about="no deadlock")
    raise typer.Exit(exit_code([verdict.verdict]))


def _look(
    files: list[str],
    label: str,
    look_for_one: Callable[..., Verdict],
    chosen: dict[str, Any],
    plans: PlanPrinter,
    quiet: bool,
) -> Verdict:
    """Read a system and look for a run, within the limits chosen."""
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.verdict import not_read

    options = {n: v for n, v in chosen.items() if n != "progress_actions"}
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            job = load_job(files, **manner_of(chosen))
            system = run_within(job, understood(options)[1], progress=bar)
            bar.begin(label)
            verdict = look_for_one(system, progress=bar, **of_question(chosen))
        except StoppedError as stopped:
            verdict = not_read(" ".join(files), stopped.reason)
        bar.hide()
        plans.show(verdict.plan)
    return verdict

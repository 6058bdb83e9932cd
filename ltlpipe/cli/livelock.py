"""``ltlpipe livelock`` and ``ltlpipe deadlocks``: searches without formulas."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.progress import PlanPrinter, run_within, search_progress
from ltlpipe.cli.verdicts import Form, exit_code, report
from ltlpipe.question.given_options import manner_of, of_question, understood
from ltlpipe.question.options import DEADLOCKS, LIVELOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.verdict.verdict import Verdict


@shared.takes(LIVELOCK)
def livelock(
    system: shared.System,
    progress: Annotated[
        list[str] | None,
        shared.question_option(
            metavar="A,B",
            help="The progress actions; may be given several times.  Of a Promela "
            "model they are its labels 'progress' by default.",
        ),
    ] = None,
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

    names = [name.strip() for names in progress or () for name in names.split(",")]
    look = partial(look_for_one, progress_actions=names)
    form = Form(as_json=as_json, steps=steps, chart=chart)
    _tell(system, "livelock", look, chosen, form, explain=explain, quiet=quiet)


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
    from ltlpipe.verdict.checking import deadlocks as look_for_one

    form = Form(as_json=as_json, steps=steps, chart=chart)
    _tell(system, "deadlock", look_for_one, chosen, form, explain=explain, quiet=quiet)


def _tell(
    files: list[str],
    label: str,
    look_for_one: Callable[..., Verdict],
    chosen: dict[str, Any],
    form: Form,
    *,
    explain: bool,
    quiet: bool,
) -> None:
    """Read a system, look for a run within the limits, and print the verdict."""
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.verdict import not_read

    form.checked()
    plans = PlanPrinter(wanted=explain, as_json=form.as_json)
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            job = load_job(files, **manner_of(chosen))
            system = run_within(job, understood(chosen)[1], progress=bar)
            bar.begin(label)
            verdict = look_for_one(system, progress=bar, **of_question(chosen))
        except StoppedError as stopped:
            verdict = not_read(" ".join(files), stopped.reason)
            if getattr(system, "ends_validly", None) is not None:
                label = {"deadlock": "invalid end state"}.get(label, label)
        bar.hide()
        plans.show(verdict.plan)
    report(verdict, form, about=None if label == "livelock" else f"no {label}")
    raise typer.Exit(exit_code([verdict.verdict]))

"""``ltlpipe deadlocks``: the nearest state without a step, and the way to it."""

from __future__ import annotations

from typing import Annotated

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.reading import not_read, read_within
from ltlpipe.cli.verdicts import exit_code, report
from ltlpipe.systems.formats import SYSTEM_FILES


def deadlocks(
    system: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM",
            help=SYSTEM_FILES,
        ),
    ],
    timeout: shared.Timeout = None,
    memory: shared.Memory = None,
    max_states: shared.MaxStates = None,
    seed: shared.Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object on one line.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the plan and its reasons.")
    ] = False,
    quiet: shared.Quiet = False,
) -> None:
    """Look for a state that can be reached and has no step.

    Prints a shortest way to it.  Exit code: 0 there is none, 1 there is one (printed as
    the run that violates "no deadlock"), 2 bad input or usage, 3 unknown.
    """
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.deadlocks import deadlocks as look_for_one

    chosen = shared.given(
        timeout=timeout, memory=memory, max_states=max_states, seed=seed
    )
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            loaded = read_within(load_job(system), bar, timeout=timeout, memory=memory)
            bar.begin("deadlock")
            verdict = look_for_one(loaded, progress=bar, **chosen)
        except StoppedError as stopped:
            verdict = not_read(system, stopped.reason, None, None)
        bar.hide()
        plans.show(verdict.plan)
        report(verdict, as_json=as_json, about="no deadlock")
    raise typer.Exit(exit_code([verdict.verdict]))

"""``ltlpipe livelock``: can a system run for ever without progress?"""

from __future__ import annotations

from typing import Annotated

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.reading import not_read, read_within
from ltlpipe.cli.verdicts import exit_code, report
from ltlpipe.systems.formats import SYSTEM_FILES


def livelock(
    system: Annotated[
        list[str],
        typer.Argument(metavar="SYSTEM", help=SYSTEM_FILES),
    ],
    progress: Annotated[
        str, typer.Option(metavar="A,B", help="The actions that are progress.")
    ],
    fairness: shared.Fairness = None,
    fair_sets: Annotated[
        list[str] | None,
        typer.Option(
            "--fair",
            metavar="A,B",
            help="A set of actions that --fairness is about, instead of the "
            "components'.",
        ),
    ] = None,
    emptiness: shared.Emptiness = "auto",
    acceptance: shared.Acceptance = "auto",
    reduce: shared.Reduce = "auto",
    deadlock: shared.Deadlock = None,
    timeout: shared.Timeout = None,
    memory: shared.Memory = None,
    max_states: shared.MaxStates = None,
    workers: shared.Workers = 1,
    seed: shared.Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object on one line.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the plan and its reasons.")
    ] = False,
    quiet: shared.Quiet = False,
) -> None:
    """Look for an infinite run with finitely many of the actions that are progress.

    With --fairness only runs count that are fair to each component, or to each set
    of --fair.  Exit code: 0 there is none, 1 there is one (printed as the run that
    violates "again and again progress"), 2 bad input or usage, 3 unknown.
    """
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.checking import livelock as look_for_one

    chosen = shared.given(
        fairness=fairness,
        fair_sets=tuple(fair_sets or ()),
        emptiness=emptiness,
        acceptance=acceptance,
        reduce=reduce,
        deadlock=deadlock,
        timeout=timeout,
        memory=memory,
        max_states=max_states,
        workers=workers,
        seed=seed,
    )
    names = [name.strip() for name in progress.split(",")]
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            loaded = read_within(load_job(system), bar, timeout=timeout, memory=memory)
            bar.begin("livelock")
            verdict = look_for_one(loaded, names, progress=bar, **chosen)
        except StoppedError as stopped:
            verdict = not_read(system, stopped.reason, None, None)
        bar.hide()
        plans.show(verdict.plan)
        report(verdict, as_json=as_json)
    raise typer.Exit(exit_code([verdict.verdict]))

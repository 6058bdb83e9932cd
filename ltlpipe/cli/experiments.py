"""``ltlpipe experiments``: published experiments done again, and compared."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.watching import TaskWatcher

if TYPE_CHECKING:
    import pandas as pd

    from ltlpipe.batch.table import Row

_TIMEOUT = 120.0
_MEMORY_MIB = 8192.0
_WIDTH = 200  # characters of a line where there is no terminal


def experiments(
    name: Annotated[
        Literal["beem", "mcc"],
        typer.Argument(help="What rows call it: BEEM's DVE models, or MCC's nets."),
    ],
    data: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="models/, automata/, tasks.csv and published.csv."
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The table, .csv or .parquet.")
    ],
    store: Annotated[
        str | None,
        typer.Option(
            metavar="RUN.sqlite",
            help="Where results are kept, so that the same command goes on where it "
            "stopped; by default beside --out.",
        ),
    ] = None,
    translators: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Translators whose automata are in automata/, or own-ba, own-tgba, "
            "own-tgra, own-tfla, own-tela; by default all that are there.",
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="A,B", help="Some of the models only.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--tasks", min=1, metavar="N", help="So many of each model only."),
    ] = None,
    plots: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A folder for scatter plots of seconds."),
    ] = None,
    timeout: shared.Timeout = _TIMEOUT,
    memory: shared.Memory = _MEMORY_MIB,
    max_states: shared.MaxStates = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes that solve tasks at the same time.")
    ] = 1,
    quiet: shared.Quiet = False,
) -> None:
    """Check the tasks of a folder and compare verdicts, sizes and times.

    Prints how many are right, and geometric means for each translator.  Exit code: 0
    all that was decided is right, in verdict and size of the product; 1 something is
    wrong; 2 bad input or usage.
    """
    from ltlpipe.batch.experiments import Experiments, default_store
    from ltlpipe.batch.solving import solve_rows

    folder = Experiments(name, data)
    trials = folder.trials(
        _split(translators) or folder.translators, _split(models), count
    )
    chosen = shared.given(timeout=timeout, memory=memory, max_states=max_states)
    tasks = [trial.task for trial in trials]
    found: dict[int, Row] = {}
    counts: Counter[tuple[str, str | None]] = Counter()
    with search_progress(quiet=quiet) as progress:
        plans = PlanPrinter(wanted=False, as_json=False)
        rows = solve_rows(
            tasks,
            watcher=TaskWatcher(progress, plans, tasks, counts, apart=True),
            jobs=jobs,
            store=store or default_store(out),
            **chosen,
        )
        with closing(rows), suppress(KeyboardInterrupt):
            for row in rows:
                number = int(row["task"])
                found[number] = folder.row_of(trials[number], row)
                counts[row["verdict"], row["reason"]] += 1
    _write(out, [found[number] for number in sorted(found)])
    frame = _frame([found[number] for number in sorted(found)])
    if plots is not None:
        _plot(frame, plots)
    if not quiet:
        print(f"{len(found)} of {len(trials)} rows written to {out}")
    raise typer.Exit(int(_summarise(frame, quiet=quiet)))


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _write(out: str, rows: list[Row]) -> None:
    from ltlpipe.batch.experiments import EXPERIMENT_DTYPES
    from ltlpipe.batch.table import open_table

    with open_table(out, EXPERIMENT_DTYPES) as table:
        for row in rows:
            table.write(row)


def _frame(rows: list[Row]) -> pd.DataFrame:
    from ltlpipe.batch.experiments import EXPERIMENT_DTYPES
    from ltlpipe.batch.table import to_frame

    return to_frame(rows, EXPERIMENT_DTYPES)


def _plot(frame: pd.DataFrame, folder: str) -> None:
    """Draw all translators against the first, together and by numbers of pairs."""
    from ltlpipe.report.experiment_tables import as_comparison
    from ltlpipe.report.scatter import draw_scatter

    names = list(dict.fromkeys(frame["translator"]))
    rows = as_comparison(frame)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names[1:]:
        for kind, by_pairs in (("", False), ("-pairs", True)):
            path = Path(folder) / f"{names[0]}-{name}{kind}.svg"
            draw_scatter(rows, path, panels=[(names[0], name)], by_pairs=by_pairs)


def _summarise(frame: pd.DataFrame, *, quiet: bool) -> bool:
    """Print what the table comes to; return whether something is wrong."""
    from ltlpipe.report.experiment_tables import agreement, means
    from ltlpipe.report.frames import text_table

    if frame.empty:
        return False
    overview = agreement(frame)
    if not quiet:
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else _WIDTH)
        for table in (overview, means(frame)):
            console.print(text_table(_short(table)))
    total: Any = overview.iloc[-1]
    return bool(total["wrong"] or total["other_size"])


def _short(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose numbers are as long as they say something."""
    return frame.map(_shortened)


def _shortened(value: Any) -> Any:
    if not isinstance(value, float) or value != value:
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

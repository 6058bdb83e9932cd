"""Published experiments done again, and compared: verdicts, sizes and times.

Checks the tasks of a folder (`benchmarks.experiment_data` says how it is laid out) and
prints how many are right, and geometric means for each translator.  Results are kept in
a store, by default beside the table, so that the same command goes on where it stopped.

Exit code: 0 all that was decided is right, in verdict and size of the product; 1
something is wrong; 2 bad input or usage.

    python -m benchmarks.experiments beem --data FOLDER --out results/beem.csv
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from benchmarks.experiment_data import EXPERIMENT_DTYPES, Experiments, default_store
from benchmarks.experiment_tables import agreement, as_comparison, means
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.table import to_frame
from ltlpipe.batch.table_writers import open_table
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.watching import TaskWatcher
from ltlpipe.report.layouts import of_frame, text_table
from ltlpipe.report.plots import acceptances, save
from ltlpipe.runtime.errors import LtlpipeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row

_TIMEOUT = 120.0
_MEMORY_MIB = 8192.0
_WIDTH = 200  # characters of a line where there is no terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the tasks of a folder; return the exit code."""
    chosen = _options().parse_args(arguments)
    try:
        return _run(chosen)
    except LtlpipeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "name",
        choices=("beem", "mcc"),
        help="what rows call it: BEEM's DVE models, or MCC's nets",
    )
    add(
        "--data",
        required=True,
        metavar="DIR",
        help="models/, automata/, tasks.csv and published.csv",
    )
    add("--out", required=True, metavar="FILE", help="the table, .csv or .parquet")
    add(
        "--store",
        metavar="RUN.sqlite",
        help="where results are kept; by default beside --out",
    )
    add(
        "--translators",
        metavar="A,B",
        help="translators whose automata are in automata/, or own-ba, own-tgba, "
        "own-tgra, own-tfla, own-tela; by default all that are there",
    )
    add("--models", metavar="A,B", help="some of the models only")
    add(
        "--tasks",
        type=_at_least_one,
        metavar="N",
        help="so many of each model only",
    )
    add("--plots", metavar="DIR", help="a folder for scatter plots of seconds")
    add("--timeout", type=float, default=_TIMEOUT, help="seconds for each task")
    add("--memory", type=float, default=_MEMORY_MIB, help="MiB of each search")
    add("--max-states", type=_at_least_one, help="product states of each task")
    add(
        "--jobs",
        type=_at_least_one,
        default=1,
        help="processes that solve tasks at the same time",
    )
    add("--quiet", action="store_true", help="no progress, no summary")
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}, expected at least 1")
    return number


def _run(chosen: argparse.Namespace) -> int:
    folder = Experiments(chosen.name, chosen.data)
    trials = folder.trials(
        _split(chosen.translators) or folder.translators,
        _split(chosen.models),
        chosen.tasks,
    )
    tasks = [trial.task for trial in trials]
    found: dict[int, Row] = {}
    with search_progress(quiet=chosen.quiet) as progress:
        plans = PlanPrinter(wanted=False, as_json=False)
        watcher = TaskWatcher(progress, plans, tasks, apart=True)
        rows = solve_rows(
            tasks,
            watcher=watcher,
            jobs=chosen.jobs,
            store=chosen.store or default_store(chosen.out),
            timeout=chosen.timeout,
            memory=chosen.memory,
            max_states=chosen.max_states,
        )
        with closing(rows), suppress(KeyboardInterrupt):
            for row in rows:
                number = int(row["task"])
                found[number] = folder.row_of(trials[number], row)
                watcher.n_done += 1
    table = [found[number] for number in sorted(found)]
    with open_table(chosen.out, EXPERIMENT_DTYPES) as stream:
        for row in table:
            stream.write(row)
    frame = to_frame(table, EXPERIMENT_DTYPES)
    if chosen.plots is not None:
        _plot(frame, Path(chosen.plots))
    if not chosen.quiet:
        print(f"{len(found)} of {len(trials)} rows written to {chosen.out}")
    return int(_summarise(frame, quiet=chosen.quiet))


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _plot(frame: pd.DataFrame, folder: Path) -> None:
    """Draw all translators against the first, together and by numbers of pairs."""
    names = list(dict.fromkeys(frame["translator"]))
    rows = as_comparison(frame)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names[1:]:
        for kind, by_pairs in (("", False), ("-pairs", True)):
            path = folder / f"{names[0]}-{name}{kind}.svg"
            save(acceptances(rows, [(names[0], name)], by_pairs=by_pairs), path)


def _summarise(frame: pd.DataFrame, *, quiet: bool) -> bool:
    """Print what the table comes to; return whether something is wrong."""
    if frame.empty:
        return False
    overview = agreement(frame)
    if not quiet:
        console = Console(width=None if sys.stdout.isatty() else _WIDTH)
        for table in (overview, means(frame)):
            console.print(text_table(of_frame(table.map(_shortened))))
    total: Any = overview.iloc[-1]
    return bool(total["wrong"] or total["other_size"])


def _shortened(value: Any) -> Any:
    """Return a number as long as it says something."""
    if not isinstance(value, float) or value != value:
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())

"""``ltlpipe results`` and ``ltlpipe status``: tables out of a result store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ltlpipe.cli import tables
from ltlpipe.cli.tables import Store, print_outcomes
from ltlpipe.cli.verdicts import json_line
from ltlpipe.runtime.names import visible

if TYPE_CHECKING:
    import pandas as pd

    from ltlpipe.batch.store import RunStatus, Status


FORMATS = ("text", "csv", "parquet", "json", "latex", "html", "md")
_SHOWN = [
    *("system", "formula_id", "configuration", "verdict", "reason"),
    *("states", "seconds", "memory_mib"),
]
"""The columns that are shown by default."""

_SHOWN_WITNESSES = [
    *("system", "lasso_prefix", "lasso_cycle", "n_formulas", "formula_ids", "steps"),
]
"""The same of --witnesses."""


def results(
    store: tables.Store,
    where: tables.Where = None,
    columns: str | None = typer.Option(
        None, metavar="A,B", help="Columns to print, in this order."
    ),
    group: str | None = typer.Option(
        None,
        metavar="A,B",
        help="Aggregate: one row per value of these columns, with verdicts and cost.",
    ),
    pivot: str | None = typer.Option(
        None,
        metavar="COLUMN",
        help="With --group: one column per value of this column, such as "
        "configuration.",
    ),
    value: str | None = typer.Option(
        None,
        metavar="COLUMN",
        help="Column shown in the cells of --pivot; by default the number of tasks.",
    ),
    aggregate: str | None = typer.Option(
        None,
        metavar="HOW",
        help="How several values of a cell are aggregated: mean, median, sum, "
        "min, max, count, or all.",
    ),
    witnesses: bool = typer.Option(
        False,
        "--witnesses",
        help="Print a small set of lassos per system that violate all its violated "
        "formulas.",
    ),
    to: str | None = typer.Option(
        None, metavar="FORMAT", help="text, csv, parquet, json, latex, html, or md."
    ),
    out: str | None = tables.output(),
) -> None:
    """Print the results of a run: all, filtered, or aggregated.

    The run may still be in progress.  Text, LaTeX, HTML and Markdown have a few columns
    unless --columns selects them; the other formats have all.
    """
    form = tables.format_of(to, out, FORMATS)
    from ltlpipe.batch.results import columns_named, filtered, grouped, pivoted
    from ltlpipe.batch.results import results as results_of
    from ltlpipe.runtime.files import refuse_overwriting

    if pivot is not None and group is None:
        raise typer.BadParameter("--pivot goes with --group")
    if pivot is None and (value or aggregate):
        raise typer.BadParameter("--value and --aggregate go with --pivot")
    if witnesses and group is not None:
        raise typer.BadParameter("--witnesses does not go with --group")
    refuse_overwriting({"--out": out}, [store])
    frame = filtered(results_of(store), where)
    if witnesses:
        from ltlpipe.batch.shared_runs import origins_of, represented

        frame = represented(frame, origins_of(store))
    if group is not None and pivot is not None:
        frame = pivoted(frame, tables.names_in(group), pivot, value, aggregate)
    elif group is not None:
        frame = grouped(frame, tables.names_in(group))
    if columns is not None:
        frame = frame[columns_named(frame, "columns", tables.names_in(columns))]
    elif group is None and form not in ("csv", "parquet", "json"):
        shown = _SHOWN_WITNESSES if witnesses else _SHOWN
        frame = frame[[column for column in shown if column in frame]]
    title = Path(store).name
    tables.write_table(frame, form, out, lambda f: _laid_out(frame, f, out, title))


def _laid_out(frame: pd.DataFrame, form: str, out: str | None, title: str) -> str:
    from ltlpipe.report import layouts

    if form == "json":
        return (
            frame.to_json(
                orient="records", lines=True, date_format="iso", force_ascii=False
            )
            or "\n"
        )
    layout = layouts.of_frame(frame)
    if form != tables.TEXT:
        return layouts.laid_out(layout, form, title)
    text = tables.drawn(layouts.text_table(layout), to_file=out is not None)
    return text if out is not None else f"{text}{len(frame)} rows\n"


def status(
    store: Store,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Print the progress of the runs on a store: done, running, left.

    This does not disturb the runs.  The exit code is 0 whatever the verdicts are.
    """
    from ltlpipe.batch.store import status as status_of

    found = status_of(store)
    if as_json:
        print(json_line(_plain(found)))
        return
    for run in found.runs:
        _print_run(run)
    _print_tasks(found)


def _plain(found: Status) -> dict[str, object]:
    """Return what ``--json`` prints."""
    outcomes = [
        {"verdict": verdict, "reason": reason, "tasks": count}
        for (verdict, reason), count in found.outcomes.items()
    ]
    more = {"done": found.done, "seconds_left": found.seconds_left}
    return asdict(found) | {"outcomes": outcomes} | more


def _print_run(run: RunStatus) -> None:
    state = run.state if run.ended_at is None else f"{run.state} at {run.ended_at}"
    print(
        f"run {run.run} {state}: began at {run.began_at}, "
        f"{run.solved:,} tasks solved in {duration(run.seconds)}"
    )
    for system, formula in run.at_work:
        print(visible(f"  at {system} {' '.join(formula.split())}".rstrip()))


def _print_tasks(found: Status) -> None:
    left = found.tasks - found.done
    print_outcomes(found.outcomes, left)
    text = f"{found.done:,} of {found.tasks:,} tasks done"
    if left and found.seconds_left is not None:
        text += f", the rest in about {duration(found.seconds_left)}"
    print(text)


def duration(seconds: float) -> str:
    """Return a formatted time span.

    Examples
    --------
    >>> duration(59.4), duration(60), duration(7384), duration(200_000)
    ('59 s', '1 min 0 s', '2 h 3 min', '2 d 7 h')
    """
    whole = round(seconds)
    for small, large, factor, size in (
        ("h", "d", 3600, 24),
        ("min", "h", 60, 60),
        ("s", "min", 1, 60),
    ):
        count = whole // factor
        if count >= size:
            return f"{count // size} {large} {count % size} {small}"
    return f"{whole} s"

"""``ltlpipe results``: tables out of a result store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli import tables

if TYPE_CHECKING:
    import pandas as pd

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
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns to print, in this order.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Aggregate: one row per value of these columns, with verdicts and "
            "cost.",
        ),
    ] = None,
    pivot: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --group: one column per value of this column, such as "
            "configuration.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column shown in the cells of --pivot; by default "
            "the number of tasks.",
        ),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How several values of a cell are aggregated: mean, median, sum, "
            "min, max, count, or all.",
        ),
    ] = None,
    witnesses: Annotated[
        bool,
        typer.Option(
            "--witnesses",
            help="Print a small set of lassos per system that violate all its violated "
            "formulas.",
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="text, csv, parquet, json, latex, html, or md."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Output file; by default standard output.",
        ),
    ] = None,
) -> None:
    """Print the results of a run: all, filtered, or aggregated.

    The run may still be in progress.  Text, LaTeX, HTML and Markdown have a few columns
    unless --columns selects them; the other formats have all.
    """
    form = tables.format_of(to, out, FORMATS)
    from ltlpipe.batch.results import columns_named, filtered, grouped, pivoted
    from ltlpipe.batch.results import results as results_of

    if pivot is not None and group is None:
        raise typer.BadParameter("--pivot goes with --group")
    if pivot is None and (value or aggregate):
        raise typer.BadParameter("--value and --aggregate go with --pivot")
    if witnesses and group is not None:
        raise typer.BadParameter("--witnesses does not go with --group")
    frame = results_of(store)
    if where is not None:
        frame = filtered(frame, where)
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

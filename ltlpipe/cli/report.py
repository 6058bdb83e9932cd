"""``ltlpipe report`` and ``ltlpipe plot``: a page, and pictures, of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ltlpipe.cli.tables import (
    Where,
    names_in,
)
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.names import counted

SUFFIXES = (".html", ".htm")


def report(
    results: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="A store of solve --store; or a table of solve or compare, .csv or "
            ".parquet.",
        ),
    ],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="FILE", help="Output file (.html).")
    ],
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Heading of the page.")
    ] = None,
    where: Where = None,
) -> None:
    """Write a self-contained HTML report about a run.

    It shows the setting, verdicts, plots, disagreements between configurations, and a
    table of all tasks to sort, filter and search, each with its plan, statistics and
    lasso as a chart.  Charts show which components take part in an action if the
    files of the system are still there and unchanged.
    """
    refuse_page(out)
    write_page(results, out, title=title, where=where)


def refuse_page(out: str) -> None:
    """Refuse a file that cannot become a page, before anything is solved for it."""
    path = Path(out)
    if path.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(f"{out}: expected a file that ends in .html")
    if not path.parent.is_dir():
        raise LtlpipeError(f"{out}: cannot be written: no such folder")


def write_page(
    results: str,
    out: str,
    *,
    title: str | None = None,
    where: str | None = None,
    quiet: bool = False,
) -> None:
    """Write the page and say so."""
    from ltlpipe.report.page import write_report

    n_tasks = write_report(results, out, title=title, where=where)
    if not quiet:
        print(f"report of {counted(n_tasks, 'task')} written to {out}")


plot = typer.Typer(
    help="Plot results: a store, or a CSV or parquet file.", no_args_is_help=True
)

Results = Annotated[
    str,
    typer.Argument(
        metavar="RESULTS",
        help="Store, or table of solve, compare or results.",
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "-o", "--out", metavar="FILE", help="Output file (.svg, .png or .pdf)."
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that define a configuration; by default those that differ.",
    ),
]
Value = Annotated[
    str, typer.Option(metavar="COLUMN", help="Cost of a task: seconds, states, ...")
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Cost of a task: seconds, states, ...; by default seconds of the search "
        "where configurations differ in nothing else, and of the wall clock otherwise.",
    ),
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the plot.")]


@plot.command()
def cactus(
    results: Results,
    out: Out,
    by: By = None,
    value: Cost = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """Draw the number of tasks solved over time, one curve per configuration."""
    _draw("cactus", results, out, where, by, value=value, title=title)


@plot.command()
def scatter(
    results: Results,
    out: Out,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="NAME", help="Configuration of the x-axis."),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option("--y", metavar="NAME", help="Configuration of the y-axis."),
    ] = None,
    by: By = None,
    value: Cost = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """Draw one configuration against another, a point per question.

    With more than two configurations, --x and --y select two.  Questions without an
    answer are drawn beyond a dotted line; the title has the geometric mean of the
    ratios where both answered.
    """
    _draw("scatter", results, out, where, by, a=x, b=y, value=value, title=title)


@plot.command()
def verdicts(
    results: Results,
    out: Out,
    by: By = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """Draw how many tasks hold, are violated, or are unknown, with reasons."""
    _draw("verdicts", results, out, where, by, title=title)


@plot.command()
def growth(
    results: Results,
    out: Out,
    by: By = None,
    value: Value = "states",
    size: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Regular expression for the size in a system's name; by default its "
            "last number, unless that is the number of a problem.",
        ),
    ] = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """Draw cost over the size of systems, a curve per family and configuration.

    A point is the median over all tasks of a size; those without an answer count as
    costing more than any other.
    """
    _draw("growth", results, out, where, by, value=value, size=size, title=title)


def _draw(
    kind: str, results: str, out: str, where: str | None, by: str | None, **how: Any
) -> None:
    """Draw a plot of `ltlpipe.report.plots`, if it can be written."""
    from ltlpipe.batch.results import filtered
    from ltlpipe.batch.results import results as results_of
    from ltlpipe.report import plots

    plots.plottable(out)
    frame = results_of(results)
    if where is not None:
        frame = filtered(frame, where)
    columns = None if by is None else names_in(by)
    plots.save(getattr(plots, kind)(frame, by=columns, **how), out)

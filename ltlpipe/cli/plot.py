"""``ltlpipe plot``: pictures of result tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.tables import names_in

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

plot = typer.Typer(
    help="Plot results: a store, or a CSV or parquet file.", no_args_is_help=True
)

Results = Annotated[
    str,
    typer.Argument(
        metavar="RESULTS",
        help="What solve, compare or results has written, or a store.",
    ),
]
Out = Annotated[
    str,
    typer.Option("-o", "--out", metavar="FILE", help="Ends in .svg, .png or .pdf."),
]
Where = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="Rows for which it is true, as in results."),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="What makes a configuration; by default the columns that differ.",
    ),
]
Value = Annotated[
    str, typer.Option(metavar="COLUMN", help="What tasks have cost: seconds, states.")
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Above the plot.")]


@plot.command()
def cactus(
    results: Results,
    out: Out,
    by: By = None,
    value: Value = "seconds",
    where: Where = None,
    title: Title = None,
) -> None:
    """Solved tasks over time, a curve per configuration."""
    from ltlpipe.report import plots

    frame = _table(results, out, where)
    _save(plots.cactus(frame, by=_listed(by), value=value, title=title), out)


@plot.command()
def scatter(
    results: Results,
    out: Out,
    x: Annotated[
        str | None, typer.Option("--x", metavar="NAME", help="The x-axis, if not both.")
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", metavar="NAME", help="The y-axis.")
    ] = None,
    by: By = None,
    value: Value = "seconds",
    where: Where = None,
    title: Title = None,
) -> None:
    """One configuration against another, a point per question.

    Where there are more than two configurations, --x and --y name them.  Who did not
    answer stands beyond a dotted line; the heading has the geometric mean of the ratio
    where both did.
    """
    from ltlpipe.report import plots

    frame = _table(results, out, where)
    columns = _listed(by)
    _save(plots.scatter(frame, x, y, by=columns, value=value, title=title), out)


@plot.command()
def verdicts(
    results: Results,
    out: Out,
    by: By = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """How many tasks hold, are violated, or unknown and why."""
    from ltlpipe.report import plots

    frame = _table(results, out, where)
    _save(plots.verdicts(frame, by=_listed(by), title=title), out)


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
            help="Finds the size in a system's name; by default its last number.",
        ),
    ] = None,
    where: Where = None,
    title: Title = None,
) -> None:
    """Cost over the size of systems, a curve per family and configuration.

    A point is the median over all tasks of a size; those without an answer count as
    costing more than any other.
    """
    from ltlpipe.report import plots

    frame = _table(results, out, where)
    columns = _listed(by)
    _save(plots.growth(frame, by=columns, value=value, size=size, title=title), out)


def _table(results: str, out: str, where: str | None) -> pd.DataFrame:
    """Return the rows to plot, once it is known that a plot can be written."""
    from ltlpipe.report.plots import plottable
    from ltlpipe.report.reading import read_results

    plottable(out)
    frame = read_results(results)
    if where is None:
        return frame
    from ltlpipe.batch.results import filtered

    return filtered(frame, where)


def _listed(by: str | None) -> list[str] | None:
    return None if by is None else names_in(by)


def _save(figure: Figure, out: str) -> None:
    from ltlpipe.report.plots import save

    save(figure, out)

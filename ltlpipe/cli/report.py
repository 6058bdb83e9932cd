"""``ltlpipe report`` and ``ltlpipe plot``: a page, and pictures, of results.

Also the table and the report of ``check --out --report``.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.cli.tables import (
    Where,
    names_in,
)
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict


SUFFIXES = (".html", ".htm")


def report(
    results: str = typer.Argument(
        metavar="RESULTS",
        help="A store of solve --store; or a table of solve or compare, .csv or "
        ".parquet.",
    ),
    out: str = typer.Option(
        ..., "-o", "--out", metavar="FILE", help="Output file (.html)."
    ),
    title: str | None = typer.Option(None, metavar="TEXT", help="Heading of the page."),
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
    x: str | None = typer.Option(
        None, "--x", metavar="NAME", help="Configuration of the x-axis."
    ),
    y: str | None = typer.Option(
        None, "--y", metavar="NAME", help="Configuration of the y-axis."
    ),
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
    size: str | None = typer.Option(
        None,
        metavar="REGEX",
        help="Regular expression for the size in a system's name; by default its "
        "last number, unless that is the number of a problem.",
    ),
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
    frame = filtered(results_of(results), where)
    columns = None if by is None else names_in(by)
    try:
        figure = getattr(plots, kind)(frame, by=columns, **how)
    except UnsupportedError as error:
        raise UnsupportedError(f"{results}: {error}") from None
    plots.save(figure, out)


class AnswerTable(ExitStack):
    """Takes verdicts, and writes rows as `solve` does; use it in a with statement.

    A report without a table is made of one that is deleted.
    """

    def __init__(
        self,
        out: str | None,
        report: str | None,
        system: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self._out, self._report = out, report
        self._system, self._options = " ".join(system), options
        self._counts: Counter[str] = Counter()
        self._table, self._place = None, out or ""
        if out is None and report is None:
            return
        from ltlpipe.batch.table_files import open_table
        from ltlpipe.batch.tasks import now

        self._now, self._began = now, now()
        if report is not None:
            refuse_page(report)
        if report is not None and out is None:
            name = Path(system[0]).with_suffix(".csv").name
            folder = self.enter_context(TemporaryDirectory(prefix="ltlpipe-"))
            self._place = str(Path(folder, name))
        self._writing = self.enter_context(ExitStack())
        self._table = self._writing.enter_context(open_table(self._place))

    def add(self, verdict: Verdict, system: System | None) -> None:
        """Write the row of a verdict."""
        if self._table is None:
            return
        from ltlpipe.batch.answering import encodable
        from ltlpipe.batch.table import host_columns, option_columns, row_of
        from ltlpipe.systems.networks.lts import Network

        is_translated = verdict.formula is not None
        about: dict[str, Any] = {
            "system": self._system,
            "started_at": self._began,
            "finished_at": self._now(),
        }
        if isinstance(system, Network):
            about["n_components"] = len(system.components)
        self._began = about["finished_at"]
        options = option_columns(self._options, is_translated=is_translated)
        self._table.write(encodable(row_of(verdict) | host_columns() | options | about))
        self._counts[verdict.verdict] += 1

    def finish(self, *, quiet: bool) -> None:
        """Close the table, write the report, and say so in a line each."""
        if self._table is None:
            return
        self._writing.close()
        if not quiet:
            counts = [f"{k} {verdict}" for verdict, k in sorted(self._counts.items())]
            where = "" if self._out is None else f"; table written to {self._out}"
            n_formulas = counted(self._counts.total(), "formula")
            print(f"{n_formulas}: {', '.join(counts)}{where}")
        if self._report is not None:
            write_page(self._place, self._report, quiet=quiet)

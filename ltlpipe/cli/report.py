"""``ltlpipe report``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ltlpipe.cli.tables import Where  # noqa: TC001 (typer evaluates it)
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

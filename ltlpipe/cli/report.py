"""``ltlpipe report``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ltlpipe.cli.tables import Where  # noqa: TC001 (typer evaluates it)
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError

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
        str, typer.Option("-o", "--out", metavar="FILE", help="The page, .html.")
    ],
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its heading.")
    ] = None,
    where: Where = None,
) -> None:
    """Write a page about a run that a browser shows without network.

    It has the setting, the verdicts, plots, disagreements between configurations,
    and all tasks: sorted, filtered and searched, each with its plan, its statistics
    and its lasso as a picture.  Which components take part in an action is known
    from a store as long as the files of the system are there and unchanged.
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
        print(f"report of {n_tasks} tasks written to {out}")

"""``ltlpipe results``: tables out of a result store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe._errors import LtlpipeError, UnsupportedError

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("text", "csv", "parquet", "json", "latex", "html", "md")
_SUFFIXES = {
    ".txt": "text",
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".tex": "latex",
    ".html": "html",
    ".md": "md",
}
_SHOWN = [
    *("system", "formula_id", "configuration", "verdict", "reason"),
    *("states", "seconds", "memory_mib"),
]
"""The columns for people, unless others are asked for."""

_FILE_WIDTH = 200  # characters of a line where there is no terminal


def results(
    store: Annotated[
        str, typer.Argument(metavar="RUN.sqlite", help="What solve --store has made.")
    ],
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION",
            help="Rows for which it is true, such as \"verdict == 'unknown' and "
            'states > 1000".',
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns, in this order.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="One row for each value of these columns: verdicts, cost.",
        ),
    ] = None,
    pivot: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --group: a column for each value of this one, such as "
            "configuration.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="What stands in the cells of --pivot; else a count."
        ),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="first, sum, mean, median, min, max, or count of them."
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="text, csv, parquet, json, latex, html, or md."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="FILE", help="Instead of standard output."),
    ] = None,
) -> None:
    """Print the results of a run: all of them, some, or summed up.

    A run may be going on.  Text, LaTeX, HTML and Markdown show a few columns, unless
    --columns says which; the other formats have all.
    """
    form = _format(to, out)
    from ltlpipe.batch.results import (
        filtered,
        grouped,
        pivoted,
        refuse_unknown,
    )
    from ltlpipe.batch.results import results as results_of

    if pivot is not None and group is None:
        raise typer.BadParameter("--pivot goes with --group")
    if pivot is None and (value or aggregate):
        raise typer.BadParameter("--value and --aggregate go with --pivot")
    frame = results_of(store)
    if where is not None:
        frame = filtered(frame, where)
    if group is not None and pivot is not None:
        frame = pivoted(frame, _listed(group), pivot, value, aggregate)
    elif group is not None:
        frame = grouped(frame, _listed(group))
    if columns is not None:
        refuse_unknown(frame, "columns", _listed(columns))
        frame = frame[_listed(columns)]
    elif group is None and form not in ("csv", "parquet", "json"):
        frame = frame[_SHOWN]
    _write(frame, form, out, title=Path(store).name)


def _listed(names: str) -> list[str]:
    """Return names that have commas between, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",")))


def _format(to: str | None, out: str | None) -> str:
    """Return the format that the options ask for."""
    if to is None and out is None:
        return "text"
    form = to or _SUFFIXES.get(Path(out or "").suffix.lower())
    if form not in FORMATS:
        asked = f"--to {to}" if to else f"--out {out}"
        raise UnsupportedError(f"{asked}: expected one of {', '.join(FORMATS)}")
    if form == "parquet" and out is None:
        raise UnsupportedError("--to parquet needs --out FILE")
    return form


def _write(frame: pd.DataFrame, form: str, out: str | None, *, title: str) -> None:
    """Write a table to a file, or to standard output."""
    if form == "text" and out is None:
        from rich.console import Console

        from ltlpipe.report.frames import text_table

        width = None if sys.stdout.isatty() else _FILE_WIDTH
        Console(width=width).print(text_table(frame))
        print(f"{len(frame)} rows")
        return
    if form == "parquet":
        try:
            frame.to_parquet(out, index=False)
        except OSError as error:
            reason = error.strerror or error
            raise LtlpipeError(f"{out}: cannot be written: {reason}") from None
        return
    text = _laid_out(frame, form, title)
    if out is None:
        print(text, end="")
        return
    from ltlpipe._files import write_text

    write_text(out, text)


def _laid_out(frame: pd.DataFrame, form: str, title: str) -> str:
    from ltlpipe.report import frames

    if form == "csv":
        return frame.to_csv(index=False, lineterminator="\n")
    if form == "json":
        return (
            frame.to_json(
                orient="records", lines=True, date_format="iso", force_ascii=False
            )
            or "\n"
        )
    if form == "latex":
        return frames.latex(frame)
    if form == "html":
        return frames.html_page(frame, title)
    if form == "md":
        return frames.markdown(frame)
    from io import StringIO

    from rich.console import Console

    stream = StringIO()
    Console(file=stream, width=_FILE_WIDTH).print(frames.text_table(frame))
    return stream.getvalue()

"""Shared by commands that print tables: formats and destinations."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from rich.table import Table

Where = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Only rows for which it is true, such as \"verdict == 'unknown' and "
        'states > 1000".',
    ),
]
Store = Annotated[
    str, typer.Argument(metavar="RUN.sqlite", help="Store of solve --store.")
]

TEXT = "text"

_SUFFIXES = {
    ".txt": TEXT,
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".md": "md",
}


def format_of(to: str | None, out: str | None, formats: Sequence[str]) -> str:
    """Return the format that ``--to``, or the suffix of ``--out``, names; or text.

    Refused are formats that the command does not have, and parquet without a file.
    """
    if to is None and out is None:
        return TEXT
    form = to or _SUFFIXES.get(Path(out or "").suffix.lower(), "")
    if form not in formats:
        asked = f"--to {to}" if to else f"--out {out}"
        raise UnsupportedError(f"{asked}: expected one of {', '.join(formats)}")
    if form == "parquet" and out is None:
        raise UnsupportedError("--to parquet needs --out FILE")
    return form


def names_in(text: str) -> list[str]:
    """Return names that have commas between, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",")))


def write_table(
    frame: pd.DataFrame, form: str, out: str | None, lay_out: Callable[[str], str]
) -> None:
    """Write a table, without the index, to a file or to standard output.

    `form` is what `format_of` returned; `lay_out` makes the text of formats other than
    CSV and parquet.
    """
    if form == "parquet" and out is not None:
        write_bytes(out, frame.to_parquet(index=False))
        return
    if form == "csv":
        from ltlpipe.batch.table_files import guarded_frame

        text = str(guarded_frame(frame).to_csv(index=False, lineterminator="\n"))
    else:
        text = lay_out(form)
    if out is None:
        print(text, end="")
    else:
        write_text(out, text)


def print_outcomes(
    counts: Mapping[tuple[str, str | None], int], left: int, why: str = ""
) -> None:
    """Print the number of tasks per verdict and reason, and of those left."""
    from rich.console import Console
    from rich.table import Table

    table = Table("verdict", "reason")
    table.add_column("tasks", justify="right")
    for (verdict, reason), count in counts.items():
        table.add_row(verdict, reason or "", str(count))
    if left:
        table.add_row("(not solved)", why, str(left))
    Console().print(table)


def drawn(table: Table, *, width: int, to_file: bool) -> str:
    """Return a table as text.

    `width` is that of a file, or where there is no terminal to ask and the environment
    (``COLUMNS``) says nothing.
    """
    from rich.console import Console

    console = Console()
    if to_file:
        console = Console(file=io.StringIO(), color_system=None, width=width)
    elif not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = width
    with console.capture() as text:
        console.print(table)
    return text.get()

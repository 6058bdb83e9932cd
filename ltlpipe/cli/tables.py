"""Shared by commands that print tables: formats and destinations."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_bytes, write_text
from ltlpipe.runtime.names import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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


def output(metavar: str = "FILE", what: str = "Output file") -> Any:
    """Return the option of the file that is written in place of standard output."""
    text = f"{what}; by default standard output."
    return typer.Option(None, "-o", "--out", metavar=metavar, help=text)


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
    rows = [(*outcome, count) for outcome, count in counts.items()]
    if left:
        rows.append(("(not solved)", why, left))
    print_table(("verdict", "reason", "tasks"), rows, 2)


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[object]], n_left: int
) -> None:
    """Print a table whose columns but for the first few stand on the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*titles[:n_left])
    for title in titles[n_left:]:
        table.add_column(title, justify="right")
    for row in rows:
        cells = ("" if cell is None else visible(str(cell)) for cell in row)
        table.add_row(*map(Text, cells))  # a name may look like markup
    Console().print(table)


IMPORTANT = (
    *("way", "verdict", "formula", "system", "formula_id", "algorithm"),
    *("automaton", "translator", "decided", "search_seconds", "PAR2", "seconds"),
    "states",
)
"""The columns that a narrow terminal keeps longest, by their titles."""

_NARROW = 14
"""What no wider text needs: cells are not broken, while others may be."""

_BORDER = 3  # characters beside each cell


def drawn(table: Table, *, to_file: bool = False) -> str:
    """Return a table as text: as wide as a terminal, or as it wants to be.

    On a terminal columns are left out until the others have room, and a line says
    which.  ``COLUMNS`` says how wide a terminal is where there is none to ask.
    """
    from rich.console import Console

    console = Console()
    if to_file:
        console = Console(file=io.StringIO(), color_system=None)
    left_out: list[str] = []
    if to_file or not (console.is_terminal or "COLUMNS" in os.environ):
        for column in table.columns:
            column.max_width = None
        limitless = console.options.update(max_width=1 << 20)
        console.width = console.measure(table, options=limitless).maximum
    else:
        table, left_out = fitted(table, console.width)
    with console.capture() as text:
        console.print(table)
    note = f"not shown, for lack of room: {', '.join(left_out)}\n"
    return text.get() + (note if left_out else "")


def fitted(table: Table, width: int) -> tuple[Table, list[str]]:
    """Return a table that has room in some width, and the titles of columns left out.

    Headings are not broken within words, nor are numbers, verdicts and other short
    texts.
    """
    from rich.cells import cell_len
    from rich.table import Table

    titles = [str(column.header) for column in table.columns]
    cells = [list(map(str, column.cells)) for column in table.columns]
    least, most = [], []
    for title, own, column in zip(titles, cells, table.columns, strict=True):
        natural = max(map(cell_len, own), default=0)
        is_short = natural <= _NARROW or column.justify == "right"
        heading = max(map(cell_len, title.split()), default=0)
        least.append(max(heading, natural if is_short else _NARROW))
        most.append(min(max(natural, heading), column.max_width or width))
    rank = {title: place for place, title in enumerate(IMPORTANT)}
    order = sorted(
        range(len(titles)), key=lambda k: (rank.get(titles[k], len(rank)), k)
    )
    kept: list[int] = []
    room = width - 1
    for number in order:
        if least[number] + _BORDER <= room or not kept:
            room -= least[number] + _BORDER
            kept.append(number)
    kept.sort()
    narrowed = Table()
    room = max(width - 1 - sum(least[k] + _BORDER for k in kept), 0)
    for number in kept:
        column = table.columns[number]
        more = min(max(most[number] - least[number], 0), room)
        room -= more
        narrowed.add_column(
            column.header,
            justify=column.justify,
            overflow=column.overflow,
            no_wrap=column.no_wrap,
            width=min(least[number] + more, width - 1 - _BORDER),
        )
    for row in zip(*(table.columns[number].cells for number in kept), strict=True):
        narrowed.add_row(*row)
    return narrowed, [titles[k] for k in range(len(titles)) if k not in kept]

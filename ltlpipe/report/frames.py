r"""Any table laid out: text, Markdown, LaTeX, HTML.

In come DataFrames; missing values are shown as a dash, and what comes from input
files is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.report import markup
from ltlpipe.report.analysis import escaped_latex

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from rich.table import Table

LAYOUTS = ("text", "md", "latex", "html")


def _cells(frame: pd.DataFrame) -> list[list[str]]:
    """Return the cells as text, row by row."""
    missing = frame.isna().to_numpy()
    values = frame.astype(object).to_numpy()
    return [
        [
            "-" if absent else _shown(value)
            for value, absent in zip(row, gone, strict=True)
        ]
        for row, gone in zip(values, missing, strict=True)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.6g}"
    return str(value)


def _numeric(frame: pd.DataFrame) -> list[bool]:
    """Return which columns hold numbers: they stand to the right."""
    import pandas as pd

    return [
        pd.api.types.is_numeric_dtype(frame.dtypes.iloc[k])
        for k in range(frame.shape[1])
    ]


def text_table(frame: pd.DataFrame) -> Table:
    """Return a table for `rich`."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title, number in zip(frame.columns, _numeric(frame), strict=True):
        name = Text(str(title))
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in _cells(frame):  # a formula may look like markup: []a
        table.add_row(*map(Text, row))
    return table


def markdown(frame: pd.DataFrame) -> str:
    """Return a table in GitHub's Markdown."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rules = ["---:" if number else "---" for number in _numeric(frame)]
    rows = [[_plain_markdown(cell) for cell in row] for row in _cells(frame)]
    titles = [_plain_markdown(str(title)) for title in frame.columns]
    return "\n".join([line(titles), line(rules), *map(line, rows), ""])


def _plain_markdown(text: str) -> str:
    """Escape what Markdown would take for its own."""
    plain = "".join("\\" + c if c in r"\`*_[]<>|~&" else c for c in text)
    return " ".join(plain.split())


def latex(frame: pd.DataFrame) -> str:
    """Return a LaTeX tabular."""
    layout = "".join("r" if number else "l" for number in _numeric(frame))
    lines = [
        rf"\begin{{tabular}}{{{layout}}}",
        r"\hline",
        " & ".join(escaped_latex(str(title)) for title in frame.columns) + r" \\",
        r"\hline",
        *(" & ".join(map(escaped_latex, row)) + r" \\" for row in _cells(frame)),
    ]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def html_page(frame: pd.DataFrame, title: str) -> str:
    """Return a page with one table, without scripts or anything to load."""
    titles = [str(column) for column in frame.columns]
    return markup.page(title, markup.table(titles, _cells(frame), _numeric(frame)))

r"""An analysis of formulas laid out: text, LaTeX, HTML.

In come the rows of `ltlpipe.batch.analyzing`; the layouts show the same columns
under short titles, missing values as a dash.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ltlpipe.report import markup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from ltlpipe.batch.table import Row

TITLES = {
    "formula": "formula",
    "alphabet": "actions",
    "size": "size",
    "hierarchy": "class",
    "stutter_invariant": "stutter-inv.",
    "interruptible": "interruptible",
    "syntactic": "syntax",
    "ba_states": "BA",
    "tgba_states": "TGBA",
    "parity_states": "parity",
    "generic_states": "generic",
    "weak": "weak",
    "terminal": "terminal",
    "very_weak": "very weak",
    "normal_form": "normal form",
    "norm_states": "norm",
    "seconds": "seconds",
}
"""Every column, and what it is called in a layout."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {c: "\\" + c for c in "&%$#_{}"}


def shown(column: str, value: Any) -> str:
    """Return a value as layouts show it."""
    if value is None:
        return "-"
    if column == "alphabet":
        return ", ".join(json.loads(value))
    if column == "seconds":
        return f"{value:.3f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def text_table(rows: Iterable[Row]) -> Table:
    """Return a table for `rich`; the actions stand in the formula already."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    columns = [column for column in TITLES if column != "alphabet"]
    for column in columns:
        if column == "formula":
            table.add_column("formula", overflow="fold", min_width=16, max_width=48)
        else:
            number = column.endswith("states") or column in ("size", "seconds")
            table.add_column(TITLES[column], justify="right" if number else "left")
    for row in rows:  # a formula may look like markup: []a
        table.add_row(*(Text(shown(column, row[column])) for column in columns))
    return table


def escaped_latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


def latex(rows: Iterable[Row]) -> str:
    """Return a LaTeX tabular; formulas are in typewriter."""
    lines = [
        r"\begin{tabular}{ll" + "r" * (len(TITLES) - 2) + "}",
        r"\hline",
        " & ".join(map(escaped_latex, TITLES.values())) + r" \\",
        r"\hline",
    ]
    for row in rows:
        cells = [escaped_latex(shown(column, row[column])) for column in TITLES]
        cells[0] = rf"\texttt{{{cells[0]}}}"
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def html_page(rows: Iterable[Row]) -> str:
    """Return a page with one table, without scripts or anything to load."""
    cells = ([shown(column, row[column]) for column in TITLES] for row in rows)
    table = markup.table([*TITLES.values()], cells)
    return markup.page(
        "Analysis of formulas", table, "td:first-child { font-family: monospace; }\n"
    )

r"""Tables laid out: text, Markdown, LaTeX, HTML.

In come DataFrames or the rows of an analysis.  Missing values are shown as a dash, and
whatever comes from input files is escaped here, and nowhere else.
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.words import Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import rich.table

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
    "erasable": "erasable",
    "erasable_witness": "why not",
    "semantics": "about",
    "error": "error",
}
"""The columns of an analysis, and their titles."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {c: "\\" + c for c in "&%$#_{}"}

_STYLE = """\
body { font-family: sans-serif; }
table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: 0.2em 0.5em; text-align: left; }
.n { text-align: right; }
.c { font-family: monospace; }
"""


class Layout(NamedTuple):
    """A table as text, n rows of k cells."""

    titles: list[str]
    rows: list[list[str]]
    kinds: list[str]  # of each column: "n" a number, "c" a formula, "" others


def of_frame(frame: pd.DataFrame) -> Layout:
    """Return the displayed part of a DataFrame."""
    values = frame.astype(object).where(frame.notna(), None).to_numpy()
    rows = [["-" if v is None else _shown(v) for v in row] for row in values]
    kinds = ["n" if _is_number(dtype) else "" for dtype in frame.dtypes]
    return Layout([str(title) for title in frame.columns], rows, kinds)


def _is_number(dtype: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.6g}"
    return str(value)


def of_analysis(rows: Iterable[Row], *, alphabet: bool = True) -> Layout:
    """Return the displayed part of the rows of `ltlpipe.batch.analyzing`.

    `alphabet` is whether to show the actions, which stand in the formulas, and the
    witnesses, which need room, too, and errors where there are none.
    """
    rows = list(rows)
    hidden = {"alphabet", "erasable_witness"}
    if all(row["error"] is None for row in rows):
        hidden.add("error")
    columns = [column for column in TITLES if alphabet or column not in hidden]
    numbers = {"size", "seconds", *(c for c in columns if c.endswith("states"))}
    return Layout(
        [TITLES[column] for column in columns],
        [[_cell(column, row[column]) for column in columns] for row in rows],
        ["c", *("n" if column in numbers else "" for column in columns[1:])],
    )


def _cell(column: str, value: Any) -> str:
    if value is None:
        return "-"
    if column == "alphabet":
        return ", ".join(json.loads(value))
    if column == "erasable_witness":
        words = json.loads(value)
        violating, satisfying = (
            Word(tuple(words[which]["prefix"]), tuple(words[which]["cycle"]))
            for which in ("violating", "satisfying")
        )
        return f"{violating} violates it, {satisfying} does not"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _shown(value)


def laid_out(layout: Layout, form: str, title: str) -> str:
    """Return a table as "md", "latex" or "html"; the title is that of the HTML page."""
    if form == "md":
        return markdown(layout)
    return latex(layout) if form == "latex" else html_page(layout, title)


def text_table(layout: Layout) -> rich.table.Table:
    """Return a table for `rich`."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title, kind in zip(layout.titles, layout.kinds, strict=True):
        table.add_column(
            Text(title),
            justify="right" if kind == "n" else "left",
            overflow="fold",
            min_width=16 if kind == "c" else None,
            max_width=48 if kind == "c" else None,
        )
    for row in layout.rows:  # a formula may look like markup: []a
        table.add_row(*map(Text, row))
    return table


def markdown(layout: Layout) -> str:
    """Return a table in GitHub's Markdown."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rules = ["---:" if kind == "n" else "---" for kind in layout.kinds]
    titles, *rows = (map(_plain_markdown, row) for row in (layout.titles, *layout.rows))
    return "\n".join([line(titles), line(rules), *map(line, rows), ""])


def _plain_markdown(text: str) -> str:
    """Escape what Markdown would take for its own."""
    plain = "".join("\\" + c if c in r"\`*_[]<>|~&" else c for c in text)
    return " ".join(plain.split())


def latex(layout: Layout) -> str:
    """Return a LaTeX tabular with the rules of the package booktabs.

    Numbers are on the right, formulas in typewriter.
    """
    write = [_typewriter if kind == "c" else escaped_latex for kind in layout.kinds]
    rows = [
        [w(cell) for w, cell in zip(write, row, strict=True)] for row in layout.rows
    ]
    titles, *body = (
        " & ".join(row) + r" \\"
        for row in ([*map(escaped_latex, layout.titles)], *rows)
    )
    sides = "".join("r" if kind == "n" else "l" for kind in layout.kinds)
    head = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", titles, r"\midrule"]
    return "\n".join([*head, *body, r"\bottomrule", r"\end{tabular}", ""])


def _typewriter(text: str) -> str:
    return rf"\texttt{{{escaped_latex(text)}}}"


def escaped_latex(text: str) -> str:
    """Return text escaped for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def html_table(
    titles: Sequence[str],
    rows: Iterable[Iterable[str]],
    kinds: Sequence[str] | None = None,
) -> str:
    """Return a table in HTML; `kinds` are those of the columns, as in `Layout`."""
    marks = [f' class="{kind}"' if kind else "" for kind in kinds or [""] * len(titles)]

    def line(tag: str, cells: Iterable[str]) -> str:
        inner = "".join(
            f"<{tag}{mark}>{html.escape(cell)}</{tag}>"
            for cell, mark in zip(cells, marks, strict=True)
        )
        return f"<tr>{inner}</tr>"

    head = line("th", titles)
    body = "\n".join(line("td", row) for row in rows)
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def html_page(layout: Layout, title: str) -> str:
    """Return a page with one table, without scripts or anything to load."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(title)}</title>
<style>
{_STYLE}</style>
</head>
<body>
{html_table(*layout)}
</body>
</html>
"""

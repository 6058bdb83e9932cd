r"""Tables laid out: text, Markdown, LaTeX, HTML.

In come DataFrames or the rows of an analysis.  Missing values are shown as a dash, and
whatever comes from input files is escaped here, and nowhere else.

`why_table` and `why_html` show why a run violates its formula: subformulas by steps.
Steps that do not matter are grey; no cause is told by colour alone: a star stands
behind it.
"""

from __future__ import annotations

import html
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.words import Word
from ltlpipe.report.chart_rows import shortened
from ltlpipe.runtime.names import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import rich.table
    from rich.table import Table

    from ltlpipe.batch.table import Row
    from ltlpipe.verdict.why import Explanation, Value


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
    "[": "{[}",  # behind a line break it would begin its argument
    "*": "{*}",  # as would this
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
        table.add_row(*map(Text, map(visible, row)))
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


_SIGNS: dict[Value, str] = {True: "1", False: "0", None: "?"}
_CAUSE = "*"
_GREY = "#8c8c8c"
_LONGEST = 48  # characters of a subformula
_LEAST = 6  # steps that are shown, however narrow the terminal is
_MOST_IN_HTML = 40

LEGEND = "1 true, 0 false{pending}; *: together these values violate the formula"


def legend_of(known: Explanation) -> str:
    """Return what the signs of a table mean."""
    is_open = any(None in row for row in known.values)
    return LEGEND.format(pending=", ? depends on what follows" if is_open else "")


def steps_shown(known: Explanation, room: int) -> list[int | None]:
    """Return the steps of a table with so many columns; None marks omitted ones.

    Those that matter come first: the first, the last and the others.
    """
    causes = [k for k in range(known.n_steps) if known.step_matters(k)]
    wanted = dict.fromkeys([0, *causes[-1:], *causes, *range(known.n_steps)])
    shown: list[int] = []
    for step in wanted:
        more = sorted([*shown, step])
        gaps = sum(b - a > 1 for a, b in pairwise([-1, *more, known.n_steps]))
        if len(more) + gaps > max(room, _LEAST):
            break
        shown = more
    told: list[int | None] = []
    for before, step in pairwise([-1, *shown, known.n_steps]):
        if step - before > 1:
            told.append(None)
        told.append(step)
    return told[:-1]


def why_table(known: Explanation, width: int) -> Table:
    """Return a table for a terminal with so many columns."""
    from rich.table import Table
    from rich.text import Text

    names = [
        "  " * depth + visible(str(formula))
        for formula, depth in zip(known.formulas, known.depths, strict=True)
    ]
    longest = min(max(map(len, names)), _LONGEST, width // 2)
    of_step = len(str(known.n_steps)) + 3
    shown = steps_shown(known, (width - longest) // of_step)
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("step", no_wrap=True)
    for step in shown:
        style = "" if step is not None and known.step_matters(step) else "dim"
        table.add_column(_title(known, step), style=style, no_wrap=True)
    for name, values, matters in zip(names, known.values, known.matters, strict=True):
        cells = [Text(shortened(name, longest))]
        for told, is_cause in _value_cells(values, matters, shown):
            cells.append(Text(told, style="bold" if is_cause else ""))
        table.add_row(*cells)
    return table


def why_html(known: Explanation) -> str:
    """Return the table in HTML."""
    shown = steps_shown(known, _MOST_IN_HTML)
    grey = {
        step: ""
        if step is not None and known.step_matters(step)
        else f' style="color: {_GREY}"'
        for step in shown
    }
    head = "".join(f"<th{grey[k]}>{_title(known, k)}</th>" for k in shown)
    rows = [f"<tr><th>step</th>{head}</tr>"]
    for formula, depth, values, matters in zip(
        known.formulas, known.depths, known.values, known.matters, strict=True
    ):
        name = html.escape(shortened(str(formula), 2 * _LONGEST))
        look = f"text-align: left; padding-left: {depth + 0.3}em"
        cells = [f'<td style="{look}"><code>{name}</code></td>']
        found = _value_cells(values, matters, shown)
        for step, (told, is_cause) in zip(shown, found, strict=True):
            told = f"<strong>{told}</strong>" if is_cause else told
            cells.append(f"<td{grey[step]}>{told}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    return f"<table>\n{body}\n</table>\n<p>{html.escape(legend_of(known))}</p>"


def _title(known: Explanation, step: int | None) -> str:
    """Return the number of a step; the first of the cycle has a bar before it."""
    if step is None:
        return "…"
    return f"{'|' if step == known.first else ''}{step + 1}"


def _value_cells(
    values: Sequence[Value], matters: Sequence[bool], shown: Iterable[int | None]
) -> list[tuple[str, bool]]:
    """Return the values at some steps, and whether they are among the causes."""
    return [
        ("…", False)
        if step is None
        else (_SIGNS[values[step]] + _CAUSE * matters[step], matters[step])
        for step in shown
    ]

"""Why a run violates its formula, as a table: subformulas by steps.

Steps that do not matter are grey.  No cause is told by colour alone: a star stands
behind it.
"""

from __future__ import annotations

import html
from itertools import pairwise
from typing import TYPE_CHECKING

from ltlpipe.report.chart_rows import shortened

if TYPE_CHECKING:
    from rich.table import Table

    from ltlpipe.verdict.why import Explanation, Value

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
        "  " * depth + str(formula)
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
        for step in shown:
            told = "…" if step is None else _cell(values[step], is_cause=matters[step])
            is_cause = step is not None and matters[step]
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
        for step in shown:
            told = "…" if step is None else _cell(values[step], is_cause=matters[step])
            is_cause = step is not None and matters[step]
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


def _cell(value: Value, *, is_cause: bool) -> str:
    return _SIGNS[value] + (_CAUSE if is_cause else "")

"""The data of a page: all rows in one compact text.

The table goes column by column.  Texts of a column are numbered in natural order, so a
script sorts numbers and searches each text once; missing values are null.  The whole is
JSON, deflated (RFC 1950) and written in base64, which a browser unpacks without any
library and in which no character means anything to HTML.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    import pandas as pd

    from ltlpipe.report.lasso_pictures import Drawn, Picture, Pictures

TEXT, NUMBER, TIME = "text", "number", "time"

HIDDEN = ("lasso_prefix", "lasso_cycle", "task", "sample")
"""Columns that the page does not show unchanged."""

TITLES = {
    "system": "System",
    "formula_id": "Place of the formula",
    "formula": "Formula",
    "verdict": "Verdict",
    "expected": "Published",
    "reason": "Reason",
    "automaton": "Automaton",
    "acceptance": "Acceptance",
    "automaton_states": "States of the automaton",
    "emptiness": "Emptiness check",
    "reductions": "Reductions",
    "states": "States",
    "transitions": "Transitions",
    "max_depth": "Depth",
    "seconds": "Seconds",
    "memory_mib": "MiB",
    "seed": "Seed",
    "ltlpipe_version": "ltlpipe",
    "spot_version": "Spot",
    "host_cores": "Cores",
    "started_at": "Started",
    "finished_at": "Finished",
    "n_components": "Components",
    "wall_seconds": "Seconds, all in",
    "cpu_seconds": "CPU seconds, all in",
    "signal": "Signal",
    "message": "Message",
    "warnings": "Warnings",
    "title": "Title",
    "configuration": "Configuration",
    "timeout": "Limit of seconds",
    "cpu_time": "Limit of CPU seconds",
    "memory_limit_mib": "Limit of MiB",
    "max_states": "Limit of states",
    "attempts": "Attempts",
    "run": "Run",
    "search_seconds": "Seconds of the search",
    "bytes_per_state": "Bytes per state",
    "weak": "Weak",
    "deterministic": "Deterministic",
    "pairs": "Pairs",
    "product_states": "States of the product",
    "product_transitions": "Transitions of the product",
    "fin_share": "Share of Fin transitions",
    "max_roots": "Roots",
    "max_current": "Current",
    "lasso_length": "Steps of the lasso",
}
"""Titles of columns; others are titled by their names."""

SHOWN = (
    *("formula", "title", "system", "formula_id", "configuration"),
    *("verdict", "expected"),
    *("reason",),
    *("states", "seconds", "memory_mib"),
)
"""The columns of the table of tasks, if present.

The place of a formula is one of them if it is the number of a property, or a name.
"""

_PROPERTY = "Property"  # the place of a formula that is a number
_NAME = "Name"  # or what its file calls it
_PLACE = re.compile(r".+:\d+")  # in a file
_ALWAYS = ("formula", "system", "configuration", "verdict")  # even if all is missing

_DIGITS = re.compile("[0-9]+")
_EFFORT = 5  # of deflating: 6 takes 2.5 times as long for 4 % less
_WIDTH = 16  # to which numbers are filled with zeros, so that texts sort by them


class Column(NamedTuple):
    """A column of the page's table."""

    name: str
    title: str
    kind: str  # TEXT, NUMBER or TIME (milliseconds of the epoch)
    values: list[Any]  # of texts the place in `texts`; None: missing
    texts: list[str]  # each once, in order

    def text(self, row: int) -> str | None:
        """Return a value as displayed; None if it is missing."""
        value = self.values[row]
        if value is None:
            return None
        if self.kind == TEXT:
            return self.texts[int(value)]
        if self.kind == TIME:
            from datetime import datetime, timezone

            moment = datetime.fromtimestamp(value / 1000, timezone.utc)
            return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        return number(value)


def number(value: float) -> str:
    """Format a number as `number` of the page's script does.

    Examples
    --------
    >>> number(1234567), number(0.12345), number(12.5), number(3.0), number(math.inf)
    ('1,234,567', '0.123', '12.500', '3', '∞')
    """
    if not math.isfinite(value):  # as browsers write it
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "NaN")
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3f}"


def natural(text: str) -> str:
    """Return the key that sorts texts by the numbers in them.

    Examples
    --------
    >>> sorted(["m10", "m9", "m"], key=natural)
    ['m', 'm9', 'm10']
    """
    return _DIGITS.sub(lambda digits: digits[0].zfill(_WIDTH), text.casefold())


def columns_of(frame: pd.DataFrame) -> list[Column]:
    """Return the columns that hold anything, those of the table first."""
    if "warnings" in frame:
        frame = frame.assign(warnings=warned(frame["warnings"]))
    known = [name for name in (*SHOWN, *TITLES) if name in frame]
    names = dict.fromkeys([*known, *map(str, frame.columns)])
    columns = [
        _column(name, frame[name])
        for name in names
        if name not in HIDDEN and (frame[name].notna().any() or name in _ALWAYS)
    ]
    formulas = {text for c in columns if c.name == "formula" for text in c.texts}
    return [_titled(column, formulas) for column in columns]


def _titled(column: Column, formulas: set[str]) -> Column:
    """Return a column; that of places is titled by what they are."""
    if column.name != "formula_id" or not column.texts:
        return column
    if all(map(str.isdecimal, column.texts)):
        return column._replace(title=_PROPERTY)
    named = any(is_name(text, formulas) for text in column.texts)
    return column._replace(title=_NAME) if named else column


def is_name(text: str, formulas: Container[str]) -> bool:
    """Whether the id of a formula is a name, and not its place, nor the formula."""
    return text not in formulas and not _PLACE.fullmatch(text)


def warned(column: pd.Series) -> pd.Series:
    """Return the warnings of tasks, JSON lists, as texts; missing if there are none."""
    return column.map(_sentences, na_action="ignore").astype("string")


def _sentences(cell: Any) -> str | None:
    try:
        return "; ".join(map(str, json.loads(cell))) or None
    except (TypeError, ValueError):  # the table of another tool
        return str(cell)


def _column(name: str, values: pd.Series) -> Column:
    import pandas as pd

    title = TITLES.get(name, name)
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        moments = values.dt.tz_convert(None).to_numpy(dtype="datetime64[ms]")
        plain_times = moments.astype("int64").astype(object)
        plain_times[values.isna().to_numpy()] = None
        return Column(name, title, TIME, plain_times.tolist(), [])
    if pd.api.types.is_bool_dtype(values.dtype):
        values = values.map({True: "yes", False: "no"})
    elif pd.api.types.is_numeric_dtype(values.dtype):
        plain = values.astype(object).where(values.notna(), None).tolist()
        if not pd.api.types.is_integer_dtype(values.dtype):
            plain = [_rounded(value) for value in plain]
        return Column(name, title, NUMBER, plain, [])
    places, texts = _numbered(values)
    return Column(name, title, TEXT, places, texts)


def _rounded(value: float | None) -> float | None:
    """Return a number that JSON has, in six digits that mean something."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(f"{value:.6g}")


def _numbered(values: pd.Series) -> tuple[list[int | None], list[str]]:
    """Return the number of each text, and the texts in order."""
    known = values.astype(object).where(values.notna(), None)
    plain = [None if value is None else str(value) for value in known]
    distinct = {text for text in plain if text is not None}
    texts = sorted(distinct, key=lambda text: (natural(text), text))
    place = {text: number for number, text in enumerate(texts)}
    return [None if text is None else place[text] for text in plain], texts


def in_table(columns: Iterable[Column]) -> list[Column]:
    """Return the columns of the table of tasks; the rest is shown with single tasks."""
    return [
        column
        for column in columns
        if column.name in SHOWN
        and (column.name != "configuration" or len(column.texts) > 1)
        and (column.name != "formula_id" or column.title in (_PROPERTY, _NAME))
    ]


def common_folder(systems: Iterable[str]) -> str:
    """Return the folder that all systems are in, with a slash; empty if there is none.

    Examples
    --------
    >>> common_folder(["a/b/x.dot", "a/b/y.aut a/b/z.aut"]), common_folder(["a/x", "y"])
    ('a/b/', '')
    >>> common_folder(["a b/x.dot", "a b/y.dot"])  # blanks stand between files
    ''
    """
    names = sorted(systems) or [""]
    agree = (a == b for a, b in zip(names[0], names[-1], strict=False))
    common = names[0][: sum(takewhile(bool, agree))].partition(" ")[0]
    return common[: common.rfind("/") + 1]


def without_folder(system: str, folder: str) -> str:
    """Return the name of a system without the folder that its files are in.

    Examples
    --------
    >>> without_folder("a/a/x.dot a/y.dot", "a/")
    'a/x.dot y.dot'
    """
    return " ".join(name.removeprefix(folder) for name in system.split(" "))


class Story(NamedTuple):
    """The formula's view of the lasso of a row."""

    lost: int | None  # after so many steps all continuations violate it
    named: list[int]  # actions that it names


def packed(
    columns: Sequence[Column],
    drawn: Pictures,
    n_rows: int,
    stories: Sequence[Story | None] = (),
    folder: str = "",
) -> str:
    """Return the data of a page as base64; `stories` are those of the rows.

    `folder` is omitted from the names of systems in the table of tasks.
    """
    data = {
        "rows": n_rows,
        "columns": [column._asdict() for column in columns],
        "shown": [column.name for column in in_table(columns)],
        "folder": folder,
        "lassos": {
            "actions": drawn.actions,
            "systems": [
                {
                    "components": system.components,
                    "states": system.states,
                    "parts": {
                        action: [int(part.all), *part.components]
                        for action, part in system.parts.items()
                    },
                }
                for system in drawn.systems
            ],
            "pictures": [_packed_picture(picture) for picture in drawn.pictures],
            "of_row": drawn.of_row,
            "stories": list(stories),
        },
    }
    text = json.dumps(data, separators=(",", ":"))  # ASCII: no lone surrogates
    deflated = zlib.compress(text.encode("ascii"), _EFFORT)
    return base64.b64encode(deflated).decode("ascii")


def _packed_picture(picture: Picture) -> list[Any]:
    """Return prefix, cycle, system and, where they are known, the states of both."""
    prefix, cycle, system = picture
    states = [] if prefix.states is None else [prefix.states, cycle.states]
    return [_part(prefix), _part(cycle), system, *states]


def _part(part: Drawn) -> list[Any]:
    return [part.left_out, *part.steps]

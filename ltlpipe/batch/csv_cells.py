"""Texts in CSV files that spreadsheets would take for formulas.

A cell that begins with one of ``= + - @``, their wide forms, a tab or a line break is
executed by spreadsheets when the file is opened. An apostrophe before it marks a text;
an existing apostrophe is doubled, so that `plain` restores the original.  Numbers are
left alone.

Source: OWASP, "CSV Injection" (community page).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_RISKY = re.compile(f"'*{_FORMULA}")
_GUARDED = re.compile(f"'+{_FORMULA}")


def guarded(cell: Any) -> Any:
    """Return a cell as it is written.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1"), guarded("'a' U b"), guarded(-1)
    ("'=1+1", "''=1", "'a' U b", -1)
    """
    return "'" + cell if isinstance(cell, str) and _RISKY.match(cell) else cell


def plain(cell: Any) -> Any:
    """Return what `guarded` was given."""
    return cell[1:] if isinstance(cell, str) and _GUARDED.match(cell) else cell


def has_guarded(text: str) -> bool:
    """Whether there may be such cells in a file: a quick look."""
    return _GUARDED.search(text) is not None


def guarded_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose titles and texts are as they are written."""
    columns = {}
    for place, column in enumerate(frame.columns):
        values = frame.iloc[:, place]
        columns[guarded(column)] = values if _has_no_texts(values) else _mapped(values)
    return type(frame)(columns)


def _has_no_texts(values: pd.Series) -> bool:
    import pandas as pd

    kinds = pd.api.types
    return kinds.is_numeric_dtype(values) or kinds.is_datetime64_any_dtype(values)


def _mapped(values: pd.Series) -> pd.Series:
    return values.astype(object).map(guarded, na_action="ignore")

"""Formulas in CSV and JSON.

A CSV file has a header with a column `formula`, in any case.  A JSON file is a list of
formulas, or of objects with a key `formula`, or one object from names to formulas;
``.jsonl`` has one such object, or text, per line.  A column or key `name`, `id` or
`formula_id`, the first of these that there is, is what a formula is called.  Others
mean nothing.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".csv", ".json", ".jsonl")
_FORMULA, _NAMES = "formula", ("name", "id", "formula_id")
_EXPECTED = "expected a list of formulas, or of objects with a formula"


class Entry(NamedTuple):
    """A formula of a table."""

    text: str
    line: int
    name: str | None


def read_table(text: str, suffix: str, file: str) -> list[Entry]:
    """Return the formulas in the text of a table.

    Raises
    ------
    InputError
        With the line: it is no table, or has no column of formulas.
    """
    read = {".csv": _of_csv, ".json": _of_json, ".jsonl": _of_lines}[suffix]
    found = list(read(text, file))
    if not found:
        raise InputError("no formula found; expected one per row", file=file)
    return found


def _of_csv(text: str, file: str) -> Iterator[Entry]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                pass
            elif header is None:
                header = [title.strip().lower() for title in cells]
                if header.count(_FORMULA) != 1:
                    message = f"expected one column {_FORMULA!r} in the header"
                    raise InputError(message, file=file, line=line)
            elif len(cells) != len(header):
                message = f"{len(cells)} cells, expected {len(header)} as in the header"
                raise InputError(message, file=file, line=line)
            else:
                row = dict(zip(header, cells, strict=True))
                yield _entry(row, line, file)
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"not CSV: {error}"
        raise InputError(message, file=file, line=reader.line_num) from None


def _entry(row: Any, line: int, file: str) -> Entry:
    """Return the formula of a row, or of a value of JSON."""
    if isinstance(row, str):
        return Entry(row, line, None)
    text = row.get(_FORMULA) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise InputError(_EXPECTED, file=file, line=line)
    given = (row.get(title) for title in _NAMES)
    named = (str(name).strip() for name in given if name is not None)
    return Entry(text.strip(), line, next(filter(None, named), None))


def _of_json(text: str, file: str) -> Iterator[Entry]:
    data = _decoded(text, 1, file)
    if isinstance(data, dict) and _FORMULA not in data:
        data = [{"name": name, _FORMULA: formula} for name, formula in data.items()]
    rows = data if isinstance(data, list) else [data]
    return _placed(rows, text, file)


def _placed(rows: Iterable[Any], text: str, file: str) -> Iterator[Entry]:
    """Yield formulas with the lines in which they stand, in order."""
    at = 0
    for row in rows:
        found = row.get(_FORMULA) if isinstance(row, dict) else row
        if isinstance(found, str):
            own = json.dumps(found)
            spellings = (own, json.dumps(found, ensure_ascii=False))
            places = [p for s in spellings if (p := text.find(s, at)) >= 0]
            at = min(places, default=at)
        yield _entry(row, text.count("\n", 0, at) + 1, file)


def _of_lines(text: str, file: str) -> Iterator[Entry]:
    for line, content in enumerate(text.splitlines(), start=1):
        if content.strip():
            yield _entry(_decoded(content, line, file), line, file)


def _decoded(text: str, line: int, file: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        told = getattr(error, "msg", "too deep")
        place = line + getattr(error, "lineno", 1) - 1
        raise InputError(f"not JSON: {told}", file=file, line=place) from None

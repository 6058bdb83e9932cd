"""Solutions of the properties of a program, in a table beside it.

Beside ``NAME.c`` may be

- ``solutions-NAME.csv`` or ``NAME-solutions.csv``: lines ``problem,property,true`` or
  ``problem,property,false``, as answers are written (`ltlpipe.batch.rers`);
- ``truth.csv``: a table with columns `property` and `verdict` ("holds", "violated",
  "true" or "false", others are no solution), and with `problem` if it is about several
  programs, each by its name.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import read_text
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

_VERDICTS = {"true": HOLDS, "false": VIOLATED, HOLDS: HOLDS, VIOLATED: VIOLATED}


def solutions_of(program: str, name: str) -> dict[int | None, str]:
    """Return the verdicts of properties by number that are published with a program.

    Raises
    ------
    InputError
        A table is not what it should be; names the line.
    """
    folder = Path(program).parent
    for file in (f"solutions-{name}.csv", f"{name}-solutions.csv"):
        if os.path.lexists(folder / file):  # a FIFO is an error, too
            return _answers(str(folder / file))
    if os.path.lexists(folder / "truth.csv"):
        return _truth(str(folder / "truth.csv"), name)
    return {}


def _rows(file: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a table with their lines; blank ones say nothing."""
    reader = csv.reader(io.StringIO(read_text(file), newline=""))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        message = f"not CSV: {error}"
        raise InputError(message, file=file, line=reader.line_num) from None
    return [(line, row) for line, row in rows if any(row)]


def _answers(file: str) -> dict[int | None, str]:
    found: dict[int | None, str] = {}
    for line, row in _rows(file):
        verdict = _VERDICTS.get(row[-1].lower())
        if len(row) != 3 or not row[1].isdecimal() or verdict is None:
            message = "expected a problem, the number of a property, and true or false"
            raise InputError(message, file=file, line=line)
        _note(found, int(row[1]), verdict, file, line)
    return found


def _truth(file: str, name: str) -> dict[int | None, str]:
    (_, header), *rows = _rows(file) or [(1, [])]
    titles = [title.lower() for title in header]
    if not {"property", "verdict"} <= set(titles):
        if "formula" in titles:  # of generated networks, by their lines
            return {}
        message = "expected columns property and verdict"
        raise InputError(message, file=file, line=1)
    found: dict[int | None, str] = {}
    for line, row in rows:
        cells = dict(zip(titles, row, strict=False))
        if cells.get("problem", name) != name:
            continue
        number, verdict = cells.get("property", ""), cells.get("verdict", "").lower()
        if not number.isdecimal():
            message = f"property {number!r}, expected a number"
            raise InputError(message, file=file, line=line)
        if verdict in _VERDICTS:
            _note(found, int(number), _VERDICTS[verdict], file, line)
    return found


def _note(
    found: dict[int | None, str], number: int, verdict: str, file: str, line: int
) -> None:
    if found.setdefault(number, verdict) != verdict:
        message = f"another solution of property {number}"
        raise InputError(message, file=file, line=line)

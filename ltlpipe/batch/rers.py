"""The conventions of the RERS challenge for problems, answers and a summary.

An answer is a line ``problem,property,true`` or ``problem,property,false``; tasks
that are not decided have none.  The problem's number is that of ``problemNNN.dot``, or
else the last number in the name of the formula file or, if that has none, of its
folder.  The property's number is that of its header ``#K:``, or the one with a colon
before the formula, or else the place of the formula in its file, from 0.

The summary is that of S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
Automata, and Reduction", CAV 2020, Fig. 2: problem, components, and the wall-clock
time for all of its formulas, loading included; and how many of them are decided, and,
where solutions are published, how many answers agree with them.

Solutions of the properties of a program ``NAME.c`` are in a table beside it:

- ``solutions-NAME.csv`` or ``NAME-solutions.csv``: answers as they are written;
- ``truth.csv``: a table with columns `property` and `verdict` ("holds", "violated",
  "true" or "false", others are no solution), and with `problem` if it is about several
  programs, each by its name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.table_files import CsvWriter
from ltlpipe.batch.tasks import AutomatonFile
from ltlpipe.logic.formulas import Formula
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import check_titles, csv_rows, read_text
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task
    from ltlpipe.runtime.files import StrPath

_ANSWERS = {HOLDS: "true", VIOLATED: "false"}
_COLUMNS = {"problem": "Int64", "property": "Int64", "answer": "string"}
_NUMBER = re.compile(r"[0-9]+")
_PUBLISHED = re.compile(r"problem[-_]?(\d{1,9})\.dot(\.gz)?", re.IGNORECASE | re.ASCII)


class Name(NamedTuple):
    """What RERS calls a task."""

    problem: int
    property: int | None  # None if its formula cannot be read


class Differing(NamedTuple):
    """An answer that is not the published one."""

    system: str
    formula_id: str
    verdict: str
    expected: str

    def __str__(self) -> str:
        """Name the property and both verdicts in a line."""
        system = " ".join(PurePath(file).name for file in self.system.split(" "))
        return (
            f"{system}, property {self.formula_id}: {self.verdict}, "
            f"published: {self.expected}"
        )


@dataclass
class Agreement:
    """Compares rows with their published verdicts."""

    n_published: int = 0  # rows with a published verdict
    n_agreeing: int = 0
    places: list[tuple[int, Differing]] = field(default_factory=list)  # in any order

    def add(self, row: Mapping[str, Any], number: int = 0) -> None:
        """Take a row; `number` is its place among those that differ."""
        expected, verdict = row.get("expected"), row["verdict"]
        if expected is None:
            return
        self.n_published += 1
        if verdict == expected:
            self.n_agreeing += 1
        elif verdict != UNKNOWN:
            about = Differing(row["system"], row["formula_id"], verdict, expected)
            self.places.append((number, about))

    @property
    def differing(self) -> list[Differing]:
        """The answers that are not the published ones, by their places."""
        return [about for _, about in sorted(self.places, key=lambda place: place[0])]

    @property
    def n_answers(self) -> int:
        """The number of rows with a published and a computed verdict."""
        return self.n_agreeing + len(self.places)

    def __str__(self) -> str:
        """Say how many answers agree, and how many are missing."""
        text = (
            f"{self.n_agreeing} of {self.n_answers} answers agree with the published "
            "solutions"
        )
        missing = self.n_published - self.n_answers
        return f"{text}; {missing} more not decided" if missing else text


@dataclass
class Effort:
    """What a problem has cost."""

    components: int | None = None  # of its system; None if it could not be read
    seconds: float = 0.0  # wall-clock times of all tasks so far, added
    decided: int = 0  # formulas that hold or are violated
    total: int = 0
    agreement: Agreement = field(default_factory=Agreement)  # with solutions


def names_of(tasks: Sequence[Task]) -> list[Name]:
    """Return what RERS calls each task of problem folders.

    Tasks without a number in the name of their file or folder are refused, and those
    that have the same name.
    """
    names = [Name(_problem_of(task), _property_of(task)) for task in tasks]
    first: dict[Name, Task] = {}
    for name, task in zip(names, tasks, strict=True):
        if name.property is not None and first.setdefault(name, task) is not task:
            raise InputError(
                f"this is problem {name.problem}, property {name.property}, and so is "
                f"{_place(first[name])}; --rers needs different numbers",
                file=_file_of(task),
            )
    return names


def _file_of(task: Task) -> str:
    file = None if isinstance(task.formula, str) else task.formula.file
    assert file is not None  # tasks of folders come from files
    return file


def _place(task: Task) -> str:
    line = None if isinstance(task.formula, (str, AutomatonFile)) else task.formula.line
    return f"{_file_of(task)}:{line}"


def _problem_of(task: Task) -> int:
    published = number_of(task.system[0]) if isinstance(task.system, tuple) else None
    if published is not None:
        return published
    file = Path(_file_of(task))
    for name in (file.name.split(".")[0], file.resolve().parent.name):
        if found := _NUMBER.findall(name):
            return int(found[-1])
    raise InputError(
        "--rers needs the number of the problem in the name of this file or its folder",
        file=str(file),
    )


def number_of(file: str) -> int | None:
    """Return the number of the published problem whose system a file holds, if any."""
    found = _PUBLISHED.fullmatch(PurePath(file).name)
    return None if found is None else int(found[1])


def _property_of(task: Task) -> int | None:
    if task.number is not None:
        return task.number
    return task.position if isinstance(task.formula, Formula) else None


class RersWriter:
    """Writes answers as they come, and sums up the cost of each problem.

    Use it in a with statement.  The names are those of all tasks, in their order.
    """

    def __init__(self, path: StrPath, names: Sequence[Name]) -> None:
        self._names = names
        self._table = CsvWriter(path, _COLUMNS, header=False)
        self.efforts: dict[int, Effort] = {}
        for name in names:
            self.efforts.setdefault(name.problem, Effort()).total += 1

    @property
    def n_answers(self) -> int:
        """How many answers have been written."""
        return self._table.n_rows

    def write(self, row: Row) -> None:
        """Take a row of `solve_rows` as soon as it is known."""
        name = self._names[row["task"]]
        effort = self.efforts[name.problem]
        effort.components = row.get("n_components") or effort.components
        effort.seconds += row.get("wall_seconds") or 0.0
        effort.agreement.add(row)
        answer = _ANSWERS.get(row["verdict"])
        if answer is not None:
            effort.decided += 1
            self._table.write({**name._asdict(), "answer": answer})

    def __enter__(self) -> RersWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._table.__exit__(*error)


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
    rows = csv_rows(read_text(file), file)
    return [(line, [cell.strip() for cell in cells]) for line, cells in rows]


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
    (line, header), *rows = _rows(file) or [(1, [])]
    titles = [title.lower() for title in header]
    check_titles(titles, file, line)
    if not {"property", "verdict"} <= set(titles):
        if "formula" in titles:  # of generated networks, by their lines
            return {}
        raise InputError("expected columns property and verdict", file=file, line=line)
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
        raise InputError(f"another solution of property {number}", file=file, line=line)

"""Task tables: one task per row of a CSV or parquet file, or of a DataFrame.

Columns: `system` (a file, or the files of the components with ``;`` between),
`formula` or `automaton` (a HOA file of the runs that shall not be), and any option
by its name (``timeout``, ``max_states``, ``emptiness``, ...; `constraint` is a HOA
file).  An empty cell means the default.  Paths are relative to the table; those in a
DataFrame, whose cells may hold systems, formulas and automata themselves, to the
working directory.

A table is data: a program that its column `translator` names is run only if the command
line allows it.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.settings import setting_name, setting_value
from ltlpipe.batch.table import read_parquet
from ltlpipe.batch.tasks import AutomatonFile, Task
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.files import read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.files import StrPath

SYSTEM, FORMULA, AUTOMATON = "system", "formula", "automaton"
TRANSLATOR = "translator"
_BETWEEN = ";"

Cells = list[str]


def read_tasks(path: StrPath, translators: Collection[str] = ()) -> list[Task]:
    """Read a task table: ``.csv`` in UTF-8 with a header, or ``.parquet``.

    It runs no programs: its column `translator` may only name those of `translators`.

    The line that messages and `formula_id` name is that of the file, or the row of a
    parquet file, from 1.  A formula that does not parse is a task, whose row has the
    error.

    Raises
    ------
    InputError
        Names file and line: a column is missing or unknown, a file does not exist,
        or a cell does not fit its column.
    """
    name = os.fspath(path)
    parquet = Path(path).suffix.lower() == ".parquet"
    lines = _parquet_lines(name) if parquet else _csv_lines(name)
    _, header = next(lines)
    columns = columns_of(header, name, 1)
    tasks: list[Task] = []
    for line, cells in lines:
        if len(cells) != len(columns):
            message = f"{len(cells)} cells, expected {len(columns)} as in the header"
            raise InputError(message, file=name, line=line)
        known = dict(zip(columns, cells, strict=True))
        position = len(tasks)
        tasks.append(_task(known, name, line, position, translators))
    if not tasks:
        raise InputError("no task found; expected one per line", file=name)
    return tasks


def _csv_lines(name: str) -> Iterator[tuple[int, Cells]]:
    """Yield the header, and then every line that is not blank."""
    reader = csv.reader(io.StringIO(read_text(name), newline=""), strict=True)
    empty = True
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            message = f"not CSV: {error}"
            raise InputError(message, file=name, line=reader.line_num) from None
        if any(cell.strip() for cell in cells):
            empty = False
            yield line, cells
        line = reader.line_num + 1  # a quoted cell may hold line breaks
    if empty:
        raise InputError("the file is empty, expected a header", file=name, line=1)


def _parquet_lines(name: str) -> Iterator[tuple[int, Cells]]:
    frame = read_parquet(name)
    yield 1, [str(column) for column in frame.columns]
    values = frame.astype(object).where(frame.notna(), None).to_numpy()
    for line, row in enumerate(values, start=1):
        yield line, ["" if value is None else text_of(value) for value in row]


def text_of(value: Any) -> str:
    """Return a cell as text; whole numbers beside missing ones are floats."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def columns_of(header: Cells, name: str, line: int | None) -> Cells:
    """Return the columns for the titles in a line of a table."""
    columns = []
    for title in header:
        plain = title.strip().lower()
        if plain not in (SYSTEM, FORMULA, AUTOMATON):
            try:
                plain = setting_name(title)
            except UnsupportedError as error:
                message = f"column {error}, {SYSTEM}, {FORMULA} or {AUTOMATON}"
                raise InputError(message, file=name, line=line) from None
        if plain in columns:
            raise InputError(f"two columns {plain!r}", file=name, line=line)
        columns.append(plain)
    if SYSTEM not in columns or not {FORMULA, AUTOMATON} & set(columns):
        message = f"expected columns {SYSTEM!r} and {FORMULA!r} (or {AUTOMATON!r})"
        raise InputError(message, file=name, line=line)
    return columns


def _task(
    cells: Mapping[str, str],
    name: str,
    line: int,
    position: int,
    translators: Collection[str],
) -> Task:
    system = files_of(cells[SYSTEM], name, line)
    question = _question(cells, name, line)
    return Task(system, question, position, options_of(cells, name, line, translators))


def options_of(
    cells: Mapping[str, str], name: str, line: int, translators: Collection[str] = ()
) -> dict[str, Any]:
    """Return the options of a task, out of the cells of its line.

    `translators` are the programs that it may name.
    """
    options = {}
    for column, text in cells.items():
        if column in (SYSTEM, FORMULA, AUTOMATON) or not text.strip():
            continue
        if OPTIONS[column].kind is object:
            (options[column],) = files_of(text.replace(_BETWEEN, " "), name, line)
            continue
        if column == TRANSLATOR:
            _refuse_program(text, translators, name, line)
        try:
            options[column] = setting_value(column, text)
        except UnsupportedError as error:
            raise InputError(str(error), file=name, line=line) from None
    return options


def _refuse_program(command: str, known: Collection[str], name: str, line: int) -> None:
    """Refuse a command whose program is not among the allowed ones.

    Programs are compared as written: a bare name does not match a path.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        message = f"{TRANSLATOR} {command!r}: {error}"
        raise InputError(message, file=name, line=line) from None
    if not words or words[0] not in known:
        program = words[0] if words else command
        message = (
            f"{TRANSLATOR} {command!r}: a table runs no program; let it run this one "
            f"at the command line, by --allow-translators={program!r}, or give "
            "--translator"
        )
        raise InputError(message, file=name, line=line)


def files_of(cell: str, name: str, line: int) -> tuple[str, ...]:
    """Return the files that a cell names; they have to exist."""
    parts = [part.strip() for part in cell.split(_BETWEEN) if part.strip()]
    if not parts:
        raise InputError("no file is named", file=name, line=line)
    files = tuple(str(Path(name).parent / part) for part in parts)
    for file in files:
        if not os.path.isfile(file):  # noqa: PTH113 (a NUL byte is no error here)
            raise InputError(f"{file}: no such file", file=name, line=line)
    return files


def _question(
    cells: Mapping[str, str], name: str, line: int
) -> Formula | FormulaError | AutomatonFile:
    formula = cells.get(FORMULA, "").strip()
    automaton = cells.get(AUTOMATON, "").strip()
    refuse_unclear(bool(formula), bool(automaton), name, line)
    if automaton:
        return automaton_of(automaton, name, line)
    try:
        return parse(formula, file=name, line=line)
    except FormulaError as error:
        return error


def refuse_unclear(formula: bool, automaton: bool, name: str, line: int) -> None:
    """Refuse a line that has both a formula and an automaton, or neither."""
    if formula == automaton:
        found = "both" if formula else "neither"
        message = f"expected a formula or an automaton, found {found}"
        raise InputError(message, file=name, line=line)


def automaton_of(cell: str, name: str, line: int) -> AutomatonFile:
    """Return the automaton whose file a cell names."""
    (file,) = files_of(cell.replace(_BETWEEN, " "), name, line)
    return AutomatonFile(file, name, line)

"""Sources of tasks: problem folders, task tables, and the arguments of `solve`.

A problem is a folder with one ``system.*`` (or several ``system_*.aut``, the components
of one network) and at least one ``*.ltl``; or one of the Model Checking Contest, with
``model.pnml`` and ``LTL*.xml``; or one of those that the RERS challenge has published:
any number of pairs in a folder, ``problemNNN.dot`` and beside it
``problemNNN-properties*.txt`` or ``problemNNN*.ltl``, each also ``.gz``, where NNN is
the problem's number; or a program ``NAME.c`` or, where there is none, ``NAME.java``
and beside it ``constraints-NAME.txt``, with solutions in a table
(`ltlpipe.batch.rers`).

A task table has one task per row: of a CSV or parquet file, or of a DataFrame.
Columns: `system` (a file, or the files of the components with ``;`` between),
`formula` or `automaton` (a HOA file of the runs that shall not be), and any option
by its name (``timeout``, ``max_states``, ``emptiness``, ...; `constraint` is a HOA
file).  An empty cell means the default.  Paths are relative to the table; those in a
DataFrame, whose cells may hold systems, formulas and automata themselves, to the
working directory; its `formula_id` and `expected` and columns that are no options are
those of its results, too.  A table is data: a program that its column `translator`
names is run only if the command line allows it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.rers import number_of, solutions_of
from ltlpipe.batch.table import DTYPES, VERDICTS
from ltlpipe.batch.table_files import read_parquet
from ltlpipe.batch.tasks import (
    AutomatonFile,
    Task,
    combinations,
    setting_name,
    setting_value,
)
from ltlpipe.logic.formula_files import read_asked
from ltlpipe.logic.formulas import Formula, formula_of, parse
from ltlpipe.question.given_options import options_of
from ltlpipe.question.options import OPTIONS, SOLVE
from ltlpipe.runtime.arguments import is_automaton, is_frame, is_one, wrong_kind
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.files import check_titles, csv_rows, read_text
from ltlpipe.runtime.names import nearest
from ltlpipe.systems.formats import FORMATS, READ_SUFFIXES
from ltlpipe.systems.models import System
from ltlpipe.systems.reading import system_of
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import pandas as pd

    from ltlpipe.logic.formula_files import Asked
    from ltlpipe.runtime.files import StrPath

_TABLE_SUFFIXES = (".csv", ".parquet")
_OWN_COLUMNS = _SYSTEM, _FORMULA, _AUTOMATON = "system", "formula", "automaton"
_TRANSLATOR = "translator"
_NAME, _EXPECTED_VERDICT = "formula_id", "expected"
_ALIKE = 0.8  # of a column of the caller to an option, which is misspelt then
_BETWEEN = ";"

_SYSTEM_FILE = re.compile(
    rf"(system([_-]?\d+)?({'|'.join(map(re.escape, READ_SUFFIXES))})|model\.pnml)"
    r"(\.gz)?$",
    re.IGNORECASE,
)
_FORMULAS = re.compile(r"(.*\.ltl|LTL\w*\.xml)(\.gz)?$", re.IGNORECASE)
_OWN_FORMULAS = (".ltl", ".ltl.gz")  # those of the contest belong to a net
_PROGRAM = re.compile(
    r"(problem[-_]?\d{1,9})\.(c|java)(\.gz)?", re.IGNORECASE | re.ASCII
)
_PROGRAMS = [s for form in FORMATS if form.is_network for s in form.suffixes]
"""Suffixes of programs; the first that is there is read."""

_CONSTRAINTS = re.compile(r"constraints-(.+?)\.txt(\.gz)?", re.IGNORECASE)
_PROPERTIES = re.compile(
    r"problem[-_]?(\d{1,9})(?:(?P<text>[-_]properties.*\.txt)|(?:\D.*)?\.ltl)(\.gz)?",
    re.IGNORECASE | re.ASCII,
)

_EXPECTED = (
    "paths of problem folders and task tables, pairs of a system and a formula, or a "
    "DataFrame with columns system and formula"
)
_PLACE = "tasks"  # the parameter's name, in messages


# --- what a caller gives ----------------------------------------------------


def as_tasks(tasks: Any) -> list[Task]:
    """Return the tasks that a caller of `ltlpipe.solve` names.

    Raises
    ------
    TypeError, UnsupportedError
        The value does not describe tasks; names the parameter.
    InputError
        As `find_tasks`; or a row of a DataFrame, counted from 1, is no task.
    """
    if isinstance(tasks, (str, os.PathLike)):
        return find_tasks([tasks])
    if is_frame(tasks):
        return _tasks_of_frame(tasks)
    if is_one(tasks):
        raise wrong_kind(_PLACE, _EXPECTED, tasks)
    items = list(tasks)
    if isinstance(tasks, tuple) and _is_pair_of_texts(items):
        raise UnsupportedError(
            f"{_PLACE}: a pair goes into a list: [({items[0]!r}, {items[1]!r})]"
        )
    systems = _Systems()
    found: list[Task] = []
    for number, item in enumerate(items):
        place = f"{_PLACE}[{number}]"
        if isinstance(item, Task):
            found.append(item)
        elif isinstance(item, (str, os.PathLike)):
            found += find_tasks([item])
        elif isinstance(item, (tuple, list)) and len(item) == 2:
            found.append(Task(systems.given(item[0], place), _asked(item[1], place)))
        else:
            raise wrong_kind(place, f"one of {_EXPECTED}", item)
    return found


def tasks_about(systems: Any, formulas: Any) -> list[Task]:
    """Return the tasks of a system, or systems by name, and formulas, in order.

    Raises
    ------
    FormulaError, InputError
        A formula or the file of formulas cannot be read.
    TypeError, UnsupportedError
        The values are something else; names the parameter.
    """
    named = systems if isinstance(systems, Mapping) else {None: systems}
    asked = _formulas_of(formulas)
    known = _Systems()
    found = []
    for called, system in named.items():
        place = _PLACE if called is None else f"{_PLACE}[{called!r}]"
        given = known.given(system, place)
        found += [
            replace(task, system=given, called=None if called is None else str(called))
            for task in asked
        ]
    return found


def _formulas_of(formulas: Any) -> list[Task]:
    """Return tasks that have formulas, their names and published verdicts."""
    place = "formulas"
    if isinstance(formulas, os.PathLike):
        asked = enumerate(read_asked(formulas))
        return [_task((), each, position) for position, each in asked]
    if isinstance(formulas, Mapping):
        return [
            Task((), _asked(formula, f"{place}[{name!r}]"), k, name=str(name))
            for k, (name, formula) in enumerate(formulas.items())
        ]
    listed = [formulas] if is_one(formulas) else list(formulas)
    return [Task((), _asked(f, f"{place}[{k}]"), k) for k, f in enumerate(listed)]


def _is_pair_of_texts(items: list[Any]) -> bool:
    """Whether two texts are the file of a system and a formula, not two folders."""
    return (
        len(items) == 2
        and all(isinstance(item, str) for item in items)
        and items[0].lower().removesuffix(".gz").endswith(READ_SUFFIXES)
        and not os.path.exists(items[1])  # noqa: PTH110
    )


def _asked(formula: Any, place: str) -> Any:
    """Return the property; a text is parsed when its task is solved."""
    return (
        formula if isinstance(formula, (str, Formula)) else formula_of(formula, place)
    )


class _Systems:
    """The systems that tasks are given; an open file is read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, ...], System] = {}

    def given(self, system: Any, place: str) -> System | tuple[str, ...]:
        """Return a system, or the files from which it is loaded later."""
        if isinstance(system, System):
            return system
        parts = [*system] if isinstance(system, (tuple, list)) else [system]
        if parts and all(isinstance(part, (str, os.PathLike)) for part in parts):
            return tuple(map(os.fspath, parts))
        files = tuple(map(id, parts))  # the caller's list keeps them alive
        if files not in self._read:
            self._read[files] = system_of(system, place)
        return self._read[files]


def find_tasks(
    paths: Iterable[StrPath], translators: Collection[str] = ()
) -> list[Task]:
    """Return the tasks of problem folders and task tables, in order.

    `translators` are programs that the tables may name.
    """
    tasks: list[Task] = []
    for path in paths:
        if Path(path).suffix.lower() in _TABLE_SUFFIXES and not os.path.isdir(path):  # noqa: PTH112
            tasks.extend(read_tasks(path, translators))
        else:
            tasks.extend(tasks_of(find_problems([path])))
    return tasks


def multiplied(tasks: Iterable[Task], grid: Mapping[str, Sequence[Any]]) -> list[Task]:
    """Return each task under every choice of the values of a grid, task by task.

    A task that has an option of the grid already is refused.
    """
    choices = combinations(grid)
    result = []
    for task in tasks:
        if twice := sorted(set(grid) & set(task.options)):
            raise UnsupportedError(
                f"--grid={twice[0]}: the task table has a column of this name"
            )
        result += [replace(task, options={**task.options, **c}) for c in choices]
    return result


# --- problem folders --------------------------------------------------------


class Problem(NamedTuple):
    """A system and the files of its formulas."""

    system: tuple[str, ...]  # the files of its components, in order
    formulas: tuple[str, ...]  # sorted
    name: str = ""  # of a program
    error: InputError | None = None  # why it cannot be asked


def find_problems(paths: Iterable[StrPath]) -> list[Problem]:
    """Find the problems in folders, at any depth, in sorted order (2 before 10).

    Paths that are not folders or contain no problem are refused.  A system without
    formulas, published properties without a system, and two systems of one problem are
    problems with an error: the others are none the worse for it.
    """
    problems: list[Problem] = []
    for path in map(Path, paths):
        if not path.is_dir():
            expected = f"a table ({' or '.join(_TABLE_SUFFIXES)})"
            told = "" if path.exists() else "no such folder; "
            message = f"{told}expected a folder of problems, or {expected}"
            raise InputError(message, file=str(path))
        found: list[Problem] = []
        for folder, subfolders, files in os.walk(path, onerror=_unreadable):
            subfolders.sort(key=_natural)
            found += _problems_in(Path(folder), files)
        if not found:
            raise InputError(
                "no problem found; expected folders with a system.* "
                f"({', '.join(READ_SUFFIXES)}) and formulas in *.ltl, or with "
                "model.pnml and LTL*.xml, or with "
                "problemNNN.dot and problemNNN-properties*.txt, or with "
                "NAME.c and constraints-NAME.txt",
                file=str(path),
            )
        problems.extend(found)
    return problems


def _unreadable(error: OSError) -> None:
    message = f"cannot be read: {error.strerror}"
    raise InputError(message, file=str(error.filename)) from None


def _problems_in(folder: Path, files: list[str]) -> Iterator[Problem]:
    """Yield the problem of a folder, if it has one system, and published ones."""
    published = list(_published_in(folder, files))
    programs = list(_programs_in(folder, files))
    taken = {
        Path(file).name
        for problem in published + programs
        for file in problem.formulas + (problem.system if problem.name else ())
    }
    others = sorted((file for file in files if file not in taken), key=_natural)
    formulas = list(filter(_FORMULAS.match, others))
    contest = [file for file in formulas if not file.lower().endswith(_OWN_FORMULAS)]
    if systems := list(filter(_SYSTEM_FILE.match, others)):
        numbers = {_number(file) for file in systems}
        message = None
        if len(numbers) < len(systems) or (None in numbers and len(systems) > 1):
            message = f"two systems in one folder: {', '.join(systems)}"
        elif not formulas:
            message = "a system without *.ltl or LTL*.xml beside it"
        yield _problem(folder, systems, formulas, message)
    elif contest:
        message = "formulas without model.pnml beside them"
        yield _problem(folder, ["model.pnml"], contest, message, contest[0])
    yield from published
    yield from programs


def _problem(
    folder: Path,
    system: Iterable[str],
    formulas: Iterable[str],
    wrong: str | None = None,
    file: str = "",
    name: str = "",
) -> Problem:
    """Return the problem of some files in a folder; or what is wrong, and in which."""
    return Problem(
        tuple(str(folder / each) for each in system),
        tuple(str(folder / each) for each in formulas),
        name,
        None if wrong is None else InputError(wrong, file=str(folder / file)),
    )


def _programs_in(folder: Path, files: Iterable[str]) -> Iterator[Problem]:
    """Yield the programs of a folder, with their lists of constraints."""
    listed = {m[1]: m[0] for m in map(_CONSTRAINTS.fullmatch, files) if m is not None}
    known = set(files)
    for name in sorted(listed, key=_natural):
        endings = [f"{e}{z}" for e in _PROGRAMS for z in ("", ".gz")]
        program = next((name + e for e in endings if name + e in known), None)
        message = None
        if program is None:
            programs = " or ".join(f"{name}{ending}" for ending in _PROGRAMS)
            message = f"constraints without {programs} beside them"
        file = listed[name]
        system = program or name + _PROGRAMS[0]
        yield _problem(folder, [system], [file], message, file, name)
    for found in map(_PROGRAM.fullmatch, sorted(known)):
        if found is not None and found[1] not in listed:
            message = f"a problem without constraints-{found[1]}.txt beside it"
            yield _problem(folder, [found[0]], [], message, found[0], found[1])


def _published_in(folder: Path, files: Iterable[str]) -> Iterator[Problem]:
    """Yield the published problems of a folder, by number."""
    systems: dict[int, list[str]] = defaultdict(list)
    properties: dict[int, list[str]] = defaultdict(list)
    texts: dict[int, str] = {}  # one file for each problem, which has to be one
    for file in sorted(files, key=_natural):
        number = number_of(file)
        if number is not None:
            systems[number].append(file)
        elif found := _PROPERTIES.fullmatch(file):
            properties[int(found[1])].append(file)
            if found["text"]:
                texts[int(found[1])] = file
    for number in sorted({*systems, *texts}):
        found_of, listed = systems[number], properties[number]
        message, file = None, ""
        if not found_of:
            file = texts[number]
            message = f"properties without problem{number}.dot beside them"
        elif len(found_of) > 1:
            message = f"two systems of problem {number}: {', '.join(found_of)}"
        elif not listed:
            (file,) = found_of
            message = f"a problem without problem{number}-properties*.txt beside it"
        system = found_of or [f"problem{number}.dot"]
        yield _problem(folder, system, listed, message, file)


def _number(file: str) -> int | None:
    """Return the number of the component that a system file holds, if any."""
    digits = re.search(r"\d+", file.split(".")[0])
    return None if digits is None else int(digits[0])


def _natural(name: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Return a sort key in which 10 comes after 9."""
    parts = re.findall(r"\d+|\D+", name)
    numbers = [(p, p.isdecimal()) for p in parts]
    return [(not n, int(p) if n else 0, p) for p, n in numbers], name


def tasks_of(problems: Iterable[Problem]) -> list[Task]:
    """Return the tasks of problems, formula by formula.

    A formula that does not parse is a task, too, and so is a file without a readable
    formula, and a problem that has no system or no file: the row has the error.
    """
    return [task for problem in problems for task in _tasks_of(problem)]


def _tasks_of(problem: Problem) -> list[Task]:
    """Return the tasks of a problem, each property of lists once.

    A second list may repeat those of the first with their solutions.
    """
    if problem.error is not None:
        return [Task(problem.system, problem.error)]
    tasks: list[Task] = []
    listed: dict[str, int] = {}  # by name: which task it is
    solutions: dict[int | None, str] = {}
    if problem.name:
        try:
            solutions = solutions_of(problem.system[0], problem.name)
        except InputError as error:
            tasks.append(Task(problem.system, error))
    for file in problem.formulas:
        try:
            found = read_asked(file)
        except InputError as error:
            tasks.append(Task(problem.system, error))
            continue
        for position, asked in enumerate(found):
            task = _task(problem.system, asked, position)
            if task.number in solutions:
                task = replace(task, expected=solutions[task.number])
            name = asked.formula.name
            if name is None or not asked.is_listed:
                tasks.append(task)
                continue
            first = listed.setdefault(name, len(tasks))
            if first == len(tasks):
                tasks.append(task)
            elif (both := _merged(tasks[first], task)) is not None:
                tasks[first] = both
            else:
                tasks.append(_contradiction(tasks[first], task))
    return tasks


def _task(system: tuple[str, ...], asked: Asked, position: int) -> Task:
    solutions = {True: HOLDS, False: VIOLATED, None: None}
    return Task(
        system,
        asked.formula,
        position,
        number=asked.number,
        expected=solutions[asked.solution],
    )


def _merged(one: Task, two: Task) -> Task | None:
    """Return one property out of two of a number; None if they are not the same."""
    solutions = {task.expected for task in (one, two)} - {None}
    if _meaning(one) != _meaning(two) or len(solutions) > 1:
        return None
    return replace(one, expected=one.expected or two.expected)


def _meaning(task: Task) -> Any:
    asked = task.formula
    return asked.spot if isinstance(asked, Formula) else task.columns["formula"]


def _contradiction(first: Task, second: Task) -> Task:
    """Return the task of a property that is not the first one of its number."""
    one, two = first.formula, second.formula
    assert isinstance(one, Formula | FormulaError)
    assert isinstance(two, Formula | FormulaError)
    message = (
        f"a second property {second.number}, whose formula or solution is not that of "
        f"{one.file}:{one.line}"
    )
    error = InputError(message, file=str(two.file), line=two.line)
    return Task(second.system, error)


# --- task tables ------------------------------------------------------------


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
    columns = _Line(name, 1).columns(header)
    tasks: list[Task] = []
    for number, cells in lines:
        line = _Line(name, number)
        if len(cells) != len(columns):
            message = f"{len(cells)} cells, expected {len(columns)} as in the header"
            raise line.error(message)
        row = dict(zip(columns, cells, strict=True))
        files = line.files(row.pop(_SYSTEM))
        question = line.question(row, line.parsed)
        tasks.append(Task(files, question, len(tasks), line.options(row, translators)))
    if not tasks:
        raise InputError("no task found; expected one per line", file=name)
    return tasks


def _csv_lines(name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the header, and then every line that is not blank."""
    rows = csv_rows(read_text(name), name)
    if (header := next(rows, None)) is None:
        raise InputError("the file is empty, expected a header", file=name, line=1)
    check_titles(header[1], name, header[0])
    yield header
    yield from rows


def _parquet_lines(name: str) -> Iterator[tuple[int, list[str]]]:
    frame = read_parquet(name)
    yield 1, [str(column) for column in frame.columns]
    for line, row in enumerate(_rows_of(frame), start=1):
        yield line, [_text(value) for value in row]


def _rows_of(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return plain.itertuples(index=False, name=None)


def _tasks_of_frame(frame: pd.DataFrame) -> list[Task]:
    titles = [str(column) for column in frame.columns]
    columns = _Line(_PLACE).columns(titles, others=True)
    systems = _Systems()
    tasks: list[Task] = []
    for number, cells in enumerate(_rows_of(frame)):
        row, place = dict(zip(columns, cells, strict=True)), f"{_PLACE}[{number}]"
        line = _Line(_PLACE, number + 1)
        system = row.pop(_SYSTEM)
        if system is None or isinstance(system, str):
            system = line.files(system or "")
        else:
            system = systems.given(system, place)
        question = line.question(row, partial(_asked, place=place))
        own = {name: row.pop(name) for name in columns if name in row.keys() - OPTIONS}
        name, expected = own.pop(_NAME, None), own.pop(_EXPECTED_VERDICT, None)
        if expected not in (None, *VERDICTS):
            message = f"{_EXPECTED_VERDICT} {expected!r}, expected one of "
            raise line.error(message + ", ".join(VERDICTS))
        tasks.append(
            Task(
                system,
                question,
                number,
                line.options(row),
                expected=expected,
                name=None if name is None else _text(name),
                beside=own,
            )
        )
    return tasks


def _is_taken(title: str) -> bool:
    """Whether a column is one of results, or nearly an option."""
    return title in DTYPES or bool(get_close_matches(title, OPTIONS, 1, _ALIKE))


def _text(cell: Any) -> str:
    """Return a cell as text: several values with semicolons between.

    Whole numbers beside missing ones are floats.
    """
    if isinstance(cell, (tuple, list)):
        return _BETWEEN.join(map(str, cell))
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else str(cell)


def _is_filled(cell: Any) -> bool:
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


class _Line(NamedTuple):
    """A line of a task table: what is in it, and where that is wrong."""

    name: str
    line: int | None = None

    def error(self, message: str) -> InputError:
        return InputError(message, file=self.name, line=self.line)

    def columns(self, header: list[str], *, others: bool = False) -> list[str]:
        """Return the columns for the titles in it.

        With `others`, titles that mean nothing to a task are columns of the caller,
        unless they are those of results.
        """
        columns: list[str] = []
        for title in header:
            plain = title.strip().lower()
            if plain not in _OWN_COLUMNS:
                try:
                    plain = setting_name(title)
                except UnsupportedError:
                    known = title in (_NAME, _EXPECTED_VERDICT)
                    if others and (known or not _is_taken(plain)):
                        columns.append(title)
                        continue
                    near = nearest(plain, [*_OWN_COLUMNS, *options_of(SOLVE)])
                    expected = f"{', '.join(_OWN_COLUMNS)} or an option{near}"
                    message = f"column {title!r} is not an option; expected {expected}"
                    raise self.error(message) from None
            if plain in columns:
                raise self.error(f"two columns {plain!r}")
            columns.append(plain)
        if _SYSTEM not in columns or not {_FORMULA, _AUTOMATON} & set(columns):
            expected = f"{_SYSTEM!r} and {_FORMULA!r} (or {_AUTOMATON!r})"
            raise self.error(f"expected columns {expected}")
        return columns

    def question(self, row: dict[str, Any], asked: Callable[[Any], Any]) -> Any:
        """Take the question out of a row; `asked` makes one of a formula."""
        formula, automaton = (row.pop(name, None) for name in (_FORMULA, _AUTOMATON))
        has_formula, has_automaton = map(_is_filled, (formula, automaton))
        if has_formula == has_automaton:
            found = "both" if has_formula else "neither"
            raise self.error(f"expected a formula or an automaton, found {found}")
        if has_formula:
            return asked(formula)
        return AutomatonFile(self.file(str(automaton)), self.name, self.line)

    def parsed(self, text: str) -> Formula | FormulaError:
        try:
            return parse(text.strip(), file=self.name, line=self.line)
        except FormulaError as error:
            return error

    def options(
        self, row: Mapping[str, Any], translators: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the options of a task; `translators` are the programs it may name."""
        options: dict[str, Any] = {}
        for column, cell in row.items():
            text = "" if is_automaton(cell) else _text(cell)
            if is_automaton(cell):
                options[column] = cell
            elif not text.strip():
                continue
            elif OPTIONS[column].kind is object:
                options[column] = self.file(text)
            else:
                if (
                    column == _TRANSLATOR
                    and text.strip() != OPTIONS[column].default_name
                ):
                    self._refuse_program(text, translators)
                try:
                    options[column] = setting_value(column, text)
                except UnsupportedError as error:
                    raise self.error(str(error)) from None
        return options

    def _refuse_program(self, command: str, known: Collection[str]) -> None:
        """Refuse a command whose program is not among the allowed ones.

        Programs are compared as written: a bare name does not match a path.
        """
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise self.error(f"{_TRANSLATOR} {command!r}: {error}") from None
        if not words or words[0] not in known:
            program = words[0] if words else command
            raise self.error(
                f"{_TRANSLATOR} {command!r}: a table runs no program; let it run this "
                f"one at the command line, by --allow-translators={program!r}, or give "
                "--translator"
            )

    def files(self, cell: str) -> tuple[str, ...]:
        """Return the files that a cell names; they have to exist."""
        parts = [part.strip() for part in cell.split(_BETWEEN) if part.strip()]
        if not parts:
            raise self.error("no file is named")
        files = tuple(str(Path(self.name).parent / part) for part in parts)
        for file in files:
            if not os.path.isfile(file):  # noqa: PTH113 (a NUL byte is no error here)
                is_folder = os.path.isdir(file)  # noqa: PTH112
                found = "a folder, expected a file" if is_folder else "no such file"
                raise self.error(f"{file}: {found}")
        return files

    def file(self, cell: str) -> str:
        """Return the one file that a cell names."""
        (file,) = self.files(cell.replace(_BETWEEN, " "))
        return file

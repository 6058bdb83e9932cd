"""Where tasks come from: problem folders and task tables; and grids.

A problem is a folder with one ``system.*`` (or several ``system_*.aut``, the
components of one network) and at least one ``*.ltl``; or one of the Model Checking
Contest, with ``model.pnml`` and ``LTL*.xml``; or one of the pairs of files in a folder
that the RERS challenge has published (`ltlpipe.batch.rers_files`).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.rers_files import pairs
from ltlpipe.batch.settings import combinations
from ltlpipe.batch.task_tables import read_tasks
from ltlpipe.batch.tasks import Task
from ltlpipe.logic.formula_files import read_asked
from ltlpipe.logic.formulas import Formula
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.systems.formats import READ_SUFFIXES
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ltlpipe.logic.formula_files import Asked
    from ltlpipe.runtime.files import StrPath

TABLE_SUFFIXES = (".csv", ".parquet")

_SYSTEM = re.compile(
    rf"(system([_-]?\d+)?({'|'.join(map(re.escape, READ_SUFFIXES))})|model\.pnml)"
    r"(\.gz)?$",
    re.IGNORECASE,
)
_FORMULAS = re.compile(r"(.*\.ltl|LTL\w*\.xml)(\.gz)?$", re.IGNORECASE)


class Problem(NamedTuple):
    """A system and the files of its formulas."""

    system: tuple[str, ...]  # the files of its components, in order
    formulas: tuple[str, ...]  # sorted


def find_problems(paths: Iterable[StrPath]) -> list[Problem]:
    """Find the problems in folders, at any depth, in sorted order (2 before 10).

    Paths that are not folders or contain no problem are refused, and so are folders
    with a system without formulas, published properties without a system, or two
    systems of one problem.
    """
    problems: list[Problem] = []
    for path in map(Path, paths):
        if not path.is_dir():
            raise InputError("expected a folder of problems", file=str(path))
        found: list[Problem] = []
        for folder, subfolders, files in os.walk(path, onerror=_unreadable):
            subfolders.sort(key=_natural)
            found += _problems_in(Path(folder), files)
        if not found:
            raise InputError(
                "no problem found; expected folders with a system.* "
                f"({', '.join(READ_SUFFIXES)}) and formulas in *.ltl, or with "
                "model.pnml and LTL*.xml, or with "
                "problemNNN.dot and problemNNN-properties*.txt",
                file=str(path),
            )
        problems.extend(found)
    return problems


def _unreadable(error: OSError) -> None:
    message = f"cannot be read: {error.strerror}"
    raise InputError(message, file=str(error.filename)) from None


def _problems_in(folder: Path, files: list[str]) -> Iterator[Problem]:
    """Yield the problem of a folder, if it has one system, and published ones."""
    published = pairs(folder, files)
    taken = {file for pair in published for file in pair.properties}
    problem = _problem_in(folder, [file for file in files if file not in taken])
    if problem is not None:
        yield problem
    for pair in published:
        properties = sorted(pair.properties, key=_natural)
        yield Problem(
            (str(folder / pair.system),), tuple(str(folder / f) for f in properties)
        )


def _problem_in(folder: Path, files: list[str]) -> Problem | None:
    systems = sorted((f for f in files if _SYSTEM.match(f)), key=_natural)
    if not systems:
        return None
    numbers = {_number(f) for f in systems}
    if len(numbers) < len(systems) or (None in numbers and len(systems) > 1):
        listed = ", ".join(systems)
        raise InputError(f"two systems in one folder: {listed}", file=str(folder))
    formulas = sorted((f for f in files if _FORMULAS.match(f)), key=_natural)
    if not formulas:
        raise InputError(
            "a system without *.ltl or LTL*.xml beside it", file=str(folder)
        )
    return Problem(
        tuple(str(folder / f) for f in systems),
        tuple(str(folder / f) for f in formulas),
    )


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
    formula: the row has the error.
    """
    return [task for problem in problems for task in _tasks_of(problem)]


def _tasks_of(problem: Problem) -> list[Task]:
    """Return the tasks of a problem, each property of lists once.

    A second list may repeat those of the first with their solutions.
    """
    tasks: list[Task] = []
    listed: dict[str, int] = {}  # by name: which task it is
    for file in problem.formulas:
        try:
            found = read_asked(file)
        except InputError as error:
            tasks.append(Task(problem.system, error))
            continue
        for position, asked in enumerate(found):
            task = _task(problem.system, asked, position)
            name = asked.formula.name
            if name is None or asked.number is None:
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


def find_tasks(
    paths: Iterable[StrPath], translators: Collection[str] = ()
) -> list[Task]:
    """Return the tasks of problem folders and task tables, in order.

    `translators` are programs that the tables may name.
    """
    tasks: list[Task] = []
    for path in paths:
        if Path(path).suffix.lower() in TABLE_SUFFIXES and not os.path.isdir(path):  # noqa: PTH112
            tasks.extend(read_tasks(path, translators))
        else:
            tasks.extend(tasks_of(find_problems([path])))
    return tasks


def multiplied(tasks: Iterable[Task], grid: Mapping[str, Sequence[Any]]) -> list[Task]:
    """Return each task under every choice of the values of a grid, task by task.

    A task that has an option of the grid already is refused.
    """
    if not grid:
        return list(tasks)
    choices = combinations(grid)
    result = []
    for task in tasks:
        if twice := sorted(set(grid) & set(task.options)):
            raise UnsupportedError(
                f"--grid={twice[0]}: the task table has a column of this name"
            )
        result += [replace(task, options={**task.options, **c}) for c in choices]
    return result

"""Where tasks come from: problem folders and task tables; and grids.

A problem is a folder with one ``system.*`` (or several ``system_*.aut``, the
components of one network) and at least one ``*.ltl``; or one of the Model Checking
Contest, with ``model.pnml`` and ``LTL*.xml``.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.settings import combinations
from ltlpipe.batch.task_tables import read_tasks
from ltlpipe.batch.tasks import Task
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.systems.formats import READ_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.files import StrPath

TABLE_SUFFIXES = (".csv", ".parquet")

_SYSTEM = re.compile(
    rf"(system([_-]?\d+)?({'|'.join(map(re.escape, READ_SUFFIXES))})|model\.pnml)"
    r"(\.gz)?$",
    re.IGNORECASE,
)
_FORMULAS = re.compile(r"(.*\.ltl|LTL\w*\.xml)(\.gz)?$", re.IGNORECASE)


class Problem(NamedTuple):
    """A system and the files of the formulas that are asked of it."""

    system: tuple[str, ...]  # the files of its components, in order
    formulas: tuple[str, ...]  # sorted


def find_problems(paths: Iterable[StrPath]) -> list[Problem]:
    """Find the problems in folders, at any depth, in sorted order (2 before 10).

    Refused are paths that are no folders or hold no problem, and folders that hold a
    system without formulas or two systems.
    """
    problems = []
    for path in map(Path, paths):
        if not path.is_dir():
            raise InputError("expected a folder of problems", file=str(path))
        found = []
        for folder, subfolders, files in os.walk(path, onerror=_unreadable):
            subfolders.sort(key=_natural)
            problem = _problem_in(Path(folder), files)
            if problem is not None:
                found.append(problem)
        if not found:
            raise InputError(
                "no problem found; expected folders with a system.* "
                f"({', '.join(READ_SUFFIXES)}) and formulas in *.ltl, or with "
                "model.pnml and LTL*.xml",
                file=str(path),
            )
        problems.extend(found)
    return problems


def _unreadable(error: OSError) -> None:
    message = f"cannot be read: {error.strerror}"
    raise InputError(message, file=str(error.filename)) from None


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

    A formula that does not parse is a task, too, and so is a file without any
    formula that can be read: the row says so.
    """
    tasks: list[Task] = []
    for problem in problems:
        for file in problem.formulas:
            formulas: list[Formula | FormulaError] | list[InputError]
            try:
                formulas = read_formulas(file, collect_errors=True)
            except InputError as error:
                formulas = [error]
            tasks.extend(
                Task(problem.system, formula, position)
                for position, formula in enumerate(formulas)
            )
    return tasks


def find_tasks(paths: Iterable[StrPath]) -> list[Task]:
    """Return the tasks of problem folders and task tables, in order."""
    tasks: list[Task] = []
    for path in paths:
        if Path(path).suffix.lower() in TABLE_SUFFIXES and not os.path.isdir(path):  # noqa: PTH112
            tasks.extend(read_tasks(path))
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

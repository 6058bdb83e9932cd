"""Tasks: a system, a formula or an automaton, and options.

They come from problem folders, from task tables, or as pairs from Python; a grid
of options multiplies them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.problems import Problem, find_problems
from ltlpipe.batch.settings import combinations
from ltlpipe.logic.formulas import (
    Formula,
    formula_text,
    identifier,
    read_formulas,
)
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.systems.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.runtime.files import StrPath

TABLE_SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class AutomatonFile:
    """A question that is asked by an automaton of the runs that shall not be.

    Parameters
    ----------
    path : str
        A HOA file.
    file, line : optional
        Where the task comes from, if from a table.
    name : str, optional
        Which automaton of the file it is, if that may hold several.
    """

    path: str
    file: str | None = None
    line: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class Task:
    """One question about one system.

    Parameters
    ----------
    system : Network or tuple of str
        The system, or the files to load it from.
    formula : Formula, str, AutomatonFile, FormulaError or InputError
        The question; the error if it, or the whole file, could not be read.
    position : int
        Its place among the formulas of its file, from 0.
    options : mapping
        Options of this task alone; they go before those of the run.
    """

    system: Network | tuple[str, ...]
    formula: Formula | str | AutomatonFile | FormulaError | InputError
    position: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def system_name(self) -> str:
        """What the system is known by."""
        if isinstance(self.system, Network):
            return self.system.name
        return " ".join(self.system)


def identity_of(
    formula: Formula | str | AutomatonFile | FormulaError | InputError,
) -> tuple[str, str | None]:
    """Return what a question is known by, and the text of its formula, if any."""
    if isinstance(formula, str):
        return formula, formula
    if isinstance(formula, InputError):
        return PurePath(formula.file).name, None
    if isinstance(formula, AutomatonFile):
        return formula.name or PurePath(formula.path).name, None
    return identifier(formula), formula_text(formula)


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
    """Return the tasks of problem folders and task tables, in order.

    Raises
    ------
    InputError
        A folder holds no problem, or a table no list of tasks.
    """
    tasks: list[Task] = []
    for path in paths:
        if PurePath(path).suffix.lower() in TABLE_SUFFIXES and not os.path.isdir(path):  # noqa: PTH112
            from ltlpipe.batch.task_tables import read_tasks

            tasks.extend(read_tasks(path))
        else:
            tasks.extend(tasks_of(find_problems([path])))
    return tasks


def as_tasks(tasks: Any) -> list[Task]:
    """Return the tasks that a caller of `ltlpipe.solve` names.

    Raises
    ------
    InputError
        As for `find_tasks`.
    """
    if isinstance(tasks, (str, os.PathLike)):
        return find_tasks([tasks])
    items = list(tasks)
    if all(isinstance(item, (str, os.PathLike)) for item in items):
        return find_tasks(items)
    return [
        item if isinstance(item, Task) else Task(_as_system(item[0]), item[1])
        for item in items
    ]


def _as_system(system: Any) -> Network | tuple[str, ...]:
    if isinstance(system, Network):
        return system
    if isinstance(system, (str, os.PathLike)):
        return (os.fspath(system),)
    return tuple(os.fspath(part) for part in system)


def multiplied(tasks: Iterable[Task], grid: Mapping[str, Sequence[Any]]) -> list[Task]:
    """Return each task under every choice of the values of a grid, task by task.

    Raises
    ------
    UnsupportedError
        A task has an option of the grid already.
    """
    if not grid:
        return list(tasks)
    choices = combinations(grid)
    result = []
    for task in tasks:
        if twice := sorted(set(grid) & set(task.options)):
            raise UnsupportedError(
                f"--grid {twice[0]}: the task table has a column of this name"
            )
        result += [replace(task, options={**task.options, **c}) for c in choices]
    return result

"""Where tasks come from: problem folders, task tables, pairs from Python; and grids."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.problems import Problem, find_problems
from ltlpipe.batch.settings import combinations
from ltlpipe.batch.task_tables import read_tasks
from ltlpipe.batch.tasks import Task
from ltlpipe.logic.formulas import Formula, read_formulas
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.systems.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.runtime.files import StrPath

TABLE_SUFFIXES = (".csv", ".parquet")


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

"""Tasks that a caller of `ltlpipe.solve` gives: paths, pairs, or a DataFrame.

A pair is a system and a formula.  A DataFrame has the columns of a task table
(`ltlpipe.batch.task_tables`), whose cells may hold the same objects as pairs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.task_sources import find_tasks
from ltlpipe.batch.task_tables import (
    AUTOMATON,
    FORMULA,
    SYSTEM,
    automaton_of,
    columns_of,
    files_of,
    options_of,
    refuse_unclear,
    text_of,
)
from ltlpipe.batch.tasks import Task
from ltlpipe.logic.formulas import formula_of
from ltlpipe.runtime.arguments import is_automaton, is_frame, is_one, wrong_kind
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.formats import READ_SUFFIXES
from ltlpipe.systems.models import System
from ltlpipe.systems.reading import system_of

if TYPE_CHECKING:
    import pandas as pd

_EXPECTED = (
    "paths of problem folders and task tables, pairs of a system and a formula, or a "
    "DataFrame with columns system and formula"
)
_PLACE = "tasks"  # the parameter's name, in messages


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
        if isinstance(item, Task):
            found.append(item)
        elif isinstance(item, (str, os.PathLike)):
            found += find_tasks([item])
        elif isinstance(item, (tuple, list)) and len(item) == 2:
            place = f"{_PLACE}[{number}]"
            system = systems.given(item[0], place)
            found.append(Task(system, _asked(item[1], place)))
        else:
            raise wrong_kind(f"{_PLACE}[{number}]", f"one of {_EXPECTED}", item)
    return found


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
    return formula if isinstance(formula, str) else formula_of(formula, place)


class _Systems:
    """The systems that tasks are given; an open file is read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, ...], System] = {}

    def given(self, system: Any, place: str) -> System | tuple[str, ...]:
        """Return a system, or the files from which it is loaded later."""
        if isinstance(system, System):
            return system
        parts = [system]
        if isinstance(system, (tuple, list)):
            parts = [*system]
        if parts and all(isinstance(part, (str, os.PathLike)) for part in parts):
            return tuple(map(os.fspath, parts))
        files = tuple(map(id, parts))  # the caller's list keeps them alive
        if files not in self._read:
            self._read[files] = system_of(system, place)
        return self._read[files]


def _tasks_of_frame(frame: pd.DataFrame) -> list[Task]:
    columns = columns_of([str(column) for column in frame.columns], _PLACE, None)
    systems = _Systems()
    plain = frame.astype(object).where(frame.notna(), None)
    tasks = []
    for line, row in enumerate(plain.itertuples(index=False, name=None), start=1):
        cells = dict(zip(columns, row, strict=True))
        system = _system(cells.pop(SYSTEM), systems, line)
        question = _question(cells.pop(FORMULA, None), cells.pop(AUTOMATON, None), line)
        automata = {c: cell for c, cell in cells.items() if is_automaton(cell)}
        texts = {c: _text(cell) for c, cell in cells.items() if c not in automata}
        options = options_of(texts, _PLACE, line) | automata
        tasks.append(Task(system, question, line - 1, options))
    return tasks


def _system(cell: Any, systems: _Systems, line: int) -> System | tuple[str, ...]:
    if cell is None or isinstance(cell, str):
        return files_of(cell or "", _PLACE, line)
    return systems.given(cell, f"{_PLACE}[{line - 1}]")


def _question(formula: Any, automaton: Any, line: int) -> Any:
    formula, automaton = (
        None if isinstance(cell, str) and not cell.strip() else cell
        for cell in (formula, automaton)
    )
    refuse_unclear(formula is not None, automaton is not None, _PLACE, line)
    if automaton is not None:
        return automaton_of(str(automaton), _PLACE, line)
    return _asked(formula, f"{_PLACE}[{line - 1}]")


def _text(cell: Any) -> str:
    """Return a cell as a task table has it: several texts with semicolons between."""
    if isinstance(cell, (tuple, list)):
        return ";".join(map(str, cell))
    return "" if cell is None else text_of(cell)

"""Solving many tasks, one after the other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from ltlpipe._errors import (
    FormulaError,
    InputError,
    LtlpipeError,
    UnsupportedError,
)
from ltlpipe.batch.problems import Problem, find_problems
from ltlpipe.batch.table import host_columns, row_of, to_frame
from ltlpipe.logic.formulas import (
    Formula,
    formula_text,
    identifier,
    parse,
    read_formulas,
)
from ltlpipe.systems.lts import Network
from ltlpipe.systems.reading import load
from ltlpipe.verdict.checking import check
from ltlpipe.verdict.options import Options, validate
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

    from ltlpipe._files import StrPath
    from ltlpipe.batch.table import Row
    from ltlpipe.verdict.verdict import Verdict

INPUT_ERROR = "input-error"
"""The reason of a task whose system or formula cannot be read."""

UNSUPPORTED = "unsupported"
"""The reason of a task that asks for what cannot be done with its system."""

BUG = "error"
"""The reason of a task on which ltlpipe itself failed."""


@dataclass(frozen=True)
class Task:
    """One question about one system.

    Parameters
    ----------
    system : Network or tuple of str
        The system, or the files to load it from.
    formula : Formula, str, FormulaError or InputError
        The question; the error if it, or the whole file, could not be read.
    position : int
        Its place among the formulas of its file, from 0.
    """

    system: Network | tuple[str, ...]
    formula: Formula | str | FormulaError | InputError
    position: int = 0


class Watcher(Protocol):
    """Whoever wants to see a run over many tasks."""

    def begin(self, task: Task, number: int, total: int) -> None:
        """Take the task that is solved next, counted from 1."""

    def progress(self, states: int, depth: int) -> None:
        """Take how far the search of this task has come."""

    def solved(self, task: Task, verdict: Verdict) -> None:
        """Take the answer to a task."""

    def failed(self, task: Task, error: Exception) -> None:
        """Take why a task cannot be solved."""


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


def solve(
    tasks: StrPath | Iterable[StrPath] | Iterable[tuple[Any, Any]],
    *,
    jobs: int = 1,
    store: StrPath | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Solve many tasks and return one row for each.

    Parameters
    ----------
    tasks : folder, folders, or pairs
        Folders of problems (``system.*`` beside ``*.ltl``), or pairs of a
        system (a `Network` or file names) and a formula.
    jobs : int
        1; this version solves one task after the other.
    store : path, optional
        None; this version keeps no store.
    **options
        As for `check`.

    Returns
    -------
    DataFrame
        The columns of the result table, with nullable types.  A task that
        cannot be solved is "unknown" for the reason "input-error" (its files),
        "unsupported" (its request) or "error" (a bug of ltlpipe).

    Raises
    ------
    InputError
        A folder holds no problem.
    UnsupportedError
        The options ask for what cannot be done.
    """
    refuse_unready(jobs=jobs, store=store)
    return to_frame(solve_rows(_as_tasks(tasks), **options))


def refuse_unready(*, jobs: int, store: StrPath | None) -> None:
    """Refuse what the contract names but this version does not have."""
    if jobs != 1:
        raise UnsupportedError(
            f"--jobs {jobs} is not in this version; tasks are solved one by one"
        )
    if store is not None:
        raise UnsupportedError(f"--store {store} is not in this version; use --out")


def _as_tasks(tasks: Any) -> list[Task]:
    if isinstance(tasks, (str, os.PathLike)):
        return tasks_of(find_problems([tasks]))
    items = list(tasks)
    if all(isinstance(item, (str, os.PathLike)) for item in items):
        return tasks_of(find_problems(items))
    return [Task(_as_system(system), formula) for system, formula in items]


def _as_system(system: Any) -> Network | tuple[str, ...]:
    if isinstance(system, Network):
        return system
    if isinstance(system, (str, os.PathLike)):
        return (os.fspath(system),)
    return tuple(os.fspath(part) for part in system)


def solve_rows(
    tasks: list[Task], *, watcher: Watcher | None = None, **options: Any
) -> Iterator[Row]:
    """Solve tasks one after the other and yield a row as soon as it is known.

    Besides the columns of the result table a row has `n_components`, those of the
    system if it could be read.

    The options are looked at before the first row is asked for.  After a task
    that was interrupted no further one is begun.

    Raises
    ------
    UnsupportedError
        The options ask for what cannot be done.
    """
    chosen = Options(**{k: v for k, v in options.items() if k not in LIMITS})
    validate(chosen)
    return _rows(tasks, watcher, options)


def _rows(
    tasks: list[Task], watcher: Watcher | None, options: dict[str, Any]
) -> Iterator[Row]:
    common = host_columns() | {"seed": options.get("seed")}
    loaded: tuple[Any, Network | LtlpipeError] | None = None
    for number, task in enumerate(tasks, start=1):
        if watcher is not None:
            watcher.begin(task, number, len(tasks))
        started_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        if loaded is None or loaded[0] is not task.system:
            loaded = (task.system, _load(task.system))
        try:
            verdict = _solve_one(task, loaded[1], watcher, options)
            if watcher is not None:
                watcher.solved(task, verdict)
            row = row_of(verdict)
        except Exception as error:  # one task's trouble is not the others'
            if watcher is not None:
                watcher.failed(task, error)
            system = task.system
            name = system.name if isinstance(system, Network) else " ".join(system)
            row = failed_row(name, task.formula, error)
        known: Row = {"started_at": started_at}
        if isinstance(loaded[1], Network):
            known["n_components"] = len(loaded[1].components)
        yield encodable(row | common | known)
        if row["reason"] == "interrupted":
            return


def encodable(row: Row) -> Row:
    """Escape what UTF-8 has no bytes for (file names may hold any)."""
    return {
        column: value.encode(errors="backslashreplace").decode()
        if isinstance(value, str)
        else value
        for column, value in row.items()
    }


LIMITS = ("timeout", "memory", "max_states")
"""The options of `check` that say nothing about the plan."""


def _load(system: Network | tuple[str, ...]) -> Network | LtlpipeError:
    if isinstance(system, Network):
        return system
    try:
        return load(system)
    except LtlpipeError as error:
        return error


def _solve_one(
    task: Task,
    system: Network | LtlpipeError,
    watcher: Watcher | None,
    options: dict[str, Any],
) -> Verdict:
    if isinstance(system, LtlpipeError):
        raise system
    if isinstance(task.formula, LtlpipeError):
        raise task.formula
    formula = parse(task.formula) if isinstance(task.formula, str) else task.formula
    progress = None if watcher is None else watcher.progress
    return check(system, formula, progress=progress, **options)


def failed_row(
    system: str,
    formula: Formula | str | FormulaError | InputError | None,
    error: Exception,
) -> Row:
    """Return the columns of a task that has no verdict, for a reason that it names.

    Parameters
    ----------
    system : str
        The name of the system.
    formula : Formula, str, error or None
        The question, as in `Task`; None where none is asked.
    error : Exception
        Why there is no verdict.
    """
    name, text = (None, None) if formula is None else _identity(formula)
    return {
        "system": system,
        "formula_id": name,
        "formula": text,
        "verdict": UNKNOWN,
        "reason": _reason_of(error),
    }


def _reason_of(error: Exception) -> str:
    if isinstance(error, UnsupportedError):
        return UNSUPPORTED
    return INPUT_ERROR if isinstance(error, LtlpipeError) else BUG


def _identity(
    formula: Formula | str | FormulaError | InputError,
) -> tuple[str, str | None]:
    """Return what a formula is known by, and its text."""
    if isinstance(formula, str):
        return formula, formula
    if isinstance(formula, InputError):
        return PurePath(formula.file).name, None
    return identifier(formula), formula_text(formula)

"""Solving many tasks: the public functions, and the run in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.batch.answering import Systems, answer
from ltlpipe.batch.bars import TaskBar
from ltlpipe.batch.engines import ATTEMPTS, LOCAL, Engine
from ltlpipe.batch.given_tasks import as_tasks
from ltlpipe.batch.running import retried, run_rows
from ltlpipe.batch.settings import grid_of
from ltlpipe.batch.table import to_frame
from ltlpipe.batch.task_data import category_of
from ltlpipe.batch.task_sources import multiplied
from ltlpipe.batch.tasks import portable
from ltlpipe.question.given_options import takes_options, understood
from ltlpipe.question.option import SOLVE
from ltlpipe.runtime.arguments import PATH, TEXT, WHOLE, expect
from ltlpipe.runtime.errors import UnsupportedError, warn
from ltlpipe.runtime.progress_bar import search_bar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    import pandas as pd

    from ltlpipe.batch.running import Watcher
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task
    from ltlpipe.runtime.files import StrPath


@takes_options(SOLVE)
def solve(
    tasks: StrPath | Iterable[StrPath | tuple[Any, Any] | Task] | pd.DataFrame,
    *,
    jobs: int | None = None,
    store: StrPath | None = None,
    retry: str | Iterable[str] = (),
    grid: Mapping[str, Sequence[Any]] | str | None = None,
    engine: str = LOCAL,
    scheduler: str | None = None,
    attempts: int = ATTEMPTS,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Solve many tasks and return one row for each, in their order.

    Parameters
    ----------
    tasks : path, iterable of paths or pairs, or DataFrame
        Folders of problems (``system.*`` beside ``*.ltl``) and task tables (``.csv``,
        ``.parquet``), one or several; pairs of a system and a formula, as `check`
        takes them; or a DataFrame with columns as a task table: `system`, `formula`,
        and any option.  A `Model` without a file cannot leave this process.
    jobs : int, optional
        Processes that solve tasks.  By default tasks are solved in this process or,
        with a store, in one worker.
    store : path, optional
        An SQLite file in which each result is kept as soon as it is known; tasks with a
        stored result are not solved again.
    retry : str or iterable of str
        "unknown", or reasons such as "timeout" and "crash": stored results that are
        computed again.
    grid : mapping or str, optional
        Values of options: each task is solved under every choice of them.
    engine : str
        "local": processes of this machine; or "dask": those of a Dask cluster, on
        which `jobs` tasks are solved at once, by default one per thread of a worker.
    scheduler : str, optional
        The address of the cluster's scheduler, ``tcp://host:8786``.
    attempts : int
        How often a task is begun whose Dask workers die under it.
    progress : bool, optional
        Whether bars are shown: below the cell of a notebook, or on standard error if
        that is a terminal.  By default a notebook shows them after a second.
    **options

    Returns
    -------
    DataFrame
        The columns of the result table, with the types of `ltlpipe.results`.  A task
        that
        cannot be solved is "unknown" for the reason "input-error" (its files),
        "unsupported" (its request), "error" (a bug of ltlpipe) or "crash" (its process
        died).

    Raises
    ------
    InputError
        A folder holds no problem, a task table something else, or an open file no
        system.
    LtlpipeError
        The store cannot be used.
    UnsupportedError
        An option or combination is not supported.
    """
    expect(WHOLE.or_none, jobs=jobs)
    expect(PATH.or_none, store=store)
    expect(TEXT, engine=engine)
    expect(TEXT.or_none, scheduler=scheduler)
    expect(WHOLE, attempts=attempts)
    listed = multiplied(as_tasks(tasks), grid_of(grid))
    apart = jobs is not None or store is not None or engine != LOCAL
    rows = []
    with search_bar(progress) as bar:
        watcher = TaskBar(bar, listed, apart=apart)
        for row in solve_rows(
            listed,
            watcher=watcher,
            jobs=jobs,
            store=store,
            retry=retry,
            engine=engine,
            scheduler=scheduler,
            attempts=attempts,
            **options,
        ):
            rows.append(row)
            watcher.n_done += 1
    return to_frame(sorted(rows, key=lambda row: int(row["task"])))


def solve_rows(
    tasks: list[Task],
    *,
    watcher: Watcher | None = None,
    jobs: int | None = None,
    store: StrPath | None = None,
    retry: str | Iterable[str] = (),
    engine: str = LOCAL,
    scheduler: str | None = None,
    attempts: int = ATTEMPTS,
    **options: Any,
) -> Generator[Row, None, None]:
    """Solve tasks and yield a row as soon as it is known.

    Besides the columns of the result table a row has `task`, the number of its task
    from 0, `n_components`, those of the system if it could be read, and `wall_seconds`.

    Options are checked at once, before the first row is requested.  After an
    interrupted task no further one is started.  With several processes rows come as
    they are done.

    Parameters
    ----------
    watcher : Watcher, optional
        Receives the events of the run.
    tasks, jobs, store, retry, engine, scheduler, attempts, **options
        As for `solve`.
    """
    understood(options)  # refuses what cannot be done
    again = retried(retry)
    if again and store is None:
        raise UnsupportedError("--retry goes with --store")
    place = Engine(engine, jobs, scheduler, attempts)
    if jobs is None and store is None and engine == LOCAL:
        return _rows(tasks, watcher, options)
    for task in tasks:
        if not isinstance(task.system, tuple):
            portable(task.system)
    return run_rows(
        tasks, options, engine=place, store=store, retry=again, watcher=watcher
    )


def _rows(
    tasks: list[Task], watcher: Watcher | None, options: dict[str, Any]
) -> Generator[Row, None, None]:
    """Solve tasks in this process, one after the other."""
    systems = Systems()
    progress = False if watcher is None else watcher.progress
    for number, task in enumerate(tasks):
        if watcher is not None:
            watcher.begin(task, number + 1, len(tasks))
        row, verdict, error, warned = answer(task, systems, options, progress=progress)
        for text, category in warned:
            warn(text, category_of(category))
        if watcher is not None and verdict is not None:
            watcher.solved(task, verdict.plan)
        elif watcher is not None and error is not None:
            watcher.failed(task, error)
        yield row | {"task": number}
        if row["reason"] == "interrupted":
            return

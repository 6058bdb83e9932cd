"""Solving many tasks: the public functions, and the run.

Tasks go to workers, results to the store and to the reader of the rows.
"""

from __future__ import annotations

import json
import os
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.answering import (
    BUG,
    Expected,
    Systems,
    answer,
    encodable,
)
from ltlpipe.batch.engines import ATTEMPTS, LOCAL, Engine, TaskBar, Watcher
from ltlpipe.batch.pool import category_of
from ltlpipe.batch.store import Store
from ltlpipe.batch.table import option_columns, to_frame
from ltlpipe.batch.task_sources import as_tasks, multiplied, tasks_about
from ltlpipe.batch.tasks import (
    AutomatonFile,
    Digests,
    grid_of,
    identity_of,
    key_of,
    options_text,
    portable,
)
from ltlpipe.question.given_options import takes_options, understood
from ltlpipe.question.options import SOLVE
from ltlpipe.runtime.arguments import PATH, TEXT, WHOLE, expect, several
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, warn
from ltlpipe.runtime.jobs import (
    CPU_TIME,
    INTERRUPTED,
    MAX_STATES,
    MEMORY,
    TIMEOUT,
    interruptible,
)
from ltlpipe.runtime.progress_bar import search_bar
from ltlpipe.verdict.verdict import (
    CRASH,
    INPUT_ERROR,
    UNBOUNDED,
    UNKNOWN,
    UNSUPPORTED,
)

if TYPE_CHECKING:
    from collections.abc import (
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    import pandas as pd

    from ltlpipe.batch.answering import Answer
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task
    from ltlpipe.logic.formulas import FormulaLike
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.reading import SystemLike


RETRIED = (
    *(UNKNOWN, CRASH, TIMEOUT, MEMORY, MAX_STATES, CPU_TIME),
    *("bitstate", "walks", "compact", "overflow", UNBOUNDED),
    *(BUG, INPUT_ERROR, UNSUPPORTED),
)
"""What ``--retry`` can name: all without a verdict, or reasons for it."""

_WAIT_SECONDS = 0.2  # between checks of another run


@takes_options(SOLVE)
def solve(
    tasks: SystemLike
    | Mapping[str, SystemLike]
    | Iterable[StrPath | tuple[Any, Any] | Task]
    | pd.DataFrame,
    formulas: FormulaLike
    | os.PathLike[str]
    | Iterable[FormulaLike]
    | Mapping[str, FormulaLike]
    | None = None,
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
    tasks : path, iterable of paths or pairs, DataFrame, or system
        Folders of problems (``system.*`` beside ``*.ltl``) and task tables (``.csv``,
        ``.parquet``), one or several; pairs of a system and a formula, as `check`
        takes them; or a DataFrame with columns as a task table: `system`, `formula`,
        and any option; further columns of it are columns of the results.  A `Model`
        without a file cannot leave this process.  With `formulas`, a system as `check`
        takes it, or systems by the names that they have in the table.
    formulas : formula, formulas, mapping of names to formulas, or path object, optional
        What to check of the system, or of each; of a `pathlib.Path` the formulas in
        the file.
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
    asked = as_tasks(tasks) if formulas is None else tasks_about(tasks, formulas)
    listed = multiplied(asked, grid_of(grid))
    rows = []
    with search_bar(progress) as bar:
        watcher = TaskBar(bar, listed)
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
    rows.sort(key=lambda row: int(row["task"]))
    return _with_columns_of_caller(
        to_frame(rows), [listed[row["task"]].beside for row in rows]
    )


def _with_columns_of_caller(
    frame: pd.DataFrame, beside: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    import pandas as pd

    for column in dict.fromkeys(name for cells in beside for name in cells):
        values = [cells.get(column) for cells in beside]
        frame[column] = pd.Series(values, dtype=object).convert_dtypes()
    return frame


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
        return _rows(tasks, watcher or Watcher(), options)
    for task in tasks:
        if not isinstance(task.system, tuple):
            portable(task.system)
    return _run(tasks, options, place, store, again, watcher or Watcher())


def _rows(
    tasks: list[Task], watcher: Watcher, options: dict[str, Any]
) -> Generator[Row, None, None]:
    """Solve tasks in this process, one after the other."""
    systems = Systems()
    for number, task in enumerate(tasks):
        watcher.begin(task, number + 1, len(tasks))
        answered = answer(task, systems, options, progress=watcher.progress)
        _tell(task, answered, watcher)
        yield answered.row | {"task": number}
        if answered.row["reason"] == INTERRUPTED:
            return


def retried(names: str | Iterable[str]) -> list[str]:
    """Return the names of ``--retry``; refuse those not in `RETRIED`."""
    texts = (
        names.split(",") if isinstance(names, str) else several(TEXT, names, "retry")
    )
    plain = [text.strip() for text in texts if text.strip()]
    for name in plain:
        if name not in RETRIED:
            known = ", ".join(RETRIED)
            raise UnsupportedError(f"--retry={name}: expected some of {known}")
    return plain


def _run(
    tasks: Sequence[Task],
    options: dict[str, Any],
    engine: Engine,
    store: StrPath | None,
    retry: Sequence[str],
    watcher: Watcher,
) -> Generator[Row, None, None]:
    """Have tasks answered by workers, and yield each row as soon as it is stored.

    Those that the store has come first.  After Ctrl-C no further task is started, and
    running ones finish; a second Ctrl-C ends them.  Tasks that another run on the same
    store is at are waited for.
    """
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store(store, retry))
        agenda = _Agenda(tasks, options, kept)
        yield from agenda.known()
        interrupt = stack.enter_context(interruptible())
        workers = engine.workers(tasks, options)
        stack.enter_context(workers)
        stopping = False
        while True:
            while workers.has_room and not interrupt.pressed:
                number = agenda.take()
                if number is None:
                    break
                workers.begin(number, agenda.expected(number))
            yield from agenda.known()
            if not workers.n_running and (interrupt.pressed or agenda.is_done):
                return
            for answered in workers.wait(_WAIT_SECONDS):
                row = agenda.completed(answered.row)
                agenda.record(row)
                if row["reason"] != INTERRUPTED:
                    _tell(tasks[row["task"]], answered, watcher)
                    yield row
            agenda.renew()
            if interrupt.pressed and not stopping:
                stopping = True
                watcher.stopping(workers.n_running)
            watcher.working(workers.activities())


def _tell(task: Task, answered: Answer, watcher: Watcher) -> None:
    """Give the warnings of a task, and tell a watcher how it ended."""
    for text, category in answered.warned:
        warn(text, category_of(category))
    if answered.plan is not None:
        watcher.solved(task, answered.plan)
    elif answered.error is not None:
        watcher.failed(task, answered.error)
    elif answered.row.get("message"):
        where = f"{task.system_name}: {identity_of(task.formula)[0]}"
        watcher.failed(task, LtlpipeError(f"{where}: {answered.row['message']}"))


class _Agenda:
    """The remaining tasks, and the results of the others."""

    def __init__(
        self, tasks: Sequence[Task], options: dict[str, Any], store: Store | None
    ) -> None:
        self._tasks, self._store = tasks, store
        self._waiting = deque(range(len(tasks)))
        self._held: deque[int] = deque()  # another run is solving them
        self._known: list[Row] = []
        self._digests = Digests()
        self._keys: list[str] = []
        self._options = merged = [{**options, **task.options} for task in tasks]
        self._columns = [
            option_columns(given, is_translated=task.is_translated)
            for task, given in zip(tasks, merged, strict=True)
        ]
        if store is not None:
            identities = map(self._digests.identity, tasks, merged)
            rows = list(map(listed, tasks, merged, identities))
            self._keys = [row["key"] for row in rows]
            store.list_tasks(rows)
            finished = store.finished()
            self._waiting.clear()
            for number, key in enumerate(self._keys):
                if key in finished:
                    self._note(number, finished[key])
                else:
                    self._waiting.append(number)

    def _note(self, number: int, row: Row) -> None:
        """Note a row of the store, which may have another name for the same task."""
        own = encodable(self._tasks[number].columns)
        self._known.append(self.completed(row | own | {"task": number}))

    def completed(self, row: Row) -> Row:
        """Return a row with the options of its task: workers have a share of memory."""
        return row | self._columns[row["task"]]

    def known(self) -> Iterator[Row]:
        """Yield the rows that came from the store and have not been yielded yet."""
        found, self._known = self._known, []
        yield from found

    @property
    def is_done(self) -> bool:
        """Return whether no tasks are left, not even those of other runs."""
        return not (self._waiting or self._held or self._known)

    def take(self) -> int | None:
        """Return a task that this run may start; None if there is none yet."""
        for tasks in (self._waiting, self._held):
            for _ in range(len(tasks)):
                number = tasks.popleft()
                claimed = self._store is None or self._store.claim(self._keys[number])
                if claimed is True:
                    return number
                if claimed is False:
                    self._held.append(number)
                else:
                    self._note(number, claimed)
        return None

    def expected(self, number: int) -> Expected | None:
        """Return the expected digests of a task's inputs; None without a store."""
        task = self._tasks[number]
        if self._store is None:
            return None
        system: tuple[str, ...] = ()
        if isinstance(task.system, tuple):
            system = self._digests.system(task.system, self._options[number])
        return Expected(
            system,
            self._digests.question(task),
            self._digests.automaton(self._options[number].get("constraint")),
        )

    def record(self, row: Row) -> None:
        """Keep a result, if there is a store; leave an interrupted task to others."""
        if self._store is not None:
            said = None if row["reason"] == INTERRUPTED else row
            self._store.record(self._keys[row["task"]], said)

    def renew(self) -> None:
        """Say that this run is alive."""
        if self._store is not None:
            self._store.renew()


def listed(task: Task, options: Mapping[str, Any], identity: str) -> Row:
    """Return a task as the store lists it; options are all of them."""
    own = task.columns
    paths = task.system if isinstance(task.system, tuple) else ()
    files = [*map(_absolute, paths)] or [task.system_name]
    text = options_text(options)
    inputs: dict[str, Any] = {"system": files} if paths else {}
    if isinstance(task.formula, AutomatonFile):
        inputs["automaton"] = _absolute(task.formula.path)
    constraint = options.get("constraint")
    if isinstance(constraint, (str, os.PathLike)):
        inputs["constraint"] = _absolute(constraint)
    place = [files, own["formula_id"], text]
    source = () if task.file is None else (_absolute(task.file),)
    return encodable(own) | {
        "place": json.dumps([*place, *source]),
        "former": json.dumps(place),
        "key": key_of(identity),
        "options": text,
        "identity": identity,
        "inputs": json.dumps(inputs),
    }


def _absolute(path: StrPath) -> str:
    return os.path.abspath(path)  # noqa: PTH100

"""A run: tasks to workers, results to the store and to the reader of the rows."""

from __future__ import annotations

import json
import os
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

from ltlpipe.batch.answering import BUG, INPUT_ERROR, UNSUPPORTED, Expected, encodable
from ltlpipe.batch.engines import Engine
from ltlpipe.batch.identity import Digests, key_of, options_text
from ltlpipe.batch.store import Listed, Store
from ltlpipe.batch.table import option_columns
from ltlpipe.batch.task_data import category_of
from ltlpipe.batch.task_job import CRASH
from ltlpipe.batch.tasks import AutomatonFile, identity_of
from ltlpipe.runtime.arguments import TEXT, several
from ltlpipe.runtime.ctrl_c import interruptible
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, warn
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from ltlpipe.batch.engines import Workers
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.task_data import Finished
    from ltlpipe.batch.task_job import Activity
    from ltlpipe.batch.tasks import Task
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.ctrl_c import Interrupt
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.runtime.jobs import Progress

RETRIED = (
    UNKNOWN,
    CRASH,
    "timeout",
    "memory",
    "max-states",
    "cpu-time",
    "bitstate",
    "walks",
    "compact",
    BUG,
    INPUT_ERROR,
    UNSUPPORTED,
)
"""What ``--retry`` can name: all without a verdict, or reasons for it."""

_WAIT_SECONDS = 0.2  # between checks of another run


class Watcher(Protocol):
    """Observer of a batch run."""

    @property
    def progress(self) -> Callable[[Progress], None]:
        """Takes how far the question in this process has come."""

    def begin(self, question: Task, number: int, total: int) -> None:
        """Receive the next task, and how many were started, this one included."""

    def working(self, activities: Sequence[Activity]) -> None:
        """Receive the progress of other processes, several times a second."""

    def solved(self, task: Task, plan: Plan) -> None:
        """Receive the plan of a verdict."""

    def failed(self, question: Task, error: Exception) -> None:
        """Take why a task cannot be solved."""

    def stopping(self, running: int) -> None:
        """Take that after Ctrl-C so many tasks are still brought to their end."""


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


def run_rows(
    tasks: Sequence[Task],
    options: dict[str, Any],
    *,
    engine: Engine | None = None,
    store: StrPath | None = None,
    retry: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> Generator[Row, None, None]:
    """Have tasks answered by workers, and yield each row as soon as it is stored.

    Those that the store has come first.  After Ctrl-C no further task is started, and
    running ones finish; a second Ctrl-C ends them.  Tasks that another run on the same
    store is at are waited for.  For the arguments see
    `ltlpipe.batch.solving.solve_rows`; without an engine one process here answers.
    """
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store(store, retry))
        agenda = _Agenda(tasks, options, kept)
        yield from agenda.known()
        interrupt = stack.enter_context(interruptible())
        with (engine or Engine()).workers(tasks, options) as workers:
            yield from _Run(tasks, agenda, workers, watcher, interrupt).rows()


class _Run:
    """The loop that keeps workers busy."""

    def __init__(
        self,
        tasks: Sequence[Task],
        agenda: _Agenda,
        workers: Workers,
        watcher: Watcher | None,
        interrupt: Interrupt,
    ) -> None:
        self._tasks, self._agenda, self._workers = tasks, agenda, workers
        self._watcher, self._interrupt = watcher, interrupt
        self._stopping = False

    def rows(self) -> Iterator[Row]:
        agenda, workers = self._agenda, self._workers
        while True:
            while workers.has_room and not self._interrupt.pressed:
                number = agenda.take()
                if number is None:
                    break
                self._begin(number)
            yield from agenda.known()
            idle = not workers.n_running
            if idle and (self._interrupt.pressed or agenda.is_done):
                return
            for finished in workers.wait(_WAIT_SECONDS):
                for text, category in finished.warned:
                    warn(text, category_of(category))
                if finished.row["reason"] == "interrupted":
                    agenda.give_back(finished.number)
                    continue
                agenda.record(finished)
                self._show(finished)
                yield finished.row
            self._tell()

    def _begin(self, number: int) -> None:
        if self._watcher is not None:
            begun = self._agenda.n_begun
            self._watcher.begin(self._tasks[number], begun, len(self._tasks))
        self._workers.begin(number, self._agenda.expected(number))

    def _tell(self) -> None:
        self._agenda.renew()
        if self._interrupt.pressed and not self._stopping:
            self._stopping = True
            if self._watcher is not None:
                self._watcher.stopping(self._workers.n_running)
        if self._watcher is not None:
            self._watcher.working(self._workers.activities())

    def _show(self, finished: Finished) -> None:
        if self._watcher is None:
            return
        task = self._tasks[finished.number]
        if finished.plan is not None:
            self._watcher.solved(task, finished.plan)
        elif finished.error is not None:
            self._watcher.failed(task, finished.error)
        elif finished.row.get("message"):
            where = f"{task.system_name}: {identity_of(task.formula)[0]}"
            message = f"{where}: {finished.row['message']}"
            self._watcher.failed(task, LtlpipeError(message))


class _Agenda:
    """The remaining tasks, and the results of the others."""

    def __init__(
        self, tasks: Sequence[Task], options: dict[str, Any], store: Store | None
    ) -> None:
        self._tasks, self._store = tasks, store
        self._waiting = deque(range(len(tasks)))
        self._held: deque[int] = deque()  # another run is solving them
        self._known: list[Row] = []
        self.n_begun = 0
        self._digests = Digests()
        self._keys: list[str] = []
        if store is not None:
            merged = [{**options, **task.options} for task in tasks]
            self._columns = list(map(option_columns, merged))
            identities = list(map(self._digests.identity, tasks, merged))
            self._keys = list(map(key_of, identities))
            store.list_tasks(map(listed, tasks, self._keys, merged, identities))
            self._set_aside(store.finished())

    def _set_aside(self, finished: dict[str, Row]) -> None:
        """Fetch the results that the store has already."""
        numbers = range(len(self._tasks))
        done = [number for number in numbers if self._keys[number] in finished]
        for number in done:
            self._note(number, finished[self._keys[number]])
        self._waiting = deque(sorted(set(numbers) - set(done)))

    def _note(self, number: int, row: Row) -> None:
        """Note a row of the store, which may have another name for the same task."""
        own = encodable(self._tasks[number].columns)
        self._known.append(row | own | self._columns[number] | {"task": number})
        self.n_begun += 1

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
                    self.n_begun += 1
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
        return Expected(
            self._digests.system(task.system) if isinstance(task.system, tuple) else (),
            self._digests.question(task),
        )

    def record(self, finished: Finished) -> None:
        """Keep a result, if there is a store."""
        if self._store is not None:
            self._store.record(self._keys[finished.number], finished.row)

    def give_back(self, number: int) -> None:
        """Release a task for other runs."""
        if self._store is not None:
            self._store.release(self._keys[number])

    def renew(self) -> None:
        """Say that this run is alive."""
        if self._store is not None:
            self._store.renew()


def listed(
    task: Task, key: str, options: Mapping[str, Any], identity: str | None = None
) -> Listed:
    """Return a task as the store lists it; options are all of them."""
    own = task.columns
    paths = task.system if isinstance(task.system, tuple) else ()
    files = [*map(_absolute, paths)] or [task.system_name]
    text = options_text(options)
    place = json.dumps([files, own["formula_id"], text])
    asked, constraint = task.formula, options.get("constraint")
    inputs = {
        "system": files if paths else None,
        "automaton": _absolute(asked.path)
        if isinstance(asked, AutomatonFile)
        else None,
        "constraint": _absolute(constraint)
        if isinstance(constraint, (str, os.PathLike))
        else None,
    }
    return Listed(
        place=place,
        key=key,
        options=text,
        identity=identity,
        inputs=json.dumps({n: v for n, v in inputs.items() if v is not None}),
        **encodable(own),
    )


def _absolute(path: StrPath) -> str:
    return os.path.abspath(path)  # noqa: PTH100

"""From one task to its row, whatever happens on the way.

A worker process answers tasks, too (`answer_task`): systems stay loaded and kernels
warm from task to task.  During a task it reports to `ltlpipe.batch.pool`, which
enforces the limits: when everything has been read, when kernels are being compiled, the
progress of a search.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import OrderedDict
from contextlib import suppress
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from ltlpipe.batch.table import host_columns, option_columns, row_of
from ltlpipe.batch.tasks import (
    IN_MEMORY,
    AutomatonFile,
    Digests,
    Task,
    identity_of,
    meant,
    now,
)
from ltlpipe.logic.formulas import Formula, formula_of, from_spot_text, reread, restored
from ltlpipe.logic.history import Dialect
from ltlpipe.question.given_options import (
    dialect_of,
    limits_of,
    manner_of,
    of_question,
)
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    LtlpipeError,
    LtlpipeWarning,
    ReplayError,
    SystemWarning,
    UnsupportedError,
    collecting,
)
from ltlpipe.runtime.folders import SharedFolder, shared_through
from ltlpipe.runtime.jobs import (
    INTERRUPTED,
    MEMORY,
    StoppedError,
    complete,
    run,
)
from ltlpipe.runtime.loading import hearers
from ltlpipe.runtime.memory import is_out_of_memory
from ltlpipe.runtime.names import FLAGS, spelled
from ltlpipe.runtime.wire import error_from_dict, error_to_dict, unpacked
from ltlpipe.runtime.worker_process import resident_bytes
from ltlpipe.systems.graph import graph_from_data
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain import components_of
from ltlpipe.verdict.checking import check
from ltlpipe.verdict.verdict import (
    CRASH,
    INPUT_ERROR,
    UNKNOWN,
    UNSUPPORTED,
    not_read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ltlpipe.batch.table import Row
    from ltlpipe.question.answer import Plan
    from ltlpipe.runtime.jobs import Job, Limits, Progress
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.models import System

BUG = "error"
"""The reason of a task on which ltlpipe itself failed."""

_UNREAD = "the system or the property was not read within the limits"
"""What the row of a task says that was stopped before its question was known."""

_SYSTEMS_KEPT = 4
_TELL_SECONDS = 0.2  # how often progress is sent
_Input = TypeVar("_Input")


class Answer(NamedTuple):
    """The outcome of a task."""

    row: Row
    plan: Plan | None  # None if the task failed
    error: Exception | None  # why it failed
    warned: tuple[tuple[str, str], ...]  # texts and categories


class Expected(NamedTuple):
    """Digests of a task's inputs when the run began."""

    system: tuple[str, ...]
    question: tuple[str, str]
    constraint: str | None = None

    def refuse_changed_constraint(self, constraint: Any) -> None:
        """Raise InputError if the automaton of a constraint is another one now."""
        if Digests().automaton(constraint) != self.constraint:
            raise _changed(str(constraint))


_Observer: TypeAlias = "Callable[[Progress], None] | bool | None"


class _Reading(NamedTuple):
    """How the inputs of a task are read: what they have to be, and how long."""

    expected: Expected | None
    limits: Limits
    asked: str  # the limits as they are asked for
    progress: _Observer

    def run(self, job: Job[_Input]) -> _Input:
        """Run a job that reads; StoppedError if a limit was hit."""
        return run(job, self.limits, observer=self.progress)


_Kept: TypeAlias = "System | LtlpipeError | StoppedError"


class Systems:
    """The systems that were loaded last, by their contents.

    A system that cannot be loaded is kept as its error, and one that could not be read
    within the limits is tried again for tasks with other limits only.
    """

    def __init__(self) -> None:
        self.run = ""
        self._digests = Digests()
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()

    def system(self, task: Task, reading: _Reading, **manner: Any) -> System:
        """Return the system of a task, if it has not changed since the run began.

        The manner is that in which its files are read.

        Raises
        ------
        StoppedError
            It was not read within the limits.
        """
        if not isinstance(task.system, tuple):
            return task.system
        digest = self._digests.system(task.system, manner)
        if reading.expected is not None and digest != reading.expected.system:
            raise _changed(task.system[0])
        names = (PurePath(path).name for path in task.system)  # of components, too
        place = (*digest, *names, *map(str, manner.values()))
        # An error names files (those of the same contents have another one) or limits.
        place_of_error = (*place, *task.system, reading.asked)
        found = self._kept.get(place, self._kept.get(place_of_error))
        if found is None:
            found = self._loaded(task.system, reading, manner)
        if isinstance(found, Exception):
            self._keep(place_of_error, found)
            raise found
        self._keep(place, found)
        return found

    def made(
        self, digest: str, make: Callable[[], Network | SpotGraph]
    ) -> Network | SpotGraph:
        """Return a system without a file; it is decoded unless it is cached."""
        found = self._kept.get((digest,))
        if not isinstance(found, IN_MEMORY):
            found = make()
        self._keep((digest,), found)
        return found

    def forget_digests(self) -> None:
        """Read files again, which may have changed."""
        self._digests = Digests()

    def _keep(self, place: tuple[str, ...], system: _Kept) -> None:
        self._kept[place] = system
        self._kept.move_to_end(place)
        if len(self._kept) > _SYSTEMS_KEPT:
            self._kept.popitem(last=False)

    def _loaded(self, files: tuple[str, ...], reading: _Reading, manner: Any) -> _Kept:
        try:
            system = reading.run(self._digests.loaded(files, **manner))
        except (LtlpipeError, StoppedError) as error:
            if isinstance(error, StoppedError) and error.reason == INTERRUPTED:
                raise
            return error
        return system or _changed(files[0])  # another process is writing it

    def question(
        self, task: Task, reading: _Reading, dialect: Dialect
    ) -> dict[str, Any]:
        """Return the keywords of `check` that ask the question of a task.

        It must not have changed since the run began.  Texts are read in the dialect.

        Raises
        ------
        StoppedError
            Its automaton was not read within the limits.
        """
        asked = task.formula
        if isinstance(asked, FormulaError):
            asked = reread(asked, dialect)
        if isinstance(asked, LtlpipeError):
            raise asked
        if not isinstance(asked, AutomatonFile):
            return {"formula": formula_of(asked, dialect=dialect)}
        from ltlpipe.automata.given_automata import read_job

        automaton = reading.run(read_job(asked.path, asked.name))
        expected = reading.expected
        if expected is not None and Digests().question(task) != expected.question:
            raise _changed(asked.path)
        return {"automaton": automaton}


def _changed(file: str) -> InputError:
    return InputError("changed after the run had begun; run it again", file=file)


def answer(
    task: Task,
    systems: Systems,
    options: Mapping[str, Any],
    *,
    expected: Expected | None = None,
    began: Callable[[], None] = lambda: None,
    progress: _Observer = None,
) -> Answer:
    """Answer a task under the options of a run; its own go before them.

    Besides the columns of the result table, the row has `n_components` if the system is
    a network that could be read, and `wall_seconds` of all that was done.  Warnings are
    kept, not given.

    Parameters
    ----------
    systems : Systems
        Where its system is kept.
    expected : Expected, optional
        What the inputs have to be.
    began : callable
        Called when everything has been read.  Limits count from here; reading may take
        as much again.
    progress : callable or bool, optional
        As for `check`.
    """
    merged = {**options, **task.options}
    started_at = now()
    wall = time.monotonic()
    known: Row = {}
    plan, failure = None, None
    with collecting() as caught:
        try:
            asked = str(meant(merged, "timeout", "cpu_time", "memory"))
            reading = _Reading(expected, limits_of(merged), asked, progress)
            if isinstance(task.formula, InputError):
                raise task.formula  # there may be no system
            try:
                system = systems.system(task, reading, **manner_of(merged))
                if isinstance(system, Network):
                    known["n_components"] = len(system.components)
                question = systems.question(task, reading, dialect_of(merged))
            except StoppedError as stopped:
                plan = not_read(task.system_name, stopped.reason).plan
                row = failed_row(task.system_name, task.formula, stopped)
                row |= {"reason": stopped.reason, "message": _UNREAD}
            else:
                began()
                in_file = isinstance(task.system, tuple)
                given = of_question(merged) if in_file else merged
                verdict = check(system, **question, **given, progress=progress)
                plan, row = verdict.plan, row_of(verdict)
        except Exception as error:  # an error of one task must not affect the others
            row, failure = failed_row(task.system_name, task.formula, error), error
    # As written: who shows them names parameters as the caller does.
    warned = _told(caught)
    known |= option_columns(merged, is_translated=task.is_translated) | {
        "warnings": _listed(warned),
        "started_at": started_at,
        "finished_at": now(),
        "wall_seconds": time.monotonic() - wall,
    }
    # Its contents may have other names, too.
    row = row | host_columns() | known | task.columns
    return Answer(encodable(row), plan, failure, warned)


def _told(given: Iterable[Warning | str]) -> tuple[tuple[str, str], ...]:
    """Return the texts and the categories of warnings."""
    return tuple(
        (getattr(each, "written", "") or str(each), type(each).__name__)
        for each in given
    )


def _listed(warned: tuple[tuple[str, str], ...]) -> str:
    """Return the texts of our warnings as JSON, each once."""
    own = [
        spelled(text, FLAGS)
        for text, category in warned
        if category in (LtlpipeWarning.__name__, SystemWarning.__name__)
    ]
    return json.dumps(list(dict.fromkeys(own)), ensure_ascii=False)


def encodable(row: Row) -> Row:
    """Escape what UTF-8 has no bytes for (file names may hold any)."""
    return {
        column: value.encode(errors="backslashreplace").decode()
        if isinstance(value, str)
        else value
        for column, value in row.items()
    }


def failed_row(
    system: str,
    formula: Formula | str | AutomatonFile | FormulaError | InputError | None,
    error: Exception,
) -> Row:
    """Return the columns of a task that has no verdict because of an error.

    `formula` is the question, as in `Task`; None where none is asked.
    """
    name, text = (None, None) if formula is None else identity_of(formula)
    return {
        "system": system,
        "formula_id": name,
        "formula": text,
        "verdict": UNKNOWN,
        "reason": _reason_of(error),
        "message": str(error),
    }


_REASONS = {
    UnsupportedError: UNSUPPORTED,
    ReplayError: CRASH,
    LtlpipeError: INPUT_ERROR,  # of all other kinds
}


def _reason_of(error: Exception) -> str:
    if isinstance(error, StoppedError):
        return error.reason
    known = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
    return next(known, MEMORY if is_out_of_memory(error) else BUG)


# --- in a worker ------------------------------------------------------------


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return an answer without its lasso, which the row has."""
    return {
        "row": answer.row,
        "plan": None if answer.plan is None else vars(answer.plan),
        "error": None if answer.error is None else error_to_dict(answer.error),
        "warned": list(answer.warned),
    }


def task_from_dict(data: dict[str, Any], systems: Systems) -> Task:
    """Return the task of an order."""
    about = data["system"]
    system: Network | SpotGraph | tuple[str, ...]
    if "files" in about:
        system = tuple(about["files"])
    else:
        made = graph_from_data if about["graph"] else network_from_data
        content = about["content"]
        system = systems.made(about["digest"], lambda: made(unpacked(content)))
    return Task(system, _question_from_dict(data["question"]))


def _question_from_dict(data: dict[str, Any]) -> Any:
    if "error" in data:
        return error_from_dict(data["error"])
    if "path" in data:
        return AutomatonFile(data["path"], *data["place"])
    if "dialect" in data:
        return restored(data["text"], Dialect(*data["dialect"]), *data["place"])
    if "formula" in data:
        return Formula(data["text"], from_spot_text(data["formula"]), *data["place"])
    return data["text"]


def network_from_data(data: dict[str, Any]) -> Network:
    """Return the network that `network_to_data` was given."""
    return Network(complete(components_of(data["components"])), data["name"])


_systems = Systems()


def answer_task(
    task: dict[str, Any],
    options: dict[str, Any],
    expected: list[Any] | None,
    run: str,
    folder: str | None = None,
    shared: list[Any] | None = None,
    *,
    tell: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Answer a task, for a worker.

    The arguments are those of an order (`Orders.order`); between runs files may change.
    Relative paths begin in `folder`, whatever the worker's own is: it may have been
    started for another run.
    `shared` is a folder of results that the processes of the run share, and how many
    bytes there may be.  `tell` accepts
    ``{"began": bytes held}``, ``{"compiling": bool}`` or ``{"states": int, "depth":
    int}``.
    """
    if folder is not None:
        with suppress(OSError):  # the paths will be missed
            os.chdir(folder)
    if run != _systems.run:
        _systems.run = run
        _systems.forget_digests()
    wanted = None
    if expected is not None:
        wanted = Expected(tuple(expected[0]), tuple(expected[1]))
    teller = _teller()
    teller.tell = tell
    place = None if shared is None else SharedFolder(*shared)
    try:
        # Those of others: this process has no other thread at work.
        with shared_through(place), warnings.catch_warnings(record=True) as others:
            found = answer(
                task_from_dict(task, _systems),
                _systems,
                options,
                expected=wanted,
                began=lambda: tell({"began": resident_bytes()}),
                progress=teller.progress,
            )
    finally:
        teller.tell = None
    told = _told(other.message for other in others)
    return answer_to_dict(found._replace(warned=found.warned + told))


class _Teller:
    """Tells how far the task is, and whether it waits for a compiler."""

    def __init__(self) -> None:
        self.tell: Callable[[dict[str, Any]], None] | None = None
        self._told = 0.0
        self._waits = 0  # 1 while another process compiles kernels for it
        self._depth = 0  # of what compiles or loads: calls of Numba's compiler, too

    def progress(self, progress: Progress) -> None:
        """Take how far the job is."""
        assert self.tell is not None
        waits = int(progress.compiling or progress.loading)
        change, self._waits = waits - self._waits, waits
        self.step(change)
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            self.tell({"states": progress.states or 0, "depth": progress.depth or 0})

    def step(self, change: int) -> None:
        """Receive that this process starts (1) or stops (-1) to compile or to load."""
        before, self._depth = self._depth, self._depth + change
        if bool(before) != bool(self._depth) and self.tell is not None:
            self.tell({"compiling": bool(self._depth)})


@cache
def _teller() -> _Teller:
    """Return the teller of this process, which hears of compiling and loading."""
    teller = _Teller()
    hearers.append(teller.step)
    return teller

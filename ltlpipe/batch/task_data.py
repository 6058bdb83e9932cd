"""Tasks and answers as data, which travel to worker processes and back without pickles.

What is a dict here can be sent by `ltlpipe.runtime.wire`.  A network without a file is
sent as bytes with its digest, so that a worker that has it need not decode it.

A worker process answers tasks (`answer_task`): systems stay loaded and kernels warm
from task to task.  During a task it reports to `ltlpipe.batch.pool`, which enforces
the limits: when everything has been read, when kernels are being compiled, the progress
of a search.
"""

from __future__ import annotations

import builtins
import os
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.answering import (
    Answer,
    Expected,
    Systems,
    answer,
    encodable,
    failed_row,
)
from ltlpipe.batch.table import host_columns, option_columns
from ltlpipe.batch.tasks import AutomatonFile, Task, meant, now, portable, system_digest
from ltlpipe.logic.formulas import Formula, from_spot_text, spot_text
from ltlpipe.question.answer import Plan, Tried
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.errors import (
    InputError,
    LtlpipeWarning,
    SystemWarning,
    spelled,
)
from ltlpipe.runtime.files import read_text
from ltlpipe.runtime.jobs import MIB, complete
from ltlpipe.runtime.loading import hearers
from ltlpipe.runtime.shared_folder import SharedFolder, shared_through
from ltlpipe.runtime.wire import error_from_dict, error_to_dict, packed, unpacked
from ltlpipe.runtime.worker_process import resident_bytes
from ltlpipe.systems.graph import SpotGraph, graph_from_data, graph_to_data
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain import components_of, plain_components

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.systems.models import System

_MOST_SHARED_MIB = 1 << 30
_TELL_SECONDS = 0.2  # how often progress is sent
_TUPLES = ("reductions", "reasons", "merges")  # of a plan


# --- tasks ------------------------------------------------------------------


class Orders:
    """The orders for workers to answer the tasks of a run, and what they answer.

    `options` are those of the run.  Each system in memory is encoded once.
    """

    def __init__(
        self, tasks: Sequence[Task], options: Mapping[str, Any], run: str
    ) -> None:
        self._tasks, self._options, self._run = tasks, options, run
        self._systems: dict[int, dict[str, Any]] = {}  # they live as long as the run

    def order(self, number: int, expected: Expected | None) -> dict[str, Any]:
        """Return the arguments of `answer_task`; refuse what cannot be written down."""
        task = self._tasks[number]
        options = {**self._options, **task.options}
        return {
            "task": {
                "system": self._system(task.system),
                "question": _question_to_dict(task.formula),
            },
            "options": {name: _sent(name, value) for name, value in options.items()},
            "expected": None if expected is None else list(expected),
            "run": self._run,
        }

    def _system(self, system: System | tuple[str, ...]) -> dict[str, Any]:
        if isinstance(system, tuple):
            return {"files": list(system)}
        if id(system) not in self._systems:
            own = portable(system)
            self._systems[id(system)] = {
                "name": own.name,
                "digest": system_digest(own),
                "content": packed(
                    graph_to_data(own)
                    if isinstance(own, SpotGraph)
                    else network_to_data(own)
                ),
                "graph": isinstance(own, SpotGraph),
            }
        return self._systems[id(system)]

    def answered(self, number: int, data: dict[str, Any]) -> Answer:
        """Decode the answer of a worker, under the names that tasks have here.

        `data` are what `answer_to_dict` returned, or `ltlpipe.batch.pool.lost`.
        """
        task = self._tasks[number]
        row = data["row"] | encodable(task.columns) | {"task": number}
        if row.get("message") is not None:
            row["message"] = spelled(row["message"])
        plan, error = data["plan"], data["error"]
        known = option_columns({**self._options, **task.options})
        if "ltlpipe_version" not in row:  # the worker died
            row = host_columns() | known | row
        row["configuration"] = known["configuration"]
        return Answer(
            row,
            None if plan is None else _plan_from_dict(plan),
            None if error is None else error_from_dict(error),
            tuple((text, category) for text, category in data["warned"]),
        )

    def failed(self, number: int, error: Exception) -> Answer:
        """Return the answer for a task that could not even be sent."""
        task = self._tasks[number]
        row = encodable(failed_row(task.system_name, task.formula, error))
        data = {"row": row | {"started_at": now()}, "plan": None, "error": None}
        return self.answered(number, data | {"warned": []})._replace(error=error)


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


def _question_to_dict(asked: Any) -> dict[str, Any]:
    if isinstance(asked, str):
        return {"text": asked}
    if isinstance(asked, Formula):
        place = [asked.file, asked.line, asked.number, asked.name]
        return {"text": asked.text, "formula": spot_text(asked.spot), "place": place}
    if isinstance(asked, AutomatonFile):
        return {"path": asked.path, "place": [asked.file, asked.line, asked.name]}
    return {"error": error_to_dict(asked)}


def _question_from_dict(data: dict[str, Any]) -> Any:
    if "error" in data:
        return error_from_dict(data["error"])
    if "path" in data:
        return AutomatonFile(data["path"], *data["place"])
    if "formula" in data:
        return Formula(data["text"], from_spot_text(data["formula"]), *data["place"])
    return data["text"]


def network_to_data(network: Network) -> dict[str, Any]:
    """Return a network as plain data."""
    return {
        "name": network.name,
        "components": plain_components(network.components),
    }


def network_from_data(data: dict[str, Any]) -> Network:
    """Return the network that `network_to_data` was given."""
    return Network(complete(components_of(data["components"])), data["name"])


def shared_bytes(options: Mapping[str, Any]) -> int:
    """Return the bytes of results that the processes of a run may share on disk.

    Invalid values are reported when the task is answered.
    """
    mib = meant(options, "share").get("share") or 0.0
    return int(min(mib, _MOST_SHARED_MIB) * MIB)


def _sent(name: str, value: Any) -> Any:
    """Return the value of an option; automata as HOA, those of files too.

    A worker may run on another machine, or in another folder.
    """
    if name not in OPTIONS or OPTIONS[name].kind is not object or value is None:
        return value
    if hasattr(value, "to_str"):
        return value.to_str("hoa")
    text = os.fspath(value)
    if not text.startswith("HOA:"):
        with suppress(InputError):  # the worker reports the error
            content = read_text(text)
            return content if content.startswith("HOA:") else os.path.abspath(text)  # noqa: PTH100
    return text


# --- answers ----------------------------------------------------------------


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return an answer without its lasso, which the row has."""
    return {
        "row": answer.row,
        "plan": None if answer.plan is None else vars(answer.plan),
        "error": None if answer.error is None else error_to_dict(answer.error),
        "warned": list(answer.warned),
    }


def _plan_from_dict(data: dict[str, Any]) -> Plan:
    lists = {name: tuple(data[name]) for name in _TUPLES}
    tried = tuple(Tried(*t) for t in data["tried"])
    return Plan(**data | lists | {"tried": tried}).spelled()


def category_of(name: str) -> type[Warning]:
    """Return the category of a warning by its name."""
    for own in (LtlpipeWarning, SystemWarning):
        if name == own.__name__:
            return own
    found = getattr(builtins, name, None)
    is_known = isinstance(found, type) and issubclass(found, Warning)
    return found if is_known else UserWarning  # type: ignore[return-value]


# --- in the worker ----------------------------------------------------------

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
        with shared_through(place):
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
    return answer_to_dict(found)


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

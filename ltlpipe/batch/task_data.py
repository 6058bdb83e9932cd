"""Tasks and answers as data, which travel to worker processes and back without pickles.

What is a dict here can be sent by `ltlpipe.runtime.wire`.  A network without a file is
sent as bytes with its digest, so that a worker that has it need not decode it.

A worker process answers tasks (`answer_task`): systems stay loaded and kernels warm
from task to task.  During a task it reports to `ltlpipe.batch.task_job`, which enforces
the limits: when everything has been read, when kernels are being compiled, the progress
of a search.
"""

from __future__ import annotations

import builtins
import os
import time
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.answering import (
    Answer,
    Expected,
    Systems,
    answer,
    encodable,
    failed_row,
)
from ltlpipe.batch.table import host_columns, option_columns
from ltlpipe.batch.task_job import now
from ltlpipe.batch.tasks import AutomatonFile, Task, portable, system_digest
from ltlpipe.logic.formulas import Formula, from_spot_text, spot_text
from ltlpipe.question.answer import Plan, Tried
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.errors import (
    InputError,
    LtlpipeWarning,
    SystemWarning,
    UnsupportedError,
)
from ltlpipe.runtime.files import read_text
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.loading import hearers
from ltlpipe.runtime.shared_folder import SharedFolder, shared_through
from ltlpipe.runtime.spelling import spelled
from ltlpipe.runtime.wire import error_from_dict, error_to_dict, packed, unpacked
from ltlpipe.runtime.worker_process import resident_bytes
from ltlpipe.systems.graph import SpotGraph, graph_from_data, graph_to_data
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.jobs import Progress

_MOST_SHARED_MIB = 1 << 30
_TUPLES = ("reductions", "reasons", "merges")  # of a plan


class Finished(NamedTuple):
    """How a task ended."""

    number: int
    row: Row
    plan: Plan | None  # None if it has no verdict
    error: Exception | None  # the reason, if its worker reported one
    warned: tuple[tuple[str, str], ...] = ()  # texts and categories


# --- tasks ------------------------------------------------------------------


class TaskWriter:
    """Makes data of tasks; each network is encoded once."""

    def __init__(self) -> None:
        self._networks: dict[int, dict[str, Any]] = {}  # they live as long as the run

    def task_to_dict(self, task: Task) -> dict[str, Any]:
        """Return a task without its options; refuse what cannot be written down."""
        if isinstance(task.system, tuple):
            system = {"files": list(task.system)}
        else:
            system = self._told(portable(task.system))
        return {"system": system, "question": _question_to_dict(task.formula)}

    def _told(self, system: Network | SpotGraph) -> dict[str, Any]:
        known = self._networks.get(id(system))
        if known is None:
            is_graph = isinstance(system, SpotGraph)
            known = {
                "name": system.name,
                "digest": system_digest(system),
                "content": packed(graph_to_data(system))
                if isinstance(system, SpotGraph)
                else network_to_bytes(system),
                "graph": is_graph,
            }
            self._networks[id(system)] = known
        return known


def task_from_dict(data: dict[str, Any], systems: Systems) -> Task:
    """Return the task that `TaskWriter.task_to_dict` was given."""
    about = data["system"]
    system: Network | SpotGraph | tuple[str, ...]
    if "files" in about:
        system = tuple(about["files"])
    else:
        content = about["content"]
        made = graph_from_bytes if about["graph"] else network_from_bytes
        system = systems.made(about["digest"], lambda: made(content))
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


def network_to_bytes(network: Network) -> bytes:
    """Return a network as bytes."""
    names = [each.name for each in fields(LTS)]
    parts = [
        {name: getattr(lts, name) for name in names}
        | {"internal": sorted(lts.internal)}
        for lts in network.components
    ]
    return packed({"name": network.name, "components": parts})


def graph_from_bytes(data: bytes) -> SpotGraph:
    """Return the graph of Spot whose packed data this is."""
    return graph_from_data(unpacked(data))


def network_from_bytes(data: bytes) -> Network:
    """Return the network that `network_to_bytes` was given."""
    about = unpacked(data)
    components = []
    for part in about["components"]:
        part["labels"] = tuple(part["labels"])
        part["internal"] = frozenset(part["internal"])
        part["state_names"] = part["state_names"] and tuple(part["state_names"])
        components.append(LTS(**part))
    return Network(components, about["name"])


def order_of(
    task: Task,
    data: dict[str, Any],
    options: Mapping[str, Any],
    expected: Expected | None,
    *,
    run: str,
) -> dict[str, Any]:
    """Return the arguments of `ltlpipe.batch.task_data.answer_task`.

    `data` are what `TaskWriter` has made of the task, `options` those of the run.
    """
    return {
        "task": data,
        "options": {n: _sent(n, v) for n, v in {**options, **task.options}.items()},
        "expected": None if expected is None else list(expected),
        "run": run,
    }


def shared_bytes(options: Mapping[str, Any]) -> int:
    """Return the bytes of results that the processes of a run may share on disk.

    Invalid values are reported when the task is answered.
    """
    option = OPTIONS["share"]
    try:
        mib = option.meant("share", options.get("share", option.default))
    except UnsupportedError:
        mib = None
    return int(min(mib or 0.0, _MOST_SHARED_MIB) * MIB)


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
    verdict, error = answer.verdict, answer.error
    return {
        "row": answer.row,
        "plan": None if verdict is None else vars(verdict.plan),
        "error": None if error is None else error_to_dict(error),
        "warned": list(answer.warned),
    }


def finished(
    number: int, task: Task, options: Mapping[str, Any], data: dict[str, Any]
) -> Finished:
    """Decode the result of a task from its worker.

    `data` are what `answer_to_dict` returned, or `ltlpipe.batch.task_job.lost`.
    """
    row = data["row"] | encodable(task.columns) | {"task": number}
    if row.get("message") is not None:
        row["message"] = spelled(row["message"])
    plan, error = data["plan"], data["error"]
    known = option_columns({**options, **task.options})
    if "ltlpipe_version" not in row:  # the worker died
        row = host_columns() | known | row
    row["configuration"] = known["configuration"]
    return Finished(
        number,
        row,
        None if plan is None else _plan_from_dict(plan),
        None if error is None else error_from_dict(error),
        tuple((text, category) for text, category in data["warned"]),
    )


def failed(
    number: int, task: Task, options: Mapping[str, Any], error: Exception
) -> Finished:
    """Return the end of a task that could not even be sent."""
    row = failed_row(task.system_name, task.formula, error)
    data: dict[str, Any] = {"plan": None, "error": None, "warned": []}
    data["row"] = encodable(row) | {"started_at": now()}
    return finished(number, task, options, data)._replace(error=error)


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


_TELL_SECONDS = 0.2  # how often progress is sent

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

    `task` and `expected` are as `ltlpipe.batch.task_data` writes them, `options` those
    of the run and of the task; between runs files may change.  Relative paths begin in
    `folder`, whatever the worker's own is: it may have been started for another run.
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
        self._waits = False  # for kernels that another process compiles
        self._depth = 0  # of calls of Numba's compiler in this process

    def progress(self, progress: Progress) -> None:
        """Take how far the job is."""
        assert self.tell is not None
        waits = progress.compiling or progress.loading
        if waits != self._waits:
            self._note(self._depth, waits)
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            self.tell({"states": progress.states or 0, "depth": progress.depth or 0})

    def step(self, change: int) -> None:
        """Receive that this process starts (1) or stops (-1) to compile or to load."""
        self._note(self._depth + change, self._waits)

    def _note(self, depth: int, waits: bool) -> None:
        before = bool(self._depth) or self._waits
        self._depth, self._waits = depth, waits
        after = bool(depth) or waits
        if after != before and self.tell is not None:
            self.tell({"compiling": after})


@cache
def _teller() -> _Teller:
    """Return the teller of this process, which hears of compiling and loading."""
    teller = _Teller()
    hearers.append(teller.step)
    return teller

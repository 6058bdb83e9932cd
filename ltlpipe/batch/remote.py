"""What runs on a Dask worker: for each of its threads a process that answers tasks.

That process is watched as those of a run on one machine are (`ltlpipe.batch.slots`):
limits hold from outside, and what crashes is not the Dask worker.  It lives on from
task to task and begins with nothing but ltlpipe: a copy of a Dask worker, which has
threads, might inherit a lock that nobody opens any more.

Files of systems are kept in the worker's folder under names made of their contents.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe._version import __version__
from ltlpipe.batch import worker
from ltlpipe.batch.answering import Systems
from ltlpipe.batch.slots import Slot
from ltlpipe.batch.tasks import AutomatonFile
from ltlpipe.batch.usage import members
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.memory import default_memory_mib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.batch.answering import Expected
    from ltlpipe.batch.slots import Finished
    from ltlpipe.batch.tasks import Task
    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.models import System

_LOOK_SECONDS = 0.1  # how often what the process uses is looked at
_TELL_SECONDS = 0.5  # how often progress is sent
_NETWORKS_KEPT = 4
PICKLED = ".pickle"
"""The suffix of a network that is in no file of its own."""

_idle: list[Slot] = []
_lock = threading.Lock()


class Input(NamedTuple):
    """A file as it travels."""

    name: str  # made of its contents, with the suffixes that say its format
    content: bytes


class Parcel(NamedTuple):
    """A task as it travels."""

    number: int
    task: Task  # its files are names of inputs
    options: dict[str, Any]  # all of them, those of the run too
    expected: Expected | None
    files: dict[str, str]  # what the user calls the inputs, by name
    version: str


class Reply(NamedTuple):
    """How a task ended, as it travels."""

    finished: Finished  # without the answer
    answer: bytes | None  # a pickled `worker.Done`


def answer_there(parcel: Parcel, topic: str, *inputs: Input) -> Reply | None:
    """Answer a task; this is what the scheduler has called.

    Parameters
    ----------
    parcel : Parcel
        The task.
    topic : str
        Where to tell how far the search is.
    *inputs : Input
        What it needs of the parcel's files.

    Returns
    -------
    Reply or None
        None if nobody wants the answer any more.

    Raises
    ------
    UnsupportedError
        This worker has another version of ltlpipe than the driver.
    """
    from distributed import get_worker

    if parcel.version != __version__:
        raise UnsupportedError(
            f"a Dask worker has ltlpipe {__version__}, and the driver "
            f"{parcel.version}: install the same everywhere"
        )
    host = get_worker()
    key = host.get_current_task()
    folder = Path(host.local_directory) / "ltlpipe"
    places = {given.name: _placed(folder, given) for given in inputs}
    order = worker.Order(
        parcel.number, parcel.expected, _relocated(parcel.task, places, parcel.options)
    )
    slot = _begun(order, _share(host))
    told = time.monotonic()
    try:
        while True:
            finished = _news(slot)
            if finished is not None:
                names = {places[name]: title for name, title in parcel.files.items()}
                return _reply(finished, names)
            if _is_unwanted(host, key):
                return None
            if time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                host.log_event(topic, tuple(slot.activity()))
    finally:
        if slot.number is not None:
            slot.end()
        elif slot.alive:
            with _lock:
                _idle.append(slot)


def _placed(folder: Path, given: Input) -> str:
    """Return where a file is, having written it if it is not there."""
    path = folder / given.name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"{given.name}.{os.getpid()}.{threading.get_ident()}"
        beside.write_bytes(given.content)
        beside.replace(path)
    return str(path)


def _relocated(task: Task, places: Mapping[str, str], options: dict[str, Any]) -> Task:
    """Return a task whose files are those of this machine."""
    formula = task.formula
    if isinstance(formula, AutomatonFile):
        formula = replace(formula, path=places[formula.path])
    assert isinstance(task.system, tuple)
    system = tuple(places[name] for name in task.system)
    return replace(task, system=system, formula=formula, options=options)


def _share(host: Any) -> float | None:
    """Return the MiB that one thread of this worker may use."""
    limit = getattr(getattr(host, "memory_manager", None), "memory_limit", None)
    known = [default_memory_mib(), limit / MIB if limit else None]
    sizes = [size for size in known if size is not None]
    return min(sizes) / host.state.nthreads if sizes else None


def end_idle() -> None:
    """End the processes of this worker that have nothing to do."""
    with _lock:
        idle, _idle[:] = _idle[:], []
    for slot in idle:
        slot.end()


def _begun(order: worker.Order, share: float | None) -> Slot:
    """Return a process that has been given a task."""
    assert order.task is not None
    if order.task.options.get("memory") is None:
        task = replace(order.task, options={**order.task.options, "memory": share})
        order = order._replace(task=task)
    while True:
        with _lock:
            slot = _idle.pop() if _idle else None
        fresh = slot is None
        if slot is None:
            slot = Slot(*_spawned(), {}, share)
        assert order.task is not None
        try:
            slot.begin(order, order.task)
            return slot
        except OSError:  # it died while it had nothing to do
            slot.end()
            if fresh:
                raise


def _news(slot: Slot) -> Finished | None:
    """Wait for news a little, and return how the task ended, if it has."""
    if wait([slot.connection], _LOOK_SECONDS):
        return slot.listen()
    reason = slot.excess(members([slot.pid])[slot.pid])
    return None if reason is None else slot.overrun(reason)


def _is_unwanted(host: Any, key: str) -> bool:
    """Whether the driver has gone or wants no answer any more.

    Dask does not end what a thread is doing; but the worker knows that it need not
    go on.
    """
    known = host.state.tasks.get(key)
    return known is None or known.state in ("cancelled", "released", "forgotten")


def _reply(finished: Finished, names: Mapping[str, str]) -> Reply:
    """Return the end of a task with the names of files that the user knows."""

    def renamed(text: Any) -> Any:
        if isinstance(text, str):
            for place, title in names.items():
                text = text.replace(place, title)
        return text

    row = finished.row
    if row.get("message"):
        row = row | {"message": renamed(row["message"])}
    warned = tuple((renamed(text), kind) for text, kind in finished.warned)
    plain = finished._replace(row=row, answer=None, warned=warned)
    answer = finished.answer
    if answer is None:
        return Reply(plain, None)
    if isinstance(answer.error, LtlpipeError):
        error = answer.error
        error.args = tuple(map(renamed, error.args))
        for name in ("file", "message"):
            if hasattr(error, name):
                setattr(error, name, renamed(getattr(error, name)))
    return Reply(plain, worker.pickled(answer._replace(row=row), ()))


class _Process:
    """A started program, with the manners of `multiprocessing.Process`."""

    def __init__(self, program: subprocess.Popen[bytes]) -> None:
        self._program = program
        self.pid = program.pid

    @property
    def exitcode(self) -> int | None:
        return self._program.poll()

    def join(self, timeout: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._program.wait(timeout)

    def kill(self) -> None:
        self._program.kill()


def _spawned() -> tuple[Connection, _Process]:
    """Start a worker that begins with nothing but ltlpipe."""
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        # Workers of Dask are daemons, which may have no multiprocessing.Process.
        program = subprocess.Popen(
            [sys.executable, "-m", "ltlpipe.batch.remote", str(number)],
            pass_fds=[number],
        )
    return Connection(ours.detach()), _Process(program)


class _Shipped(Systems):
    """Systems in files that have travelled here, pickled networks among them."""

    def __init__(self) -> None:
        super().__init__()
        self._networks: OrderedDict[str, Network] = OrderedDict()

    def system(self, task: Task, expected: Expected | None = None) -> System:
        (place, *_) = task.system if isinstance(task.system, tuple) else ("",)
        if not place.endswith(PICKLED):
            return super().system(task, expected)
        found = self._networks.get(place)
        if found is None:
            found = pickle.loads(Path(place).read_bytes())
            assert found is not None
            self._networks[place] = found
            if len(self._networks) > _NETWORKS_KEPT:
                self._networks.popitem(last=False)
        self._networks.move_to_end(place)
        return found


def main() -> None:
    """Answer tasks that come through the descriptor which the arguments name."""
    worker.work(Connection(int(sys.argv[1])), os.getppid(), [], {}, _Shipped())


if __name__ == "__main__":
    main()

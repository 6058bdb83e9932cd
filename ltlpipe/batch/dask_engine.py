"""The engine of a Dask cluster (``--engine dask``): the driver and the workers.

A task is sent to one worker, and only when that has a thread to spare, so the driver
knows the tasks of a worker that dies: these, and no others, are restarted elsewhere,
each up to `attempts` times.  (Dask itself would move them, but count the death against
all tasks queued there, with a limit from the scheduler's configuration.) Workers that a
nanny or a batch system puts in the place of dead ones are used as soon as the scheduler
knows them.

The threads of a Dask worker have worker processes answer tasks, supervised as in a run
on one machine (`ltlpipe.batch.pool`): limits are enforced from outside, and a crash
does not end the Dask worker.

Parcels and replies are bytes made by `ltlpipe.runtime.wire`.  Inputs are sent as files
once per worker, which keeps their contents as long as `_HELD_BYTES` allow, and puts
them into its folder: each into one whose name is made of its contents, under its own
name, which components have; a model and the files that it includes into one, where they
are to each other as here.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import shutil
import time
import uuid
from asyncio import TimeoutError as SlowError
from collections import Counter, OrderedDict, deque
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe._version import __version__
from ltlpipe.batch.answering import Answer, Expected, Systems, answer, answer_to_dict
from ltlpipe.batch.pool import (
    LOOK_SECONDS,
    Orders,
    TaskJob,
    advanced,
    lost,
    shared_bytes,
)
from ltlpipe.batch.tasks import Activity, now
from ltlpipe.question.given_options import manner_of
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, warn
from ltlpipe.runtime.files import open_regular, write_bytes
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.wire import packed, unpacked
from ltlpipe.runtime.workers import close_idle
from ltlpipe.systems.reading import included_files
from ltlpipe.verdict.verdict import CRASH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ltlpipe.batch.tasks import Task

_TELL_SECONDS = 0.5  # how often progress is sent
_CONNECT_SECONDS = 15.0
_LOOK_SECONDS = 0.5  # interval at which the scheduler lists its workers
_PATIENCE_SECONDS = 10.0  # without any worker, before a warning
_RESULT_SECONDS = 5.0  # for the way of an answer that is there
_HELD_BYTES = 1 << 28  # of inputs, per worker and here
_MODEL = "model"  # the folder of a model that includes others, at a worker

_AWAY = (OSError, SlowError, TimeoutError, CancelledError)
"""The exceptions of Dask for a lost connection."""


class Input(NamedTuple):
    """A file, or a network in memory, as it travels."""

    name: str  # digest of its contents; of a file with its own name behind it
    content: bytes


class _Recent:
    """What was used last, by name, as long as `_HELD_BYTES` allow."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()

    def get(self, name: str, make: Callable[[], tuple[Any, int]]) -> Any:
        """Return something; `make` makes it if it is not there, and says its size."""
        if name not in self._kept:
            self._kept[name] = make()
        self._kept.move_to_end(name)
        left = sum(size for _, size in self._kept.values()) - _HELD_BYTES
        while left > 0 and len(self._kept) > 1:
            left -= self._kept.popitem(last=False)[1][1]
        return self._kept[name][0]


def require_dask() -> None:
    """Refuse to continue without Dask; the message says what to install."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise UnsupportedError(
            "--engine=dask needs dask.distributed, which is not installed "
            f"({error}): pip install 'ltlpipe[cluster]'"
        ) from None


class _Begun:
    """A task that has been started; `_Begun.future` is None if its worker has died."""

    def __init__(self, number: int, expected: Expected | None) -> None:
        self.number, self.expected = number, expected
        self.started_at, self.started = now(), time.monotonic()
        self.attempt = 0
        self.address = ""  # of the worker that has it
        self.future: Any = None
        self.activity: Activity | None = None

    @property
    def seconds(self) -> float:
        """Since it was started for the first time."""
        return time.monotonic() - self.started


class Cluster:
    """The workers of a Dask cluster; use it in a with statement.

    For the arguments see `ltlpipe.batch.solving.solve`.

    Raises
    ------
    LtlpipeError
        There is no scheduler at this address.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        options: Mapping[str, Any],
        scheduler: str,
        *,
        jobs: int | None = None,
        attempts: int,
    ) -> None:
        from distributed import Client

        self._tasks, self._options = tasks, options
        self._scheduler, self._jobs, self._attempts = scheduler, jobs, attempts
        self._run = f"ltlpipe-{uuid.uuid4().hex}"
        try:
            self._client = Client(
                scheduler, timeout=_CONNECT_SECONDS, set_as_default=False
            )
        except TypeError as error:  # certificates for TLS are missing
            raise LtlpipeError(
                f"--scheduler={scheduler}: Dask has no certificates for this address: "
                f"set their paths in its configuration (docs/batch.md): {error}"
            ) from error
        except (*_AWAY, ValueError) as error:
            raise LtlpipeError(
                f"--scheduler={scheduler}: no Dask scheduler answers there: {error}"
            ) from error
        self._client.subscribe_topic(self._run, self._hear)
        self._orders = Orders(tasks, options, run="")  # files are named by contents
        self._files = _Recent()
        self._held: dict[str, _Recent] = {}  # by each worker
        self._threads: dict[str, int] = {}  # of each worker
        self._looked = 0.0
        self._alone_since = time.monotonic()
        self._warned = False
        self._sent: dict[int, _Begun] = {}
        self._again: deque[_Begun] = deque()
        self._news: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self._ended: list[Answer] = []

    def __enter__(self) -> Cluster:
        self._look()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # whatever is left ends with the connection
            self._client.cancel([sent.future for sent in self._sent.values()])
            self._client.run(close_idle)
            self._client.run(forget_run, self._run)
        self._sent.clear()
        self._held.clear()
        with suppress(Exception):
            self._client.close(timeout=_RESULT_SECONDS)

    @property
    def n_running(self) -> int:
        """How many tasks are being answered, or about to be."""
        return len(self._sent) + len(self._again) + len(self._ended)

    @property
    def has_room(self) -> bool:
        """Return whether a further task can be started."""
        most = sum(self._threads.values())
        if self._jobs is not None:
            most = min(most, self._jobs)
        return self.n_running < most

    def begin(self, number: int, expected: Expected | None = None) -> None:
        """Have a task answered."""
        self._send(_Begun(number, expected))

    def activities(self) -> list[Activity]:
        """Return the progress of the busy workers."""
        found = []
        for sent in list(self._sent.values()):
            told = sent.activity or Activity(sent.number, 0.0, None, None, None)
            found.append(told._replace(seconds=sent.seconds))
        return found

    def wait(self, seconds: float) -> list[Answer]:
        """Wait for news, not longer than this, and return the tasks that have ended."""
        finished, self._ended = self._ended, []
        with suppress(queue.Empty):
            # What has ended already is not kept waiting for more.
            news = [self._news.get(timeout=0 if finished else seconds)]
            while not self._news.empty():
                news.append(self._news.get())
            for number, attempt in news:
                finished += self._heard(number, attempt)
        if time.monotonic() - self._looked >= _LOOK_SECONDS:
            finished += self._look()
        for _ in range(len(self._again)):
            if len(self._sent) >= sum(self._threads.values()):
                break
            self._send(self._again.popleft())
        return finished

    def _hear(self, event: tuple[float, Any]) -> None:
        """Receive a worker's progress; called by a thread of Dask."""
        with suppress(TypeError, IndexError):
            told = Activity(*event[1])
            if (sent := self._sent.get(told.number)) is not None:
                sent.activity = told

    def _look(self) -> list[Answer]:
        """See which workers there are, and return what became of those that died."""
        self._looked = time.monotonic()
        try:
            self._threads = dict(self._client.nthreads())
        except _AWAY as error:
            raise self._cut_off(error) from error
        if self._threads:
            self._alone_since = self._looked
        elif self._looked - self._alone_since > _PATIENCE_SECONDS and not self._warned:
            self._warned = True
            message = f"--scheduler={self._scheduler}: no worker there; waiting for one"
            warn(message)
        for address in set(self._held) - set(self._threads):
            del self._held[address]
        gone = [n for n, s in self._sent.items() if s.address not in self._threads]
        return [ended for number in gone for ended in self._lost(number)]

    def _cut_off(self, error: BaseException) -> LtlpipeError:
        return LtlpipeError(
            f"--scheduler={self._scheduler}: the connection is lost "
            f"({error or 'closed'}); with --store the same command continues where it "
            "stopped"
        )

    def _send(self, begun: _Begun) -> None:
        """Send a task to the worker that has most to spare."""
        number = begun.number
        try:
            parcel, inputs = self._parcel(number, begun.expected)
        except (OSError, ValueError):  # tasks with these files get the reason
            found = answer(
                self._tasks[number], Systems(), self._options, expected=begun.expected
            )
            ended = self._orders.answered(number, answer_to_dict(found))
            self._ended.append(ended._replace(error=found.error))
            return
        except LtlpipeError as error:
            self._ended.append(self._orders.failed(number, error))
            return
        busy = Counter(sent.address for sent in self._sent.values())
        free = {a: n - busy[a] for a, n in self._threads.items() if n > busy[a]}
        if not free:
            self._again.append(begun)
            return
        begun.address = max(free, key=lambda place: free[place])
        begun.attempt += 1
        begun.future = begun.activity = None
        news = (number, begun.attempt)
        self._sent[number] = begun
        try:
            futures = [self._held_at(begun.address, given) for given in inputs]
            begun.future = self._client.submit(
                answer_there,
                parcel,
                self._run,
                *futures,
                key=f"{self._run}-{number}-{begun.attempt}",
                workers=[begun.address],
                allow_other_workers=False,
                pure=False,
            )
        except (*_AWAY, KeyError, ValueError):  # the worker has died a moment ago
            self._news.put(news)
            return
        begun.future.add_done_callback(lambda _: self._news.put(news))

    def _held_at(self, address: str, given: Input) -> Any:
        """Return the reference of an input at a worker, sending it if it is new."""

        def sent() -> tuple[Any, int]:
            future = self._client.scatter(given, workers=[address], hash=False)
            return future, len(given.content)

        return self._held.setdefault(address, _Recent()).get(given.name, sent)

    def _heard(self, number: int, attempt: int) -> list[Answer]:
        """Return the end of a task whose future has news."""
        sent = self._sent.get(number)
        if sent is None or sent.attempt != attempt:
            return []  # of an attempt that has been given up
        status = "lost" if sent.future is None else sent.future.status
        if status == "pending":
            return []
        if status == "error":
            return self._failed(number, sent)
        reply = None
        if status == "finished":
            with suppress(*_AWAY):
                reply = sent.future.result(timeout=_RESULT_SECONDS)
        if reply is None:
            return self._lost(number)
        if not isinstance(reply, bytes):
            raise LtlpipeError(f"the Dask worker {sent.address} sends no answers")
        del self._sent[number]
        return [self._orders.answered(number, unpacked(reply))]

    def _failed(self, number: int, sent: _Begun) -> list[Answer]:
        """Handle an error that does not come from the task."""
        from distributed.scheduler import KilledWorker

        error = sent.future.exception(timeout=_RESULT_SECONDS)
        if isinstance(error, (KilledWorker, *_AWAY)):
            return self._lost(number)
        if isinstance(error, LtlpipeError):
            raise error
        raise LtlpipeError(
            f"the Dask worker {sent.address} cannot answer tasks: {error!r}; it needs "
            f"ltlpipe {__version__}, as the driver has"
        )

    def _lost(self, number: int) -> list[Answer]:
        """Begin a task again whose worker has died, or give it up."""
        sent = self._sent.pop(number)
        if sent.future is not None:
            with suppress(*_AWAY):
                sent.future.cancel()
        if self._client.status not in ("running", "connecting"):
            raise self._cut_off(CancelledError())
        self._looked = 0.0  # another worker may have taken its place
        if sent.attempt < self._attempts:
            self._again.append(sent)
            return []
        message = (
            f"the Dask worker that solved this died ({sent.address}; "
            f"attempt {sent.attempt} of {self._attempts})"
        )
        return [self._orders.answered(number, lost(CRASH, sent, message=message))]

    def _parcel(
        self, number: int, expected: Expected | None
    ) -> tuple[bytes, list[Input]]:
        """Return a task as it travels, and its inputs.

        Raises
        ------
        OSError, ValueError
            A file cannot be read, or has changed.
        LtlpipeError
            The task cannot be written down.
        """
        titles: dict[str, str] = {}
        inputs: dict[str, Input] = {}

        def kept(given: Input, title: str) -> str:
            inputs[given.name], titles[given.name] = given, title
            return given.name

        order = self._orders.order(number, expected)
        system, question = order["task"]["system"], order["task"]["question"]
        if "digest" in system:
            given = Input(system["digest"], system["content"])
            content = kept(given, system["name"])
            order["task"]["system"] = {**system, "content": content}
        else:
            files, options = system["files"], order["options"]
            manner = manner_of(options)
            others = [p for file in files for p in included_files(file, **manner)]
            system["files"] = [kept(self._read(p), p) for p in files]
            if others:
                folders = options.get("include") or ()
                system["beside"] = {
                    place: [kept(self._read(path), path), title]
                    for path in others
                    for place, title in [_beside(path, files[0], folders)]
                }
        if "path" in question:
            path = question["path"]
            question["path"] = kept(self._read(path), path)
        parcel = {
            "version": __version__,
            "number": number,
            "order": order,
            "titles": titles,
        }
        return packed(parcel), list(inputs.values())

    def _read(self, path: str) -> Input:
        """Return a file as it was when this run came upon it."""

        def read() -> tuple[Input, int]:
            with open_regular(path) as stream:
                content = stream.read()
            digest = hashlib.sha256(content).hexdigest()
            return Input(f"{digest}/{os.path.basename(path)}", content), len(content)  # noqa: PTH119

        found: Input = self._files.get(path, read)
        return found


def answer_there(data: bytes, topic: str, *inputs: Input) -> bytes | None:
    """Answer a task with some inputs; called through the scheduler.

    `data` is the parcel, packed: `version` of ltlpipe, the `number` of the task, the
    `order` for the worker process in which names of inputs stand for files and
    networks, and `titles`, the user's names for them.  `topic` receives the progress of
    the search.  What is returned is the answer, packed; None without a subscriber.
    """
    from distributed import get_worker

    parcel = unpacked(data)
    if parcel["version"] != __version__:
        raise UnsupportedError(
            f"a Dask worker has ltlpipe {__version__}, and the driver "
            f"{parcel['version']}: install the same everywhere"
        )
    host = get_worker()
    key = host.get_current_task()
    folder = Path(host.local_directory) / "ltlpipe"
    order, share = parcel["order"], _share(host)
    if order["options"].get("memory") is None:
        order["options"]["memory"] = share
    if n_bytes := shared_bytes(order["options"]):
        shared = _shared_folder(host, topic)
        shared.mkdir(mode=0o700, parents=True, exist_ok=True)
        order["shared"] = [str(shared), n_bytes]
    titles = _unpack(order, folder, {i.name: i for i in inputs}, parcel["titles"])
    job = TaskJob(parcel["number"], order, share)
    told = time.monotonic()
    try:
        while not _is_unwanted(host, key):
            for _, answer in advanced([job], LOOK_SECONDS):
                return packed(_renamed(answer, titles))
            if time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                host.log_event(topic, tuple(job.activity()))
        return None
    finally:
        job.close()


def forget_run(topic: str) -> None:
    """Remove the shared results of a run; called on each Dask worker."""
    from distributed import get_worker

    shutil.rmtree(_shared_folder(get_worker(), topic), ignore_errors=True)


def _shared_folder(host: Any, topic: str) -> Path:
    """Return the folder in which the threads of a Dask worker share results of a run.

    Dask removes the folder of a worker that ends.
    """
    return Path(host.local_directory) / "ltlpipe" / topic


def _unpack(
    order: dict[str, Any],
    folder: Path,
    inputs: Mapping[str, Input],
    titles: Mapping[str, str],
) -> dict[str, str]:
    """Replace names in an order by files and networks; return titles by paths."""
    system, question = order["task"]["system"], order["task"]["question"]
    known: dict[str, str] = {}

    def placed(name: str, place: Path, title: str) -> str:
        known[str(place)] = title
        return _placed(place, inputs[name])

    if "digest" in system:
        system["content"] = inputs[system["content"]].content
    beside = system.pop("beside", {})
    if beside:  # a folder of its own
        told = json.dumps([system["files"], sorted(beside.items())])
        root = folder / hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()
        for place, (name, title) in beside.items():
            placed(name, root / place, title)
            shown = os.path.relpath(root / place, root / _MODEL)
            known[os.path.join(root / _MODEL, shown)] = title  # noqa: PTH118
        n_folders = len(order["options"].get("include") or ())
        order["options"]["include"] = [str(root / str(k)) for k in range(n_folders)]
        folder = root / _MODEL
    if "files" in system:
        system["files"] = [
            placed(name, folder / (Path(name).name if beside else name), titles[name])
            for name in system["files"]
        ]
    if "path" in question:
        name = question["path"]
        question["path"] = placed(name, folder / name, titles[name])
    return known


def _beside(path: str, model: str, folders: Sequence[str]) -> tuple[str, str]:
    """Return where a file that a model includes goes at a worker, and its title."""
    own = os.path.abspath(os.path.dirname(model))  # noqa: PTH100, PTH120
    shown = os.path.relpath(path, own)
    title = os.path.join(os.path.dirname(model), shown)  # noqa: PTH118, PTH120
    places = {_MODEL: own} | {str(k): os.path.abspath(f) for k, f in enumerate(folders)}  # noqa: PTH100
    for name, folder in places.items():
        if path.startswith(folder.rstrip(os.sep) + os.sep):
            return f"{name}/{os.path.relpath(path, folder)}", title
    raise UnsupportedError(
        f"--engine=dask: {path} is in no folder that {model} may include files from"
    )


def _placed(path: Path, given: Input) -> str:
    """Return the path of a file, which is written if missing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, given.content)
    return str(path)


def _share(host: Any) -> float | None:
    """Return the MiB that one thread of this worker may use."""
    limit = getattr(getattr(host, "memory_manager", None), "memory_limit", None)
    known = [default_memory_mib(), limit / MIB if limit else None]
    sizes = [size for size in known if size is not None]
    return min(sizes) / host.state.nthreads if sizes else None


def _is_unwanted(host: Any, key: str) -> bool:
    """Return whether the driver has gone or cancelled the task.

    Dask does not end threads, but the worker knows that the task was cancelled.
    """
    known = host.state.tasks.get(key)
    return known is None or known.state in ("cancelled", "released", "forgotten")


def _renamed(value: Any, titles: Mapping[str, str]) -> Any:
    """Return a part of an answer with the names of files that the user knows."""
    if isinstance(value, str):
        for place, title in titles.items():
            value = value.replace(place, title)
    elif isinstance(value, (list, tuple)):
        return [_renamed(item, titles) for item in value]
    elif isinstance(value, dict):
        return {key: _renamed(item, titles) for key, item in value.items()}
    return value

"""Worker processes for what cannot yield: Spot, third-party parsers, Numba's compiler.

`call` is a job.  It leases a worker process, sends it the name of an operation and its
arguments (`ltlpipe.worker`), yields while the worker works, and returns what comes
back.  If the job is closed before, the worker and all that it has started are killed:
whatever runs in a worker can be limited and interrupted.  Workers live on from call to
call, as starting Python and importing Spot takes longer than most translations.  One
worker may be left to finish what is kept for others: machine code of a kernel.

A worker is a new Python, never a copy of this process, which may have threads: started
in isolated mode, so that nothing is imported from the working directory.  It dies with
this process; for Linux, that is with the thread that has started it, so all workers are
started by one thread that lives as long as the process.
"""

from __future__ import annotations

import atexit
import inspect
import os
import queue
import threading
import time
from contextlib import suppress
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ltlpipe.runtime.jobs import MEMORY, Grant, Progress, StoppedError
from ltlpipe.runtime.wire import Message, error_from_dict
from ltlpipe.runtime.worker_process import (
    IDLE_SECONDS,
    MOST_GROWTH,
    Worker,
    WorkerDiedError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Job

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

STARTING = "starting a worker process"
"""The phase before a new worker has begun."""

FREE_GROWTH = 32 << 20
"""Bytes that an operation may take uncounted: what Spot's first translation takes."""

_MOST_IDLE = 4  # workers that are kept for the next calls


class _Workers:
    """The workers that belong to one process, and the thread that starts them."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.idle: list[Worker] = []
        self.left: list[Worker] = []  # busy, but no job waits for them
        self.alive: set[Worker] = set()
        self._wanted: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._spawner: threading.Thread | None = None

    def new(self) -> Worker:
        """Return a worker that is being started."""
        if self._spawner is None:
            self._spawner = threading.Thread(
                target=self._spawn, name="ltlpipe-spawner", daemon=True
            )
            self._spawner.start()
        worker = Worker()
        self.alive.add(worker)
        self._wanted.put(worker)
        return worker

    def _spawn(self) -> None:
        while True:
            self._wanted.get().start()

    def lease(self, request: Message) -> Worker:
        """Return a worker that has been given a request."""
        self._take_back()
        try:
            worker = self.idle.pop()
        except IndexError:
            worker = self.new()
        try:
            worker.wait()
            worker.send(request)
        except BaseException:
            self.end(worker)
            raise
        return worker

    def give_back(self, worker: Worker, most_growth: float) -> None:
        """Keep a worker for the next call, unless it or their number has grown."""
        if worker.has_grown(most_growth) or len(self.idle) >= _MOST_IDLE:
            self.end(worker)
        else:
            self.idle.append(worker)

    def leave(self, worker: Worker) -> None:
        """Let a worker finish an abandoned request, if it is the only one."""
        self._take_back()
        if self.left:
            self.end(worker)
        else:
            worker.resume()
            self.left.append(worker)

    def _take_back(self) -> None:
        """Keep the workers that have finished an abandoned request."""
        for worker in list(self.left):
            if not taken(worker, self.left):
                continue
            messages, ended = worker.receive()
            if ended:
                self.end(worker)
            elif any(is_last(message) for message in messages):
                self.give_back(worker, MOST_GROWTH)
            else:
                self.left.append(worker)

    def end(self, worker: Worker) -> None:
        """End a worker."""
        self.alive.discard(worker)
        worker.close()


def taken(worker: Worker, workers: list[Worker]) -> bool:
    """Take a worker out of a list, unless another thread has done so meanwhile."""
    try:
        workers.remove(worker)
    except ValueError:
        return False
    return True


_workers = _Workers()


def _of_this_process() -> _Workers:
    """Return the workers of this process; a copy of a process has none."""
    global _workers
    if _workers.owner != os.getpid():
        theirs, _workers = _workers, _Workers()
        for worker in theirs.alive:
            worker.close()  # the copies of its sockets
    return _workers


def is_last(message: dict[str, Any]) -> bool:
    """Whether a message is the last one of an answer."""
    return "begun" not in message and "part" not in message


def call(
    operation: str,
    /,
    *,
    phase: str = "",
    subject: str | None = "Spot",
    parts: list[Any] | None = None,
    leaves: bool = False,
    leased: Callable[[Worker], None] | None = None,
    most_growth: float = MOST_GROWTH,
    **arguments: Any,
) -> Job[Any]:
    """Have a worker process do something.

    A unit of work is a microsecond of the worker's CPU time; starting the worker and
    importing what it needs is not counted, so that it makes no difference whether there
    was one already.  Memory is counted in the same way.

    Parameters
    ----------
    operation, **arguments
        A key of `ltlpipe.worker.OPERATIONS`, or what would be its value; and what
        `ltlpipe.runtime.wire` can send.
    phase : str
        What the job says that it does.
    subject : str, optional
        What has crashed if the worker does; None for callers who look at that
        themselves.
    parts : list, optional
        What the operation yields is appended as it comes: it is there even if the job
        is stopped.
    leaves : bool
        Whether the operation may go on when the job is closed, because its work is
        kept for others.  One worker at most goes on, and not beyond this process.
    leased : callable, optional
        Is given the worker that has got the request; another one after an idle worker
        was found dead.
    most_growth : float
        Bytes by which a worker may grow from its first answer on before it is replaced.

    Returns
    -------
    object
        What the operation returns, as it has come through the wire.

    Raises
    ------
    StoppedError
        The worker holds more memory than granted, or the system has killed it.
    UnsupportedError
        The worker crashed.
    WorkerDiedError
        It ended while it was at work, if no subject is given.
    LtlpipeError, RuntimeError
        What the operation has raised; see `ltlpipe.runtime.wire.error_from_dict`.
    """
    request = Message(
        {"operation": operation, "arguments": arguments, "folder": _folder()}
    )
    workers = _of_this_process()
    reply: dict[str, Any] | None = None
    while reply is None:  # it may have died while idle
        worker = workers.lease(request)
        if leased is not None:
            leased(worker)
        is_closed = False
        try:
            reply = yield from _reply(worker, phase, parts)
        except WorkerDiedError as died:
            if subject is None:
                raise
            raise died.translated(subject) from None
        except GeneratorExit:
            is_closed = True
            raise
        finally:
            if reply is not None:
                workers.give_back(worker, most_growth)
            elif is_closed and leaves:
                workers.leave(worker)
            else:
                workers.end(worker)
    if "error" in reply:
        raise error_from_dict(reply["error"])
    return reply["result"]


def _folder() -> str | None:
    """Return the folder in which relative paths begin; None if it has gone."""
    with suppress(OSError):
        return os.getcwd()  # noqa: PTH109
    return None


_codecs: dict[str, tuple[Callable[[Any], Any], ...]] = {}
"""For each kind: whether a value is one; how it is encoded, and decoded."""


def can_send(
    kind: str,
    is_one: Callable[[Any], bool],
    encode: Callable[[Any], Any],
    decode: Callable[[Any], Any],
) -> None:
    """Have remote functions take and return objects of a kind.

    For `ltlpipe.runtime.wire` sends none.
    """
    _codecs[f"a {kind}"] = is_one, encode, decode


def _encoded(value: Any) -> Any:
    for kind, (is_one, encode, _) in _codecs.items():
        if is_one(value):
            return {kind: encode(value)}
    if isinstance(value, (set, frozenset, range)):
        return sorted(value)
    return list(map(_encoded, value)) if isinstance(value, (list, tuple)) else value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, told),) = value.items()
        return _codecs[kind][2](told) if kind in _codecs else value
    return value


class Remote(Generic[Given, Answer]):
    """A function that a worker process executes; `here` does it in this process."""

    def __init__(self, here: Callable[Given, Answer], phase: str) -> None:
        self.here, self._phase = here, phase
        update_wrapper(self, here)

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Job[Answer]:
        """Have a worker process call it; see `call`."""
        given = inspect.signature(self.here).bind(*args, **kwargs).arguments
        told = {name: _encoded(value) for name, value in given.items()}
        operation = f"{self.here.__module__}:{self.here.__qualname__}.answer"
        return _decoded((yield from call(operation, phase=self._phase, **told)))  # type: ignore[no-any-return]

    def answer(self, **told: Any) -> Any:
        """Do what a worker is asked for."""
        here: Any = self.here
        return _encoded(here(**{name: _decoded(value) for name, value in told.items()}))


def remote(
    phase: str,
) -> Callable[[Callable[Given, Answer]], Remote[Given, Answer]]:
    """Make a function a job that a worker process does, in a phase.

    It takes and returns what `ltlpipe.runtime.wire` can send, and what `can_send` has
    been called for; sets arrive as sorted lists.
    """
    return lambda here: Remote(here, phase)


def _reply(
    worker: Worker, phase: str, parts: list[Any] | None
) -> Job[dict[str, Any] | None]:
    """Wait for the last message of an answer, and return it.

    None if the worker, which has answered others, has not even begun.
    """
    usage: dict[str, Any] | None = None  # when the operation began, or was looked at
    spent, since = 0.0, time.monotonic()  # CPU time while it starts
    reply: dict[str, Any] | None = None
    while True:
        worker.resume()
        work, growth = 0.0, 0
        if usage is not None:
            used = worker.cpu_seconds
            work = max(used - worker.told_seconds, 0.0) * 1e6
            worker.told_seconds = used
            growth = max(worker.resident_bytes - usage["bytes"] - FREE_GROWTH, 0)
        # At the end the last work is accounted for, and nothing is waited for.
        readable = worker if reply is None else at_end()
        starting = usage is None and not worker.has_answered
        if starting and worker.cpu_seconds != spent:
            spent, since = worker.cpu_seconds, time.monotonic()
        grant: Grant = yield Progress(
            STARTING if starting else phase,
            work,
            growth,
            waits=(readable,),
            loading=starting and time.monotonic() - since < IDLE_SECONDS,
        )
        if growth > grant.memory_bytes:
            raise StoppedError(MEMORY)
        if reply is not None:
            return reply
        messages, ended = worker.receive()
        for message in messages:
            if "begun" in message:
                usage = message["begun"]
                worker.told_seconds = usage["cpu"]
            elif is_last(message):
                reply = message
            elif parts is not None:
                parts.append(message["part"])
        if ended and reply is None:
            if usage is None and worker.has_answered:
                return None
            raise worker.death()


@cache
def at_end() -> int:
    """Return a descriptor that is always readable, as there is nothing to read."""
    reader, writer = os.pipe()
    os.close(writer)
    return reader


def prepare(*modules: str) -> None:
    """Start a worker ahead of time, unless one is idle, without waiting for it.

    It imports these modules before it is asked for anything.
    """
    workers = _of_this_process()
    if not workers.idle:
        worker = workers.new()
        worker.send(Message({"import": list(modules)}))
        workers.idle.append(worker)


def close_idle(most_growth: float | None = None) -> None:
    """End workers with abandoned requests, and idle ones that have grown by more."""
    workers = _of_this_process()
    for worker in list(workers.left) if most_growth is None else ():
        if taken(worker, workers.left):
            workers.end(worker)
    for worker in list(workers.idle):
        if most_growth is not None and not (
            worker.has_answered and worker.has_grown(most_growth)
        ):
            continue
        if taken(worker, workers.idle):
            workers.end(worker)


atexit.register(close_idle)

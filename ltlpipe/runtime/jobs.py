"""Jobs: work that yields, and the one loop that advances it.

Whatever takes time is a generator.  It yields a `Progress` after at most 50 ms of work
(loading machine code excepted), receives a `Grant`, and returns its result; jobs are
composed with ``yield from``.  `run` advances a job.  It is the only place that looks at
the clock, at memory and at Ctrl-C: a job that has to stop is closed, and cleans up in
``finally``.  So no function below the loop takes limits, and every job can be
interrupted, limited, reported on and set aside for another one.

Work is counted in units of about a microsecond, by what is done (expansions, merges,
CPU time of a worker process) and not by the clock: turns that are counted in units are
the same on an idle and on a busy machine.

Ctrl-C: a flag while a job runs, an exception elsewhere.
"""

from __future__ import annotations

import math
import selectors
import signal
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.loading import (
    ALONE,
    busy,
    is_loaded,
    spent,
    working_time,
)
from ltlpipe.runtime.memory import is_out_of_memory
from ltlpipe.runtime.progress_bar import observing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass
class Interrupt:
    """Whether Ctrl-C has been pressed; see `interruptible`."""

    pressed: bool = False


_unheeded = Interrupt()
"""A Ctrl-C between jobs, whose exception may be lost (in an import, in a callback)."""


def heed_ctrl_c() -> None:
    """Let each loop that begins after Ctrl-C end at once, until `ended_by_ctrl_c`.

    SIGTERM, which batch systems send, does what Ctrl-C does.
    """

    def note(_signal: int, _frame: object) -> None:
        _unheeded.pressed = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def ignore_ctrl_c() -> None:
    """Ignore Ctrl-C from now on: the process is about to end."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the block, and nothing after it."""
    with suppress(KeyboardInterrupt):
        yield
    _unheeded.pressed = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Turn Ctrl-C into a flag while the block runs; a second one raises.

    The flag is up from the start if a Ctrl-C has come between jobs (`heed_ctrl_c`).
    Outside the main thread signals cannot be caught, and it does not change.
    """
    interrupt = Interrupt(_unheeded.pressed)
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    previous = signal.getsignal(signal.SIGINT)
    if previous is None:  # not from Python, which cannot install it again
        previous = signal.default_int_handler

    def note(_signal: int, _frame: object) -> None:
        interrupt.pressed = True
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)


Result = TypeVar("Result")

MIB = 1 << 20

TIMEOUT, MEMORY, INTERRUPTED = "timeout", "memory", "interrupted"
CPU_TIME, MAX_STATES = "cpu-time", "max-states"
"""Reasons why a job is stopped."""

LOOK_SECONDS = 0.05
"""How long the loop waits, at most, before it looks at the limits again."""


class StoppedError(Exception):
    """Work was ended before it had a result.

    The reason is "timeout", "memory", "max-states", "cpu-time" or "interrupted".
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TooMuchWorkError(Exception):
    """A job has not ended within the work that `bounded` allows it."""


class Progress(NamedTuple):
    """Progress of a job, reported between two pieces of work.

    Parameters
    ----------
    phase : str
        For people: "translating", "searching".
    work : float
        Units since the job last yielded, about a microsecond each.
    memory_bytes : float
        Memory that the job holds, with what it will take next.
    states, depth : int, optional
        States entered by a search, and the length of its path.
    waits : tuple
        Connections or descriptors: there is nothing to do before one is readable.
    compiling, loading : bool
        Whether the job waits for kernels alone, or for modules: the time is not the
        question's.
    gives_way : bool
        Whether it does not expect to end within its turn, and leaves the rest of it to
        others.
    """

    phase: str = ""
    work: float = 0
    memory_bytes: float = 0
    states: int | None = None
    depth: int | None = None
    waits: tuple[Any, ...] = ()
    compiling: bool = False
    loading: bool = False
    gives_way: bool = False


class Grant(NamedTuple):
    """What a job may do before it yields again.

    A job that can stop anywhere stops at the end of its turn.
    """

    memory_bytes: float = math.inf  # that it may hold in all
    work: float = math.inf  # units until the end of its turn


Job: TypeAlias = Generator[Progress, Grant, Result]


@dataclass(frozen=True)
class Limits:
    """What a question may take; None means no limit.

    Limits that are negative or not a number are refused.
    """

    timeout: float | None = None  # seconds, without those of compiling and loading
    memory_mib: float | None = None  # of all that is held
    max_states: int | None = None  # product states that a search may enter
    cpu_time: float | None = None  # seconds of this process and of its workers

    def __post_init__(self) -> None:
        for name in ("timeout", "memory_mib", "cpu_time"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                option = name.removesuffix("_mib").replace("_", "-")
                raise UnsupportedError(f"--{option}={value}: expected 0 or more")
        if self.max_states is not None and self.max_states < 1:
            raise UnsupportedError(
                f"--max-states={self.max_states}: expected 1 or more"
            )

    @property
    def memory_bytes(self) -> float:
        """The memory limit in bytes; infinite if there is none."""
        return math.inf if self.memory_mib is None else self.memory_mib * MIB


@dataclass
class Clock:
    """What a job has taken; `run` keeps it up to date, also when the job is stopped.

    All seconds but those of CPU time are by the clock on the wall.
    """

    seconds: float = 0.0  # without compiling and loading
    compile_seconds: float = 0.0  # in which the job only waited for kernels
    load_seconds: float = 0.0  # in which modules and machine code were loaded
    cpu_seconds: float = 0.0  # of this process and of its workers
    peak_bytes: float = 0.0  # the most that the job has said to hold
    work: float = 0.0  # units that the job has said to have done
    phase: str = ""  # the last one
    load_cpu_seconds: float = 0.0  # of this process, while it loaded
    _cpu: float = field(default_factory=time.process_time, repr=False)
    _worker_cpu: float = field(default=0.0, repr=False)
    _spent: tuple[float, float] = field(default_factory=spent, repr=False)

    def advance(self, began: float, last: Progress) -> float:
        """Count the time since a moment; return the present one.

        `last` is what the job had said by then: it may be waiting for kernels.
        """
        now = time.monotonic()
        passed = now - began
        before, self._spent = self._spent, spent()
        used, self._cpu = time.process_time() - self._cpu, time.process_time()
        loaded, compiled = (b - a for a, b in zip(before, self._spent, strict=True))
        if last.compiling:
            loaded, compiled = 0.0, passed
        elif last.loading:
            loaded, compiled = passed, 0.0
        self.load_seconds += loaded
        self.load_cpu_seconds += min(loaded, used)
        self.compile_seconds += compiled
        self.seconds += max(passed - loaded - compiled, 0.0)
        return now


def wait(objects: Iterable[Any], seconds: float | None) -> list[Any]:
    """Return those of some connections and descriptors that are readable.

    So long it waits for one of them, at most; None is without a limit.
    """
    with selectors.PollSelector() as selector:
        for each in objects:
            selector.register(each, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(seconds)]


def imported(*names: str) -> Job[None]:
    """Import modules of others in a thread, and look for Ctrl-C meanwhile.

    Numba alone takes half a second.  A job that is closed leaves the thread to itself.
    """
    if all(map(is_loaded, names)):
        return
    reading, writing = socket.socketpair()

    def work() -> None:
        # What goes wrong is reported where the module is needed.
        with writing, suppress(Exception), busy(), ALONE:
            for name in names:
                import_module(name)

    with reading:
        threading.Thread(target=work, daemon=True).start()
        while not wait([reading], 0):
            yield Progress("loading", waits=(reading,), loading=True)


def reserved(phase: str, memory_bytes: float) -> Job[None]:
    """Ask for memory; raise StoppedError if there is not so much."""
    grant = yield Progress(phase, memory_bytes=memory_bytes)
    if memory_bytes > grant.memory_bytes:
        raise StoppedError(MEMORY)


def run(
    job: Job[Result],
    limits: Limits | None = None,
    *,
    clock: Clock | None = None,
    observer: Callable[[Progress], None] | bool | None = None,
) -> Result:
    """Advance a job to its end.

    Parameters
    ----------
    job : Job
        It is closed, whatever happens.
    limits : Limits, optional
        None means no limits; `max_states` is the search's to look at.
    clock : Clock, optional
        Is told what the job takes; seconds that are there already count, too.
    observer : callable or bool, optional
        Is given each `Progress`; or whether a bar is shown, see
        `ltlpipe.runtime.progress_bar`.

    Returns
    -------
    object
        What the job returns.

    Raises
    ------
    StoppedError
        A limit was hit, or Ctrl-C was pressed; or what the job raises.
    """
    limits, clock = limits or Limits(), clock or Clock()
    grant = Grant(limits.memory_bytes)
    cpu = clock.cpu_seconds - time.process_time()
    began = time.monotonic()
    clock._spent, clock._cpu = spent(), time.process_time()
    progress = Progress()
    with observing(observer) as observe, interruptible() as interrupt:
        try:
            with busy():
                said = next(job)
            while True:
                began = clock.advance(began, progress)
                progress = said
                clock.phase = progress.phase
                clock.work += progress.work
                clock.peak_bytes = max(clock.peak_bytes, progress.memory_bytes)
                if progress.waits:
                    clock._worker_cpu += progress.work / 1e6
                clock.cpu_seconds = cpu + time.process_time() + clock._worker_cpu
                if observe is not None:
                    observe(progress)
                if interrupt.pressed:
                    raise StoppedError(INTERRUPTED)
                if not (progress.compiling or progress.loading):
                    _check(clock, limits)
                if progress.memory_bytes > grant.memory_bytes:
                    raise StoppedError(MEMORY)
                if progress.waits:
                    wait(progress.waits, _patience(clock, limits))
                with busy():
                    said = job.send(grant)
        except StopIteration as end:
            result: Result = end.value
            return result
        except Exception as error:
            if is_out_of_memory(error):
                raise StoppedError(MEMORY) from None
            raise
        finally:
            clock.advance(began, progress)
            clock.cpu_seconds = cpu + time.process_time() + clock._worker_cpu
            job.close()


def complete(job: Job[Result], timeout: float | None = None) -> Result:
    """Advance a job to its end, for functions that have no other limits.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C was pressed.
    MemoryError
        There is not enough memory; or what the job raises.
    UnsupportedError
        The time was over.
    """
    try:
        return run(job, Limits(timeout=timeout))
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        if stopped.reason == TIMEOUT:
            raise UnsupportedError(
                f"not decided within --timeout={timeout:g}"
            ) from None
        raise MemoryError from None


def _check(clock: Clock, limits: Limits) -> None:
    """Raise StoppedError if the clock is beyond a limit."""
    if limits.timeout is not None and clock.seconds >= limits.timeout:
        raise StoppedError(TIMEOUT)
    used = clock.cpu_seconds - clock.load_cpu_seconds
    if limits.cpu_time is not None and used >= limits.cpu_time:
        raise StoppedError(CPU_TIME)


def _patience(clock: Clock, limits: Limits) -> float:
    """Return for how many seconds the loop may wait."""
    if limits.timeout is None:
        return LOOK_SECONDS
    return min(LOOK_SECONDS, max(limits.timeout - clock.seconds, 0.0))


class Shared(Generic[Result]):
    """A job that several others wait for; its result, or its error, is kept.

    Each waiter advances it.  Closing one waiter does not close it.
    """

    def __init__(self, make: Callable[[], Job[Result]]) -> None:
        self._make = make
        self._job: Job[Result] | None = None
        self._result: Result
        self._error: Exception | None = None
        self.ended = False

    def wait(self) -> Job[Result]:
        """Return a job that ends when the shared one has ended."""
        grant: Grant | None = None
        if self._job is None and not self.ended:
            self._job = self._make()
        elif not self.ended:  # another waiter has begun it
            grant = yield Progress()
        while not self.ended:
            assert self._job is not None
            try:
                progress = next(self._job) if grant is None else self._job.send(grant)
            except StopIteration as end:
                self._result, self.ended = end.value, True
            except Exception as error:
                self._error, self.ended = error, True
            else:
                grant = yield progress
        self._job = None
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def result(self) -> Result | None:
        """The result; None if there is none yet."""
        return self._result if self.ended and self._error is None else None

    def close(self) -> None:
        """End the job if it is running; it can have no waiters then."""
        if self._job is not None:
            self._job.close()
            self._job = None


def side_by_side(jobs: Iterable[Job[Result]], most: int) -> Iterator[Result]:
    """Advance jobs, so many at once, and yield their results in the order of jobs.

    What a job raises ends them all.
    """
    todo, turn = enumerate(jobs), 0
    active: dict[int, tuple[Job[Result], tuple[Any, ...] | None]] = {}
    results: dict[int, Result] = {}
    try:
        while True:
            for number, job in islice(todo, most - len(active)):
                active[number] = job, None  # it has not begun
            if not active:
                return
            begun = [waits for _, waits in active.values() if waits is not None]
            if len(begun) == len(active):
                wait(list({*chain.from_iterable(begun)}), LOOK_SECONDS)
            for number, (job, waits) in list(active.items()):
                try:
                    said = next(job) if waits is None else job.send(Grant())
                    active[number] = job, said.waits
                except StopIteration as end:
                    del active[number]
                    results[number] = end.value
            while turn in results:
                yield results.pop(turn)
                turn += 1
    finally:
        for job, _ in active.values():
            job.close()


def guided(job: Job[Result], turn: Callable[[Progress], Job[Grant]]) -> Job[Result]:
    """Advance a job whose progress, and what it is granted, pass through `turn`.

    `turn` is a job itself: it is given each progress, yields what is reported in its
    place, and returns the grant.  What it raises ends the job.
    """
    try:
        progress = next(job)
        while True:
            grant = yield from turn(progress)
            progress = job.send(grant)
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        job.close()


def bounded(job: Job[Result], work: float, waiting: float | None = None) -> Job[Result]:
    """Advance a job as long as it has done less than so many units of work.

    Parameters
    ----------
    job : generator
        The job.
    work : float
        So many, of workers, too, unless `waiting` says how many these may do.

    Raises
    ------
    TooMuchWorkError
        It has not ended by then; it is closed.
    """
    left, left_waiting = work, waiting

    def turn(progress: Progress) -> Job[Grant]:
        nonlocal left, left_waiting
        if left_waiting is not None and progress.waits:
            left_waiting -= progress.work
        else:
            left -= progress.work
        if left <= 0 or (left_waiting is not None and left_waiting <= 0):
            raise TooMuchWorkError
        grant = yield progress
        return grant._replace(work=min(grant.work, left))

    return guided(job, turn)


def timed(job: Job[Result], spend: Callable[[float], None]) -> Job[Result]:
    """Tell how many seconds a job has been at work, not counting when it is set aside.

    `spend` is given the seconds since the job was last asked to go on.
    """
    grant: Grant | None = None
    try:
        while True:
            began = working_time()
            try:
                progress = next(job) if grant is None else job.send(grant)
            finally:
                spend(working_time() - began)
            began = time.monotonic()
            grant = yield progress
            # Its worker has been at work meanwhile; but compiling is charged to no job.
            if progress.waits and not (progress.compiling or progress.loading):
                spend(time.monotonic() - began)
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        job.close()

"""What runs in a worker: a process that answers one task after the other.

As a rule it is a copy of the process that started it, so tasks are inherited and only
their numbers are sent.  It leads a process group of its own, so that Ctrl-C at a
terminal reaches the driver alone and whatever a task has started can be ended with it.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch import answering
from ltlpipe.batch.usage import process
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.workers import end_with_parent
from ltlpipe.systems.lts import LTS, Network
from ltlpipe.verdict.checking import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

    from ltlpipe.batch.answering import Answer, Expected
    from ltlpipe.batch.tasks import Task

_TELL_SECONDS = 0.2  # how often progress is sent

_WARM_FORMULAS = ("G a", "GFa -> GFb")  # a weak automaton, and one that is not
_WARM_SYSTEM = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])


class Order(NamedTuple):
    """What a worker is told to do."""

    number: int  # of the task
    expected: Expected | None
    task: Task | None = None  # unless it was inherited


class Began(NamedTuple):
    """Everything has been read; limits count from here."""

    resident_bytes: int


class Compiling(NamedTuple):
    """A kernel is being compiled, or that has ended."""

    going_on: bool


class Progressed(NamedTuple):
    """How far the search is."""

    states: int
    depth: int


class Done(NamedTuple):
    """The end of a task."""

    answer: Answer
    warned: Sequence[tuple[str, type[Warning]]]


def work(
    connection: Connection,
    driver: int,
    tasks: Sequence[Task],
    options: dict[str, Any],
    systems: answering.Systems | None = None,
) -> None:
    """Answer tasks until nobody asks any more, and end this process.

    Parameters
    ----------
    connection : Connection
        Where orders come from.
    driver : int
        The process that gives them; the worker does not outlive it.
    tasks : sequence of Task
        What the numbers of orders stand for.
    options : dict
        Those of the run.
    systems : Systems, optional
        Where systems are kept.
    """
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides
        end_with_parent()
        if os.getppid() == driver:
            _Worker(connection, tasks, options, systems).serve()
    except (EOFError, OSError):  # the driver has gone
        pass
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(0)  # nothing of the driver's is closed or cleaned up here


class _Worker:
    def __init__(
        self,
        connection: Connection,
        tasks: Sequence[Task],
        options: dict[str, Any],
        systems: answering.Systems | None,
    ) -> None:
        self._connection, self._tasks, self._options = connection, tasks, options
        self._systems = systems or answering.Systems()
        self._warm: set[str] = set()
        self._told = 0.0
        _watch_compiler(lambda state: connection.send(Compiling(state)))

    def serve(self) -> None:
        while True:
            order: Order = self._connection.recv()
            task = order.task or self._tasks[order.number]
            with warnings.catch_warnings(record=True) as warned:
                self._told = time.monotonic()
                found = answering.answer(
                    task,
                    self._systems,
                    self._options,
                    expected=order.expected,
                    began=partial(self._begin, task),
                    progress=self._progress,
                )
            said = [(str(w.message), w.category) for w in warned]
            self._connection.send_bytes(pickled(found, said))

    def _begin(self, task: Task) -> None:
        self._warm_up({**self._options, **task.options})
        known = process(os.getpid())
        self._connection.send(Began(0 if known is None else known.resident_bytes))

    def _warm_up(self, options: dict[str, Any]) -> None:
        """Load the kernels that such a task is likely to need.

        Otherwise the first task of each worker would spend its time on that.
        """
        if options.get("timeout") is None and options.get("cpu_time") is None:
            return
        names = ("emptiness", "acceptance", "reduce", "deadlock")
        chosen = {name: options[name] for name in names if name in options}
        if repr(chosen) in self._warm:
            return
        self._warm.add(repr(chosen))
        for formula in _WARM_FORMULAS:
            with suppress(Exception):  # the task itself will say it
                check(_WARM_SYSTEM, formula, **chosen)

    def _progress(self, states: int, depth: int) -> None:
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            self._connection.send(Progressed(states, depth))


def _watch_compiler(tell: Callable[[bool], None]) -> None:
    """Tell when kernels begin and end to be compiled (not when they are loaded)."""
    from numba.core import event

    class Listener(event.Listener):
        depth = 0

        def on_start(self, _event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                tell(True)

        def on_end(self, _event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                tell(False)

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def pickled(answer: Answer, warned: Sequence[tuple[str, type[Warning]]]) -> bytes:
    """Return the end of a task as bytes: without the lasso, which the row has."""
    verdict, error = answer.verdict, answer.error
    if verdict is not None:
        verdict = replace(verdict, lasso=None)
    if error is not None and not isinstance(error, LtlpipeError):
        # The traceback is what a bug is found by.
        error = ExceptionWithTraceback(error, error.__traceback__)
    try:
        data = pickle.dumps(Done(answer._replace(verdict=verdict, error=error), warned))
        if error is not None:
            pickle.loads(data)  # an exception may go in and not come out
        return data
    except Exception:
        plain = RuntimeError(repr(answer.error))
        return pickle.dumps(Done(answer._replace(verdict=verdict, error=plain), []))

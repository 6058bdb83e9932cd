"""Calls that must end in time although they cannot be stopped from within."""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import threading
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

LOOK_SECONDS = 0.05
"""How often the caller's wish to stop is looked at."""

_CHUNK = 1 << 16
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class Keeper(Protocol):
    """Whoever answers calls in a process that lives on; see `ltlpipe.automata.kept`."""

    cpu_seconds: float

    def call(
        self, data: bytes, deadline: float | None, stopped: Callable[[], bool]
    ) -> tuple[bool, Any] | None:
        """Return whether a pickled function returns, and what, or what it raises.

        None if it cannot be had from what was pickled.
        """

    def end(self) -> int | None:
        """End the process."""


KEPT: dict[tuple[int, int], Keeper] = {}
"""The one that bounded calls go to, by `caller`: nobody shares it."""


def caller() -> tuple[int, int]:
    """Return the process and the thread that asks; a copy of a process is another."""
    return os.getpid(), threading.get_ident()


def call_bounded(
    function: Callable[[], Result],
    *,
    deadline: float | None,
    stopped: Callable[[], bool] = lambda: False,
) -> Result:
    """Call `function` in a copy of this process and return what it returns.

    Parameters
    ----------
    function : callable
        Its result is pickled.  What it changes is lost with the copy.  Where a copy is
        kept for many calls, it is pickled, too, unless that cannot be.
    deadline : float, optional
        Value of `time.monotonic` at which to give up.
    stopped : callable
        Asked now and then; True ends the call.

    Raises
    ------
    StoppedError
        The deadline passed, `stopped` said so, or the copy was killed.
    UnsupportedError
        The copy crashed.
    Exception
        Whatever `function` raised.
    """
    if not hasattr(os, "fork"):
        return function()
    keeper = KEPT.get(caller())
    if keeper is not None and (data := _pickled(function)) is not None:
        found = keeper.call(data, deadline, stopped)
        if found is not None:
            return _value(*found)  # type: ignore[no-any-return]
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Threads of other libraries do not exist in the copy, which runs Spot
        # and pickle alone and needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    try:
        data = _collect(reader, deadline, stopped)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        status = wait_for(child)
    if not data:
        raise died(status)
    return _value(*pickle.loads(data))  # type: ignore[no-any-return]


def _pickled(function: Callable[[], Any]) -> bytes | None:
    """Return a function as bytes; None if it has what cannot travel."""
    try:
        return pickle.dumps(function)
    except Exception:  # whatever the parts of a lambda, or Spot's automata, raise
        return None


def _value(succeeded: bool, value: Any) -> Any:
    """Return what a call returned, or raise what it raised."""
    if succeeded:
        return value
    raise value


def died(status: int | None) -> Exception:
    """Return what is raised when a copy has died with an exit status."""
    if status not in (None, -signal.SIGKILL):
        return UnsupportedError(f"Spot crashed on this (exit status {status})")
    return StoppedError("memory")


def answer_of(function: Callable[[], Any]) -> bytes:
    """Return, pickled, whether a function returns, and what it returns or raises."""
    try:
        return pickle.dumps((True, function()))
    except MemoryError:
        return pickle.dumps((False, StoppedError("memory")))
    except Exception as error:
        return pickle.dumps((False, error))


def _answer(function: Callable[[], Any], writer: int) -> None:
    """Send what `function` returns or raises, and end this process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        end_with_parent()
        answer = answer_of(function)
        with os.fdopen(writer, "wb") as stream:
            stream.write(answer)
    finally:
        os._exit(0)


def end_with_parent() -> None:
    """Ask the system to kill this process when the one that waits has died."""
    with suppress(AttributeError, OSError):  # other systems than Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for(child: int) -> int | None:
    """Return the exit status of a process; None if nobody kept it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:  # whoever started us ignores SIGCHLD
        return None


def time_left(deadline: float | None, stopped: Callable[[], bool]) -> float:
    """Return the seconds until a deadline.

    Raises
    ------
    StoppedError
        It has passed, or `stopped` says so.
    """
    if stopped():
        raise StoppedError("interrupted")
    left = float("inf") if deadline is None else deadline - time.monotonic()
    if left <= 0:
        raise StoppedError("timeout")
    return left


def _collect(reader: int, deadline: float | None, stopped: Callable[[], bool]) -> bytes:
    """Return all that comes through the pipe until its end."""
    chunks: list[bytes] = []
    while True:
        wait = min(time_left(deadline, stopped), LOOK_SECONDS)
        if select.select([reader], [], [], wait)[0]:
            chunk = os.read(reader, _CHUNK)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)

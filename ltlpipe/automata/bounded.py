"""Calls that must end in time although they cannot be stopped from within."""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ltlpipe._errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

_LOOK_SECONDS = 0.05  # how often the caller's wish to stop is looked at
_CHUNK = 1 << 16
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class StoppedError(Exception):
    """A call was ended before it had an answer.

    Parameters
    ----------
    reason : str
        "timeout", "interrupted", or "memory" when the process was killed, as
        the system does when it runs out of memory.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


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
        Its result is pickled.  What it changes is lost with the copy.
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
        status = _wait_for(child)
    if not data:
        if status not in (None, -signal.SIGKILL):
            raise UnsupportedError(f"Spot crashed on this (exit status {status})")
        raise StoppedError("memory")
    succeeded, value = pickle.loads(data)
    if succeeded:
        return value  # type: ignore[no-any-return]
    raise value


def _answer(function: Callable[[], Any], writer: int) -> None:
    """Send what `function` returns or raises, and end this process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        end_with_parent()
        try:
            answer = pickle.dumps((True, function()))
        except MemoryError:
            answer = pickle.dumps((False, StoppedError("memory")))
        except Exception as error:
            answer = pickle.dumps((False, error))
        with os.fdopen(writer, "wb") as stream:
            stream.write(answer)
    finally:
        os._exit(0)


def end_with_parent() -> None:
    """Ask the system to kill this process when the one that waits has died."""
    with suppress(AttributeError, OSError):  # other systems than Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait_for(child: int) -> int | None:
    """Return the exit status of a process; None if nobody kept it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:  # whoever started us ignores SIGCHLD
        return None


def _collect(reader: int, deadline: float | None, stopped: Callable[[], bool]) -> bytes:
    """Return all that comes through the pipe until its end."""
    chunks: list[bytes] = []
    while True:
        if stopped():
            raise StoppedError("interrupted")
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise StoppedError("timeout")
        wait = _LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS)
        if select.select([reader], [], [], wait)[0]:
            chunk = os.read(reader, _CHUNK)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)

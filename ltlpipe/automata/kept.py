"""A copy of this process that is kept for many bounded calls.

`ltlpipe.automata.bounded.call_bounded` copies this process for each call; for a
process that has kernels loaded that takes ten times as long as most translations, and
what the copy imports is lost with it.  Within `kept_copy` one copy answers call after
call.  It is replaced after a call that had to be ended, and when it has grown, as
Spot's tables of BDDs only do.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.bounded import (
    KEPT,
    LOOK_SECONDS,
    answer_of,
    caller,
    died,
    end_with_parent,
    time_left,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

_MOST_GROWTH = 64 << 20  # bytes


class Answer(NamedTuple):
    """What a call has come to."""

    number: int  # of the call
    result: bytes | None  # whether it has returned, and what, or what was raised
    cpu_seconds: float  # of the copy, so far
    last: bool  # whether the copy takes no further call


class Copy:
    """A copy of this process that is made when it is needed."""

    def __init__(self) -> None:
        self._pid: int | None = None
        self._number = 0
        self._connection: Connection
        self.cpu_seconds = 0.0
        """CPU time of a copy that has not been waited for."""

    def call(
        self, data: bytes, deadline: float | None, stopped: Callable[[], bool]
    ) -> tuple[bool, Any] | None:
        """Return whether a pickled function returns, and what, or what it raises.

        None if it cannot be had from what was pickled.

        Raises
        ------
        StoppedError, UnsupportedError
            As for `call_bounded`.
        """
        self._number += 1
        try:
            self._send((self._number, data))
            answer = self._received(deadline, stopped)
        except BaseException:  # what it still answers is nobody's
            self.end()
            raise
        if answer is None:
            status = self.end(crashed=True)
            raise died(status)
        self.cpu_seconds = answer.cpu_seconds
        if answer.last:
            self.end()
        if answer.result is None:
            return None
        found: tuple[bool, Any] = pickle.loads(answer.result)
        return found

    def _send(self, question: tuple[int, bytes]) -> None:
        if self._pid is not None:
            try:
                self._connection.send(question)
                return
            except OSError:  # it died at leisure
                self.end()
        self._begin()
        with suppress(OSError):  # then there is no answer either
            self._connection.send(question)

    def _begin(self) -> None:
        """Make the copy."""
        self._connection, theirs = Pipe()
        parent = os.getpid()
        with warnings.catch_warnings():
            # Threads of other libraries do not exist in the copy, which needs none.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            _serve(theirs, parent)
        theirs.close()

    def _received(
        self, deadline: float | None, stopped: Callable[[], bool]
    ) -> Answer | None:
        """Return the answer to a call; None if the copy has died of it."""
        while True:
            wait = min(time_left(deadline, stopped), LOOK_SECONDS)
            if not self._connection.poll(wait):
                continue
            try:
                answer: Answer = self._connection.recv()
            except (EOFError, OSError):
                return None
            if answer.number != self._number:
                raise RuntimeError("an answer to another question")
            return answer

    def end(self, *, crashed: bool = False) -> int | None:
        """End the copy, if there is one, and return its exit status.

        What has crashed ends by itself, and keeps its status.
        """
        if self._pid is None:
            return None
        pid, self._pid = self._pid, None
        self._connection.close()
        if not crashed:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        status = wait_for(pid)
        self.cpu_seconds = 0.0
        return status


def _serve(connection: Connection, parent: int) -> None:
    """Answer calls until nobody asks any more, and end this process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        end_with_parent()
        _leave_alone(connection.fileno())
        begin = _resident_bytes()
        last = os.getppid() != parent
        while not last:
            number, data = connection.recv()
            result = _called(data)
            last = _resident_bytes() - begin > _MOST_GROWTH
            connection.send(Answer(number, result, time.process_time(), last))
    except (EOFError, OSError):  # the parent has gone
        pass
    finally:
        os._exit(0)


def _leave_alone(own: int) -> None:
    """Close what the parent has open: whoever is at the other end waits for its end."""
    os.closerange(3, own)
    os.closerange(own + 1, os.sysconf("SC_OPEN_MAX"))


def _called(data: bytes) -> bytes | None:
    try:
        function = pickle.loads(data)
    except Exception:  # what goes into a pickle need not come out
        return None
    return answer_of(function)


def _resident_bytes() -> int:
    try:
        fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:  # then it is replaced only when it has to be
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def kept_copy() -> Iterator[None]:
    """Have one copy of this process answer the bounded calls of this block's thread."""
    if not hasattr(os, "fork") or caller() in KEPT:
        yield
        return
    owner = caller()
    KEPT[owner] = Copy()
    try:
        yield
    finally:
        KEPT.pop(owner).end()


def uncounted_cpu_seconds() -> float:
    """Return the CPU time of the caller's copy, which `os.times` does not have yet."""
    copy = KEPT.get(caller())
    return 0.0 if copy is None else copy.cpu_seconds

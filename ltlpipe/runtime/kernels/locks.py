"""Locks of kernels, between processes: waiting for one has an end.

The number of the process that has a lock is in its file.  A process that is suspended
keeps its locks, so whoever waits looks at the CPU time of that process.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from ltlpipe.runtime.code_folder import cache_folder
from ltlpipe.runtime.worker_process import cpu_seconds_of
from ltlpipe.runtime.workers import IDLE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOOK_SECONDS = 0.05
_MOST_NUMBER = 20  # bytes


@contextmanager
def turn(name: str, tell: Callable[[int], None] | None = None) -> Iterator[bool]:
    """Hold a lock in a with statement; False where it cannot be had.

    Either the folder takes no files, or the process that has the lock does nothing.
    `tell` is given the number of the process that is waited for.
    """
    try:
        locks = cache_folder() / "locks"
        locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = locks / sha256(name.encode()).hexdigest()[:24]
        lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        held = _awaited(lock, tell)
        if held:
            with suppress(OSError):  # the disk is full, and nobody is told
                os.ftruncate(lock, 0)
                os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield held
    finally:
        os.close(lock)  # which releases it


def _awaited(lock: int, tell: Callable[[int], None] | None) -> bool:
    """Wait for a lock as long as the process that has it is at work."""
    holder, used, since = 0, 0.0, time.monotonic()
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return True
        written = os.pread(lock, _MOST_NUMBER, 0)
        other = int(written) if written.isdigit() else 0
        if other != holder and tell is not None:
            tell(other)
        spent = cpu_seconds_of(other) if other else 0.0
        if (other, spent) != (holder, used):
            holder, used, since = other, spent, time.monotonic()
        if time.monotonic() - since > IDLE_SECONDS:
            return False
        time.sleep(_LOOK_SECONDS)

"""Processes that tests have started, and what became of them.

A process may end, and a thread with it, between listing and looking: every question
here has an answer for one that is gone.
"""

from __future__ import annotations

import time

import psutil

SOON = 30.0
"""Seconds within which what ends "at once" has ended, on a busy machine, too.

What a test tells it from takes minutes or never ends: a bound that is nearer would
fail when other processes take the cores, and say nothing more.
"""


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    try:
        found = psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []
    return sorted(child.pid for child in found if is_running(child.pid))


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    return status(pid) not in (None, psutil.STATUS_ZOMBIE)


def status(pid: int) -> str | None:
    """Return ``psutil``'s word for the state of a process; None if there is none."""
    try:
        return psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return None


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process in seconds; 0 if there is none."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


def wait_until(condition, seconds: float = 2 * SOON) -> None:
    """Wait for what takes a while; fail when it has not come in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)

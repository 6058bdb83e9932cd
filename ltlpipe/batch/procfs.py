"""What processes and their descendants use: CPU time and memory, from ``/proc``.

Without ``/proc`` all functions return None or nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

_PROC = "/proc"
_MOST = 4096  # bytes of a line of ``/proc/PID/stat``


class Process(NamedTuple):
    """One process, from ``/proc/PID/stat`` (see proc(5))."""

    pid: int
    parent: int
    group: int
    cpu_seconds: float  # with those of children that it has waited for
    resident_bytes: int
    started: int  # clock ticks after the machine was started


def process(pid: int) -> Process | None:
    """Return the data of a process; None if there is none of this number."""
    try:
        # Ten times a second for each process of the machine: no Path, no text.
        number = os.open(f"{_PROC}/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(number, _MOST)
    except OSError:  # it has ended meanwhile
        return None
    finally:
        os.close(number)
    # The name stands in parentheses and may hold some of its own.
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 22 or fields[0] in b"ZX":  # dead, but still in the table
        return None
    ticks = sum(int(field) for field in fields[11:15])
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        cpu_seconds=ticks / os.sysconf("SC_CLK_TCK"),
        resident_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        started=int(fields[19]),
    )


def descendants(leaders: Collection[int]) -> dict[int, list[Process]]:
    """Return the processes of groups, with their leaders, by leader.

    These are the groups, and all descendants in other groups: workers of ltlpipe and
    external translators.
    """
    found: dict[int, list[Process]] = {leader: [] for leader in leaders}
    try:
        numbers = [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return found
    known = {p.pid: p for number in numbers if (p := process(number)) is not None}
    for each in known.values():
        at: Process | None = each
        while at is not None and at.pid not in found and at.group not in found:
            at = known.get(at.parent)
        if at is not None:
            found[at.pid if at.pid in found else at.group].append(each)
    return found

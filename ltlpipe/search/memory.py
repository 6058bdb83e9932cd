"""How much memory a search may take when nobody says so."""

from __future__ import annotations

from pathlib import Path

_SHARE = 0.9  # of what is free; the rest is for everybody else
_CGROUP = Path("/sys/fs/cgroup")


def default_memory_mib() -> float | None:
    """Return nine tenths of the free memory in MiB; None where unknown.

    A search that outgrows it ends as unknown, before the system would end the
    process.
    """
    free = [kib for kib in (_free_of_machine(), _free_of_group()) if kib is not None]
    return _SHARE * min(free) / 1024 if free else None


def _free_of_machine() -> float | None:
    """Return the KiB that Linux can give without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return float(line.split()[1])
    return None


def _free_of_group() -> float | None:
    """Return the KiB that the control group has left, if it is limited."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_CGROUP / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if limit == "max" else (int(limit) - int(used)) / 1024

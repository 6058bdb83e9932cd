"""Default memory limits of searches and lassos.

Errors that mean that memory, or room on a disk, has run out, whatever they say.

Under a limit of virtual memory (``ulimit -v``) a library that is imported cannot be
mapped, and the error is one of the loader; SQLite calls a full disk an error of input
and output.  This module recognises such errors.
"""

from __future__ import annotations

import errno
import gc
import os
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER = ("failed to map segment", "cannot allocate memory", "out of memory")
_SHARED = "shared object"
_NEAR = 1 << 16  # bytes free on a disk, or below a limit, that is reached for us
_MIB = 1 << 20
_GARBAGE = 200_000  # containers that are made before some are looked for


def collect_seldom() -> None:
    """Have the collector look at new objects in large numbers only.

    Modules make much that lives on: those of Numba 150,000 containers.
    """
    gc.set_threshold(_GARBAGE)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Let the block make millions of objects that stay, unseen by the collector.

    Looking at them again and again takes longer than making them.  Reference counts
    free what has no cycles meanwhile.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def address_space_mib() -> float | None:
    """Return the limit of virtual memory of this process in MiB; None without one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit / _MIB


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is no more memory."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    if not isinstance(error, (ImportError, OSError)):
        return False
    text = str(error)
    if any(words in text.lower() for words in _LOADER):
        return True
    # That a library that is there cannot be loaded is said without the reason.
    return _SHARED in text and address_space_mib() is not None


def lack_of_room(path: str | os.PathLike[str]) -> str | None:
    """Return why a file cannot grow, if that is so: the disk is full, or a limit."""
    place = os.path.abspath(path)  # noqa: PTH100
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        sizes = [
            os.path.getsize(name)  # noqa: PTH202
            for name in (place, f"{place}-wal", f"{place}-shm")
            if os.path.exists(name)  # noqa: PTH110
        ]
        if limit != resource.RLIM_INFINITY and max(sizes, default=0) > limit - _NEAR:
            return f"no file may have more than {limit >> 10} KiB here (ulimit -f)"
        disk = os.statvfs(os.path.dirname(place))  # noqa: PTH120
    except OSError:
        return None
    if disk.f_bavail * disk.f_frsize < _NEAR:
        return "no space left on the disk"
    return None


_SHARE = 0.9  # of what is free; the rest is for other processes
_CGROUP = Path("/sys/fs/cgroup")
_RECLAIMABLE = ("inactive_file", "active_file", "slab_reclaimable")

MAX_STEPS = 10_000_000
"""Steps of the longest lasso that is written down."""

FEW_STEPS = 10_000
"""Steps that a lasso may have whatever the limit of memory."""

STEP_BYTES = 256
"""What a step of a lasso takes per component until it has been replayed."""


def most_steps(memory_bytes: float, n_components: int) -> float:
    """Return how many steps a lasso may have that is written down in memory."""
    affordable = memory_bytes / (STEP_BYTES * max(n_components, 1))
    return min(MAX_STEPS, max(FEW_STEPS, affordable))


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
    """Return the KiB that the control groups around us have left, if limited.

    Groups are nested; the tightest counts.  Pages that only cache files are
    given back when they are needed, so they are free.
    """
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    folder = _CGROUP / own.lstrip("/")
    free = [_free_in(group) for group in (folder, *folder.parents)]
    known = [kib for kib in free if kib is not None]
    return min(known) if known else None


def _free_in(group: Path) -> float | None:
    """Return the KiB that one control group (version 2) has left."""
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit == "max":
            return None
        used = int((group / "memory.current").read_text(encoding="ascii"))
        entries = (group / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    stat = dict(zip(entries[::2], entries[1::2], strict=False))
    given_back = sum(int(stat.get(name, 0)) for name in _RECLAIMABLE)
    return max(int(limit) - used + given_back, 0) / 1024

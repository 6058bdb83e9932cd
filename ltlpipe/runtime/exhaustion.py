"""Errors that mean that memory, or room on a disk, has run out, whatever they say.

Under a limit of virtual memory (``ulimit -v``) a library that is imported cannot be
mapped, and the error is one of the loader; SQLite calls a full disk an error of input
and output.  This module recognises such errors.
"""

from __future__ import annotations

import errno
import os
import resource

_LOADER = ("failed to map segment", "cannot allocate memory", "out of memory")
_SHARED = "shared object"
_NEAR = 1 << 16  # bytes free on a disk, or below a limit, that is reached for us
_MIB = 1 << 20


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

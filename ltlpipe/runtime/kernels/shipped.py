"""Machine code of common kernels that comes with the package (``scripts/kernels.py``).

A file holds one kernel for one signature: a checksum, then what Numba's cache keeps.
Its name is a hash of the key that finds it in the user's own folder, which is one of
the kernel's closure (`ltlpipe.runtime.kernels.jit`), and of the versions of Python,
Numba, llvmlite and, roughly, NumPy; no time and no path is in it.  It is code for a
processor that most others contain.

What is missing or damaged, made by other versions or of other sources, or for a
processor that has more than this one, counts as not there: the kernel is compiled, into
the user's folder.

Numba unpickles what it loads, so a file is code as much as a module is.  It is read
from this package's folder only, where its owner is the package's, and where nobody can
write to it who could not write to the package.
"""

from __future__ import annotations

import os
import stat
import sysconfig
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ltlpipe.runtime.loading import ALONE

with ALONE:
    import llvmlite
    import llvmlite.binding
    import numba

FOLDER = Path(__file__).parent / "compiled"
PROCESSOR = "x86-64-v2"
"""What the files are for: LLVM's name (``NUMBA_CPU_NAME``), and no more features."""

_FEATURES = "cmov crc32 cx16 cx8 fxsr mmx popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3"
PYTHON = sysconfig.get_config_var("SOABI")
NEEDS = (
    f"numba=={numba.__version__}",
    f"llvmlite=={llvmlite.__version__}",
    f"numpy=={np.__version__.partition('.')[0]}.*",  # Numba types by its rules
)
_CHECKED = 32  # bytes of a checksum


@cache
def are_usable() -> bool:
    """Whether there are files, and code in them that this processor can execute.

    Where the user has chosen a processor, kernels are compiled for that one.
    """
    config: Any = numba.config
    if not FOLDER.is_dir() or config.CPU_NAME or config.CPU_FEATURES:
        return False
    binding: Any = llvmlite.binding
    try:
        has = binding.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot tell
        return False
    return all(has.get(feature) for feature in _FEATURES.split())


def found(key: str) -> bytes | None:
    """Return what `write` was given; None if there is nothing that can be trusted."""
    try:
        handle = os.open(FOLDER / _name(key), os.O_RDONLY | os.O_NOFOLLOW)
        with open(handle, "rb") as file:  # noqa: PTH123 (a descriptor)
            if not (_is_ours(FOLDER.lstat()) and _is_ours(os.fstat(handle))):
                return None
            content = file.read()
    except OSError:
        return None
    body = content[_CHECKED:]
    return body if sha256(body).digest() == content[:_CHECKED] else None


def write(folder: Path, key: str, body: bytes) -> None:
    """Write a file; `key` is one for `PROCESSOR`."""
    path = folder / _name(key)
    path.write_bytes(sha256(body).digest() + body)
    path.chmod(0o644)


def _name(key: str) -> str:
    return sha256(f"{key} {PYTHON} {NEEDS}".encode()).hexdigest()[:40] + ".code"


def _is_ours(about: os.stat_result) -> bool:
    """Whether only those can change a file or folder who can change this module."""
    module = Path(__file__).stat()
    writers = about.st_mode & ~module.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return about.st_uid == module.st_uid and not writers

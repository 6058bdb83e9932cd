"""Where the machine code of kernels is kept.

Numba's cache notices a change of the file that holds a kernel, but not of another file
that the kernel calls into.  The cache is therefore a folder named after a hash of the
rooms that hold kernels and of all rooms that these import, below ``NUMBA_CACHE_DIR`` if
that is set: changed sources never meet old machine code.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNUSED_DAYS = 30  # a cache folder that has not been used for so long is removed

_ROOMS = ("runtime", "logic", "automata", "systems", "reduction", "search")
"""Rooms that hold kernels, or that such rooms import."""


def source_hash() -> str:
    """Return a short hash of the sources on which machine code can depend."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for room in _ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> Path:
    """Return the folder of this revision's machine code; it may not exist yet."""
    name = f"kernels-{source_hash()}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / name
    for base in _bases():
        folder = base / name
        try:
            fresh = not folder.exists()
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            os.utime(folder)
            # Code is loaded from here: no other user may be able to put some in.
            if _is_private(base) and _is_private(folder):
                if fresh:
                    _remove_unused(base)
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="ltlpipe-kernels-"))


def _bases() -> Iterator[Path]:
    """Yield the folders in which caches may be kept, the best first."""
    home = os.environ.get("XDG_CACHE_HOME")
    if home:
        yield Path(home) / "ltlpipe"
    else:
        with suppress(RuntimeError):  # there may be no home at all
            yield Path.home() / ".cache" / "ltlpipe"
    yield Path(tempfile.gettempdir()) / f"ltlpipe-{os.getuid()}"


def _is_private(folder: Path) -> bool:
    """Whether only the user who runs this can change what a folder holds."""
    about = folder.stat()
    return about.st_uid == os.getuid() and not about.st_mode & 0o022


def _remove_unused(base: Path) -> None:
    """Remove the caches of revisions that are no longer run."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    for folder in base.glob("kernels-*"):
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)

"""Where the machine code of kernels is kept.

In one folder, below ``NUMBA_CACHE_DIR`` if that is set, for all versions of the
sources: what Numba finds in it depends on the kernel itself
(`ltlpipe.runtime.kernels.jit`).  Numba unpickles what it finds, so only a folder is
used to which no other user can write.  Where there is none, or none that takes files, a
process makes one for itself and its workers, and removes it.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNUSED_DAYS = 30  # machine code that has not been used for so long is removed
_NAME = "kernels"


_folders: list[Path] = []  # of this process, the present one last
_CHOOSING = threading.RLock()


def cache_folder() -> Path:
    """Return the folder of machine code; worker processes are told which it is."""
    with _CHOOSING:
        if not _folders:
            _folders.append(_usable() or _made())
    return _folders[-1]


def is_ours(file: str) -> bool:
    """Whether a file is in a folder of machine code of this process."""
    return any(Path(file).is_relative_to(folder) for folder in _folders)


def move_to(folder: str | None = None) -> bool:
    """Keep what is compiled from now on in another folder, by default in a new one.

    Where the present one takes no files.  Returns whether it is another one.
    """
    with _CHOOSING:
        before = cache_folder()
        path = _made() if folder is None else Path(folder)
        if path != before:
            _folders.append(path)
    return path != before


def _usable() -> Path | None:
    """Return the first folder that is this user's alone."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for base in _bases():
        folder = base / _NAME
        try:
            # Code is loaded from here: no other user may be able to put some in.
            for place in (base, folder):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not _is_private(place):
                    break
            else:
                return folder
            why = "other users can write to it"
        except OSError as error:
            why = error.strerror or str(error)
        if str(base) == chosen:
            warn(f"NUMBA_CACHE_DIR={chosen} is not used for kernels: {why}")
    return None


@cache
def _made() -> Path:
    """Make a folder that is removed when this process ends, or by a later one."""
    from ltlpipe.runtime.shared_folder import run_folder

    stack, owner = ExitStack(), os.getpid()
    made = stack.enter_context(run_folder())
    atexit.register(lambda: stack.close() if os.getpid() == owner else None)
    return (made or Path(os.devnull)) / _NAME  # below a file there are none


@cache
def remove_unused() -> None:
    """Remove what has not been read for a month; called where code is compiled."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    folder = cache_folder()
    for file in chain(
        folder.parent.glob(f"{_NAME}*/**/*.nb[ic]"),  # of earlier versions, too
        folder.glob("dve/*.py"),
    ):
        with suppress(OSError):  # another process has removed it
            about = file.stat()
            if max(about.st_atime, about.st_mtime) < oldest:
                file.unlink()


def _bases() -> Iterator[Path]:
    """Yield the folders in which caches may be kept, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
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

"""Where the machine code of kernels is kept.

In one folder, below ``NUMBA_CACHE_DIR`` if that is set, for all versions of the
sources: what Numba finds in it depends on the kernel itself
(`ltlpipe.runtime.kernels.keys`).
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNUSED_DAYS = 30  # machine code that has not been used for so long is removed
_NAME = "kernels"


@cache
def cache_folder() -> Path:
    """Return the folder of machine code; it may not exist yet."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / _NAME
    for base in _bases():
        folder = base / _NAME
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            # Code is loaded from here: no other user may be able to put some in.
            if _is_private(base) and _is_private(folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="ltlpipe-kernels-"))


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

"""Output files: written beside their place, and renamed when they are complete.

So a full disk, a crash or an error leaves what was there before.  What a rename would
destroy is written in place: a pipe or device, an open descriptor (``/dev/stdout``), a
file whose folder accepts no other.  Symbolic links and permissions are kept.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINKS = 40  # as in Linux
_MOST_NAME = 200  # bytes of a file's name that the name beside it repeats


class Output:
    """An output file that is not complete yet; OSError if it cannot be opened.

    Parameters
    ----------
    path : path
        The place of the file.
    buffering : int
        As for `open`.
    """

    def __init__(self, path: str | os.PathLike[str], buffering: int = -1) -> None:
        self._place = place = _place_of(Path(path))
        self._mode: int | None = None  # of the file that is replaced
        self.beside: Path | None = None
        """Where the contents are until they are complete; None if in place."""
        self.stream: IO[bytes]
        if place is not None:
            with suppress(FileNotFoundError):  # or the folder; then opening says so
                self._mode = stat.S_IMODE(place.stat().st_mode)
            name = os.fsdecode(os.fsencode(place.name)[:_MOST_NAME])
            beside = place.with_name(f".{name}.{os.urandom(4).hex()}.partial")
            try:
                self.stream = beside.open("xb", buffering)
                self.beside = beside
            except PermissionError:
                if self._mode is None:
                    raise
        if self.beside is None:
            self.stream = Path(path).open("wb", buffering)  # noqa: SIM115
        elif self._mode is not None:
            os.fchmod(self.stream.fileno(), self._mode)

    def complete(self) -> None:
        """Close the file, and put it in its place."""
        self.stream.close()
        if self.beside is not None:
            assert self._place is not None
            self.beside.replace(self._place)
            self.beside = None

    def discard(self) -> None:
        """Close the file, and leave what was there before."""
        with suppress(OSError):  # the disk is full
            self.stream.close()
        if self.beside is not None:
            with suppress(OSError):
                self.beside.unlink(missing_ok=True)


def _place_of(path: Path) -> Path | None:
    """Return where a rename replaces a file; None where that would destroy something.

    A link below ``/proc`` names an open file, which others may be writing to; so does
    one of ``/dev``.
    """
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if path.is_relative_to("/proc") or path.parent == Path("/dev"):
            return None
        if not path.is_symlink():
            is_special = path.exists() and not path.is_file()
            return None if is_special else path
        path = path.parent / path.readlink()
    return None


@contextmanager
def rewriting(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file in a with statement; after an error the old one stays."""
    output = Output(path)
    try:
        yield output.stream
        output.complete()
    finally:
        output.discard()  # nothing after `complete`


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Do what `rewriting` does; InputError if the file cannot be written."""
    try:
        with rewriting(path) as stream:
            yield stream
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise InputError(message, file=os.fspath(path)) from None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as a whole, as `replacing` does."""
    with replacing(path) as stream:
        stream.write(data)

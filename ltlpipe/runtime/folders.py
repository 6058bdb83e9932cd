"""Folders of this package's own: results that are shared, and machine code.

Results that the processes of one run share are files in a folder of the run. A result
is one file: a checksum, and the result as `ltlpipe.runtime.wire` packs it (no pickles).
It is written beside its place and renamed, so that no reader sees half of it; one that
is damaged all the same counts as missing and is removed. Processes do not wait for each
other: of two processes that need the same result at the same time both compute it, as
neither knows how long the other will take, and each has limits of its own.

The files take a bounded number of bytes; those that were not used for the longest time
go first. `run_folder` makes the folder and removes it when the run has ended, however
that was: what a killed process has left behind is removed by the next run.

The machine code of kernels is in one folder, below ``NUMBA_CACHE_DIR`` if that is set,
for all versions of the sources: what Numba finds in it depends on the kernel itself
(`ltlpipe.runtime.kernels.jit`). Numba unpickles what it finds, so only a folder is used
to which no other user can write. Where there is none, or none that takes files, a
process makes one for itself and its workers, and removes it.

The tables of parsers are kept there, too (`parser_of`): making them takes tens to
hundreds of milliseconds, as long as many checks.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import struct
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import warn
from ltlpipe.runtime.wire import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from lark import Lark

PREFIX = "ltlpipe-run-"
MOST_ENTRY = 1 << 24
"""Bytes of one result: it is read in some 20 ms, within which no limit is looked at."""

_LOCK = "lock"
_SUFFIX = ".result"
_CHECKED = 32  # bytes of a checksum


class Entry(NamedTuple):
    """One result."""

    about: Any  # what JSON can say
    arrays: dict[str, np.ndarray]


class SharedFolder:
    """A folder of results.

    A result has a *place*, what several have in common, and a *key*, which tells it
    from others there; both are made of what JSON can say.

    Parameters
    ----------
    path : path
        The folder.  If it is not there, nothing is found and nothing kept.
    most_bytes : int
        Of all results.
    """

    def __init__(self, path: str | os.PathLike[str], most_bytes: int) -> None:
        self.path, self.most_bytes = Path(path), most_bytes

    def get(self, place: Any, key: Any) -> Entry | None:
        """Return a result; None if there is none that is sound."""
        path = self.path / _name(place, key)
        try:
            content = path.read_bytes()
            os.utime(path)  # it was used
            body = content[_CHECKED:]
            if _digest(body) != content[:_CHECKED]:
                raise ValueError("damaged")
            return Entry(*unpacked(body))
        except OSError:  # there is none, or another process has removed it
            return None
        except (ValueError, TypeError, struct.error):  # or not written by this class
            self.remove(path.name)
            return None

    def put(
        self, place: Any, key: Any, about: Any, arrays: dict[str, np.ndarray]
    ) -> bool:
        """Store a result for other processes; return whether that was possible."""
        body = packed([about, arrays])
        content = _digest(body) + body
        if len(content) > min(MOST_ENTRY, self.most_bytes):
            return False
        try:
            self._make_room(len(content))
            handle, beside = tempfile.mkstemp(dir=self.path, suffix=".part")
            try:
                with open(handle, "wb") as file:  # noqa: PTH123 (a descriptor)
                    file.write(content)
                Path(beside).replace(self.path / _name(place, key))
            except BaseException:
                with suppress(OSError):
                    Path(beside).unlink()
                raise
        except OSError:  # the folder has gone, or the disk is full
            return False
        return True

    def remove(self, name: str) -> None:
        """Remove a file."""
        with suppress(OSError):
            (self.path / name).unlink()

    def _make_room(self, n_bytes: int) -> None:
        """Remove what was not used for the longest time, if it must be."""
        files = []
        with os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has removed it
                    about = entry.stat()
                    if entry.name != _LOCK:
                        files.append((about.st_mtime_ns, about.st_size, entry.name))
        held = sum(size for _, size, _ in files) + n_bytes
        for _, size, name in sorted(files):
            if held <= self.most_bytes:
                break
            self.remove(name)
            held -= size


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # OpenSSL takes two milliseconds

    return sha256(data).digest()


def _name(place: Any, key: Any) -> str:
    return _digest(json.dumps([place, key]).encode()).hex()[:48] + _SUFFIX


# --- the folder of a run ------------------------------------------------------


@contextmanager
def run_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path | None]:
    """Make a folder for one run, and remove it in the end; None if that cannot be.

    It is locked as long as this process lives, however it ends: folders without a lock
    are abandoned, and removed here.
    """
    base = Path(tempfile.gettempdir() if parent is None else parent)
    with ExitStack() as stack:
        try:
            _remove_abandoned(base)
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))  # private
            stack.callback(shutil.rmtree, path, ignore_errors=True)
            lock = stack.enter_context((path / _LOCK).open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        yield path


def _remove_abandoned(base: Path) -> None:
    """Remove the folders of runs that were killed."""
    for folder in base.glob(f"{PREFIX}*"):
        try:
            if folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # it is at work, just being made, or has gone
            continue


# --- the one of this process --------------------------------------------------

_current: list[SharedFolder] = []


@contextmanager
def shared_through(folder: SharedFolder | None) -> Iterator[None]:
    """Let what is computed meanwhile be shared through a folder."""
    if folder is None:
        yield
        return
    _current.append(folder)
    try:
        yield
    finally:
        _current.pop()


def shared_folder() -> SharedFolder | None:
    """Return the folder through which this process shares results; None without one."""
    return _current[-1] if _current else None


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


def grammar_beside(module: str) -> str:
    """Return the grammar in ``grammar.lark`` beside the file of a module."""
    return Path(module).with_name("grammar.lark").read_text(encoding="ascii")


def parser_of(grammar: str, name: str, **options: Any) -> Lark:
    """Return the LALR parser of a grammar.

    Parameters
    ----------
    grammar : str
        In the language of lark.
    name : str
        That of the file with the tables; grammars that differ may share it in turn.
    **options
        Those of `lark.Lark`.
    """
    from lark import Lark

    folder = cache_folder() / "grammars"
    with suppress(OSError):  # they are made again each time then
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = str(folder / f"{name}.lark")
    return Lark(grammar, parser="lalr", cache=path, **options)

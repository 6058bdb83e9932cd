"""Results that the processes of one run share, as files in a folder of the run's own.

A result is one file: a checksum, a line of JSON that says what it is, and the result as
`ltlpipe.runtime.wire` packs it (no pickles). It is written beside its place and
renamed, so that no reader sees half of it; one that is damaged all the same counts as
missing and is removed. Processes do not wait for each other: of two processes that need
the same result at the same time both compute it, as neither knows how long the other
will take, and each has limits of its own.

The files take a bounded number of bytes; those that were not used for the longest time
go first.  `run_folder` makes the folder and removes it when the run has ended, however
that was: what a killed process has left behind is removed by the next run.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import struct
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.wire import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

PREFIX = "ltlpipe-run-"
MOST_ENTRY = 1 << 24
"""Bytes of one result: it is read in some 20 ms, within which no limit is looked at."""

_LOCK = "lock"
_LOOK_SECONDS = 0.5  # for so long a list of the files is good enough
_SUFFIX = ".result"
_CHECKED = 32  # bytes of a checksum


class Entry(NamedTuple):
    """One result."""

    about: dict[str, Any]  # what JSON can say
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
        self._names: frozenset[str] = frozenset()
        self._listed = -_LOOK_SECONDS

    def get(self, place: Any, key: Any) -> Entry | None:
        """Return a result; None if there is none that is sound."""
        name = _name(place, key)
        if name not in self._files():
            return None
        return self._read(name, [place, key])

    def put(
        self, place: Any, key: Any, about: Any, arrays: dict[str, np.ndarray]
    ) -> bool:
        """Store a result for other processes; return whether that was possible."""
        head = json.dumps([place, key]).encode() + b"\n"
        body = head + packed([about, arrays])
        content = sha256(body).digest() + body
        if len(content) > min(MOST_ENTRY, self.most_bytes):
            return False
        name = _name(place, key)
        try:
            self._make_room(len(content))
            handle, beside = tempfile.mkstemp(dir=self.path, suffix=".part")
            try:
                with open(handle, "wb") as file:  # noqa: PTH123 (a descriptor)
                    file.write(content)
                Path(beside).replace(self.path / name)
            except BaseException:
                with suppress(OSError):
                    Path(beside).unlink()
                raise
        except OSError:  # the folder has gone, or the disk is full
            return False
        self._names |= {name}
        return True

    def _read(self, name: str, expected: Any) -> Entry | None:
        path = self.path / name
        try:
            content = path.read_bytes()
        except OSError:  # another process has removed it
            return None
        body = content[_CHECKED:]
        if sha256(body).digest() != content[:_CHECKED]:
            self.remove(name)
            return None
        line, _, content = body.partition(b"\n")
        if json.loads(line) != json.loads(json.dumps(expected)):
            return None
        with suppress(OSError):
            os.utime(path)
        try:
            return Entry(*unpacked(content))
        except (ValueError, TypeError, struct.error):  # not written by this class
            self.remove(name)
            return None

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._names -= {name}
        with suppress(OSError):
            (self.path / name).unlink()

    def _files(self) -> frozenset[str]:
        """Return the names of the results, as they were a moment ago."""
        now = time.monotonic()
        if now - self._listed >= _LOOK_SECONDS:
            self._listed = now
            try:
                names = os.listdir(self.path)  # noqa: PTH208 (names are enough)
            except OSError:
                names = []
            self._names = frozenset(n for n in names if n.endswith(_SUFFIX))
        return self._names

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


def _hash(value: Any) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:24]


def _name(place: Any, key: Any) -> str:
    return f"{_hash(place)}-{_hash(key)}{_SUFFIX}"


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

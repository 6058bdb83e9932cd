"""Arrays in files of their own, for what memory has no room for (``--spill``).

A file has no name, so that it is gone when its array is, or the process.  All of its
room on the disk is taken beforehand: writing to it cannot fail later on.  Which of its
pages are in memory is the system's business.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LONGER = (1.5, 1.05)  # times its length, the second where the disk has no more room


class DiskFullError(Exception):
    """The disk has no room for a longer array."""


class _File:
    """An open file without a name, closed with the last array over it."""

    def __init__(self, folder: str) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            self.descriptor = os.dup(file.fileno())
        self.folder = folder

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):  # opening may have failed
            os.close(self.descriptor)


class _Mapping(mmap.mmap):
    """A whole file in memory; the array over it keeps it open."""

    file: _File


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array lies in a file."""
    return isinstance(array.base, _Mapping)


def file_bytes(arrays: Sequence[np.ndarray]) -> int:
    """Return the bytes of those of the arrays that lie in files."""
    return sum(array.nbytes for array in arrays if is_mapped(array))


def in_file(folder: str, like: np.ndarray) -> np.ndarray:
    """Return an array of zeros in a new file, of the shape and dtype of another.

    Raises
    ------
    DiskFullError
        There is no room.
    InputError
        No file can be made in the folder.
    """
    try:
        file = _File(folder)
    except OSError as error:
        message = f"--spill: no file can be made: {error.strerror or error}"
        raise InputError(message, file=folder) from None
    return _mapped(file, like.shape, like.dtype)


def lengthened(array: np.ndarray, needed: int) -> np.ndarray:
    """Return an array in a file with `needed` rows or more, those that it has first.

    New ones are 0.  The old array must not be used any more.  Raises `DiskFullError`.
    """
    owner: Any = array.base
    for factor in _LONGER:
        length = max(needed, int(factor * array.shape[0]))
        try:
            shape = (length, *array.shape[1:])
            return _mapped(owner.file, shape, array.dtype)
        except DiskFullError as error:
            full = error
    raise full


def renewed(array: np.ndarray, needed: int) -> np.ndarray:
    """Return an array of zeros in a file with `needed` entries or more.

    It takes the place of `array`, which must not be used any more.
    """
    owner: Any = array.base
    length = max(needed, int(_LONGER[0] * array.shape[0]))
    return in_file(owner.file.folder, np.broadcast_to(array.dtype.type(0), (length,)))


def _mapped(file: _File, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an array over a file, which is made long enough."""
    n_bytes = max(int(np.prod(shape)) * np.dtype(dtype).itemsize, 1)
    try:
        os.posix_fallocate(file.descriptor, 0, n_bytes)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskFullError(error.strerror) from None
        reason = error.strerror or str(error)
        raise InputError(f"--spill: {reason}", file=file.folder) from None
    mapping = _Mapping(file.descriptor, n_bytes)
    mapping.file = file
    return np.ndarray(shape, dtype, buffer=mapping)

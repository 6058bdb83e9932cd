"""Declaration of the arrays of searches, and their growth within a memory limit.

Those that memory has no room for may lie in files of their own (``--spill``).  A file
has no name, so that it is gone when its array is, or the process.  All of its room on
the disk is taken beforehand: writing to it cannot fail later on.  Which of its pages
are in memory is the system's business.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROWTH = 1.5
_GROWTH_IN_PLACE = 1.125
_GROWTH_REBUILT = 2
_LARGE = 1 << 20
"""Bytes from which an array grows without a copy: the system moves its pages."""

_SPARED = 1 << 24
"""Bytes from which a table that is rebuilt grows by half: its room counts."""

ROUNDING = 512
"""Bytes by which packed arrays, those of 31 workers too, exceed what entries need."""

FIRST_ENTRIES = 1 << 10
"""Entries of a new stack, beside the room that one expansion needs."""

MAX_STATES = (1 << 30) - 1
"""States whose ids a stack entry, and a node of a union-find, can hold."""


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LONGER = (1.5, 1.05)  # times its length, the second where the disk has no more room


class OutOfMemoryError(Exception):
    """An array would have to grow beyond the limit."""


def total_bytes(tables: Any) -> int:
    """Return the bytes of all arrays in nested tuples; views of one memory are one.

    Arrays in files are not counted.
    """
    owners: dict[int, int] = {}
    parts = [tables]  # no recursion: searches ask between any two calls of a kernel
    while parts:
        part = parts.pop()
        if isinstance(part, np.ndarray):
            owner = part.base if isinstance(part.base, np.ndarray) else part
            if owner.base is None:
                owners[id(owner)] = owner.nbytes
            elif not is_mapped(part):  # by address: workers have views of their own
                address = owner.__array_interface__["data"][0]
                owners[address] = max(owner.nbytes, owners.get(address, 0))
        elif part is not None:
            parts.extend(part)
    return sum(owners.values())


class Column(NamedTuple):
    """How an array that a search declares stores its entries.

    Where `packed` entries share a row, there is a row more than they fill.
    """

    dtype: Any
    packed: int = 1
    width: int = 0  # columns of a row; 0 if the array has one dimension

    def shape(self, n_entries: int) -> tuple[int, ...]:
        """Return the shape of an array of so many entries."""
        rows = n_entries if self.packed == 1 else n_entries // self.packed + 1
        return (rows, self.width) if self.width else (rows,)

    @property
    def entry_bytes(self) -> float:
        """Bytes of an entry."""
        return float(np.dtype(self.dtype).itemsize * max(self.width, 1) / self.packed)


INT32, INT64 = Column(np.int32), Column(np.int64)
UINT8, UINT32, UINT64 = Column(np.uint8), Column(np.uint32), Column(np.uint64)


def zeros(columns: dict[str, Column], length: int) -> dict[str, np.ndarray]:
    """Return arrays of so many entries by their names."""
    return {n: np.zeros(c.shape(length), c.dtype) for n, c in columns.items()}


Layout = dict[IntEnum, dict[str, Column]]
"""The arrays of a search by the register that counts their entries.

Those of one register grow together; the first is not packed.
"""


def affordable_length(
    length: int,
    needed: int,
    entry_bytes: float,
    free_bytes: float,
    *,
    rebuilt: bool = False,
) -> int:
    """Return a new length for an array: longer by half, or what memory is left for.

    Large arrays grow by an eighth; those that are `rebuilt`, as hash tables are, become
    twice as long while they are small, and grow by half then.  The new length has
    at least `needed` entries, of `entry_bytes` each, those of arrays that follow its
    length included; if they take more than `free_bytes`, `OutOfMemoryError` is raised.
    """
    affordable = length + int(min(free_bytes, 1 << 50) // entry_bytes)
    # Growing by crumbs would take for ever; then the limit is reached.
    least = max(needed, int(1.05 * length))
    if affordable < least:
        raise OutOfMemoryError
    growth = _GROWTH_IN_PLACE if length * entry_bytes >= _LARGE else _GROWTH
    if rebuilt:
        growth = _GROWTH if length * entry_bytes >= _SPARED else _GROWTH_REBUILT
    return int(min(max(least, growth * length), affordable))


def lengthen(arrays: Sequence[np.ndarray], needed: int, free_bytes: float) -> bool:
    """Make arrays of equal length longer in place if they have too few entries.

    New entries are 0.  Returns whether they have become longer; raises
    `OutOfMemoryError`, and changes nothing, if that takes more than `free_bytes`.
    """
    if needed <= arrays[0].shape[0]:
        return False
    entry_bytes = sum(array.strides[0] for array in arrays)
    length = affordable_length(arrays[0].shape[0], needed, entry_bytes, free_bytes)
    for array in arrays:
        array.resize((length, *array.shape[1:]), refcheck=False)
    return True


class DiskFullError(Exception):
    """The disk has no room for a longer array."""


class _Mapping(mmap.mmap):
    """A whole file in memory, which is closed with the array over it."""

    folder: str
    descriptor: int

    def __del__(self) -> None:
        os.close(self.descriptor)


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
        with tempfile.TemporaryFile(dir=folder) as file:
            return _mapped(file.fileno(), folder, like.shape, like.dtype)
    except OSError as error:
        message = f"--spill: no file can be made: {error.strerror or error}"
        raise InputError(message, file=folder) from None


def lengthened(array: np.ndarray, needed: int) -> np.ndarray:
    """Return an array in a file with `needed` rows or more, those that it has first.

    New ones are 0.  The old array must not be used any more.  Raises `DiskFullError`.
    """
    owner: Any = array.base
    for factor in _LONGER:
        length = max(needed, min(int(factor * array.shape[0]), MAX_STATES))
        try:
            shape = (length, *array.shape[1:])
            return _mapped(owner.descriptor, owner.folder, shape, array.dtype)
        except DiskFullError as error:
            full = error
    raise full


def renewed(array: np.ndarray, needed: int) -> np.ndarray:
    """Return an array of zeros in a file with `needed` entries or more.

    It takes the place of `array`, which must not be used any more.
    """
    owner: Any = array.base
    length = max(needed, int(_LONGER[0] * array.shape[0]))
    return in_file(owner.folder, np.broadcast_to(array.dtype.type(0), (length,)))


def _mapped(
    descriptor: int, folder: str, shape: tuple[int, ...], dtype: Any
) -> np.ndarray:
    """Return an array over an open file, which is made long enough."""
    n_bytes = max(int(np.prod(shape)) * np.dtype(dtype).itemsize, 1)
    try:
        os.posix_fallocate(descriptor, 0, n_bytes)
        mapping = _Mapping(descriptor, n_bytes)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskFullError(error.strerror) from None
        reason = error.strerror or str(error)
        raise InputError(f"--spill: {reason}", file=folder) from None
    mapping.folder, mapping.descriptor = folder, os.dup(descriptor)
    return np.ndarray(shape, dtype, buffer=mapping)

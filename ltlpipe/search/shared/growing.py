"""Arrays that grow without one thread clearing or copying them.

``ndarray.resize`` writes zeros into what it adds, all of it in the thread that grows,
while the other workers wait.  Here addresses are taken ahead, and the system gives
pages, which are zero, to the workers that first touch them.
"""

from __future__ import annotations

import math
import mmap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.search.growth import Column

_LARGE = 1 << 20
"""Bytes from which large pages are asked for; they have twice as many."""

_AHEAD = 8
"""Times as many addresses as needed are taken; moving pages splits large ones."""


class GrowingArray:
    """Memory of an array; views of it go out of date when it grows.

    Parameters
    ----------
    column : Column
        How its entries are stored.
    length : int
        Its entries, all 0.

    Raises
    ------
    MemoryError
        The system does not give so much, here and by `lengthen`.
    """

    def __init__(self, column: Column, length: int) -> None:
        self._column = column
        self._shape = column.shape(length)
        self._memory = self._map(_AHEAD * self._n_bytes())

    def view(self) -> np.ndarray:
        """Return the array as it is now."""
        flat = np.frombuffer(self._memory, self._column.dtype, math.prod(self._shape))
        return flat.reshape(self._shape)

    def lengthen(self, length: int) -> None:
        """Grow to `length` entries at least, new ones 0.

        All is copied if a view is still held, or the system cannot move pages.
        """
        shape = self._column.shape(length)
        if shape <= self._shape:
            return
        before, self._shape = self._shape, shape
        n_bytes = self._n_bytes()
        if n_bytes > len(self._memory):
            try:
                self._move(n_bytes)
            except MemoryError:
                self._shape = before
                raise
        if n_bytes >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._memory.madvise(mmap.MADV_HUGEPAGE)

    def _move(self, n_bytes: int) -> None:
        """Have memory for `n_bytes`, for more if the system gives as many addresses."""
        for size in (_AHEAD * n_bytes, n_bytes):
            try:
                self._memory.resize(size)
            except (BufferError, SystemError):
                self._copy(n_bytes)
            except OSError as error:
                if size == n_bytes:
                    raise MemoryError from error
                continue
            return

    def _copy(self, n_bytes: int) -> None:
        old = self._memory
        self._memory = self._map(n_bytes)
        self._memory[: len(old)] = old[:]

    def _n_bytes(self) -> int:
        return math.prod(self._shape) * int(np.dtype(self._column.dtype).itemsize)

    def _map(self, n_bytes: int) -> mmap.mmap:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        try:
            return mmap.mmap(-1, max(n_bytes, 1), flags=flags)
        except OSError as error:
            raise MemoryError from error


def growing(columns: dict[str, Column], length: int) -> dict[str, GrowingArray]:
    """Return memory for arrays of equal length by their names."""
    return {name: GrowingArray(column, length) for name, column in columns.items()}

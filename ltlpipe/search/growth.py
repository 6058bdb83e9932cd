"""How arrays grow within a memory limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GROWTH = 1.5
FIRST_ENTRIES = 1 << 10
"""Entries of a new stack, beside the room that one expansion needs."""

MAX_STATES = 1 << 30
"""State ids that a stack entry can hold."""


class OutOfMemoryError(Exception):
    """An array would have to grow beyond the limit."""


def total_bytes(tables: Any) -> int:
    """Return the bytes of all arrays in nested tuples; one that stands twice is one."""
    different = {id(array): array.nbytes for array in _arrays_in(tables)}
    return int(sum(different.values()))


def _arrays_in(tables: Any) -> Iterator[np.ndarray]:
    if isinstance(tables, np.ndarray):
        yield tables
    elif tables is not None:
        for part in tables:
            yield from _arrays_in(part)


def affordable_length(
    array: np.ndarray, needed: int, entry_bytes: float, free_bytes: float
) -> int:
    """Return how long an array shall be: longer by half, or what memory is left for.

    Parameters
    ----------
    array : ndarray
        It is not changed.
    needed : int
        Entries that it shall have at least.
    entry_bytes : float
        Bytes of an entry, those of arrays that follow its length included.
    free_bytes : float
        What may be taken.

    Raises
    ------
    OutOfMemoryError
        That does not suffice.
    """
    length = array.shape[0]
    affordable = length + int(min(free_bytes, 1 << 50) // entry_bytes)
    # Growing by crumbs would take for ever; then the limit is reached.
    least = max(needed, int(1.05 * length))
    if affordable < least:
        raise OutOfMemoryError
    return int(min(max(least, _GROWTH * length), affordable))


def lengthen(arrays: Sequence[np.ndarray], needed: int, free_bytes: float) -> bool:
    """Make arrays of equal length longer by half if they have too few entries.

    Parameters
    ----------
    arrays : sequence of ndarray
        Resized in place along their first axis; new entries are 0.
    needed : int
        Entries that they shall have at least.
    free_bytes : float
        What may be taken.

    Returns
    -------
    bool
        Whether they have become longer.

    Raises
    ------
    OutOfMemoryError
        That takes more than `free_bytes`; nothing is changed.
    """
    length = arrays[0].shape[0]
    if needed <= length:
        return False
    longer = max(needed, int(_GROWTH * length))
    if (longer - length) * sum(array.strides[0] for array in arrays) > free_bytes:
        raise OutOfMemoryError
    for array in arrays:
        array.resize((longer, *array.shape[1:]), refcheck=False)
    return True

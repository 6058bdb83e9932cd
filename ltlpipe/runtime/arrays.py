"""Ranges and groups in arrays of numbers."""

from __future__ import annotations

import numpy as np


def ranges(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return ``begins[i], begins[i] + 1, ...``, ``counts[i]`` numbers for each i."""
    ends = np.cumsum(counts)
    ahead = np.repeat(begins - ends + counts, counts)
    numbers: np.ndarray = np.arange(len(ahead)) + ahead
    return numbers


def begins(owners: np.ndarray, n: int) -> np.ndarray:
    """Return int64[n + 1], where the entries of each owner begin once sorted."""
    first = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=n), out=first[1:])
    return first


def group_begins(*keys: np.ndarray) -> np.ndarray:
    """Return where runs of equal keys begin."""
    differs = np.ones(len(keys[0]), dtype=np.bool_)
    differs[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(differs)


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the numbers in an array, in order, each once.

    `numpy.unique` does so by hashing (2.3 and later), which takes fifty times as long
    for a million different ones.

    Examples
    --------
    >>> distinct(np.array([[3, 1], [1, 2]])).tolist()
    [1, 2, 3]
    """
    ordered = np.sort(values, axis=None)
    found: np.ndarray = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]
    return found

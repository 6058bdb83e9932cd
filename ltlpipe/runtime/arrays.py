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

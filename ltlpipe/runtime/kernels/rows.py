"""Rows of 64-bit words, for kernels that store states."""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
_U32 = np.uint64(32)


@inlined
def hash_row(rows, i):
    """Return 64 well-mixed bits of ``rows[i]``, rows uint64[n, n_words]."""
    mixed = np.uint64(0)
    for w in range(rows.shape[1]):
        mixed = (mixed ^ rows[i, w]) * _MULTIPLIER
        mixed ^= mixed >> _U32
    mixed *= _FINISHER
    return mixed ^ (mixed >> _U32)


@inlined
def hash_word(word):
    """Return the bits that `hash_row` has for a row of one word."""
    mixed = word * _MULTIPLIER
    mixed ^= mixed >> _U32
    mixed *= _FINISHER
    return mixed ^ (mixed >> _U32)


@inlined
def same_row(rows, i, others, k):
    """Whether ``rows[i]`` is ``others[k]``."""
    for w in range(rows.shape[1]):  # noqa: SIM110 (a kernel has no `all`)
        if rows[i, w] != others[k, w]:
            return False
    return True

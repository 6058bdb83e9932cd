"""Sets of marks in as few bits as they need.

A set takes the number of marks in bits, rounded up to a power of two, so that
none straddles two words.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined


@inlined
def read_marks(packed, bits, entry):
    """Return the set of an entry; packed uint32[...], `bits` bits each."""
    at = entry * bits
    shifted = packed[at >> 5] >> np.uint32(at & 31)
    return shifted & np.uint32((1 << bits) - 1)


@inlined
def write_marks(packed, bits, entry, marks):
    """Replace the set of an entry."""
    at = entry * bits
    shift = np.uint32(at & 31)
    hole = np.uint32((1 << bits) - 1) << shift
    packed[at >> 5] = (packed[at >> 5] & ~hole) | (marks << shift)


def mark_bits(n_marks: int) -> int:
    """Return the bits per set of so many marks."""
    return 0 if n_marks == 0 else 1 << (n_marks - 1).bit_length()


def mark_words(entries: int, bits: int) -> int:
    """Return the words that hold so many sets."""
    return entries * bits // 32 + 1

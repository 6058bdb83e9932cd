"""What kernels share: the lowest bit of a word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.kernels.jit import njit, trailing_zeros


@njit
def lowest(word):
    """Call the intrinsic as kernels do."""
    return trailing_zeros(word)


@pytest.mark.parametrize(
    ("word", "bit"), [(1, 0), (2, 1), (0b1010000, 4), (2**63, 63), (2**64 - 1, 0)]
)
def test_the_lowest_bit(word, bit):
    assert lowest(np.uint64(word)) == bit


@given(st.integers(1, 2**64 - 1))
def test_the_lowest_bit_of_any_word(word):
    """The binary digits behind the last 1."""
    digits = f"{word:b}"
    assert lowest(np.uint64(word)) == len(digits) - len(digits.rstrip("0"))

"""The settings under which programs are run elsewhere do what they say."""

from __future__ import annotations

from tests.kernel_modes import INTERPRETED, checked, output

BEYOND = """
import numpy as np
from ltlpipe.components.transition_arrays import number_sccs
first, cursor = np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)
dst, path = (np.zeros(0, dtype=np.int32) for _ in range(2))
others = [np.zeros(1, dtype=np.int32) for _ in range(4)]
try:
    number_sccs(first, dst, *others, path, cursor, np.zeros(5, dtype=np.int64), 9)
except IndexError:
    print("seen")
"""
"""A search of one state, without room for its path."""


def test_bounds_are_checked():
    """Code that was compiled without checks would say nothing, and write beyond."""
    assert output(BEYOND, **checked()) == "seen\n"


def test_kernels_are_interpreted():
    """NumPy checks its bounds by itself."""
    assert output(BEYOND, **INTERPRETED) == "seen\n"

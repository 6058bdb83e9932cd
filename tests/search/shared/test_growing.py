"""Arrays that grow in place."""

from __future__ import annotations

import numpy as np
import pytest

from ltlpipe.search.growth import UINT32, Column, GrowingArray

LENGTHS = (10, 11, 5_000, 40_000, 3_000_000)


@pytest.mark.parametrize("column", [UINT32, Column(np.uint64, width=3)])
@pytest.mark.parametrize("held", [False, True])
def test_entries_stay_and_new_ones_are_zero(column, held):
    """Whether a view is still held, so that all has to be copied, or not."""
    memory = GrowingArray(column, 1)
    views = []
    before = 1
    memory.view()[:] = 1
    for length in LENGTHS:
        memory.lengthen(length)
        view = memory.view()
        assert view.shape == column.shape(length)
        kept = view[:before].T
        assert np.array_equal(kept, np.ones_like(kept) * np.arange(1, before + 1))
        assert not view[before:].any()
        view.T[:] = np.arange(1, length + 1)
        before = length
        if held:
            views.append(view)
        del view
    for view, length in zip(views, LENGTHS, strict=False):
        assert len(view) == length  # still readable


def test_it_is_not_shortened():
    """Another array may have been refused."""
    memory = GrowingArray(UINT32, 100)
    memory.lengthen(10)
    assert memory.view().shape == (100,)


def test_what_the_system_refuses():
    """The array stays as it was."""
    memory = GrowingArray(UINT32, 3)
    memory.view()[:] = 7
    with pytest.raises(MemoryError):
        memory.lengthen(1 << 55)
    assert memory.view().tolist() == [7, 7, 7]

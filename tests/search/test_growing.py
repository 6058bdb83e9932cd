"""How arrays of searches become longer within what memory is left."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from ltlpipe.search.growth import OutOfMemoryError, affordable_length, lengthen


def arrays(length):
    """Arrays of 20 bytes per entry in all."""
    return np.ones((length, 2), dtype=np.uint64), np.ones(length, dtype=np.int32)


@pytest.mark.parametrize(
    ("needed", "length"), [(9, 10), (10, 10), (11, 15), (15, 15), (40, 40)]
)
def test_arrays_are_lengthened_by_half_or_to_what_is_needed(needed, length):
    """What was in them stays; the rest is 0."""
    rows, numbers = arrays(10)
    assert lengthen((rows, numbers), needed, 20 * (length - 10)) == (length > 10)

    assert rows.shape == (length, 2)
    assert numbers.shape == (length,)
    assert (rows[:10] == 1).all()
    assert (numbers[:10] == 1).all()
    assert not rows[10:].any()
    assert not numbers[10:].any()


@pytest.mark.parametrize(("needed", "length"), [(11, 14), (15, 10), (40, 10)])
def test_arrays_take_what_memory_is_left(needed, length):
    """With a byte less than half as much again takes; all of them, or none."""
    rows, numbers = arrays(10)
    short = pytest.raises(OutOfMemoryError) if length == 10 else nullcontext()
    with short:
        lengthen((rows, numbers), needed, 20 * (max(needed, 15) - 10) - 1)
    assert (len(rows), len(numbers)) == (length, length)


def test_arrays_of_one_entry():
    """Half of one is nothing, yet they grow."""
    rows, numbers = arrays(1)
    assert lengthen((rows, numbers), 2, 20)
    assert (len(rows), len(numbers)) == (2, 2)


@pytest.mark.parametrize(
    ("needed", "free", "length"),
    [
        (101, float("inf"), 150),
        (101, 20 * 50, 150),
        (101, 20 * 30 + 19, 130),  # what is left
        (101, 20 * 5, 105),
        (120, 20 * 20, 120),
        (400, 20 * 300, 400),
    ],
)
def test_an_affordable_length(needed, free, length):
    """Half as much again, less if memory does not suffice, more if needed."""
    assert affordable_length(100, needed, 20, free) == length


@pytest.mark.parametrize(("rebuilt", "length"), [(False, 1_125_000), (True, 2_000_000)])
def test_large_arrays_grow_by_an_eighth(rebuilt, length):
    """They grow in place; a hash table that is built anew becomes twice as long."""
    free = float("inf")
    found = affordable_length(1_000_000, 1_000_001, 8, free, rebuilt=rebuilt)
    assert found == length


@pytest.mark.parametrize(
    ("needed", "free"),
    [(101, 20 * 5 - 1), (101, 0), (101, -1), (120, 20 * 20 - 1)],
)
def test_an_unaffordable_length(needed, free):
    """Growing by less than a twentieth would take for ever."""
    with pytest.raises(OutOfMemoryError):
        affordable_length(100, needed, 20, free)

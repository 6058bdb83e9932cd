"""Atomic operations, hammered by many threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numba.core.errors import TypingError

from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    exchange,
    fetch_add,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import INTERPRETED, njit
from tests.kernel_modes import INTERPRETED as AS_PYTHON
from tests.kernel_modes import output

N_THREADS = 8
TIMES = 200 if INTERPRETED else 200_000

DTYPES = (np.int32, np.uint32, np.int64, np.uint64)


def together(work, *arguments):
    """Call a function in many threads at once, with the number of each; its results."""
    results = [None] * N_THREADS
    begin = threading.Barrier(N_THREADS)

    def run(number):
        begin.wait()
        results[number] = work(*arguments, number)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in results
    return results


@njit
def add(array, times, number):
    last = array[1]
    for _ in range(times):
        last = fetch_add(array, 1, 3)
    return last + number * 0


@njit
def take_tickets(array, taken, times, number):
    for _ in range(times):
        ticket = fetch_add(array, 0, 1)
        taken[ticket] += number + 1
    return True


@njit
def add_by_swapping(array, times, number):
    for _ in range(times):
        while True:
            old = load(array, number % 2)
            if compare_and_swap(array, number % 2, old, old + 1):
                break
            pause()
    return True


@njit
def set_bits(array, times, number):
    """Each thread has bits of its own; how often it was the first to set one."""
    first = 0
    for k in range(times):
        word, bit = k // 4, 1 << (k % 4 * 8 + number)
        if fetch_or(array, word, bit) & bit == 0:
            first += 1
    return first


@njit
def pass_on(array, total, number):
    """Each puts in a number and takes out what another has put in."""
    held = number + 1
    for _ in range(total):
        held = exchange(array, 0, held)
    return held


@njit
def lock_and_add(lock, array, times, number):
    """A lock of `exchange` and `store` that guards plain additions."""
    for _ in range(times):
        while exchange(lock, 0, 1) != 0:
            pause()
        array[0] += 1
        array[1] = number
        store(lock, 0, 0)
    return True


@njit
def write_and_tell(array, told, times, number):
    """Even threads write an entry and tell; odd ones wait to be told, and read it."""
    wrong = 0
    place = number // 2
    for k in range(1, times + 1):
        if number % 2 == 0:
            array[place] = k
            store(told, place, k)
            while load(told, place) == k:
                pause()
        else:
            while load(told, place) != k:
                pause()
            wrong += array[place] != k
            store(told, place, 0)
    return wrong


@pytest.mark.parametrize("dtype", DTYPES)
def test_additions_are_not_lost(dtype):
    array = np.zeros(3, dtype)
    together(add, array, TIMES)
    assert array.tolist() == [0, 3 * N_THREADS * TIMES, 0]


def test_no_ticket_is_given_twice():
    array = np.zeros(1, np.int64)
    taken = np.zeros(N_THREADS * TIMES, np.int32)
    together(take_tickets, array, taken, TIMES)
    assert array[0] == len(taken)
    assert np.bincount(taken, minlength=N_THREADS + 1).tolist() == [
        0,
        *[TIMES] * N_THREADS,
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_swaps_are_not_lost(dtype):
    array = np.zeros(2, dtype)
    together(add_by_swapping, array, TIMES)
    assert array.tolist() == [N_THREADS // 2 * TIMES] * 2


def test_bits_are_set_once():
    array = np.zeros(TIMES // 4, np.uint32)
    assert together(set_bits, array, TIMES) == [TIMES] * N_THREADS
    assert (array == 0xFFFFFFFF).all()


def test_nothing_is_exchanged_twice():
    array = np.zeros(1, np.int64)
    held = together(pass_on, array, TIMES)
    assert sorted([*held, array[0]]) == list(range(N_THREADS + 1))


def test_a_lock_guards():
    lock, array = np.zeros(1, np.uint32), np.zeros(2, np.int64)
    together(lock_and_add, lock, array, TIMES // 10)
    assert array[0] == N_THREADS * (TIMES // 10)


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_what_was_written_before_is_seen():
    array, told = np.zeros(N_THREADS, np.int64), np.zeros(N_THREADS, np.int64)
    wrong = together(write_and_tell, array, told, TIMES // 10)
    assert wrong == [0] * N_THREADS


@pytest.mark.skipif(INTERPRETED, reason="types are Numba's")
@pytest.mark.parametrize(
    "array", [np.zeros(2), np.zeros((2, 2), int), np.zeros(4)[::2]]
)
def test_other_arrays_are_refused(array):
    @njit
    def tried(array):
        return load(array, 0)

    with pytest.raises(TypingError, match="a contiguous array of integers is needed"):
        tried(array)


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_interpreted():
    """The same, in plain Python."""
    program = f"import pytest, sys; sys.exit(pytest.main(['-q', {__file__!r}]))"
    if not INTERPRETED:
        assert "passed" in output(program, **AS_PYTHON)

"""Tables of states in files, where memory is short."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import InputError, LtlpipeWarning, UnsupportedError, check
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.runtime.jobs import MEMORY, MIB
from ltlpipe.search import emptiness, growth
from ltlpipe.search.catalogue import OF_WORKERS, SEARCHES, SHARED
from ltlpipe.search.growth import (
    DiskFullError,
    OutOfMemoryError,
    in_file,
    is_mapped,
    lengthened,
    total_bytes,
)
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems import fields
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.search.explicit_automata import (
    Explicit,
    automata,
    outcome_of,
    problem_of,
    replay,
    suits,
)
from tests.search.test_driver import figures, search_of

NAMES = sorted(set(SEARCHES) - (SHARED - set(OF_WORKERS)))


def test_an_array_in_a_file_grows(tmp_path):
    """What is there stays, what is new is 0; memory and folder know nothing of it."""
    rows = np.arange(6, dtype=np.uint64).reshape(3, 2)
    array = in_file(str(tmp_path), rows)
    assert not array.any()
    array[:] = rows
    longer = lengthened(array, 1000)
    del array

    assert is_mapped(longer)
    assert longer.shape == (1000, 2)
    assert (longer[:3] == rows).all()
    assert not longer[3:].any()
    assert total_bytes((rows, longer)) == rows.nbytes
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("spill", [False, True])
def test_no_more_states_than_ids_can_say(spill, monkeypatch, tmp_path):
    """Room for more rows would be used: ids of 30 bits and more overflow on stacks."""
    most = 2_000
    monkeypatch.setattr(emptiness, "MAX_STATES", most)
    monkeypatch.setattr(growth, "MAX_STATES", most)
    array = np.zeros((1_500, 1), dtype=np.uint64)
    if spill:
        assert len(lengthened(in_file(str(tmp_path), array), 1_501)) == most
        return
    n = 5_000
    automaton = Explicit(n, 1, tuple((i, 0, (i + 1) % n) for i in range(n)), True)
    search = SEARCHES["se05"]()(problem_of(automaton))

    assert drive(search, Limits()).reason == MEMORY
    assert len(search.store.rows) <= most


def test_files_are_closed_with_their_arrays(tmp_path):
    """However often an array grows."""

    def n_open():
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    before = n_open()
    array = in_file(str(tmp_path), np.zeros(10))
    for length in range(100, 2000, 100):
        array = lengthened(array, length)
    assert n_open() > before
    del array
    assert n_open() == before


def spilling(search, folder):
    """The same search, which has a folder."""
    return type(search)(replace(search.problem, spill=str(folder)))


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("name", NAMES)
def test_a_search_goes_on_in_files(name, tmp_path):
    """Its counts are those without a limit, and its memory stays below it."""
    whole = search_of(name, 8)
    assert drive(whole, Limits()).status == Status.EMPTY
    # Stacks and what is kept per state remain in memory.
    table = whole.store.rows.nbytes + whole.store.slots.nbytes
    limit = whole.memory_bytes - 0.6 * table
    assert drive(search_of(name, 8), Limits(memory_mib=limit / MIB)).reason == "memory"
    search = spilling(search_of(name, 8), tmp_path)
    outcome = drive(search, Limits(memory_mib=limit / MIB))

    assert outcome.status == Status.EMPTY
    assert search.memory_bytes <= limit
    if name != "rabin-parallel":  # whose pairs have a table each
        assert search.file_bytes > table / 2
    assert figures(search) == figures(whole)


def refused_once(refusals):
    """Memory is refused in these calls of growth; then there is enough again."""
    grow = emptiness.StoredSearch._grow_arrays
    calls = 0

    def growing(self, limit_bytes):
        nonlocal calls
        calls += 1
        if calls in refusals:
            raise OutOfMemoryError
        return grow(self, limit_bytes)

    return mock.patch.object(emptiness.StoredSearch, "_grow_arrays", growing)


def assert_files_change_nothing(folder, name, compress, data, budget):
    weak = name in ("dfs-weak", "reach-terminal")
    automaton = data.draw(automata(max_states=40, state_based=True, weak=weak))
    if not suits(name, automaton):
        return
    with mock.patch.object(fields, "_WORD_BITS", 3):
        problem = problem_of(automaton, periods=(2, 3))
    problem = replace(problem, compress=compress)
    refusals = {data.draw(st.integers(1, 3))}
    with mock.patch.object(emptiness, "FIRST_ENTRIES", 0):
        plain = outcome_of(SEARCHES[name]()(problem), budget)
        with refused_once(refusals):
            search = SEARCHES[name]()(replace(problem, spill=str(folder)))
            found = outcome_of(search, budget)

    assert found == plain
    if found.prefix is not None:
        replay(automaton, found.prefix, found.cycle)


WITH_TREES = [*((name, False) for name in NAMES), ("couvreur99", True)]


@pytest.mark.parametrize(("name", "compress"), WITH_TREES)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(15), deadline=None)
def test_files_change_nothing(tmp_path_factory, name, compress, data, budget):
    """Wherever it is that memory ends, and wherever calls of the kernel end."""
    folder = tmp_path_factory.getbasetemp()
    assert_files_change_nothing(folder, name, compress, data, budget)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "compress"), WITH_TREES)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(500), deadline=None)
def test_files_change_nothing_by_the_hundred(
    tmp_path_factory, name, compress, data, budget
):
    folder = tmp_path_factory.getbasetemp()
    assert_files_change_nothing(folder, name, compress, data, budget)


def test_a_question_that_goes_on_in_files(tmp_path):
    """It holds; the result says how much lies in files."""
    options = {"empty": True, "emptiness": "se05", "reduce": "none", "memory": 4}
    assert check(philosophers(8), **options).reason == "memory"
    verdict = check(philosophers(8), spill=str(tmp_path), **options)

    assert (verdict.verdict, verdict.stats.states) == ("holds", 216_993)
    assert verdict.stats.memory_mib <= 4
    assert 2 < verdict.to_dict()["spilled_mib"] < 16
    assert not any(tmp_path.iterdir())


def test_a_violation_is_replayed(tmp_path):
    """Its run is extracted from the files."""
    bare = [replace(c, accepting=None) for c in ring(8).components]
    network = type(ring(8))(bare)
    action = network.actions[-1].name
    found = check(
        network,
        f"G F {action}",
        emptiness="couvreur99",
        reduce="none",
        memory=64,
        spill=str(tmp_path),
    )
    assert found.verdict in ("violated", "holds")


def test_a_full_disk_is_named(tmp_path):
    """The search ends at its limit of memory, with a warning that says why."""

    def full(fd, start, length):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with (
        mock.patch.object(growth.os, "posix_fallocate", full),
        pytest.warns(LtlpipeWarning, match="No space left on device"),
    ):
        verdict = check(
            philosophers(8),
            empty=True,
            emptiness="se05",
            reduce="none",
            memory=4,
            spill=str(tmp_path),
        )
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory")
    assert "No space left on device" in verdict.warnings[0]


def test_a_disk_that_fills_up_later(tmp_path):
    """What was there before stays as it was."""
    array = in_file(str(tmp_path), np.zeros(10))
    array[:] = 7

    def full(fd, start, length):
        raise OSError(errno.ENOSPC, "full")

    with (
        mock.patch.object(growth.os, "posix_fallocate", full),
        pytest.raises(DiskFullError, match="full"),
    ):
        lengthened(array, 100)
    assert array.tolist() == [7] * 10


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"absent.*spill.*No such file"):
        check(
            philosophers(8),
            empty=True,
            emptiness="se05",
            reduce="none",
            memory=4,
            spill=str(tmp_path / "absent"),
        )


@pytest.mark.parametrize(
    "options", [{"bitstate": 1.0}, {"workers": 2}, {"emptiness": "iec"}]
)
def test_what_keeps_no_rows_of_its_own(options, tmp_path):
    with pytest.raises(UnsupportedError, match="spill="):
        check(philosophers(3), empty=True, spill=str(tmp_path), **options)


def test_registers_after_a_limit(tmp_path):
    """A search that was stopped goes on, in files."""
    search = spilling(search_of("se05", 8), tmp_path)
    limits = Limits(memory_mib=4, max_states=150_000)
    assert drive(search, limits).reason == "max-states"
    assert drive(search, Limits(memory_mib=4)).status == Status.EMPTY
    assert search.registers[Reg.VISITED] == 216_993

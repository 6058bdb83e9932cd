"""The nested search over bits: exact where it finds, honest where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.families.philosophers import philosophers
from ltlpipe.families.ring import ring
from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import MIB
from ltlpipe.search.nested.bitstate import BitstateSE05
from ltlpipe.search.registers import Reg, Status
from tests.depth import examples
from tests.driving import Limits, drive
from tests.search.machinery import (
    automata,
    explicit,
    outcome_of,
    problem_of,
    replay,
    run,
)


@given(automata(max_states=12, state_based=True), st.none() | st.integers(1, 4))
@settings(max_examples=examples(300))
def test_with_room_it_is_se05(automaton, budget):
    """In an array that is large enough it visits what se05 visits."""
    exact = run("se05", automaton)
    outcome = outcome_of(BitstateSE05(problem_of(automaton), 1.0), budget)

    assert (outcome.status, outcome.states) == (exact.status, exact.states)
    assert (outcome.transitions, outcome.max_depth) == (
        exact.transitions,
        exact.max_depth,
    )
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


@given(automata(max_states=12, state_based=True), st.integers(1, 4))
@settings(max_examples=examples(300))
def test_without_room_what_it_finds_is_there(automaton, budget):
    """In an array of one word it misses states, and reports true runs only."""
    outcome = outcome_of(BitstateSE05(problem_of(automaton), 1e-9), budget)

    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


@pytest.mark.parametrize("bits_mib", [0.05, 0.1, 0.25])
@pytest.mark.parametrize("network", [philosophers(8), ring(7)], ids=["phil", "ring"])
def test_the_estimate_of_coverage(network, bits_mib):
    """It is near the truth, and below one where states are missed."""
    exact = check(network, empty=True, emptiness="se05").stats.states
    verdict = check(network, empty=True, bitstate=bits_mib)

    assert (verdict.verdict, verdict.reason) == ("unknown", "bitstate")
    share = verdict.stats.states / exact
    assert share < 1
    # Missed states hide others, and are met again and again: never exact.
    assert verdict.stats.coverage == pytest.approx(share, abs=0.12)


def test_with_room_nothing_is_missed():
    """All states, and an estimate of all; still nothing is said to hold."""
    verdict = check(philosophers(7), empty=True, bitstate=32)

    assert verdict.stats.states == 46_707
    assert verdict.stats.coverage == pytest.approx(1, abs=1e-5)
    assert (verdict.verdict, verdict.reason) == ("unknown", "bitstate")
    assert verdict.to_dict()["coverage"] == verdict.stats.coverage


def test_memory_counts_the_array():
    """The array and the stack are all there is; a limit below is hit at once."""
    verdict = check(philosophers(8), empty=True, bitstate=4)
    assert 4 <= verdict.stats.memory_mib < 4 + 8

    assert check(ring(5), empty=True, bitstate=64, memory=10).reason == "memory"
    assert check(philosophers(8), empty=True, bitstate=4, memory=5).reason == "memory"


def test_long_paths_grow_the_stack():
    """A path of 100,000 states with a cycle at its end outgrows every array."""
    n = 100_000
    edges = [(i, i + 1) for i in range(n - 1)] + [(n - 1, n - 2)]
    search = BitstateSE05(problem_of(explicit(n, edges, {n - 1}, weak=False)), 8.0)

    assert drive(search, Limits()).status == Status.FOUND
    search.assert_consistent()
    lasso = jobs.run(search.lasso())
    assert len(lasso.prefix) == n - 1
    assert len(lasso.cycle) == 3
    assert search.registers[Reg.VISITED] == n
    assert search.memory_bytes < 16 * MIB

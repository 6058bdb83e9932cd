"""The nested bitstate search: exact where it finds, honest where it does not."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import MEMORY, MIB
from ltlpipe.search.driver import Outcome
from ltlpipe.search.nested.bits import BLOCK
from ltlpipe.search.nested.bitstate import BitstateSE05, CompactSE05
from ltlpipe.search.registers import Reg, Status
from ltlpipe.strategies import explicit as strategy
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.invariants import assert_consistent
from tests.search.explicit_automata import (
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


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
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


@st.composite
def long_ones(draw):
    """Automata with paths through most of their states, and steps back and ahead."""
    n = draw(st.integers(100, 700))
    states = st.integers(0, n - 1)
    chords = draw(st.lists(st.tuples(states, states), max_size=n // 4))
    backward = draw(st.booleans())
    chords = [(a, b) if backward or a < b else (b, a) for a, b in chords]
    accepting = set(draw(st.lists(states, max_size=6)))
    edges = [*chords, *((i, i + 1) for i in range(n - 1))]
    return explicit(n, list(dict.fromkeys(edges)), accepting, weak=False)


def bitstate(automaton, bits_mib=1.0, variant=0, *, tagless=False):
    """A bitstate search; `tagless` slots of its path are told apart by rows alone."""
    search = BitstateSE05(problem_of(automaton), bits_mib, variant)
    if tagless:
        search.registers[Reg.ID_BITS] = 30  # one bit is left for a tag
    return search


def figures(search, budget):
    """The outcome, with the states expanded, however often."""
    return outcome_of(search, budget), int(search.registers[Reg.EXPANSIONS])


@given(long_ones(), st.none() | st.integers(1, 200), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_long_paths_are_regenerated(automaton, budget, tagless):
    """Rows that were given up come back, wherever the search stops: it is se05."""
    exact = run("se05", automaton)
    outcome, _ = figures(bitstate(automaton, tagless=tagless), budget)

    assert (outcome.status, outcome.states) == (exact.status, exact.states)
    assert (outcome.transitions, outcome.max_depth) == (
        exact.transitions,
        exact.max_depth,
    )
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


def test_states_that_are_expanded_to_close_a_cycle_count():
    """The block of the path in which the cycle of a ring closes is gone."""
    n = 300
    ring = explicit(n, [(i, (i + 1) % n) for i in range(n)], {0}, weak=False)
    found, expanded = figures(bitstate(ring), None)

    assert found.status == Status.FOUND
    assert expanded == n + BLOCK


@given(
    long_ones(), st.integers(1, 200), st.integers(0, 9), st.sampled_from([1e-5, 1.0])
)
@settings(max_examples=examples(150), deadline=None)
def test_where_a_step_stops_changes_nothing(automaton, budget, variant, bits_mib):
    """Status, figures, expansions and lasso are those of the uncut search."""
    uncut = figures(bitstate(automaton, bits_mib, variant), None)

    assert figures(bitstate(automaton, bits_mib, variant), budget) == uncut


@pytest.mark.slow
@given(long_ones(), st.none() | st.integers(1, 200), st.integers(0, 99), st.booleans())
@settings(max_examples=examples(3_000), deadline=None)
def test_variants_agree_on_many(automaton, budget, variant, tagless):
    """In any order, and cut anywhere, the verdict is that of se05."""
    found = outcome_of(bitstate(automaton, 1.0, variant, tagless=tagless), budget)

    assert found.status == run("se05", automaton).status
    if found.status == Status.FOUND:
        replay(automaton, found.prefix, found.cycle)


@given(automata(max_states=12, state_based=True), st.integers(1, 99))
@settings(max_examples=examples(300))
def test_variants_with_room_agree(automaton, variant):
    """Other orders and hash functions find what there is to be found."""
    found = outcome_of(bitstate(automaton, 1.0, variant))

    assert found.status == run("se05", automaton).status
    if found.status == Status.EMPTY:
        assert found.states == run("se05", automaton).states
    else:
        replay(automaton, found.prefix, found.cycle)


def test_wide_states_take_wider_entries():
    """A state with 300 successors; each is entered, and the path known."""
    n = 300
    edges = [(0, i) for i in range(n)] + [(i, (i * 7) % n) for i in range(1, n)]
    edges = list(dict.fromkeys(edges))
    automaton = explicit(n, edges, {299}, weak=False)
    search = bitstate(automaton)
    found = outcome_of(search, 3)

    assert search.arrays.steps.entries.shape[1] == 2
    assert found.status == run("se05", automaton).status == Status.FOUND
    replay(automaton, found.prefix, found.cycle)


def coverage_of(automaton, bits_mib):
    search = bitstate(automaton, bits_mib)
    assert drive(search, Limits()).status == Status.EMPTY
    return search.n_visited / automaton.n_states, search.coverage()


def test_no_estimate_for_a_path():
    """What lies behind a state that was missed has no other way in."""
    path = explicit(60_000, [(i, i + 1) for i in range(59_999)], set(), weak=True)
    share, coverage = coverage_of(path, 0.05)

    assert share < 0.9
    assert coverage is None


def test_no_estimate_for_a_tree():
    """Nor has a subtree."""
    n = 1 << 15
    edges = [(i, j) for i in range(n) for j in (2 * i + 1, 2 * i + 2) if j < n]
    share, coverage = coverage_of(explicit(n, edges, set(), weak=True), 0.01)

    assert share < 0.9
    assert coverage is None


def test_a_path_with_room_is_seen():
    """Where less than one in a hundred searches misses a state, nothing is hidden."""
    path = explicit(10_000, [(i, i + 1) for i in range(9_999)], set(), weak=True)

    assert coverage_of(path, 8.0) == (1.0, pytest.approx(1))


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("bits_mib", [0.004, 0.008, 0.016])
def test_the_estimate_on_random_graphs(degree, bits_mib):
    """Reachable states, not those met: many are behind what was missed."""
    rng = np.random.default_rng(degree)
    n = 20_000
    ends = rng.integers(0, n, (n, degree))
    edges = [(i, int(j)) for i in range(n) for j in ends[i]]
    graph = explicit(n, list(dict.fromkeys(edges)), set(), weak=True)
    reachable = run("dfs-weak", graph).states
    search = bitstate(graph, bits_mib)
    drive(search, Limits())
    coverage = search.coverage()

    if coverage is not None:
        assert coverage == pytest.approx(search.n_visited / reachable, abs=0.05)
    else:
        assert search.n_visited / reachable < 0.75


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_hash_functions_miss_different_states():
    """Two variants together see more than each, by about what is expected."""
    network = philosophers(8)
    one = check(network, empty=True, bitstate=0.06)
    three = check(network, empty=True, bitstate=0.06, swarm=3)
    exact = check(network, empty=True, emptiness="se05").stats.states

    first = three.stats.details["swarm"][0]
    assert first["states"] == one.stats.states
    assert three.stats.coverage > one.stats.coverage
    assert three.stats.coverage == pytest.approx(three.stats.states / exact, abs=0.1)
    assert (three.verdict, three.reason) == ("unknown", "bitstate")
    assert len(three.to_dict()["swarm"]) == 3


def test_a_swarm_ends_with_the_first_violation():
    """What a member finds is replayed like any other run."""
    bare = [replace(c, accepting=None) for c in philosophers(4).components]
    found = check(Network(bare), "G !eat0", bitstate=1, swarm=5)

    assert found.verdict == "violated"
    assert found.lasso is not None


def seen(verdict):
    """What a swarm says that must not depend on how many run at a time."""
    stats = verdict.stats
    return stats.states, stats.transitions, stats.coverage, stats.details["swarm"]


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_members_side_by_side_see_what_they_see_one_by_one(workers):
    """Each of them, and all together."""
    network = philosophers(7)
    question = {"empty": True, "bitstate": 0.02, "swarm": 5}
    one_by_one = check(network, **question)
    side_by_side = check(network, workers=workers, **question)

    assert sorted(map(str, seen(side_by_side)[3])) == sorted(
        map(str, seen(one_by_one)[3])
    )
    assert seen(side_by_side)[:3] == seen(one_by_one)[:3]
    assert f"{workers} searches at a time" in " ".join(side_by_side.plan.reasons)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_violation_of_a_swarm_is_the_same_every_time(workers):
    """However threads are scheduled."""
    bare = [replace(c, accepting=None) for c in philosophers(6).components]
    found = [
        check(Network(bare), "G !eat0", bitstate=1, swarm=4, workers=workers)
        for _ in range(3)
    ]
    assert {v.verdict for v in found} == {"violated"}
    assert len({(v.stats.states, str(v.lasso)) for v in found}) == 1


def test_a_swarm_keeps_to_its_memory():
    """Where there is none for two arrays, one runs after the other."""
    network = philosophers(7)
    question = {"empty": True, "bitstate": 4, "swarm": 3, "workers": 3}
    wide = check(network, **question)
    narrow = check(network, memory=10, **question)

    assert wide.stats.memory_mib > 12
    assert narrow.stats.memory_mib <= 10
    assert narrow.reason == "bitstate"
    assert seen(narrow)[0] == seen(wide)[0]


def test_a_limit_of_one_search_hides_no_run_of_another():
    """In the same round the first has come to its memory, and the second has found."""
    swarm = object.__new__(strategy._Swarm)
    short, lucky = Mock(), Mock()
    swarm._running, swarm._members = {short: Mock(), lucky: Mock()}, []
    found = Outcome(Status.FOUND)

    ended = swarm._ended([Outcome(Status.RUNNING, MEMORY), found])
    assert ended == (lucky, found)


def test_a_swarm_that_is_stopped_says_what_it_has_seen():
    verdict = check(philosophers(8), empty=True, bitstate=1, swarm=2, max_states=1000)
    assert (verdict.verdict, verdict.reason) == ("unknown", "max-states")
    assert [run["states"] for run in verdict.stats.details["swarm"]] == [1000, 1000]


def test_a_swarm_needs_bits():
    with pytest.raises(UnsupportedError, match="swarm=3 requires"):
        check(philosophers(3), "G !eat0", swarm=3)


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
    assert_consistent(search)
    assert search.memory_bytes < 11 * MIB
    lasso = jobs.run(search.lasso())
    assert len(lasso.prefix) == n - 1
    assert len(lasso.cycle) == 3
    assert search.registers[Reg.VISITED] == n


def star(n):
    """A state with n successors."""
    return explicit(n + 1, [(0, i) for i in range(1, n + 1)], set(), weak=True)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("bits", [10, 13, 16])
@pytest.mark.parametrize("n", [300, 3_000])
def test_omissions_of_prints_are_as_predicted(n, bits):
    """All states are met; those whose fingerprint is taken are never entered."""
    omitted = predicted = 0.0
    for variant in range(20):
        search = CompactSE05(problem_of(star(n)), bits, variant)
        assert drive(search, Limits()).status == Status.EMPTY
        omitted += n + 1 - search.n_visited
        predicted += search.predicted_omissions()

    assert omitted > 0 or bits == 16
    assert omitted == pytest.approx(predicted, abs=4 * predicted**0.5 + 1, rel=0.05)


def assert_prints_are_se05(automaton, budget, bits, variant):
    exact = run("se05", automaton)
    search = CompactSE05(problem_of(automaton), bits, variant)
    outcome = outcome_of(search, budget)

    assert outcome.status == exact.status
    if variant == 0 or outcome.status == Status.EMPTY:
        assert outcome.states == exact.states
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


@given(
    automata(max_states=12, state_based=True),
    st.none() | st.integers(1, 4),
    st.sampled_from([32, 40, 64]),
    st.integers(0, 9),
)
@settings(max_examples=examples(300))
def test_prints_are_se05(automaton, budget, bits, variant):
    """With bits enough for all it visits what se05 visits."""
    assert_prints_are_se05(automaton, budget, bits, variant)


@pytest.mark.slow
@given(
    automata(max_states=12, state_based=True),
    st.none() | st.integers(1, 4),
    st.sampled_from([32, 40, 64]),
    st.integers(0, 9),
)
@settings(max_examples=examples(5_000))
def test_prints_are_se05_by_the_thousand(automaton, budget, bits, variant):
    assert_prints_are_se05(automaton, budget, bits, variant)


@given(long_ones(), st.none() | st.integers(1, 200), st.sampled_from([3, 8, 32]))
@settings(max_examples=examples(150), deadline=None)
def test_long_paths_over_prints(automaton, budget, bits):
    """The table grows meanwhile; what few bits find is there."""
    outcome = outcome_of(CompactSE05(problem_of(automaton), bits), budget)

    if bits == 32:
        assert outcome.status == run("se05", automaton).status
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


def test_prints_take_less_than_rows():
    """All states of a network, and the probability that one was missed."""
    network = philosophers(8)
    exact = check(network, empty=True, emptiness="se05").stats
    verdict = check(network, empty=True, compact=64)

    assert verdict.stats.states == exact.states
    assert (verdict.verdict, verdict.reason) == ("unknown", "compact")
    assert verdict.stats.omission_probability < 1e-6
    assert verdict.stats.coverage == pytest.approx(1)
    assert check(network, empty=True, compact=32).stats.memory_mib < exact.memory_mib
    assert check(network, empty=True, compact=64, memory=1).reason == "memory"


@pytest.mark.parametrize("options", [{"compact": 48}, {"compact": 32, "bitstate": 1}])
def test_prints_of_other_widths_are_refused(options):
    with pytest.raises(UnsupportedError, match="compact="):
        check(philosophers(3), empty=True, **options)


def test_limits_where_states_have_many_successors():
    """Here 2^18, each of which is looked at once for the estimate of coverage."""
    part = [(0, "go", 1), (0, "go", 2), (1, "a", 0)]
    network = Network([LTS.from_transitions(part)] * 18)
    verdict = check(network, "G(a -> F go)", bitstate=1, timeout=1)
    assert verdict.stats.seconds < 5

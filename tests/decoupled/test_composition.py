"""Exploration of the decoupled composition, and its dominance pruning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
from ltlpipe.decoupled.dominance import (
    VisitedSets,
    add_row,
    find_dominating,
    has_room,
)
from ltlpipe.families.networks import random_network, ring
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.driver import Outcome
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.decoupled.examples import figure_4_left, figure_4_right, figure_8
from tests.decoupled.jobs import decoupled_of
from tests.decoupled.reference import LargestFirst
from tests.hypothesis_strategies import networks
from tests.invariants import assert_consistent

NETWORKS = networks(
    max_components=4, max_states=5, max_transitions=9, internal=("d",), acceptance=True
)


@njit
def look_up(visited, rows, i):
    """Look a row up as searches do; -2 asks for room."""
    if not has_room(visited):
        return np.int64(-2)
    found = find_dominating(visited, rows, i)
    if found < 0:
        add_row(visited, rows, i)
    return found


def run(network, *, limits=None, budget=None):
    """A search in which nothing accepts, and dominance alone leaves states out."""
    decoupled = decoupled_of(network)
    nothing = np.zeros_like(decoupled.initial)
    tables = decoupled.tables._replace(accepting=nothing, references=nothing)
    search = DecoupledNDFS(decoupled._replace(tables=tables))
    search.outer.n_table_words = 0  # no table of members
    outcome = drive(search, limits or Limits(), max_budget=budget)
    assert_consistent(search.visited)
    return search, outcome


def visited_states(search):
    """The visited decoupled states as tuples of frozen sets, in order."""
    rows = search.visited.arrays.store.rows[: search.visited.n_stored]
    return [search.network.unpack(row) for row in rows]


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_bits", "n_words"), [(14, 1), (30, 2), (64, 3)])
def test_dominating_rows_against_a_linear_scan(n_bits, n_words, seed):
    """Found iff some visited row includes the new one; the one found does."""
    rng = np.random.default_rng(seed)
    visited = VisitedSets(n_words)
    shape = (3000, n_words)
    rows = np.zeros(shape, dtype=np.uint64)
    dense = rng.integers(2, 5)
    for b in range(n_bits):
        chosen = rng.integers(0, dense, size=shape) > 0
        rows |= np.where(chosen, np.uint64(1 << b), np.uint64(0))
    known = []
    n_duplicates = 0
    for i in range(len(rows)):
        found = look_up(visited.arrays, rows, i)
        while found == -2:
            list(visited.grow(float("inf")))
            found = look_up(visited.arrays, rows, i)
        matrix = rows[known]
        including = np.all(rows[i] & ~matrix == 0, axis=1)
        assert (found >= 0) == bool(including.any())
        if found >= 0:
            assert including[found]
            n_duplicates += bool(np.all(matrix == rows[i], axis=1).any())
        else:
            known.append(i)
    assert_consistent(visited)
    assert visited.n_stored == len(known)
    statistics = visited.statistics()
    assert statistics["duplicates"] == n_duplicates
    assert statistics["dominated"] == len(rows) - len(known) - n_duplicates


@given(NETWORKS)
def test_visits_what_the_plain_search_visits(network):
    """The same decoupled states in the same order."""
    search, outcome = run(network)

    assert outcome == Outcome(Status.EMPTY)
    assert visited_states(search) == LargestFirst(network).explored()


@given(NETWORKS, st.integers(1, 3))
def test_where_a_step_stops_changes_nothing(network, budget):
    """Visited states and statistics are those of the uncut search."""
    cut, _ = run(network, budget=budget)
    uncut, _ = run(network)
    assert visited_states(cut) == visited_states(uncut)
    assert cut.statistics() == uncut.statistics()


@pytest.mark.parametrize(
    ("network", "n_states"),
    [(figure_4_left(12), 1), (figure_4_right(9), 2), (figure_8(), 6)],
    ids=["Fig. 4, left", "Fig. 4, right", "Fig. 8"],
)
def test_decoupled_states_of_the_paper(network, n_states):
    """Sec. 3.3 and Example 1."""
    search, _ = run(network)
    assert search.statistics()["decoupled_states"] == n_states


def test_components_beyond_a_word():
    """Random components of more than 64 states; arrays grow."""
    for seed in range(3):
        network = random_network(2, seed=seed, n_states=(65, 140), local_ratio=0.6)
        search, outcome = run(network)
        assert outcome == Outcome(Status.EMPTY)
        assert visited_states(search) == LargestFirst(network).explored()


@pytest.mark.parametrize("n", [4, 16, 40])
def test_one_decoupled_state_covers_the_ring(n):
    """Every component reaches all its states alone; all n successors are dominated."""
    statistics = run(ring(n))[0].statistics()
    assert statistics["decoupled_states"] == 1
    assert statistics["dominated"] + statistics["duplicates"] == n


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_the_index_does_not_compare_with_everything():
    """A look-up among 25000 states meets a small share of them."""
    network = random_network(4, seed=1, n_states=(20, 30), local_ratio=0.2)
    search, _ = run(network)
    statistics = search.statistics()
    assert statistics["decoupled_states"] > 25_000
    looked_up = search.registers[Reg.TRANSITIONS] - statistics["duplicates"]
    assert statistics["compared"] < 25 * looked_up
    assert statistics["nodes_seen"] < 80 * looked_up


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_limits_end_the_exploration():
    """Of states, memory and time; it can be driven on."""
    network = random_network(4, seed=1, n_states=(20, 30), local_ratio=0.2)
    whole, _ = run(network)
    search, outcome = run(network, limits=Limits(max_states=5))
    assert outcome.reason == "max-states"
    assert search.visited.n_stored == 5
    assert drive(search, Limits()) == Outcome(Status.EMPTY)
    assert visited_states(search) == visited_states(whole)
    assert run(network, limits=Limits(memory_mib=0.001))[1].reason == "memory"
    assert run(network, limits=Limits(timeout=0))[1].reason == "timeout"

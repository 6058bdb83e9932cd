"""The nested search in decoupled states against the plain one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.decoupled.decoupled_ndfs import Closing, DecoupledNDFS
from ltlpipe.families.networks import random_network
from ltlpipe.runtime.jobs import run as run_job
from ltlpipe.search.driver import Outcome
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.decoupled.examples import (
    figure_4_left,
    figure_4_right,
    figure_5,
    figure_8,
)
from tests.decoupled.jobs import decoupled_of
from tests.decoupled.reference import LargestFirst
from tests.hypothesis_strategies import networks
from tests.invariants import assert_consistent
from tests.oracles import accepting_run_exists

NETWORKS = networks(
    max_components=4, max_states=5, max_transitions=9, internal=("d",), acceptance=True
)


def run(network, *, stack=False, budget=None, limits=None, covering=False):
    search = DecoupledNDFS(decoupled_of(network), stack_test=stack)
    if covering:
        for boxes in (search.outer, search.inner):
            boxes.add_table(math.inf)
    outcome = drive(search, limits or Limits(), max_budget=budget)
    assert_consistent(search.visited)
    assert_consistent(search.inner.visited)
    return search, outcome


def outer_trace(search):
    """The labels on the outer stack, whatever closed the cycle."""
    trace = run_job(search.trace())
    before = trace.cycle[: trace.cycle.index(-1)] if trace.cycle else []
    return trace.prefix + before


def names(network, actions):
    return [network.actions[a].name for a in actions]


def assert_as_plain(network, *, stack=False, covering=False):
    """Same answer, same reason, same states visited, same trace on the stack."""
    search, outcome = run(network, stack=stack, covering=covering)
    plain = LargestFirst(network, stack=stack, covering=covering)
    found = plain.run()
    assert outcome.status == (Status.EMPTY if found is None else Status.FOUND)
    statistics = search.statistics()
    assert statistics["decoupled_states"] == len(plain.visited)
    assert statistics["split_states"] == len(plain.visited_split)
    assert statistics["inner_searches"] == plain.n_roots
    if not covering:
        rows = search.visited.arrays.store.rows[: search.visited.n_stored]
        assert [search.network.unpack(row) for row in rows] == plain.visited
    if found is not None:
        assert Closing(search.registers[Reg.CLOSING]).name.lower() == found.by
        assert outer_trace(search) == plain.labels
    return search, found


@given(NETWORKS, st.booleans(), st.booleans())
def test_does_what_the_plain_search_does(network, stack, covering):
    """And answers as the explicit search (Theorem 4)."""
    _, found = assert_as_plain(network, stack=stack, covering=covering)
    assert (found is not None) == accepting_run_exists(network)


@given(NETWORKS, st.booleans(), st.integers(1, 3), st.booleans())
def test_where_a_step_stops_changes_nothing(network, stack, budget, covering):
    """Answer, statistics and traces are those of the uncut search."""
    cut, ended = run(network, stack=stack, budget=budget, covering=covering)
    uncut, expected = run(network, stack=stack, covering=covering)
    assert ended == expected
    assert cut.statistics() == uncut.statistics()
    if ended.status == Status.FOUND:
        assert run_job(cut.trace()) == run_job(uncut.trace())


@pytest.mark.parametrize(
    ("network", "n_states"),
    [
        (figure_4_left(12, accepting=[1]), 3),
        (figure_4_right(9, accepting=[1], back=True), 4),
    ],
    ids=["Fig. 9, left", "Fig. 9, right"],
)
def test_decoupled_states_of_the_paper(network, n_states):
    """Sec. 4.4, with the last state of the inner search."""
    search, outcome = run(network)
    statistics = search.statistics()
    assert outcome.status == Status.FOUND
    assert statistics["inner_searches"] == 1
    assert statistics["decoupled_states"] + statistics["split_states"] + 1 == n_states


def test_the_cycle_of_figure_5_is_found():
    """References keep 3 reached from 2 apart from 3 reached from 4."""
    network = figure_5()
    search, outcome = run(network)
    assert outcome.status == Status.FOUND
    assert run_job(search.trace()).prefix == []
    assert names(network, run_job(search.trace()).cycle[1:]) == ["l1", "l2"]
    assert run(figure_5(cycle=False))[1] == Outcome(Status.EMPTY)


def test_example_1():
    """Fig. 8: the cycle of G is closed before H is visited, or C is expanded."""
    network = figure_8()
    search, _ = assert_as_plain(network)
    assert names(network, run_job(search.trace()).prefix) == ["l1", "l6"]
    assert names(network, run_job(search.trace()).cycle[1:]) == ["l7", "l7"]
    statistics = search.statistics()
    assert statistics["decoupled_states"] == 5
    assert statistics["inner_searches"] == 1
    assert statistics["split_states"] == 2


@pytest.mark.parametrize("covering", [False, True])
@pytest.mark.parametrize("stack", [False, True])
def test_blocks_beyond_a_word(stack, covering):
    """Components of more than 64 states, with several references each."""
    for seed in range(6):
        network = random_network(
            2,
            seed=seed,
            n_states=(60, 90),
            local_ratio=0.6,
            accepting_ratio=0.1,
        )
        assert_as_plain(network, stack=stack, covering=covering)


def test_a_component_without_accepting_states():
    """No state is accepting: no inner search."""
    never = LTS.from_transitions([(0, "g", 0)], accepting=[])
    search, outcome = run(Network([never, LTS.from_transitions([(0, "g", 0)])]))
    assert outcome == Outcome(Status.EMPTY)
    assert search.statistics()["inner_searches"] == 0


@pytest.mark.parametrize("covering", [False, True])
def test_limits_end_the_search(covering):
    """It can be driven on, and then answers as if it had not been stopped."""
    network = random_network(3, seed=5, n_states=(15, 30), local_ratio=0.4)
    whole, expected = run(network, covering=covering)
    search, outcome = run(network, limits=Limits(max_states=4), covering=covering)
    assert outcome.reason == "max-states"
    assert drive(search, Limits()) == expected
    for name in ("decoupled_states", "split_states", "inner_searches"):
        assert search.statistics()[name] == whole.statistics()[name]
    assert run(network, limits=Limits(memory_mib=0.001))[1].reason == "memory"

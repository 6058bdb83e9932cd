"""The nearest deadlock against a breadth-first search of the explicit composition."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, deadlocks
from ltlpipe.automata.letters import universal
from ltlpipe.runtime import jobs
from ltlpipe.search.exploring import DeadlockSearch
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.verdict.deadlocks import run_replayed
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import networks
from tests.oracles import compose
from tests.packed import pack

NETWORKS = networks(max_components=3, max_states=5, internal=["d"], acceptance=True)


def nearest(network):
    """Steps to the nearest state without any; None if there is no such state."""
    states, edges = compose(network)
    followers = [[] for _ in states]
    for src, _, dst in edges:
        followers[src].append(dst)
    distance = {0: 0}
    queue = deque([0])
    while queue:
        state = queue.popleft()
        if not followers[state]:
            return distance[state]
        for dst in followers[state]:
            if dst not in distance:
                distance[dst] = distance[state] + 1
                queue.append(dst)
    return None


def search_of(network):
    letters = np.zeros(len(network.actions), dtype=np.int32)
    return DeadlockSearch(make_problem(pack(network, letters), universal()))


def assert_nearest(network, seed):
    expected = nearest(network)
    found = deadlocks(network, seed=seed)
    assert found.verdict == ("holds" if expected is None else "violated")
    if expected is not None:
        assert len(found.lasso.prefix) == expected


@given(NETWORKS, st.none() | st.integers(0, 99))
@settings(max_examples=examples(300))
def test_nearest(network, seed):
    """The way has been replayed; its length is that of a shortest one."""
    assert_nearest(network, seed)


def test_a_limit_in_the_replay_leaves_the_verdict(monkeypatch):
    """The replay is part of the job: a limit that it hits costs the lasso alone."""

    def stopped(*arguments, **how):
        yield from run_replayed(*arguments, **how)
        raise jobs.StoppedError(jobs.TIMEOUT)

    monkeypatch.setattr("ltlpipe.verdict.deadlocks.run_replayed", stopped)
    found = deadlocks(Network([LTS.from_transitions([(0, "a", 1)])]))
    assert (found.verdict, found.reason) == ("violated", "lasso-limit")
    assert found.lasso is None


@pytest.mark.slow
@given(NETWORKS, st.none() | st.integers(0, 99))
@settings(max_examples=examples(5000))
def test_nearest_by_the_thousand(network, seed):
    assert_nearest(network, seed)


@given(NETWORKS, st.integers(1, 4))
@settings(max_examples=examples(100))
def test_where_a_step_stops_changes_nothing(network, budget):
    cut, whole = search_of(network), search_of(network)
    status = drive(cut, Limits(), max_budget=budget).status
    assert status == drive(whole, Limits()).status
    assert (cut.registers == whole.registers).all()
    if status == Status.FOUND:
        found, same = jobs.run(cut.lasso()), jobs.run(whole.lasso())
        assert found.prefix.tolist() == same.prefix.tolist()
        assert found.cycle.tolist() == [cut.registers[Reg.CLOSING]] * 2

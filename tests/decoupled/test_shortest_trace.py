"""Shortest global traces against a search in the explicit composition."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.decoupled import lassos
from ltlpipe.decoupled.lassos import Breadth
from ltlpipe.families.networks import random_network
from ltlpipe.search.registers import Status
from tests.complete_searches import Limits, drive
from tests.decoupled.jobs import decoupled_of, trace_of
from tests.hypothesis_strategies import networks
from tests.invariants import assert_consistent
from tests.oracles import compose

NETWORKS = networks(max_components=4, max_states=4, max_transitions=8, internal=("d",))


def fewest_labels(network, start):
    """By composed state: the least number, not 0, of global labels on a way there.

    Each state counts twice: with and without a label on the way.
    """
    states, edges = compose(network)
    shared = {i for i, a in enumerate(network.actions) if len(a.participants) > 1}
    leaving = {}
    for src, action, dst in edges:
        leaving.setdefault(src, []).append((int(action in shared), dst))
    best = {states.index(start): 0}
    looped = {}
    todo = deque([(states.index(start), 0)])
    while todo:
        state, cost = todo.popleft()
        known = best if cost == 0 else looped
        if known.get(state, cost) < cost:
            continue
        for more, dst in leaving.get(state, ()):
            into = best if cost + more == 0 else looped
            if into.get(dst, cost + more + 1) > cost + more:
                into[dst] = cost + more
                (todo.append if more else todo.appendleft)((dst, cost + more))
    return {states[i]: n for i, n in looped.items()}


@given(NETWORKS, st.data())
def test_as_few_labels_as_there_can_be(network, data):
    """From the initial state, and from any reachable state back to itself."""
    states, _ = compose(network)
    decoupled = decoupled_of(network)
    goal = data.draw(st.sampled_from(states))
    found = trace_of(decoupled, decoupled.initial, goal)
    expected = fewest_labels(network, states[0])
    assert (None if found is None else len(found)) == expected.get(goal)
    found = trace_of(decoupled, decoupled.pack(goal, closed=True), goal)
    expected = fewest_labels(network, goal)
    assert (None if found is None else len(found)) == expected.get(goal)


@given(NETWORKS, st.data(), st.integers(1, 3))
def test_where_a_step_stops_changes_nothing(network, data, budget):
    """The labels and the states visited are those of the uncut search."""
    goal = data.draw(st.sampled_from(compose(network)[0]))
    decoupled = decoupled_of(network)
    cut, uncut = (
        Breadth(decoupled, decoupled.initial, decoupled.pack(goal)) for _ in range(2)
    )
    ended = drive(cut, Limits(), max_budget=budget)
    assert ended == drive(uncut, Limits())
    assert_consistent(cut.visited)
    assert cut.visited.n_stored == uncut.visited.n_stored
    if ended.status == Status.FOUND:
        assert cut.labels() == uncut.labels()


def test_the_way_round_a_ring():
    """From 2 to 1 of five states: four labels; back to 2: five."""
    ring = [(s, "g", (s + 1) % 5) for s in range(5)]
    network = Network(
        [
            LTS.from_transitions(ring, initial=2),
            LTS.from_transitions([(0, "g", 0), (0, "i", 1), (1, "g", 0)]),
        ]
    )
    decoupled = decoupled_of(network)
    ways = [trace_of(decoupled, decoupled.initial, [s, 1]) for s in (1, 2)]
    assert [len(way) for way in ways] == [4, 5]
    assert {network.actions[a].name for way in ways for a in way} == {"g"}


def test_it_gives_up_in_time(monkeypatch):
    """A longer trace is known anyway."""
    network = random_network(4, seed=1, local_ratio=0.2)
    decoupled = decoupled_of(network)
    goal = [int(states[-1]) for states in decoupled.local_states]
    monkeypatch.setattr(lassos, "MOST_STATES", 50)
    assert trace_of(decoupled, decoupled.initial, goal) is None


def test_rows_of_composed_states():
    """`pack` is the inverse of `unpack`; closed it has what internal steps reach."""
    network = random_network(3, seed=2, n_states=(60, 90), local_ratio=0.5)
    decoupled = decoupled_of(network)
    members = [int(states[-1]) for states in decoupled.local_states]
    row = decoupled.pack(members)
    assert decoupled.unpack(row) == tuple(frozenset([m]) for m in members)
    initial = [component.initial for component in network.components]
    assert np.array_equal(decoupled.pack(initial, closed=True), decoupled.initial)

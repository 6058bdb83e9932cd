"""Shortest global traces against a search in the explicit composition."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.search.decoupled import breadth
from ltlpipe.search.decoupled.breadth import shortest_trace
from ltlpipe.search.decoupled.building import decouple
from ltlpipe.systems.random_networks import random_network
from tests.oracles import compose
from tests.strategies import networks

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
    decoupled = decouple(network)
    goal = data.draw(st.sampled_from(states))
    found = shortest_trace(decoupled, decoupled.initial, goal)
    expected = fewest_labels(network, states[0])
    assert (None if found is None else len(found)) == expected.get(goal)
    found = shortest_trace(decoupled, decoupled.pack(goal, closed=True), goal)
    expected = fewest_labels(network, goal)
    assert (None if found is None else len(found)) == expected.get(goal)


def test_it_gives_up_in_time(monkeypatch):
    """A longer trace is known anyway."""
    network = random_network(4, seed=1, local_ratio=0.2)
    decoupled = decouple(network)
    goal = [int(states[-1]) for states in decoupled.local_states]
    monkeypatch.setattr(breadth, "MOST_STATES", 50)
    assert shortest_trace(decoupled, decoupled.initial, goal) is None


def test_rows_of_composed_states():
    """`pack` is the inverse of `unpack`; closed it has what internal steps reach."""
    network = random_network(3, seed=2, n_states=(60, 90), local_ratio=0.5)
    decoupled = decouple(network)
    members = [int(states[-1]) for states in decoupled.local_states]
    row = decoupled.pack(members)
    assert decoupled.unpack(row) == tuple(frozenset([m]) for m in members)
    initial = [component.initial for component in network.components]
    assert np.array_equal(decoupled.pack(initial, closed=True), decoupled.initial)

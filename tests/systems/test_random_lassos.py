"""Random lassos: runs of the network, by the definition of composition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.families.networks import random_lassos
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.words import Word
from ltlpipe.systems.networks.lts import LTS, Network
from tests.families.test_rers_networks import BOTH, successors


@given(st.sampled_from(BOTH), st.integers(1, 5), st.integers(0, 10**6))
def test_they_are_runs(style, n, seed):
    """The prefix can be taken, and some state behind it is met again by the cycle."""
    network = rers_network(n, style=style, seed=seed).network
    rng = np.random.default_rng(seed)
    for lasso in random_lassos(network, 3, rng=rng, steps=30):
        reached = {tuple(c.initial for c in network.components)}
        for action in lasso.prefix:
            reached = set().union(*(successors(network, s, action) for s in reached))
        assert any(returns(network, state, lasso.cycle) for state in reached)


def returns(network, state, cycle):
    reached = {state}
    for action in cycle:
        reached = set().union(*(successors(network, s, action) for s in reached))
    return state in reached


def test_the_generator_decides():
    """Equal ones give equal runs."""
    network = rers_network(3, style="random-pairs", seed=1).network
    first, again = (
        random_lassos(network, 20, rng=np.random.default_rng(7), steps=50)
        for _ in range(2)
    )
    assert first == again
    assert len(set(first)) > 10


def test_no_infinite_run():
    """None is found where there is none."""
    network = Network([LTS.from_transitions([(0, "a", 1)])])
    assert random_lassos(network, 5, rng=np.random.default_rng(0), steps=9) == []


def test_internal_labels_stay_apart():
    """Two components with the same internal label do not wait for each other."""
    one = LTS.from_transitions([(0, "i", 0)], internal=["i"])
    other = LTS.from_transitions([(0, "b", 1), (1, "i", 0)], internal=["i"])
    network = Network([one, other])
    found = random_lassos(network, 20, rng=np.random.default_rng(0), steps=0)
    assert Word((), ("i",)) in found

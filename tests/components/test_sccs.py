"""SCCs of random graphs, against reachability, wherever the kernel is cut."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.components import transition_arrays
from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.runtime.jobs import Progress, complete
from tests.example_counts import examples
from tests.oracles import reaches


@st.composite
def graphs(draw):
    """The successors of each state."""
    n = draw(st.integers(1, 9))
    state = st.integers(0, n - 1)
    return draw(st.lists(st.lists(state, max_size=3), min_size=n, max_size=n))


def found_in(followers, budget=None):
    counts = np.array([len(some) for some in followers])
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    dst = np.array([t for some in followers for t in some], dtype=np.int32)
    budget = budget or transition_arrays._BUDGET
    with mock.patch.object(transition_arrays, "_BUDGET", budget):
        scc, count = complete(sccs_of(first, dst, Progress()))
    return scc.tolist(), count


@given(graphs(), st.integers(1, 4))
@settings(max_examples=examples(200))
def test_random_graphs(followers, budget):
    """Two states are in one SCC iff they reach each other; successors come first."""
    scc, count = found_in(followers)
    states = range(len(followers))
    sets = [set(some) for some in followers]
    for s in states:
        for t in states:
            both = reaches(sets, s, t) and reaches(sets, t, s)
            assert (scc[s] == scc[t]) == (s == t or both)
    assert sorted(set(scc)) == list(range(count))
    assert all(scc[t] <= scc[s] for s in states for t in followers[s])
    assert found_in(followers, budget) == (scc, count)


def test_a_path_and_a_ring():
    """Known numbers: an SCC comes before those that reach it."""
    assert found_in([[1], [2], [3, 1], []]) == ([2, 1, 1, 0], 3)

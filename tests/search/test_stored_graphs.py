"""Cycles with all marks in graphs that are stored already."""

from __future__ import annotations

import numpy as np
import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st
from spot import buddy

from ltlpipe import is_empty
from ltlpipe.runtime.jobs import complete
from ltlpipe.search.scc import stored_graphs
from ltlpipe.search.scc.stored_graphs import search_graph
from tests.example_counts import examples

MARKS = 3


@st.composite
def graphs(draw):
    """A few transitions between a few states, ordered by source."""
    n = draw(st.integers(1, 12))
    state = st.integers(0, n - 1)
    edge = st.tuples(state, state, st.integers(0, (1 << MARKS) - 1))
    return n, sorted(draw(st.lists(edge, max_size=40)), key=lambda e: e[0])


def automaton_of(n, edges, n_marks):
    """Return a graph as an automaton of Spot."""
    made = spot.make_twa_graph()
    made.set_generalized_buchi(n_marks)
    made.new_states(n)
    for src, dst, marks in edges:
        bits = [m for m in range(n_marks) if marks >> m & 1]
        made.new_edge(src, dst, buddy.bddtrue, bits)
    return made


def reachable(edges):
    """Return the states that can be reached from state 0."""
    known = {0}
    while more := {dst for src, dst, _ in edges if src in known} - known:
        known |= more
    return known


@given(graphs(), st.integers(0, MARKS), st.sampled_from([1, 5, 1 << 20]))
@settings(max_examples=examples(300))
def test_stored_graphs(graph, n_marks, budget):
    """Spot says the same, wherever calls of the kernel end; all states are entered
    where there is no such cycle.
    """
    n, edges = graph
    edges = [(src, dst, marks & (1 << n_marks) - 1) for src, dst, marks in edges]
    src = np.array([e[0] for e in edges], dtype=np.int64)
    first = np.searchsorted(src, np.arange(n + 1))
    dst = np.array([e[1] for e in edges], dtype=np.int32)
    marks = np.array([e[2] for e in edges], dtype=np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_graphs, "_BUDGET", budget)
        outcome = complete(search_graph(first, dst, marks, 0, n_marks))
    assert outcome.found != automaton_of(n, edges, n_marks).is_empty()
    if not outcome.found:
        known = reachable(edges)
        assert outcome.states == len(known)
        assert outcome.transitions == sum(e[0] in known for e in edges)


@pytest.mark.parametrize("closing", [0, 1])
def test_large_automata(closing):
    """One that is beyond plain Python: as with a search that is named."""
    n = 20_000
    edges = [(i, min(i + k, n - 1), 1 << (i % 2)) for i in range(n) for k in (1, 7)]
    edges = [e for e in edges if e[0] < e[1]]
    edges += [(n - 1, n - 2, 3 * closing), (n - 2, n - 1, 0)]
    automaton = automaton_of(n, edges, 2)
    found = is_empty(automaton)
    named = is_empty(automaton, emptiness="couvreur99")
    assert found.empty == named.empty == automaton.is_empty() == (not closing)
    assert (found.run is None) == found.empty
    if found.empty:
        sizes = found.stats.states, found.stats.transitions
        assert sizes == (named.stats.states, named.stats.transitions)

"""Cycles with all marks in graphs that are stored already."""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st
from spot import buddy

from ltlpipe import is_empty
from ltlpipe.automata.conditions import generalised_buchi, marks_in, parse_condition
from ltlpipe.automata.fin_removal import marks_of
from ltlpipe.automata.graphs import Lists
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.search.scc import stored_graphs
from ltlpipe.search.scc.stored_graphs import StoredSearch
from ltlpipe.systems.graph import graph_job, lists_of
from tests.example_counts import examples

MARKS = 4

ACCEPTANCES = {
    "all": "t",
    "co-Büchi": "Fin(1)",
    "generalised Büchi": "Inf(0)&Inf(1)&Inf(2)",
    "generalised co-Büchi": "Fin(0)|Fin(1)|Fin(2)",
    "gaps": "Inf(1)&Inf(3)",
    "Fin-less": "Inf(0)|(Inf(1)&Inf(2))",
    "Streett": "(Fin(0)|Inf(1))&(Fin(2)|Inf(3))",
    "Rabin": "(Fin(0)&Inf(1))|(Fin(2)&Inf(3))",
    "parity": "Inf(3)|(Fin(2)&(Inf(1)|Fin(0)))",
    "other": "(Fin(0)|Fin(1)&Inf(2))&(Inf(3)|Fin(2))&(Inf(0)|Fin(3))",
}
"""Conditions by what they are."""


@st.composite
def graphs(draw):
    """A few transitions between a few states."""
    n = draw(st.integers(1, 12))
    state = st.integers(0, n - 1)
    edge = st.tuples(state, state, st.integers(0, (1 << MARKS) - 1))
    return n, draw(st.lists(edge, max_size=40))


def automaton_of(n, edges, n_marks, acceptance=None):
    """Return a graph as an automaton of Spot."""
    made = spot.make_twa_graph()
    made.set_generalized_buchi(n_marks)
    if acceptance is not None:
        made.set_acceptance(n_marks, spot.acc_code(acceptance))
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


def lists_from(n, edges):
    """Return transitions as lists, those of a state in their order."""
    table = np.zeros((len(edges) + 1, 5), dtype=np.uint32)
    src, dst, _, marks, following = columns = table.T
    first = np.zeros((n, 2), dtype=np.uint32)[:, 0]
    last = {}
    for k, edge in enumerate(edges, start=1):
        src[k], dst[k], marks[k] = edge
        if edge[0] in last:
            following[last[edge[0]]] = k
        else:
            first[edge[0]] = k
        last[edge[0]] = k
    return Lists(*columns, first, (1 << MARKS) - 1)


def searched(lists, condition, budget):
    """Return a search that has ended, and whether it has found a cycle."""
    search = StoredSearch(lists, 0, condition)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_graphs, "_BUDGET", budget)
        return search, complete(search.found())


def assert_accepting(run, length, edges, condition):
    """Assert that transitions, counted from 1, are an accepting lasso from state 0."""
    state = 0
    for k in run:
        assert edges[k - 1][0] == state
        state = edges[k - 1][1]
    cycle = [edges[k - 1] for k in run[length:]]
    assert cycle[0][0] == state
    assert condition.satisfied_by(reduce(or_, (marks for _, _, marks in cycle)))


@given(
    graphs(),
    st.sampled_from([*ACCEPTANCES.values()]),
    st.sampled_from([1, 5, 1 << 20]),
)
@settings(max_examples=examples(300))
def test_stored_graphs(graph, acceptance, budget):
    """Spot says the same, wherever calls of the kernel end; all states are entered
    where there is no such cycle.
    """
    n, edges = graph
    condition = parse_condition(acceptance)
    search, found = searched(lists_from(n, edges), condition, budget)
    assert found != automaton_of(n, edges, MARKS, acceptance).is_empty()
    if found:
        assert_accepting(*complete(search.run()), edges, condition)
        return
    figures, known = search.figures(), reachable(edges)
    assert figures["states"] == len(known)
    taken = sum(e[0] in known for e in edges)
    assert figures["transitions"] >= taken
    if not condition.fin_marks:
        assert figures["transitions"] == taken


@given(graphs(), st.sampled_from([*ACCEPTANCES.values()]), st.data())
@settings(max_examples=examples(150))
def test_as_spot_keeps_them(graph, acceptance, data):
    """Graphs are searched where they are; some edges may be false, or erased."""
    n, edges = graph
    automaton = automaton_of(n, edges, MARKS, acceptance)
    harm = data.draw(st.sampled_from(["none", "false", "erased", "read before"]))
    state = data.draw(st.integers(0, n - 1))
    if harm == "false":
        for edge in automaton.out(state):
            edge.cond = buddy.bddfalse
    if harm == "erased":
        erasing = automaton.out_iteraser(state)
        while erasing:
            erasing.erase()
    system = complete(graph_job(automaton))
    if harm == "read before":
        system.keep()
    if system.accepts_nothing:
        assert automaton.is_empty()
        return
    lists = lists_of(system)
    condition = system.condition or generalised_buchi(system.n_marks)
    condition = condition.renumbered(marks_in(lists.used).__getitem__)
    search, found = searched(lists, condition, 1 << 20)
    assert found != automaton.is_empty()
    if found and system.lists is not None:
        run, length = complete(search.run())
        told = [(e.src, e.dst, marks_of(e)) for e in automaton.edges()]
        assert_accepting(run, length, told, parse_condition(acceptance))


@pytest.mark.parametrize("read", [False, True])
def test_graphs_that_change(read):
    """They are noticed if the edges have not been copied."""
    automaton = automaton_of(3, [(0, 1, 0), (1, 2, 0), (2, 0, 0)], 1)
    system = complete(graph_job(automaton))
    if read:
        system.keep()
    automaton.new_edge(0, 0, buddy.bddtrue, [0])
    if read:
        assert len(lists_of(system).src) == 4
        return
    with pytest.raises(UnsupportedError, match="changed since it was read"):
        lists_of(system)


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

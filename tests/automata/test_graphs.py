"""Graphs of Spot as arrays: read in memory or through the interface, they are alike."""

from __future__ import annotations

import numpy as np
import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st
from spot import buddy

from ltlpipe import UnsupportedError, is_empty
from ltlpipe.automata import graphs
from ltlpipe.automata.conditions import parse_condition
from ltlpipe.automata.graphs import decoded_graph, encoded_graph
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.graph import graph_job
from tests.example_counts import examples
from tests.spot_graphs import ACCEPTANCES, random_automaton, random_kripke

SEEDS = st.integers(0, 1 << 30)
KINDS = st.sampled_from([*ACCEPTANCES, "kripke"])


def random_graph(seed, kind):
    return random_kripke(seed) if kind == "kripke" else random_automaton(seed, kind)


def edges_of(graph):
    """What Spot's interface says of all edges that can be taken."""
    if isinstance(graph, spot.kripke_graph):
        conditions = [
            graph.state_condition(graph.state_from_number(state))
            for state in range(graph.num_states())
        ]
        found = [(e.src, e.dst, conditions[e.src], ()) for e in graph.edges()]
    else:
        found = [(e.src, e.dst, e.cond, tuple(e.acc.sets())) for e in graph.edges()]
    return [edge for edge in found if edge[2] != buddy.bddfalse]


def without_memory(patch):
    """Have the interface be read: the layout is another one."""
    wrong = {False: ("acc", "cond", "src", "next_succ", "dst")}
    patch.setattr(graphs, "_COLUMNS", wrong | {True: ("src", "next_succ", "dst")})
    patch.setattr(graphs, "_STATE_CONDITION", 3)


TOLD = ["n_states", "initial", "n_edges", "n_marks", "condition", "accepts_nothing"]
TOLD += ["src", "dst", "number", "label", "marks", "conditions", "state_label"]


def assert_equal(one, other):
    for name in TOLD:
        a, b = getattr(one, name), getattr(other, name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@given(SEEDS, KINDS)
def test_arrays_say_what_the_interface_says(seed, kind):
    graph = random_graph(seed, kind)
    arrays = complete(graph_job(graph))
    ends = zip(arrays.src.tolist(), arrays.dst.tolist(), strict=True)
    labels = [arrays.conditions[k] for k in arrays.label.tolist()]
    expected = edges_of(graph)
    assert list(ends) == [edge[:2] for edge in expected]
    assert labels == [edge[2] for edge in expected]
    assert arrays.initial == graph.get_init_state_number()
    if arrays.accepts_nothing:
        assert graph.is_empty()


@given(SEEDS, KINDS)
def test_memory_and_interface_agree(seed, kind):
    graph = random_graph(seed, kind)
    fast = complete(graph_job(graph))
    with pytest.MonkeyPatch.context() as patch:
        without_memory(patch)
        slow = complete(graph_job(graph))
    assert_equal(fast, slow)


@given(SEEDS, KINDS)
def test_the_layout_is_that_of_spot(seed, kind):
    """With this version of Spot nothing has to be read edge by edge."""
    assert graphs._edges_in_memory(random_graph(seed, kind)) is not None


def test_erased_edges_are_no_edges():
    """They stay in Spot's array until somebody tidies it."""
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.new_states(3)
    for src in range(3):
        for dst in range(3):
            graph.new_edge(src, dst, buddy.bddtrue)
    erasing = graph.out_iteraser(1)
    while erasing:
        erasing.erase()
    arrays = complete(graph_job(graph))
    assert sorted(arrays.src.tolist()) == [0, 0, 0, 2, 2, 2]
    assert arrays.dst.tolist() == [0, 1, 2, 0, 1, 2]


def test_what_memory_says_is_not_believed_if_the_interface_differs(monkeypatch):
    """A layout with two columns exchanged is noticed, and the interface is read."""
    graph = random_automaton(5, "parity")
    expected = complete(graph_job(graph))
    without_memory(monkeypatch)
    assert graphs._edges_in_memory(graph) is None
    assert len(expected.src)
    assert_equal(complete(graph_job(graph)), expected)


@given(SEEDS, st.sampled_from([*ACCEPTANCES]))
def test_marks_that_do_not_matter_are_gone(seed, kind):
    """The condition is over the marks that are left, and accepts the same."""
    graph = random_automaton(seed, kind)
    arrays = complete(graph_job(graph))
    known = parse_condition(str(graph.get_acceptance()))
    assert arrays.n_marks <= known.n_marks
    if arrays.condition is not None:
        assert arrays.condition.marks == (1 << arrays.n_marks) - 1
    assert is_empty(graph).empty == graph.is_empty()


@settings(max_examples=examples(50))
@given(SEEDS, KINDS)
def test_graphs_travel_as_plain_data(seed, kind):
    """They have the same words afterwards."""
    graph = random_graph(seed, kind)
    copy = decoded_graph(encoded_graph(complete(graph_job(graph))))
    assert type(copy) is type(graph)
    first, second = complete(graph_job(graph)), complete(graph_job(copy))
    assert first.src.tolist() == second.src.tolist()
    assert first.dst.tolist() == second.dst.tolist()
    assert first.label.tolist() == second.label.tolist()
    assert texts(graph, first) == texts(copy, second)
    assert is_empty(copy).empty == is_empty(graph).empty


def texts(graph, arrays):
    """The conditions of a graph."""
    return [spot.bdd_format_formula(graph.get_dict(), c) for c in arrays.conditions]


def test_alternation_and_no_states_are_refused():
    alternating = spot.automaton(
        'HOA: v1\nStates: 2\nStart: 0\nAP: 1 "a"\nAcceptance: 0 t\n--BODY--\n'
        "State: 0\n[0] 0&1\nState: 1\n[t] 1\n--END--\n"
    )
    with pytest.raises(UnsupportedError, match="alternating"):
        is_empty(alternating)
    with pytest.raises(UnsupportedError, match="no states"):
        is_empty(spot.make_twa_graph(spot.make_bdd_dict()))

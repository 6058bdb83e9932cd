"""The plain decoupled search: the paper's examples, and the explicit search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network, check
from tests.complete_searches import replay_run
from tests.decoupled.examples import (
    A,
    B,
    C,
    D,
    E,
    F,
    G,
    H,
    figure_4_left,
    figure_4_right,
    figure_5,
    figure_8,
)
from tests.decoupled.reference import (
    Composition,
    NaiveSearch,
    Search,
    intersects_stack,
    overall,
)
from tests.hypothesis_strategies import networks
from tests.oracles import compose

NETWORKS = networks(
    max_components=3, max_states=4, max_transitions=7, internal=("d",), acceptance=True
)


@pytest.mark.parametrize("n", [2, 6, 12])
def test_separation_from_ample_sets(n):
    """One decoupled state (Fig. 4, left), three with acceptance (Fig. 9, left)."""
    plain = Search(figure_4_left(n))
    assert plain.run() is None
    assert len(plain.visited) == 1

    search = Search(figure_4_left(n, accepting=[1]))
    assert search.run().by == "references"
    assert len(search.visited) + search.n_roots + search.n_split == 3


@pytest.mark.parametrize("n", [2, 5, 9])
def test_separation_from_unfolding(n):
    """Two decoupled states (Fig. 4, right), four with acceptance (Fig. 9, right)."""
    plain = Search(figure_4_right(n))
    assert plain.run() is None
    assert len(plain.visited) == 2

    search = Search(figure_4_right(n, accepting=[1], back=True))
    assert search.run().by == "references"
    assert len(search.visited) + search.n_roots + search.n_split == 4


def test_the_naive_search_misses_the_cycle_of_figure_5():
    """Its nested search prunes 3 reached from 2 because of 3 reached from 4."""
    network = figure_5()
    assert check(network, empty=True).verdict == "violated"
    naive = NaiveSearch(network)
    assert naive.run() is None
    steps = [
        (kind, overall(split)[0])
        for kind, split in naive.events
        if kind in ("nested", "split", "prune-split")
    ]
    assert steps == [
        ("nested", {2, 4}),
        ("split", {3}),
        ("split", {2}),
        ("prune-split", {3}),
        ("prune-split", {3}),
    ]

    search = Search(network)
    assert search.run().by == "references"
    # Fig. 6
    assert [(kind, split[0]) for kind, split in search.events if kind != "visit"][
        -6:
    ] == [
        ("nested", {(2, 2), (4, 4)}),
        ("split", {(4, 3)}),
        ("split", {(4, 2)}),
        ("prune-split", {(4, 3)}),
        ("split", {(2, 3)}),
        ("split", {(2, 2)}),
    ]
    replay_run(network, search.found.lasso)


def test_common_members_with_the_stack_are_no_cycle():
    """Fig. 5 without the step from 2 to 3: Sec. 4.1, (3), reports what is not there."""
    network = figure_5(cycle=False)
    assert check(network, empty=True).verdict == "holds"
    assert intersects_stack(network)
    assert Search(network).run() is None
    assert Search(network, stack=True).run() is None


def test_example_1():
    """The states of Sec. 4.3, in their order."""
    network = figure_8()
    search = Search(network)
    found = search.run()

    def events(kinds):
        return [(kind, state[0]) for kind, state in search.events if kind in kinds]

    def from_state(r, *states):
        return {(r, s) for s in states}

    assert events(("visit", "prune", "nested")) == [
        ("visit", {A}),
        ("visit", {B, D}),  # s1
        ("visit", {E, F}),  # s2
        ("prune", {D}),  # s3, by s1
        ("visit", {C}),  # s4
        ("prune", {F}),  # s5, by s2
        ("nested", from_state(C, C)),  # s5,A
        ("visit", {G}),  # s8
        ("visit", {H}),
        ("prune", {G}),
        ("nested", from_state(G, G)),  # s8,A
    ]
    assert events(("split", "prune-split")) == [
        ("split", from_state(C, F)),  # l5
        ("split", from_state(C, D)),  # l3
        ("split", from_state(C, G)),  # l6: s6,R
        ("split", from_state(C, H)),  # l7
        ("prune-split", from_state(C, G)),  # l7: s7,R
        ("split", from_state(G, H)),
        ("split", from_state(G, G)),  # s9,R
    ]
    assert found.by == "references"
    assert found.lasso.prefix == ["l1", "lI", "l6"]
    assert found.lasso.cycle == ["l7", "l7"]
    replay_run(network, found.lasso)


def test_a_cycle_of_one_component_is_found_within_a_state():
    """CheckLocalAccept (Fig. 7): the others stay in accepting states."""
    network = Network(
        [
            LTS.from_transitions(
                [(0, "g", 1), (1, "x", 2), (2, "x", 1)], accepting=[2]
            ),
            LTS.from_transitions([(0, "g", 1), (1, "y", 2)], accepting=[2]),
        ]
    )
    search = Search(network)
    assert search.run().by == "local"
    replay_run(network, search.found.lasso)


def test_not_every_member_reaches_every_member():
    """Theorem 1 from right to left holds for some member of the first state only.

    With the empty trace both decoupled states are the initial one, but state 1
    does not reach state 0.
    """
    network = Network([LTS.from_transitions([(0, "i", 1)])])
    composition = Composition(network)
    assert composition.initial == ({0, 1},)
    assert composition.iclose(0, [1]) == {1}


@given(NETWORKS)
def test_member_states_are_the_reachable_ones(network):
    """Theorem 1 for the initial state; pruning keeps the union of the members."""
    composition = Composition(network)
    states = compose(network)[0]
    for decoupled in (composition.reachable(), Search(network).explored()):
        members = {
            state
            for state in states
            if any(all(map(contains, sets, state)) for sets in decoupled)
        }
        assert members == set(states)
        for sets in decoupled:
            size = 1
            for part in sets:
                size *= len(part)
            inside = [s for s in states if all(map(contains, sets, s))]
            assert len(inside) == size


def contains(states, state):
    """Whether a set holds a state."""
    return state in states


@given(NETWORKS, st.booleans(), st.booleans())
def test_agrees_with_the_explicit_search(network, stack, all_references):
    """Theorem 4, with and without the test of Lemma 1; lassos replay."""
    found = Search(network, stack=stack, all_references=all_references).run()

    expected = check(network, empty=True, reduce="none", lasso=False).verdict
    assert (found is not None) == (expected == "violated")
    if found is not None:
        replay_run(network, found.lasso)

"""Maximal SCCs of systems against transitive closure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from ltlpipe import LTS, LtlpipeError, Network
from ltlpipe.automata.letters import universal
from ltlpipe.families.networks import philosophers
from ltlpipe.search.problem import make_problem
from ltlpipe.search.scc.scc_enumeration import SCCs
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import networks
from tests.invariants import assert_consistent
from tests.oracles import compose, reaches
from tests.packed import pack


def expected(network):
    """Size, inner transitions and whether nothing leaves, of every SCC, sorted."""
    states, edges = compose(network)
    edges = set(edges)  # a local transition that stands twice is one
    followers = [set() for _ in states]
    for src, _, dst in edges:
        followers[src].add(dst)
    n = len(states)
    after = [{t for t in range(n) if reaches(followers, s, t)} for s in range(n)]
    sccs = {frozenset({s} | {t for t in after[s] if s in after[t]}) for s in range(n)}
    return sorted(
        (
            len(scc),
            sum(src in scc and dst in scc for src, _, dst in edges),
            all(dst in scc for src, _, dst in edges if src in scc),
        )
        for scc in sccs
    )


def found(frame):
    rows = frame[["states", "transitions", "bottom"]].itertuples(index=False)
    return sorted((int(a), int(b), bool(c)) for a, b, c in rows)


@given(networks(max_components=3, max_states=5, max_transitions=12))
@settings(max_examples=examples(300))
def test_sccs_are_those_of_the_composition(network):
    """Sizes, transitions inside, and which are bottom SCCs."""
    assert found(ltlpipe.sccs(network)) == expected(network)


@given(networks(max_components=2, max_states=6, max_transitions=14), st.integers(1, 4))
def test_where_a_step_stops_changes_nothing(network, budget):
    """And after every step all states entered are accounted for."""
    letters = np.zeros(len(network.actions), dtype=np.int32)
    problem = make_problem(pack(network, letters), universal())
    search = SCCs(problem)

    def check(states, depth):
        assert_consistent(search)

    drive(search, Limits(), max_budget=budget, progress=check)
    sizes = search.table()["states"].tolist()
    assert len(sizes) == search.statistics()["sccs"]
    assert sorted(sizes) == sorted(size for size, _, _ in expected(network))


def test_a_system_may_be_a_path(tmp_path):
    """As for other functions."""
    (tmp_path / "ring.aut").write_text("des (0, 2, 2)\n(0, a, 1)\n(1, b, 0)\n")
    assert ltlpipe.sccs(tmp_path / "ring.aut")["states"].tolist() == [2]
    assert len(ltlpipe.sccs([tmp_path / "ring.aut"] * 2)) == 1


def test_the_order_is_that_of_completion():
    """No transition leads from an SCC to a later one."""
    chain = [(i, "a", i + 1) for i in range(5)]
    frame = ltlpipe.sccs(Network([LTS.from_transitions([*chain, (5, "a", 4)])]))

    assert frame["scc"].tolist() == [0, 1, 2, 3, 4]
    assert frame["states"].tolist() == [2, 1, 1, 1, 1]
    assert frame["bottom"].tolist() == [True, False, False, False, False]
    assert frame["transitions"].tolist() == [2, 0, 0, 0, 0]


def test_a_large_system():
    """The deadlock of the philosophers, and everything else in one SCC."""
    frame = ltlpipe.sccs(philosophers(8))

    assert frame["states"].tolist() == [1, 216_992]
    assert frame["bottom"].tolist() == [True, False]
    assert frame["transitions"].tolist() == [0, 1_407_872]


def test_thousands_of_sccs():
    """The table of SCCs grows, too."""
    n = 20_000
    line = LTS.from_transitions([(i, "a", i + 1) for i in range(n)])
    assert len(ltlpipe.sccs(Network([line]))) == n + 1


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_states": 100}, "max-states limit hit at 100 states"),
        ({"memory": 0.001}, "memory limit hit"),
        ({"timeout": 0}, "timeout limit hit"),
    ],
)
def test_half_a_decomposition_is_none(limits, message):
    """A limit is an error, not a shorter table."""
    with pytest.raises(LtlpipeError, match=message):
        ltlpipe.sccs(philosophers(7), **limits)

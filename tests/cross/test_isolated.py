"""Violations by few components alone, against Spot on the whole product.

Networks are large for their visible actions, with internal actions, divergences and
deadlocks.  A part may hold where the network does not, so only the whole may say so;
each lasso is judged by the replay and by Spot.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies.isolated import isolated, rings
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks
from tests.oracles import satisfies, spot_verdict

NETWORKS = networks(max_components=5, max_states=3, max_transitions=5, internal=["d"])
INTERRUPTIBLE = st.builds(
    lambda seed, depth: random_interruptible(["a", "b"], seed=seed, depth=depth),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
FORMULAS = INTERRUPTIBLE | formulas()


NEVER_RESTS = """HOA: v1
States: 1
Start: 0
AP: 1 "rest 1"
Acceptance: 0 t
--BODY--
State: 0
[!0] 0
--END--
"""


def assert_the_same(network, text):
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=False)
    try:
        found = ask(network, reduce="isolated", formula=formula)
    except UnsupportedError as error:
        if "isolated cannot be used" not in str(error):
            raise
        event("dropped out")
        return
    event(expected)
    assert found.plan.strategy == "isolated"
    assert found.verdict == expected
    if found.lasso is not None:
        assert not satisfies(formula.spot, *visible_word(network, found.lasso))


@given(NETWORKS, FORMULAS)
@settings(max_examples=examples(200), deadline=None)
def test_verdicts(network, text):
    assert_the_same(network, text)


@pytest.mark.slow
@given(NETWORKS, FORMULAS)
@settings(max_examples=examples(10_000), deadline=None)
def test_verdicts_by_the_thousand(network, text):
    assert_the_same(network, text)


def row(n):
    """Cells in a row; each passes on what it has got from the one before it."""
    cells = []
    for i in range(n):
        steps = [(0, f"pass {i}", 1), (1, f"pass {i + 1}", 0), (0, f"rest {i}", 0)]
        cells.append(LTS.from_transitions(steps, name=f"cell {i}"))
    return Network(cells, f"row {n}")


def test_rings_grow_by_neighbours():
    assert list(rings(row(6), ["rest 2"])) == [
        [2],
        [1, 2, 3],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4, 5],
    ]


def test_rings_begin_with_all_who_take_part():
    assert next(rings(row(6), ["pass 3"])) == [2, 3]


def test_no_ring_without_visible_actions():
    assert list(rings(row(6), [])) == []


def test_actions_in_common_with_others_are_left_out():
    part = complete(isolated(row(6), [2, 3]))
    kept = [sorted(action.name for action in part.actions)]
    assert kept == [["pass 3", "rest 2", "rest 3"]]


def test_few_components_violate_it():
    """The three before a cell of forty have to pass something on, nobody else."""
    found = check(row(40), 'G !"pass 3"', reduce="isolated")
    assert found.verdict == "violated"
    assert found.stats.details["isolated"] == 6
    assert any("6 of 40 components (cell 0," in r for r in found.plan.reasons)
    assert found.lasso.prefix == ["pass 0", "pass 1", "pass 2", "pass 3"]


def test_the_whole_network_tells_what_holds():
    found = check(row(8), '!"pass 4" W "pass 3"', reduce="isolated")
    assert found.holds
    assert found.stats.details["isolated"] == 8


def test_a_network_of_few_neighbours():
    """No search of the whole network has found this, nor walks through it."""
    network, _ = rers_network(70, style="chain", seed=0)
    found = check(network, "G(a92 -> (!a35 W (a53 | a164)))", reduce="isolated")
    assert found.verdict == "violated"
    assert found.stats.details["isolated"] < 20


@pytest.mark.parametrize("limit", [1, 10])
def test_the_limit_of_states_is_heeded(limit):
    """What holds of networks that were not searched to the end is not known."""
    network, how = row(12), {"reduce": "isolated", "max_states": limit}
    found = check(network, '!"pass 9" W "rest 4"', **how)
    assert (found.verdict, found.reason) == ("unknown", "max-states")


def test_what_it_is_not_for():
    network = row(5)
    with pytest.raises(UnsupportedError, match="deadlock"):
        check(network, 'G !"rest 1"', reduce="isolated", deadlock="stutter")
    with pytest.raises(UnsupportedError, match="near the property"):
        check(Network(network.components[:1]), 'G !"rest 0"', reduce="isolated")
    (violations,) = parse_automata(NEVER_RESTS, "rests.hoa")
    with pytest.raises(UnsupportedError, match="automaton"):
        check(network, automaton=violations, reduce="isolated")

"""Walks against Spot on the whole product: violations are there, and small ones found.

Walks as short as they come have to begin again all the time, until one is long enough.
"""

from __future__ import annotations

import random
from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.search.scc import couvreur99
from tests.cross.test_agreement import ACCEPTING, DEADLOCKS, SMALL, ask, visible_word
from tests.cross.test_models import explored, net_atoms, random_formula
from tests.cross.test_models import spot_verdict as verdict_on_graph
from tests.example_counts import examples
from tests.hypothesis_strategies import (
    KINDS,
    formulas,
    hoa_automata,
    networks,
    petri_nets,
)
from tests.oracles import (
    accepting_run_exists,
    intersection_verdict,
    satisfies,
    spot_verdict,
)
from tests.portfolio_settings import few_walks

SEEDS = st.integers(0, 100)
LENGTHS = st.integers(1, 300)


def asked(system, length, **question):
    """The verdict of walks, the shortest of which have that many states."""
    short = partial(couvreur99.Walks, shortest=length)
    with patch.object(couvreur99, "Walks", short), few_walks():
        return ask(system, reduce="walks", **question)


def assert_agree(found, expected):
    """A violation of a small system is found; nothing is said to hold."""
    if expected == "holds":
        assert (found.verdict, found.reason) == ("unknown", "walks")
    else:
        assert (found.verdict, found.plan.strategy) == ("violated", "walks")
        assert found.lasso is not None  # replayed, too


def assert_formula_agrees(network, text, length, deadlock, seed):
    formula = parse(text)
    found = asked(network, length, formula=formula, deadlock=deadlock, seed=seed)
    assert_agree(
        found, spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    )
    if found.lasso is not None:
        assert not satisfies(formula.spot, *visible_word(network, found.lasso))


@given(SMALL | ACCEPTING, formulas(), LENGTHS, SEEDS)
@settings(max_examples=examples(300))
def test_networks_and_formulas(network, text, length, seed):
    """With accepting components, and without."""
    assert_formula_agrees(network, text, length, "ignore", seed)


@given(SMALL, formulas(max_leaves=5), LENGTHS, SEEDS)
@settings(max_examples=examples(100))
def test_deadlocks_that_stutter(network, text, length, seed):
    """A deadlock repeats itself, and walks know."""
    assert_formula_agrees(network, text, length, "stutter", seed)


@pytest.mark.slow
@given(
    networks(max_components=4, max_states=4) | SMALL | ACCEPTING,
    formulas(max_leaves=8),
    LENGTHS,
    SEEDS,
)
@settings(max_examples=examples(5000))
def test_networks_and_formulas_by_the_thousand(network, text, length, seed):
    """The same, with more components and larger formulas."""
    assert_formula_agrees(network, text, length, "ignore", seed)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), network=SMALL, deadlock=DEADLOCKS, length=LENGTHS)
@settings(max_examples=examples(60))
def test_networks_and_automata(kind, data, network, deadlock, length):
    """Automata of any acceptance; those with Fin are refused."""
    (violations,) = parse_automata(data.draw(hoa_automata(kind)), "random.hoa")
    try:
        found = asked(network, length, automaton=violations, deadlock=deadlock)
    except UnsupportedError:
        assert violations.acc().uses_fin_acceptance()
        return
    expected = intersection_verdict(network, violations, stutter=deadlock == "stutter")
    assert_agree(found, expected)


@given(networks(max_components=3, acceptance=True, internal=["a"]), LENGTHS)
@settings(max_examples=examples(200))
def test_emptiness_of_networks(network, length):
    """Acceptance of the system alone, about which the automaton says nothing."""
    exists = accepting_run_exists(network)
    assert_agree(asked(network, length, empty=True), "violated" if exists else "holds")


@given(petri_nets(max_places=4), SEEDS, LENGTHS, st.booleans())
@settings(max_examples=examples(60))
def test_nets(net, seed, length, stutters):
    """Valuations instead of actions."""
    rng = random.Random(seed)
    formula = random_formula(rng, net_atoms(rng, net))
    graph = explored(net)
    if graph is None:
        return
    expected = verdict_on_graph(net, graph, formula, stutters)
    deadlock = "stutter" if stutters else "ignore"
    found = asked(net, length, formula=formula, deadlock=deadlock)
    assert_agree(found, expected)

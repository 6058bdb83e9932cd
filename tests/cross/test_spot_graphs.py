"""Graphs of Spot as systems, against Spot: all acceptances, all emptiness checks.

The word of each lasso is accepted by the graph and by the automaton of the violations.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check, is_empty, product
from ltlpipe.logic.formulas import formula_of
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.strategies.registry import BY_NAME
from ltlpipe.systems.reading import load
from ltlpipe.verdict.inquiry import Inquiry
from tests.example_counts import examples
from tests.spot_graphs import (
    ACCEPTANCES,
    as_automaton,
    negated,
    random_automaton,
    random_formula,
    random_kripke,
    spot_finds,
)

SEEDS = st.integers(0, 1 << 30)
NAMED = [*SEARCHES]
CHOICES = [{}, {"seed": 3}, {"shortest": True}]
WAYS = st.sampled_from([*CHOICES, *({"emptiness": name} for name in NAMED)])
FEW_SEARCHES = ("dfs-weak", "reach-terminal")  # which do not suit every automaton
DEFAULT, MANY = 250, 2000


def known(formula, graph):
    """A formula of those names that a graph has, so that none is unknown."""
    names = {p.ap_name() for p in graph.ap()}
    meaning = spot.relabeling_map()
    for proposition in spot.atomic_prop_collect(formula) or []:
        if proposition.ap_name() not in names:
            meaning[proposition] = spot.formula_tt()
    return spot.relabel_apply(formula, meaning)


def assert_word(lasso, graph, violations):
    """Both accept its word, and its steps are those of the graph."""
    word = lasso.word
    assert word.intersects(as_automaton(graph))
    if violations is not None:
        # A word is over the propositions of the property alone.
        assert word.intersects(violations)
    states = lasso.states[:, 0].tolist()
    assert states[0] == graph.get_init_state_number()
    assert states[-1] == states[len(lasso.prefix)]
    for src, dst in pairwise(states):
        assert dst in [edge.dst for edge in graph.out(src)]


def assert_agrees(graph, way, *, formula=None, violations=None):
    """Verdict and word are as Spot says."""
    if formula is not None:
        bad = negated(formula, graph.get_dict())
        asked = {"formula": formula}
    else:
        bad, asked = violations, {"automaton": violations}
    try:
        verdict = check(graph, **asked, **way)
    except UnsupportedError:
        assert way.get("emptiness") in FEW_SEARCHES
        return
    assert verdict.verdict == ("violated" if spot_finds(graph, bad) else "holds")
    if verdict.lasso is not None:
        assert_word(verdict.lasso, graph, bad)


def kripke_agrees(seed, way):
    graph = random_kripke(seed)
    assert_agrees(graph, way, formula=known(random_formula(seed + 1), graph))


def automaton_agrees(seed, kind, way):
    graph = random_automaton(seed, kind)
    assert_agrees(graph, way, formula=known(random_formula(seed + 1), graph))


@settings(max_examples=examples(DEFAULT))
@given(SEEDS, WAYS)
def test_kripke_structures(seed, way):
    kripke_agrees(seed, way)


@settings(max_examples=examples(DEFAULT))
@given(SEEDS, st.sampled_from([*ACCEPTANCES]), WAYS)
def test_automata(seed, kind, way):
    automaton_agrees(seed, kind, way)


@pytest.mark.slow
@settings(max_examples=examples(MANY))
@given(SEEDS, WAYS)
def test_many_kripke_structures(seed, way):
    kripke_agrees(seed, way)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ACCEPTANCES)
@settings(max_examples=examples(MANY // 8))
@given(SEEDS, WAYS)
def test_many_automata(kind, seed, way):
    automaton_agrees(seed, kind, way)


@settings(max_examples=examples(100))
@given(SEEDS, st.sampled_from([*ACCEPTANCES]), st.sampled_from([*ACCEPTANCES]), WAYS)
def test_violations_of_any_acceptance(seed, kind, other, way):
    """Both conditions have to hold, whatever they are."""
    graph = random_automaton(seed, kind, 5)
    violations = random_automaton(seed + 1, other, 4, graph.get_dict())
    if {p.ap_name() for p in violations.ap()} <= {p.ap_name() for p in graph.ap()}:
        assert_agrees(graph, way, violations=violations)


@settings(max_examples=examples(DEFAULT))
@given(SEEDS, st.sampled_from([*ACCEPTANCES]), WAYS)
def test_emptiness(seed, kind, way):
    """The run is one of the automaton, accepted."""
    graph = random_automaton(seed, kind)
    try:
        result = is_empty(graph, **way)
    except UnsupportedError:
        assert way.get("emptiness") in FEW_SEARCHES
        return
    assert result.empty == graph.is_empty()
    assert (result.run is None) == result.empty
    if result.run is not None:
        assert result.run.word.intersects(graph)
        assert not result.run.as_twa().is_empty()


@pytest.mark.parametrize("name", ["instant", "explicit"])
@settings(max_examples=examples(60))
@given(seed=SEEDS, kind=st.sampled_from([*ACCEPTANCES, "kripke"]))
def test_each_strategy_alone(name, seed, kind):
    graph = random_kripke(seed) if kind == "kripke" else random_automaton(seed, kind)
    formula = known(random_formula(seed + 1), graph)
    asked = Property(formula_of(formula))
    inquiry = Inquiry(load(graph), asked, Options(), strategies=[BY_NAME[name]])
    verdict = inquiry.verdict(Limits())
    assert verdict.plan.strategy == name
    expected = spot_finds(graph, negated(formula, graph.get_dict()))
    assert verdict.verdict == ("violated" if expected else "holds")


@settings(max_examples=examples(100))
@given(SEEDS, st.sampled_from([*ACCEPTANCES, "kripke"]))
def test_products(seed, kind):
    """They have the words that Spot's own have, and go in again."""
    graph = random_kripke(seed) if kind == "kripke" else random_automaton(seed, kind)
    formula = known(random_formula(seed + 1), graph)
    violations = negated(formula, graph.get_dict())
    ours = product(graph, formula)
    theirs = spot.product(as_automaton(graph), violations)
    assert ours.is_empty() == theirs.is_empty()
    assert is_empty(ours).empty == theirs.is_empty()
    if theirs.num_sets() <= 4:
        assert spot.are_equivalent(ours, theirs)

"""Decoupled search against Spot on the whole product.

Networks have nondeterminism, several labels between the same components, components
without internal steps, divergences and deadlocks.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import UnsupportedError
from ltlpipe.logic.formulas import parse
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks
from tests.oracles import (
    accepting_run_exists,
    each_component_accepts,
    is_accepting_locally,
    satisfies,
    spot_verdict,
)

AUTOMATA = networks(
    max_components=4, max_states=5, max_transitions=9, internal=["d"], acceptance=True
)
SYSTEMS = networks(max_components=4, max_states=4, max_transitions=8, internal=["d"])
FORMULAS = st.builds(
    lambda seed, depth: str(
        random_interruptible(["a", "b", "c"], seed=seed, depth=depth)
    ),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
SEEDS = st.none() | st.integers(0, 100)


def assert_visits(network, lasso, *, together):
    """The cycle of a lasso accepts, all at once or each for itself."""
    rows = [
        [is_accepting_locally(c, state[i]) for i, c in enumerate(network.components)]
        for state in lasso.states[len(lasso.prefix) :].tolist()
    ]
    if together:
        assert any(all(row) for row in rows)
    else:
        assert all(any(column) for column in zip(*rows, strict=True))


def assert_automata_agree(network, seed, stack_test):
    """The nested search, for both kinds of acceptance."""
    options = {
        "emptiness": "decoupled-ndfs",
        "seed": seed,
        "ndfs_stack_test": stack_test,
    }
    runs = [(True, accepting_run_exists(network))]
    runs.append((False, each_component_accepts(network)))
    for together, exists in runs:
        verdict = ask(
            network,
            empty=True,
            network_acceptance="together" if together else "each",
            **options,
        )
        assert verdict.verdict == ("violated" if exists else "holds"), together
        if exists:
            assert_visits(network, verdict.lasso, together=together)


def assert_properties_agree(network, text, seed):
    """Both searches, with BA and TGBA, alone and after components are reduced."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot)
    for options in (
        {"reduce": "decoupled", "acceptance": "tgba"},
        {"reduce": "alphabet,decoupled", "acceptance": "ba"},
        {"emptiness": "decoupled-ndfs", "reduce": "none"},
        {"reduce": "components,decoupled", "max_component_states": 3},
    ):
        if network.has_acceptance and "components" in options["reduce"]:
            continue
        verdict = ask(network, formula=formula, seed=seed, **options)
        assert "decoupled" in verdict.plan.reductions
        assert verdict.verdict == expected, options
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), options
            assert_visits(network, verdict.lasso, together=True)


@given(AUTOMATA, FORMULAS, SEEDS)
@settings(max_examples=examples(100))
def test_formulas_where_each_component_accepts_are_refused_or_right(
    network, text, seed
):
    """A mark for each component that accepts, beside those of the property."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, together=False)
    for options in ({}, {"reduce": "decoupled"}, {"emptiness": "decoupled-ndfs"}):
        try:
            verdict = ask(
                network,
                formula=formula,
                network_acceptance="each",
                seed=seed,
                **options,
            )
        except UnsupportedError:
            continue
        assert verdict.verdict == expected, options
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), options
            assert_visits(network, verdict.lasso, together=False)


@given(AUTOMATA, SEEDS, st.booleans())
@settings(max_examples=examples(120))
def test_networks_of_automata(network, seed, stack_test):
    """The answers and lassos are those of the whole composition."""
    assert_automata_agree(network, seed, stack_test)


@pytest.mark.slow
@given(AUTOMATA, SEEDS, st.booleans())
@settings(max_examples=examples(10_000))
def test_networks_of_automata_by_the_thousand(network, seed, stack_test):
    """The same, 10,000 times."""
    assert_automata_agree(network, seed, stack_test)


@given(SYSTEMS | AUTOMATA, FORMULAS, SEEDS)
@settings(max_examples=examples(120))
def test_interruptible_formulas(network, text, seed):
    """The same verdicts as Spot's, with lassos that violate the formula."""
    assert_properties_agree(network, text, seed)


@pytest.mark.slow
@given(SYSTEMS | AUTOMATA, FORMULAS, SEEDS)
@settings(max_examples=examples(5000))
def test_interruptible_formulas_by_the_thousand(network, text, seed):
    """The same, 5,000 times."""
    assert_properties_agree(network, text, seed)


@given(SYSTEMS, formulas())
@settings(max_examples=examples(100))
def test_other_formulas_are_refused_or_right(network, text):
    """Interruptibility is decided, not guessed."""
    formula = parse(text)
    try:
        verdict = ask(network, formula=formula, reduce="decoupled")
    except UnsupportedError:
        return
    assert verdict.verdict == spot_verdict(network, formula.spot)

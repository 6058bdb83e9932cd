"""Verdicts with and without factoring, beside Spot's.

Each verdict on factors goes with a lasso that `check` has replayed on the components.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.formula_sets import random_interruptible
from ltlpipe import UnsupportedError, check
from ltlpipe.logic.formulas import parse
from tests.components.factoring.products import random_network
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples
from tests.oracles import (
    accepting_run_exists,
    each_component_accepts,
    satisfies,
    spot_verdict,
)

DEFAULT_EXAMPLES = 150
SLOW_EXAMPLES = 5000

# A search is named where `instant`, which does not look at factors, would answer.
ANY_PROPERTY = [
    {"reduce": "factoring", "emptiness": "couvreur99"},
    {"reduce": "alphabet,factoring", "emptiness": "se05"},
    {"reduce": "factoring,components"},
    {"reduce": "factoring,symmetry"},
    {"reduce": "auto", "emptiness": "couvreur99"},
]
INTERRUPTIBLE = [
    *ANY_PROPERTY,
    {"reduce": "factoring,ample"},
    {"reduce": "factoring,alphabet,components,ample"},
    {"reduce": "factoring,decoupled"},
]


def random_formula(rng, depth):
    """LTL about three actions, fully bracketed."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice("abc")
    parts = [random_formula(rng, depth - 1) for _ in range(2)]
    if rng.random() < 0.5:
        return f"{rng.choice('!XFG')}({parts[0]})"
    return f"({parts[0]} {rng.choice('&|UWRM')} {parts[1]})"


def assert_factoring_changes_nothing(seed, *, interruptible=False, acceptance=False):
    """The verdict is Spot's in some ways, and every lasso a violation.

    Returns how often factors were looked at.
    """
    rng = random.Random(seed)
    internal = [] if acceptance else rng.choice([[], ["b"]])
    network = random_network(rng, acceptance=acceptance, internal=internal)
    if interruptible:
        text = random_interruptible(["a", "b", "c"], seed=seed, depth=2)
    else:
        text = random_formula(rng, 3)
    formula = parse(text)
    deadlock = "ignore" if interruptible else rng.choice(["ignore", "stutter"])
    options = {"deadlock": deadlock}
    if rng.random() < 0.5:
        options["seed"] = seed
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    assert ask(network, formula, reduce="none", **options).verdict == expected
    factored = 0
    for way in rng.sample(INTERRUPTIBLE if interruptible else ANY_PROPERTY, 2):
        try:
            verdict = ask(network, formula, **options | way)
        except UnsupportedError:
            assert "," in way["reduce"]  # the other reduction cannot be used
            continue
        assert verdict.verdict == expected, (seed, way)
        factored += "factoring" in verdict.plan.reductions
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), (seed, way)
    return factored


KINDS = pytest.mark.parametrize(
    "kind",
    [{}, {"interruptible": True}, {"acceptance": True}],
    ids=["any", "interruptible", "acceptance"],
)


@KINDS
def test_formulas(kind):
    """On hundreds of networks, most of which have a component that is a product."""
    seeds = range(examples(DEFAULT_EXAMPLES))
    factored = [assert_factoring_changes_nothing(seed, **kind) for seed in seeds]
    assert sum(factored) > len(seeds) / 2


@pytest.mark.slow
@KINDS
def test_formulas_by_the_thousand(kind):
    """The same, many times."""
    for seed in range(DEFAULT_EXAMPLES, SLOW_EXAMPLES):
        assert_factoring_changes_nothing(seed, **kind)


def assert_same_emptiness(seed):
    """Components accept together, or each for itself."""
    network = random_network(random.Random(seed), acceptance=True)
    together = {"reduce": "factoring", "emptiness": "couvreur99"}
    decoupled = {"reduce": "factoring,decoupled"}
    expected = {
        "together": ([together, decoupled], accepting_run_exists(network)),
        "each": ([together, decoupled], each_component_accepts(network)),
    }
    for acceptance, (ways, exists) in expected.items():
        for way in ways:
            verdict = check(network, empty=True, network_acceptance=acceptance, **way)
            assert (verdict.verdict == "violated") == exists, (seed, acceptance, way)


def test_emptiness():
    """Runs of factors are accepted where those of the components are."""
    for seed in range(examples(DEFAULT_EXAMPLES)):
        assert_same_emptiness(seed)


@pytest.mark.slow
def test_emptiness_by_the_thousand():
    """The same, many times."""
    for seed in range(DEFAULT_EXAMPLES, SLOW_EXAMPLES):
        assert_same_emptiness(seed)

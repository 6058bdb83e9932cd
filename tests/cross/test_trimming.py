"""Verdicts with and without alphabet trimming, beside Spot's."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, LtlpipeWarning, Network, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.verdict.checking import product_size
from tests.cross.test_agreement import DEADLOCKS, SEEDS, ask, visible_word
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, hoa_automata, networks
from tests.oracles import intersection_verdict, satisfies, spot_verdict

DEFAULT_EXAMPLES = 300
SLOW_EXAMPLES = 10_000

NETWORKS = networks(max_components=4, max_transitions=6, internal=["d"])
ACCEPTING = networks(max_components=3, max_transitions=6, acceptance=True)
SEARCHES = st.sampled_from(["auto", "se05", "couvreur99"])
ACCEPTANCES = st.sampled_from(["auto", "ba"])


def assert_trimming_changes_nothing(network, text, *, deadlock, **options):
    """The verdict is Spot's either way, and every lasso a violation."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    for reduce in ("none", "alphabet", "auto"):
        verdict = ask(network, formula, reduce=reduce, deadlock=deadlock, **options)
        assert verdict.verdict == expected
        if reduce == "none":
            assert verdict.plan.reductions == ()
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word)


def assert_products_do_not_grow(network, text, deadlock):
    """The product that is searched has no more states or transitions."""
    options = {"acceptance": "ba", "deadlock": deadlock, "unknown": "never"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        sizes = [
            product_size(network, parse(text), reduce=reduce, **options)
            for reduce in ("none", "alphabet")
        ]
    assert sizes[1][0] <= sizes[0][0]
    assert sizes[1][1] <= sizes[0][1]


@given(NETWORKS, formulas(), DEADLOCKS, SEEDS, SEARCHES, ACCEPTANCES)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_networks(network, text, deadlock, seed, emptiness, acceptance):
    """Unreachable transitions, labels of three components, deadlocks included."""
    options = {"seed": seed, "emptiness": emptiness, "acceptance": acceptance}
    assert_trimming_changes_nothing(network, text, deadlock=deadlock, **options)


@pytest.mark.slow
@given(NETWORKS, formulas(), DEADLOCKS, SEEDS, SEARCHES, ACCEPTANCES)
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_networks_by_the_thousand(network, text, deadlock, seed, emptiness, acceptance):
    """The same, many times."""
    options = {"seed": seed, "emptiness": emptiness, "acceptance": acceptance}
    assert_trimming_changes_nothing(network, text, deadlock=deadlock, **options)


@given(ACCEPTING, formulas(), DEADLOCKS, SEARCHES)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_networks_with_acceptance(network, text, deadlock, emptiness):
    """Letters that tell the marks of the system are dropped with their actions."""
    assert_trimming_changes_nothing(
        network, text, deadlock=deadlock, emptiness=emptiness
    )


@given(ACCEPTING, hoa_automata("any"), DEADLOCKS, SEARCHES)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_automata(network, text, deadlock, emptiness):
    """Automata of the violations lack more letters than formulas."""
    (violations,) = parse_automata(text, "random.hoa")
    stutter = deadlock == "stutter"
    expected = intersection_verdict(network, violations, stutter=stutter)
    for reduce in ("none", "alphabet"):
        verdict = ask(
            network,
            automaton=violations,
            reduce=reduce,
            deadlock=deadlock,
            emptiness=emptiness,
        )
        assert verdict.verdict == expected  # the replay has judged the lasso


@given(networks(max_components=3, acceptance=True), DEADLOCKS)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_accepting_runs(network, deadlock):
    """Without a property, too."""
    verdicts = {
        check(network, empty=True, reduce=reduce, deadlock=deadlock).verdict
        for reduce in ("none", "alphabet")
    }
    assert len(verdicts) == 1


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(NETWORKS, formulas(), DEADLOCKS)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_products_do_not_grow(network, text, deadlock):
    """States and transitions are at most those of the product as it is."""
    assert_products_do_not_grow(network, text, deadlock)


@pytest.mark.parametrize("deadlock", ["ignore", "stutter"])
def test_no_new_deadlock_repeats_itself(deadlock):
    """The violations of F a have no a, but where only a is possible nothing stops."""
    network = Network([LTS.from_transitions([(0, "a", 0)])])
    verdict = check(network, "F a", deadlock=deadlock, reduce="alphabet", seed=1)
    assert verdict.verdict == "holds"
    assert verdict.plan.reductions == (("alphabet",) if deadlock == "ignore" else ())

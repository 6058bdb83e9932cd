"""Every emptiness check against Spot on the explicit product.

A few hundred random pairs of a network and a formula by default, thousands with
``pytest -m slow``.  What Spot answers is computed without its simplifications
and from a composition that shares no code with the package.
"""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LtlpipeWarning, check
from ltlpipe.logic.formulas import parse
from ltlpipe.search.catalogue import SEARCHES
from tests.oracles import accepting_run_exists, satisfies, spot_verdict
from tests.strategies import formulas, networks

DEFAULT_EXAMPLES = 300
SLOW_EXAMPLES = 5000

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=2, acceptance=True)


def ask(network, formula, **options):
    """The verdict; propositions that no action has are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        return check(network, formula, **options)


def assert_agreement(network, text, *, seed=None, deadlock="ignore"):
    """All ways through the package come to Spot's verdict, with true lassos."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    for name, load_search in SEARCHES.items():
        generalised = load_search().generalised
        if not generalised and network.has_acceptance:
            continue
        for acceptance in ("tgba", "ba") if generalised else ("ba",):
            verdict = ask(
                network,
                formula,
                emptiness=name,
                acceptance=acceptance,
                seed=seed,
                deadlock=deadlock,
            )
            assert verdict.verdict == expected, (name, acceptance)
            if expected == "violated":
                lasso = verdict.lasso
                assert not satisfies(formula.spot, *visible_word(network, lasso)), (
                    name,
                    acceptance,
                )


def visible_word(network, lasso):
    """Prefix and cycle with what no proposition can name taken away."""
    names = [
        None if a < 0 or network.actions[a].internal else network.actions[a].name
        for a in lasso.actions.tolist()
    ]
    return names[: len(lasso.prefix)], names[len(lasso.prefix) :]


SEEDS = st.none() | st.integers(0, 100)


@given(SMALL, formulas(), SEEDS)
@settings(max_examples=DEFAULT_EXAMPLES)
def test_networks_and_formulas(network, formula, seed):
    """holds and violated are Spot's; every lasso violates the formula."""
    assert_agreement(network, formula, seed=seed)


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=10), SEEDS)
@settings(max_examples=SLOW_EXAMPLES)
def test_networks_and_formulas_by_the_thousand(network, formula, seed):
    """The same, with larger formulas."""
    assert_agreement(network, formula, seed=seed)


@given(SMALL, formulas(max_leaves=5))
@settings(max_examples=100)
def test_deadlocks_that_stutter(network, formula):
    """With ``--deadlock stutter`` a deadlock repeats itself without an action."""
    assert_agreement(network, formula, deadlock="stutter")


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=7))
@settings(max_examples=SLOW_EXAMPLES // 2)
def test_deadlocks_that_stutter_by_the_thousand(network, formula):
    """The same, more often."""
    assert_agreement(network, formula, deadlock="stutter")


@given(ACCEPTING, formulas(max_leaves=4))
@settings(max_examples=100)
def test_formulas_on_networks_with_acceptance(network, formula):
    """Only runs that the network accepts count."""
    assert_agreement(network, formula)


@given(networks(max_components=3, acceptance=True, internal=["a"]))
@settings(max_examples=DEFAULT_EXAMPLES)
def test_emptiness_of_networks(network):
    """``--empty`` holds iff no reachable accepting state reaches itself."""
    expected = "violated" if accepting_run_exists(network) else "holds"
    for name in SEARCHES:
        verdict = check(network, empty=True, emptiness=name)
        assert verdict.verdict == expected, name
        assert (verdict.lasso is not None) == (expected == "violated")


def test_a_violation_that_ends_in_a_deadlock_is_none():
    """The bad prefix cannot go on for ever, so the formula holds.

    Under ``stutter`` the deadlock repeats itself and the formula is violated.
    """
    from ltlpipe import LTS, Network

    network = Network([LTS.from_transitions([(0, "a", 0), (0, "bad", 1)])])
    assert check(network, "G !bad").verdict == "holds"
    verdict = check(network, "G !bad", deadlock="stutter")
    assert verdict.verdict == "violated"
    assert verdict.lasso.cycle == ["<stutter>"]


def test_a_component_that_shares_nothing_matters():
    """It can run for ever alone, while the rest stands still."""
    from ltlpipe import LTS, Network

    worker = LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    idler = LTS.from_transitions([(0, "idle", 0)])
    assert check(Network([worker]), "GF b").verdict == "holds"
    assert check(Network([worker, idler]), "GF b").verdict == "violated"


def test_labels_of_unreachable_transitions_synchronise():
    """A label that a component has only where it never comes is blocked."""
    from ltlpipe import LTS, Network

    one = LTS.from_transitions([(0, "a", 0), (0, "b", 0)])
    other = LTS.from_transitions([(0, "b", 0), (1, "a", 1)])
    assert check(Network([one, other]), "G !a").verdict == "holds"

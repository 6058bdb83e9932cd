"""Verdicts under fairness against Spot on the explicit product.

There the marks of fairness are put on the transitions by hand, and Spot evaluates the
conjunction of its acceptance with the property's.  Lassos are judged by the definition
of fairness, on the states of the composition.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, livelock
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.search.catalogue import SEARCHES
from tests.cross.test_agreement import ask
from tests.example_counts import examples
from tests.hypothesis_strategies import (
    formulas,
    hoa_automata,
    networks,
    recurrent_formulas,
)
from tests.oracles import (
    actions_of_components,
    intersection_verdict,
    is_fair,
    satisfies,
    spot_verdict,
)

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=2, internal=["d"], acceptance=True)
KINDS = st.sampled_from(["weak", "strong"])
DEADLOCKS = st.sampled_from(["ignore", "stutter"])
FORMULAS = st.one_of(formulas(max_leaves=4), recurrent_formulas(max_leaves=3))

WAYS = [
    {},
    {"acceptance": "ba", "emptiness": "tela"},
    {"acceptance": "tgba", "emptiness": "rabin"},
    {"acceptance": "tgra"},
    {"acceptance": "tgra", "seed": 1},
    {"acceptance": "tgra", "emptiness": "rabin-parallel", "deterministic": True},
    {"acceptance": "tfla"},
    {"acceptance": "tfla", "seed": 1},
    {"acceptance": "tela", "deterministic": True},
    {"acceptance": "tela", "deterministic": True, "seed": 1},
    {"emptiness": "rabin"},
    {"emptiness": "tela", "reduce": "none"},
]
"""`instant` answers where neither a search nor a seed is named."""
ONLY_WEAK = [
    {"emptiness": "couvreur99"},
    {"emptiness": "couvreur99-fig5", "acceptance": "tfla"},
    {"emptiness": "tauriainen03"},
]


@st.composite
def fair_questions(draw, systems):
    """A network, and to what runs shall be fair: options of `check`, and the sets."""
    network = draw(systems)
    options = {"fairness": draw(KINDS), "deadlock": draw(DEADLOCKS)}
    names = sorted(network.action_index)
    if not (names and draw(st.booleans())):
        return network, options, actions_of_components(network)
    some = st.sets(st.sampled_from(names), min_size=1)
    sets = draw(st.lists(some, min_size=1, max_size=3))
    options["fair_sets"] = [", ".join(sorted(names)) for names in sets]
    return network, options, [{network.action_index[a] for a in s} for s in sets]


def assert_fair(verdict, expected, network, options, sets):
    """The verdict is the oracle's, nothing was reduced, and a lasso is fair."""
    assert verdict.verdict == expected
    assert verdict.plan.reductions == ()
    if expected == "violated":
        assert is_fair(network, verdict.lasso, options["fairness"], sets)


def assert_agreement(asked, text):
    """All ways to a verdict come to that of Spot."""
    network, options, sets = asked
    formula = parse(text)
    kind = options["fairness"]
    expected = spot_verdict(
        network,
        formula.spot,
        stutter=options["deadlock"] == "stutter",
        fairness=kind,
        sets=sets,
    )
    for way in WAYS + ONLY_WEAK * (kind == "weak"):
        verdict = ask(network, formula=formula, **options, **way)
        assert_fair(verdict, expected, network, options, sets)
        if expected == "violated":
            k = len(verdict.lasso.prefix)
            word = [
                None
                if a < 0 or network.actions[a].internal
                else network.actions[a].name
                for a in verdict.lasso.actions.tolist()
            ]
            assert not satisfies(formula.spot, word[:k], word[k:])


@given(fair_questions(SMALL), FORMULAS)
@settings(max_examples=examples(60))
def test_formulas(asked, text):
    """Weak and strong, of components and of named sets, each deadlock convention."""
    assert_agreement(asked, text)


@given(fair_questions(ACCEPTING), FORMULAS)
@settings(max_examples=examples(60))
def test_formulas_on_networks_with_acceptance(asked, text):
    """Runs count that are accepted and fair: marks of both, and of the property."""
    assert_agreement(asked, text)


@pytest.mark.slow
@given(fair_questions(st.one_of(SMALL, ACCEPTING)), FORMULAS)
@settings(max_examples=examples(2000))
def test_formulas_by_the_thousand(asked, text):
    """The same, more often."""
    assert_agreement(asked, text)


@given(fair_questions(st.one_of(SMALL, ACCEPTING)), hoa_automata("emerson-lei"))
@settings(max_examples=examples(60))
def test_automata_with_any_condition(asked, text):
    """The condition of a given automaton and fairness, in one conjunction."""
    network, options, sets = asked
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(
        network,
        violations,
        stutter=options["deadlock"] == "stutter",
        fairness=options["fairness"],
        sets=sets,
    )
    for way in WAYS:
        verdict = ask(network, automaton=violations, **options, **way)
        assert_fair(verdict, expected, network, options, sets)


@given(fair_questions(st.one_of(SMALL, ACCEPTING)))
@settings(max_examples=examples(60))
def test_emptiness_of_networks(asked):
    """Without a property the marks of fairness come first, or behind acceptance."""
    network, options, sets = asked
    expected = spot_verdict(
        network,
        parse("0").spot,
        stutter=options["deadlock"] == "stutter",
        fairness=options["fairness"],
        sets=sets,
    )
    for way in WAYS:
        verdict = ask(network, empty=True, **options, **way)
        assert_fair(verdict, expected, network, options, sets)


@given(fair_questions(SMALL), st.sampled_from(sorted(SEARCHES)))
@settings(max_examples=examples(60))
def test_searches_decline_or_are_right(asked, name):
    """Also those that take no such condition, whatever automaton they are given."""
    network, options, sets = asked
    expected = spot_verdict(
        network,
        parse("FG a").spot,
        stutter=options["deadlock"] == "stutter",
        fairness=options["fairness"],
        sets=sets,
    )
    for acceptance in ("auto", "ba", "tgba", "tgra", "tfla", "tela"):
        way = {"emptiness": name, "acceptance": acceptance}
        try:
            verdict = ask(network, formula="FG a", **options, **way)
        except UnsupportedError:
            takes_strong = name in ("rabin", "rabin-parallel", "tela")
            assert not takes_strong
            continue
        assert_fair(verdict, expected, network, options, sets)


@given(fair_questions(SMALL), st.data())
@settings(max_examples=examples(60))
def test_livelocks(asked, data):
    """A livelock is a fair run with finitely many actions of progress."""
    network, options, sets = asked
    assume(network.action_index)
    names = sorted(network.action_index)
    progress = sorted(data.draw(st.sets(st.sampled_from(names), min_size=1)))
    expected = spot_verdict(
        network,
        parse(f"GF({' | '.join(progress)})").spot,
        stutter=options["deadlock"] == "stutter",
        fairness=options["fairness"],
        sets=sets,
    )
    verdict = livelock(network, progress, **options)
    assert_fair(verdict, expected, network, options, sets)
    if expected == "violated":
        assert not set(verdict.lasso.cycle) & set(progress)


@given(fair_questions(SMALL), FORMULAS)
@settings(max_examples=examples(60))
def test_fairness_only_takes_runs_away(asked, text):
    """What holds on all runs holds on fair ones, and strong fairness implies weak."""
    network, options, _ = asked
    options = {name: options[name] for name in options if name != "fairness"}
    fair_sets = options.pop("fair_sets", ())
    found = [ask(network, formula=text, **options).verdict]
    for kind in ("weak", "strong"):
        sets = {"fairness": kind, "fair_sets": fair_sets}
        found.append(ask(network, formula=text, **options, **sets).verdict)
    assert found == sorted(found, reverse=True)  # "violated" before "holds"

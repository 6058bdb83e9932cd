"""Every kind of acceptance with every search, deterministic or not, against Spot.

The verdict is that of Spot on the explicit product, and the word of each lasso is
accepted by the property table of the kind that was searched: `tests.oracles.accepts`
evaluates the condition on sets of marks that closed walks collect, without SCCs.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.translation import table_over_actions
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
from tests.oracles import accepts, intersection_verdict, satisfies, spot_verdict

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=2, acceptance=True)
DEADLOCKS = st.sampled_from(["ignore", "stutter"])
FORMULAS = st.one_of(formulas(max_leaves=4), recurrent_formulas(max_leaves=4))

SUITABLE = {
    "tgba": ["auto", "couvreur99", "couvreur99-fig5", "tauriainen03", "rabin", "tela"],
    "tgra": ["auto", "rabin", "rabin-parallel", "tela"],
    "tfla": ["auto", "couvreur99", "couvreur99-fig5", "rabin", "tela"],
    "tela": ["auto", "rabin", "rabin-parallel", "tela"],
}
WAYS = [
    {"acceptance": acceptance, "emptiness": name, "deterministic": deterministic}
    for acceptance, names in SUITABLE.items()
    for name in names
    for deterministic in ((False, True) if acceptance != "tgba" else (False,))
]
FREE = [
    {"emptiness": name}
    for name in ("couvreur99", "se05", "tauriainen03", "rabin", "tela", "gv04")
]
KINDS = ["auto", "ba", *SUITABLE]


def word_of(network, lasso):
    """Prefix and cycle, with None for what no proposition can name."""
    names = [
        None if a < 0 or network.actions[a].internal else network.actions[a].name
        for a in lasso.actions.tolist()
    ]
    return names[: len(lasso.prefix)], names[len(lasso.prefix) :]


def assert_accepted(table, actions, word):
    """The table accepts a word of actions, by the definition."""
    prefix, cycle = (
        [actions.index(a) + 1 if a in actions else 0 for a in part] for part in word
    )
    assert accepts(table, prefix, cycle)


def assert_formula(network, text, deadlock):
    """All kinds of acceptance come to Spot's verdict, with lassos that they accept."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    actions = [a for a in formula.propositions if a in network.action_index]
    tables = {
        (kind, deterministic): table_over_actions(
            formula, kind, actions, deterministic=deterministic
        )
        for kind in SUITABLE
        for deterministic in ((False, True) if kind != "tgba" else (False,))
    }
    for way in WAYS + FREE:
        verdict = ask(network, formula=formula, deadlock=deadlock, **way)
        assert verdict.verdict == expected, way
        if expected == "holds":
            continue
        word = word_of(network, verdict.lasso)
        assert not satisfies(formula.spot, *word), way
        if "acceptance" in way:
            table = tables[way["acceptance"], way["deterministic"]]
            assert_accepted(table, actions, word)


def assert_automaton(network, text, deadlock):
    """The same for a given automaton."""
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=deadlock == "stutter")
    names = [p.ap_name() for p in violations.ap()]
    actions = [a for a in names if a in network.action_index]
    for way in WAYS + FREE:
        verdict = ask(network, automaton=violations, deadlock=deadlock, **way)
        assert verdict.verdict == expected, way
        if expected == "violated" and "acceptance" in way:
            kind, deterministic = way["acceptance"], way["deterministic"]
            table = table_over_actions(
                violations, kind, actions, deterministic=deterministic
            )
            assert_accepted(table, actions, word_of(network, verdict.lasso))


@given(SMALL, FORMULAS, DEADLOCKS)
@settings(max_examples=examples(30))
def test_formulas(network, text, deadlock):
    """All kinds, by all searches that take them, deterministic or not."""
    assert_formula(network, text, deadlock)


@pytest.mark.slow
@given(st.one_of(SMALL, ACCEPTING), FORMULAS, DEADLOCKS)
@settings(max_examples=examples(1000))
def test_formulas_by_the_thousand(network, text, deadlock):
    """The same, more often."""
    assert_formula(network, text, deadlock)


@given(ACCEPTING, FORMULAS, DEADLOCKS)
@settings(max_examples=examples(25))
def test_formulas_on_networks_with_acceptance(network, text, deadlock):
    """The condition of the property and the mark of the system."""
    assert_formula(network, text, deadlock)


@given(st.one_of(SMALL, ACCEPTING), hoa_automata("emerson-lei"), DEADLOCKS)
@settings(max_examples=examples(40))
def test_automata(network, text, deadlock):
    """Conditions of any form, as given and rewritten."""
    assert_automaton(network, text, deadlock)


@pytest.mark.slow
@given(st.one_of(SMALL, ACCEPTING), hoa_automata("emerson-lei"), DEADLOCKS)
@settings(max_examples=examples(1000))
def test_automata_by_the_thousand(network, text, deadlock):
    """The same, more often."""
    assert_automaton(network, text, deadlock)


@given(
    st.one_of(SMALL, ACCEPTING), hoa_automata("emerson-lei", max_states=3), st.data()
)
@settings(max_examples=examples(30))
def test_searches_decline_or_are_right(network, text, data):
    """A search with one mark never takes Fin for it, nor do bits or ample sets."""
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=False)
    more = data.draw(
        st.sampled_from([{}, {"reduce": "ample"}, {"reduce": "decoupled"}])
    )
    for name in SEARCHES:
        for kind in KINDS:
            way = {"emptiness": name, "acceptance": kind, **more}
            try:
                verdict = ask(network, automaton=violations, **way)
            except UnsupportedError:
                continue
            assert verdict.verdict == expected, way
    for kind in KINDS:
        try:
            way = {"bitstate": 0.01, "acceptance": kind}
            verdict = ask(network, automaton=violations, **way)
        except UnsupportedError:
            continue
        assert verdict.verdict in (expected, "unknown"), way


@given(SMALL, FORMULAS, st.sampled_from(["ample", "components", "decoupled"]))
@settings(max_examples=examples(30))
def test_reductions_decline_or_are_right(network, text, reduction):
    """Each reduction by itself, with every kind of automaton."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot)
    for kind in KINDS:
        for deterministic in (False, True):
            way = {"acceptance": kind, "deterministic": deterministic}
            try:
                verdict = ask(network, formula=formula, reduce=reduction, **way)
            except UnsupportedError:
                continue
            assert verdict.verdict == expected, (way, verdict.plan)


CO_BUCHI = """HOA: v1
States: 2
Start: 0
AP: 1 "a"
acc-name: co-Buchi
Acceptance: 1 Fin(0)
properties: state-acc deterministic
--BODY--
State: 0 {0}
[0] 1
[!0] 0
State: 1
[0] 1
[!0] 0
--END--
"""


@pytest.mark.parametrize("name", sorted(SEARCHES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_co_buchi_automaton_is_no_buchi_automaton(name, kind):
    """One mark on states, and the violations are the runs that do not see it for ever.

    Read as Büchi acceptance it would say that a system that does b alone violates,
    and that one that ends in a alone does not.
    """
    from ltlpipe import LTS, Network

    (violations,) = parse_automata(CO_BUCHI, "co-buchi.hoa")
    answers = {"b": "holds", "a": "violated"}
    for action, expected in answers.items():
        network = Network([LTS.from_transitions([(0, "a", 1), (1, action, 1)])])
        way = {"emptiness": name, "acceptance": kind}
        try:
            answer = check(network, automaton=violations, **way).verdict
        except UnsupportedError as declined:
            answer = str(declined)
        assert answer == expected or "use emptiness=" in answer

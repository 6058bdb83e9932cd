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

from ltlpipe import LtlpipeWarning, UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.search.catalogue import SEARCHES
from tests.example_counts import examples
from tests.hypothesis_strategies import KINDS, formulas, hoa_automata, networks
from tests.oracles import (
    accepting_run_exists,
    intersection_verdict,
    satisfies,
    spot_verdict,
)
from tests.portfolio_settings import ALONE, BY_NAME, all_playing

DEFAULT_EXAMPLES = 200
SLOW_EXAMPLES = 5000
AUTOMATA_EXAMPLES = 10_000

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=2, acceptance=True)


def ask(network, formula=None, **options):
    """The verdict; propositions that no action has are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        return check(network, formula, unknown="never", **options)


def configurations(turn, *, has_automaton):
    """Every search with every automaton that it may be given.

    Kinds that are one automaton take turns: all where there is no property, and for a
    search that takes one mark on states, which chooses a Büchi automaton itself and
    declines a generalised one that is none.
    """
    for k, (name, load_search) in enumerate(SEARCHES.items(), turn):
        generalised = load_search().generalised
        if not has_automaton:
            yield name, ("ba", "tgba", "auto")[k % (2 if generalised else 3)]
            continue
        yield name, "ba" if generalised or k % 2 else "auto"
        if generalised or k % 3 == 0:
            yield name, "tgba"


def assert_answers(network, expected, judge, turn, *, deadlock="ignore", **question):
    """Each search and each strategy answers alike; `judge` looks at the lassos.

    The searches for weak and terminal automata may decline, and those that take
    one mark on states may if the automaton was to be generalised.
    """
    for name, acceptance in configurations(turn, has_automaton="empty" not in question):
        asked = question | {"emptiness": name, "acceptance": acceptance}
        try:
            verdict = ask(network, deadlock=deadlock, **asked)
        except UnsupportedError:
            assert name in ("dfs-weak", "reach-terminal") or acceptance == "tgba"
            continue
        assert verdict.verdict == expected, (name, acceptance)
        if expected == "violated":
            assert judge(verdict.lasso), (name, acceptance)
    for name, way in ALONE.items():
        try:
            verdict = ask(network, deadlock=deadlock, **question | way)
        except UnsupportedError:
            assert name in BY_NAME, name
            continue
        assert (verdict.verdict, verdict.plan.strategy) == (expected, name)
        if expected == "violated":
            assert judge(verdict.lasso), name
    assert ask(network, deadlock=deadlock, **question).verdict == expected
    with all_playing():
        together = ask(network, deadlock=deadlock, **question)
    assert together.verdict == expected, together.plan.tried
    if expected == "violated":
        assert judge(together.lasso), together.plan.tried
    bits = ask(network, deadlock=deadlock, bitstate=0.01, **question)
    assert bits.verdict in (expected, "unknown")
    assert bits.verdict == "violated" or bits.reason == "bitstate"


def assert_agreement(network, text, turn, *, seed=None, deadlock="ignore"):
    """All ways through the package come to Spot's verdict, with true lassos."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")

    def violates(lasso):
        return not satisfies(formula.spot, *visible_word(network, lasso))

    question = {"deadlock": deadlock, "formula": formula, "seed": seed}
    assert_answers(network, expected, violates, turn, **question)


def assert_automata_agree(network, text, turn, *, deadlock="ignore"):
    """The same for an automaton of the violations; the replay judges the lassos."""
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=deadlock == "stutter")
    assert_answers(
        network,
        expected,
        lambda lasso: lasso is not None,
        turn,
        deadlock=deadlock,
        automaton=violations,
    )


def visible_word(network, lasso):
    """Prefix and cycle with what no proposition can name taken away."""
    names = [
        None if a < 0 or network.actions[a].internal else network.actions[a].name
        for a in lasso.actions.tolist()
    ]
    return names[: len(lasso.prefix)], names[len(lasso.prefix) :]


DEADLOCKS = st.sampled_from(["ignore", "stutter"])
SEEDS = st.none() | st.integers(0, 100)
TURNS = st.integers(0, 5)


@given(SMALL, formulas(), TURNS, SEEDS)
@settings(max_examples=examples(DEFAULT_EXAMPLES, quick=15))
def test_networks_and_formulas(network, formula, turn, seed):
    """holds and violated are Spot's; every lasso violates the formula."""
    assert_agreement(network, formula, turn, seed=seed)


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=10), TURNS, SEEDS)
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_networks_and_formulas_by_the_thousand(network, formula, turn, seed):
    """The same, with larger formulas."""
    assert_agreement(network, formula, turn, seed=seed)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(SMALL, formulas(max_leaves=5), TURNS)
@settings(max_examples=examples(60))
def test_deadlocks_that_stutter(network, formula, turn):
    """With ``--deadlock stutter`` a deadlock repeats itself without an action."""
    assert_agreement(network, formula, turn, deadlock="stutter")


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=7), TURNS)
@settings(max_examples=examples(SLOW_EXAMPLES // 2))
def test_deadlocks_that_stutter_by_the_thousand(network, formula, turn):
    """The same, more often."""
    assert_agreement(network, formula, turn, deadlock="stutter")


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(ACCEPTING, formulas(max_leaves=4), TURNS)
@settings(max_examples=examples(60))
def test_formulas_on_networks_with_acceptance(network, formula, turn):
    """Only runs that the network accepts count."""
    assert_agreement(network, formula, turn)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), network=SMALL, turn=TURNS, deadlock=DEADLOCKS)
@settings(max_examples=examples(40))
def test_networks_and_automata(kind, data, network, turn, deadlock):
    """Weak, terminal, inherently weak and generalised automata, and any others."""
    violations = data.draw(hoa_automata(kind))
    assert_automata_agree(network, violations, turn, deadlock=deadlock)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), network=SMALL, turn=TURNS, deadlock=DEADLOCKS)
@settings(max_examples=examples(AUTOMATA_EXAMPLES // len(KINDS)))
def test_networks_and_automata_by_the_thousand(kind, data, network, turn, deadlock):
    """The same, 10,000 products in all."""
    violations = data.draw(hoa_automata(kind))
    assert_automata_agree(network, violations, turn, deadlock=deadlock)


@given(data=st.data(), network=ACCEPTING, turn=TURNS)
@settings(max_examples=examples(60))
def test_automata_on_networks_with_acceptance(data, network, turn):
    """The system's acceptance and the automaton's, in one mark or in several."""
    kind = data.draw(st.sampled_from(KINDS))
    assert_automata_agree(network, data.draw(hoa_automata(kind, max_states=4)), turn)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(networks(max_components=3, acceptance=True, internal=["a"]), TURNS)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_emptiness_of_networks(network, turn):
    """``--empty`` holds iff no reachable accepting state reaches itself."""
    expected = "violated" if accepting_run_exists(network) else "holds"
    assert_answers(network, expected, lambda lasso: lasso is not None, turn, empty=True)


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


@pytest.mark.parametrize("acceptance", ["ba", "tgba", "auto"])
@pytest.mark.parametrize("deadlock", ["ignore", "stutter"])
def test_terminal_automata_without_marks(acceptance, deadlock):
    """Spot gives `X a` no mark as a TGBA; its first states accept nothing yet.

    Found by random search: reach-terminal stopped at the initial state.
    """
    from ltlpipe import LTS, Network

    loop = [(0, "b", 0), (1, "a", 1)]
    network = Network([LTS.from_transitions(loop)])
    asked = {"emptiness": "reach-terminal", "deadlock": deadlock}
    for lasso in (True, False):
        verdict = check(network, "!X a", acceptance=acceptance, lasso=lasso, **asked)
        assert verdict.verdict == "holds"
    verdict = check(network, "!X b", acceptance=acceptance, **asked)
    assert (verdict.verdict, verdict.lasso.cycle) == ("violated", ["b"])


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

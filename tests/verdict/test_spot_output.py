"""What goes out to Spot can go in again: words, products, and systems as graphs."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from ltlpipe import (
    LTS,
    FormulaError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    is_empty,
    load,
    product,
    save,
)
from ltlpipe.logic.formulas import parse
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks
from tests.oracles import compose

PETERSON = Path(__file__).parents[2] / "examples" / "dve" / "peterson.dve"
TOKENS = Path(__file__).parents[2] / "examples" / "pnml" / "token-ring-5.pnml"
RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "c", 1)])], "ring")
CRITICAL = 'P_0=="critical"'
ACCEPTING = networks(max_components=3, max_states=4, acceptance=True, internal=["d"])


def exactly_one(names, dictionary):
    """The words in which exactly one of some propositions holds at each step."""
    names = sorted(names) or ["none"]
    one = " | ".join(
        "(" + " & ".join(n if n == name else f"!{n}" for n in names) + ")"
        for name in names
    )
    return spot.translate(f"G({one})", dict=dictionary)


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        ("G(a -> X b)", "a; !a; cycle{!a; a}"),
        ("GF b", "cycle{!b}"),
        ("!F(a & X c)", None),
        ("!GF(b | c)", None),
    ],
)
def test_words_of_networks(formula, word):
    """The negated formula's automaton accepts them, and Spot's own dictionary does."""
    lasso = check(RING, formula).lasso
    violations = spot.translate(spot.formula_Not(spot.formula(formula)))
    assert lasso.word.intersects(violations)
    assert not lasso.word.intersects(spot.translate(formula))
    assert {p.ap_name() for p in lasso.word.as_automaton().ap()} <= set(
        parse(formula).propositions
    )
    if word is not None:
        assert lasso.word.as_automaton().is_empty() is False


def test_exactly_the_action_holds():
    """At each step, over the formula's propositions alone."""
    lasso = check(RING, "G !(a & X c)").lasso
    steps = [*lasso.prefix, *lasso.cycle]
    word = lasso.word
    letters = [*word.prefix, *word.cycle]
    expected = [{"a": "a & !c", "c": "!a & c"}.get(step, "!a & !c") for step in steps]
    assert lasso.word is word
    texts = [spot.bdd_format_formula(word.get_dict(), letter) for letter in letters]
    assert texts == expected


@pytest.mark.parametrize("name", ["F", "a;b", 'x"y', "cycle{1}", "a b", "1", "a\\b"])
def test_words_with_odd_names(name):
    """Names may be whatever a file has."""
    ring = Network([LTS.from_transitions([(0, name, 1), (1, "z", 0)])])
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    formula = f'G !"{escaped}"'
    lasso = check(ring, formula).lasso
    assert lasso.word.intersects(spot.translate(f"!({formula})"))


def test_words_of_models():
    """What the propositions say of the states."""
    formula = f"G !({CRITICAL})".replace(
        CRITICAL, f'"{CRITICAL.replace(chr(34), chr(39))}"'
    )
    lasso = check(load(PETERSON), formula).lasso
    assert lasso.word.intersects(spot.translate(f"!({formula})"))
    assert not lasso.word.intersects(spot.translate(formula))


def test_words_of_violations():
    """Over the propositions of the automaton."""
    violations = ltlpipe.automaton("GF(b | c)", acceptance="tgba")
    lasso = check(RING, automaton=violations).lasso
    assert lasso.word.intersects(violations)


def test_words_without_a_property():
    """They are over no propositions."""
    accepting = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], accepting=[1])
    lasso = check(Network([accepting]), empty=True).lasso
    assert str(lasso.word).count("1") == 2
    dead = Network([LTS.from_transitions([(0, "a", 1)])])
    assert str(ltlpipe.deadlocks(dead).lasso.word) == "1; cycle{1}"


@settings(max_examples=examples(100))
@given(ACCEPTING, formulas(max_leaves=4))
def test_networks_as_graphs(network, formula):
    """The same states, and the same verdict of the property."""
    graph = network.to_spot()
    states, edges = compose(network)
    assert graph.num_states() == len(states)
    assert graph.num_edges() <= len(edges)
    known = set(network.action_index)
    names = set(parse(formula).propositions)
    if not names <= known:
        return
    assert check(graph, formula).verdict == check(network, formula).verdict
    assert is_empty(graph).empty == (check(network, empty=True).verdict == "holds")
    violations = spot.translate(spot.formula_Not(parse(formula).spot))
    assert graph.intersects(violations) == (check(network, formula).lasso is not None)
    if not any(action.internal for action in network.actions) and known:
        assert spot.contains(exactly_one(known, graph.get_dict()), graph)


@settings(max_examples=examples(100))
@given(ACCEPTING, formulas(max_leaves=4), st.sampled_from(["ignore", "stutter"]))
def test_products_of_networks(network, formula, deadlock):
    """Empty iff the property holds; the word of a lasso is one of it."""
    options = {"deadlock": deadlock, "unknown": "never"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        made = product(network, formula, **options)
        verdict = check(network, formula, **options)
    assert made.is_empty() == verdict.holds
    assert is_empty(made).empty == verdict.holds
    if verdict.lasso is not None:
        assert verdict.lasso.word.intersects(made)


@pytest.mark.parametrize("path", [PETERSON, TOKENS], ids=["dve", "pnml"])
def test_models_as_graphs(path):
    """Over the propositions that are asked for; verdicts are the same."""
    model = load(path)
    names = [CRITICAL, 'P_1=="waiting"'] if path == PETERSON else ["critical0==1"]
    graph = model.to_spot(names)
    assert isinstance(graph, spot.kripke_graph)
    for name in names:
        text = '"' + name.replace('"', '\\"') + '"'
        for form in ("GF {}", "G !{}", "F {}", "G({} -> F !{})"):
            formula = form.replace("{}", text)
            verdict = check(model, formula)
            assert check(graph, formula).verdict == verdict.verdict
            assert product(model, formula).is_empty() == verdict.holds
            violations = spot.translate(f"!({formula})")
            run = graph.intersecting_run(violations)
            assert (run is None) == verdict.holds


def test_where_a_model_ends_there_is_a_deadlock(tmp_path):
    (tmp_path / "m.dve").write_text(
        "byte x; process P { state s; init s; trans s -> s { guard x < 2; effect "
        "x = x + 1; }; } system async;"
    )
    model = load(tmp_path / "m.dve")
    (written,) = save(model, tmp_path / "m.hoa", propositions=["deadlock", "x==2"])
    for graph in (
        model.to_spot(["deadlock", "x==2"]),
        load(written, semantics="state"),
    ):
        assert check(graph, 'F deadlock & G(deadlock <-> "x==2")').verdict == "holds"


def test_what_models_refuse():
    model = load(PETERSON)
    with pytest.raises(UnsupportedError, match="about steps"):
        model.to_spot(['action=="P_0: waiting -> critical"'])
    with pytest.raises(UnsupportedError, match="expected a list"):
        model.to_spot(CRITICAL)
    with pytest.raises(FormulaError, match="P_7"):
        model.to_spot(['P_7=="critical"'])
    with pytest.raises(UnsupportedError, match="more than 5 states"):
        model.to_spot([CRITICAL], max_states=5)


def test_a_dead_end_repeats_itself(tmp_path):
    """Unless it is to be left without edges."""
    path = tmp_path / "m.dve"
    path.write_text(
        "byte x = 0;\nprocess P {\nstate a, b;\ninit a;\n"
        "trans a -> b { effect x = 1; };\n}\nsystem async;\n"
    )
    model = load(path)
    assert model.to_spot(["x==1"]).num_edges() == 2
    assert model.to_spot(["x==1"], stutters=False).num_edges() == 1
    assert check(model.to_spot(["x==1"]), 'FG "x==1"').verdict == "holds"


def test_limits():
    with pytest.raises(UnsupportedError, match="ring has more than 1 state:"):
        RING.to_spot(max_states=1)
    with pytest.raises(UnsupportedError, match="the product has more than 2 states"):
        product(RING, "GF b", max_states=2)


def test_products_with_automata():
    """Of any acceptance, given by the violations."""
    violations = spot.translate("GFb & FG!a | G c", "generic", "deterministic")
    made = product(RING, violations)
    assert made.is_empty() == check(RING, automaton=violations).holds
    assert made.get_state_names()[0] == "0|0"


def test_products_of_graphs_share_their_propositions():
    """Spot can combine them with the graph itself."""
    graph = RING.to_spot()
    made = product(graph, "GF b")
    assert spot.contains(graph, made)
    theirs = spot.product(graph, spot.translate("FG !b", dict=graph.get_dict()))
    assert spot.are_equivalent(made, theirs)

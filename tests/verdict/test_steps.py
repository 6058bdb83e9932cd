"""Lassos step by step: who moves, what holds, and when all is lost."""

from __future__ import annotations

import warnings
from dataclasses import replace

from hypothesis import given, settings

from benchmarks.families.nets import token_ring
from ltlpipe import LTS, LtlpipeWarning, Network, check
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks

CLIENT = LTS.from_transitions([(0, "ask", 1), (1, "get", 0)], name="client")
CLIENT = replace(CLIENT, state_names=("idle", "waiting"))
SERVER = LTS.from_transitions([(0, "ask", 1), (1, "get", 0), (1, "nap", 1)])
OFFICE = Network([CLIENT, SERVER])


def test_components_and_their_states():
    """By their names, or by their numbers where they have none."""
    verdict = check(OFFICE, "G(ask -> F get)")
    first, second = verdict.lasso.steps
    assert first.action == "ask"
    assert first.moves == (("client", "idle", "waiting"), ("component 2", "0", "1"))
    assert first.holds == ("ask",)
    assert (second.action, second.holds) == ("nap", ())
    assert second.moves == (("component 2", "1", "1"),)


def test_as_a_table():
    """A row for each step, numbered as people count."""
    frame = check(OFFICE, "G(ask -> F get)").lasso.to_frame()
    assert frame.index.tolist() == [1, 2]
    assert frame.to_dict("records") == [
        {
            "part": "prefix",
            "action": "ask",
            "moves": "client: idle -> waiting; component 2: 0 -> 1",
            "holds": "ask",
        },
        {
            "part": "cycle",
            "action": "nap",
            "moves": "component 2: 1 -> 1",
            "holds": "",
        },
    ]


def test_what_json_has():
    """Steps with names, and the bad prefix of a safety formula."""
    told = check(OFFICE, "G !ask").to_dict()["lasso"]
    assert told["bad_prefix"] == 1
    assert told["steps"][0] == {
        "action": "ask",
        "moves": [
            {"name": "client", "from": "idle", "to": "waiting"},
            {"name": "component 2", "from": "0", "to": "1"},
        ],
        "holds": ["ask"],
    }
    assert check(OFFICE, "GF get").to_dict()["lasso"]["bad_prefix"] is None


def test_long_lassos():
    """JSON has their actions alone."""
    chain = [(k, f"step{k}", k + 1) for k in range(1500)] + [(1500, "end", 1500)]
    told = check(Network([LTS.from_transitions(chain)]), "G !end").to_dict()["lasso"]
    assert "steps" not in told
    assert len(told["prefix"]) == 1500


def test_what_is_left_of_the_formula():
    """Before the first step it is the formula; a violated safety formula is false."""
    verdict = check(OFFICE, "G(ask -> X get) & G !nap")
    left = verdict.residuals()
    assert len(left) == len(verdict.lasso.steps) + 1
    assert left[0] == parse(verdict.formula).spot
    assert str(left[verdict.lasso.bad_prefix]) == "0"
    assert check(OFFICE, empty=True).residuals() == []


def test_variables_of_models():
    """Those that change, and the transition that fires."""
    verdict = check(token_ring(3), "G(token0>=1)")
    step = verdict.lasso.steps[0]
    assert {move.name for move in step.moves} <= set(token_ring(3).variables)
    assert verdict.lasso.bad_prefix is not None
    broken = verdict.lasso.steps[verdict.lasso.bad_prefix - 1]
    assert broken.holds == ()


@given(networks(max_components=3, max_states=4), formulas())
@settings(max_examples=examples(100))
def test_no_continuation_of_a_bad_prefix_satisfies_the_formula(network, text):
    """Whatever is said for ever behind it; what is before it may still be saved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        verdict = check(network, text, unknown="never")
    if verdict.lasso is None or verdict.lasso.bad_prefix is None:
        return
    names = verdict.lasso.action_names
    unrolled = names + 3 * names[len(verdict.lasso.prefix) :]
    bad = tuple(unrolled[: verdict.lasso.bad_prefix])
    formula = parse(text).spot
    for last in ("a", "b", "c", "d", "zz"):
        assert not satisfies(formula, Word(bad, (last,)))

"""Proofs by linear programs against brute force on small nets."""

from __future__ import annotations

import itertools
import random
import re

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.linear.proof import prove
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.strategies.linear import arrays_of, meanings_of
from ltlpipe.strategies.substitutes import is_of_markings
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.inquiry import question_of
from tests.cross.test_models import (
    explored,
    net_atoms,
    random_formula,
    spot_verdict,
)
from tests.example_counts import at_least, examples
from tests.hypothesis_strategies import petri_nets
from tests.random_nets import net_of, random_net

SEEDS = st.integers(0, 1 << 30)


def proved(net, formula, stutters, seconds=20.0, certified=True):
    """What linear programs say, and the meanings of the propositions."""
    deadlock = "stutter" if stutters else "ignore"
    question = question_of(net, Property(formula), Options(deadlock=deadlock))
    meanings = question.propositions
    initial = {
        name: bool(evaluate(own, net.initial()))
        for name, own in meanings.items()
        if is_of_markings(own)
    }
    found = prove.here(
        arrays_of(net),
        question.translated,
        meanings_of(meanings),
        initial,
        stutters=stutters,
        seconds=seconds,
        certified=certified,
    )
    return found, meanings


def letters_of(net, graph, meanings):
    """The letters of all steps of all markings, those of deadlocks apart."""
    states, steps = graph
    of_steps, of_deadlocks = [], []
    for state, moves in zip(states, steps, strict=True):
        for action, _ in moves:
            of_steps.append(
                {
                    n: bool(evaluate(e, state, action=action))
                    for n, e in meanings.items()
                }
            )
        if not moves:
            of_deadlocks.append(
                {n: bool(evaluate(e, state, dead=True)) for n, e in meanings.items()}
            )
    return of_steps, of_deadlocks


def assert_sound(net, formula, stutters):
    graph = explored(net)
    if graph is None:
        return False
    found, meanings = proved(net, formula, stutters)
    of_steps, of_deadlocks = letters_of(net, graph, meanings)
    for clause in found["clauses"]:
        cube = clause["cube"].items()
        assert not any(cube <= letter.items() for letter in of_steps + of_deadlocks)
    expected = spot_verdict(net, graph, formula, stutters)
    by_parts = False
    if not found["proved"]:
        more, _ = proved(net, formula, stutters, certified=False)
        by_parts = more["proved"]
    if found["proved"] or by_parts:
        assert expected == "holds", formula.text
    return found["proved"] or by_parts


def recurring(rng, net):
    """Formulas about what recurs, over few propositions and their negations."""
    place = rng.choice(net.variables)
    other = rng.choice(net.variables)
    names = {"a": f"({place} == 0)", "b": f"({other} >= 1)"}
    found = spot.randltl(
        ["a", "b"], 1, seed=rng.randrange(1 << 30), tree_size=(3, 9), output="ltl"
    )
    shapes = ["FG {} | FG {}", "GF {} -> GF {}", "G({} -> F {})", "FG {} | GF {}"]
    literals = ["a", "!a", "b", "!b"]
    shaped = rng.choice(shapes).format(rng.choice(literals), rng.choice(literals))
    text = rng.choice([shaped, str(spot.str_psl(next(found), True))])
    return parse(re.sub(r"\b[ab]\b", lambda name: names[name[0]], text))


def test_what_recurs():
    """Nets that move for ever, formulas that depend on what runs do in the end."""
    n_proved = 0
    for seed in range(examples(200)):
        rng = random.Random(seed)
        net = random_net(rng)
        n_proved += assert_sound(net, recurring(rng, net), rng.random() < 0.5)
    assert n_proved >= at_least(25)


@pytest.mark.slow
def test_what_recurs_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(8000)):
        rng = random.Random(seed)
        net = random_net(rng)
        assert_sound(net, recurring(rng, net), rng.random() < 0.5)


@given(petri_nets(), SEEDS, st.booleans())
@settings(max_examples=examples(200))
def test_what_is_proved_holds(net, seed, stutters):
    """Nets with weights and self-loops, with X and without, both ways of deadlocks."""
    rng = random.Random(seed)
    assert_sound(net, random_formula(rng, net_atoms(rng, net)), stutters)


@pytest.mark.slow
@given(petri_nets(max_places=6, max_transitions=7), SEEDS, st.booleans())
@settings(max_examples=examples(8000))
def test_what_is_proved_holds_by_the_thousand(net, seed, stutters):
    """The same, with larger nets."""
    rng = random.Random(seed)
    assert_sound(net, random_formula(rng, net_atoms(rng, net)), stutters)


def test_what_a_violation_must_not_do():
    """The net ends in p2, but for that t1 has to fire."""
    net = net_of([1, 0, 0], ({0: 1}, {1: 1}), ({1: 1}, {2: 1}))
    formula = parse('F "fireable(t1)"')
    assert not proved(net, formula, stutters=True)[0]["proved"]
    assert proved(net, formula, stutters=True, certified=False)[0]["proved"]


def test_deadlocks_of_many_transitions():
    """As many disjunctions, each with two parts, were split one within the other."""
    n = 500
    moves = [({3 * k: 1, 3 * k + 1: 1}, {3 * k + 2: 1}) for k in range(n)]
    net = net_of([1, 1, 0] * n, *moves)
    found, _ = proved(net, parse("F(p2 == 1 && p5 == 1)"), stutters=True)
    assert found["proved"]


def test_a_process_that_is_held_up_proves_as_much(monkeypatch):
    """The limit is one of CPU time: what else the machine does changes no answer."""
    net = net_of([1, 0], ({0: 1}, {1: 1}))
    clock = itertools.count(0, 1_000)
    with monkeypatch.context() as patched:
        patched.setattr("time.monotonic", lambda: next(clock))
        found, _ = proved(net, parse("G(p0 + p1 == 1)"), stutters=True)
    assert found["proved"]

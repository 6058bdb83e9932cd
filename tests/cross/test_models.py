"""Models against Spot on the explicit product that the interpreter says there is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check
from ltlpipe.logic.formulas import parse
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import RoomError
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.propositions.letters import evaluate
from tests.example_counts import examples
from tests.hypothesis_strategies import petri_nets
from tests.portfolio_settings import all_playing
from tests.systems.programs.random_models import models

MAX_STATES = 300
WAYS = [
    {},
    {"reduce": "none"},
    {"reduce": "none", "seed": 2},
    {"reduce": "ample"},
    {"emptiness": "couvreur99"},
    {"emptiness": "se05"},
    {"emptiness": "gv04", "seed": 3},
    {"emptiness": "tela", "acceptance": "tela"},
    {"emptiness": "rabin", "acceptance": "tgra", "deterministic": True},
    {"acceptance": "tfla", "seed": 1},
]


def explored(model):
    """The reachable valuations and their steps, at most so many; None if more.

    A program that starts processes without end has more, too.
    """
    states = [model.initial()]
    index = {states[0]: 0}
    steps = []
    for state in states:  # grows while it is read
        try:
            found = model.steps(state)
        except RoomError:
            return None
        for step in found:
            if step.state not in index:
                if len(states) == MAX_STATES:
                    return None
                index[step.state] = len(states)
                states.append(step.state)
        steps.append([(step.action, index[step.state]) for step in found])
    return states, steps


def spot_verdict(model, graph, formula, stutters):
    """What Spot says of the explicit system; labels are those of the source states."""
    import spot

    # isort: split
    import buddy

    states, steps = graph
    meanings = bound_propositions(model, Property(formula))
    system = spot.make_twa_graph()
    variables = {name: system.register_ap(name) for name in meanings}

    def label(state, action, dead):
        cube = buddy.bddtrue
        for name, meaning in meanings.items():
            holds = evaluate(meaning, state, action=action, dead=dead)
            literal = buddy.bdd_ithvar if holds else buddy.bdd_nithvar
            cube &= literal(variables[name])
        return cube

    system.new_states(len(states))
    system.set_init_state(0)
    for src, (state, moves) in enumerate(zip(states, steps, strict=True)):
        for action, dst in moves:
            system.new_edge(src, dst, label(state, action, dead=False))
        if not moves and stutters:
            system.new_edge(src, src, label(state, None, dead=True))
    violations = spot.translate(spot.formula_Not(formula.spot), dict=system.get_dict())
    return "violated" if system.intersects(violations) else "holds"


def random_formula(rng, atoms):
    """A formula over propositions, most of them about what recurs or comes."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        a, b = rng.choice(atoms), rng.choice(atoms)
        shape = rng.choice(
            [
                *("G({a})", "F({a})", "GF({a})", "FG({a})", "({a}) U ({b})", "X({a})"),
                *("G(({a}) -> F({b}))", "(!({a})) W ({b})", "GF(({a}) && X({b}))"),
            ]
        )
        parts.append(f"({shape.format(a=a, b=b)})")
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) {rng.choice(['&', '|', '->'])} {part}"
    return parse(rng.choice(["", "!"]) + f"({text})")


def net_atoms(rng, net):
    """Propositions about a net."""
    atoms = ["deadlock"]
    for place in net.variables:
        atoms += [f"{place} >= {rng.randint(1, 3)}", f"{place} == 0"]
    for action in net.actions:
        atoms += [f"fireable({action})", f'action=="{action}"']
    if len(net.variables) > 1:
        p, q = rng.sample(net.variables, 2)
        atoms += [f"{p} + {q} <= 2", f"{p} < {q}", f"2*{p} == {q}"]
    return atoms


def dve_atoms(rng, model):
    """Propositions about a DVE model."""
    names = [name for name in model.variables if "[" not in name]
    atoms = ["deadlock"]
    for name in names:
        values = model.vocabulary.texts.get(model.vocabulary.variables[name])
        if values:
            atoms.append(f'{name}=="{rng.choice(sorted(values))}"')
        else:
            atoms += [f"{name} > {rng.randint(-1, 3)}", f"{name} == 0"]
    return atoms


def assert_agree(model, formula, stutters):
    graph = explored(model)
    if graph is None:
        return False
    expected = spot_verdict(model, graph, formula, stutters)
    for way in WAYS:
        deadlock = "stutter" if stutters else "ignore"
        try:
            found = check(model, formula, deadlock=deadlock, **way)
        except UnsupportedError:
            assert way == {"reduce": "ample"}
            continue
        assert found.verdict == expected, f"{formula.text}: {way}"
    with all_playing():
        found = check(model, formula, deadlock=deadlock)
    assert found.verdict == expected, f"{formula.text}: all playing"
    return True


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(petri_nets(max_places=4), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(60))
def test_nets(net, seed, stutters):
    rng = random.Random(seed)
    assert_agree(net, random_formula(rng, net_atoms(rng, net)), stutters)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(models(), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(3))
def test_dve_models(text, seed, stutters):
    """Few by default: each is compiled for seconds."""
    rng = random.Random(seed)
    model = read_dve_model(text, "random.dve")
    assert_agree(model, random_formula(rng, dve_atoms(rng, model)), stutters)


@pytest.mark.slow
@given(petri_nets(), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(3000))
def test_nets_by_the_thousand(net, seed, stutters):
    rng = random.Random(seed)
    assert_agree(net, random_formula(rng, net_atoms(rng, net)), stutters)


@pytest.mark.slow
@given(models(), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(150))
def test_dve_models_by_the_hundred(text, seed, stutters):
    rng = random.Random(seed)
    model = read_dve_model(text, "random.dve")
    for _ in range(10):
        assert_agree(model, random_formula(rng, dve_atoms(rng, model)), stutters)

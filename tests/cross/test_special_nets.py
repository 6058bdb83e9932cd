"""Nets with inhibitor, read and reset arcs and capacities, against brute force.

What their arcs do is told by `tests.systems.nets.special_nets`, what that means for a
formula by Spot.
"""

from __future__ import annotations

import random

import pytest

from ltlpipe import UnsupportedError, check, deadlocks
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import net_atoms, random_formula, spot_verdict
from tests.cross.test_models_por import stutter_invariant_formula
from tests.example_counts import at_least, examples
from tests.por.models.twins import Reduced
from tests.portfolio_settings import all_playing
from tests.systems.nets.special_nets import KINDS, random_special_net, read
from tests.systems.nets.test_packing import explored as packed_explored

MOST = 200
WAYS = [
    {},
    {"reduce": "none"},
    {"reduce": "none", "seed": 2},
    {"emptiness": "couvreur99"},
    {"emptiness": "se05", "seed": 4},
    {"emptiness": "tela", "acceptance": "tela"},
    {"reduce": "ample"},
    {"reduce": "ample", "emptiness": "se05"},
    {"reduce": "automorphisms"},
    {"reduce": "decoupled"},
    {"reduce": "none", "workers": 2},
]
REFUSED = ("ample", "automorphisms", "decoupled")
"""Reductions that are refused by name where they cannot be used."""


def assert_read_right(seed):
    """Interpreter, tables and bounds do what the arcs do, whatever the dialect."""
    rng = random.Random(seed)
    net = random_special_net(rng)
    found = read(net, rng.choice([*KINDS]))
    special = any(net.capacities) or any(
        arc.kind in ("inhibitor", "reset") for arc in net.arcs
    )
    limited = isinstance(found, ExtendedNet)
    assert limited or isinstance(found, PetriNet)
    assert special or not limited
    limit = 60
    graph = net.graph(limit)
    reached = packed_explored(found, found.pack((), seed=rng.choice([None, 1])), limit)
    if graph is None:
        assert len(reached) == limit
    else:
        assert reached == set(graph[0])
    for state in sorted(reached)[:20]:
        assert sorted(found.steps(state)) == sorted(net.steps(state))
        enabled = {t for t, _ in net.steps(state)}
        for t in range(net.n_transitions):
            text = f"fireable(t{t})"
            meaning = found.bound(parse_proposition(text), text)
            assert bool(evaluate(meaning, state)) == (t in enabled)
        for place, most in enumerate(found.bounds.tokens):
            assert most is None or state[place] <= most
    again = parse_pnml(pnml_text(found).encode(), "again.pnml")
    assert type(again) is type(found)
    for state in sorted(reached)[:20]:
        assert sorted(again.steps(state)) == sorted(net.steps(state))
    return limited


def test_reading_and_packing():
    limited = [assert_read_right(seed) for seed in range(examples(400))]
    assert limited.count(True) >= at_least(200)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_reading_and_packing_by_the_thousand(part):
    for seed in range(10_000 + 500 * part, 10_500 + 500 * part):
        assert_read_right(seed)


def assert_answered_right(seed):
    """All ways come to the verdict on the graph that the arcs make, or are refused."""
    rng = random.Random(seed)
    net = random_special_net(rng, bounded=0.9)
    model, graph = read(net), net.graph(MOST)
    if graph is None:
        return ["large"]
    if rng.random() < 0.5:
        formula = stutter_invariant_formula(rng, model)
    else:
        formula = random_formula(rng, net_atoms(rng, model))
    deadlock = rng.choice(["stutter", "ignore"])
    expected = spot_verdict(model, graph, formula, deadlock == "stutter")
    used = []
    for way in WAYS:
        try:
            found = check(model, formula, deadlock=deadlock, **way)
        except UnsupportedError:
            assert way.get("reduce") in REFUSED
            continue
        used.append(way.get("reduce"))
        assert found.verdict == expected, f"{seed} {formula.text}: {way}"
    with all_playing():
        assert check(model, formula, deadlock=deadlock).verdict == expected
    dead = any(not steps for steps in graph[1])
    assert deadlocks(model).verdict == ("violated" if dead else "holds")
    return [*used, expected, "special" * isinstance(model, ExtendedNet)]


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_answers():
    seen = [said for k in range(examples(60)) for said in assert_answered_right(k)]
    for kind in ("holds", "violated", "ample", "automorphisms"):
        assert seen.count(kind) >= at_least(5)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_answers_by_the_thousand(part):
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        assert_answered_right(seed)


def assert_reduced_right(seed):
    """Ample sets by definition, by Python and Spot alone."""
    rng = random.Random(seed)
    net = random_special_net(rng, bounded=0.9)
    model, graph = read(net), net.graph(MOST)
    if graph is None or not isinstance(model, ExtendedNet):
        return ""
    formula = stutter_invariant_formula(rng, model)
    meanings = bound_propositions(model, Property(formula))
    reduced = Reduced(model, list(meanings.values()))
    states = [model.initial()]
    index, steps = {states[0]: 0}, []
    for state in states:
        found = reduced.steps(state)
        for step in found:
            if step.state not in index:
                index[step.state] = len(states)
                states.append(step.state)
        steps.append([(step.action, index[step.state]) for step in found])
    stutters = rng.random() < 0.5
    expected = spot_verdict(model, graph, formula, stutters)
    assert spot_verdict(model, (states, steps), formula, stutters) == expected
    return "reduced" if sum(map(len, steps)) < sum(map(len, graph[1])) else "whole"


def test_reduced_by_definition():
    seen = [assert_reduced_right(seed) for seed in range(examples(400))]
    assert seen.count("reduced") >= at_least(5)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_reduced_by_definition_by_the_thousand(part):
    for seed in range(5_000 + 250 * part, 5_250 + 250 * part):
        assert_reduced_right(seed)

"""Nets with inhibitor, read and reset arcs and capacities, against brute force.

What their arcs do is told by `tests.systems.nets.special_nets`, what that means for a
formula by Spot.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from ltlpipe import UnsupportedError, check, deadlocks
from ltlpipe.logic.formulas import parse
from ltlpipe.por.groups import find_groups
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete
from ltlpipe.symmetry.groups.models import Propositions, group_of_net
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import net_atoms, random_formula, spot_verdict
from tests.cross.test_models_por import stutter_invariant_formula
from tests.example_counts import at_least, examples
from tests.por.models.twins import Reduced
from tests.portfolio_settings import all_playing
from tests.systems.nets.special_nets import (
    KINDS,
    Arc,
    SpecialNet,
    random_special_net,
    read,
)
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
        edges = [max(len({dst for _, dst in own}), 1) for own in graph[1]]
        whole = found.to_spot(["p0==0"])
        assert (whole.num_states(), whole.num_edges()) == (len(reached), sum(edges))
    for state in sorted(reached)[:20]:
        assert sorted(found.steps(state)) == sorted(net.steps(state))
        enabled = {t for t, _ in net.steps(state)}
        for t in range(net.n_transitions):
            text = f"fireable(t{t})"
            meaning = found.meaning(text)
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


TWINS = SpecialNet(
    (1, 1, 0, 0),
    (0, 0, 0, 0),
    2,
    (
        *(Arc("normal", k, k, True) for k in range(2)),
        *(Arc("normal", 2 + k, k, False) for k in range(2)),
    ),
)


@pytest.mark.parametrize(
    ("arcs", "order"),
    [
        ([], 2),
        ([Arc("inhibitor", 2, 0, True)], 1),
        ([Arc("reset", 2, 0, True)], 1),
        ([Arc("inhibitor", 2 + k, k, True) for k in range(2)], 2),
        ([Arc("inhibitor", 2 + k, k, True, 1 + k) for k in range(2)], 1),
        ([Arc("inhibitor", 2, 0, True), Arc("reset", 3, 1, True)], 1),
    ],
)
def test_what_can_be_exchanged(arcs, order):
    """Two transitions with places of their own, unless an arc tells them apart."""
    model = read(TWINS._replace(arcs=(*TWINS.arcs, *arcs)))
    no_propositions = Propositions([], np.zeros(1, dtype=np.int64))
    assert complete(group_of_net(model, no_propositions)).order == order


def test_decoupling_is_refused_by_name():
    model = read(TWINS._replace(arcs=(*TWINS.arcs, Arc("reset", 2, 0, True))))
    with pytest.raises(UnsupportedError, match="inhibitor or reset arcs"):
        check(model, "G(p2<=1)", reduce="decoupled")


def moved(*ends):
    """Arcs by which transition k takes from one place and puts into another."""
    return [
        Arc("normal", place, k, place == source)
        for k, (source, target) in enumerate(ends)
        for place in (source, target)
    ]


@pytest.mark.parametrize(
    ("arcs", "capacity", "formula"),
    [
        # The first transition fills p1, which keeps the second one from p3.
        ([*moved((0, 1), (2, 3)), Arc("inhibitor", 1, 1, True)], 0, "G(p3==0)"),
        # As before, for lack of room: the second one puts into p1, too.
        ([*moved((0, 1), (2, 3)), Arc("normal", 1, 1, False)], 1, "G(p3==0)"),
        # The second one empties p0, so that the first never takes from it.
        ([*moved((0, 1), (2, 4), (1, 3)), Arc("reset", 0, 1, True)], 0, "F(p3==1)"),
        # The second one empties p1, so that the third never takes from it.
        ([*moved((0, 1), (2, 4), (1, 3)), Arc("reset", 1, 1, True)], 0, "F(p3==1)"),
    ],
    ids=["inhibitor", "capacity", "reset of what is taken", "reset of what is put"],
)
def test_what_ample_sets_have_to_know(arcs, capacity, formula):
    """A step that seems to be independent is none that may be taken first."""
    n_transitions = 1 + max(arc.transition for arc in arcs)
    net = SpecialNet(
        (1, 0, 1, 0, 0), (0, capacity, 0, 0, 0), n_transitions, tuple(arcs)
    )
    model = read(net)
    assert (
        check(model, formula, deadlock="stutter", reduce="none").verdict == "violated"
    )
    meanings = bound_propositions(model, Property(parse(formula)))
    codes = complete(find_groups(model, list(meanings.values()))).codes
    assert codes is None or not codes[0].any()
    assert check(model, formula, deadlock="stutter").verdict == "violated"


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

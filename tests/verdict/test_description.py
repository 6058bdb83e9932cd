"""Descriptions of systems: what is counted, and formulas that can be asked."""

from unittest.mock import patch

import numpy as np
import pytest
import spot
from hypothesis import given

from ltlpipe import LTS, Network, check, load
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.verdict import description
from ltlpipe.verdict.description import MAX_STATES, description_job
from ltlpipe.verdict.inquiry import question_of
from tests.hypothesis_strategies import AWKWARD_LABELS, networks
from tests.spot_graphs import random_automaton, random_kripke
from tests.systems.nets.test_packing import random_net
from tests.systems.programs.random_models import models

FEW_STATES = 2_000
RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="ring")])


def described(system):
    return complete(description_job(system))


def can_be_asked(system, told):
    """All of the examples make a question about the system."""
    for text in told.formulas:
        question_of(system, Property(parse(text)), Options())


def agrees(graph, told, start):
    """Compare with a graph of Spot: reachable states, a shortest way to a deadlock."""
    level, seen, steps, nearest = {start}, {start}, 0, None
    while level:
        ends = [s for s in level if not any(True for _ in graph.out(s))]
        nearest = steps if nearest is None and ends else nearest
        level = {e.dst for s in level for e in graph.out(s)} - seen
        seen |= level
        steps += 1
    assert told.is_complete
    assert (told.n_states, told.deadlock) == (len(seen), nearest)


@given(networks(labels=AWKWARD_LABELS))
def test_networks(network):
    told = described(network)

    can_be_asked(network, told)
    assert len(told.formulas) == (5 if network.action_index else 0)
    graph = network.to_spot()
    agrees(graph, told, graph.get_init_state_number())


@given(models())
def test_models(text):
    """Large ones are told from small ones at 2,000 states."""
    model = read_dve_model(text, "m.dve")
    with patch.object(description, "MAX_STATES", FEW_STATES):
        told = described(model)

    can_be_asked(model, told)
    assert len(told.formulas) == 5
    try:
        graph = model.to_spot([], stutters=False, max_states=FEW_STATES)
    except UnsupportedError:
        assert not told.is_complete
        return
    if told.is_complete:
        agrees(graph, told, graph.get_init_state_number())


def test_nets():
    for seed in range(40):
        net = random_net(np.random.default_rng(seed), 4, 4, 2)
        told = described(net)
        can_be_asked(net, told)
        assert len(told.formulas) == 5


def test_graphs():
    for seed in range(40):
        for graph in (random_kripke(seed), random_automaton(seed, "Rabin")):
            system = load(graph)
            told = described(system)
            can_be_asked(system, told)
            assert len(told.formulas) == (5 if graph.ap() else 0)
            assert told.is_complete
            assert told.n_states <= graph.num_states()


def test_what_is_told_of_a_network():
    told = described(RING)

    assert (told.kind, told.sizes["component"]) == ("LTS", 1)
    assert told.components[0]["states"] == told.components[0]["transitions"] == 2
    assert told.actions == {"a": ["ring"], "b": ["ring"]}
    assert told.initial == {"ring": "0"}
    assert (told.n_states, told.is_complete, told.deadlock) == (2, True, None)
    assert check(RING, told.formulas[0]).verdict == "holds"


@pytest.mark.parametrize(
    ("n", "kind"), [(1, "Büchi automaton"), (2, "network of Büchi automata")]
)
def test_the_kind_of_networks_with_acceptance(n, kind):
    part = LTS.from_transitions([(0, "a", 0)], accepting={0})
    assert described(Network([part] * n)).kind == kind


def test_a_large_system_is_explored_in_part():
    counter = [(k, "a", (k + 1) % 200) for k in range(200)]
    parts = [
        LTS.from_transitions([(s, f"a{i}", d) for s, _, d in counter]) for i in range(3)
    ]
    told = described(Network(parts))

    assert not told.is_complete
    assert MAX_STATES // 2 < told.n_states <= 2 * MAX_STATES


@pytest.mark.parametrize(("acceptance", "shown"), [("Buchi", "Inf(0)"), ("all", "t")])
def test_the_kind_of_a_graph(acceptance, shown):
    automaton = spot.translate("G F a" if shown != "t" else "G a", "TGBA")

    told = described(load(automaton))

    assert told.kind == f"automaton with the acceptance {shown}"

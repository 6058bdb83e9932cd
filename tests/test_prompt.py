"""What objects say at the prompt: kind, name and sizes, never arrays."""

from __future__ import annotations

import pytest
import spot

from ltlpipe import LTS, Network, check
from ltlpipe.question.given_options import configuration_of
from ltlpipe.systems.graph import graph_system
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model

RING = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="ring")
NET = PetriNet(
    [Place("p", "p", 1)], [Transition("t", "t", {0: 1}, {0: 1})], name="loop"
)
MODEL = "process P { state a; init a; trans a -> a {}; } system async;"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (RING, "<LTS 'ring': 2 states, 2 transitions>"),
        (Network([RING], "n"), "<Network 'n': 1 component, 2 actions>"),
        (Network([RING, RING]), "<Network: 2 components, 2 actions>"),
        (NET, "<PetriNet 'loop': 1 place, 1 transition>"),
    ],
)
def test_systems(subject, text):
    assert repr(subject) == text


def test_models():
    model = read_dve_model(MODEL, "m.dve")
    assert repr(model).startswith("<DveModel 'm.dve': 1 process, ")


def test_graphs_of_spot():
    graph = graph_system(spot.translate("GFa"))
    assert "array" not in repr(graph)
    assert "state" in repr(graph)


def test_a_verdict_is_printed_in_two_lines_and_the_lasso():
    found = check(Network([RING], "ring"), "G a", deadlock="stutter")
    first, second, *run = str(found).splitlines()
    assert first == "violated: G a on ring"
    assert second.startswith("--deadlock stutter, instant, ")
    assert run == str(found.lasso).splitlines()
    assert run[0].startswith("prefix: ")
    assert str(check(Network([RING]), "GF a")).count("\n") == 1


def test_the_notebook_names_strategy_and_options():
    found = check(Network([RING]), "GF a", fairness="weak", reduce="none")
    shown = found._repr_html_()
    assert "--fairness weak --reduce none" in shown
    assert found.plan.strategy in shown
    assert found.to_dict()["configuration"] == "--fairness weak --reduce none"


def test_results_compare_and_hash_by_value():
    one, other = (check(Network([RING]), "G a").lasso for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "default"),
        ({"timeout": 5.0, "memory": 100}, "default"),
        ({"share": 0.0, "emptiness": "se05"}, "--emptiness se05 --share 0"),
        ({"lasso": False, "compress": True}, "--compress --no-lasso"),
        ({"fair_sets": ("a,b", "c")}, "--fair-sets a,b --fair-sets c"),
        ({"translator": "ltl2tgba -D"}, "--translator 'ltl2tgba -D'"),
    ],
)
def test_configurations_are_spelled_as_the_command_line_has_them(given, text):
    assert configuration_of(given) == text

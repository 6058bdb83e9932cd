"""Fairness to processes of models, and to transitions of nets, against Spot.

The explicit graph is explored with the model's own steps; marks of fairness are put on
its edges by hand, and Spot evaluates their conjunction with the property's acceptance.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest
import spot
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.question.options import Options
from ltlpipe.question.property import fair_sets
from ltlpipe.runtime.errors import LtlpipeError, silenced
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from tests.example_counts import examples
from tests.hypothesis_strategies import petri_nets
from tests.systems.nets.special_nets import random_special_net, read
from tests.systems.programs.random_models import models

MOST = 300  # states
KINDS = st.sampled_from(["weak", "strong"])
WAYS = [{}, {"emptiness": "tela"}, {"emptiness": "rabin"}, {"acceptance": "tgra"}]
FORMULAS = st.sampled_from(
    [
        *("FG p", "GF p", "F p", "G p", "false", "G(p -> F q)", "GF p -> GF q"),
        *("F G (p | q)", "p U q", "G F (p & X q)", "F(p & X !p)"),
    ]
)
RENDEZVOUS = """
channel c;
process A {{ state a; init a; trans a -> a {{ sync c!; }}; }}
process B {{ state b; init b; trans b -> b {{ sync c?; }}{own}; }}
process C {{ state c, d; init c; trans c -> d {{}}, d -> c {{}}; }}
system async;
"""


def explored(model):
    """The reachable valuations, and their steps: action, and index of the target."""
    index = {tuple(model.initial()): 0}
    steps = []
    for state in (known := [*index]):
        found = []
        for step in islice(model.each_step(state), 60):
            target = tuple(step[1])
            if target not in index:
                index[target] = len(known)
                known.append(target)
            found.append((step[0], index[target]))
        assume(len(known) <= MOST)
        steps.append(found)
    return known, steps


def oracle(model, meanings, formula, kind, sets):
    """Whether all fair runs satisfy a formula; a deadlocked state stutters."""
    known, steps = explored(model)
    wanted = spot.formula(formula)
    graph = spot.make_twa_graph()
    names = sorted(meanings)
    for name in names:
        graph.register_ap(name)
    width = 2 if kind == "strong" else 1
    clauses = [
        f"(Fin({2 * k})|Inf({2 * k + 1}))" if kind == "strong" else f"Inf({k})"
        for k in range(len(sets))
    ]
    graph.set_acceptance(width * len(sets), "&".join(clauses) or "t")
    graph.new_states(len(known))
    for number, state in enumerate(known):
        label = spot.formula_to_bdd(
            spot.formula_And(
                [
                    spot.formula_ap(n)
                    if meanings[n](state)
                    else spot.formula_Not(spot.formula_ap(n))
                    for n in names
                ]
            ),
            graph.get_dict(),
            graph,
        )
        enabled = {action for action, _ in steps[number]}
        for action, target in steps[number] or [(None, number)]:
            marks = []
            for k, own in enumerate(sets):
                if kind == "strong":
                    marks += [2 * k] * bool(enabled & own)
                    marks += [2 * k + 1] * (action in own)
                elif action in own or not enabled & own:
                    marks.append(k)
            graph.new_edge(number, target, label, marks)
    graph.set_init_state(0)
    negated = spot.translate(spot.formula_Not(wanted), dict=graph.get_dict())
    return "holds" if spot.product(graph, negated).is_empty() else "violated"


def sets_by_definition(model):
    """One set for each process, read off the names of actions, or for each action."""
    numbers = range(len(model.actions))
    if not model.processes:
        return [{number} for number in numbers]
    moves = [
        {part.partition(":")[0] for part in name.split(" | ")} for name in model.actions
    ]
    return [{k for k in numbers if name in moves[k]} for name in model.processes]


def assert_agreement(model, texts, meanings, formula, kind):
    sets = sets_by_definition(model)
    assume(len(sets) <= (16 if kind == "strong" else 32))
    expected = oracle(model, meanings, formula, kind, sets)
    asked = formula
    for name, text in texts.items():
        asked = asked.replace(name, f"({text})")
    for way in WAYS:
        with silenced():
            found = check(model, asked, deadlock="stutter", fairness=kind, **way)
        assert found.verdict == expected
        if found.lasso is not None:
            first = len(found.lasso.prefix)
            taken = {*found.lasso.actions[first:].tolist()}
            states = list(map(tuple, found.lasso.states[first:-1].tolist()))
            for own in sets:
                often = [any(s[0] in own for s in model.each_step(x)) for x in states]
                needed = any(often) if kind == "strong" else all(often)
                assert taken & own or not needed


@given(models(), FORMULAS, KINDS)
@settings(max_examples=examples(30), deadline=None)
def test_processes(text, formula, kind):
    assert_processes(text, formula, kind)


@pytest.mark.slow
@given(models(), FORMULAS, KINDS)
@settings(max_examples=examples(300), deadline=None)
def test_many_processes(text, formula, kind):  # each model is compiled: seconds
    assert_processes(text, formula, kind)


def assert_processes(text, formula, kind):
    try:
        model = read_dve_model(text, "m.dve")
        list(islice(model.each_step(model.initial()), 60))
    except LtlpipeError:
        assume(False)
    place = model.variables.index("P0")
    of_b = model.variables.index("b")
    meanings = {"p": lambda s: s[place] == 0, "q": lambda s: s[of_b] == 0}
    texts = {"p": "P0.s0", "q": "b==0"}
    assert_agreement(model, texts, meanings, formula, kind)


@given(petri_nets(), FORMULAS, KINDS)
@settings(max_examples=examples(30), deadline=None)
def test_transitions_of_nets(net, formula, kind):
    assert_transitions(net, formula, kind)


@pytest.mark.slow
@given(petri_nets(), FORMULAS, KINDS)
@settings(max_examples=examples(3000), deadline=None)
def test_transitions_of_nets_by_the_thousand(net, formula, kind):
    assert_transitions(net, formula, kind)


SPECIAL = st.integers(0, 1 << 30).map(
    lambda seed: read(random_special_net(random.Random(seed), bounded=0.9))
)


@given(SPECIAL, FORMULAS, KINDS)
@settings(max_examples=examples(30), deadline=None)
def test_transitions_of_special_nets(net, formula, kind):
    """Inhibitor, read and reset arcs and capacities say what is enabled, too."""
    assert_transitions(net, formula, kind)


@pytest.mark.slow
@given(SPECIAL, FORMULAS, KINDS)
@settings(max_examples=examples(2000), deadline=None)
def test_transitions_of_special_nets_by_the_thousand(net, formula, kind):
    assert_transitions(net, formula, kind)


def assert_transitions(net, formula, kind):
    assume(net.places)
    meanings = {"p": lambda s: s[0] == 0, "q": lambda s: s[-1] > 0}
    names = net.variables
    texts = {"p": f"{names[0]}==0", "q": f"{names[-1]}>0"}
    assert_agreement(net, texts, meanings, formula, kind)


def test_a_rendezvous_serves_both():
    alone = read_dve_model(RENDEZVOUS.format(own=""), "m.dve")
    a, b, c = fair_sets(alone, Options(fairness="weak"))
    assert [a.name, b.name, c.name] == ["A", "B", "C"]
    assert a.actions == b.actions
    assert not a.actions & c.actions
    busy = read_dve_model(RENDEZVOUS.format(own=", b -> b {}"), "m.dve")
    a, b, _ = fair_sets(busy, Options(fairness="weak"))
    assert a.actions < b.actions
    # B is served by its own step alone, A by the rendezvous alone.
    with silenced():
        name = busy.actions[next(iter(a.actions))]
        asked = f'GF action=="{name}"'
        assert check(busy, asked, fairness="weak").verdict == "holds"
        assert check(busy, asked).verdict == "violated"


NAMESAKES = PetriNet(
    [Place("p", "here", 1), Place("q", "there", 0)],
    [
        Transition("away", "walk", {0: 1}, {1: 1}),
        Transition("back", "walk", {1: 1}, {0: 1}),
        Transition("left", "leave", {0: 1}, {0: 1}),
        Transition("right", "leave", {1: 1}, {1: 1}),
    ],
)
"""Here and there in turn, where a transition that shares its name is enabled."""


def test_transitions_that_share_a_name_are_sets_of_their_own():
    """Each is enabled at every second step only; one of the name always is."""
    (ids, named) = (["away", "back", "left", "right"], {"fair_sets": ("leave",)})
    found = fair_sets(NAMESAKES, Options(fairness="weak"))
    assert [s.name for s in found] == ids
    assert [set(s.actions) for s in found] == [{0}, {1}, {2}, {3}]
    by_pattern = fair_sets(NAMESAKES, Options(fairness="weak", fair_sets=("le*",)))
    assert [set(s.actions) for s in by_pattern] == [{2}, {3}]
    with silenced():
        asked = 'GF(action=="left" || action=="right")'
        assert check(NAMESAKES, asked, fairness="weak").verdict == "violated"
        assert check(NAMESAKES, asked, fairness="weak", **named).verdict == "holds"


def test_components_that_share_a_name_are_all_served():
    loops = [LTS.from_transitions([(0, name, 0)], name="P") for name in "ab"]
    network = Network(loops)
    for given_sets in (("P",), ("P*",), ("*",)):
        found = fair_sets(network, Options(fairness="weak", fair_sets=given_sets))
        assert [set(s.actions) for s in found] == [{0}, {1}]
        assert check(network, "GF a", fairness="weak", fair_sets=given_sets).holds


def test_a_net_with_too_many_transitions():
    places = [Place("p", "p", 1)]
    many = [Transition(f"t{k}", f"t{k}", {0: 1}, {0: 1}) for k in range(40)]
    with pytest.raises(UnsupportedError, match="here are 40: name some"):
        fair_sets(PetriNet(places, many), Options(fairness="weak"))


@pytest.mark.parametrize(
    ("given_sets", "names"),
    [
        (("P*",), ["P0", "P1"]),
        (("P0",), ["P0"]),
        (("P0,P1",), ["P0,P1"]),
        (("*",), ["P0", "P1"]),
    ],
)
def test_sets_by_pattern(given_sets, names):
    text = "process P0 { state s; init s; trans s -> s {}; }\n"
    model = read_dve_model(text + text.replace("P0", "P1") + "system async;", "two.dve")
    found = fair_sets(model, Options(fairness="weak", fair_sets=given_sets))
    assert [s.name for s in found] == names


def test_a_pattern_that_fits_nothing():
    text = "process P0 { state s; init s; trans s -> s {}; }\nsystem async;"
    model = read_dve_model(text, "one.dve")
    with pytest.raises(UnsupportedError, match="no action of the system is called"):
        fair_sets(model, Options(fairness="weak", fair_sets=("Q_*",)))

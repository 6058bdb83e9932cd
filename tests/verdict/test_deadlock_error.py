"""``--deadlock error``: a run that ends violates every formula."""

from __future__ import annotations

import json

import pytest
import spot
from hypothesis import given, settings

from ltlpipe import LTS, Network, UnsupportedError, check, deadlocks, product
from ltlpipe.runtime.errors import silenced
from ltlpipe.systems.nets.coloured.net import (
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.verdict import inquiry
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks, petri_nets

ONCE = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 2)], name="once")])
RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="ring")])


@pytest.mark.parametrize("formula", ["true", "F b", "G a", "false"])
def test_a_run_that_ends_violates_every_formula(formula):
    found = check(ONCE, formula, deadlock="error")
    assert found.verdict == "violated"
    assert found.lasso is None
    assert found.finite_run.kind == "maximal"
    assert found.finite_run.prefix == ["a", "b"]
    assert found.finite_run.states.tolist() == [[0], [1], [2]]


def test_without_deadlocks_nothing_changes():
    assert check(RING, "GF a", deadlock="error").verdict == "holds"
    found = check(RING, "G a", deadlock="error")
    assert found.verdict == "violated"
    assert found.lasso is not None


@settings(max_examples=examples(60), deadline=None)
@given(networks(max_components=2), formulas(max_leaves=3))
def test_agrees_with_the_search_for_deadlocks(network, formula):
    with silenced():
        found = check(network, formula, deadlock="error", unknown="never")
        other = check(network, formula, deadlock="ignore", unknown="never")
    ends = deadlocks(network)
    if ends.verdict == "violated":
        run = found.finite_run
        assert found.verdict == "violated"
        assert run.kind == "maximal"
        assert run.prefix == ends.lasso.prefix
    else:
        assert found.verdict == other.verdict
        assert found.finite_run is None


@settings(max_examples=examples(30), deadline=None)
@given(petri_nets())
def test_nets(net):
    found = check(net, "true", deadlock="error", max_states=2000)
    ends = deadlocks(net, max_states=2000)
    assert found.verdict == ends.verdict
    if found.finite_run is not None:
        assert not list(net.each_step(tuple(found.finite_run.states[-1].tolist())))


def test_several_formulas_look_once(monkeypatch):
    from ltlpipe.verdict import deadlocks as module

    calls = []
    real = module.deadlock_job

    def counted(*args, **more):
        calls.append(args)
        return (yield from real(*args, **more))

    monkeypatch.setattr(module, "deadlock_job", counted)
    system = Network([LTS.from_transitions([(0, "a", 1)], name="short")])
    for _ in range(3):
        assert check(system, "G a", deadlock="error").finite_run is not None
    assert len(calls) == 1


def test_a_run_is_found_by_who_asks_for_it_later():
    system = Network([LTS.from_transitions([(0, "a", 1)], name="once more")])
    without = check(system, "G a", deadlock="error", lasso=False)
    assert (without.verdict, without.finite_run) == ("violated", None)
    assert check(system, "F a", deadlock="error").finite_run.prefix == ["a"]
    assert check(system, "F a", deadlock="error", lasso=False).finite_run is None


def test_a_product_has_infinite_runs_only():
    """Nothing would be empty that is only because runs that end are no words."""
    with pytest.raises(UnsupportedError, match="infinite runs only"):
        product(ONCE, "G a", deadlock="error")


def test_no_accepting_run_is_one_that_ends():
    """Else an automaton with an end would not be empty, though it accepts no word."""
    ends = spot.automaton(
        "HOA: v1\nStates: 1 Start: 0 AP: 0 Acceptance: 0 t --BODY-- State: 0 --END--"
    )
    for system in (ONCE, RING, ends):
        with pytest.raises(UnsupportedError, match="asks whether a run is accepting"):
            check(system, empty=True, deadlock="error")


def test_graphs_of_spot():
    graph = spot.automaton(
        """HOA: v1
States: 2
Start: 0
AP: 1 "p"
Acceptance: 0 t
--BODY--
State: 0
[0] 1
State: 1
--END--"""
    )
    found = check(graph, "F p", deadlock="error")
    assert found.verdict == "violated"
    assert len(found.finite_run.steps) == 1
    assert json.dumps(found.to_dict())


def test_no_certificate(tmp_path):
    with pytest.raises(UnsupportedError, match="certificate"):
        check(RING, "GF a", deadlock="error", certificate=str(tmp_path / "c"))


def test_a_net_that_ends_at_once():
    net = PetriNet([Place("p", "p", 0)], [Transition("t", "t", {0: 1}, {})])
    found = check(net, "G p == 0", deadlock="error")
    assert found.finite_run.prefix == []
    assert found.to_dict()["finite_run"]["kind"] == "maximal"


@pytest.mark.parametrize(
    ("formula", "holds", "left"),
    [("G a", ("a",), "Ga"), ("G b", (), "0"), ("X b", (), "b"), ("F b", (), "Fb")],
)
def test_what_holds_and_what_is_left(formula, holds, left):
    """At each step, though the formula need not be violated by them."""
    system = Network([LTS.from_transitions([(0, "a", 1), (2, "b", 2)], name="once")])
    verdict = check(system, formula, deadlock="error")
    (step,) = verdict.finite_run.steps
    assert step.holds == holds
    assert [str(each) for each in verdict.residuals()][1:] == [left]


def test_a_run_that_is_known_does_not_change():
    """Nor do others that have been told of it."""
    system = Network([LTS.from_transitions([(0, "a", 1)], name="mutable")])
    told = check(system, "G a", deadlock="error").finite_run
    told.prefix.append("b")
    told.states[0] = told.actions[0] = 7
    again = check(system, "F a", deadlock="error").finite_run
    assert (again.prefix, again.states.tolist()) == (["a"], [[0], [1]])
    assert again.actions.tolist() == [0]


LONG = LTS.from_transitions(
    [(k, "a", k + 1) for k in range(9)] + [(0, "b", 0), (9, "c", 9)], name="long"
)


@pytest.mark.parametrize(
    ("formula", "verdict"), [("G a", "violated"), ("G(a | b | c)", "unknown")]
)
@pytest.mark.parametrize("vacuity", [False, True])
def test_a_search_for_ends_that_hits_a_limit(formula, verdict, vacuity):
    """An infinite run may violate the formula all the same; nothing is said to hold."""
    options = {"deadlock": "error", "max_states": 5, "vacuity": vacuity}
    with silenced():
        found = check(Network([LONG]), formula, **options)
    assert found.verdict == verdict
    assert found.reason == ("max-states" if verdict == "unknown" else None)
    assert (found.lasso is not None) == (verdict == "violated")


def test_symmetric_nets():
    """The run is one of the net, also where unfolding leaves colours out."""
    colours = ("a", "b", "c")
    take = ColouredTransition("t", "t", TRUE, ((0, Tokens(1, (Bound(0, 0, 3),))),), ())
    net = SymmetricNet(
        ColouredNet(
            "taken",
            (Sort("S", "S", ENUMERATION, colours, colours),),
            (Variable("x", "x", 0),),
            (ColouredPlace("p", "p", (0,), Tokens(2, (Constant(1),))),),
            (take,),
        )
    )
    step, rest = {"p.a": 0, "p.b": 2, "p.c": 0}, {"p.a": 0, "p.b": 1, "p.c": 0}
    end = {"p.a": 0, "p.b": 0, "p.c": 0}
    found = check(net, "true", deadlock="error").finite_run
    assert found.prefix == [step, rest]
    assert found.states.tolist() == [[*s.values()] for s in (step, rest, end)]
    nearest = deadlocks(net).lasso
    assert (nearest.prefix, nearest.cycle) == ([step, rest], [end])
    assert nearest.prefix_actions == ["t.b", "t.b"]


def wide(n_components):
    """A network of 7^n states, without a deadlock, and a wrong first step."""
    rings = [
        LTS.from_transitions([(j, f"c{k}_{j}", (j + 1) % 7) for j in range(7)])
        for k in range(n_components)
    ]
    return Network(rings)


def test_the_search_for_ends_leaves_time_for_the_question():
    """Half of it: it had used up the limit before the formula was looked at."""
    found = check(wide(30), "G !c0_0", deadlock="error", timeout=2)
    assert (found.verdict, found.finite_run) == ("violated", None)
    assert found.lasso is not None


@pytest.mark.parametrize("emptiness", ["auto", "se05"])
def test_the_search_for_ends_goes_on_after_the_question(emptiness, monkeypatch):
    """What it has met is kept; its memory counts meanwhile."""
    how = {"deadlock": "error", "emptiness": emptiness, "timeout": 60}
    monkeypatch.setattr(inquiry, "ENDS_SHARE", 1e-12)
    assert check(wide(4), "G(c0_0 -> X !c0_0)", **how).verdict == "holds"
    assert check(ONCE, "G a", **how).verdict == "violated"
    found = check(ONCE, "F b", **how)
    assert (found.verdict, found.finite_run.kind) == ("violated", "maximal")
    found = check(wide(3), "G(c0_0 -> X !c0_0)", max_states=100, **how)
    assert (found.verdict, found.reason) == ("unknown", "max-states")

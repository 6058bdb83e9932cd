"""What `--reduce symmetry` comes to, and constraints on the property's side."""

from __future__ import annotations

import pickle
import random
import weakref
from math import factorial

import numpy as np
import pytest
import spot

from benchmarks.families.client_server import client_server
from benchmarks.families.nets import coloured_dining, dining
from ltlpipe import UnsupportedError, check
from ltlpipe.families.networks import (
    coloured_client_server,
    majority,
    philosophers,
    ring,
)
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime import memory as memory_limits
from ltlpipe.runtime.jobs import Limits, Progress, run
from ltlpipe.strategies.registry import BY_NAME
from ltlpipe.strategies.symmetry import _reason
from ltlpipe.symmetry.groups.group import ColouredGraph, Factor, Group, Space
from ltlpipe.symmetry.sets.runs import SetRuns
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.verdict.inquiry import question_of
from ltlpipe.verdict.portfolio import Portfolio
from tests.symmetry.groups.random_networks import personal_formula, random_symmetric

SERVED_ALONE = "G(grant1 -> (!grant2 W (release1 | commit1 | abort1)))"
NET = SymmetricNet(coloured_client_server(5, 1))
LARGER = SymmetricNet(coloured_client_server(9, 2))
SOME_WAIT = "G(waiting <= 1)"


def test_networks_are_searched_by_orbits():
    """Four clients, of which two are never told apart."""
    verdict = check(client_server(4), SERVED_ALONE, reduce="symmetry")

    plain = check(client_server(4), SERVED_ALONE, reduce="none", emptiness="dfs-weak")
    assert (verdict.verdict, plain.verdict) == ("holds", "holds")
    assert verdict.plan.strategy == "symmetry"
    assert "symmetry" in verdict.plan.reductions
    assert any("because 2 permutations of" in why for why in verdict.plan.reasons)
    assert verdict.stats.states < 0.6 * plain.stats.states


def test_models_are_searched_by_orbits():
    """Places of a net are moved, if that is asked for."""
    eating = " + ".join(f"eat{k}" for k in range(4))
    found = check(dining(4), f"G(deadlock -> F({eating} > 0))", reduce="symmetry")

    assert found.plan.strategy == "symmetry"
    assert any("4 permutations of 16" in why for why in found.plan.reasons)


@pytest.mark.parametrize("formula", ["G(eat.1 == 0)", "G(eat.1 == 0 || eat.2 == 0)"])
def test_a_net_without_exchanges_is_searched_by_orbits(formula):
    """Philosophers are rotated and reflected, in the unfolded net."""
    net = SymmetricNet(coloured_dining(4))
    found, plain = (check(net, formula, reduce=r) for r in ("symmetry", "none"))

    assert found.plan.strategy == "symmetry"
    assert any("permutations of 1" in why for why in found.plan.reasons)
    assert found.verdict == plain.verdict
    assert (found.lasso is None) == (found.verdict == "holds")


def test_symmetric_nets_are_searched_by_sets():
    verdict = check(NET, SOME_WAIT, reduce="symmetry")

    assert (verdict.plan.strategy, verdict.plan.emptiness) == ("symmetry", "aec-closed")
    assert any("Baarir" in why for why in verdict.plan.reasons)


@pytest.mark.parametrize(
    "options",
    [
        {"reduce": "none"},
        {"emptiness": "couvreur99"},
        {"fairness": "weak"},
        {"bitstate": 1},
    ],
    ids=str,
)
def test_the_plan_leaves_it_where_it_cannot_be_used(options):
    """Nobody asks for it, or for something else."""
    asked = Property(parse("G !tie"))
    question = question_of(majority(6), asked, Options(**options))

    assert BY_NAME["symmetry"].obstacle(question) is not None
    assert (
        BY_NAME["symmetry"].obstacle(question_of(majority(6), asked, Options())) is None
    )


@pytest.mark.parametrize(
    ("system", "formula", "outcome"),
    [
        (majority(7), "G !tie", "answered"),
        (client_server(4), "G F grant1", "answered"),
        (client_server(2), "G F grant1", "dropped out"),  # no three are alike
        (philosophers(5), "G F eat0", "dropped out"),  # they sit left and right of him
        (ring(4), "G F enter0", "dropped out"),
    ],
    ids=["majority", "clients", "two", "philosophers", "ring"],
)
def test_what_is_worth_it_unasked(system, formula, outcome, monkeypatch):
    """A group is looked for only where three components look alike."""
    drawn = []
    find = ColouredGraph.automorphisms

    def noted(graph, n_points):
        drawn.append(graph)
        return find(graph, n_points)

    monkeypatch.setattr(ColouredGraph, "automorphisms", noted)
    asked = Property(parse(formula))
    question = question_of(system, asked, Options(reduce="auto"))
    portfolio = Portfolio(question, [BY_NAME["symmetry"]])
    if outcome == "answered":
        run(portfolio.job(), Limits(timeout=60))
    else:
        with pytest.raises(UnsupportedError, match="no group was found"):
            run(portfolio.job(), Limits(timeout=60))
    assert [t.outcome for t in portfolio.tried()] == [outcome]
    assert bool(drawn) == (outcome == "answered")


def test_several_workers_leave_orbits_to_one():
    """Unless the search is one that they share."""
    portfolio = [BY_NAME["symmetry"]]
    for formula, outcome in (("G !tie", "answered"), ("G F tie", "answered")):
        asked = Property(parse(formula))
        question = question_of(majority(7), asked, Options(workers=2))
        ways = Portfolio(question, portfolio)
        run(ways.job(), Limits(timeout=60))
        assert [t.outcome for t in ways.tried()] == [outcome]
        assert ways.trace().plan.emptiness != "ufscc"


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (client_server(3), {"emptiness": "iec"}, "iec is for sets of markings"),
        (dining(3), {"emptiness": "tec"}, "is for symmetric nets, not for other"),
        (client_server(3), {"reduce": "stabiliser"}, "has gone: automorphisms"),
        (client_server(3), {"reduce": "symmetry", "fairness": "weak"}, "fairness"),
        (client_server(3), {"reduce": "symmetry", "workers": 2}, "leave out workers"),
        (client_server(3), {"reduce": "symmetry,decoupled"}, "another kind"),
        (NET, {"reduce": "symmetry,ample"}, "leave one out"),
        (NET, {"emptiness": "iec", "fairness": "weak"}, "fairness"),
        (NET, {"emptiness": "iec", "bitstate": 1.0}, "bitstate="),
        (NET, {"emptiness": "aec", "acceptance": "tela"}, "its automaton accepts by"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_is_asked_for_in_vain(system, options, message):
    """An error says what is in the way."""
    formula = "GF grant1 -> GF grant2"
    if not isinstance(system, Network):
        formula = "GF free == 0 -> GF idle > 1" if system is NET else "F deadlock"
    with pytest.raises(UnsupportedError, match=message):
        check(system, formula, **options)


def test_the_order_of_a_large_group_is_told():
    """Python writes no number of more than 4300 digits."""
    none = np.zeros((0, 1800), dtype=np.int32)
    factor = Factor(np.arange(1800), (), none, none, factorial(1800))
    said = _reason(Group(Space(np.arange(1801)), (factor,)))
    assert "because more than 10^5079 permutations of 1800 components" in said


def test_a_group_that_is_trivial_is_no_error():
    """The property tells both clients apart."""
    found = check(client_server(2), "G(grant1 -> F grant2)", reduce="symmetry")

    assert found.plan.strategy == "symmetry"
    assert any("which changes nothing" in why for why in found.plan.reasons)


@pytest.mark.parametrize("other", ["components", "ample"])
def test_another_reduction_with_it(other):
    """With both named, fewer orbits remain than with one."""
    both = check(client_server(4), "!grant1 W request1", reduce=f"{other},symmetry")
    one = check(client_server(4), "!grant1 W request1", reduce="symmetry")

    assert both.verdict == one.verdict == "holds"
    assert {other, "symmetry"} <= set(both.plan.reductions)
    assert both.stats.states < one.stats.states


@pytest.mark.parametrize(
    ("system", "formula"),
    [(client_server(5), SERVED_ALONE), (LARGER, "G(waiting <= 9)")],
    ids=["orbits", "sets"],
)
def test_limits_end_a_search(system, formula):
    """What was known is said."""
    verdict = check(system, formula, max_states=20, reduce="symmetry")
    assert (verdict.verdict, verdict.reason) == ("unknown", "max-states")
    assert verdict.stats.states == 20

    verdict = check(system, formula, memory=0.01, reduce="symmetry")
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory")

    verdict = check(system, formula, timeout=0)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")


def broadcast(n):
    """Return n counters that count alone, and are reset together when all are full."""
    counters = [
        LTS.from_transitions(
            [
                *((k, f"step{i}", k + 1) for k in range(9)),
                (9, "full", 9),
                *((k, "reset", 0) for k in range(10)),
            ],
            name=f"counter{i}",
        )
        for i in range(n)
    ]
    control = LTS.from_transitions([(0, "full", 1), (1, "reset", 0)], name="control")
    return Network([*counters, control])


@pytest.mark.parametrize(
    "n",
    [
        4,
        pytest.param(
            12, marks=pytest.mark.thorough("seconds, while smaller ones stay")
        ),
    ],
)
def test_a_lasso_through_a_broadcast(n):
    """10^12 states have a reset as their last step: their orbits are few."""
    verdict = check(broadcast(n), "G !reset", timeout=60, reduce="symmetry")
    assert verdict.verdict == "violated"
    assert "symmetry" in verdict.plan.reductions
    assert verdict.lasso.prefix.count("reset") + verdict.lasso.cycle.count("reset")


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_a_violation_is_never_lost(monkeypatch):
    """One that was found in time is one, whatever its run takes."""

    def endless(_):
        while True:
            yield Progress("extracting", work=1000)

    monkeypatch.setattr(SetRuns, "accepting", endless)
    verdict = check(NET, SOME_WAIT, reduce="symmetry", timeout=3)
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None
    assert verdict.plan.strategy == "symmetry"


def test_a_network_is_not_kept_by_its_symmetry():
    """Nor does it take what was found along to another process."""
    network = client_server(4)
    check(network, "G !grant1", reduce="none")  # knows its actions by now
    size = len(pickle.dumps(network))
    check(network, "G !grant1", reduce="symmetry")
    assert len(pickle.dumps(network)) == size
    gone = weakref.ref(network)
    del network
    assert gone() is None


def test_a_run_of_sets_that_is_too_long(monkeypatch):
    """Steps are written down as far as memory allows, prefix and cycle together."""
    lasso = check(NET, SOME_WAIT, emptiness="iec").lasso
    steps = len(lasso.prefix) + len(lasso.cycle)
    assert len(lasso.prefix) > 0
    monkeypatch.setattr(memory_limits, "MAX_STEPS", steps)
    assert check(NET, SOME_WAIT, emptiness="iec").verdict == "violated"
    monkeypatch.setattr(memory_limits, "MAX_STEPS", 1)
    verdict = check(NET, SOME_WAIT, emptiness="iec")
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None


WAYS = [
    {},
    {"reduce": "none"},
    {"reduce": "none", "emptiness": "couvreur99"},
    {"reduce": "symmetry"},
    {"emptiness": "couvreur99", "reduce": "symmetry"},
]
"""All strategies together, `instant`, `explicit`, and orbits."""


def assert_constrained(seed):
    """A formula under a constraint is the constraint's implying it."""
    rng = random.Random(seed)
    network = random_symmetric(rng, n_clients=3, lively=True)
    formula, rule = (personal_formula(rng, network, most=2) for _ in range(2))
    constraint = spot.translate(rule)

    expected = check(network, f"({rule}) -> ({formula})", reduce="none").verdict
    for options in WAYS:
        verdict = check(network, formula, constraint=constraint, **options)
        assert verdict.verdict == expected, (seed, options)
        assert verdict.formula == formula
    return expected


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_constraints_are_premises():
    """On random symmetric networks, with lassos that are replayed."""
    answers = [assert_constrained(seed) for seed in range(15)]
    assert {"holds", "violated"} <= set(answers)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 1100, 50))
def test_constraints_are_premises_thousandfold(first):
    """Many more of them."""
    for seed in range(first, first + 50):
        assert_constrained(seed)


def test_a_constraint_is_part_of_the_property():
    """It tells two clients apart, and leaves the others as they are."""
    rule = spot.translate("!grant2 W grant1")
    asked = {"formula": "!grant2 W request1", "reduce": "symmetry"}
    verdict = check(client_server(4), constraint=rule, **asked)
    free = check(client_server(4), **asked)

    assert (verdict.verdict, free.verdict) == ("holds", "violated")
    assert any("2 permutations" in why for why in verdict.plan.reasons)

    turns = LTS.from_transitions(
        [(0, "grant1", 1), (1, "grant1", 1), (1, "grant2", 1)], name="turns"
    )
    guarded = Network([*client_server(4).components, turns])
    assert check(guarded, "!grant2 W request1").verdict == "holds"


def test_constraints_and_other_questions():
    """An automaton of violations, no property at all, and a time that is up."""
    network = client_server(3)
    rule = spot.translate("G !wake1 & G !wake2 & G !wake3 & G !maintain")

    assert check(network, empty=True, constraint=rule).verdict == "holds"
    negated = spot.translate("F grant2")
    once = spot.translate("!grant2 U grant1")
    assert check(network, automaton=negated, constraint=once).verdict == "violated"
    late = check(network, "G(request1 -> F grant1)", constraint=once, timeout=0)
    assert (late.verdict, late.reason) == ("unknown", "timeout")
    assert late.formula == "G(request1 -> F grant1)"
    with pytest.raises(UnsupportedError, match="translator="):
        check(network, "F grant1", constraint=rule, translator="ltl2tgba %f")

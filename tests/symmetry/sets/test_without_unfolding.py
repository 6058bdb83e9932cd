"""Symmetric nets are checked by their sets of markings without being unfolded."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from benchmarks.families.nets import coloured_token_ring, shared_memory
from ltlpipe import FormulaError, UnsupportedError, check, load
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies import symmetry
from ltlpipe.symmetry.colours import group_of_colours, layout_of
from ltlpipe.systems.nets.coloured import symmetric, unfolding
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    AllOf,
    AnyOf,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Every,
    Sort,
    Sum,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.writing import save_pnml
from tests.cross.test_agreement import ask
from tests.example_counts import at_least, examples
from tests.oracles import reachable_markings
from tests.symmetry.sets.random_nets import formula, lively_net

TOO_LARGE = "unfolds into more than"


def committee(n, k):
    """Build a net of n people: k of them meet at a time, and leave one by one.

    It has more than n!/(n - k)! moves, but n + 1 markings up to exchanges.
    """
    names = tuple(map(str, range(1, n + 1)))
    people = Sort("p", "p", ENUMERATION, tuple(f"p{name}" for name in names), names)
    each = [Bound(variable, 0, n) for variable in range(k)]
    differ = AllOf(
        tuple(Comparison("!=", x, y) for i, x in enumerate(each) for y in each[:i])
    )
    those = Sum(tuple(Tokens(1, (x,)) for x in each))
    one = Tokens(1, (each[0],))
    return ColouredNet(
        f"committee-{n}-{k}",
        (people,),
        tuple(Variable(f"x{i}", f"x{i}", 0) for i in range(k)),
        (
            ColouredPlace("idle", "idle", (0,), Tokens(1, (Every(n),))),
            ColouredPlace("busy", "busy", (0,), EMPTY),
        ),
        (
            ColouredTransition("meet", "meet", differ, ((0, those),), ((1, those),)),
            ColouredTransition("leave", "leave", TRUE, ((1, one),), ((0, one),)),
        ),
    )


@pytest.fixture
def never_unfolded(monkeypatch):
    """Let unfolding fail, whatever the net."""

    def fail(net, file):
        raise AssertionError(f"{file} is unfolded: {net.name}")

    monkeypatch.setattr(symmetric, "unfolding", fail)


@pytest.fixture
def too_large(monkeypatch):
    """Let every net be too large to be unfolded."""
    monkeypatch.setattr(unfolding, "MAX_TRANSITIONS", 0)


LARGE = [
    ("G(idle + busy == 40)", "holds"),
    ("G F fireable(meet)", "holds"),
    ("G(fireable(meet) || idle <= 3)", "holds"),
    ("G(fireable(meet.1.2.3.4) -> idle.4 == 1)", "holds"),
    ('G(action=="meet.1.2.3.4" -> X(busy.4 == 1))', "holds"),
    ('G F action=="meet"', "holds"),
    ("G fireable(meet)", "violated"),
    pytest.param(
        "G F fireable(meet.1.2.3.4)",
        "violated",
        marks=pytest.mark.thorough("seconds, while cheaper ones stay"),
    ),
    ('G !action=="meet.4.3.2.1"', "violated"),
    ("F(busy.1 == 1 && idle.2 == 1) -> F(idle.1 == 1 && busy.2 == 1)", "violated"),
]


@pytest.mark.parametrize(("text", "verdict"), LARGE)
@pytest.mark.usefixtures("never_unfolded")
def test_a_large_net_is_decided_without_unfolding(text, verdict):
    """Two million moves; every run is replayed in colours."""
    net = SymmetricNet(committee(40, 4))
    found = check(net, text, reduce="symmetry")

    assert found.verdict == verdict
    assert net.n_actions == 40**4 + 40
    assert not net.is_unfolded
    if verdict == "violated":
        assert found.reason is None
        run = found.lasso or found.finite_run
        actions = [*run.prefix_actions, *run.cycle_actions]
        assert {"meet", "leave"} >= {name.split(".")[0] for name in actions}
        assert all(len(valuation) == 80 for valuation in [*run.prefix, *run.cycle])


@pytest.mark.usefixtures("too_large")
def test_small_nets_that_cannot_be_unfolded():
    """Runs are not made shorter then, but they are there."""
    net = SymmetricNet(committee(5, 2))
    found = check(net, "G fireable(meet)", reduce="symmetry", shortest=True)

    assert found.verdict == "violated"
    assert found.lasso is not None


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(
    ("coloured", "text", "verdict", "strategy"),
    [
        (committee(40, 3), "G(idle + busy == 40)", "holds", "linear"),
        (committee(40, 3), "G(busy <= 2)", "violated", "symmetry"),
        # Unasked, little symmetry is left to others if these can take the net.
        (committee(2, 2), "F(busy == 2)", "holds", "symmetry"),
    ],
)
def test_the_plan_takes_what_need_not_unfold(coloured, text, verdict, strategy):
    found = check(SymmetricNet(coloured), text)

    assert found.verdict == verdict
    assert found.plan.strategy == strategy
    why = {t.strategy: t.reason or "" for t in found.plan.tried}
    assert TOO_LARGE in why["instant"]
    assert TOO_LARGE in why["explicit"]


@pytest.mark.usefixtures("too_large")
def test_where_nothing_can_be_exchanged_both_reasons_are_given():
    message = rf"{TOO_LARGE} 0 transitions; symmetry cannot be used: no colours can"
    with pytest.raises(UnsupportedError, match=message):
        check(SymmetricNet(coloured_token_ring(3)), "G(state <= 1)")
    with pytest.raises(UnsupportedError, match=TOO_LARGE):
        check(SymmetricNet(coloured_token_ring(3)), "G(state <= 1)", reduce="symmetry")
    with pytest.raises(UnsupportedError, match=TOO_LARGE):
        check(SymmetricNet(committee(4, 2)), "G(idle >= 0)", reduce="none")


def test_few_colours_are_left_to_others():
    found = check(SymmetricNet(committee(2, 2)), "G(idle + busy == 2)")

    assert found.plan.strategy != "symmetry"


def test_too_many_cells_need_unfolding(tmp_path, monkeypatch):
    """What has no numbers is unfolded when it is read, and has no sets of markings."""
    path = str(tmp_path / "memory.pnml")
    save_pnml(shared_memory(3), path)
    for module in (symmetric, symmetry):
        monkeypatch.setattr(module, "MOST_CELLS", 10)
    net = load(path)

    assert len(net.places) == 19
    assert check(net, "G(memory <= 3)").verdict == "holds"
    with pytest.raises(UnsupportedError, match="22 tuples of colours, the limit is 10"):
        check(net, "G(memory <= 3)", reduce="symmetry")


def test_ids_with_dots_are_told_apart_by_unfolding(tmp_path):
    """The colour 1 of p and the place p.1 have one id."""
    net = committee(3, 1)
    places = (*net.places, net.places[1]._replace(id="busy.p1", name="other"))
    (people,) = net.sorts
    sorts = (people._replace(ids=("p1", "p2", "p1.p1")),)
    marked = places[0].marking
    places = tuple(place._replace(marking=marked) for place in places)
    path = str(tmp_path / "dots.pnml")
    save_pnml(net._replace(places=places, sorts=sorts), path)
    with pytest.raises(UnsupportedError, match="is the id of several"):
        load(path)


def test_random_nets_that_cannot_be_unfolded(monkeypatch):
    """The verdicts are those of the plain product; runs are replayed in colours."""
    counts = {"holds": 0, "violated": 0}
    for seed in range(50_000, 50_000 + examples(40)):
        rng = random.Random(seed)
        net = lively_net(rng)
        text = formula(rng, net)
        plain = ask(net, text, reduce="none", max_states=3_000)
        with monkeypatch.context() as patch:
            patch.setattr(unfolding, "MAX_TRANSITIONS", 0)
            try:
                found = ask(
                    SymmetricNet(net.coloured),
                    text,
                    reduce="symmetry",
                    max_states=30_000,
                )
            except UnsupportedError:
                continue
        if "unknown" not in (plain.verdict, found.verdict):
            assert found.verdict == plain.verdict, (seed, text)
            run = found.lasso or found.finite_run
            assert (run is None) == (found.verdict == "holds")
            counts[found.verdict] += 1

    assert min(counts.values()) >= at_least(5)


def test_orbits_hold_of_all_markings():
    """No marking has something in an orbit that has no field."""
    for seed in range(examples(60)):
        net = lively_net(random.Random(seed))
        layout = complete(layout_of(net, complete(group_of_colours(net.coloured))))
        for marking in reachable_markings(net, 60):
            for cell, tokens in enumerate(marking):
                assert not tokens or layout.orbits[cell] in layout.bits, (seed, cell)


def test_steps_backwards_are_those_that_lead_there():
    """Each step from a marking is one onto its target."""
    n_steps = 0
    for seed in range(examples(30)):
        net = lively_net(random.Random(seed))
        markings = reachable_markings(net, 8)
        for marking in markings:
            for step in islice(net.each_step(marking), 5):
                onto = net.firing.each_step_onto(step.state)
                assert (step.action, marking) in {s for s in onto if s is not None}
                assert [*net.steps_by(marking, step.action)] == [step]
                n_steps += 1
            for before in islice(filter(None, net.firing.each_step_onto(marking)), 5):
                assert (before.action, marking) in net.steps(before.state)

    assert n_steps > at_least(100)


def test_names_mean_what_they_name():
    for seed in range(examples(40)):
        net = lively_net(random.Random(seed))
        known = net.vocabulary
        for number, name in enumerate(net.variables):
            assert known.variables[name] == number
        for step in net.each_step(net.initial()):
            assert [*known.actions[net.actions[step.action]]] == [step.action]


def test_limits_hold_while_a_net_is_unfolded_for_fairness():
    """Fairness is to steps of the unfolded net, which is part of the question."""
    net = SymmetricNet(committee(30, 4))

    found = check(
        net, "G(busy <= 30)", fairness="weak", fair_sets=["meet"], timeout=0.3
    )

    assert (found.verdict, found.reason) == ("unknown", "timeout")


def test_fairness_of_symmetric_nets():
    """A client is answered if answers are fair; without, others may be served."""
    net = SymmetricNet(coloured_client_server(2, 2))
    text = "G(served.1.1 == 1 -> F served.1.1 == 0)"

    assert check(net, text).verdict == "violated"
    fair = check(net, text, fairness="weak", fair_sets=["answer.1.1"])
    assert fair.verdict == "holds"


def test_messages_offer_no_move_that_never_happens():
    net = SymmetricNet(coloured_client_server(2, 1))
    moves = net.coloured.transitions
    never = moves[0]._replace(id="never", name="never", guard=AnyOf(()))
    net = SymmetricNet(net.coloured._replace(transitions=(*moves, never)))

    with pytest.raises(FormulaError) as caught:
        check(net, "G !fireable(never.1)")

    _, offered = str(caught.value).split("did you mean")
    assert "never.1" not in offered.split("\n")[0]
    assert "never.2" not in offered

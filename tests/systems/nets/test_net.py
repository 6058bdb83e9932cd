"""Nets as models: names, the token game, and what propositions may say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import FormulaError, check
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.systems.nets import net as net_module
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Sort,
    Tokens,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.propositions.letters import evaluate
from tests.hypothesis_strategies import petri_nets


def small():
    """Two tokens in p, a loop at q, and transitions that take or put nothing."""
    return PetriNet(
        [Place("p", "p", 2), Place("q", "q", 1), Place("r", "r")],
        [
            Transition("both", "both", {0: 2, 1: 1}, {1: 1, 2: 3}),
            Transition("make", "make", {}, {0: 1}),
            Transition("drop", "drop", {2: 1}, {}),
            Transition("wait", "wait", {1: 1}, {1: 1}),
        ],
    )


def test_the_token_game():
    net = small()
    assert net.steps((2, 1, 0)) == [(0, (0, 1, 3)), (1, (3, 1, 0)), (3, (2, 1, 0))]
    assert net.steps((1, 0, 1)) == [(1, (2, 0, 1)), (2, (1, 0, 0))]
    assert net.shown((1, 0, 1)) == {"p": 1, "q": 0, "r": 1}


def test_differences():
    assert small().transitions[0].differences() == {0: -2, 2: 3}
    assert small().transitions[3].differences() == {}


def test_numbers_are_not_limited():
    net = PetriNet([Place("p", "p")], [Transition("t", "t", {0: 1}, {0: 2**62})])
    assert net.steps((10**30,)) == [(0, (10**30 + 2**62 - 1,))]


def test_ids_go_before_names():
    """An id is always its own node's; a name that places share is no number."""
    net = PetriNet(
        [
            Place("a", "b", 1),
            Place("b", "c", 2),
            Place("d", "e", 3),
            Place("f", "e", 4),
            Place("g", "h", 5),
        ],
        [Transition("t", "a"), Transition("u", "t")],
    )
    # What is shown means the place that it is shown for.
    assert net.variables == ("a", "c", "d", "f", "h")
    assert net.actions == ("a", "u")
    known = net.vocabulary.variables
    assert known == {"a": 0, "b": 1, "c": 1, "d": 2, "f": 3, "g": 4, "h": 4}
    assert net.vocabulary.actions == {"a": (0,), "t": (0,), "u": (1,)}


@given(petri_nets(), st.data())
def test_shown_names_mean_what_they_are_shown_for(net, data):
    names = st.sampled_from(["p0", "p1", "p2", "t0", "same", "x"])
    net = PetriNet(
        [Place(p.id, data.draw(names), p.tokens) for p in net.places],
        [Transition(t.id, data.draw(names), t.pre, t.post) for t in net.transitions],
    )
    known = net.vocabulary
    places, transitions = range(len(net.places)), range(len(net.transitions))
    assert [known.variables[name] for name in net.variables] == [*places]
    assert [known.actions[name] for name in net.actions] == [(k,) for k in transitions]
    assert all(known.variables[p.id] == k for k, p in enumerate(net.places))


@given(petri_nets(max_weight=3), st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_fireable_is_having_the_step(net, tokens):
    state = tuple(tokens[: len(net.places)])
    enabled = {action for action, _ in net.steps(state)}
    for number, name in enumerate(net.actions):
        text = f"fireable({name})"
        proposition = net.meaning(text)
        assert evaluate(proposition, state) == (number in enabled)


def test_conditions_are_made_of_named_transitions_only(monkeypatch):
    """All of a large net would take seconds when a question is created."""
    net, made = small(), []
    monkeypatch.setattr(
        net_module, "enabling_condition", lambda t: made.append(t) or Number(1)
    )
    assert set(net.vocabulary.fireable) == set(net.transitions_called)
    assert made == []
    assert "none" not in net.vocabulary.fireable
    assert net.vocabulary.fireable[net.transitions[1].id] == Number(1)
    assert made == [net.transitions[1]]


@pytest.mark.parametrize(
    ("text", "near"),
    [("hat<=1", "hut"), ("fireable(got)", "go"), ('action=="got"', "go")],
)
def test_unknown_names_offer_the_nearest(text, near):
    net = PetriNet([Place("p0", "hut")], [Transition("t0", "go")])
    with pytest.raises(FormulaError, match=f"did you mean {near}"):
        net.meaning(text)


@pytest.mark.parametrize(
    ("places", "transitions", "message"),
    [
        ([Place("a", "a"), Place("a", "b")], [], "an id stands twice"),
        ([Place("a", "a")], [Transition("a", "t")], "an id stands twice"),
        ([], [Transition("t", "t", {0: 1})], "no place"),
        ([Place("a", "a")], [Transition("t", "t", {}, {-1: 1})], "no place"),
        ([Place("a", "a")], [Transition("t", "t", {0: 0})], "positive weights"),
        ([Place("a", "a")], [Transition("t", "t", {}, {0: 1 << 63})], "positive"),
        ([Place("a", "a", -1)], [], "tokens"),
        ([Place("a", "a", 1 << 63)], [], "tokens"),
    ],
)
def test_what_is_no_net(places, transitions, message):
    with pytest.raises(ValueError, match=message):
        PetriNet(places, transitions)


def test_a_name_with_a_minus_sign_is_no_difference():
    """In a formula it is named with a backslash, and stays that name."""
    places = [Place(name, name, n) for name, n in (("a", 5), ("b", 2), ("a-b", 1))]
    net = PetriNet(places, [Transition("t", "t", {0: 1}, {0: 1})])
    assert check(net, r"G a\-b == 1").verdict == "holds"
    assert check(net, "G a-b == 3").verdict == "holds"
    assert check(net, r"G a\-b == 3").verdict == "violated"


def net_with_special_names():
    places = [Place("deadlock", "deadlock"), Place("action", "action", 1)]
    return PetriNet(places, [Transition("t", "t", {1: 1}, {})])


def coloured_net_with_special_names():
    colours = Sort("s", "s", ENUMERATION, ("a", "b"), ("a", "b"))
    one = Tokens(1, (Constant(0),))
    places = [ColouredPlace("deadlock", "deadlock", (0,), EMPTY),
              ColouredPlace("action", "action", (0,), one)]  # fmt: skip
    moves = [ColouredTransition("t", "t", TRUE, ((1, one),), ())]
    return SymmetricNet(ColouredNet("n", (colours,), (), tuple(places), tuple(moves)))


@pytest.mark.parametrize("options", [{}, {"emptiness": "se05", "seed": 1}])
@pytest.mark.parametrize(
    "net",
    [net_with_special_names(), coloured_net_with_special_names()],
)
def test_places_called_deadlock_and_action(net, options):
    """The element of the Model Checking Contest has no other name."""
    assert check(net, "F deadlock", **options).verdict == "holds"
    assert check(net, "G !deadlock", **options).verdict == "violated"
    assert check(net, "G (deadlock==0)", **options).verdict == "holds"
    assert check(net, 'F action=="t"', **options).verdict == "holds"
    assert check(net, "G (action>=1)", **options).verdict == "violated"

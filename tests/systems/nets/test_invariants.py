"""Semiflows against their definition, and bounds against reachable markings."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings

from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.invariants import semiflows
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Notes, Place, Transition, Unit
from tests.example_counts import examples
from tests.hypothesis_strategies import petri_nets
from tests.oracles import reachable_markings


def ring(n, tokens=1):
    """A token that goes round n places."""
    return PetriNet(
        [Place(f"p{k}", f"p{k}", tokens * (k == 0)) for k in range(n)],
        [Transition(f"t{k}", f"t{k}", {k: 1}, {(k + 1) % n: 1}) for k in range(n)],
    )


def changes_nothing(net, flow):
    """Whether no transition changes the sum of tokens weighted by `flow`."""
    return all(
        sum(int(flow[p]) * change for p, change in t.differences().items()) == 0
        for t in net.transitions
    )


@given(petri_nets(max_places=6, max_weight=3))
@settings(max_examples=examples(300))
def test_no_transition_changes_a_semiflow(net):
    for flow in complete(semiflows(net)):
        assert flow.min() >= 0
        assert flow.any()
        assert changes_nothing(net, flow)


@given(petri_nets(max_places=6, max_weight=3))
@settings(max_examples=examples(300))
def test_no_reachable_marking_passes_a_bound(net):
    bounds = net.bounds.tokens
    for marking in reachable_markings(net, limit=200):
        assert all(
            bound is None or tokens <= bound
            for tokens, bound in zip(marking, bounds, strict=True)
        )


@pytest.mark.parametrize(
    ("tokens", "back", "expected"), [(1, {}, 1), (3, {}, 3), (1, {0: 1, 1: 1}, None)]
)
def test_places_of_a_unit_have_a_bound_unless_a_step_adds_to_them(
    tokens, back, expected
):
    """A sum that gets less is no semiflow; the unit says where to look for it."""
    transitions = [
        Transition("t", "t", {0: 1}, {1: 1}),
        Transition("u", "u", {1: 1}, back),
    ]
    places = [Place("p", "p", tokens), Place("q", "q")]
    notes = Notes(units=(Unit("a", (0,), ()), Unit("b", (1,), (0,))))
    assert PetriNet(places, transitions).bounds.tokens == [None, None]
    assert PetriNet(places, transitions, notes=notes).bounds.tokens == 2 * [expected]


def test_units_of_any_depth():
    """A unit and all around it; none where the lists would be of quadratic length."""

    def spine(n):
        inner = [(k + 1,) if k + 1 < n else () for k in range(n)]
        leaves = [Unit(f"l{k}", (n + k,), ()) for k in range(n)]
        units = [Unit(f"s{k}", (k,), (*inner[k], n + k)) for k in range(n)]
        return Notes(units=(*units, *leaves)).exclusive

    assert spine(3) == [[3, 0], [4, 1, 0], [5, 2, 1, 0]]
    assert spine(5_000) == []


def test_known_semiflows():
    """One for a ring; p + 2 q where two tokens of p become one of q."""
    assert complete(semiflows(ring(4))).tolist() == [[1, 1, 1, 1]]
    net = PetriNet(
        [Place("p", "p", 5), Place("q", "q"), Place("r", "r", 7)],
        [Transition("t", "t", {0: 2}, {1: 1}), Transition("u", "u", {1: 1}, {0: 2})],
    )
    assert sorted(complete(semiflows(net)).tolist()) == [[0, 0, 1], [1, 2, 0]]
    assert net.bounds.tokens == [5, 2, 7]
    unbounded = PetriNet([Place("p", "p")], [Transition("t", "t", {}, {0: 1})])
    assert complete(semiflows(unbounded)).shape == (0, 1)
    assert unbounded.bounds.tokens == [None]


def test_minimal_semiflows_of_two_choices():
    """Both ways round are one semiflow each: a, b, c and a, b, d."""
    net = PetriNet(
        [Place(name, name, name == "a") for name in "abcd"],
        [
            Transition("t", "t", {0: 1}, {2: 1, 3: 1}),
            Transition("u", "u", {2: 1, 3: 1}, {1: 1}),
            Transition("v", "v", {1: 1}, {0: 1}),
        ],
    )
    assert sorted(complete(semiflows(net)).tolist()) == [[1, 1, 0, 1], [1, 1, 1, 0]]


@pytest.mark.parametrize("max_rows", [1, 2, 5])
def test_what_is_left_out_is_no_more_than_left_out(max_rows):
    """With few rows there may be fewer semiflows, but no wrong ones."""
    rng = np.random.default_rng(max_rows)
    for _ in range(50):
        net = _random_safe(rng, 8, 12)
        few, every = complete(semiflows(net, max_rows)), complete(semiflows(net))
        assert len(few) <= len(every)
        assert all(changes_nothing(net, flow) for flow in few)


def _random_safe(rng, n_places, n_transitions):
    """Transitions that move one or two tokens."""
    transitions = []
    for k in range(n_transitions):
        pre, post = (rng.permutation(n_places)[:2].tolist() for _ in range(2))
        one = dict.fromkeys(pre, 1), dict.fromkeys(post, 1)
        transitions.append(Transition(f"t{k}", f"t{k}", *one))
    return PetriNet(
        [Place(f"p{k}", f"p{k}", int(k < 2)) for k in range(n_places)], transitions
    )


def test_large_weights_are_left_alone():
    """Sums of theirs might not fit 64 bits."""
    net = PetriNet(
        [Place("p", "p", 1), Place("q", "q")],
        [Transition("t", "t", {0: 1 << 40}, {1: (1 << 62) + 1})],
    )
    assert complete(semiflows(net)).shape == (0, 2)


def test_no_places_and_no_transitions():
    for places in ([], [Place("p", "p", 2)]):
        for transitions in ([], [Transition("t", "t")]):
            net = PetriNet(places, transitions)
            assert net.bounds.tokens == [2] * len(places)


def test_a_large_net_is_left_alone():
    """Before a matrix is made, which would have 144 million numbers here."""
    net = ring(12_000)
    tracemalloc.start()
    try:
        assert len(complete(semiflows(net))) == 0
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_many_transitions_with_few_effects():
    """Each effect is looked at once, and no matrix has all transitions."""
    n = 400
    moves = [Transition(f"t{k}", f"t{k}", {0: 1}, {1: 1}) for k in range(40_000)]
    idle = [Transition("idle", "idle", {2: 1}, {2: 1})]
    net = PetriNet([Place(f"p{k}", f"p{k}", 1) for k in range(n)], moves + idle)
    tracemalloc.start()
    try:
        assert net.bounds.tokens == [2, 2] + [1] * (n - 2)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()

"""Runs that can be repeated with more tokens each time, against brute force."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from benchmarks.families.nets import dining, kanban
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.growth import Growth, growth_of, is_confirmed
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.structure import (
    MAX_TOKENS,
    Place,
    SpecialTransition,
    Transition,
)
from tests.example_counts import at_least, examples
from tests.systems.nets.special_nets import random_special_net, read

MOST = 400
WORK = 6_000.0


def pumped(net, growth, times):
    """The markings after each repetition, as the arcs of the file say."""
    state = net.initial()
    for t in growth.prefix:
        state = net.fired(state, t)
    found = [state]
    for _ in range(times):
        for t in growth.cycle:
            state = net.fired(state, t)
            assert state is not None
        found.append(state)
    return found


def assert_growth_right(seed):
    """Nets that have few markings are none; what is found can be repeated."""
    rng = random.Random(seed)
    net = random_special_net(rng, bounded=0.1)
    growth = complete(growth_of(read(net), WORK, seed))
    if growth is None:
        return "bounded" if net.graph(MOST) else "unknown"
    assert net.graph(MOST) is None
    markings = pumped(net, growth, 20)
    for before, after in pairwise(markings):
        assert all(after[p] > before[p] for p in growth.places)
    return "unbounded"


def test_random_nets():
    seen = [assert_growth_right(seed) for seed in range(examples(300))]
    assert seen.count("unbounded") >= at_least(30)
    assert seen.count("bounded") >= at_least(50)
    assert seen.count("unknown") <= seen.count("unbounded") / 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_random_nets_by_the_thousand(part):
    for seed in range(5000 + 300 * part, 5300 + 300 * part):
        assert_growth_right(seed)


@pytest.mark.parametrize("net", [dining(5), kanban(2, 3)], ids=lambda net: net.name)
def test_bounded_nets(net):
    assert complete(growth_of(net, WORK)) is None


def special(tokens, *transitions):
    places = [Place(f"p{k}", f"p{k}", n) for k, n in enumerate(tokens)]
    return ExtendedNet(
        places,
        [SpecialTransition(f"t{k}", f"t{k}", *t) for k, t in enumerate(transitions)],
    )


def test_a_limit_that_grows_is_no_repetition():
    """t adds to p, and stops at five tokens."""
    net = special([0], ({}, {0: 4}, frozenset(), {0: 1}))
    assert complete(growth_of(net, WORK)) is None
    assert not is_confirmed(net, Growth((), (0,), (0,)))


def test_what_is_reset_does_not_grow():
    """From (0, 0), t leads to one token in p whenever it is taken."""
    net = special([0], ({}, {}, frozenset({0}), {0: 1}))
    assert complete(growth_of(net, WORK)) is None
    assert not is_confirmed(net, Growth((), (0,), (0,)))


def test_growth_beside_resets_and_limits():
    """q grows while p is reset, and r, which has a limit, stays."""
    net = special([0, 0, 1], ({2: 1}, {2: 1}, frozenset({0}), {0: 1, 1: 1}))
    growth = complete(growth_of(net, WORK))
    assert growth.places == (1,)
    assert is_confirmed(net, growth)
    told = "t0 can be repeated without end"
    assert growth.told(net).startswith(f"the net is unbounded: {told}")
    assert growth.told(net).endswith("each time with more tokens in p1")


@pytest.mark.parametrize("tokens", [MAX_TOKENS, 1 << 60, 0])
def test_large_numbers(tokens):
    """Sums that 63 bits do not hold end a walk."""
    net = PetriNet(
        [Place("p", "p", tokens)], [Transition("t", "t", {}, {0: MAX_TOKENS})]
    )
    found = complete(growth_of(net, WORK))
    assert found is None or is_confirmed(net, found)


def test_nets_without_places_or_transitions():
    for net in (PetriNet([], []), PetriNet([], [Transition("t", "t")])):
        assert complete(growth_of(net, WORK)) is None

"""Which places may be marked together, against reachable markings."""

from __future__ import annotations

import random

import pytest

from ltlpipe.runtime.jobs import complete
from ltlpipe.structural.reduction import reduced_net
from ltlpipe.systems.nets.concurrency import concurrency, ended
from tests.cross.test_models import explored
from tests.example_counts import at_least, examples
from tests.random_nets import net_of, random_net


def found_of(net):
    """The relation of a net."""
    moves = [(t.pre, t.post) for t in net.transitions]
    return ended(concurrency(net.initial(), moves))


def assert_covers(seed):
    """Whatever is marked together is related; return whether some pairs are not."""
    net = random_net(random.Random(seed))
    graph = explored(net)
    if graph is None:
        return False
    found = found_of(net)
    exclusive = found.exclusive()
    for marking, moves in zip(*graph, strict=True):
        marked = [p for p, tokens in enumerate(marking) if tokens]
        assert found.related[marked][:, marked].all()
        assert all(found.several[p] for p in marked if marking[p] > 1)
        for p in marked:
            assert all(marking[p] + marking[q] == 1 for q in exclusive[p].nonzero()[0])
        assert all(found.allows(net.transitions[t].pre) for t, _ in moves)
    return exclusive.any()


def test_what_is_marked_together_is_related():
    """Small nets with weights, loops and several tokens."""
    assert sum(map(assert_covers, range(examples(400)))) >= at_least(50)


@pytest.mark.slow
def test_what_is_marked_together_is_related_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(8_000)):
        assert_covers(seed)


TURNS = (
    ({0: 1}, {1: 1, 2: 1}),  # a token becomes two
    ({1: 1}, {3: 1}),
    ({2: 1}, {4: 1}),
    ({3: 1, 4: 1}, {0: 1}),
)


def test_branches_are_concurrent_and_steps_of_one_are_not():
    found = found_of(net_of([1, 0, 0, 0, 0], *TURNS))
    assert found.exclusive()[1].nonzero()[0].tolist() == [0, 3]
    assert found.allows({1: 1, 4: 1})
    assert not found.allows({1: 2})
    assert not found.several.any()


def test_a_transition_between_exclusive_places_is_dead():
    """All its inputs are marked at some time, never together."""
    net = net_of([1, 0, 0, 0, 0], *TURNS, ({1: 1, 3: 1}, {2: 1}))
    found = complete(reduced_net(net, range(5), stuttering=False))
    assert found.applied == {"dead transitions": 1}
    assert [t.id for t in found.reduced.transitions] == ["t0", "t1", "t2", "t3"]

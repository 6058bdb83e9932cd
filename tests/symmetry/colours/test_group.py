"""Which colours of a symmetric net can be exchanged, and why others cannot."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product

import pytest

from benchmarks.families.nets import coloured_dining, coloured_token_ring, shared_memory
from ltlpipe import UnsupportedError, check
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.jobs import complete
from ltlpipe.symmetry.colours import Forms, group_of_colours
from ltlpipe.systems.nets.coloured.cells import SubtractionError, counted, holds
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    EMPTY,
    RANGE,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Constant,
    Part,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import random_net


def one_sort(guard=TRUE, *, kind=CYCLIC, size=6, shift=0, constant=None):
    """A net whose only transition moves a colour from one place to another one."""
    names = tuple(map(str, range(size)))
    entry = Bound(0, shift, size) if constant is None else Constant(constant)
    taken, put = Tokens(1, (Bound(0, 0, size),)), Tokens(1, (entry,))
    places = [ColouredPlace(name, name, (0,), EMPTY) for name in "pq"]
    move = ColouredTransition("t", "t", guard, ((0, taken),), ((1, put),))
    variables = tuple(Variable(v, v, 0) for v in "xy")
    sort = Sort("s", "s", kind, names, names)
    return ColouredNet("n", (sort,), variables, tuple(places), (move,))


def found(net):
    """The group of a net: colours by class, reasons."""
    group = complete(group_of_colours(net))
    return [own for _, own in group.classes], group.refused


X, Y = Bound(0, 0, 6), Bound(1, 0, 6)


@pytest.mark.parametrize(
    ("net", "classes"),
    [
        (one_sort(), [(0, 1, 2, 3, 4, 5)]),
        (one_sort(Comparison("!=", X, Y)), [(0, 1, 2, 3, 4, 5)]),
        (one_sort(Comparison("!=", X, Constant(2))), [(0, 1, 3, 4, 5)]),
        (one_sort(Comparison("<", X, Constant(2))), [(0, 1), (2, 3, 4, 5)]),
        (one_sort(Comparison("<", Constant(2), X)), [(0, 1, 2), (3, 4, 5)]),
        (one_sort(constant=5), [(0, 1, 2, 3, 4)]),
        (
            one_sort(Comparison("==", Part(X, (0, 0, 1, 1, 2, 2)), Constant(1))),
            [(0, 1, 4, 5), (2, 3)],
        ),
        (
            one_sort(
                Comparison(
                    "<", Part(X, (0, 0, 1, 1, 2, 2)), Part(Y, (0, 0, 1, 1, 2, 2))
                )
            ),
            [(0, 1), (2, 3), (4, 5)],
        ),
    ],
)
def test_static_subclasses(net, classes):
    """Constants, bounds and elements of partitions tell colours apart."""
    assert found(net) == (classes, [])


@pytest.mark.parametrize(
    ("net", "reason"),
    [
        (
            one_sort(Comparison("<", X, Y), kind=RANGE),
            "sort s: compared by order in guard of t",
        ),
        (
            one_sort(Comparison("!=", X, Y), shift=1),
            "sort s: colours have successors in the arc between t and q",
        ),
    ],
)
def test_reasons(net, reason):
    """A sort without permutations is said to be one, and why."""
    assert found(net) == ([], [reason])


@pytest.mark.parametrize(
    ("net", "names"),
    [
        (coloured_client_server(3, 2), [3, 2]),
        (shared_memory(4), [4]),
        (coloured_dining(4), []),
        (coloured_token_ring(3), []),
    ],
)
def test_families(net, names):
    """The project's own nets."""
    group = complete(group_of_colours(net))

    assert list(map(len, group.names())) == names


def generators(group):
    """Exchanges of two colours."""
    for sort, colours in group.classes:
        for a, b in pairwise(colours):
            yield {(sort, a): b, (sort, b): a}


def image(domain, colours, moved):
    """The image of a tuple."""
    pairs = zip(domain, colours, strict=True)
    return tuple(moved.get(pair, pair[1]) for pair in pairs)


def tokens(what, binding):
    """How often each tuple is in a multiset; None if too much is subtracted."""
    try:
        return counted(what, binding)
    except SubtractionError:
        return None


def assert_kept(net, transition, moved):
    """Each binding and its image take and put tuples and their images."""
    sorts = [variable.sort for variable in net.variables]
    used = transition.variables
    for colours in product(*(range(net.size(sorts[v])) for v in used)):
        binding, other = [0] * len(sorts), [0] * len(sorts)
        for v, colour in zip(used, colours, strict=True):
            binding[v] = colour
            other[v] = moved.get((sorts[v], colour), colour)
        assert holds(transition.guard, binding) == holds(transition.guard, other)
        for place, what in (*transition.pre, *transition.post):
            domain = net.places[place].domain
            before, after = tokens(what, binding), tokens(what, other)
            if before is not None:
                before = {image(domain, c, moved): n for c, n in before.items()}
            assert before == after


def test_random_nets():
    """Each generator takes transitions under bindings to such again."""
    counts = Counter()
    for seed in range(examples(200)):
        net = random_net(random.Random(seed))
        group = complete(group_of_colours(net))
        for moved in generators(group):
            for transition in net.transitions:
                assert_kept(net, transition, moved)
        counts["classes"] += bool(group.classes)
        counts["cut"] += any(len(c) < net.size(s) for s, c in group.classes)
        counts["refused"] += bool(group.refused)

    assert min(counts["classes"], counts["refused"]) >= at_least(20)
    assert counts["cut"] >= at_least(5)


def test_images_of_propositions():
    """Propositions become others, or none, whatever the order of their operands."""
    net = SymmetricNet(coloured_client_server(3, 1))
    texts = [
        "served.1.1 == 0 || waiting.2 == 0",
        "waiting.1 == 0 || served.2.1 == 0",
        'action=="ask.1"',
        'action=="ask.2"',
        "served + waiting >= 1",
        "fireable(ask)",
        "idle.3 == 1",
        "deadlock",
    ]
    bound = [net.meaning(text) for text in texts]
    forms = Forms(net, bound)

    swap = {(0, 0): 1, (0, 1): 0}
    assert forms.images(swap) == [1, 0, 3, 2, 4, 5, 6, 7]
    assert forms.images({(0, 0): 2, (0, 2): 0}) == [-1, -1, -1, 3, 4, 5, -1, 7]


def test_what_it_goes_with():
    """Symmetry of nets is about colours, and says so where there are none."""
    ring, clients = (
        SymmetricNet(coloured_token_ring(2)),
        SymmetricNet(coloured_client_server(3, 1)),
    )
    with pytest.raises(UnsupportedError, match=r"exchanged \(sort mach"):
        check(ring, "G(state >= 0)", reduce="symmetry", emptiness="iec")
    with pytest.raises(UnsupportedError, match="for symmetric nets, not for other"):
        check(PetriNet([], []), "G(deadlock)", emptiness="iec")
    with pytest.raises(UnsupportedError, match="looks at one state at a time"):
        check(clients, "G(deadlock)", reduce="symmetry", emptiness="se05")

    verdict = check(clients, "G(free + served == 1)", emptiness="iec")
    assert verdict.plan.strategy == "symmetry"
    reasons = " ".join(verdict.plan.reasons)
    assert "colours client.1, client.2, client.3 can be exchanged" in reasons
    assert "net names each colour" not in reasons

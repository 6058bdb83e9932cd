"""A symmetry that the user names is verified, or refused with the reason."""

from __future__ import annotations

import pytest

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes import declaration
from ltlpipe.systems.networks.lts import Network
from tests.symmetry.classes import models
from tests.symmetry.classes.checking import (
    assert_roles,
    assert_symmetry,
    found_names,
)
from tests.symmetry.classes.models import client, lts


def declared_symmetry(network, names):
    return run(declaration.declared_symmetry(network, names))


def single(*names):
    return {frozenset([name]) for name in names}


def declared(network, *names):
    symmetry = declared_symmetry(network, names)
    assert_symmetry(symmetry)
    assert_roles(symmetry)
    return found_names(symmetry)


def test_all_clients():
    network = models.clients_and_server(4)

    assert declared(network, ["P2", "P0", "P3", "P1"]) == [
        single("P0", "P1", "P2", "P3")
    ]
    symmetry = declared_symmetry(network, [["P2", "P0", "P3", "P1"]])
    assert symmetry.names() == [["P2", "P0", "P3", "P1"]]


def test_some_clients():
    """The others stay where they are, and the server tells them apart."""
    network = models.queue(4)

    assert declared(network, ["P1", "P3"]) == [single("P1", "P3")]
    assert declared(network, ["P0", "P2"], ["P3", "P1"]) == [
        single("P0", "P2"),
        single("P1", "P3"),
    ]


def test_two_classes():
    network = models.requests_and_workers(3, 2)

    assert declared(network, ["W0", "W1"], ["R0", "R1", "R2"]) == [
        single("R0", "R1", "R2"),
        single("W0", "W1"),
    ]


@pytest.mark.parametrize("n", [2, 3])
def test_channels_come_along(n):
    network = models.clients_with_channels(n)
    members = {frozenset([f"C{i}", f"P{i}"]) for i in range(n)}

    assert declared(network, [f"P{i}" for i in range(n)]) == [members]
    assert declared(network, [f"C{i}" for i in range(n)]) == [members]


def refused(network, *names):
    with pytest.raises(UnsupportedError) as caught:
        declared_symmetry(network, names)
    return str(caught.value)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([["P0", "P11"]], "no component is called 'P11'; did you mean 'P1'"),
        ([["P0", "zzzzzz"]], "no component is called 'zzzzzz'"),
        ([["P0", ""]], "no component is called ''"),
        ([["P0", "P0"]], "component 'P0' is named twice"),
        ([["P0", "P1"], ["P2", "P1"]], "component 'P1' is named twice"),
        ([["P0"]], "two at least, not 'P0'"),
        ([[]], "two at least, not none"),
        ([], "no components are named"),
        (
            [["P0", "server"]],
            "'P0' and 'server' cannot be exchanged: 'P0' has 3 labels",
        ),
    ],
)
def test_names_that_cannot_be_meant(names, message):
    assert message in refused(models.clients_and_server(3), *names)


def test_ambiguous_name():
    network = Network([client(0), client(1), lts("P0", [(0, "x", 0)])])

    assert "2 components are called 'P0'" in refused(network, ["P0", "P1"])


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ([(2, "put1", 1)], "'P0' has 3 transitions from reachable states, 'P1' has 4"),
        ([(2, "get0", 1)], "'P0' has 3 labels, 'P1' has 4"),
        ([(2, "put1", 3)], "'P0' has 3 reachable states, 'P1' has 4"),
    ],
)
def test_what_differs_is_named(odd, message):
    network = Network([client(0), client(1, extra=odd), client(2)])

    assert message in refused(network, ["P0", "P1", "P2"])


def test_reason_unknown():
    """Sizes agree, but the server serves one of them twice."""
    server = models.server(3).transitions()
    parts = [client(i) for i in range(3)]
    parts.append(lts("server", [*server, (1, "get0", 1)]))

    message = refused(Network(parts), ["P0", "P1"])
    assert "'P0' and 'P1' cannot be exchanged: no renaming" in message
    assert declared(Network(parts), ["P1", "P2"]) == [single("P1", "P2")]


def test_local_states_that_are_not_known_by_roles():
    message = refused(models.pairs_of_pairs(), ["P0", "P1", "P2", "P3"])

    assert "P0, P1, P2, P3 are not symmetric" in message
    assert "'server' says more" in message


def test_components_of_two_classes():
    message = refused(models.clients_with_channels(3), ["P0", "P1"], ["C0", "C1"])

    assert "would belong to two classes" in message


def test_one_component_for_two_members():
    """Turning a ring of three over moves a neighbour along."""
    parts = [lts(f"P{i}", [(0, f"a{i}", 0), (0, f"b{i}", 0)]) for i in range(4)]
    parts += [
        lts(f"F{i}", [(0, f"a{i}", 0), (0, f"b{(i - 1) % 4}", 0)]) for i in range(4)
    ]

    message = refused(Network(parts), ["P0", "P1", "P2"])
    assert "are not symmetric" in message


def test_members_that_remember_each_other():
    parts = []
    for i in range(3):
        steps = []
        for j in range(3):
            if i != j:
                steps += [(0, f"call_{i}_{j}", 1 + j), (1 + j, f"end_{i}_{j}", 0)]
                steps += [(0, f"call_{j}_{i}", 0), (0, f"end_{j}_{i}", 0)]
        parts.append(lts(f"P{i}", steps))

    assert "local states of 'P" in refused(Network(parts), ["P0", "P1", "P2"])

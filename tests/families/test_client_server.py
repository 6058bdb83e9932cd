"""The server and its clients: components, sizes, symmetry."""

from __future__ import annotations

import re

import pytest

from benchmarks.families.client_server import client_server
from ltlpipe import LTS, Network, check
from ltlpipe.runtime import errors as _errors
from tests.oracles import compose
from tests.systems.symmetric_tables import (
    client_server_tables,
    numbered,
    sizes,
    tables,
)

SHARED = {"request", "grant", "refuse", "read", "release", "commit", "abort"}
OF_THE_SERVER = {"maintain", "open", "save", "undo"}


def n_reachable(n: int) -> int:
    """The closed form of the module docstring."""
    return 4 * 7**n - 2**n + 3 * n * 7 ** (n - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 11])
def test_components_are_those_of_the_guide(n):
    """Row by row, with the states in the guide's order."""
    network = client_server(n)
    expected = client_server_tables(n)

    assert [c.name for c in network.components] == list(expected)
    for component in network.components:
        transitions, n_states = numbered(expected[component.name])
        assert set(component.transitions()) == transitions
        assert len(component.transitions()) == len(transitions)
        assert (component.n_states, component.initial) == (n_states, 0)
    assert not network.has_acceptance


@pytest.mark.parametrize("n", [1, 3, 11])
def test_labels(n):
    """A client shares with the server what the guide says, and with nobody else."""
    guide = {row.label.split("<")[0]: row.partners for row in tables()["client"]}
    assert {label for label, partners in guide.items() if partners} == SHARED

    for action in client_server(n).actions:
        kind, index = re.fullmatch(r"([a-z]+)(\d*)", action.name).groups()
        if kind in OF_THE_SERVER:
            assert (index, action.participants) == ("", (n,))
        else:
            client = int(index) - 1
            server = (n,) if kind in SHARED else ()
            assert action.participants == (client, *server), action.name


@pytest.mark.parametrize(("n", "n_transitions"), [(1, 62), (2, 764), (3, 7_934)])
def test_sizes(n, n_transitions):
    """By the composition, by the guide's tables, in closed form; no deadlock."""
    states, steps = compose(client_server(n))

    assert (len(states), len(steps)) == (n_reachable(n), n_transitions)
    assert {src for src, _, _ in steps} == set(range(len(states)))
    assert sizes(client_server_tables(n)) == (n_reachable(n), n_transitions, 0)


@pytest.mark.parametrize(
    ("n", "n_states", "n_transitions"),
    [
        (3, 1_805, 7_934),
        (4, 13_704, 75_772),
        (5, 103_211, 687_866),
        (6, 773_058, 6_030_864),
    ],
)
def test_sizes_by_search(n, n_states, n_transitions):
    """The search for an action that never happens sees everything."""
    never = LTS.from_transitions([(1, "never", 1)])
    network = Network([*client_server(n).components, never])
    verdict = check(network, "G !never", reduce="none")

    assert verdict.verdict == "holds"
    assert (verdict.stats.states, verdict.stats.transitions) == (
        n_states,
        n_transitions,
    )
    assert n_states == n_reachable(n)


def test_closed_form_for_twelve():
    """The number that the guide names."""
    assert n_reachable(12) == 126_548_907_456


@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 3), (2, 4)])
def test_clients_are_interchangeable(a, b):
    """A swap of names takes client a to b, and in the server busy_a to busy_b."""
    network = client_server(4)
    *clients, server = network.components
    swap = {a: b, b: a}

    def label(text):
        kind, index = re.fullmatch(r"([a-z]+)(\d*)", text).groups()
        return kind + (str(swap.get(int(index), int(index))) if index else "")

    def state(number):
        return 3 + swap.get(number - 3, number - 3) if number > 3 else number

    moved = {(s, label(t), d) for s, t, d in clients[a - 1].transitions()}
    assert moved == set(clients[b - 1].transitions())
    moved = {(state(s), label(t), state(d)) for s, t, d in server.transitions()}
    assert moved == set(server.transitions())


@pytest.mark.parametrize("n", [0, -1])
def test_no_clients(n):
    with pytest.raises(_errors.UnsupportedError, match=f"must be at least 1, not {n}"):
        client_server(n)

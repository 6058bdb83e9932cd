"""The dispatcher with requests and workers: components, sizes, symmetry."""

from __future__ import annotations

import re
from math import comb

import pytest

from benchmarks.families.client_server import dispatcher
from ltlpipe import LTS, Network, check
from ltlpipe.runtime import errors as _errors
from tests.oracles import compose
from tests.systems.symmetric_tables import dispatcher_tables, numbered, sizes


def ways(a: int, b: int, collected: int = 0) -> int:
    """P(a, b) of the module docstring, and Q(a, b) for one that is `collected`."""
    return sum(
        comb(a, k + collected)
        * 6 ** (a - k - collected)
        * comb(b, k)
        * 4**k
        * 3 ** (b - k)
        for k in range(min(a - collected, b) + 1)
    )


def n_reachable(n: int, m: int) -> int:
    """The closed form of the module docstring."""
    ready = 2 * ways(n, m) - 2 * 5**n
    return ready + n * ways(n - 1, m) + m * ways(n, m - 1, collected=1)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 2), (11, 12)])
def test_components_are_those_of_the_guide(n, m):
    """Row by row, with the states in the guide's order."""
    network = dispatcher(n, m)
    expected = dispatcher_tables(n, m)

    assert [c.name for c in network.components] == list(expected)
    for component in network.components:
        transitions, n_states = numbered(expected[component.name])
        assert set(component.transitions()) == transitions
        assert len(component.transitions()) == len(transitions)
        assert (component.n_states, component.initial) == (n_states, 0)
    assert not network.has_acceptance


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (11, 12)])
def test_labels(n, m):
    """Two indices: a request, a worker, the dispatcher; one index: as in the tables."""
    requests = {"submit", "reject", "pick", "requeue"}  # with the dispatcher
    local = {"create", "revise", "drop", "read", "close"}
    for action in dispatcher(n, m).actions:
        kind, first, second = re.fullmatch(
            r"([a-z]+)(\d*)_?(\d*)", action.name
        ).groups()
        if second:
            expected = (int(first) - 1, n + int(second) - 1, n + m)
        elif kind in requests | local:
            expected = (int(first) - 1, *((n + m,) if kind in requests else ()))
        elif first:
            expected = (n + int(first) - 1, *((n + m,) if kind == "collect" else ()))
        else:
            expected = (n + m,)
        assert action.participants == expected, action.name


@pytest.mark.parametrize(
    ("n", "m", "n_transitions"),
    [(1, 1, 90), (1, 2, 492), (2, 1, 1_042), (2, 2, 5_658), (3, 2, 58_038)],
)
def test_sizes(n, m, n_transitions):
    """By the composition, by the guide's tables, in closed form; no deadlock."""
    states, steps = compose(dispatcher(n, m))

    assert (len(states), len(steps)) == (n_reachable(n, m), n_transitions)
    assert {src for src, _, _ in steps} == set(range(len(states)))
    assert sizes(dispatcher_tables(n, m)) == (n_reachable(n, m), n_transitions, 0)


@pytest.mark.parametrize(
    ("n", "m", "n_states", "n_transitions"),
    [
        (3, 2, 12_074, 58_038),
        (3, 3, 51_550, 279_076),
        (4, 2, 96_670, 550_218),
        (4, 3, 441_278, 2_775_240),
        pytest.param(5, 3, 3_633_974, 26_031_612, marks=pytest.mark.slow),
    ],
)
def test_sizes_by_search(n, m, n_states, n_transitions):
    """The search for an action that never happens sees everything."""
    never = LTS.from_transitions([(1, "never", 1)])
    network = Network([*dispatcher(n, m).components, never])
    verdict = check(network, "G !never", reduce="none")

    assert verdict.verdict == "holds"
    assert (verdict.stats.states, verdict.stats.transitions) == (
        n_states,
        n_transitions,
    )
    assert n_states == n_reachable(n, m)


def swapped(a, b, index):
    return {a: b, b: a}.get(index, index)


@pytest.mark.parametrize("of_workers", [False, True], ids=["requests", "workers"])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 3)])
def test_members_are_interchangeable(a, b, of_workers):
    """A swap of two requests, or of two workers, takes each component to one like it.

    The dispatcher's states that remember one of the two change places.
    """
    n, m = 4, 3
    network = dispatcher(n, m)
    by_worker = {"load", "execute", "crash", "collect", "repair", "clean"}

    def label(text):
        kind, first, second = re.fullmatch(r"([a-z]+)(\d*)_?(\d*)", text).groups()
        numbers = [int(index) for index in (first, second) if index]
        for at, number in enumerate(numbers):
            if (at == 1 or kind in by_worker) == of_workers:
                numbers[at] = swapped(a, b, number)
        return kind + "_".join(map(str, numbers))

    def state(number):
        base = 1 + n if of_workers else 1
        members = m if of_workers else n
        if not base < number <= base + members:
            return number
        return base + swapped(a, b, number - base)

    base = n if of_workers else 0
    for i, component in enumerate(network.components):
        last = i == n + m
        image = base + swapped(a - 1, b - 1, i - base) if not last else i
        of = state if last else int
        moved = {(of(s), label(t), of(d)) for s, t, d in component.transitions()}
        assert moved == set(network.components[image].transitions()), component.name


@pytest.mark.parametrize(("n", "m"), [(0, 1), (2, 0), (-1, -1)])
def test_nobody_to_dispatch(n, m):
    with pytest.raises(_errors.UnsupportedError, match=f"{n} requests and {m} workers"):
        dispatcher(n, m)

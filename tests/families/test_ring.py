"""The ring: shape, closed forms, emptiness."""

from __future__ import annotations

import pytest

from ltlpipe.families.networks import ring
from ltlpipe.runtime import errors as _errors
from tests.oracles import accepting_run_exists, compose


@pytest.mark.parametrize("n", [3, 4, 5])
def test_states_and_transitions_have_closed_forms(n):
    """5^n states; five local transitions a component, and n kinds of meetings."""
    states, edges = compose(ring(n))

    assert len(states) == 5**n
    assert len(edges) == n * 5**n + n * 5 ** (n - 2)


def test_no_accepting_run():
    """No component comes back to its accepting initial state."""
    network = ring(3)

    assert all(c.accepting[c.initial] for c in network.components)
    assert not accepting_run_exists(network)


@pytest.mark.parametrize("n", [3, 6])
def test_neighbours_share_one_label(n):
    """Label i belongs to components i-1 and i, all others are local."""
    actions = {action.name: action.participants for action in ring(n).actions}

    assert [actions[f"l{i}"] for i in range(1, n)] == [(i - 1, i) for i in range(1, n)]
    assert actions["l0"] == (0, n - 1)
    assert sum(len(who) == 1 for who in actions.values()) == 5 * n


@pytest.mark.parametrize("n", [2, 1, 0, -1])
def test_fewer_than_three_make_no_ring(n):
    with pytest.raises(_errors.UnsupportedError, match=f"{n} components"):
        ring(n)

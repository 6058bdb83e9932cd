"""The dining philosophers: shape, closed form, emptiness."""

from __future__ import annotations

import numpy as np
import pytest

from ltlpipe.families.networks import philosophers
from ltlpipe.runtime import errors as _errors
from tests.oracles import accepting_run_exists, compose


def n_configurations(n: int) -> int:
    """Configurations in which no fork is held twice (module docstring)."""
    return int(np.trace(np.linalg.matrix_power(np.array([[3, 3], [2, 1]]), n)))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_reachable_states_have_a_closed_form(n):
    """All consistent configurations but the one with right forks only."""
    states, _ = compose(philosophers(n))

    assert len(states) == n_configurations(n) - 1
    assert tuple([4, 2] * n) not in states  # fork i-1 held by philosopher i


def test_closed_form_for_ten():
    """The number that the docstring names."""
    assert n_configurations(8) - 1 == 216_993
    assert n_configurations(10) - 1 == 4_683_381


@pytest.mark.parametrize("n", [2, 3, 4])
def test_one_deadlock(n):
    """All philosophers hold their left forks."""
    states, edges = compose(philosophers(n))
    stuck = set(range(len(states))) - {src for src, _, _ in edges}

    assert [states[i] for i in stuck] == [tuple([1, 1] * n)]


@pytest.mark.parametrize("n", [2, 3])
def test_no_accepting_run(n):
    """All philosophers would need 2n forks; no component is to blame alone."""
    network = philosophers(n)

    assert network.has_acceptance
    assert all(component.accepting.any() for component in network.components)
    assert not accepting_run_exists(network)


@pytest.mark.parametrize("n", [2, 5])
def test_labels_are_shared_by_neighbours(n):
    """Taking and releasing needs one philosopher and one fork; the rest is local."""
    actions = {action.name: action.participants for action in philosophers(n).actions}

    assert actions["lf0"] == (0, 1)
    assert actions["rf0"] == (0, 2 * n - 1)
    assert actions["rf1"] == (1, 2)
    assert actions["eat1"] == actions["think1"] == (2,)
    assert len(actions) == 4 * n


@pytest.mark.parametrize("n", [1, 0, -3])
def test_a_single_philosopher_cannot_dine(n):
    with pytest.raises(_errors.UnsupportedError, match=f"{n} philosophers"):
        philosophers(n)

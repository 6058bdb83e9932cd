"""When decoupled search is said to pay."""

from __future__ import annotations

import pytest

from ltlpipe import LTS, Network
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.strategies.decoupled import estimate


def component(i, n_internal, n_shared):
    own = [(k, f"i{i}", k + 1) for k in range(n_internal)]
    return LTS.from_transitions([*own, *[(k, "g", k + 1) for k in range(n_shared)]])


@pytest.mark.parametrize(
    ("n", "n_internal", "n_shared", "share", "pays"),
    [
        (4, 1, 4, 0.2, True),
        (4, 1, 5, 1 / 6, False),
        (3, 3, 1, 0.75, False),
        (5, 2, 0, 1.0, True),
    ],
)
def test_thresholds(n, n_internal, n_shared, share, pays):
    """From 20 % internal transitions and four components on (Gnad et al., Sec. 6)."""
    found = estimate(
        Network([component(i, n_internal, n_shared) for i in range(n)]), []
    )
    assert found.internal == pytest.approx(share)
    assert (found.n_components, found.pays) == (n, pays)
    assert f"{n} components" in str(found)


def test_components_that_accept():
    """Without any internal transition, but not with three components."""
    part = LTS.from_transitions([(0, "g", 1)], accepting=[1])
    assert not estimate(Network([part] * 3), []).pays
    found = estimate(Network([part] * 4), [])
    assert found.pays
    assert "if components accept, it pays from 4 on" in str(found)


def test_visible_actions_are_not_internal():
    """The property watches them, so the search has to."""
    network = Network([component(i, 2, 1) for i in range(4)])
    assert estimate(network, []).internal == pytest.approx(8 / 12)
    assert estimate(network, ["i0", "i1"]).internal == pytest.approx(4 / 12)


def test_families():
    """Most of a ring is internal; without transitions nothing is."""
    assert estimate(ring(5), []).internal == pytest.approx(5 / 7)
    assert 0 < estimate(philosophers(5), []).internal < 0.5
    assert not estimate(Network([LTS.from_transitions([])] * 5), []).pays

"""Automorphisms that exchange components, but not as a group of permutations."""

from __future__ import annotations

import numpy as np
import pytest

from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.class_action import RefusedError, class_action
from ltlpipe.symmetry.classes.structure import parts_of, structure_of
from ltlpipe.systems.networks.lts import Network
from tests.symmetry.classes.models import lts

#: Labels a and b of each component can be exchanged, too.
NETWORK = Network([lts(f"P{i}", [(0, f"a{i}", 0), (0, f"b{i}", 0)]) for i in range(3)])

STRAIGHT_01 = {"a0": "a1", "b0": "b1", "a1": "a0", "b1": "b0"}
STRAIGHT_02 = {"a0": "a2", "b0": "b2", "a2": "a0", "b2": "b0"}


def automorphism(structure, components, actions):
    """Where nodes go; each component has one state."""
    swap = np.arange(structure.n_nodes)
    names = [a.name for a in NETWORK.actions]
    for c, d in components.items():
        swap[c] = d
        swap[structure.first_state + c] = structure.first_state + d
    for a, b in actions.items():
        swap[3 + names.index(a)] = 3 + names.index(b)
    assert structure.is_automorphism(swap)
    return swap


def acting(*actions):
    parts = run(parts_of(NETWORK))
    structure = run(structure_of(parts))
    swaps = [
        automorphism(structure, {0: k + 1, k + 1: 0}, a) for k, a in enumerate(actions)
    ]
    return run(class_action(structure, parts, range(len(actions) + 1), swaps))


def test_swaps_of_neighbours():
    action = acting(STRAIGHT_01, STRAIGHT_02)

    assert action.members == ((0,), (1,), (2,))
    assert action.neighbours[1][:3].tolist() == [0, 2, 1]
    swaps = action.swaps()
    assert sorted(swaps) == [(0, 1), (0, 2), (1, 2)]
    assert swaps[0, 2][:9].tolist() == [2, 1, 0, 7, 8, 5, 6, 3, 4]


def test_the_last_member_can_be_left_alone():
    action = acting(STRAIGHT_01, STRAIGHT_02).shorter()

    assert action.members == ((0,), (1,))
    assert list(action.swaps()) == [(0, 1)]


def test_exchanged_twice_and_not_back():
    turning = STRAIGHT_01 | {"a1": "b0", "b1": "a0"}

    with pytest.raises(RefusedError, match="'P0' and 'P1' twice"):
        acting(turning)


def test_two_that_do_not_fit_together():
    """The first also exchanges the labels of the component that stays."""
    with pytest.raises(RefusedError, match="do not fit together"):
        acting(STRAIGHT_01 | {"a2": "b2", "b2": "a2"}, STRAIGHT_02)


def test_tables_that_would_be_too_large(monkeypatch):
    monkeypatch.setattr("ltlpipe.symmetry.classes.class_action.MOST_ENTRIES", 10)

    with pytest.raises(RefusedError, match="3 swaps would be too large"):
        acting(STRAIGHT_01, STRAIGHT_02)

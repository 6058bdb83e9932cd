"""Which role each member plays in a local state."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.assembly import roles_of


def acting_on(states, n, class_of):
    """How swaps act on states, each a value made of members' numbers."""
    number = {state: k for k, state in enumerate(states)}

    def taken(state, image):
        if isinstance(state, int):
            return image[state]
        return type(state)(taken(part, image) for part in state)

    swaps = {}
    for i, j in combinations(range(n), 2):
        if class_of[i] == class_of[j]:
            image = {k: k for k in range(n)} | {i: j, j: i}
            swaps[i, j] = np.array([number[taken(s, image)] for s in states])
    return run(roles_of(swaps, np.array(class_of, dtype=np.int32), len(states)))


def test_nobody_and_one():
    roles = acting_on([(), (0,), (1,), (2,)], 3, [0, 0, 0])

    assert roles.tolist() == [[0, 0, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]]


def test_ordered_pairs():
    states = list(permutations(range(4), 2))
    roles = acting_on(states, 4, [0] * 4)

    for (i, j), row in zip(states, roles.tolist(), strict=True):
        others = [row[k] for k in range(4) if k not in (i, j)]
        assert (row[i], row[j], others) == (0, 1, [2, 2])


def test_sets():
    """All but two are the two, seen from the other side."""
    states = [frozenset(pair) for pair in combinations(range(4), 2)]
    roles = acting_on(states, 4, [0] * 4)

    assert len({tuple(row) for row in roles.tolist()}) == 6
    for pair, row in zip(states, roles.tolist(), strict=True):
        assert len({row[k] for k in pair}) == 1
        assert set(row) == {0, 1}


def test_two_classes_in_one_state():
    states = [(r, w) for r in range(3) for w in (3, 4)]
    roles = acting_on(states, 5, [0, 0, 0, 1, 1])

    assert len({tuple(row) for row in roles.tolist()}) == 6
    for (r, w), row in zip(states, roles.tolist(), strict=True):
        assert row[r] == roles[0, 0]
        assert row[w] == roles[0, 3]


@pytest.mark.parametrize(
    "states",
    [
        [
            frozenset([frozenset([0, 1]), frozenset([2, 3])]),
            frozenset([frozenset([0, 2]), frozenset([1, 3])]),
            frozenset([frozenset([0, 3]), frozenset([1, 2])]),
        ],
        # who sits next to whom, all four in a row that may be turned round
        sorted({frozenset([p, p[::-1]]) for p in permutations(range(4))}, key=sorted),
    ],
    ids=["pairs of pairs", "rows"],
)
def test_more_than_roles(states):
    assert acting_on(states, 4, [0] * 4) is None


def test_states_that_turn_even_and_odd():
    """Every swap exchanges them: none tells any two members apart, or all are."""
    swaps = {pair: np.array([1, 0]) for pair in combinations(range(3), 2)}

    assert run(roles_of(swaps, np.zeros(3, dtype=np.int32), 2)) is None


def test_two_classes_that_turn_the_same_states():
    """Each class alone has roles in them; both together leave them in their places."""
    swaps = {(0, 1): np.array([1, 0]), (2, 3): np.array([1, 0])}

    assert run(roles_of(swaps, np.array([0, 0, 1, 1], dtype=np.int32), 2)) is None

"""The shortest form of a run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.systems.runs import Run, compressed


def shortest_form(actions, states, length):
    """The lengths of the shortest prefix and cycle of the same run."""
    run = compressed(Run(actions, states, length))
    return run.length, len(run.actions) - run.length


def shortest(actions, length):
    """Lengths for a system in which the state before a step is its action."""
    states = np.array([*actions, actions[length]])[:, None]
    return shortest_form(np.array(actions), states, length)


def test_the_cycle_is_no_power():
    """abab is ab twice; aba is none."""
    assert shortest([1, 2, 1, 2], 0) == (0, 2)
    assert shortest([1, 2, 1], 0) == (0, 3)


def test_the_prefix_rolls_into_the_cycle():
    """ab(ab) is (ab), and b(ab) is (ba); c stays."""
    assert shortest([1, 2, 1, 2], 2) == (0, 2)
    assert shortest([2, 1, 2], 1) == (0, 2)
    assert shortest([3, 2, 1, 2], 2) == (1, 2)


def test_other_states_are_another_run():
    """The same actions over different states are kept apart."""
    actions = np.array([1, 1, 1])
    states = np.array([[5], [6], [7], [6]])
    assert shortest_form(actions, states, 1) == (1, 2)


@given(
    st.lists(st.integers(0, 2), max_size=6),
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
)
def test_the_run_is_the_same_and_shortest(prefix, cycle):
    """Unfolded, both forms agree; no shorter pair of lengths does."""

    def unfold(k, c):
        word = [*prefix, *cycle]
        part = word[k : k + c]
        return (word[:k] + part * 40)[:40]

    run = unfold(len(prefix), len(cycle))
    k, c = shortest([*prefix, *cycle], len(prefix))
    assert unfold(k, c) == run
    total = len(prefix) + len(cycle)
    same = [
        (i, j)
        for i in range(total)
        for j in range(1, total - i + 1)
        if unfold(i, j) == run
    ]
    assert (k, c) == min(same)

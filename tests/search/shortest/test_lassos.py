"""Shortest lassos of explicit automata against brute force."""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ltlpipe.automata.conditions import parse_condition
from ltlpipe.runtime.jobs import Limits, complete
from ltlpipe.search import shortest_lassos as cycles
from ltlpipe.search.exploring import Recording
from ltlpipe.search.shortest_lassos import shortest_in
from tests.complete_searches import drive
from tests.example_counts import examples
from tests.invariants import assert_consistent
from tests.search.explicit_automata import Explicit, automata, explicit, problem_of
from tests.search.test_emerson_lei import conditioned

FAR = 10_000


def distances(automaton):
    """Steps from the initial state to each that can be reached."""
    found = {0: 0}
    queue = deque([0])
    followers = automaton.followers()
    while queue:
        state = queue.popleft()
        for target in followers[state]:
            if target not in found:
                found[target] = found[state] + 1
                queue.append(target)
    return found


def shortest_cycle(automaton, start):
    """Steps of a shortest accepting cycle through a state; inf without any."""
    seen = {(start, 0)}
    queue = deque([(start, 0, 0)])
    while queue:
        state, marks, steps = queue.popleft()
        for src, own, dst in automaton.transitions:
            if src != state:
                continue
            now = marks | own
            if dst == start and automaton.accepts(now):
                return steps + 1
            if (dst, now) not in seen:
                seen.add((dst, now))
                queue.append((dst, now, steps + 1))
    return math.inf


def brute_force(automaton):
    """The least length of an accepting lasso; inf without any."""
    return min(
        distance + shortest_cycle(automaton, state)
        for state, distance in distances(automaton).items()
    )


def recorded(automaton, levels=FAR, stop=0, max_budget=None):
    """What has been stored, invariants checked."""
    recording = Recording(problem_of(automaton))
    recording.stop_at(levels, stop)
    drive(recording, Limits(), max_budget=max_budget)
    assert_consistent(recording)
    return recording


def length_of(lasso):
    return len(lasso.prefix_actions) + len(lasso.cycle_actions)


def assert_is_run(automaton, recording, lasso):
    """Its steps are transitions, and its cycle is accepting."""
    states = property_states(recording, np.concatenate([lasso.prefix, lasso.cycle[1:]]))
    assert states[0] == 0
    seen = {}
    for src, marks, dst in automaton.transitions:
        seen.setdefault((src, dst), []).append(marks)
    k = len(lasso.prefix_actions)
    assert all(pair in seen for pair in pairwise(states))
    cycle = list(zip(states[k:], states[k + 1 :], strict=False))
    choices = {0}
    for pair in cycle:
        choices = {some | marks for some in choices for marks in seen[pair]}
    assert any(automaton.accepts(marks) for marks in choices)
    assert states[k] == states[-1]


def property_states(recording, ids):
    """The automaton's states of product states."""
    settings_of = recording.problem.product.settings
    word, shift, mask = settings_of[1], settings_of[2], settings_of[3]
    rows = recording.store.rows[ids, word]
    return ((rows >> np.uint64(shift)) & np.uint64(mask)).astype(int).tolist()


def assert_shortest(automaton):
    expected = brute_force(automaton)
    recording = recorded(automaton)
    lasso, is_complete = complete(shortest_in(recording, FAR))
    assert is_complete
    if lasso is None:
        assert expected == math.inf
        return
    assert length_of(lasso) == expected
    assert_is_run(automaton, recording, lasso)
    event(f"{min(expected, 6)} steps")
    # No lasso is shorter than that, and the first levels suffice to say so.
    assert complete(shortest_in(recording, expected)) == (None, True)
    near = recorded(automaton, levels=expected)
    again, is_complete = complete(shortest_in(near, expected + 1))
    assert (length_of(again), is_complete) == (expected, True)


@given(automata() | conditioned(max_marks=5))
@settings(max_examples=examples(300))
def test_random_automata(automaton):
    """As short as brute force finds it, under any condition."""
    assert_shortest(automaton)


@pytest.mark.slow
@given(automata(max_states=12) | conditioned(max_marks=6, max_states=12))
@settings(max_examples=examples(5000))
def test_random_automata_by_the_thousand(automaton):
    """The same, more often."""
    assert_shortest(automaton)


@given(automata(), st.integers(1, 3))
@settings(max_examples=examples(100))
def test_calls_of_kernels_do_not_matter(automaton, budget):
    """Neither those that record nor those that look for cycles."""
    whole = complete(shortest_in(recorded(automaton), FAR))
    recording = recorded(automaton, max_budget=budget)
    with mock.patch.object(cycles, "_BUDGET", budget):
        parts = complete(shortest_in(recording, FAR))
    assert parts[1] == whole[1]
    if whole[0] is not None:
        assert parts[0].prefix.tolist() == whole[0].prefix.tolist()
        assert parts[0].cycle.tolist() == whole[0].cycle.tolist()


def test_a_cycle_farther_away_may_be_better():
    """A short way to a long cycle, a longer way to a loop."""
    long = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 1)]
    short = [(0, 6), (6, 7), (7, 7)]
    automaton = explicit(8, long + short, {1, 7})
    lasso, _ = complete(shortest_in(recorded(automaton), FAR))
    assert (len(lasso.prefix_actions), len(lasso.cycle_actions)) == (2, 1)


def test_work_that_is_limited():
    """What has been found so far is said to be no more than that."""
    ring = [(k, (k + 1) % 50) for k in range(50)]
    automaton = explicit(50, ring, {0})
    with mock.patch.object(cycles, "_BUDGET", 10):
        lasso, is_complete = complete(
            shortest_in(recorded(automaton), FAR, most_work=0.05)
        )
    assert (lasso, is_complete) == (None, False)


def test_too_many_marks():
    """Sets of them are not enumerated; nobody says that there is no lasso."""
    many = cycles.MOST_MARKS + 1
    rows = ((0, (1 << many) - 1, 0),)
    automaton = Explicit(1, many, rows, False)
    assert complete(shortest_in(recorded(automaton), FAR)) == (None, False)


def test_marks_that_do_not_matter():
    """A condition may leave out most of its 32 marks."""
    rows = ((0, 1 << 31, 1), (1, 1, 0), (0, 0, 0))
    condition = parse_condition("Inf(31) & Fin(5)")
    automaton = Explicit(2, 32, rows, False, condition)
    lasso, is_complete = complete(shortest_in(recorded(automaton), FAR))
    assert (length_of(lasso), is_complete) == (2, True)

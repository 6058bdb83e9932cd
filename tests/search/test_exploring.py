"""Explorations of whole products, and their Fin transitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.automata.conditions import fin, inf
from ltlpipe.search.exploring import BATCH, Exploration, Recording
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import conditions
from tests.invariants import assert_consistent
from tests.search.explicit_automata import Explicit, automata, problem_of


def reachable(automaton):
    """The states that can be reached from state 0, transition by transition."""
    known = {0}
    while True:
        more = {dst for src, _, dst in automaton.transitions if src in known} - known
        if not more:
            return known
        known |= more


@given(automata(max_states=12, max_marks=4), st.data(), st.sampled_from([None, 1, 3]))
@settings(max_examples=examples(100))
def test_counts(automaton, data, budget):
    """States, transitions and those with Fin marks, wherever a step stops."""
    marks = max(automaton.n_marks, 1)
    condition = data.draw(conditions(marks)) if automaton.n_marks else None
    automaton = Explicit(
        automaton.n_states,
        automaton.n_marks,
        automaton.transitions,
        condition=condition,
    )
    search = Exploration(problem_of(automaton))

    outcome = drive(
        search,
        Limits(),
        max_budget=budget,
        progress=lambda *_: assert_consistent(search),
    )

    states = reachable(automaton)
    there = [t for t in automaton.transitions if t[0] in states]
    bits = 0 if condition is None else condition.fin_marks
    assert outcome.status == Status.EMPTY
    assert search.registers[Reg.VISITED] == len(states) == search.n_stored
    assert search.registers[Reg.TRANSITIONS] == len(there)
    assert search.fin_transitions == sum(t[1] & bits != 0 for t in there)
    assert search.visited().all()


@given(automata(max_states=12, max_marks=4), st.sampled_from([1, 2, 5]))
@settings(max_examples=examples(100))
def test_recordings_are_those_of_one_state_at_a_time(automaton, budget):
    """Several states at once are looked up as if each was expanded behind the other."""
    made = []
    for most in (None, budget):
        recording = Recording(problem_of(automaton))
        drive(recording, Limits(), max_budget=most)
        assert_consistent(recording)
        arrays, n = recording.arrays, recording.n_stored
        m, levels = recording.n_transitions, recording.n_levels
        parts = (arrays.ends[:n], arrays.dst[:m], arrays.marks[:m])
        made.append((*parts, arrays.actions[:m], arrays.levels[:levels]))
        rows = recording.store.rows[:n, 0]
        sources = np.repeat(np.arange(n), np.diff(arrays.ends[:n], prepend=0))
        for state in range(1, n):  # met first from the first that leads there
            first = np.flatnonzero(arrays.dst[:m] == state)[0]
            assert arrays.parent[state] == sources[first]
        edges = [(src, dst) for src, _, dst in automaton.transitions]
        places = zip(rows[sources].tolist(), rows[arrays.dst[:m]].tolist(), strict=True)
        known = set(rows.tolist())
        assert sorted(places) == sorted(e for e in edges if e[0] in known)
    assert all(map(np.array_equal, *made))


@pytest.mark.parametrize("width", [1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH])
def test_as_many_successors_as_a_batch(width):
    """There is room for a state's successors behind those of others."""
    ways = range(1, width + 1)
    rows = [(0, 0, i) for i in ways] + [(i, 0, j) for i in ways for j in (i, width + i)]
    search = Exploration(problem_of(Explicit(2 * width + 1, 0, tuple(rows))))
    drive(search, Limits())
    found = search.n_stored, search.registers[Reg.TRANSITIONS]
    assert found == (2 * width + 1, 3 * width)


def test_a_mark_in_inf_alone_is_not_counted():
    """Nor is a transition with two Fin marks counted twice."""
    rows = ((0, 0b001, 1), (1, 0b110, 0), (1, 0b111, 1), (0, 0, 0))
    condition = inf(0) & fin(1) & fin(2)
    search = Exploration(problem_of(Explicit(2, 3, rows, condition=condition)))
    drive(search, Limits())
    assert search.statistics() == {"fin_transitions": 2}


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_states=10), "max-states"),
        (Limits(timeout=0.0), "timeout"),
        (Limits(memory_mib=0.01), "memory"),
    ],
    ids=["max-states", "timeout", "memory"],
)
def test_limits(limits, reason):
    """Half an exploration is none."""
    line = tuple((i, 0, i + 1) for i in range(2_000))
    search = Exploration(problem_of(Explicit(2_001, 0, line, known_weak=True)))
    assert drive(search, limits).reason == reason

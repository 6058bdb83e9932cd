"""The search that ranks states: answers, ranks, and that neither depends on budgets."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.automata.conditions import Clause, marks_in
from ltlpipe.runtime import jobs
from ltlpipe.search import emptiness
from ltlpipe.search.exploring import Recording
from ltlpipe.search.registers import Status
from ltlpipe.search.scc import ranks
from ltlpipe.search.scc.ranks import RankedSearch
from tests.complete_searches import drive
from tests.example_counts import examples
from tests.search.explicit_automata import (
    automata,
    explicit,
    outcome_of,
    problem_of,
    replay,
)

ANY = st.one_of(automata(), automata(state_based=True), automata(max_states=40))


def ranked(automaton, budget=None):
    """A search that has ended, and its outcome."""
    search = RankedSearch(problem_of(automaton))
    return search, outcome_of(search, budget)


def ranks_by_transitions(search, clause, budget=1 << 20):
    """The ranks by a second look at all transitions."""
    recording = Recording(search.problem, known=search, ways=False)
    drive(recording)
    n, m = recording.n_stored, recording.n_transitions
    arrays = recording.arrays
    graph = arrays.ends[:n], arrays.dst[:m], arrays.marks[:m]
    with mock.patch.object(ranks, "_BUDGET", budget):
        found = jobs.run(ranks.ranks_of(*graph, clause, marks_in(clause.inf), 0))
    return found.tolist()


@given(ANY, st.none() | st.integers(1, 9), st.booleans(), st.integers(1, 20))
@settings(max_examples=examples(400), deadline=None)
def test_ranks_of_random_automata(automaton, budget, full_stacks, ranking_budget):
    """FOUND iff there is an accepting cycle; else each state has its least rank."""
    entries = 0 if full_stacks else emptiness.FIRST_ENTRIES
    with mock.patch.object(emptiness, "FIRST_ENTRIES", entries):
        search, outcome = ranked(automaton, budget)
    assert (outcome.status == Status.FOUND) == automaton.has_accepting_cycle()
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)
        return
    clause = Clause(0, (1 << automaton.n_marks) - 1)
    expected = ranks_by_transitions(search, clause, ranking_budget)
    assert search.ranks().tolist() == expected


def test_a_large_scc_is_ranked_in_pieces():
    """Two rings of ten thousand states: what a call does at a time is less."""
    n = 10_000
    first = [(i, i % n + 1) for i in range(1, n + 1)]
    second = [(n + i, n + i % n + 1) for i in range(1, n + 1)]
    edges = [(0, 1), *first, (1, n + 1), *second]
    automaton = explicit(2 * n + 1, edges, {0}, weak=False)
    search, outcome = ranked(automaton)
    assert outcome.status == Status.EMPTY
    assert search.ranks().tolist() == ranks_by_transitions(search, Clause(0, 1))


def test_ranks_without_marks_count_the_steps_that_are_left():
    """Every infinite run would be accepted: ranks fall with each step."""
    chain = explicit(4, [(0, 1), (1, 2), (2, 3), (0, 3)], set())
    automaton = type(chain)(4, 0, tuple((s, 0, d) for s, _, d in chain.transitions))
    search, _ = ranked(automaton)
    rows = search.store.rows[: search.n_stored, 0].astype(int)
    found = dict(zip(rows.tolist(), search.ranks().tolist(), strict=True))
    assert found == {0: 3, 1: 2, 2: 1, 3: 0}
    assert search.ranks().dtype == np.int32

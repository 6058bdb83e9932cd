"""Walks: what they find is there, and in small products they find all there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.automata.conditions import fin, inf
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.search import guidance
from ltlpipe.search.guidance import FAR, LONGEST, aims, length_of
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import Walks
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.kernel_modes import INTERPRETED, checked, compiled, output
from tests.search.explicit_automata import (
    Explicit,
    automata,
    explicit,
    outcome_of,
    problem_of,
    replay,
    table_of,
)
from tests.search.test_emerson_lei import conditioned

SEEDS = st.integers(0, 2**63 - 1)
LENGTHS = st.integers(1, 300)


def walks(automaton, seed=0, **options):
    """Walks over an explicit automaton."""
    return Walks(problem_of(automaton), table_of(automaton), seed, **options)


def assert_finds_what_is_there(automaton, seed, shortest, budget=None):
    """FOUND with an accepting run iff there is one; walks become long enough."""
    outcome = outcome_of(walks(automaton, seed, shortest=shortest), budget)

    assert (outcome.status == Status.FOUND) == automaton.has_accepting_cycle()
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


@given(automata(max_states=12), SEEDS, LENGTHS, st.none() | st.integers(1, 4))
@settings(max_examples=examples(300))
def test_generalised_acceptance(automaton, seed, shortest, budget):
    """The shortest walks end in the middle of nowhere."""
    assert_finds_what_is_there(automaton, seed, shortest, budget)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(conditioned(max_marks=5, fins=False), SEEDS, LENGTHS)
@settings(max_examples=examples(200))
def test_conditions_without_fin(automaton, seed, shortest):
    """Disjunctions of sets of marks."""
    assert_finds_what_is_there(automaton, seed, shortest)


@pytest.mark.slow
@given(automata(max_states=30) | conditioned(max_states=30, fins=False), SEEDS, LENGTHS)
@settings(max_examples=examples(5000))
def test_larger_automata_by_the_thousand(automaton, seed, shortest):
    """The same with more states."""
    assert_finds_what_is_there(automaton, seed, shortest)


@given(automata(max_states=12), SEEDS, st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=examples(200))
def test_where_a_step_stops_changes_nothing(automaton, seed, shortest, budget):
    """Status, statistics and lasso are those of walks that are not interrupted."""
    whole = outcome_of(walks(automaton, seed, shortest=shortest))
    pieces = outcome_of(walks(automaton, seed, shortest=shortest), budget)

    assert pieces == whole


def test_fin_is_refused():
    """An SCC with the marks of Inf and Fin may have no accepting cycle."""
    automaton = Explicit(1, 2, ((0, 3, 0),), condition=inf(0) & fin(1))
    with pytest.raises(UnsupportedError, match=r"without Fin.*tela"):
        walks(automaton)


# Guidance


def test_distances():
    """To the nearest accepting SCC, by transitions; 4 leads nowhere."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 3), (0, 4), (4, 4), (0, 2)]
    found = aims(table_of(explicit(5, edges, {2, 3})))
    assert found.tolist() == [[2, 2, 1, 0, FAR]]


def test_an_accepting_scc_sees_all_marks():
    """One that sees some of them is no goal."""
    rows = ((0, 1, 0), (0, 0, 1), (1, 1, 2), (2, 2, 1))
    assert aims(table_of(Explicit(3, 2, rows))).tolist() == [[1, 0, 0]]
    either = Explicit(3, 2, rows, condition=inf(0) | inf(1))
    assert aims(table_of(either)).tolist() == [[0, 0, 0]]


def test_states_that_accept_all_words_are_an_aim_of_their_own():
    """2 accepts all words; 1 some, which are nearer, by a cycle with marks at times."""
    nearer = ((0, 1, 1), (1, 2, 0))
    both = Explicit(3, 2, (*nearer, (1, 0, 2), (2, 3, 2)))
    assert aims(table_of(both)).tolist() == [[0, 0, 0], [2, 1, 0]]
    assert aims(table_of(Explicit(3, 2, nearer))).tolist() == [[0, 0, FAR]]


def test_large_automata_do_not_guide(monkeypatch):
    monkeypatch.setattr(guidance, "MOST_EDGES", 1)
    found = aims(table_of(explicit(2, [(0, 1), (1, 0)], {1})))
    assert found.tolist() == [[0, 0]]


@given(automata(max_states=9))
@settings(max_examples=examples(200))
def test_distances_agree_with_paths(automaton):
    """0 in accepting SCCs, else one more than the nearest successor; far if none."""
    found = aims(table_of(automaton))[0]
    after = automaton.followers()
    accepting = set()
    for scc in automaton.sccs():
        inside = [m for s, m, t in automaton.transitions if {s, t} <= scc]
        if automaton.accepts(np.bitwise_or.reduce(inside)):
            accepting |= scc
    for state in range(automaton.n_states):
        if state in accepting:
            assert found[state] == 0
        elif found[state]:  # states that cannot be reached may be anything else
            nearest = min((found[t] for t in after[state]), default=FAR)
            assert found[state] == min(nearest + 1, FAR)


def chain(n, goal):
    """A tree of n states, two below each; the leaf `goal` has an accepting loop."""
    edges = [((k - 1) // 2, k) for k in range(1, n)]
    return explicit(n, [*edges, (goal, goal)], {goal}, weak=False)


def test_hopeless_states_are_not_entered():
    """From there no run is accepted: only the way to the goal is walked."""
    search = walks(chain(1023, 700))
    assert drive(search).status == Status.FOUND
    assert search.registers[Reg.VISITED] == 10  # the depth of the leaves


# Walks


def test_lengths():
    """Each length three times, one for each manner, and long ones seldom."""
    python = getattr(length_of, "py_func", length_of)
    lengths = [python(number, 256) for number in range(27)]
    assert lengths[3:] == [
        *3 * [256],
        *3 * [1024],
        *3 * [256],
        *3 * [4096],
        *3 * [256],
        *3 * [1024],
        *3 * [256],
        *3 * [16384],
    ]
    assert max(python(3 << k, 1) for k in range(62)) == LONGEST


def line(n):
    """n transitions one after another to an accepting loop."""
    rows = [(k, 0, k + 1) for k in range(n)]
    return Explicit(n + 1, 1, (*rows, (n, 1, n)), known_weak=False)


def test_seeds_change_the_order(monkeypatch):
    """The same seed walks the same way."""
    monkeypatch.setattr(guidance, "MOST_EDGES", 1)  # chance is all that guides
    wide = [(k, 0, (k * f + 1) % 900) for k in range(900) for f in (1, 3, 7)]

    def entered(seed):
        automaton = Explicit(900, 1, tuple(wide), known_weak=False)
        search = walks(automaton, seed, shortest=20)
        drive(search, Limits(max_states=20 * 6))
        return search.store.rows[: search.n_stored].tolist()

    assert entered(5) == entered(5)
    assert len({str(entered(seed)) for seed in range(6)}) > 1


def test_a_limit_of_states_counts_those_of_all_walks():
    """Those that are entered again are counted again."""
    search = walks(line(5000), shortest=100)
    outcome = drive(search, Limits(max_states=1000))
    assert (outcome.status, outcome.reason) == (Status.RUNNING, MAX_STATES)
    assert search.registers[Reg.VISITED] == 1000
    assert search.statistics() == {"walks": 7}  # 5 of 100, one of 400, 100 of another


def test_long_walks_find_what_is_far():
    """In the end walks are long enough for a violation 5,000 steps away."""
    outcome = outcome_of(walks(line(5000), shortest=1))
    assert outcome.status == Status.FOUND
    assert len(outcome.prefix) == 5001


PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import LTS, Network, check

meet = Network([
    LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "c", 1)]),
    LTS.from_transitions([(0, "b", 1), (1, "d", 0), (1, "a", 1)]),
])
for deadlock in ("ignore", "stutter"):
    for text in ("G(a -> F b)", "GF a", "G !d", "!(GF a & GF c)", "G(!b | Xd)"):
        for seed in (1, 2):
            v = check(meet, text, reduce="walks", deadlock=deadlock, seed=seed)
            print(text, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_kernels_run_interpreted_and_checked():
    """As plain Python, and with the bounds of arrays looked at, they do the same."""
    assert "violated" in compiled(PROGRAM)
    assert output(PROGRAM, **INTERPRETED) == compiled(PROGRAM)
    assert output(PROGRAM, **checked()) == compiled(PROGRAM)

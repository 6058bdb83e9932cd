"""Full stacks are swept: less of them, and otherwise the same search."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.search import emptiness
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.registers import Reg
from tests.complete_searches import Limits, drive
from tests.example_counts import at_least, examples
from tests.search.explicit_automata import (
    Explicit,
    automata,
    explicit,
    outcome_of,
    problem_of,
    replay,
    suits,
)

SWEPT = ["hpy96", "gmz04", "se05", "dfs-weak", "couvreur99", "rabin"]
ONE_MARK = {"hpy96", "gmz04", "se05"}


def searched(name, automaton, budget, *, sweeps):
    """Search with stacks that are full at once; return the outcome and the sweeps."""
    kind = SEARCHES[name]()
    sweep, count = kind._sweep, 0

    def counted(self):
        nonlocal count
        count += 1
        return sweep(self) if sweeps else iter(())

    with (
        mock.patch.object(emptiness, "FIRST_ENTRIES", 0),
        mock.patch.object(kind, "_sweep", counted),
    ):
        return outcome_of(kind(problem_of(automaton)), budget), count


def assert_same(name, automaton, budget):
    swept, count = searched(name, automaton, budget, sweeps=True)
    plain, _ = searched(name, automaton, None, sweeps=False)

    assert swept == plain
    if swept.prefix is not None:
        replay(automaton, swept.prefix, swept.cycle)
    return count


@pytest.mark.parametrize("name", SWEPT)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(150), deadline=None)
def test_sweeping_changes_nothing(name, data, budget):
    """Status, figures, statistics and lasso are those without it, cut anywhere."""
    assert_any_is_the_same(name, data, budget)


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEPT)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(3_000), deadline=None)
def test_sweeping_changes_nothing_by_the_thousand(name, data, budget):
    assert_any_is_the_same(name, data, budget)


def assert_any_is_the_same(name, data, budget):
    weak = name == "dfs-weak"
    automaton = data.draw(
        automata(max_states=40, state_based=name in ONE_MARK, weak=weak)
    )
    assert_same(name, automaton, budget)


def dense(seed):
    """An automaton with many successors per state, and marks on few transitions."""
    rng = np.random.default_rng(seed)
    n, degree = int(rng.integers(20, 120)), int(rng.integers(2, 12))
    n_marks = int(rng.integers(0, 4))
    of_states = bool(rng.integers(2)) or n_marks == 0
    # Few states accept, and steps go up mostly, so that much is seen.
    marks = rng.integers(0, 1 << n_marks, n) * (rng.random(n) < 0.2)
    rows = {}
    for src in range(n):
        for dst in rng.integers(0, n, degree).tolist():
            if dst <= src and rng.random() < 0.7:
                continue
            own = int(rng.integers(0, 1 << n_marks)) * (rng.random() < 0.2)
            rows[src, int(marks[src]) if of_states else own, dst] = None
    return Explicit(n, n_marks, tuple(rows))


def sparse(seed):
    """An automaton with many successors per state, each mark on one transition."""
    rng = np.random.default_rng(seed)
    n, degree = int(rng.integers(10, 60)), int(rng.integers(2, 8))
    n_marks = int(rng.integers(1, 3))
    pairs = [
        (src, dst)
        for src in range(n)
        for dst in dict.fromkeys(rng.integers(0, n, degree).tolist())
        if dst > src or rng.random() > 0.7
    ]
    marks = [0] * len(pairs)
    for mark in range(n_marks):
        marks[rng.integers(len(pairs))] |= 1 << mark
    rows = [(src, m, dst) for (src, dst), m in zip(pairs, marks, strict=True)]
    return Explicit(n, n_marks, tuple(rows))


def sweeps_of(drawn, seeds):
    """Search automata with and without sweeping; return how often each sweeps."""
    counts = dict.fromkeys(SWEPT, 0)
    for seed in seeds:
        automaton = drawn(seed)
        for name in SWEPT:
            if suits(name, automaton):
                budget = None if seed % 2 else 1 + seed % 7
                counts[name] += assert_same(name, automaton, budget)
    return counts


def test_sweeping_dense_automata():
    """The same on automata that fill their stacks over and over."""
    n = examples(40)
    assert min(sweeps_of(dense, range(n)).values()) >= at_least(n // 20 + 1)


def test_sweeping_where_one_transition_has_the_mark():
    """It waits while its state becomes known, and is not taken off the stack."""
    assert sweeps_of(sparse, range(60))["couvreur99"] > 60


@pytest.mark.slow
def test_sweeping_thousands_of_dense_automata():
    assert min(sweeps_of(dense, range(200, 4_000)).values()) > 190
    assert sweeps_of(sparse, range(200, 4_000))["couvreur99"] > 190


@pytest.mark.parametrize("name", ["se05", "dfs-weak", "couvreur99"])
def test_a_stack_has_no_more_entries_than_states(name):
    """Fifty successors each, none of them a state's alone: five bytes of stack."""
    n, degree = 20_000, 50
    ends = np.random.default_rng(0).integers(0, n, (n, degree))
    edges = [(i, int(j)) for i in range(n) for j in ends[i] if j > i]
    edges += [(i, i + 1) for i in range(n - 1)]
    graph = explicit(n, list(dict.fromkeys(edges)), set(), weak=True)
    search = SEARCHES[name]()(problem_of(graph))
    drive(search, Limits())

    assert search.registers[Reg.VISITED] == n
    assert search.arrays.stack.shape[0] < 2.5 * n

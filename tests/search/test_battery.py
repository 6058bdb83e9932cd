"""One battery over every emptiness check, on explicit automata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.search.registers import Status
from tests.search.explicit_automata import (
    LOOKS_TWICE,
    NAMES,
    automata,
    explicit,
    replay,
    run,
    suits,
)

ANY = st.one_of(automata(), automata(state_based=True), automata(weak=True))


@pytest.mark.parametrize("name", NAMES)
@given(automaton=ANY)
def test_agrees_with_transitive_closure(name, automaton):
    """FOUND iff a reachable SCC has every mark; the lasso is an accepting run."""
    if not suits(name, automaton):
        return
    outcome = run(name, automaton)

    assert (outcome.status == Status.FOUND) == automaton.has_accepting_cycle()
    if outcome.status == Status.FOUND:
        replay(automaton, outcome.prefix, outcome.cycle)


@pytest.mark.parametrize("name", NAMES)
@given(automaton=ANY, budget=st.integers(1, 5))
def test_where_a_step_stops_changes_nothing(name, automaton, budget):
    """Status, statistics and lasso are those of the uncut search."""
    if not suits(name, automaton):
        return
    assert run(name, automaton, max_budget=budget) == run(name, automaton)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("n_states", "edges", "accepting", "states", "prefix", "cycle"),
    [
        (1, [(0, 0)], {0}, 1, (0,), (0, 0)),
        (3, [(0, 1), (1, 2), (2, 0)], {0}, 3, (0,), (0, 1, 2, 0)),
        (3, [(0, 1), (1, 2), (2, 0)], {1}, 3, (0,), (0, 1, 2, 0)),
        (3, [(0, 1), (1, 2), (2, 1)], {2}, 3, (0, 1), (1, 2, 1)),
        (4, [(0, 1), (1, 2), (2, 3), (3, 1), (2, 1)], {1}, None, (0, 1), (1, 2, 1)),
    ],
    ids=["self-loop", "ring-first", "ring-second", "prefix", "shortcut"],
)
def test_known_lassos(name, n_states, edges, accepting, states, prefix, cycle):
    """Lassos are short: the nearest entry and a shortest cycle."""
    automaton = explicit(n_states, edges, accepting)
    if not suits(name, automaton):
        pytest.skip("not weak")
    outcome = run(name, automaton)

    assert (outcome.prefix, outcome.cycle) == (prefix, cycle)
    assert states is None or outcome.states == states


@pytest.mark.parametrize("name", NAMES)
def test_an_accepting_state_on_no_cycle_is_no_run(name):
    """A trivial SCC accepts nothing, whatever its mark."""
    outcome = run(name, explicit(3, [(0, 1), (1, 2), (2, 2)], {0, 1}))

    assert outcome.status == Status.EMPTY
    assert outcome.states == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_state_without_successors_is_no_run(name):
    """A finite run accepts nothing."""
    assert run(name, explicit(1, [], {0})).status == Status.EMPTY


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("name", NAMES)
def test_arrays_grow_in_the_middle_of_a_search(name):
    """A path of 100,000 states with a cycle at its end outgrows every array."""
    n = 100_000
    edges = [(i, i + 1) for i in range(n - 1)]
    empty = run(name, explicit(n, edges, {n - 1}, weak=True))
    closed = explicit(n, [*edges, (n - 1, n - 2)], {n - 1, n - 2}, weak=True)
    found = run(name, closed)

    assert (empty.status, empty.states, empty.max_depth) == (Status.EMPTY, n, n)
    assert empty.transitions == (n - 1) * (1 + (name in LOOKS_TWICE))
    assert found.status == Status.FOUND
    assert len(found.prefix) == n - 1
    assert len(found.cycle) == 3

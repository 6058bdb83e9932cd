"""Long rows: successors that are stored a few at a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import dining
from ltlpipe import check
from ltlpipe.search.registers import Status
from ltlpipe.search.scc import couvreur99
from ltlpipe.search.scc.couvreur99 import Couvreur99
from tests.example_counts import examples
from tests.search.explicit_automata import automata, outcome_of, problem_of, replay


def outcome(automaton, batch, budget=None):
    """Of a search that stores `batch` successors at once; 0 for all."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(couvreur99, "LONG_ROW", 1 if batch else 1 << 30)
        patched.setattr(couvreur99, "BATCH_WORDS", batch)
        search = Couvreur99(problem_of(automaton))
        assert (search.arrays.lazy is not None) == (batch > 0)
        return outcome_of(search, budget)


@given(automata(max_states=12), st.integers(1, 3), st.none() | st.integers(1, 4))
@settings(max_examples=examples(200))
def test_agrees_with_all_at_once(automaton, batch, budget):
    """FOUND iff there is an accepting cycle; else all states are entered once."""
    found = outcome(automaton, batch, budget)

    assert (found.status == Status.FOUND) == automaton.has_accepting_cycle()
    if found.status == Status.FOUND:
        replay(automaton, found.prefix, found.cycle)
    else:
        whole = outcome(automaton, 0)
        assert (found.states, found.transitions) == (whole.states, whole.transitions)


@pytest.mark.slow
@given(automata(max_states=30), st.integers(1, 5), st.none() | st.integers(1, 4))
@settings(max_examples=examples(3000))
def test_thousands_agree_with_all_at_once(automaton, batch, budget):
    found = outcome(automaton, batch, budget)
    assert (found.status == Status.FOUND) == automaton.has_accepting_cycle()


def test_many_philosophers():
    """Of thousands of successors of a state with a long row few wait."""
    asked = {"reduce": "none", "emptiness": "couvreur99", "lasso": False}
    found = check(dining(600), "!F(eat1 >= 1 && think2 >= 1)", **asked)
    assert found.verdict == "violated"
    assert found.stats.transitions <= 200 * found.stats.states

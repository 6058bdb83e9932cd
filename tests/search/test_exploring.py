"""Explorations of whole products, and their Fin transitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.automata.conditions import fin, inf
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.registers import Reg, Status
from ltlpipe.verdict.checking import product_size
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import conditions
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
@settings(max_examples=examples(200))
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
        progress=lambda *_: search.assert_consistent(),
    )

    states = reachable(automaton)
    there = [t for t in automaton.transitions if t[0] in states]
    bits = 0 if condition is None else condition.fin_marks
    assert outcome.status == Status.EMPTY
    assert search.registers[Reg.VISITED] == len(states) == search.n_stored
    assert search.registers[Reg.TRANSITIONS] == len(there)
    assert search.fin_transitions == sum(t[1] & bits != 0 for t in there)
    assert search.visited().all()


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


def test_a_large_system():
    """Arrays grow; the numbers are those of a complete search."""
    network = philosophers(7)
    size = product_size(network, None, acceptance="auto", reduce="none")
    stats = check(network, empty=True, emptiness="couvreur99", reduce="none").stats
    assert size[:2] == (stats.states, stats.transitions)
    assert size.fin_share is None


def test_the_share_of_a_product():
    """Fin of a step that is taken now and then: as many transitions as it has."""
    network = philosophers(3)
    size = product_size(network, parse("GF eat0"), acceptance="tgra", reduce="none")
    whole = product_size(network, None, acceptance="auto", reduce="none")
    assert 0 < size.fin_transitions < size.transitions
    assert size.fin_share == size.fin_transitions / size.transitions
    assert size[:2] == whole[:2]  # the automaton has one state
    one = {"max_states": 1, "reduce": "none"}
    assert product_size(network, None, acceptance="auto", **one) is None

"""What Schwoon & Esparza 2005 prove of the searches, on random automata."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ltlpipe.search.registers import Status
from tests.example_counts import examples
from tests.search.explicit_automata import NAMES, automata, run

NESTED = ["cvwy92", "hpy96", "gmz04", "se05", "tauriainen03"]
EARLY = ["couvreur99", "couvreur99-fig5", "gv04"]
WEAK = ["se05", "dfs-weak", *EARLY]
WITH_FIN = ["rabin", "rabin-parallel", "tela"]
OF_WORKERS = ["ufscc", "cndfs"]

BUCHI = automata(max_states=12, state_based=True)


def runs(automaton, names):
    return {name: run(name, automaton) for name in names}


def assert_relations(automaton):
    """The relations that hold for state-based Büchi acceptance."""
    seen = runs(automaton, [*NESTED, *EARLY, "tarjan72"])
    verdicts = {outcome.status for outcome in seen.values()}
    assert len(verdicts) == 1
    early = seen["couvreur99"]
    for name in EARLY:  # Sec. 4.3
        assert (seen[name].states, seen[name].max_depth) == (
            early.states,
            early.max_depth,
        )
    assert seen["gv04"].transitions == early.transitions
    assert early.transitions <= seen["couvreur99-fig5"].transitions
    assert seen["couvreur99-fig5"].transitions <= 2 * early.transitions
    for name in (*NESTED, "tarjan72"):  # Sec. 4: minimal exploration
        assert early.states <= seen[name].states, name
    assert seen["se05"].states <= seen["hpy96"].states  # Sec. 3.2
    assert seen["se05"].states <= seen["gmz04"].states
    assert seen["hpy96"].states <= seen["cvwy92"].states
    assert seen["gmz04"].states <= seen["hpy96"].states
    roots = dict(early.details)["max_roots"]
    current = dict(seen["gv04"].details)["max_current"]
    assert roots <= early.max_depth <= current  # Sec. 4.3
    if verdicts == {Status.EMPTY}:  # everything is explored, Sec. 7
        assert len({outcome.states for outcome in seen.values()}) == 1
        once = early.transitions
        assert seen["tarjan72"].transitions == once
        assert seen["couvreur99-fig5"].transitions == 2 * once
        assert 2 * once <= seen["gmz04"].transitions <= 3 * once
        assert seen["se05"].transitions == seen["hpy96"].transitions <= 2 * once


@given(BUCHI)
@settings(max_examples=examples(300))
def test_who_visits_how_much(automaton):
    """States, depths, transitions and stacks compare as the paper says."""
    assert_relations(automaton)


@pytest.mark.slow
@given(automata(max_states=40, state_based=True))
@settings(max_examples=examples(3000))
def test_who_visits_how_much_by_the_thousand(automaton):
    """The same, on larger automata."""
    assert_relations(automaton)


@given(automata(max_states=12, weak=True))
@settings(max_examples=examples(300))
def test_weak_automata_need_no_second_search(automaton):
    """Sec. 5.1: the simple DFS and all early searches visit the same states."""
    seen = runs(automaton, WEAK)
    assert len({(o.status, o.states) for o in seen.values()}) == 1
    # The red searches of se05 may go deeper, also those before the one that finds.
    early = {o.max_depth for name, o in seen.items() if name != "se05"}
    assert len(early) == 1
    assert {seen["se05"].max_depth} >= early or seen["se05"].max_depth > max(early)
    assert seen["dfs-weak"].transitions == seen["couvreur99"].transitions


@given(automata(max_states=10, max_marks=5))
@settings(max_examples=examples(300))
def test_generalised_searches(automaton):
    """Sec. 5.2: at most n + 1 visits of a state, and never less than couvreur99."""
    early, nested = run("couvreur99", automaton), run("tauriainen03", automaton)
    n_marks = max(automaton.n_marks, 1)
    assert nested.status == early.status
    assert early.states <= nested.states
    assert dict(nested.details)["red_visits"] <= n_marks * nested.states
    assert nested.transitions <= (n_marks + 2) * max(
        len(automaton.transitions), early.transitions
    )


@given(automata(max_states=10, max_marks=5))
@settings(max_examples=examples(300))
def test_without_fin_all_are_one_search(automaton):
    """rabin and tela look at what couvreur99 looks at, in the same order."""
    early = run("couvreur99", automaton)
    for name in WITH_FIN:
        other = run(name, automaton)
        assert (other.status, other.states, other.transitions, other.max_depth) == (
            early.status,
            early.states,
            early.transitions,
            early.max_depth,
        )
        assert (other.prefix, other.cycle) == (early.prefix, early.cycle)


@given(BUCHI)
@settings(max_examples=examples(300))
def test_one_worker_looks_at_what_others_do(automaton):
    """Once, if it finds SCCs, and at most twice if it nests searches."""
    seen = runs(automaton, ["couvreur99", *OF_WORKERS])
    early = seen["couvreur99"]
    for name in OF_WORKERS:
        assert seen[name].status == early.status
        assert early.states <= seen[name].states
    if early.status == Status.EMPTY:
        assert {outcome.states for outcome in seen.values()} == {early.states}
        assert seen["ufscc"].transitions == early.transitions
        assert seen["cndfs"].transitions <= 2 * early.transitions


def test_every_search_is_compared():
    """A new one has to say where it belongs."""
    others = {"tarjan72", "reach-terminal", *WITH_FIN, *OF_WORKERS}
    assert {*NESTED, *EARLY, *WEAK, *others} == set(NAMES)

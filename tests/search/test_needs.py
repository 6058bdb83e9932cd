"""Ways of components to actions, and walks that prefer what makes them shorter."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, check
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search import needs
from ltlpipe.search.guidance import FAR, aims
from ltlpipe.search.needs import (
    COMMON,
    MOST_NEEDED,
    goals_of,
    needed,
    needs_of,
    setbacks_of,
)
from ltlpipe.systems.networks.packing import pack_network
from tests.example_counts import examples
from tests.search.explicit_automata import Explicit, table_of


@njit
def steps_needed(tables, row, state, wanted):
    """What Python may call."""
    return needed(tables, row, state, wanted)


def waiting(n_letters, goals, setbacks=()):
    """An automaton whose state 0 waits for letters, with marks or for state 1.

    Letters of `setbacks` lead from there to where nothing is accepted.
    """
    rows = [[] for _ in range(3 * n_letters)]
    marked = any(marks for _, marks in goals)
    for letter in range(n_letters):
        rows[letter] = [(2, 0)] if letter in setbacks else [(0, 0)]
        rows[n_letters + letter] = [(1, 0 if marked else 3)]
        rows[2 * n_letters + letter] = [(2, 0)]
    for letter, marks in goals:
        rows[letter].append((0, marks) if marks else (1, 0))
    first = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    dst, marks = np.array([edge for row in rows for edge in row]).T
    return PropertyAutomaton(
        3, 0, n_letters, first, dst.astype(np.int32), marks.astype(np.uint32), 2, False
    )


def tables(network, goals, setbacks=()):
    """The packed network, and its needs for goals; letter k + 1 is of action k."""
    n = len(network.actions)
    letters = np.arange(1, n + 1, dtype=np.int32)
    packed = complete(pack_network(network, letters))
    automaton = waiting(n + 1, goals, setbacks)
    far, ticks = aims(automaton), Ticks("testing")
    return packed, complete(needs_of(network, packed, letters, automaton, far, ticks))


def own_way(network, p, state, action, banned):
    """Return the steps of a component to an action, and the first in common (slow)."""
    lts, numbers = network.components[p], network.label_actions[p]
    rows = zip(lts.src, lts.label, lts.dst, strict=True)
    moves = [(s, numbers[label], t) for s, label, t in rows]
    best, firsts, heap = {}, set(), [(0, state, -1)]
    while heap:
        steps, at, first = heapq.heappop(heap)
        if steps > best.get("goal", MOST_NEEDED) or steps > best.get(at, steps):
            continue
        best[at] = steps
        if any(s == at and a == action for s, a, _ in moves):
            best["goal"] = steps
            firsts.add(first)
            continue
        for s, a, t in moves:
            if s == at and a != banned:
                common = len(network.actions[a].participants) > 1
                after = a if common and first < 0 else first
                heapq.heappush(heap, (steps + (COMMON if common else 1), int(t), after))
    return best.get("goal", MOST_NEEDED), firsts or {-1}


COMPONENT = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abcxyz"), st.integers(0, 4)),
    min_size=1,
    max_size=9,
)


def component(rows, k):
    """A component whose labels x, y and z are its own."""
    named = [(s, a if a in "abc" else f"{a}{k}", t) for s, a, t in rows]
    return LTS.from_transitions(named, n_states=5)


@given(st.lists(COMPONENT, min_size=1, max_size=3), st.integers(0, 8))
@settings(max_examples=examples(150))
def test_ways_agree_with_a_search_in_each_component(rows, banned):
    """Shortest ways of all reachable states to all actions that are asked for."""
    network = Network([component(some, k) for k, some in enumerate(rows)])
    n = len(network.actions)
    goals = [(a + 1, 0) for a in range(n) if a != banned]
    packed, found = tables(network, goals, {banned + 1} if banned < n else ())
    if not goals:
        assert not len(found.first_goal)
        return
    for action, its in enumerate(network.actions):
        first, end = found.first_part[action : action + 2]
        assert end - first in (len(its.participants), 0)
        for part in range(first, end):
            p = found.component[part]
            assert p == its.participants[part - first]
            for value, state in enumerate(packed.local_states[p].tolist()):
                at = found.base[0] + found.cells[part, 3] + value
                steps, firsts = own_way(network, p, state, action, banned)
                assert found.steps[at] == steps
                assert found.common[at] in firsts


def ring(labels):
    """A component that takes some labels one after another, for ever."""
    n = len(labels)
    rows = [(k, label, (k + 1) % n) for k, label in enumerate(labels)]
    return LTS.from_transitions(rows)


def test_others_are_asked_for_the_first_action_in_common():
    """2 of the first to m, 3 for m, 1 to a; m needs 4 of the second."""
    network = Network([ring("ppmqa"), ring("rstum")])
    a = network.action_index["a"] + 1
    packed, found = tables(network, [(a, 0)])

    assert steps_needed(found, packed.initial, 0, np.uint32(0)) == 2 + COMMON + 1 + 4


def test_goals_for_marks_count_while_these_are_wanted():
    """Mark 0 with b, which is one step away, mark 1 with c, which is two."""
    network = Network([ring("abc")])
    b, c = (network.action_index[name] + 1 for name in "bc")
    packed, found = tables(network, [(b, 1), (c, 2)])

    asked = [steps_needed(found, packed.initial, 0, np.uint32(m)) for m in (3, 1, 2, 0)]
    assert asked == [1, 1, 2, 0]
    assert steps_needed(found, packed.initial, 1, np.uint32(3)) == 0


def test_goals_of_an_automaton():
    """What leads nearer, or has marks that not all actions have."""
    one = table_of(Explicit(3, 2, ((0, 0, 0), (0, 0, 1), (1, 1, 1), (1, 2, 1))))
    assert goals_of(one, np.array([1, 0, 1])) == [[], [], []]  # its letter is OTHER

    first = np.array([0, 1, 3, 5, 6, 7, 7], dtype=np.int32)  # two letters
    dst = np.array([0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    marks = np.array([0, 0, 0, 1, 1, 3, 0], dtype=np.uint32)
    edges = {"first_edge": first, "edge_dst": dst, "edge_marks": marks}
    two = replace(one, n_letters=2, **edges)
    # 0 waits for letter 1; 1 has mark 0 anyway, and waits for mark 1; 2 is brought near
    assert goals_of(two, np.array([1, 0, 1])) == [[(1, 0)], [(1, 3)], []]
    assert goals_of(two, np.array([FAR, FAR, FAR])) == [[], [], []]


def test_setbacks_of_an_automaton():
    """Letters whose transitions all lead farther away, or that have none."""
    automaton = waiting(4, [(1, 0), (3, 0)], setbacks={2, 3})
    assert setbacks_of(automaton, np.array([1, 0, FAR])) == [{2}, set(), set()]
    none = replace(automaton, first_edge=np.zeros(13, dtype=np.int32))
    assert setbacks_of(none, np.array([1, 0, FAR])) == 3 * [{1, 2, 3}]


def test_large_tables_are_left_out(monkeypatch):
    """Then nothing is known of what is needed."""
    network = Network([ring("abc")])
    monkeypatch.setattr(needs, "MOST_ENTRIES", 2)
    assert not len(tables(network, [(2, 0)])[1].first_goal)
    monkeypatch.setattr(needs, "MOST_ENTRIES", 3)
    assert len(tables(network, [(2, 0)])[1].first_goal)


@pytest.mark.parametrize("seed", [3, 5])
def test_deep_violations_are_found_by_short_walks(seed):
    """What the planned run of 30 components violates needs few states."""
    network, _ = rers_network(30, style="random-pairs", seed=seed)
    text = {3: "G(a338 -> G !a174)", 5: "!a57 W a266"}[seed]
    found = check(network, text, reduce="alphabet,factoring,walks", max_states=2_000)
    assert found.verdict == "violated"
    assert len(found.lasso.actions) < 60

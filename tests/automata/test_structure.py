"""Weak and terminal automata, recognised through Spot and by their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.automata.structure import (
    Draft,
    accepting_something,
    structure_of,
    table_of,
    without_letters,
)
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.logic.formulas import parse
from tests.example_counts import examples
from tests.hypothesis_strategies import (
    conditions,
    hoa_automata,
    marked_cells,
    tela_tables,
)
from tests.oracles import accepts, reaches

ACTIONS = ("a", "b", "c")


@st.composite
def tables(draw, *, max_states=5, n_letters=2, max_marks=2, max_edges=2):
    """Cells of a generalised Büchi automaton with initial state 0."""
    n = draw(st.integers(1, max_states))
    n_marks = draw(st.integers(0, max_marks))
    cells = draw(marked_cells(n, n * n_letters, n_marks, max_edges=max_edges))
    return cells, n_letters, n_marks


def cycles(cells, n_letters, inside):
    """Every set of marks that some closed walk inside a set of states collects.

    Walks go over pairs of a state and the marks seen so far.
    """
    steps = {
        state: {
            edge
            for cell in cells[state * n_letters : (state + 1) * n_letters]
            for edge in cell
            if edge[0] in inside
        }
        for state in inside
    }
    collected = set()
    for start in inside:
        seen = set()
        todo = [(dst, marks) for dst, marks in steps[start]]
        while todo:
            state, marks = todo.pop()
            if (state, marks) in seen:
                continue
            seen.add((state, marks))
            if state == start:
                collected.add(marks)
            todo += [(dst, marks | more) for dst, more in steps[state]]
    return collected


def sccs(cells, n_letters):
    """The SCCs that can be reached, trivial ones left out."""
    n = len(cells) // n_letters
    followers = [
        {dst for cell in cells[s * n_letters : (s + 1) * n_letters] for dst, _ in cell}
        for s in range(n)
    ]
    return {
        frozenset(
            t for t in range(n) if reaches(followers, s, t) and reaches(followers, t, s)
        )
        for s in range(n)
        if reaches(followers, s, s) and (s == 0 or reaches(followers, 0, s))
    }


@given(tables())
def test_against_the_definitions(table):
    """Weak: no SCC has both kinds of cycles; terminal: accepting ones are closed."""
    cells, n_letters, n_marks = table
    full = (1 << n_marks) - 1
    kinds = {
        scc: {marks == full for marks in cycles(cells, n_letters, scc)}
        for scc in sccs(cells, n_letters)
    }
    draft = Draft(cells, n_letters=n_letters, initial=0, n_marks=n_marks)
    weak, terminal, accepting_states = structure_of(draft)

    assert weak == all(len(kind) == 1 for kind in kinds.values())
    accepting = {state for scc, kind in kinds.items() if True in kind for state in scc}
    assert accepting_states == accepting
    stays = all(
        any(dst in accepting for dst, _ in cell)
        for state in accepting
        for cell in cells[state * n_letters : (state + 1) * n_letters]
    )
    assert terminal == (weak and stays)


@given(tables(max_marks=3), st.data())
def test_against_the_definitions_with_any_condition(table, data):
    """The same, where cycles accept by a condition with Fin."""
    cells, n_letters, n_marks = table
    condition = data.draw(conditions(max(n_marks, 1)))
    if n_marks == 0:
        condition = condition.within(0)
    kinds = {
        scc: {condition.satisfied_by(m) for m in cycles(cells, n_letters, scc)}
        for scc in sccs(cells, n_letters)
    }
    weak, _, accepting_states = structure_of(
        Draft(
            cells, n_letters=n_letters, initial=0, n_marks=n_marks, condition=condition
        )
    )

    assert weak == all(len(kind) == 1 for kind in kinds.values())
    accepting = {state for scc, kind in kinds.items() if True in kind for state in scc}
    assert accepting_states == accepting
    followers = [
        {dst for cell in cells[s * n_letters : (s + 1) * n_letters] for dst, _ in cell}
        for s in range(len(cells) // n_letters)
    ]
    useful = {
        s
        for s in range(len(followers))
        if (s == 0 or reaches(followers, 0, s))
        and (s in accepting or any(reaches(followers, s, t) for t in accepting))
    }
    assert accepting_something(Draft(cells, n_letters, 0, n_marks, condition)) == useful


@given(tables(max_marks=3) | tables(max_states=2, max_marks=3, max_edges=5), st.data())
@settings(max_examples=examples(300))
def test_tables_accept_as_their_cells_do(table, data):
    """Simplifying the condition and dropping transitions changes no word."""
    cells, n_letters, n_marks = table
    condition = data.draw(conditions(max(n_marks, 1)))
    simplified = table_of(
        Draft(
            cells, n_letters=n_letters, initial=0, n_marks=n_marks, condition=condition
        )
    )
    plain = PropertyAutomaton(
        n_states=len(cells) // n_letters,
        initial=0,
        n_letters=n_letters,
        first_edge=np.cumsum([0, *map(len, cells)]),
        edge_dst=np.array([dst for cell in cells for dst, _ in cell]),
        edge_marks=np.array([marks for cell in cells for _, marks in cell]),
        n_marks=n_marks,
        state_based=False,
        condition=condition,
    )
    event(f"weak: {simplified.weak}, {simplified.condition is None}")
    for k in range(2):
        for m in range(1, 5):
            for word in product(range(n_letters), repeat=k + m):
                prefix, cycle = list(word[:k]), list(word[k:])
                expected = accepts(plain, prefix, cycle)
                assert accepts(simplified, prefix, cycle) == expected


@given(tela_tables(), st.sets(st.integers(1, 3), min_size=1, max_size=3))
def test_without_letters(table, dropped):
    """Words of the letters that are left keep what they are."""
    left = [letter for letter in range(4) if letter not in dropped]
    fewer = without_letters(table, dropped)

    assert fewer.n_letters == len(left)
    for m in range(1, 5):
        for word in product(range(len(left)), repeat=m):
            expected = accepts(
                table,
                [left[letter] for letter in word[:1]] * (m > 1),
                [left[letter] for letter in word],
            )
            assert accepts(fewer, list(word[:1]) * (m > 1), list(word)) == expected


@pytest.mark.parametrize("acceptance", ["tgra", "tfla", "tela"])
@given(word=st.lists(st.integers(0, 7), min_size=1, max_size=5))
def test_marks_of_the_system_with_any_condition(acceptance, word):
    """Violations of GF a -> FG b, with both marks of the system again and again."""
    table = table_over_actions(
        parse("GF a -> FG b"), acceptance, ("a",), system_marks=2
    )
    violated = any(letter >> 2 == 1 for letter in word)  # a again and again, b never
    marks = {bit for letter in word for bit in (0, 1) if letter >> bit & 1}

    assert accepts(table, [], word) == (violated and marks == {0, 1})


@pytest.mark.parametrize(
    ("formula", "weak", "terminal"),
    [
        ("G !a", True, True),
        ("a W b", True, True),
        ("G(a -> F b)", True, False),
        ("GF a", True, False),
        ("FG a", False, False),
        ("GF a -> GF b", False, False),
        ("!(GF a & GF b)", False, False),
        ("1", True, True),
        ("0", True, True),
    ],
)
@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
def test_violations_of_formulas(formula, weak, terminal, acceptance):
    """The negations of safety formulas are terminal, those of recurrence weak."""
    table = table_over_actions(parse(formula), acceptance, ACTIONS)

    assert (table.weak, table.terminal) == (weak, terminal)
    if weak:
        assert table.state_based
        assert table.n_marks <= 1


@given(st.sampled_from(["weak", "terminal", "inherently weak"]), st.data())
def test_weak_automata_stay_weak(kind, data):
    """Whatever Spot makes of them, one mark on states is enough."""
    (automaton,) = parse_automata(data.draw(hoa_automata(kind)), "random.hoa")
    table = table_over_actions(automaton, "tgba", ACTIONS)

    assert table.weak
    assert table.state_based
    assert table.n_marks <= 1


def test_terminal_under_one_action_at_a_time():
    """Complete over the letters that there are, not over all sets of them."""
    text = (
        'HOA: v1\nStates: 2\nStart: 0\nAP: 2 "a" "b"\nAcceptance: 1 Inf(0)\n--BODY--\n'
        "State: 0\n[0&1] 0\n[!0] 0\n[0&!1] 1\n"
        "State: 1 {0}\n[0&!1] 1\n[!0&1] 1\n[!0&!1] 1\n--END--\n"
    )
    (automaton,) = parse_automata(text, "x.hoa")
    table = table_over_actions(automaton, "ba", ("a", "b"))

    assert table.terminal


def test_marks_of_the_system_in_the_letters():
    """One mark sees to the formula and to two marks of the system."""
    table = table_over_actions(parse("FG a"), "ba", ("a",), system_marks=2)

    assert (table.n_letters, table.n_marks, table.system_marks) == (8, 1, 2)
    assert table.state_based
    assert not table.weak

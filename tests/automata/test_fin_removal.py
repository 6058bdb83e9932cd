"""Removal of Fin against Spot, against words, and against Prop. 1 as it stands.

The paper is V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.automata.conditions import (
    Clause,
    conjunction,
    disjunction,
    fin,
    from_clauses,
    inf,
    marks_in,
    normal_form,
    parse_condition,
)
from ltlpipe.automata.fin_removal import (
    Step,
    decompose,
    fin_less,
    generalised_rabin,
    remove_fin,
    without_fin,
)
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.structure import Draft, cells_of, table_of
from ltlpipe.automata.translation import table_over_actions, translate
from ltlpipe.logic.formulas import parse
from tests.automata.spot_tables import (
    SHORT_WORDS,
    as_spot,
    over_actions,
    small_complement,
)
from tests.example_counts import examples
from tests.hypothesis_strategies import generalised_rabin as rabin_conditions
from tests.hypothesis_strategies import tela_tables
from tests.oracles import accepts, reaches


def prop_1(table):
    """Bloemen et al. 2019, Prop. 1, by the letter, for pairs that all have Inf."""
    clauses = normal_form(table.condition)
    n, k = table.n_states, table.n_letters
    cells = [list(cell) for cell in cells_of(table)]
    copied = [[(dst, 0) for dst, _ in cell] for cell in cells]
    acceptance, n_marks = [], 0
    for i, clause in enumerate(clauses, start=1):
        old = marks_in(clause.inf)
        new = {mark: n_marks + j for j, mark in enumerate(old)}
        n_marks += len(old)
        acceptance.append(Clause(0, sum(1 << mark for mark in new.values())))
        copied += [[] for _ in cells]
        for at, cell in enumerate(cells):
            for dst, marks in cell:
                if marks & clause.fin:
                    continue
                carried = sum(1 << new[mark] for mark in old if marks >> mark & 1)
                copied[at].append((dst + i * n, 0))
                copied[at + i * n * k].append((dst + i * n, carried))
    return table_of(
        Draft(
            copied,
            n_letters=k,
            initial=table.initial,
            n_marks=n_marks,
            condition=from_clauses(acceptance),
        )
    )


def assert_same_language(table, other):
    """By complements where Spot finds small ones, else by all short words."""
    like = over_actions()
    left, right = as_spot(table, like), as_spot(other, like)
    for one, two in [(left, right), (right, left)]:
        complement = small_complement(one)
        if complement is not None:
            assert not complement.intersects(two)
        else:
            for prefix, cycle in SHORT_WORDS:
                expected = accepts(table, prefix, cycle)
                assert accepts(other, prefix, cycle) == expected


def assert_removed(table):
    """No Fin is left, the language is the same, and the size within Prop. 1's."""
    made = without_fin(table)
    assert made.condition is None or not made.condition.fin_marks
    clauses = normal_form(table.condition) if table.condition else ()
    n_pairs = sum(clause.fin > 0 for clause in clauses)
    assert made.n_states <= table.n_states * (1 + n_pairs)
    assert_same_language(table, made)


PAIRS = tela_tables(condition=rabin_conditions(5))


@given(tela_tables() | PAIRS)
@settings(max_examples=examples(200))
def test_spot_finds_the_same_language(table):
    assert_removed(table)


@pytest.mark.slow
@given(tela_tables(max_states=6, n_marks=6))
@settings(max_examples=examples(5000))
def test_spot_finds_the_same_language_by_the_thousand(table):
    assert_removed(table)


WORDS = st.tuples(
    st.lists(st.integers(0, 3), max_size=3),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
)


@given(tela_tables() | PAIRS, st.lists(WORDS, min_size=5, max_size=5))
@settings(max_examples=examples(200))
def test_accepts_the_same_words(table, words):
    """By the definition of acceptance, without Spot."""
    made = without_fin(table)
    if table.condition is None:
        assert made is table
        return
    pairs = from_clauses(normal_form(table.condition))
    normal = table_of(
        Draft(
            cells_of(table),
            n_letters=table.n_letters,
            initial=0,
            n_marks=table.n_marks,
            condition=pairs,
        )
    )
    for prefix, cycle in words:
        expected = accepts(table, prefix, cycle)
        assert accepts(made, prefix, cycle) == expected
        assert accepts(normal, prefix, cycle) == expected


@given(PAIRS)
@settings(max_examples=examples(200))
def test_agrees_with_proposition_1(table):
    """The same language as the paper's construction, and never more states."""
    assume(table.condition is not None)
    assume(all(clause.inf for clause in normal_form(table.condition)))
    literal, made = prop_1(table), without_fin(table)

    assert made.n_states <= literal.n_states
    assert_same_language(literal, made)


@given(PAIRS)
@settings(max_examples=examples(200))
def test_clones_accept_where_they_are(table):
    """Each clone lies on a cycle of its clone that satisfies the condition."""
    assume(table.condition is not None)
    steps = [
        Step(at // table.n_letters, dst, marks)
        for at, cell in enumerate(cells_of(table))
        for dst, marks in cell
    ]
    made = remove_fin(steps, table.n_states, 0, normal_form(table.condition))
    clones = range(table.n_states, made.n_states)
    inside = [t for t in made.transitions if t.src in clones]
    assert all(t.dst in clones for t in inside)
    for clone in clones:
        followers = [
            {t.dst for t in inside if t.src == s} for s in range(made.n_states)
        ]
        assert reaches(followers, clone, clone)
        scc = {t for t in clones if reaches(followers, t, clone)}
        scc &= {t for t in clones if reaches(followers, clone, t)}
        seen = 0
        for t in inside:
            seen |= t.marks if t.src in scc and t.dst in scc else 0
        assert made.condition.satisfied_by(seen)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14),
    st.sets(st.integers(0, 13)),
)
@settings(max_examples=examples(300))
def test_sccs(pairs, chosen):
    """By reachability; and without the back transitions no cycle is left."""
    steps = [Step(src, dst, 0) for src, dst in pairs]
    taken = sorted(chosen & set(range(len(steps))))
    found = decompose(steps, taken, [0])
    followers = [{steps[i].dst for i in taken if steps[i].src == s} for s in range(6)]
    met = {s for s in range(6) if s == 0 or reaches(followers, 0, s)}
    expected = {
        i
        for i in taken
        if steps[i].src in met and reaches(followers, steps[i].dst, steps[i].src)
    }
    expected |= {i for i in taken if steps[i].src in met & {steps[i].dst}}
    assert sorted(i for scc in found.inside for i in scc) == sorted(expected)
    for scc in found.inside:
        states = {steps[i].src for i in scc}
        assert all(s == t or reaches(followers, s, t) for s in states for t in states)
    left = [set() for _ in range(6)]
    for i in expected - found.back:
        left[steps[i].src].add(steps[i].dst)
    assert not any(reaches(left, s, s) for s in range(6))


def test_without_inf_the_letter_of_proposition_1_accepts_everything():
    """Footnote to the construction: a co-Büchi automaton of FG a."""
    table = table_over_actions(parse("!FG a"), "tela", ("a",))
    assert str(table.condition) == "Fin(0)"

    assert prop_1(table).acceptance == "t"
    made = without_fin(table)
    assert accepts(made, [0], [1])
    assert not accepts(made, [1], [0, 1])


# A_4 has two states in one SCC and two pairs, the first of which is satisfied by
# the loop of state 0 alone (Sec. 2).  The text does not list its transitions; this
# automaton has what the text says of it.
A_4 = """HOA: v1
States: 2
Start: 0
AP: 2 "a" "b"
Acceptance: 4 (Fin(0)&Inf(1)) | (Fin(2)&Inf(1)&Inf(3))
--BODY--
State: 0
[!0&1] 0 {1}
[0&1] 0 {1 3}
[!0&!1] 1 {0}
[0&!1] 1 {0 3}
State: 1
[!0&!1] 1 {0}
[0&!1] 1 {0 3}
[!0&1] 0 {0 1}
[0&1] 0 {0 1 3}
[t] 0 {0 2}
--END--
"""


def a_4():
    (automaton,) = parse_automata(A_4, "a4.hoa")
    return automaton


def test_section_2_a_1():
    """GF a & GF b: one state, deterministic, two marks."""
    import spot

    automaton = translate(parse("GF a & GF b"), "tgba")
    assert (automaton.num_states(), automaton.num_sets()) == (1, 2)
    assert spot.is_deterministic(automaton)


def test_section_2_a_2_and_a_3():
    """FG a: two states with Büchi acceptance, one deterministic with co-Büchi."""
    import spot

    a_2, a_3 = (translate(parse("FG a"), kind) for kind in ("tgba", "tela"))
    assert (a_2.num_states(), str(a_2.get_acceptance())) == (2, "Inf(0)")
    assert not spot.is_deterministic(a_2)
    assert (a_3.num_states(), str(a_3.get_acceptance())) == (1, "Fin(0)")
    assert spot.is_deterministic(a_3)
    assert spot.are_equivalent(a_2, a_3)


def test_section_2_a_4_and_a_5():
    """FG(Fa U b): the generalised Rabin automaton is the smaller one."""
    import spot

    a_5 = translate(parse("FG(F a U b)"), "tgba")
    assert spot.are_equivalent(a_4(), "FG(F a U b)")
    assert a_4().num_states() == 2 < a_5.num_states()
    steps = [Step(e.src, e.dst, 0) for e in a_4().edges()]
    (scc,) = decompose(steps, range(9), [0]).inside
    assert len(scc) == len(steps) == 9
    pairs = generalised_rabin(a_4()).get_acceptance()
    assert str(pairs) == str(a_4().get_acceptance())


def test_section_2_b_4():
    """Prop. 1 has a copy of both states for each pair; one state is not needed."""
    import spot

    original = a_4()
    b_4 = fin_less(original)

    assert spot.are_equivalent(b_4, original)
    assert str(b_4.get_acceptance()) == "Inf(0) | (Inf(1)&Inf(2))"
    assert b_4.num_states() == 5  # 2 + 1 for the loop of state 0 + 2
    assert 2 * (1 + 2) == 6


def test_equal_regions_share_a_clone():
    """Two pairs that leave the same SCC without Fin."""
    steps = [Step(0, 1, 0b0100), Step(1, 0, 0b1000), Step(0, 0, 0b0011)]
    made = remove_fin(steps, 2, 0, [Clause(0b01, 0b0100), Clause(0b10, 0b1000)])

    assert made.n_states == 4
    assert str(made.condition) == "Inf(0)|Inf(1)"


def test_pairs_without_fin_need_no_clone():
    """The loops are on rejecting cycles, apart; the first three steps are on none."""
    steps = [Step(0, 1, 1), Step(1, 0, 2), Step(1, 1, 4), Step(0, 0, 0)]
    steps += [Step(1, 1, 1), Step(1, 1, 2)]
    made = remove_fin(steps, 2, 0, [Clause(0, 0b011), Clause(0, 0b100)])

    assert made.n_states == 2
    assert str(made.condition) == "(Inf(0)&Inf(1))|Inf(2)"
    assert [t.marks for t in made.transitions] == [4, 4, 4, 0, 1, 2]


def test_transitions_on_no_rejecting_cycle_need_no_clone():
    """Rabin pairs that Büchi acceptance on the same automaton can say."""
    steps = [Step(0, 1, 0b01), Step(1, 0, 0b00), Step(0, 0, 0b10)]
    made = remove_fin(steps, 2, 0, [Clause(0b01, 0b10), Clause(0, 0b01)])

    assert made.n_states == 2
    assert str(made.condition) == "Inf(0)"
    assert [t.marks for t in made.transitions] == [1, 1, 1]


def test_more_marks_than_there_are():
    """Six pairs of six Inf marks each."""
    condition = disjunction(
        conjunction([fin(i), *(inf(6 + (i + j) % 12) for j in range(6))])
        for i in range(6)
    )
    everything = np.bitwise_or.reduce([1 << m for m in range(6, 18)])
    there = [(0, int(everything)), (1, 0)]
    back = [(0, 1 << i) for i in range(6)]
    table = table_of(
        Draft([there, back], n_letters=1, initial=0, n_marks=18, condition=condition)
    )

    with pytest.raises(UnsupportedError, match="36 acceptance marks"):
        without_fin(table)


def test_conditions_that_never_hold():
    cells = [[(0, 1), (0, 2)]]
    never = parse_condition("(Fin(0)&Inf(0)) | f")
    table = table_of(Draft(cells, n_letters=1, initial=0, n_marks=2, condition=never))
    hidden = parse_condition("Fin(0)&Fin(1)")
    other = table_of(Draft(cells, n_letters=1, initial=0, n_marks=2, condition=hidden))

    for automaton in (table, without_fin(table), without_fin(other)):
        assert not accepts(automaton, [], [0])

"""Interrupt normal form and interruptibility, by their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.interrupts import (
    Violation,
    accepting_states,
    first_violation,
    interruptible_table,
    norm,
    to_spot,
)
from ltlpipe.automata.letters import PropertyAutomaton, universal
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.logic.formulas import parse
from tests.example_counts import examples
from tests.hypothesis_strategies import KINDS, formulas, hoa_automata
from tests.oracles import reaches

DEFAULT_EXAMPLES = 300
SLOW_EXAMPLES = 5000


def buchi(n_states, triples, accepting, *, n_letters=2, initial=0):
    """The table of a Büchi automaton with (source, letter, target) triples."""
    cells = [[] for _ in range(n_states * n_letters)]
    for src, letter, dst in sorted(triples):
        cells[src * n_letters + letter].append((dst, int(src in accepting)))
    flat = [edge for cell in cells for edge in cell]
    return PropertyAutomaton(
        n_states=n_states,
        initial=initial,
        n_letters=n_letters,
        first_edge=np.cumsum([0, *map(len, cells)]).astype(np.int32),
        edge_dst=np.array([dst for dst, _ in flat], dtype=np.int32),
        edge_marks=np.array([marks for _, marks in flat], dtype=np.uint32),
        n_marks=1,
        state_based=True,
    )


@st.composite
def tables(draw, *, max_states=4, max_letters=3):
    """Büchi automata over letters and sets of visible letters.

    Some have letters that do the same, which makes more of them normal.
    """
    n = draw(st.integers(1, max_states))
    n_letters = draw(st.integers(1, max_letters))
    triple = st.tuples(
        st.integers(0, n - 1), st.integers(0, n_letters - 1), st.integers(0, n - 1)
    )
    triples = draw(st.sets(triple, max_size=3 * n * n_letters))
    visible = draw(st.sets(st.integers(0, n_letters - 1)))
    hidden = sorted(set(range(n_letters)) - visible)
    if hidden and draw(st.booleans()):
        triples = {
            (s, x, d) for s, a, d in triples for x in (hidden if a in hidden else [a])
        }
    accepting = draw(st.sets(st.integers(0, n - 1)))
    initial = draw(st.integers(0, n - 1))
    table = buchi(n, triples, accepting, n_letters=n_letters, initial=initial)
    return table, frozenset(visible)


@st.composite
def scrambled(draw, table):
    """A table that accepts the same, with two copies of each state.

    A transition leads to one or both copies of its target, from each copy of its
    source to others: what was in normal form often is not so any more.
    """
    copies = [(2 * state, 2 * state + 1) for state in range(table.n_states)]
    n = 2 * table.n_states
    triples = [
        (src, a, dst)
        for s, a in product(range(table.n_states), range(table.n_letters))
        for d in sorted(targets(table, s, a))
        for src in copies[s]
        for dst in draw(st.sets(st.sampled_from(copies[d]), min_size=1))
    ]
    accepting = {copy for s in accepting_states(table) for copy in copies[s]}
    initial = draw(st.sampled_from(copies[table.initial]))
    return buchi(n, triples, accepting, n_letters=table.n_letters, initial=initial)


def targets(table, state, letter):
    """The states that a transition from `state` on `letter` ends in."""
    at = state * table.n_letters + letter
    return set(table.edge_dst[table.first_edge[at] : table.first_edge[at + 1]].tolist())


def violations(table, visible):
    """Every instance that violates Def. 11, by its quantifiers."""
    states, letters = range(table.n_states), range(table.n_letters)
    steps = {(s, a, d) for s in states for a in letters for d in targets(table, s, a)}
    accepting = accepting_states(table)
    found = set()
    for x in set(letters) - visible:
        for s1, a, s2 in product(states, letters, states):
            if (s1, a, s2) in steps and not any(
                (s1, x, s) in steps and (s, a, s2) in steps for s in states
            ):
                found.add(Violation(1, (s1, s2), (x, a)))
            for s3 in states:
                if (s1, x, s2) in steps and (s2, a, s3) in steps:
                    if (s1, a, s3) not in steps:
                        found.add(Violation(2, (s1, s2, s3), (x, a)))
                    if s2 in accepting and not {s1, s3} & accepting:
                        found.add(Violation(2, (s1, s2, s3), (x, a), acceptance=True))
            for y in set(letters) - visible if a == x else ():
                if (s1, x, s2) in steps and (s1, y, s2) not in steps:
                    found.add(Violation(3, (s1, s2), (x, y)))
    return found


def accepts(table, prefix, cycle):
    """Whether the word ``prefix cycle cycle ...`` has an accepting run."""
    return accepts_some(table, [{a} for a in prefix], [{a} for a in cycle])


def accepts_some(table, prefix, cycle):
    """The same for some word of letters out of these sets."""
    word = [*prefix, *cycle]
    n = table.n_states
    followers = [set() for _ in range(n * len(word))]
    for k, letters in enumerate(word):
        then = k + 1 if k + 1 < len(word) else len(prefix)
        for state in range(n):
            followers[k * n + state] = {
                then * n + dst
                for letter in letters
                for dst in targets(table, state, letter)
            }
    accepting = accepting_states(table)
    start = table.initial
    return any(
        (at == start or reaches(followers, start, at)) and reaches(followers, at, at)
        for at in range(n * len(word))
        if at % n in accepting
    )


def same_language(one, other):
    """By Spot, through complementation."""
    import spot

    dictionary = spot.make_bdd_dict()
    a, b = to_spot(one, dictionary), to_spot(other, dictionary)
    return not a.intersects(spot.complement(b)) and not b.intersects(spot.complement(a))


def assert_checked_by_condition(table, visible):
    expected = violations(table, visible)
    found = first_violation(table, visible)

    if found is None:
        assert not expected
    else:
        assert found in expected
        assert found.condition == min(v.condition for v in expected)


@given(tables())
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_the_form_against_its_definition(case):
    """A violation is found iff there is one, and it is one of the first condition."""
    assert_checked_by_condition(*case)


@pytest.mark.slow
@given(tables(max_states=6, max_letters=4))
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_the_form_against_its_definition_by_the_thousand(case):
    """The same for larger ones."""
    assert_checked_by_condition(*case)


@pytest.mark.parametrize(
    ("triples", "accepting", "violation", "says"),
    [
        (
            [(0, 1, 1), (1, 1, 1)],
            {1},
            Violation(1, (0, 1), (0, 1)),
            "condition 1: 0 -1-> 1, but no s has 0 -0-> s -1-> 1",
        ),
        (
            [(0, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 0), (1, 1, 1)],
            {0},
            Violation(2, (0, 1, 1), (0, 1)),
            "condition 2: 0 -0-> 1 -1-> 1, but not 0 -1-> 1",
        ),
        (
            [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 2), (0, 0, 2), (2, 0, 2)],
            {1},
            Violation(2, (0, 1, 2), (0, 0), acceptance=True),
            "condition 2: 0 -0-> 1 -0-> 2, but 1 is accepting and neither 0 nor 2 is",
        ),
    ],
    ids=["insertion", "deletion", "acceptance"],
)
def test_what_a_violation_says(triples, accepting, violation, says):
    """The instance, for people; letter 0 is invisible."""
    table = buchi(3, triples, accepting)

    assert violation in violations(table, {1})
    assert str(violation) == says


def test_condition_3_alone():
    """All invisible letters do the same."""
    table = buchi(1, [(0, 0, 0)], {0})
    violation = first_violation(table, set())

    assert violation.condition == 1  # nothing can be inserted before the loop
    lonely = Violation(3, (0, 0), (0, 1))
    assert lonely in violations(table, set())
    assert str(lonely) == "condition 3: 0 -0-> 0, but not 0 -1-> 0"


FIGURE_1 = buchi(
    3,
    [
        *[(0, 1, 0), (0, 0, 1), (1, 0, 2), (1, 1, 0)],
        *[(2, 0, 1), (2, 1, 1), (2, 1, 2)],
    ],
    {0},
)
"""An automaton for GF b, letter 1, with what is said of Siegel & Yan 2020, Fig. 1.

In the product with one state that has both actions, {a} is an ample set in states
0 and 1 if 2 is fully enabled, since all cycles are left to 2; then nothing comes
back to 0, the only accepting state.  (The text has no list of its transitions.)
"""


def test_figure_1():
    """Not normal; its norm has the states 0 and 0-sharp that can be reached."""
    gf_b = table_over_actions(parse("!GF b"), "ba", ["b"])
    assert same_language(FIGURE_1, gf_b)
    assert interruptible_table.here(FIGURE_1, {1})
    assert first_violation(FIGURE_1, {1}) == Violation(1, (0, 1), (0, 0))

    normal = norm(FIGURE_1, {1})

    assert normal.n_states == 2
    assert [targets(normal, 0, a) for a in (0, 1)] == [{1}, {0}]  # 0 and 0-sharp
    assert [targets(normal, 1, a) for a in (0, 1)] == [{1}, {0}]
    assert accepting_states(normal) == {0}
    assert first_violation(normal, {1}) is None
    assert same_language(normal, gf_b)


def test_spot_gives_gf_b_in_normal_form():
    """As the source says of most formulas (Sec. 6)."""
    assert first_violation(table_over_actions(parse("!GF b"), "ba", ["b"]), {1}) is None


def test_formulas_that_are_not_normal():
    """The source's only shape of 2017, F(a | (!b W c)), here its negation's norm."""
    formula = parse("F(a | (!b W c))")
    table = table_over_actions(formula, "ba", formula.propositions)
    normal = norm(table, {1, 2, 3})
    assert interruptible_table.here(table, {1, 2, 3})
    assert same_language(table, normal)


def assert_theorem_2(table, visible, words):
    """Prop. 7 and what Theorem 2 says of the language."""
    normal = norm(table, visible)

    assert first_violation(normal, visible) is None
    assert not violations(normal, visible)
    assert normal.state_based
    assert same_language(norm(normal, visible), normal)
    preserved = same_language(table, normal)
    assert interruptible_table.here(table, visible) == preserved
    for prefix, cycle, other_prefix, other_cycle in words:
        # Prop. 6, and interruptibility by its definition
        assert accepts(normal, prefix, cycle) == accepts(
            normal, other_prefix, other_cycle
        )
        if preserved:
            assert accepts(table, prefix, cycle) == accepts(
                table, other_prefix, other_cycle
            )
    if not preserved:
        assert_told_apart(table, normal, visible)


def assert_told_apart(table, normal, visible):
    """Two words that agree on the visible letters, one accepted, one not."""
    import spot

    dictionary = spot.make_bdd_dict()
    ours, normalised = to_spot(table, dictionary), to_spot(normal, dictionary)
    hidden = [a for a in range(table.n_letters) if a not in visible]
    for one, other in [(ours, normalised), (normalised, ours)]:
        run = one.intersecting_run(spot.complement(other))
        if run is None:
            continue
        prefix, cycle = letters_of(run, one, table.n_letters)
        inside = accepts(table, prefix, cycle)
        assert inside == (one is ours)
        seen = [a for a in prefix if a in visible]
        again = [a for a in cycle if a in visible]
        if again:
            assert accepts(table, seen, again) != inside
        else:  # other invisible letters at the end tell them apart
            some = accepts_some(table, [{a} for a in seen], [hidden])
            assert some != inside
        return
    raise AssertionError("the languages are the same")


def letters_of(run, automaton, n_letters):
    """The lasso of letters that a run of a Spot automaton reads."""
    import buddy
    import spot

    word = spot.twa_word(run)
    cubes = list(cubes_of(automaton, n_letters))

    def letter(condition):
        return next(
            a for a, cube in enumerate(cubes) if condition & cube != buddy.bddfalse
        )

    return [letter(c) for c in word.prefix], [letter(c) for c in word.cycle]


def cubes_of(automaton, n_letters):
    import buddy

    n_bits = (n_letters - 1).bit_length()
    variables = [automaton.register_ap(f"bit{i}") for i in range(n_bits)]
    for letter in range(n_letters):
        cube = buddy.bddtrue
        for i, variable in enumerate(variables):
            literal = buddy.bdd_ithvar if letter >> i & 1 else buddy.bdd_nithvar
            cube &= literal(variable)
        yield cube


@st.composite
def pairs_of_words(draw, n_letters, visible):
    """Two lassos that agree on the visible letters."""
    hidden = sorted(set(range(n_letters)) - visible)
    letters = st.integers(0, n_letters - 1)
    prefix = draw(st.lists(letters, max_size=4))
    cycle = draw(st.lists(letters, min_size=1, max_size=4))
    noise = st.lists(st.sampled_from(hidden), max_size=2) if hidden else st.just([])

    def disturbed(word):
        other = draw(noise)
        for letter in word:
            if letter in visible:
                other = [*other, letter, *draw(noise)]
        return other

    if not any(letter in visible for letter in cycle):
        other_cycle = draw(st.lists(st.sampled_from(hidden), min_size=1, max_size=3))
    else:
        other_cycle = disturbed(cycle)
    return prefix, cycle, disturbed(prefix), other_cycle


@given(tables(max_states=3), st.data())
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_the_norm_of_random_automata(case, data):
    """It is normal; it accepts the same iff the property is interruptible."""
    table, visible = case
    words = data.draw(st.lists(pairs_of_words(table.n_letters, visible), max_size=5))
    assert_theorem_2(table, visible, words)


@pytest.mark.slow
@given(tables(max_states=4), st.data())
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_the_norm_of_random_automata_by_the_thousand(case, data):
    """The same for larger ones."""
    table, visible = case
    words = data.draw(st.lists(pairs_of_words(table.n_letters, visible), max_size=9))
    assert_theorem_2(table, visible, words)


def assert_scrambled_norms_are_interruptible(case, data):
    normal, visible = norm(*case), case[1]
    table = data.draw(scrambled(normal))
    assert interruptible_table.here(table, visible)
    again = norm(table, visible)
    assert not violations(again, visible)
    assert same_language(again, normal)


@given(tables(max_states=3), st.data())
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_scrambled_norms(case, data):
    """Interruptible by construction, and often not in normal form."""
    assert_scrambled_norms_are_interruptible(case, data)


@pytest.mark.slow
@given(tables(max_states=4, max_letters=4), st.data())
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_scrambled_norms_by_the_thousand(case, data):
    """The same for larger ones."""
    assert_scrambled_norms_are_interruptible(case, data)


@given(tables(max_states=3), st.data())
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_normal_form_is_interruptible(case, data):
    """Prop. 6: no automaton in normal form is judged not interruptible."""
    table, visible = case
    assume(not violations(table, visible))
    assert interruptible_table.here(table, visible)


VISIBLE = st.sets(st.integers(0, 3))


def assert_theorem_2_of_a_file(text, visible, data, *, max_words=0):
    (automaton,) = parse_automata(text, "random.hoa")
    table = table_over_actions(automaton, "ba", ("a", "b", "c"))
    pairs = pairs_of_words(table.n_letters, visible)
    assert_theorem_2(table, visible, data.draw(st.lists(pairs, max_size=max_words)))


@given(hoa_automata("any"), VISIBLE, st.data())
@settings(max_examples=examples(100))
def test_automata_of_files(text, visible, data):
    """Given as HOA, with any set of visible letters."""
    assert_theorem_2_of_a_file(text, visible, data)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), visible=VISIBLE)
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_automata_of_files_by_the_thousand(kind, data, visible):
    """The same for every kind, with words that agree on the visible letters."""
    text = data.draw(hoa_automata(kind))
    assert_theorem_2_of_a_file(text, visible, data, max_words=3)


#: Siegel & Yan 2020, Sec. 3.1 and 3.3.
EXAMPLES = [
    ("G !a", True),
    ("F a", True),
    ("F(a & X F a)", True),
    ("F(a & X F(a & X F a))", True),
    ("F a & !F(a & X F a)", True),
    ("G(a -> F b)", True),
    ("G(a -> (!b U c))", True),
    ("!b U c", True),
    ("GF a", True),
    ("FG !a", True),
    ("1", True),
    ("0", True),
    ("a", False),
    ("F !a", False),
    ("G a", False),
    ("X a", False),
    ("G(a -> X b)", False),
    ("G(a -> X(b U c))", False),
]


@pytest.mark.parametrize(("text", "interruptible"), EXAMPLES)
def test_examples_of_the_source(text, interruptible):
    """The formula's automaton and that of its negation."""
    for formula in (parse(text), parse(f"!({text})")):
        names = formula.propositions
        table = table_over_actions(formula, "ba", names)
        assert (
            interruptible_table.here(table, range(1, len(names) + 1)) == interruptible
        )


def assert_complements_agree(text):
    formula, negation = parse(text), parse(f"!({text})")
    names = formula.propositions
    visible = set(range(1, len(names) + 1))
    table = table_over_actions(formula, "ba", names)
    other = table_over_actions(negation, "ba", names)
    answers = {
        interruptible_table.here(table, visible),
        interruptible_table.here(other, visible),
    }
    assert len(answers) == 1
    assert answers == {same_language(table, norm(table, visible))}


@given(formulas())
@settings(max_examples=examples(200))
def test_a_property_and_its_complement_agree(text):
    """Both are interruptible, or none is."""
    assert_complements_agree(text)


@pytest.mark.slow
@given(formulas(max_leaves=9))
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_a_property_and_its_complement_agree_by_the_thousand(text):
    """The same for larger formulas."""
    assert_complements_agree(text)


def test_all_letters_visible():
    """norm(B, A) is B, and every property is A-interruptible (Prop. 4 (1))."""
    table = table_over_actions(parse("G(a -> X b)"), "ba", ["a", "b"])
    assert norm(table, {0, 1, 2}) is table
    assert interruptible_table.here(table, {0, 1, 2})
    assert first_violation(table, {0, 1, 2}) is None


def test_no_marks_accept_everywhere():
    """Without marks, every state accepts."""
    table = universal()
    assert accepting_states(table) == {0}
    assert first_violation(table, set()) is None
    assert interruptible_table.here(table, set())
    assert norm(table, set()).n_marks == 1


def test_only_one_mark_on_states():
    """Def. 11 is about Büchi automata."""
    table = table_over_actions(parse("GF a & GF b -> GF c"), "tgba", ["a", "b", "c"])
    with pytest.raises(ValueError, match="one mark on states"):
        norm(table, {1, 2})


def test_a_thousand_states():
    """The check is linear in the transitions."""
    n = 2000
    triples = [(s, 0, s) for s in range(n)] + [(s, 1, (s + 1) % n) for s in range(n)]
    table = buchi(n, triples, set(range(0, n, 2)))
    assert first_violation(table, {1}) is None


def test_figure_1_needs_its_norm():
    """With ample sets {a}, {a}, {a, b} no accepting cycle is left, in the norm one is.

    The product with a system of one state, which can always do a and b, is the
    automaton itself; every cycle has a fully enabled state.
    """

    def cycles(table, ample):
        """The states on cycles of the reduced product."""
        steps = [
            {d for a in ample[s] for d in targets(table, s, a)}
            for s in range(table.n_states)
        ]
        return {s for s in range(table.n_states) if reaches(steps, s, s)}

    assert cycles(FIGURE_1, [{0, 1}, {0, 1}, {0, 1}]) & accepting_states(FIGURE_1)
    assert not cycles(FIGURE_1, [{0}, {0}, {0, 1}]) & accepting_states(FIGURE_1)
    normal = norm(FIGURE_1, {1})
    # 0-sharp has a loop with a, so C3 wants it fully enabled.
    assert cycles(normal, [{0}, {0, 1}]) & accepting_states(normal)

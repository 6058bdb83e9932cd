"""Property tables against Spot's plain translation, letter by letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from ltlpipe import UnsupportedError
from ltlpipe.automata.conditions import (
    Shape,
    from_clauses,
    has_shape,
    normal_form,
    shape_of,
)
from ltlpipe.automata.fin_removal import condition_of
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.automata.translation import (
    draft_over,
    table_over_actions,
    translate,
)
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.spot_graphs import by_spot
from tests.automata.spot_tables import ACTIONS, SHORT_WORDS, as_spot
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, hoa_automata, recurrent_formulas
from tests.oracles import accepts


def assert_same_language(text, acceptance, **options):
    """Under one action at a time the table accepts exactly the violations."""
    import spot

    formula = parse(text)
    table = table_over_actions(formula, acceptance, ACTIONS, **options)
    at_most_one = "&".join(f"!({x} & {y})" for x in ACTIONS for y in ACTIONS if x < y)
    possible = spot.formula(f"G({at_most_one} & !nowhere)")
    words = spot.translate(
        spot.formula_And([spot.formula_Not(formula.spot), possible]), "any", "low"
    )
    others = spot.translate(spot.formula_And([formula.spot, possible]), "any", "low")
    for name in (*ACTIONS, "d", "nowhere"):
        words.register_ap(name)
        others.register_ap(name)
    ours = as_spot(table, words)
    assert not ours.intersects(others)
    assert spot.contains(ours, spot.product(words, _without_d(words)))
    assert_kind(table, acceptance, **options)


def assert_kind(table, acceptance, *, deterministic=False):
    """The table is what was asked for."""
    condition = table.condition
    if acceptance == "ba":
        assert table.is_buchi
    if acceptance in ("ba", "tgba"):
        assert condition is None
    if condition is None:
        return
    assert not table.weak
    assert table.n_marks == condition.n_marks == condition.marks.bit_count()
    assert not has_shape(condition, Shape.GENERALISED_BUCHI)
    if acceptance == "tfla":
        assert shape_of(condition) == Shape.FIN_LESS
    if acceptance in ("tgra", "tfla"):
        assert from_clauses(normal_form(condition)) == condition
    if deterministic and acceptance in ("tgra", "tela"):
        assert table.branching == 1


def _without_d(like):
    """All words in which `d` never holds (tables are made for a, b, c here)."""
    import buddy
    import spot

    automaton = spot.make_twa_graph(like.get_dict())
    automaton.copy_ap_of(like)
    automaton.new_states(1)
    automaton.set_init_state(0)
    automaton.new_edge(0, 0, buddy.bdd_nithvar(automaton.register_ap("d")))
    return automaton


KINDS = ["ba", "tgba", "tgra", "tfla", "tela"]
RABIN_LIKE = ["tgra", "tfla", "tela"]


@pytest.mark.parametrize("acceptance", KINDS)
@given(text=formulas())
@settings(max_examples=examples(200))
def test_the_table_accepts_the_violations(acceptance, text):
    """No more and no less."""
    assert_same_language(text, acceptance)


@pytest.mark.parametrize("acceptance", RABIN_LIKE)
@given(text=recurrent_formulas())
@settings(max_examples=examples(200))
def test_deterministic_tables_accept_the_violations(acceptance, text):
    """Formulas of fairness, whose automata have interesting conditions."""
    assert_same_language(text, acceptance)
    assert_same_language(text, acceptance, deterministic=True)


@pytest.mark.slow
@pytest.mark.parametrize("acceptance", RABIN_LIKE)
@given(text=recurrent_formulas(max_leaves=10))
@settings(max_examples=examples(3000))
def test_deterministic_tables_by_the_thousand(acceptance, text):
    """The same, with larger formulas."""
    assert_same_language(text, acceptance)
    assert_same_language(text, acceptance, deterministic=True)


@pytest.mark.slow
@pytest.mark.parametrize("acceptance", KINDS)
@given(text=formulas(max_leaves=9))
@settings(max_examples=examples(5000))
def test_the_table_accepts_the_violations_by_the_thousand(acceptance, text):
    """The same, with larger formulas."""
    assert_same_language(text, acceptance)


@pytest.mark.parametrize(
    "text",
    [
        "!(a | (F b R X a))",
        "!(F a R ((b & (a | X c)) | (!a & !b & X !c)))",
        "!F(a | (X b R F c))",
        "G((XXa M G(F!b U !c)) U X!b)",
    ],
)
@pytest.mark.parametrize("acceptance", KINDS)
def test_words_that_reverse_simulation_loses(text, acceptance):
    """Spot 2.13 loses words of these by its default for state-based Büchi."""
    assert_same_language(text, acceptance)


@pytest.mark.parametrize(
    "text",
    [
        "(a xor (a xor GF a)) -> GF b",
        "a <-> (a <-> GF a)",
        "a xor (a xor FG a)",
        "!(a <-> (a xor GF a))",
        "a xor (b xor (a xor GF a))",
        "F c & (a xor (a xor GF a))",
    ],
)
@pytest.mark.parametrize("acceptance", RABIN_LIKE)
def test_exclusive_or_with_an_operand_in_common(text, acceptance):
    """Spot 2.13 forgets one of them in deterministic generic automata."""
    assert_same_language(text, acceptance, deterministic=True)
    assert_same_language(f"!({text})", acceptance, deterministic=True)
    assert_same_language(text, acceptance)


def test_buchi_is_state_based():
    """Spot's 'Buchi' alone gives marks on transitions for this one."""
    table = table_over_actions(parse("GF b -> GF d"), "ba", ("b", "d"))
    assert table.state_based


def test_impossible_letters_are_cut_out():
    """Two actions at once never happen: no violation of G !(a & b) is left."""
    table = table_over_actions(parse("G !(a & b)"), "ba", ("a", "b"))
    assert len(table.edge_dst) == 0


def test_what_spot_refuses_is_an_error_of_ours():
    """Spot raises RuntimeError, for instance over more than 32 acceptance sets."""

    def refuse():
        raise RuntimeError("Too many acceptance sets used.  The limit is 32.\n\nMore")

    with pytest.raises(UnsupportedError, match="The limit is 32"):
        by_spot(refuse)


def test_forty_actions():
    """Forty actions are 41 letters, not 2**40."""
    names = [f"p{i}" for i in range(40)]
    text = "G(" + " | ".join(names) + ")"
    table = table_over_actions(parse(text), "ba", names)
    assert table.n_letters == 41


def test_translate_gives_the_formula_or_its_negation():
    """`negate` decides which."""
    import spot

    formula = parse("G(a -> F b)")
    plain = translate(formula, "ba")
    negated = translate(formula, "tgba", negate=True)
    assert spot.are_equivalent(plain, "G(a -> F b)")
    assert spot.are_equivalent(negated, "F(a & G !b)")


@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
@pytest.mark.parametrize(
    ("text", "n_states"),
    [
        ("!(" + " & ".join(f"GF a{i}" for i in range(20)) + ")", 21),
        (" & ".join(f"G(a{i} -> X b{i})" for i in range(18)), 20),
        (" & ".join(f"G(a{i} -> F b{i})" for i in range(20)), 21),
    ],
    ids=["fairness", "next", "response"],
)
def test_dozens_of_actions(text, n_states, acceptance):
    """Over the bits of a number they are translated in no time."""
    formula = parse(text)
    table = table_over_actions(formula, acceptance, formula.propositions)
    assert 1 <= table.n_states <= n_states


def assert_accepts_as(automaton, acceptance, deterministic=False):
    """The table accepts the words of one action at a time that its automaton does.

    The automaton as it was read is looked at, before Spot simplifies anything.
    """
    options = {"deterministic": True} if deterministic else {}
    letters = [set(), *({name} for name in ACTIONS)]
    plain = table_as_read(automaton, letters)
    table = table_over_actions(automaton, acceptance, ACTIONS, **options)
    assert_kind(table, acceptance, **options)
    for prefix, cycle in SHORT_WORDS:
        expected = accepts(plain, prefix, cycle)
        assert accepts(table, prefix, cycle) == expected


def table_as_read(automaton, letters):
    """A table of the edges as they are, without any simplification."""
    cells = draft_over(automaton, letters).cells
    return PropertyAutomaton(
        n_states=automaton.num_states(),
        initial=automaton.get_init_state_number(),
        n_letters=len(letters),
        first_edge=np.cumsum([0, *map(len, cells)]),
        edge_dst=np.array([dst for cell in cells for dst, _ in cell]),
        edge_marks=np.array([marks for cell in cells for _, marks in cell]),
        n_marks=automaton.num_sets(),
        state_based=False,
        condition=condition_of(automaton),
    )


@pytest.mark.parametrize("acceptance", KINDS)
@given(text=hoa_automata("emerson-lei"))
@settings(max_examples=examples(60))
def test_automata_with_any_condition(acceptance, text):
    """Negated properties from HOA files, against the definition of acceptance."""
    (automaton,) = parse_automata(text, "random.hoa")
    assert_accepts_as(automaton, acceptance)
    if acceptance in RABIN_LIKE:
        assert_accepts_as(automaton, acceptance, deterministic=True)


@pytest.mark.slow
@pytest.mark.parametrize("acceptance", KINDS)
@given(text=hoa_automata("emerson-lei"))
@settings(max_examples=examples(1500))
def test_automata_with_any_condition_by_the_thousand(acceptance, text):
    (automaton,) = parse_automata(text, "random.hoa")
    assert_accepts_as(automaton, acceptance)


@pytest.mark.parametrize("condition", ["t", "f", "Fin(0)&Inf(0)", "Fin(0)|Inf(0)"])
@pytest.mark.parametrize("acceptance", KINDS)
def test_conditions_that_always_or_never_hold(acceptance, condition):
    text = (
        f'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "a"\nAcceptance: 1 {condition}\n'
        "--BODY--\nState: 0\n[0] 0 {0}\n[!0] 0\n--END--\n"
    )
    (automaton,) = parse_automata(text, "x.hoa")
    table = table_over_actions(automaton, acceptance, ACTIONS)

    assert table.condition is None
    assert accepts(table, [0], [1, 2]) == (condition in ("t", "Fin(0)|Inf(0)"))
    assert_accepts_as(automaton, acceptance)


@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
def test_kinds_without_deterministic_automata(acceptance):
    """FG a has no deterministic Büchi automaton."""
    with pytest.raises(UnsupportedError, match="deterministic"):
        table_over_actions(parse("GF a"), acceptance, ("a",), deterministic=True)


@pytest.mark.parametrize("acceptance", RABIN_LIKE)
@given(text=recurrent_formulas())
@settings(max_examples=examples(100))
def test_translate_rewrites_the_acceptance(acceptance, text):
    """As HOA shows it: one Fin set to a pair, or none at all."""
    import spot

    formula = parse(text)
    automaton = translate(formula, acceptance)
    condition = condition_of(automaton)
    if acceptance == "tfla":
        assert not condition.fin_marks
    if acceptance == "tgra":
        assert has_shape(condition, Shape.GENERALISED_RABIN)
    assert spot.are_equivalent(automaton, spot.translate(formula.spot, "any", "low"))


@pytest.mark.parametrize("acceptance", KINDS)
@pytest.mark.parametrize("text", ["1", "0", "a & !a", "GF a | FG !a"])
def test_all_words_and_none(text, acceptance):
    """Both end in tables without a condition."""
    table = table_over_actions(parse(text), acceptance, ("a",))
    assert table.condition is None
    assert (len(table.edge_dst) == 0) == (table.acceptance == "f")
    assert_same_language(text, acceptance)

"""Property tables against Spot's plain translation, letter by letter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ltlpipe import UnsupportedError
from ltlpipe.automata.translation import _by_spot, from_formula, translate
from ltlpipe.logic.formulas import parse
from tests.strategies import formulas

ACTIONS = ("a", "b", "c")
LETTERS = (None, *ACTIONS)  # by their numbers


def as_spot(table, like):
    """A property table as a Spot automaton over the propositions of `like`."""
    import buddy
    import spot

    automaton = spot.make_twa_graph(like.get_dict())
    automaton.copy_ap_of(like)
    variables = {p.ap_name(): automaton.register_ap(p) for p in like.ap()}
    automaton.set_generalized_buchi(table.n_marks)
    automaton.new_states(table.n_states)
    automaton.set_init_state(table.initial)
    for src in range(table.n_states):
        for letter, held in enumerate(LETTERS):
            label = buddy.bddtrue
            for name, variable in variables.items():
                literal = buddy.bdd_ithvar if name == held else buddy.bdd_nithvar
                label &= literal(variable)
            at = src * table.n_letters + letter
            for edge in range(table.first_edge[at], table.first_edge[at + 1]):
                marks = int(table.edge_marks[edge])
                sets = [m for m in range(32) if marks >> m & 1]
                automaton.new_edge(src, int(table.edge_dst[edge]), label, sets)
    return automaton


def assert_same_language(text, acceptance):
    """Under one action at a time the table accepts exactly the violations."""
    import spot

    formula = parse(text)
    table = from_formula(formula, acceptance, ACTIONS)
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
    if acceptance == "ba":
        assert table.state_based
        assert table.n_marks <= 1


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


@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
@given(text=formulas())
@settings(max_examples=200)
def test_the_table_accepts_the_violations(acceptance, text):
    """No more and no less."""
    assert_same_language(text, acceptance)


@pytest.mark.slow
@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
@given(text=formulas(max_leaves=9))
@settings(max_examples=5000)
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
@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
def test_words_that_reverse_simulation_loses(text, acceptance):
    """Spot 2.13 loses words of these by its default for state-based Büchi."""
    assert_same_language(text, acceptance)


def test_buchi_is_state_based():
    """Spot's 'Buchi' alone gives marks on transitions for this one."""
    table = from_formula(parse("GF b -> GF d"), "ba", ("b", "d"))
    assert table.state_based


def test_impossible_letters_are_cut_out():
    """Two actions at once never happen: no violation of G !(a & b) is left."""
    table = from_formula(parse("G !(a & b)"), "ba", ("a", "b"))
    assert len(table.edge_dst) == 0


def test_what_spot_refuses_is_an_error_of_ours():
    """Spot raises RuntimeError, for instance over more than 32 acceptance sets."""

    def refuse():
        raise RuntimeError("Too many acceptance sets used.  The limit is 32.\n\nMore")

    with pytest.raises(UnsupportedError, match="The limit is 32"):
        _by_spot(refuse)


def test_forty_actions():
    """Forty actions are 41 letters, not 2**40."""
    names = [f"p{i}" for i in range(40)]
    text = "G(" + " | ".join(names) + ")"
    table = from_formula(parse(text), "ba", names)
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
    table = from_formula(formula, acceptance, formula.propositions)
    assert 1 <= table.n_states <= n_states

"""Formulas of finite words, and of the past, on words: by definition, and by Spot."""

from __future__ import annotations

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.logic.formulas import parse
from ltlpipe.logic.history import Dialect
from ltlpipe.logic.words import Word, holds, holds_on_lasso, satisfies
from tests.example_counts import examples
from tests.logic.past_formulas import is_true, is_true_on_lasso, text_of, trees

LETTERS = st.sets(st.sampled_from("ab"), max_size=2).map(frozenset)
BOTH = Dialect(past=True, finite=True)


@given(trees(past=True), st.lists(LETTERS, min_size=1, max_size=5))
@settings(max_examples=examples(300))
def test_by_definition(tree, word):
    """Every operator, at every place."""
    formula = parse(text_of(tree), **BOTH._asdict())
    assert holds(formula, word) == is_true(tree, word), text_of(tree)


@given(trees(), st.lists(LETTERS, min_size=1, max_size=4))
@settings(max_examples=examples(150))
def test_spot_agrees(tree, word):
    """Its ``from_ltlf`` holds of the word, followed by nothing."""
    formula = parse(text_of(tree), finite=True)
    rewritten = spot.from_ltlf(formula.spot, "alive")
    steps = [" & ".join([*sorted(letter), "alive"]) for letter in word]
    full = spot.parse_word("; ".join([*(_exactly(s) for s in steps), "cycle{!alive}"]))
    told = not spot.product(full.as_automaton(), spot.translate(rewritten)).is_empty()
    assert holds(formula, word) == told, text_of(tree)


def _exactly(step):
    known = step.split(" & ")
    return " & ".join([*known, *(f"!{p}" for p in "ab" if p not in known)])


@given(
    trees(past=True, finite=False),
    st.lists(LETTERS, max_size=3),
    st.lists(LETTERS, min_size=1, max_size=3),
)
@settings(max_examples=examples(300))
def test_the_past_on_lassos(tree, prefix, cycle):
    """By definition, future operators within those of the past as well."""
    formula = parse(text_of(tree), past=True)
    found = holds_on_lasso(formula, [*prefix, *cycle], len(prefix))
    assert found == is_true_on_lasso(tree, prefix, cycle), text_of(tree)


@given(trees(finite=False), st.lists(LETTERS, max_size=3))
@settings(max_examples=examples(100))
def test_without_a_past_lassos_are_judged_as_ever(tree, prefix):
    """By `ltlpipe.logic.words`."""
    names = [min(letter, default="c") for letter in prefix]
    formula = parse(text_of(tree))
    word = Word(tuple(names), ("a", "b"))
    letters = [{name} for name in [*names, "a", "b"]]
    assert holds_on_lasso(formula, letters, len(names)) == satisfies(formula.spot, word)


def test_the_empty_word():
    """LTL says nothing of it."""
    with pytest.raises(ValueError, match="empty"):
        holds(parse("a"), [])

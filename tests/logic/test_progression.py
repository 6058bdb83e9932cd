"""What is left of a formula, judged by the definition of LTL."""

from __future__ import annotations

import doctest
import random

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.logic import progression
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.progression import progressed, residual, residuals
from ltlpipe.logic.words import Word, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas

LETTERS = st.sampled_from("abcd")
WORDS = st.builds(
    lambda prefix, cycle: Word(tuple(prefix), tuple(cycle)),
    st.lists(LETTERS, max_size=4),
    st.lists(LETTERS, min_size=1, max_size=4),
)


def rest_of(word):
    """The word without its first letter."""
    if word.prefix:
        return Word(word.prefix[1:], word.cycle)
    return Word((), (*word.cycle[1:], word.cycle[0]))


def assert_progresses(text, word):
    """Before the step the formula holds iff what is left holds after it."""
    formula = parse(text).spot
    for _ in range(len(word.prefix) + len(word.cycle) + 1):
        letter = (word.prefix or word.cycle)[0]
        left = progressed(formula, {letter})
        assert satisfies(formula, word) == satisfies(left, rest_of(word))
        formula, word = left, rest_of(word)


@given(formulas(), WORDS)
@settings(max_examples=examples(300))
def test_random_words(text, word):
    """All operators, step by step."""
    assert_progresses(text, word)


@pytest.mark.slow
@given(formulas(max_leaves=10), WORDS)
@settings(max_examples=examples(5000))
def test_random_words_by_the_thousand(text, word):
    """The same, more often."""
    assert_progresses(text, word)


def test_residuals():
    """The formula itself, and what is left after each step."""
    left = residuals(spot.formula("!f W r"), [{"a"}, {"f"}, {"r"}])
    assert [str(formula) for formula in left] == ["!f W r", "!f W r", "0", "0"]


GROWING = [
    "G((a & b) | (c U d)) xor G(F G b R X F a)",
    "F(((X F a R !d) U (c U a)) W 0) W (F G c W G b)",
    "(c W F(c R d)) W !(F a W 0)",
]
"""Of which more would be left with every step."""


@pytest.mark.parametrize("text", GROWING)
def test_what_is_left_does_not_grow(text):
    """It is written anew, and says the same."""
    rng = random.Random(text)
    letters = [{rng.choice("abcd")} for _ in range(400)]
    formula = parse(text).spot
    left = residuals(formula, letters)
    assert max(len(str(each)) for each in left) < 1500

    exact = formula
    for letter, short in zip(letters[:12], left[1:], strict=False):
        exact = progressed(exact, letter)
        assert spot.are_equivalent(exact, short)


def test_many_parts():
    """A conjunction of many is not multiplied out; a part of it may be."""
    text = " & ".join(f"((a{k} U (b{k} R c{k})) W (G d{k}))" for k in range(18))
    wide = parse(text).spot
    letter = {f"{name}{k}" for name in "bc" for k in range(18)}
    for _ in range(5):
        wide = residual(wide, letter)
    assert len(str(wide)) < 5000


def test_what_is_no_formula_of_ltl():
    """PSL's operators are refused."""
    with pytest.raises(UnsupportedError):
        progressed(spot.formula("{a;b}[]-> c"), {"a"})


def test_example():
    assert doctest.testmod(progression).failed == 0

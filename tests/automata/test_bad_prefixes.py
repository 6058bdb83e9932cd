"""Bad prefixes against what is left of the formula, which Spot says is empty or not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.automata.words import first_bad_prefix
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.progression import residuals
from ltlpipe.runtime.jobs import complete
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas

ACTIONS = st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=7)
NAMES = [["a"], ["b"], ["c"], []]
SETS = [[], ["a"], ["b"], ["a", "b"], ["b", "c"]]


def at_most_one(formula):
    """No two propositions of a formula hold together."""
    names = [p.ap_name() for p in spot.atomic_prop_collect(formula)]
    pairs = [f"!({one} & {other})" for one, other in combinations(names, 2)]
    return spot.formula(f"G({' & '.join(pairs)})" if pairs else "1")


def expected(formula, letters, one_at_a_time):
    """The first step after which what is left has no model."""
    others = at_most_one(formula) if one_at_a_time else spot.formula("1")
    for k, left in enumerate(residuals(formula, letters)):
        if k and spot.translate(spot.formula_And([left, others])).is_empty():
            return k
    return None


def assert_bad_prefix(text, word, start, letters, one_at_a_time):
    """It is where Spot says that nothing is left, in the first rounds."""
    formula = parse(text)
    start = min(start, len(word) - 1)
    found = complete(
        first_bad_prefix(
            formula, letters, np.array(word), start, one_at_a_time=one_at_a_time
        )
    )
    unrolled = word + 3 * word[start:]
    known = expected(
        formula.spot, [letters[k] for k in unrolled], one_at_a_time=one_at_a_time
    )
    if known is None:
        assert found is None or found > len(unrolled)
    else:
        assert found == known


@given(formulas(), ACTIONS, st.integers(0, 6))
@settings(max_examples=examples(200), deadline=None)
def test_words_of_actions(text, word, start):
    """No continuation has two actions at a step."""
    assert_bad_prefix(text, word, start, NAMES, one_at_a_time=True)


@given(formulas(), ACTIONS, st.integers(0, 6))
@settings(max_examples=examples(200), deadline=None)
def test_words_of_valuations(text, word, start):
    """Propositions hold together."""
    assert_bad_prefix(text, word, start, SETS, one_at_a_time=False)


@pytest.mark.slow
@given(formulas(max_leaves=9), ACTIONS, st.integers(0, 6), st.booleans())
@settings(max_examples=examples(3000), deadline=None)
def test_random_words_by_the_thousand(text, word, start, one_at_a_time):
    """The same, more often."""
    letters = NAMES if one_at_a_time else SETS
    assert_bad_prefix(text, word, start, letters, one_at_a_time=one_at_a_time)


def test_what_cannot_be_satisfied_from_the_beginning():
    """The first step is the first that can be said to be bad."""
    assert_bad_prefix("0", [0], 0, NAMES, one_at_a_time=True)
    assert_bad_prefix("F(a & b)", [0], 0, NAMES, one_at_a_time=True)


def test_names_that_need_escapes():
    """A quote, a backslash, and what opens a comment stand in names of actions."""
    formula = parse(r'G("a\"b" -> X("c\\" | "/* d"))')
    letters = [['a"b'], ["c\\"], ["/* d"], []]

    found = first_bad_prefix(
        formula, letters, np.array([0, 1, 0, 2, 0, 3]), 0, one_at_a_time=True
    )

    assert complete(found) == 6

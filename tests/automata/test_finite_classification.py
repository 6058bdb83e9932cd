"""Classes of properties of finite words, against all short words."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given, settings

import ltlpipe
from ltlpipe.automata.classification import (
    finite_hierarchy,
    finite_states,
    is_finite_stutter_invariant,
)
from ltlpipe.logic.formulas import parse
from tests.example_counts import examples
from tests.logic.past_formulas import is_true, text_of, trees

WORDS = [
    tuple({letter} for letter in letters)
    for n in range(1, 6)
    for letters in product("abc", repeat=n)
]


@given(trees("ab", max_leaves=3))
@settings(max_examples=examples(40))
def test_by_all_short_words(tree):
    """A class is one that no word of five actions contradicts."""
    formula = parse(text_of(tree), finite=True)
    told = {tuple(map(min, word)): is_true(tree, word) for word in WORDS}
    longer = [word for word in told if len(word) > 1]
    safety = all(told[word[:-1]] for word in longer if told[word])
    guarantee = all(told[word] for word in longer if told[word[:-1]])
    known = {
        (True, True): "bottom",
        (True, False): "safety",
        (False, True): "guarantee",
        (False, False): None,
    }
    assert finite_hierarchy(formula) == known[safety, guarantee], formula.text
    classes = {}
    for word, true in told.items():
        short = word[:1] + tuple(b for a, b in pairwise(word) if a != b)
        classes.setdefault(short, set()).add(true)
    same = all(len(values) == 1 for values in classes.values())
    assert is_finite_stutter_invariant(formula) == same, formula.text


def test_sizes():
    """Of textbooks: the last but one letter needs memory only if that is determined."""
    formula = parse("F(a & X[!] X 0)", finite=True)
    assert finite_states(formula, deterministic=False) == 3
    assert finite_states(formula, deterministic=True) == 4


def test_analyze():
    """The rows of finite words; infinite ones refuse X[!]."""
    frame = ltlpipe.analyze(["G a", "F(a & X[!] a)"], semantics="finite")
    assert frame["hierarchy"].tolist() == ["safety", "guarantee"]
    assert frame["stutter_invariant"].tolist() == [True, False]
    assert frame["ba_states"].isna().all()

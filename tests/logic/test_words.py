"""Formulas evaluated on words, beside a slow twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Shape, Word, evaluate, interrupt_free, places, satisfies
from tests.hypothesis_strategies import formulas
from tests.oracles import satisfies as slowly

LETTERS = st.sampled_from(["a", "b", "c", "elsewhere"])


@given(
    formulas(max_leaves=9),
    st.lists(LETTERS, max_size=5),
    st.lists(LETTERS, min_size=1, max_size=4),
)
def test_agrees_with_the_definition(text, prefix, cycle):
    """One word, all operators."""
    tree = parse(text).spot
    assert satisfies(tree, Word(tuple(prefix), tuple(cycle))) == slowly(
        tree, prefix, cycle
    )


@given(
    formulas(max_leaves=7),
    st.lists(LETTERS, max_size=3),
    st.lists(LETTERS, min_size=1, max_size=3),
)
def test_every_position(text, prefix, cycle):
    """A bit says what the definition says of the rest of the word."""
    tree, word = parse(text).spot, [*prefix, *cycle]
    shape = Shape(len(prefix), len(cycle))

    values = evaluate(tree, shape, places([{letter} for letter in word]))

    for k in range(len(word)):
        rest = prefix[k:] if k < len(prefix) else word[k:]
        assert bool(values >> k & 1) == slowly(tree, rest, cycle)
    assert values >> len(word) == 0


@pytest.mark.parametrize(
    ("prefix", "cycle", "form"),
    [
        ("xaxb", "x", "a b (x)ω"),
        ("xaxb", "xy", "a b (x)ω"),
        ("", "xaxb", "(a b)ω"),
        ("xx", "b", "(b)ω"),
        ("", "xy", "(x)ω"),
    ],
)
def test_interrupt_free(prefix, cycle, form):
    """What is invisible stays only where nothing visible follows."""
    assert str(interrupt_free(Word(tuple(prefix), tuple(cycle)), "ab")) == form


def test_deep_formulas_and_psl():
    """Nesting is no recursion; what is not LTL is refused."""
    deep = parse("X" * 4000 + "a").spot
    assert satisfies(deep, Word((), ("a",)))
    assert not satisfies(deep, Word((), ("b",)))
    assert satisfies(parse("X[!]a", finite=True).spot, Word(("b",), ("a",)))
    with pytest.raises(UnsupportedError, match="PSL"):
        satisfies(parse("{a;b*}<>->c").spot, Word((), ("a",)))

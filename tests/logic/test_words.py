"""Formulas evaluated on words, beside a slow twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Shape, Word, evaluate, interrupt_free, masks, satisfies
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
    st.integers(0, 3),
    st.integers(1, 3),
    st.data(),
)
def test_many_words_at_once(text, prefix, cycle, data):
    """Words of one shape do not get into each other's way."""
    length = prefix + cycle
    word = st.lists(LETTERS, min_size=length, max_size=length)
    words = data.draw(st.lists(word, min_size=1, max_size=5))
    tree = parse(text).spot
    shape = Shape(len(words), prefix, cycle)

    values = evaluate(tree, shape, masks(words))

    for i, letters in enumerate(words):
        expected = slowly(tree, letters[:prefix], letters[prefix:])
        assert bool(values >> i * length & 1) == expected


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
    assert satisfies(parse("X[!]a").spot, Word(("b",), ("a",)))
    with pytest.raises(UnsupportedError, match="PSL"):
        satisfies(parse("{a;b*}<>->c").spot, Word((), ("a",)))

"""Classes of properties of actions."""

from __future__ import annotations

import pytest
from hypothesis import given

from ltlpipe.automata.classification import (
    is_stutter_invariant,
    manna_pnueli,
    size,
    subject,
)
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from tests.hypothesis_strategies import formulas


def of_actions(text):
    return subject(parse(text), one_at_a_time=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a & X b", "bottom"),
        ("F a", "guarantee"),
        ("G !a", "safety"),
        ("F a | G !b", "obligation"),
        ("FG !a", "persistence"),
        ("GF a", "recurrence"),
        ("GF a -> GF b", "reactivity"),
        ("GF a | (a & b)", "recurrence"),  # never a and b at once
        ("FG(a & b)", "bottom"),
    ],
)
def test_classes(text, name):
    """Manna & Pnueli's examples, and what one action at a time makes simpler."""
    assert manna_pnueli(of_actions(text)) == name


@pytest.mark.parametrize(
    ("text", "invariant"),
    [
        ("a", True),  # the four examples of Siegel & Yan 2020, Sec. 3.3
        ("G a", True),
        ("F a", True),
        ("X a", False),
        ("F(a & X F a)", False),
        ("F(a & X b)", True),  # b comes right behind some a
        ("X a & X b", True),  # impossible
    ],
)
def test_stutter_invariance(text, invariant):
    """Of words of actions."""
    assert is_stutter_invariant(of_actions(text)) is invariant


@given(formulas(max_leaves=5))
def test_stutter_invariant_formulas_do_not_count(text):
    """Repeating actions changes nothing."""
    formula = parse(text)
    if is_stutter_invariant(subject(formula, one_at_a_time=True)):
        for prefix, cycle in (("ab", "c"), ("", "ab"), ("xa", "ax")):
            once = Word(tuple(prefix), tuple(cycle))
            twice = Word(
                tuple(a for a in prefix for _ in "12"),
                tuple(a for a in cycle for _ in "123"),
            )
            assert satisfies(formula.spot, once) == satisfies(formula.spot, twice)


def test_size():
    """Operators and propositions."""
    assert size(parse("G(a -> F b)").spot) == 5

"""Erasable automata: against formulas, and with letters that may be exchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ltlpipe import is_erasable as is_erasable_formula
from ltlpipe.automata import classification
from ltlpipe.automata.interrupts import erasable_table
from ltlpipe.logic.formulas import parse
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas


def violations_of(text):
    """The Büchi automaton of the words that violate a formula."""
    table = classification.buchi(parse(f"!({text})"))
    return table, range(1, table.n_letters)


@given(formulas(max_leaves=4))
@settings(max_examples=examples(100))
def test_as_for_formulas(text):
    """Automata of violations, by their complements."""
    assert erasable_table.here(*violations_of(text)) == is_erasable_formula(text)


@pytest.mark.parametrize(
    ("text", "visible", "expected"),
    [
        ("G(a -> X !a)", [1], True),
        ("G(a -> X !a)", [], False),
        ("G(a -> X !b)", [1, 2], True),
        ("G(a -> X !b)", [1], False),  # b and others are not the same
        ("G(a -> X b)", [1, 2], False),
        ("GF (a | b) | FG !b", [1, 2], True),
        ("GF !a", [1], True),
        ("1", [], True),
    ],
)
def test_visible_letters(text, visible, expected):
    """Letters that are named may be invisible; a comes before b."""
    table, _ = violations_of(text)
    assert erasable_table.here(table, visible) is expected

"""Formulas over the numbers of actions."""

from __future__ import annotations

import pytest
from hypothesis import given

from ltlpipe.logic.actions import anonymous, bit_names, numbered
from ltlpipe.logic.formulas import Formula, parse
from tests.hypothesis_strategies import formulas


@pytest.mark.parametrize(
    ("n", "bits"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (40, 6)]
)
def test_bits_hold_every_number_and_none(n, bits):
    """n actions and 0 for all others."""
    assert len(bit_names(n)) == bits


def test_numbers_count_from_one():
    """The first action is 1, in the lowest bit; what is no action is false."""
    import spot

    formula = parse('G(a -> X "b c") & F nowhere').spot
    expected = "G((bit0 & !bit1) -> X(!bit0 & bit1)) & F 0"
    assert numbered(formula, ["a", "b c"]) == spot.formula(expected)


@given(formulas(max_leaves=5))
def test_nothing_is_left_of_the_actions(text):
    """Whatever the formula, only bits remain."""
    import spot

    found = spot.atomic_prop_collect(numbered(parse(text).spot, ["a", "b", "c"]))
    assert {p.ap_name() for p in found} <= {"bit0", "bit1"}


def test_deep_formulas():
    """Thousands of operators are no recursion of ours."""
    text = "X(" * 4000 + "a" + ")" * 4000
    assert "bit0" in str(numbered(parse(text).spot, ["a"]))


@given(formulas(max_leaves=6))
def test_forms_without_names(text):
    """Renaming actions changes nothing but their names."""
    form = anonymous(parse(text).spot)
    renamed = text.replace("nowhere", "a0").replace("a", "zeta").replace("b", "alpha")
    other = anonymous(parse(renamed).spot)
    assert len(str(form)) == len(str(other))
    assert all(p.startswith("p0") for p in Formula("", form).propositions)


def test_the_same_form():
    """The order of names does not matter, that of occurrence does."""
    forms = [anonymous(parse(f"G({a} -> F {b})").spot) for a, b in ("ab", "ba", "xc")]
    assert forms[0] == forms[1] == forms[2]
    assert forms[0] != anonymous(parse("G(a -> F a)").spot)

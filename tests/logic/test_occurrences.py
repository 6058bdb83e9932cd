"""Occurrences of subformulas: polarity, replacements, names."""

from __future__ import annotations

import pytest
import spot
from hypothesis import given

from ltlpipe import UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.occurrences import MAX_OCCURRENCES, occurrences, written
from tests.hypothesis_strategies import formulas


def listed(text):
    """Each occurrence with its sign and what is left."""
    return [
        (str(o.formula), "-+"[o.positive], str(o.stronger))
        for o in occurrences(parse(text).spot)
    ]


def test_polarity():
    """Negations, and left sides of implications, change the sign."""
    assert listed("G(!a -> X(b W a))") == [
        ("G(!a -> X(b W a))", "+", "0"),
        ("!a -> X(b W a)", "+", "0"),
        ("!a", "-", "GX(b W a)"),
        ("a", "+", "GX(b W a)"),
        ("X(b W a)", "+", "Ga"),
        ("b W a", "+", "G(!a -> X(0))"),
        ("b", "+", "G(!a -> Xa)"),
        ("a", "+", "G(!a -> X(b W 0))"),
    ]


def test_both_polarities():
    """Each side of an equivalence occurs twice, with one sign each."""
    signs = [(f, sign) for f, sign, _ in listed("a <-> X b") if f in ("a", "b")]
    assert signs == [("a", "+"), ("b", "+"), ("a", "-"), ("b", "-")]
    assert ("a & !b", "+", "!a & b") in listed("a xor b")


def test_places_of_leaves():
    """They are numbered from left to right, and each part knows its own."""
    found = occurrences(parse("(a U b) -> F(c & X a)").spot)
    leaves = [o for o in found if o.is_leaf]
    assert [str(o.formula) for o in leaves] == ["a", "b", "c", "a"]
    for part in found:
        within = [str(leaves[k].formula) for k in part.leaves]
        names = {p.ap_name() for p in spot.atomic_prop_collect(part.formula)}
        assert set(within) == names
    assert [list(o.leaves) for o in leaves] == [[0], [1], [2], [3]]


def test_constants_are_no_parts():
    assert listed("1") == []
    assert [f for f, _, _ in listed("X 0 | a")] == ["a | X(0)", "a"]


@given(formulas(max_leaves=5))
def test_what_is_left_is_stronger(text):
    """By Spot; and what a part leaves is stronger than what one within it leaves."""
    formula = parse(text).spot
    found = occurrences(formula)
    for part in found:
        assert spot.contains(formula, part.stronger), part
    for outer in found[:6]:
        for inner in found[:6]:
            if set(inner.leaves) < set(outer.leaves):
                assert spot.contains(inner.stronger, outer.stronger), (outer, inner)


def test_too_many():
    """An equivalence doubles both sides: of twenty there are a million leaves."""
    text = " <-> ".join(f"a{k}" for k in range(20))
    with pytest.raises(UnsupportedError, match=f"expected at most {MAX_OCCURRENCES}"):
        occurrences(parse(text).spot)


def test_psl():
    with pytest.raises(UnsupportedError, match="PSL"):
        occurrences(parse("{a;b} |-> c").spot)


@pytest.mark.parametrize(
    ("text", "part", "name"),
    [
        ("G(req -> F ack)", "F ack", "F ack"),
        ("G(req -> F ( ack ))", "F ack", "F ( ack )"),
        ('G("a b" -> F "c d")', 'F "c d"', 'F "c d"'),
        ('G(P=="CS" -> F x <= 3)', 'P=="CS"', 'P=="CS"'),
        ("G(aa -> F a)", "a", "a"),
        ("G((b&a) -> c)", "a & b", "a & b"),
        ("G(a <-> b)", "!a & !b", "!a & !b"),
        ("a WU b", "a W b", "a W b"),
    ],
)
def test_parts_are_called_what_the_user_calls_them(text, part, name):
    """As far as Spot has kept it."""
    assert written(parse(part).spot, parse(text)) == name

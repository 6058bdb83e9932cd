"""Action equivalence, beside Prop. 1 of Siegel & Yan 2020 as it stands there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from ltlpipe import FormulaError, UnsupportedError, action_equivalent
from ltlpipe.logic.formulas import parse
from tests.hypothesis_strategies import formulas
from tests.processes import SOON


def by_proposition_1(f, g):
    """``f & h`` and ``g & h`` are equivalent: at most one proposition at a time."""
    import spot

    trees = [parse(f).spot, parse(g).spot]
    names = sorted({p.ap_name() for t in trees for p in spot.atomic_prop_collect(t)})
    one = "|".join(
        "&".join(("" if n == m else "!") + f'"{m}"' for m in names) for n in names
    )
    none = "&".join(f'!"{n}"' for n in names)
    h = spot.formula(f"G(({none}) | {one})" if names else "1")
    return spot.are_equivalent(*(spot.formula_And([t, h]) for t in trees))


@pytest.mark.parametrize(
    ("f", "g", "equivalent"),
    [
        ("a & b", "0", True),
        ("G a", "G(a & !b)", True),
        ("a", "!b", False),
        ("!a & !b", "!(a | b)", True),
        ("G(a -> F b)", "G(a -> X F b)", True),  # never a and b at once
        ("G(a -> F a)", "1", True),
        ("a", "a & (b | !b)", True),
        ("a", "b", False),
        ("a | b | c", "1", False),  # there are other actions
        ("G(a -> ((!b) U c))", "G(a -> X((!b) U c))", True),  # Sec. 3.3
    ],
)
def test_known(f, g, equivalent):
    """What one action at a time makes equal, and what it does not."""
    assert action_equivalent(f, g) is equivalent
    assert action_equivalent(parse(g), parse(f)) is equivalent


@given(formulas(max_leaves=4), formulas(max_leaves=4))
def test_agrees_with_proposition_1(f, g):
    """On random formulas, and on a formula beside one that implies it."""
    assert action_equivalent(f, g) == by_proposition_1(f, g)
    assert action_equivalent(f, f"({f}) & ({g})") == by_proposition_1(
        f, f"({f}) & ({g})"
    )


def test_many_actions_do_not_explode():
    """Twenty responses, one at a time, over 41 numbers and not 2**40 sets."""
    f = " & ".join(f"G(a{i} -> F b{i})" for i in range(6))
    g = " & ".join(f"G(a{i} -> X F b{i})" for i in range(6))
    started = time.monotonic()
    assert action_equivalent(f, g)
    assert time.monotonic() - started < SOON


def test_refused():
    """A formula that does not parse, and one of PSL."""
    with pytest.raises(FormulaError):
        action_equivalent("a", "a U")
    with pytest.raises(UnsupportedError, match="PSL"):
        action_equivalent("{a;b*}<>->c", "a")

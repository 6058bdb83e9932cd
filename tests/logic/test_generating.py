"""Generated formulas: sets in the style of RERS, interruptible ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import formula_sets
from benchmarks.formula_sets import (
    INTERRUPTIBLE_TEMPLATES,
    OTHER_TEMPLATES,
    formula_set,
    random_interruptible,
)
from ltlpipe import UnsupportedError, is_interruptible
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.generating import quoted
from tests.hypothesis_strategies import AWKWARD_LABELS

ACTIONS = [f"a{i}" for i in range(20)]


@pytest.mark.parametrize("template", INTERRUPTIBLE_TEMPLATES)
def test_interruptible_templates(template):
    """By their syntax, whatever the actions are."""
    assert "intrpt" in syntactic_class(parse(template.format(*"abcd")).spot)


@pytest.mark.parametrize("template", OTHER_TEMPLATES)
def test_other_templates(template):
    """Not for distinct actions."""
    assert not is_interruptible(template.format(*"abcd"))


def test_sets():
    """As many different formulas as asked for, about a quarter not interruptible."""
    texts = formula_set(400, ACTIONS, seed=7)

    assert len(set(texts)) == 400
    assert all(set(parse(text).propositions) <= set(ACTIONS) for text in texts)
    share = sum(is_interruptible(text) for text in texts) / 400
    assert 0.65 < share < 0.9
    assert formula_set(400, ACTIONS, seed=7) == texts
    assert formula_set(400, ACTIONS, seed=8) != texts


def test_interruptible_sets():
    """All of them."""
    for text in formula_set(300, ACTIONS, seed=1, interruptible=True):
        assert "intrpt" in syntactic_class(parse(text).spot)


def test_too_few_actions(monkeypatch):
    """Said, not tried for ever."""
    with pytest.raises(UnsupportedError, match="at least 4"):
        formula_set(1, ["a", "b", "c", "a"])
    monkeypatch.setattr(formula_sets, "_formula", lambda *_: "F a")
    with pytest.raises(UnsupportedError, match="use more actions"):
        formula_set(2, list("abcd"))


@given(AWKWARD_LABELS | st.sampled_from([*"XFGUWRMV1", "Xa", "WU", "xor", "true"]))
def test_any_action_can_be_named(action):
    """Quoted where Spot would read something else."""
    assert parse(f"G({quoted(action)} -> F {quoted('b')})").propositions == tuple(
        sorted({action, "b"})
    )


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_random_interruptible(depth):
    """At any depth, and decided by the seed."""
    texts = [random_interruptible(["a", "b"], seed=s, depth=depth) for s in range(30)]
    assert len(set(texts)) > (3 if depth == 0 else 10)
    assert texts[3] == random_interruptible(["a", "b"], seed=3, depth=depth)
    for text in texts:
        assert "intrpt" in syntactic_class(parse(text).spot)

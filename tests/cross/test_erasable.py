"""The block normal form against Spot on the whole product.

For erasable formulas the verdict is that of the network as it is, and lassos are those
of it.  Networks have nondeterministic components, labels of three components, deadlocks
and divergences; components are composed in random orders and with limits so small that
the way out by strong bisimilarity is taken.
"""

from __future__ import annotations

import random
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from ltlpipe.logic.erasable import is_erasable
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.interruptible import is_interruptible
from ltlpipe.reduction.components import merger, shared_results
from tests.cross.test_agreement import ask, visible_word
from tests.oracles import satisfies, spot_verdict
from tests.strategies import formulas, networks

NETWORKS = networks(max_components=4, max_states=4, max_transitions=8, internal=["d"])

#: Erasable formulas that are not interruptible.
SHAPES = [
    "G(A -> X !B)",
    "GF !A",
    "G((A & X(!B U A)) -> FG C)",
    "G(A -> X(B -> X !C))",
    "!F(A & X A)",
    "F !A",
    "!A | X !B",
    "FG(A -> X !B)",
    "GF(A & X B) -> GF C",
    "G(A -> X !B) | FG !C",
    "!(F A & GF(B & X B))",
]


def test_shapes():
    """They are what is said of them."""
    for shape in SHAPES:
        text = shape.replace("A", "a").replace("B", "b").replace("C", "c")
        assert is_erasable(text), text
        assert not is_interruptible(text), text


@st.composite
def erasable_formulas(draw):
    """One of the shapes, or a random one; not interruptible."""
    if draw(st.integers(0, 3)):
        text = draw(st.sampled_from(SHAPES))
        for variable in "ABC":
            text = text.replace(variable, draw(st.sampled_from(["a", "b", "c"])))
    else:
        text = draw(formulas(max_leaves=4))
    formula = parse(text)
    assume(not is_interruptible(formula) and is_erasable(formula))
    return formula


@st.composite
def manners(draw):
    """How to merge: the limits, and a seed for the order."""
    return {
        "cap_states": draw(st.sampled_from([1, 2, 3, 5, 8, 1000, 1000, 1000])),
        "small": draw(st.sampled_from([0, 0, 0, 4])),
        "order": draw(st.none() | st.integers(0, 1000)),
    }


def in_a_manner(manner):
    """Let components be reduced so, and never be taken from the shelf."""
    order = manner["order"]
    limits = {name: manner[name] for name in ("cap_states", "small")}

    def reduce_components(network, visible, limit, start=None, known=None):
        heuristics = merger.HEURISTICS
        if order is not None:
            rng = random.Random(order)
            heuristics = (lambda _: rng.random(),)
        with patch.object(merger, "HEURISTICS", heuristics):
            job = merger.reduce_components(
                network, visible, replace(limit, **limits), start, known
            )
            return (yield from job)

    return patch.object(shared_results, "reduce_components", reduce_components)


REDUCTIONS = st.sampled_from(["components", "alphabet,components"])


def assert_the_same(network, formula, manner, reduce):
    """The verdict is Spot's, and a lasso is one of the network's."""
    expected = spot_verdict(network, formula.spot, stutter=False)
    with in_a_manner(manner):
        verdict = ask(network, formula=formula, reduce=reduce)
    kinds = {line.rsplit("(")[-1] for line in verdict.plan.merges}
    assert kinds <= {"block)", "strong)"}
    assert verdict.verdict == expected
    event(f"{expected} with {', '.join(sorted(kinds))}")
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


@given(NETWORKS, erasable_formulas(), manners(), REDUCTIONS)
@settings(max_examples=400)
def test_verdicts_with_block_normal_forms(network, formula, manner, reduce):
    """The same with and without it."""
    assert_the_same(network, formula, manner, reduce)


@pytest.mark.slow
@given(NETWORKS, erasable_formulas(), manners(), REDUCTIONS)
@settings(max_examples=10_000)
def test_verdicts_with_block_normal_forms_by_the_thousand(
    network, formula, manner, reduce
):
    """The same, 10,000 times."""
    assert_the_same(network, formula, manner, reduce)

"""Simpler formulas against brute force: on all runs of a net they say the same."""

from __future__ import annotations

import random

import pytest
import spot

from ltlpipe.linear.proof import simpler
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.strategies.linear import arrays_of, meanings_of
from ltlpipe.verdict.inquiry import question_of
from tests.cross.test_models import explored, net_atoms, random_formula, spot_verdict
from tests.example_counts import at_least, examples
from tests.random_nets import net_of, random_net


def simplified(net, formula):
    """What is made of a formula; None if it is left as it is."""
    question = question_of(net, Property(formula), Options())
    meanings = meanings_of(question.propositions)
    found = simpler.here(arrays_of(net), question.translated, meanings, 20.0)
    return None if found is None else found.spot


def is_simplified(seed):
    """Check that no run tells a formula from what is made of it."""
    rng = random.Random(seed)
    net = random_net(rng)
    graph = explored(net)
    if graph is None:
        return False
    formula = random_formula(rng, net_atoms(rng, net))
    found = simplified(net, formula)
    if found is None:
        return False
    same = parse(str(spot.str_psl(spot.formula_Equiv(formula.spot, found), True)))
    for stutters in (True, False):
        assert spot_verdict(net, graph, same, stutters) == "holds", same.text
    if spot.is_stutter_invariant(formula.spot):
        assert spot.is_stutter_invariant(found)
    return True


def test_no_run_tells_formulas_apart():
    """With X and without, both ways of deadlocks."""
    n_simplified = sum(map(is_simplified, range(examples(200))))
    assert n_simplified >= at_least(50)


@pytest.mark.slow
def test_no_run_tells_formulas_apart_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(4000)):
        is_simplified(seed)


RING = net_of([1, 0, 0, 0], *(({k: 1}, {(k + 1) % 4: 1}) for k in range(4)))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ('X F "p2 == 1"', "F a"),  # it does not hold initially
        ('X F "p0 == 1"', None),  # it does
        ('X X X F "p3 == 1"', "1"),  # it does after three steps
        ('G X F "p3 == 1"', "GF a"),
        ('"p1 == 1" U "p2 == 1"', "0"),  # neither holds initially
        ('G("p1 == 1" -> F "p2 == 0")', "1"),  # no marking has a token in both
    ],
)
def test_a_ring(formula, expected):
    """Formulas about a token that goes round."""
    found = simplified(RING, parse(formula))
    if expected is None:
        assert found is None
        return
    names = {p.ap_name() for p in spot.atomic_prop_collect(found) or ()}
    text = str(spot.str_psl(found, True))
    for name in names:
        text = text.replace(f'"{name}"', "a")
    assert spot.formula(text) == spot.formula(expected)


@pytest.mark.parametrize("number", [1 << 59, 1 << 63, 10**39])
def test_large_numbers(number):
    """Sums that 64 bits do not take are computed exactly, or not at all."""
    net = net_of([20, 1], ({0: 20}, {}), ({1: 1}, {}))
    sums = f'"{number}*p0 >= 1" U "p1 == 0"'
    assert simplified(net, parse(sums)) in (None, spot.formula(sums))
    found = simplified(net, parse(f'X "p1 >= {number}"'))
    assert found is None or spot.are_equivalent(found, spot.formula("0"))

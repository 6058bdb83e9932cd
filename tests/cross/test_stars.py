"""Decoupled search of models against Spot on the explicit product.

Every lasso is replayed by the interpreter of the model, as `check` does.
"""

from __future__ import annotations

import random

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.decoupled import star_parts
from tests.cross.test_models import explored, random_formula, spot_verdict
from tests.decoupled.star.random_stars import (
    net_star_atoms,
    star_atoms,
    star_model,
    star_net,
)
from tests.example_counts import at_least, examples

MAKERS = {"models": (star_model, star_atoms), "nets": (star_net, net_star_atoms)}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Large stars are given up soon."""
    monkeypatch.setattr(star_parts, "MAX_CENTRE", 300)


def formula_about(rng, atoms):
    """A stutter-invariant formula."""
    import spot

    chosen = rng.sample(atoms, rng.randint(1, 2))
    while True:
        formula = random_formula(rng, chosen)
        if spot.is_stutter_invariant(formula.spot):
            return formula


def ask(model, formula, rng):
    """Return what one of the two searches says; None if the model is no star."""
    way = {"emptiness": rng.choice(["decoupled-scc", "decoupled-ndfs"])}
    if rng.random() < 0.2:
        way["seed"] = rng.randrange(1000)
    deadlock = rng.choice(["stutter", "stutter", "ignore"])
    try:
        found = check(model, formula, reduce="decoupled", deadlock=deadlock, **way)
    except UnsupportedError:
        return None, way, deadlock
    assert found.plan.reductions == ("decoupled",)
    return found, way, deadlock


def agree(model, atoms, rng):
    """Compare some formulas; return what was seen of each."""
    whole = explored(model)
    if whole is None:
        return []
    seen = []
    for _ in range(3):
        formula = formula_about(rng, atoms)
        found, way, deadlock = ask(model, formula, rng)
        if found is None:
            continue
        expected = spot_verdict(model, whole, formula, deadlock == "stutter")
        assert found.verdict == expected, f"{formula.text}: {way}, {deadlock}"
        ends = found.lasso is not None and -1 in found.lasso.actions.tolist()
        seen.append("deadlock" if ends else expected)
    return seen


def compare(first, count, kind):
    make, atoms_of = MAKERS[kind]
    seen = []
    for seed in range(first, first + count):
        rng = random.Random(seed)
        model = make(rng)
        seen += agree(model, atoms_of(rng, model), rng)
    return seen


@pytest.mark.parametrize(("kind", "count"), [("models", 60), ("nets", 150)])
def test_agrees_with_spot(kind, count):
    """A good part of the cases says something."""
    seen = compare(0, examples(count), kind)

    assert seen.count("holds") >= at_least(20)
    assert seen.count("violated") >= at_least(20)
    assert seen.count("deadlock") >= at_least(5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("part", range(25))
def test_agrees_with_spot_by_the_thousand(kind, part):
    assert len(compare(1000 + 100 * part, 100, kind)) > 20

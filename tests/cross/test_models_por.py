"""Verdicts of reduced models against those of the whole ones."""

from __future__ import annotations

import random

import pytest

from ltlpipe import InputError, UnsupportedError, check
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.model import DveModel
from ltlpipe.systems.programs.promela.model import (
    PromelaModel,
    promela_model,
    read_model,
)
from tests.cross.test_models import (
    dve_atoms,
    explored,
    net_atoms,
    random_formula,
    spot_verdict,
)
from tests.example_counts import at_least, examples
from tests.por.models.random_models import random_dve, random_net
from tests.por.models.twins import Reduced
from tests.systems.programs.promela.random_programs import random_program

WAYS = [
    {},
    {"emptiness": "tela", "acceptance": "tela"},
    {"emptiness": "se05"},
    {"emptiness": "couvreur99", "seed": 5},
]
REDUCED = [
    {"reduce": "ample"},
    {"reduce": "ample", "emptiness": "se05"},
    {"reduce": "ample", "emptiness": "couvreur99", "seed": 5},
]
"""Ways that are refused where ample sets cannot be used."""


def stutter_invariant_formula(rng, model):
    """A formula that only tells what changes, without propositions about steps."""
    import spot

    if isinstance(model, PromelaModel):
        atoms = promela_atoms(rng, model)
    elif isinstance(model, DveModel):
        atoms = dve_atoms(rng, model)
    else:
        atoms = net_atoms(rng, model)
    atoms = [a for a in atoms if a != "deadlock" and "action==" not in a]
    if rng.random() < 0.8:
        atoms = rng.sample(atoms, min(rng.randint(1, 2), len(atoms)))
    while True:
        formula = random_formula(rng, atoms)
        # X of a stutter-invariant formula occurs, too: G X f is G f from the next on.
        if spot.is_stutter_invariant(formula.spot):
            return formula


def promela_atoms(rng, model):
    """Comparisons of variables, and whether a process is at a place."""
    names = [v.name for v in model.program.variables if v.name in ("x", "y", "z", "f")]
    atoms = [f"{rng.choice(names)}=={rng.randint(0, 2)}" for _ in range(3)]
    return [*atoms, f"a[0]<{rng.randint(1, 3)}"]


def random_promela(rng):
    """A model of a random program that can be read."""
    while True:
        text = random_program(rng.randrange(1 << 30))
        try:
            tree = read_model(text, "m.pml")
            return complete(promela_model(tree)).without_assertions()
        except (InputError, UnsupportedError):
            continue


def agrees(model, rng):
    """Compare both, by Spot; return what was seen: large, unreduced, or verdicts."""
    whole = explored(model)
    if whole is None:
        return ["large"]
    return [agrees_on_formula(model, whole, rng) for _ in range(3)]


def agrees_on_formula(model, whole, rng):
    formula = stutter_invariant_formula(rng, model)
    meanings = bound_propositions(model, Property(formula))
    reduced = Reduced(model, list(meanings.values()))
    part = explored(reduced)
    assert part is not None
    stutters = rng.random() < 0.5
    expected = spot_verdict(model, whole, formula, stutters)
    assert spot_verdict(reduced, part, formula, stutters) == expected, formula.text
    n_steps = [sum(map(len, steps)) for _, steps in (whole, part)]
    return "unreduced" if n_steps[0] == n_steps[1] else expected


def compare(first, count, make):
    seen = []
    for seed in range(first, first + count):
        rng = random.Random(seed)
        seen += agrees(make(rng), rng)
    return seen


@pytest.mark.parametrize("make", [random_dve, random_net, random_promela])
def test_reduced_by_definition(make):
    """By Python and Spot alone; a good part of the cases says something."""
    seen = compare(0, examples(100), make)

    assert seen.count("holds") >= at_least(3)
    assert seen.count("violated") >= at_least(8)


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_dve, random_net, random_promela])
@pytest.mark.parametrize("part", range(50))
def test_reduced_by_definition_by_the_thousand(make, part):
    seen = compare(1000 + 100 * part, 100, make)

    assert seen.count("large") < 80


def answers_agree(model, rng):
    """Compare what the searches say with and without reduction."""
    whole = explored(model)
    if whole is None:
        return False
    formula = stutter_invariant_formula(rng, model)
    deadlock = rng.choice(["stutter", "ignore"])
    expected = spot_verdict(model, whole, formula, deadlock == "stutter")
    for way in WAYS:
        found = check(model, formula, deadlock=deadlock, **way)
        assert found.verdict == expected, f"{formula.text}: {way}"
    for way in REDUCED:
        try:
            found = check(model, formula, deadlock=deadlock, **way)
        except UnsupportedError:
            return False
        assert found.verdict == expected, f"{formula.text}: {way}"
        assert found.plan.reductions == ("ample",)
    return True


@pytest.mark.parametrize("part", range(3))
def test_searches_of_nets(part):
    reduced = 0
    for seed in range(50 * part, 50 * part + examples(30)):
        rng = random.Random(seed)
        reduced += answers_agree(random_net(rng), rng)
    assert reduced >= at_least(3)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_searches_of_dve_models():
    """Few by default: each is compiled for seconds."""
    for seed in range(3):
        rng = random.Random(seed)
        model = random_dve(rng)
        for _ in range(5):
            answers_agree(model, rng)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_searches_of_nets_by_the_thousand(part):
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        rng = random.Random(seed)
        answers_agree(random_net(rng), rng)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_searches_of_dve_models_by_the_hundred(part):
    for seed in range(1000 + 10 * part, 1010 + 10 * part):
        rng = random.Random(seed)
        model = random_dve(rng)
        for _ in range(10):
            answers_agree(model, rng)

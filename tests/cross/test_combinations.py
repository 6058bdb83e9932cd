"""Options in any combination against the plain search.

What a combination cannot be used for is refused, and never answered wrongly: each
strategy has to see to that, also where another one is combined with it.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.question.conditions import (
    ACCEPTANCE_NAMES,
    EMPTINESS_NAMES,
    REDUCTION_NAMES,
)
from tests.cross.test_agreement import ask
from tests.cross.test_automorphisms import model_question, network_question
from tests.cross.test_models import net_atoms
from tests.example_counts import at_least, examples
from tests.portfolio_settings import all_playing
from tests.symmetry.groups import random_systems as systems
from tests.symmetry.groups.random_networks import random_formula, random_symmetric
from tests.symmetry.sets.random_nets import formula as formula_about
from tests.symmetry.sets.random_nets import lively_net

LIMIT = 20_000
"""States: some nets are unbounded."""

WAYS = {
    "ample_sets": ["components"],
    "red_ample": ["stored"],
    "max_component_states": [2, 10],
    "share": [0],
    "compress": [True],
    "deterministic": [True],
    "shortest": [True],
    "workers": [2],
    "seed": [1, 2],
    "bitstate": [1],
    "compact": [64],
    "ndfs_stack_test": [True],
}
"""Options that change how a question is answered, and not what is asked."""


def drawn_way(rng):
    """A combination of options that leave the question as it is."""
    names = rng.sample(REDUCTION_NAMES, rng.choice([1, 2, 2, 3]))
    way = {"reduce": rng.choice(["auto", "none", *[",".join(names)] * 6])}
    if rng.random() < 0.4:
        way["emptiness"] = rng.choice(EMPTINESS_NAMES)
    if rng.random() < 0.2:
        way["acceptance"] = rng.choice(ACCEPTANCE_NAMES)
    for name in rng.sample(list(WAYS), rng.choice([0, 0, 1, 1, 2])):
        way[name] = rng.choice(WAYS[name])
    return way


def drawn_meaning(rng, kind):
    """Options that say what is asked."""
    meaning = {}
    if rng.random() < 0.3:
        meaning["deadlock"] = rng.choice(["ignore", "stutter"])
    if rng.random() < 0.15:
        meaning["fairness"] = rng.choice(["weak", "strong"])
    if kind == "network" and rng.random() < 0.2:
        meaning["network_acceptance"] = "each"
    return meaning


def question(seed):
    """A system and a formula, what they mean, and a way to answer."""
    rng = random.Random(seed)
    kind = rng.choice(["network", "network", "net", "coloured"])
    if kind == "network" and rng.random() < 0.5:
        system = random_symmetric(rng, accepting=rng.random() < 0.5)
        formula = random_formula(rng, system, size=rng.randint(2, 8))
    elif kind == "network":
        system, formula = network_question(rng)
    elif kind == "coloured":
        system = lively_net(rng)
        formula = formula_about(rng, system)
    else:
        system, formula = model_question(rng, systems.net, net_atoms)
    return system, formula, drawn_meaning(rng, kind), drawn_way(rng)


def answer(system, formula, **options):
    """The verdict; None where the options are refused."""
    try:
        return ask(system, formula, max_states=LIMIT, **options)
    except UnsupportedError:
        return None


def assert_agree(seed, counts):
    """A combination is refused, or comes to the verdict of the plain search."""
    system, formula, meaning, way = question(seed)
    plain = answer(system, formula, reduce="none", **meaning)
    if plain is None:  # acceptance of each component, which other searches judge
        plain = answer(system, formula, **meaning)
    with all_playing():
        found = answer(system, formula, **meaning, **way)
    if found is None:
        counts["refused"] += 1
        return
    counts[found.verdict] += 1
    if plain is None or "unknown" in (plain.verdict, found.verdict):
        return
    assert found.verdict == plain.verdict, (seed, formula, meaning, way)
    counts["reduced"] += bool(found.plan.reductions)
    counts[found.plan.strategy] += 1


@pytest.mark.thorough("kernels of rare combinations are compiled")
def test_some():
    """A hundred combinations."""
    counts = Counter()
    for seed in range(examples(100)):
        assert_agree(seed, counts)

    assert min(counts["holds"], counts["violated"]) >= at_least(5)
    assert counts["reduced"] >= at_least(5)
    assert counts["refused"] <= 85


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """5,000 combinations in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)

    assert min(counts["holds"], counts["violated"], counts["reduced"]) > 10
    assert counts["refused"] < 170

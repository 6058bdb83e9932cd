"""Symbolic products of random symmetric networks have the properties of Def. 5.

Each set is written out by brute force, so the networks have three to five clients.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.search.powerset.properties import assert_powerset
from tests.search.symmetric.expanding import Expansion, question, underlying
from tests.search.symmetric.networks import (
    personal_formula,
    random_formula,
    random_symmetric,
)


def check(seed, counts):
    """Check one symbolic product; count what came up."""
    rng = random.Random(seed)
    network = random_symmetric(
        rng,
        n_clients=rng.choice([3, 3, 4, 4, 5]),
        most_states=rng.choice([3, 4]),
        accepting=rng.random() < 0.3,
        lively=rng.random() < 0.5,
    )
    if rng.random() < 0.5:
        text = personal_formula(rng, network)
    else:
        text = random_formula(rng, network, size=rng.randint(2, 9))
    asked = question(network, text, stutter=rng.random() < 0.4)
    if asked is None:
        counts["no symmetry"] += 1
        return
    expand = Expansion(asked)
    seen = assert_powerset(asked.automaton(), expand, underlying(asked), most_sets=40)
    for states, row in seen.sets.items():
        expand.assert_coarsest(row, states)
    counts["checked"] += 1
    counts["inclusions"] += seen.inclusions > 0
    counts["pieces"] += seen.pieces > 0
    counts["several classes"] += asked.symmetry.n_classes > 1
    counts["moved"] += bool(asked.symmetry.moved)


def test_random_ones():
    """Dozens, in which sets include each other, and servers remember clients."""
    counts = Counter()
    for seed in range(40):
        check(seed, counts)

    assert counts["checked"] > 30
    assert counts["inclusions"] > 10
    assert counts["pieces"] > 10
    assert counts["several classes"] > 5
    assert counts["moved"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_ones(part):
    """2,000 in ten parts."""
    counts = Counter()
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        check(seed, counts)

    assert counts["checked"] > 150

"""Searches of sets run interpreted as they run compiled."""

from __future__ import annotations

import pytest

from tests.modes import INTERPRETED, output

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import check
from ltlpipe.search.catalogue import POWERSET
from tests.symmetry.sets.networks.networks import personal_formula, random_symmetric
import random

for seed in (3, 10):
    rng = random.Random(seed)
    network = random_symmetric(rng, n_clients=3, most_states=3, lively=True)
    formula = personal_formula(rng, network)
    for name in POWERSET:
        v = check(network, formula, emptiness=name, max_states=200)
        print(name, formula, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_interpreted_kernels_are_the_same():
    """Plain Python gives the same runs."""
    assert output(PROGRAM, **INTERPRETED) == output(PROGRAM)

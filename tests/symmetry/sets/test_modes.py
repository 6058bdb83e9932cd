"""Searches of sets run interpreted as they run compiled."""

from __future__ import annotations

import pytest

from tests.kernel_modes import INTERPRETED, output

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import check
from ltlpipe.search.catalogue import POWERSET
from tests.symmetry.sets.random_nets import formula as drawn, lively_net
import random

for seed in (1, 2, 7, 10, 11):
    rng = random.Random(seed)
    net = lively_net(rng)
    formula = drawn(rng, net)
    for name in POWERSET:
        v = check(net, formula, emptiness=name, max_states=200)
        print(name, formula, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_interpreted_kernels_are_the_same():
    """Plain Python gives the same runs."""
    assert output(PROGRAM, **INTERPRETED) == output(PROGRAM)

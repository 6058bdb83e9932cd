"""Symbolic products of random symmetric nets have the properties of Def. 5.

Each set is written out by brute force, so sorts have two to four colours.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.families.nets import shared_memory
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from tests.example_counts import at_least, examples
from tests.symmetry.sets.brute_force_sets import Expansion, question, underlying
from tests.symmetry.sets.properties import assert_powerset
from tests.symmetry.sets.random_nets import formula, lively_net


def check(seed, counts):
    """Check one symbolic product; count what came up."""
    rng = random.Random(seed)
    net = lively_net(rng)
    asked = question(net, formula(rng, net), stutter=rng.random() < 0.6)
    if asked is None:
        counts["no symmetry"] += 1
        return
    expand, plain = Expansion(asked), underlying(asked)
    try:
        seen = assert_powerset(
            asked.made.automaton, expand, plain, most_sets=20, exact=False
        )
    except AssertionError:
        if asked.made.noted():
            counts["too narrow"] += 1
            return
        raise
    counts["checked"] += 1
    counts["inclusions"] += seen.inclusions > 0
    counts["pieces"] += seen.pieces > 0
    counts["missed"] += seen.missed > 0
    counts["overlaps"] += seen.overlaps > 0
    counts["several"] += len(asked.group.classes) > 1


def test_random_ones():
    """Dozens, with sets that include each other."""
    counts = Counter()
    for seed in range(examples(120)):
        check(seed, counts)

    assert counts["checked"] >= at_least(30)
    assert counts["inclusions"] >= at_least(2)
    assert counts["pieces"] >= at_least(2)
    assert counts["several"] >= at_least(5)


@pytest.mark.parametrize(
    ("net", "text"),
    [
        (coloured_client_server(3, 2), "G(served.1.1 == 0 || served.2.2 == 0)"),
        (coloured_client_server(4, 1), "G(free + served == 1)"),
        (coloured_client_server(4, 1), "GF(served.1.1 == 1) -> GF(served.2.1 == 1)"),
        (shared_memory(3), "F(other.1.2 == 1) -> GF(memory.2 == 1)"),
    ],
)
@pytest.mark.parametrize("stutter", [False, True])
def test_families(net, text, stutter):
    """The project's own nets, with formulas that name colours and others."""
    asked = question(SymmetricNet(net), text, stutter=stutter)
    expand = Expansion(asked)

    seen = assert_powerset(
        asked.made.automaton, expand, underlying(asked), most_sets=40, exact=False
    )

    assert seen.missed == 0
    assert seen.sets


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_ones(part):
    """2,000 in ten parts."""
    counts = Counter()
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        check(seed, counts)

    assert counts["checked"] > 50

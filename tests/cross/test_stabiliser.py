"""Searches of orbits against the plain product of random symmetric networks.

Every violation is replayed within the check, action by action.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.cross.test_agreement import ask
from tests.cross.test_symmetry import begins_apart, question
from tests.depth import at_least, examples

SEARCHES = ("couvreur99", "se05", "gmz04", "gv04", "rabin", "tela")


def assert_agree(seed, counts, *, moved=False):
    """A search of orbits gives the verdict of the plain product, in no more states."""
    network, formula, options, declared = question(seed, moved=moved)
    if moved and not begins_apart(network):
        return
    rng = random.Random(seed)
    name = rng.choice(SEARCHES)
    plain = ask(network, formula, emptiness=name, reduce="none", **options)
    found = ask(
        network,
        formula,
        emptiness=name,
        reduce=rng.choice(["stabiliser", "stabiliser", "stabiliser,factoring"]),
        **options,
        **declared,
    )
    assert found.verdict == plain.verdict, (seed, name, formula)
    assert "stabiliser" in found.plan.reductions
    counts[found.verdict] += 1
    if found.verdict == "violated":
        assert found.lasso is not None
        counts["long"] += len(found.lasso.cycle) > 1
    else:
        assert moved or found.stats.states <= plain.stats.states, (seed, name, formula)
        counts["fewer"] += found.stats.states < plain.stats.states


def test_some():
    """Two hundred questions."""
    counts = Counter()
    for seed in range(examples(200)):
        assert_agree(seed, counts)

    assert min(counts["holds"], counts["violated"]) >= at_least(40)
    assert counts["fewer"] >= at_least(8)
    assert counts["long"] >= at_least(20)


def test_members_begin_in_different_states():
    """Orbits are those of the initial state's; runs begin in that itself."""
    counts = Counter()
    for seed in range(examples(200)):
        assert_agree(seed, counts, moved=True)

    assert min(counts["holds"], counts["violated"]) >= at_least(20)
    assert counts["long"] >= at_least(10)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """5,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)

    assert min(counts["fewer"], counts["long"]) > 3

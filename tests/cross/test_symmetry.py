"""Searches of orbits against the plain product of random symmetric networks.

Every violation is replayed within the check, action by action.  The networks are
symmetric by construction, so symmetry has to be found.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.cross.test_agreement import ask
from tests.example_counts import at_least, examples
from tests.symmetry.groups.random_networks import (
    elsewhere,
    personal_formula,
    random_formula,
    random_symmetric,
)

SEARCHES = ("couvreur99", "se05", "gmz04", "gv04", "rabin", "tela")


def question(seed, *, moved=False):
    """A network, a formula and options; `moved` lets members begin differently."""
    rng = random.Random(seed)
    n_clients = rng.choice([3, 3, 4, 4, 5])
    network = random_symmetric(
        rng,
        n_clients=n_clients,
        most_states=rng.choice([3, 3, 4]),
        accepting=rng.random() < 0.3,
        lively=rng.random() < 0.6,
    )
    if moved:
        network = elsewhere(random.Random(seed), network)
    if rng.random() < 0.6:
        formula = personal_formula(rng, network)
    else:
        formula = random_formula(rng, network, size=rng.randint(2, 10))
    options = {"deadlock": rng.choice(["ignore", "ignore", "stutter"])}
    return network, formula, options


def assert_agree(seed, counts, *, moved=False):
    """A search of orbits gives the verdict of the plain product, in no more states."""
    network, formula, options = question(seed, moved=moved)
    rng = random.Random(seed)
    name = rng.choice(SEARCHES)
    plain = ask(network, formula, emptiness=name, reduce="none", **options)
    found = ask(
        network,
        formula,
        emptiness=name,
        reduce=rng.choice(["symmetry", "symmetry", "symmetry,factoring"]),
        **options,
    )
    assert found.verdict == plain.verdict, (seed, name, formula)
    assert "symmetry" in found.plan.reductions
    unasked = ask(network, formula, **options)
    assert unasked.verdict == plain.verdict, (seed, formula)
    counts[found.verdict] += 1
    if found.verdict == "violated":
        assert found.lasso is not None
        counts["long"] += len(found.lasso.cycle) > 1
    else:
        # The initial state stands for itself, and may be a state more.
        most = plain.stats.states + 1
        assert moved or found.stats.states <= most, (seed, name, formula)
        counts["fewer"] += found.stats.states < plain.stats.states


def test_some():
    """Of which few have states that orbits save."""
    counts = Counter()
    for seed in range(examples(100)):
        assert_agree(seed, counts)

    assert min(counts["holds"], counts["violated"]) >= at_least(13)
    assert counts["fewer"] >= at_least(5)
    assert counts["long"] >= at_least(6)


def test_members_begin_in_different_states():
    """Orbits are those of the initial state's; runs begin in that itself."""
    counts = Counter()
    for seed in range(examples(100)):
        assert_agree(seed, counts, moved=True)

    assert min(counts["holds"], counts["violated"]) >= at_least(10)
    assert counts["long"] >= at_least(5)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """10,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)
        assert_agree(seed, counts, moved=True)

    assert min(counts["fewer"], counts["long"]) > 3

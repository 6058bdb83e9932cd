"""Searches in symbolic products against the plain product of random symmetric networks.

Every violation is replayed within the check.  The networks are symmetric by
construction, so symmetry has to be found, and may be declared.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe.search.catalogue import POWERSET
from tests.cross.test_agreement import ask
from tests.depth import at_least, examples
from tests.search.symmetric.networks import (
    personal_formula,
    random_formula,
    random_symmetric,
)

COUNTED = ("sets_left_out", "sets_replaced", "parts", "approximate_states")


def question(seed):
    """A network, a formula and options."""
    rng = random.Random(seed)
    n_clients = rng.choice([3, 3, 4, 4, 5])
    network = random_symmetric(
        rng,
        n_clients=n_clients,
        most_states=rng.choice([3, 3, 4]),
        accepting=rng.random() < 0.3,
        lively=rng.random() < 0.6,
    )
    if rng.random() < 0.6:
        formula = personal_formula(rng, network)
    else:
        formula = random_formula(rng, network, size=rng.randint(2, 10))
    options = {"deadlock": rng.choice(["ignore", "ignore", "stutter"])}
    declared = {}
    if rng.random() < 0.3:
        named = rng.sample(range(n_clients), rng.randint(2, n_clients))
        declared["symmetric"] = (",".join(f"client{i}" for i in named),)
    return network, formula, options, declared


def assert_agree(seed, counts):
    """All searches in the symbolic product give the verdict of the plain one."""
    network, formula, options, declared = question(seed)
    plain = ask(network, formula, emptiness="couvreur99", reduce="none", **options)
    for name in (*POWERSET, "auto"):
        found = ask(network, formula, emptiness=name, **options, **declared)
        assert found.verdict == plain.verdict, (seed, name, formula)
        if found.verdict == "violated":
            assert found.lasso is not None
        if name == "auto":
            continue
        assert "symmetry" in found.plan.reductions
        details = found.stats.details
        counts[name, found.verdict] += 1
        counts[name, "states"] += found.stats.states
        for what in COUNTED:
            counts[name, what] += details.get(what, 0) > 0


def test_some():
    """Fifty questions, among them all that the searches do differently."""
    counts = Counter()
    for seed in range(examples(50)):
        assert_agree(seed, counts)

    for name in POWERSET:
        assert min(counts[name, "holds"], counts[name, "violated"]) >= at_least(10)
    assert counts["nsiec", "sets_left_out"] >= at_least(1)
    assert counts["iec", "sets_replaced"] >= at_least(3)
    assert counts["iec", "parts"] >= at_least(3)
    assert counts["aec", "sets_replaced"] >= at_least(1)
    assert counts["aec", "approximate_states"] >= at_least(1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """5,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)

    assert counts["nsiec", "sets_left_out"] > 0
    assert counts["iec", "sets_replaced"] > 10
    assert counts["aec", "approximate_states"] > 2

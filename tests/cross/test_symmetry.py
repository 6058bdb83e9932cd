"""Searches in symbolic products against the plain product of random symmetric networks.

Every violation is replayed within the check.  The networks are symmetric by
construction, so symmetry has to be found, and may be declared.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe.runtime.jobs import run
from ltlpipe.search.catalogue import POWERSET
from ltlpipe.symmetry.classes.detection import find_symmetry
from tests.cross.test_agreement import ask
from tests.depth import at_least, examples
from tests.symmetry.sets.networks.networks import (
    elsewhere,
    personal_formula,
    random_formula,
    random_symmetric,
)

COUNTED = ("sets_left_out", "sets_replaced", "parts", "approximate_states")


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
    declared = {}
    if rng.random() < 0.3 and not moved:
        named = rng.sample(range(n_clients), rng.randint(2, n_clients))
        declared["symmetric"] = (",".join(f"client{i}" for i in named),)
    return network, formula, options, declared


def assert_agree(seed, counts, *, moved=False):
    """All searches in the symbolic product give the verdict of the plain one."""
    network, formula, options, declared = question(seed, moved=moved)
    if moved and not begins_apart(network):
        counts["alike"] += 1
        return
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


def begins_apart(network):
    """Whether there are members of a class that begin in different states."""
    symmetry = run(find_symmetry(network, least=2))
    if symmetry is None:
        return False
    start = [c.initial for c in network.components]
    begins = [
        (*(int(symmetry.canonical[c][start[c]]) for c in own), int(class_))
        for own, class_ in zip(symmetry.members, symmetry.class_of, strict=True)
    ]
    roles = [symmetry.roles[c][start[c]].tolist() for c in symmetry.moved]
    return len(set(zip(begins, *roles, strict=True))) > symmetry.n_classes


def test_members_begin_in_different_states():
    """Sets are those of the orbit of the initial state; runs begin in that itself."""
    counts = Counter()
    for seed in range(examples(80)):
        assert_agree(seed, counts, moved=True)

    for name in POWERSET:
        assert min(counts[name, "holds"], counts[name, "violated"]) >= at_least(10)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_members_begin_in_different_states_many(part):
    """5,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts, moved=True)

    assert counts["aec", "holds"] > 20


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

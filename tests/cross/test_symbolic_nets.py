"""Sets of markings of symmetric nets against the plain product of the unfolded net.

Every violation is replayed within the check, step by step.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe import UnsupportedError
from tests.cross.test_agreement import ask
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import formula, lively_net

SEARCHES = ("tec", "nsiec", "iec", "aec", "aec-closed")
LIMIT = 3_000
"""States: some nets are unbounded."""


def assert_agree(seed, counts):
    """Each search of sets gives the verdict of the plain product."""
    rng = random.Random(seed)
    net = lively_net(rng)
    text = formula(rng, net)
    options = {"deadlock": rng.choice(["stutter", "stutter", "ignore"])}
    options["acceptance"] = rng.choice(["auto", "auto", "ba", "tgba"])
    plain = ask(net, text, reduce="none", max_states=LIMIT, **options)
    if plain.verdict == "unknown":
        counts["unbounded"] += 1
        return
    for search in SEARCHES:
        how = {"reduce": "symmetry", "emptiness": search, **options}
        how["max_states"] = 10 * LIMIT
        try:
            found = ask(net, text, **how)
        except UnsupportedError:
            counts["no symmetry"] += 1
            return
        if found.verdict == "unknown":  # it is unbounded, and violated elsewhere
            counts["unbounded"] += 1
            return
        assert found.verdict == plain.verdict, (seed, search, text)
        if found.verdict == "violated":
            assert found.lasso is not None or found.finite_run is not None
            counts["long"] += found.lasso is not None and len(found.lasso.cycle) > 1
        else:
            counts["fewer"] += found.stats.states < plain.stats.states
            counts["more"] += found.stats.states > plain.stats.states
        details = found.stats.details
        counts["replaced"] += details.get("sets_replaced", 0) > 0
        counts["parts"] += details.get("parts", 0) > 0
        counts["left out"] += details.get("sets_left_out", 0) > 0
        counts["alarms"] += "approximate_states" in details
        counts["approximate"] += details.get("approximate_markings", 0) > 0
    counts[found.verdict] += 1


def test_some():
    """Two hundred questions, each for five searches."""
    counts = Counter()
    for seed in range(examples(200, quick=15)):
        assert_agree(seed, counts)

    assert counts["holds"] >= at_least(20)
    assert counts["violated"] >= at_least(20)
    assert counts["fewer"] >= at_least(20)
    assert counts["long"] >= at_least(20)
    assert min(counts["replaced"], counts["left out"]) >= at_least(1)
    assert counts["alarms"] >= at_least(2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """5,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)

    assert counts["long"] > 3

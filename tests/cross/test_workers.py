"""Searches by several workers against those by one, on systems of all kinds.

Tables begin with next to no room, so that they grow all the time.
"""

from __future__ import annotations

import random
import warnings

import pytest

from ltlpipe import LtlpipeWarning, UnsupportedError, check
from ltlpipe.families.networks import random_network
from ltlpipe.search.shared import search as shared_search
from tests.cross.test_models_por import stutter_invariant_formula
from tests.example_counts import examples
from tests.por.models.random_models import random_dve, random_net

WORKERS = [1, 2, 3, 8]

WAYS = [
    {"emptiness": "ufscc"},
    {"emptiness": "ufscc", "acceptance": "tfla"},
    {"emptiness": "cndfs"},
    {"emptiness": "rabin"},
    {"emptiness": "rabin-parallel"},
    {"emptiness": "tela"},
]


@pytest.fixture(autouse=True)
def tiny_tables(monkeypatch):
    monkeypatch.setattr(shared_search, "FIRST_ENTRIES", 2)
    monkeypatch.setattr(shared_search, "CHUNK", 4)


def assert_agree(system, question, rng):
    """Each way says what `couvreur99` says, of as many states if nothing is found."""
    options = {"reduce": "none", "unknown": "never", "max_states": 2_000} | question
    options["deadlock"] = rng.choice(["stutter", "ignore"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        try:
            one = check(system, emptiness="couvreur99", acceptance="tgba", **options)
        except UnsupportedError:
            return "unsupported"
        if one.verdict == "unknown":  # a net without bounds; others may be luckier
            return one.verdict
        for way in WAYS:
            seen = check(system, workers=rng.choice(WORKERS), **way, **options)
            if one.verdict == "violated" and seen.reason == "max-states":
                continue  # a net without bounds, taken in another order
            told = f"{question}, {way}: {seen.verdict} and not {one.verdict}"
            assert seen.verdict == one.verdict, told
            if one.verdict == "holds" and way == {"emptiness": "ufscc"}:
                assert seen.stats.details["sccs"] > 0
    return one.verdict


def of_network(seed):
    rng = random.Random(seed)
    network = random_network(
        rng.choice([2, 3]),
        seed=seed,
        local_ratio=rng.choice([0.2, 0.6]),
        n_states=(2, 6),
    )
    return assert_agree(network, {"empty": True}, rng)


def of_model(make, seed, n_formulas=1):
    rng = random.Random(seed)
    model = make(rng)
    return [
        assert_agree(model, {"formula": stutter_invariant_formula(rng, model)}, rng)
        for _ in range(n_formulas)
    ]


def test_networks():
    seen = [of_network(seed) for seed in range(examples(30))]
    assert {"holds", "violated"} <= set(seen)


def test_nets():
    seeds = range(examples(40))
    seen = [found for seed in seeds for found in of_model(random_net, seed)]
    assert {"holds", "violated"} <= set(seen)


def test_dve_models():
    """Few by default: each is compiled for seconds."""
    seen = [found for seed in range(2) for found in of_model(random_dve, seed, 6)]
    assert len(seen) == 12


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_networks_by_the_thousand(part):
    for seed in range(1000 + 250 * part, 1250 + 250 * part):
        of_network(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_nets_by_the_thousand(part):
    for seed in range(1000 + 250 * part, 1250 + 250 * part):
        of_model(random_net, seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_dve_models_by_the_hundred(part):
    for seed in range(1000 + 10 * part, 1010 + 10 * part):
        of_model(random_dve, seed, 10)

"""Components that accept each for itself: every search of several marks, by Spot.

Lassos are replayed by `check`: each component accepts on the cycle.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter

import pytest

from ltlpipe import LtlpipeWarning, UnsupportedError, check
from ltlpipe.logic.formulas import parse
from ltlpipe.search.catalogue import SEARCHES, takes_any_marks
from tests.cross.test_factoring import random_formula, random_network
from tests.example_counts import examples
from tests.oracles import each_component_accepts, spot_verdict
from tests.portfolio_settings import searching_at_once

TAKEN = [name for name in SEARCHES if takes_any_marks(name)]
WAYS = [
    {"reduce": "none", "seed": 1},
    {"reduce": "walks"},
    {"reduce": "decoupled"},
    *({"emptiness": name} for name in TAKEN),
]
DEFAULT, MANY = 20, 400


def assert_each(seed, counts):
    """The verdict about emptiness, and about a formula, is Spot's in all ways."""
    rng = random.Random(seed)
    network = random_network(rng, acceptance=True)
    formula = parse(random_formula(rng, 2))
    exists = each_component_accepts(network)
    expected = spot_verdict(network, formula.spot, together=False)
    for way in WAYS:
        asked = {"network_acceptance": "each", "unknown": "never", **way}
        with warnings.catch_warnings(), searching_at_once(1):
            warnings.simplefilter("ignore", LtlpipeWarning)
            for question, known in (
                ({"empty": True}, "violated" if exists else "holds"),
                ({"formula": formula}, expected),
            ):
                try:
                    found = check(network, **question, **asked)
                except UnsupportedError:
                    counts["refused", next(iter(way.values()))] += 1
                    continue
                if found.verdict != "unknown":  # walks show no formula
                    assert found.verdict == known, (seed, question, way)
                counts[found.verdict] += 1


def test_every_search_of_several_marks():
    counts = Counter()
    for seed in range(examples(DEFAULT)):
        assert_each(seed, counts)
    assert counts["holds"] > 0
    assert counts["violated"] > 0
    for name in ("couvreur99", "tela", "ufscc"):
        assert not counts["refused", name]


@pytest.mark.slow
def test_every_search_of_several_marks_by_the_hundred():
    """The same, more often."""
    counts = Counter()
    for seed in range(DEFAULT, examples(MANY)):
        assert_each(seed, counts)

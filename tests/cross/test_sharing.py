"""What questions about one network share changes no verdict and no lasso's worth.

Each formula is asked of a network object of its own, so that nothing but the folder of
the run tells one question of another, as among processes; and of one object in common,
whose groups and results are used again.  Components may be products of smaller ones.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import pytest

from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network
from ltlpipe.components import merger
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.folders import SharedFolder, shared_through
from tests.components.factoring.products import random_product
from tests.cross.test_agreement import ask, visible_word
from tests.oracles import satisfies, spot_verdict

SEEDS = 20
MORE_SEEDS = 2_000
OTHERS = ("G(a -> X !a)", "GF !b", "G(c -> X a)", "F(a & X b)")
"""Some that are erasable, and some that are neither that nor interruptible."""

REDUCTIONS = ("auto", "components", "alphabet,factoring,components")


def random_component(rng):
    """Small, over some of the labels; nondeterministic as it comes."""
    labels = rng.sample("abcdef", rng.randint(1, 3))
    n = rng.randint(1, 3)
    steps = [
        (rng.randrange(n), rng.choice(labels), rng.randrange(n))
        for _ in range(rng.randint(1, 6))
    ]
    return LTS.from_transitions(steps, n_states=n)


def random_network(rng):
    """Two to five components, some of them products; all formulas' actions occur."""
    parts = [random_component(rng) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.5:
        parts.append(random_product(rng, max_factors=2).component)
    every = LTS.from_transitions([(0, x, 0) for x in "abc"])
    return Network([*parts, every])


def copied(network):
    """The same network as another process would read it."""
    return Network(
        [
            LTS(
                n_states=c.n_states,
                initial=c.initial,
                labels=c.labels,
                src=c.src.copy(),
                label=c.label.copy(),
                dst=c.dst.copy(),
                internal=c.internal,
            )
            for c in network.components
        ]
    )


@contextmanager
def everything_is_worth_it(small):
    """Share whatever can be shared, however small, and compose down to `small`."""
    with (
        patch.object(merger, "WORTH_SHARING", 0),
        patch.object(merger, "Limit", partial(merger.Limit, small=small)),
        patch.object(merger, "SEARCHED", 0),
    ):
        yield


class Counted(SharedFolder):
    """A folder that counts what is found."""

    found = Counter()  # noqa: RUF012 (of all folders)

    def get(self, place, key):
        entry = super().get(place, key)
        Counted.found[place[0]] += entry is not None
        return entry

    def _files(self):
        self._listed = -1e9  # what was kept a moment ago shall be seen
        return super()._files()


def assert_same(network, text, reduce):
    """The verdict is Spot's, and a lasso is one of the network's."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=False)
    verdict = ask(network, formula=formula, reduce=reduce)
    assert verdict.verdict == expected
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


def assert_shared(seed, path):
    rng = random.Random(seed)
    network = random_network(rng)
    texts = [
        random_interruptible(
            rng.sample("abc", rng.randint(1, 3)), seed=rng.randrange(10**6), depth=2
        )
        for _ in range(3)
    ]
    texts.append(rng.choice(OTHERS))
    reduce = rng.choice(REDUCTIONS)
    small = rng.choice([0, 0, 4, 1000])
    with everything_is_worth_it(small), shared_through(Counted(path, 1 << 20)):
        for text in texts:
            assert_same(copied(network), text, reduce)
        for text in texts:
            assert_same(network, text, reduce)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_verdicts_with_what_others_have_found(tmp_path):
    """Much is found again."""
    Counted.found.clear()
    for seed in range(SEEDS):
        assert_shared(seed, tmp_path)
    assert Counted.found["group"] > SEEDS / 4


@pytest.mark.slow
def test_verdicts_with_what_others_have_found_by_the_thousand(tmp_path):
    """The same, many times."""
    for seed in range(SEEDS, MORE_SEEDS):
        assert_shared(seed, tmp_path)

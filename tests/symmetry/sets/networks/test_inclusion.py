"""Inclusion and decomposition of any two sets, not only of those that a search meets.

Sets are drawn as a state and a partition of the members; the next state is one of the
set before.  So blocks are cut into several pieces, with several colours each.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe import LTS, Network
from tests.depth import at_least, examples
from tests.symmetry.sets.networks.expanding import Expansion, question, underlying
from tests.symmetry.sets.networks.networks import random_symmetric
from tests.symmetry.sets.properties import Checker


def free_network(rng):
    """One or two classes of rings of three states, which take no notice of others."""
    sizes = rng.choice([(6,), (5,), (4, 3), (3, 3)])
    return Network(
        [
            LTS.from_transitions(
                [(s, f"{kind}{i}", (s + 1) % 3) for s in range(3)], name=f"{kind}{i}"
            )
            for kind, size in zip("ab", sizes, strict=False)
            for i in range(size)
        ]
    )


def draw_sets(rng, asked, expand, n):
    """Rows of n sets that have states of one orbit."""
    automaton = asked.automaton()
    product = underlying(asked)
    (state,) = product.initial
    for _ in range(rng.randint(0, 15)):
        after = sorted(product.steps(state))
        if after:
            state = rng.choice(after)[1]
    rows = []
    for _ in range(n):
        finest = rng.randint(1, 3)
        labels = [(c, rng.randrange(finest)) for c in asked.symmetry.class_of.tolist()]
        row = expand.row_of(state, labels)
        rows.append(row)
        state = rng.choice(sorted(expand(row)))
    return automaton, rows


def check(seed, counts):
    """Compare sets of one network, each with each."""
    rng = random.Random(seed)
    if rng.random() < 0.5:
        network, text = free_network(rng), "F a0"
    else:
        network = random_symmetric(rng, n_clients=rng.choice([4, 5]), lively=True)
        text = f'GF "{network.actions[0].name}"'
    asked = question(network, text)
    expand = Expansion(asked)
    automaton, rows = draw_sets(rng, asked, expand, 8)
    checker = Checker(automaton, expand, underlying(asked))
    for row in rows:
        expand.assert_coarsest(row, checker.states(row))
        for other in rows:
            pieces = checker.compare(row, other)
            counts["pieces", min(len(pieces), 5)] += 1
            counts["apart"] += not checker.states(row) & checker.states(other)
            for piece in pieces:
                expand.assert_coarsest(piece, checker.states(piece))


def test_random_sets():
    """The sets of 60 networks: keys, inclusion, what completes a set, coarse blocks."""
    counts = Counter()
    for seed in range(examples(60)):
        check(seed, counts)

    assert counts["apart"] >= at_least(50)
    for n in range(1, 6):
        assert counts["pieces", n] >= at_least(20)


@pytest.mark.slow
def test_many_random_sets():
    """Those of 2,000 more."""
    for seed in range(1000, 3000):
        check(seed, Counter())

"""Symbolic products of random symmetric networks have the properties of Def. 5.

Each set is written out by brute force, so the networks have three to five clients.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ltlpipe import LTS, Network
from tests.depth import at_least, examples
from tests.symmetry.sets.networks.expanding import (
    Expansion,
    beginnings,
    question,
    underlying,
)
from tests.symmetry.sets.networks.networks import (
    elsewhere,
    personal_formula,
    random_formula,
    random_symmetric,
)
from tests.symmetry.sets.properties import assert_powerset


def check(seed, counts, *, moved=False):
    """Check one symbolic product; count what came up.

    With `moved` members of classes begin in different states.
    """
    rng = random.Random(seed)
    network = random_symmetric(
        rng,
        n_clients=rng.choice([3, 3, 4, 4, 5]),
        most_states=rng.choice([3, 4]),
        accepting=rng.random() < 0.3,
        lively=rng.random() < 0.5,
    )
    if moved:
        network = elsewhere(random.Random(seed), network)
    if rng.random() < 0.5:
        text = personal_formula(rng, network)
    else:
        text = random_formula(rng, network, size=rng.randint(2, 9))
    asked = question(
        network,
        text,
        stutter=rng.random() < 0.4,
        told=int(network.has_acceptance and rng.random() < 0.4),
        seed=rng.choice([None, seed]),
    )
    if asked is None:
        counts["no symmetry"] += 1
        return
    expand = Expansion(asked)
    seen = assert_powerset(asked.automaton(), expand, underlying(asked), most_sets=40)
    for states, row in seen.sets.items():
        expand.assert_coarsest(row, states)
    counts["checked"] += 1
    counts["several beginnings"] += len(beginnings(asked)) > 1
    counts["inclusions"] += seen.inclusions > 0
    counts["pieces"] += seen.pieces > 0
    counts["several classes"] += asked.symmetry.n_classes > 1
    counts["moved"] += bool(asked.symmetry.moved)
    counts["told"] += asked.table.system_marks > 0


def test_members_begin_in_different_states():
    """The first set holds the orbit of the initial state."""
    counts = Counter()
    for seed in range(examples(40)):
        check(seed, counts, moved=True)

    assert counts["checked"] >= at_least(20)
    assert counts["several beginnings"] >= at_least(8)


def test_random_ones():
    """Dozens, in which sets include each other, and servers remember clients."""
    counts = Counter()
    for seed in range(examples(40)):
        check(seed, counts)

    assert counts["checked"] >= at_least(30)
    assert counts["inclusions"] >= at_least(10)
    assert counts["pieces"] >= at_least(10)
    assert counts["several classes"] >= at_least(5)
    assert counts["moved"] >= at_least(5)
    assert counts["told"] >= at_least(2)


def critical_section(n):
    """A network of n clients, one of which may be in its critical section."""
    clients = [
        LTS.from_transitions(
            [(0, f"try{i}", 1), (1, f"in{i}", 2), (2, f"out{i}", 0)],
            name=f"client{i}",
        )
        for i in range(n)
    ]
    tries = [(0, f"try{i}", i + 1) for i in range(n)]
    ins = [(i + 1, f"in{i}", i + 1) for i in range(n)]
    outs = [(i + 1, f"out{i}", 0) for i in range(n)]
    lock = LTS.from_transitions([*tries, *ins, *outs], name="lock")
    return Network([*clients, lock])


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("n", [12, 13, 17, 40, 70])
def test_blocks_of_several_words(n):
    """16 members fit into one word of blocks, 17 take two and 70 eight."""
    last = n - 1
    most = 40 if n < 20 else 200 // n  # sets of many clients take long to write out
    text = f"G(in{last} -> F in0) & !F(in1 & XF in{last // 2})"
    asked = question(critical_section(n), text)
    expand = Expansion(asked)
    automaton = asked.automaton()

    seen = assert_powerset(automaton, expand, underlying(asked), most_sets=most)

    words = {12: 1, 13: 1, 17: 2, 40: 4, 70: 8}[n]
    assert automaton.n_words == expand.n_system + words
    assert seen.inclusions > 0 or n > 20
    for states, row in seen.sets.items():
        expand.assert_coarsest(row, states)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_ones(part):
    """2,000 in ten parts."""
    counts = Counter()
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        check(seed, counts)
        check(seed, Counter(), moved=True)

    assert counts["checked"] > 150

"""Populations: their sizes, what holds, and that sets only count agents."""

from __future__ import annotations

from math import comb

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.families.networks import majority, remainder, species


def states_of(network, *, reduce, formula):
    """The states that are searched where a formula holds."""
    found = check(network, formula, reduce=reduce)
    assert found.verdict == "holds"
    return found.stats.states


def majority_states(n):
    """The closed form of the module's docstring."""
    a, b = n // 2 + 1, n - n // 2 - 1
    before = sum(comb(a, k) * comb(b, k) * 4**k for k in range(b))
    return before + comb(a, b) * (4**b - 2**b)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9])
def test_states_of_majorities(n):
    """As many as counted; somebody is sure at any time."""
    found = states_of(majority(n), reduce="none", formula="G !tie")
    assert found == majority_states(n)


def met(counts, first, second, third=None):
    """What a meeting makes of counts: one of `first` becomes `second`, and so on."""
    after = list(counts)
    after[first] -= 1
    after[second] += 1
    if third is not None:
        after[third[0]] -= 1
        after[third[1]] += 1
    return tuple(after) if min(after) >= 0 else None


def closed(initial, successors):
    """All that is reached from a multiset."""
    seen, waiting = {initial}, [initial]
    while waiting:
        for after in successors(waiting.pop()):
            if after is not None and after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def sums(counts):
    """What agents that hold `counts` of each number can become."""
    for given in (1, 2):
        for held in (1, 2):
            if counts[given] > (given == held) and counts[held]:
                yield met(counts, given, 0, (held, (given + held) % 3))


@pytest.mark.parametrize("n", [4, 5, 7, 8, 10])
def test_orbits_of_remainders_count(n):
    """One orbit for each multiset of numbers."""
    expected = len(closed((0, n, 0), sums))
    for reduce in ("symmetry", "automorphisms"):
        found = states_of(remainder(n), reduce=reduce, formula="G !zero")
        assert found == expected


def catches(counts):
    """Whom species can catch; counts of species, and what the witness has noted."""
    *agents, noted = counts
    for own in range(3):
        prey = (own + 1) % 3
        if agents[own] and agents[prey]:
            after = met(agents, prey, own)
            yield (*after, 2 if noted and own == 2 else noted)
    if not agents[2]:
        yield (*agents, max(noted, 1))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
def test_orbits_of_species_count(n):
    """Agents that begin as different species are interchangeable all the same."""
    initial = tuple(sum(i % 3 == s for i in range(1, n + 1)) for s in range(3))
    expected = closed((*initial, 0), catches)
    assert all(noted < 2 for *_, noted in expected)
    found = states_of(species(n), reduce="automorphisms", formula="G !revived")
    # The initial state stands for itself; its orbit may be met again.
    assert found - len(expected) in (0, 1)


def test_all_hold_nothing():
    """What three agents hold adds up to nothing."""
    found = check(remainder(3), "G !zero")
    assert found.verdict == "violated"


@pytest.mark.parametrize("family", [majority, remainder, species])
def test_nobody_to_meet(family):
    """One agent is no population."""
    with pytest.raises(UnsupportedError, match="use n >= 2"):
        family(1)

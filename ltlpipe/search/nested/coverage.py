"""Estimates of the share of the reachable states that a bitstate search has visited.

How many of the states that it met were taken for visited follows from the load of the
bits.  What lies behind those is known only by analogy: if most states are entered by
several others, little is hidden; where each is entered by one, as on a path or in a
tree, one omission can hide any number of states.  How often states are met is counted
in a sample: the states whose hash is small enough, so that searches of one product with
different hash functions of their bits have the same states in their samples.  It is
halved whenever it is full.

Let t be the number of unseen states per seen one.  A state is unseen if it is omitted,
or if none of its predecessors is seen.  If seen states are those that a random sample
of predecessors leads to, the states that were not met are, per one that was,

    g(t) = h1 t - h2 t^2 + h3 t^3 - ...

where hk is the share of the states met that were met from k others.  That is the
extrapolation of Good and Toulmin to a sample 1 + t times as large, the whole.  With the
omitted states per visited one, q, this gives the equation 1 + t = (1 + q) (1 + g(t)).
It has no small solution if h1 is near 1: then nothing can be said.

Source: I. J. Good and G. H. Toulmin, "The number of new species, and the increase in
population coverage, when a sample is increased", Biometrika 43, 1956.

Cost: 12 bytes per place of the sample, of which there are `PLACES` or a few more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.nested.step_stack import BitstateReg

PLACES = 1 << 13

ENTERED = 1 << 15
"""Bit of a count: the state has been entered.  Those below are how often it was met."""

_MOST = ENTERED - 1

CERTAIN = 0.01
"""Expected omissions up to which all reachable states have been visited, surely."""

STEEPEST = 0.9
"""Unseen states behind an unseen one, on average, from which on nothing is said."""

_MOST_UNSEEN = 1.0  # states per seen one: the series is of no use beyond
_ROUNDS = 1000


class Sample(NamedTuple):
    """The arrays of a sample with n places, a power of two."""

    keys: np.ndarray  # uint64[n], hashes; 0 where there is none
    counts: np.ndarray  # uint16[n], see ENTERED
    most: np.ndarray  # uint64[1], the largest hash in it


def new_sample(branching: int) -> Sample:
    """Return an empty sample for states of at most so many successors."""
    n = PLACES
    while n < 4 * branching:
        n *= 2
    return Sample(
        keys=np.zeros(n, dtype=np.uint64),
        counts=np.zeros(n, dtype=np.uint16),
        most=np.array([~np.uint64(0)], dtype=np.uint64),
    )


@inlined
def place_in(sample, registers, key):
    """Return the place of a hash that is small enough; it is added if it is new."""
    keys = sample.keys
    mask = np.uint64(keys.shape[0] - 1)
    at = np.int64(key & mask)
    while keys[at] != key:
        if keys[at] == np.uint64(0):
            keys[at] = key
            registers[BitstateReg.SAMPLED] += 1
            break
        at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
    return at


@inlined
def sample_entered(sample, registers, mixed):
    """Tell a sample that a state is entered."""
    if mixed <= sample.most[0] and mixed != np.uint64(0):
        sample.counts[place_in(sample, registers, mixed)] |= np.uint16(ENTERED)


@inlined
def sample_met(sample, registers, hashes, n, source):
    """Tell a sample the successors of a state, whose own hash is `source`."""
    most = sample.most[0]
    for i in range(n):
        mixed = hashes[i]
        if mixed > most or mixed == source or mixed == np.uint64(0):
            continue
        again = False  # steps from one state to another count once
        for k in range(i):
            again |= hashes[k] == mixed
        if not again:
            at = place_in(sample, registers, mixed)
            if sample.counts[at] & np.uint16(_MOST) != np.uint16(_MOST):
                sample.counts[at] += np.uint16(1)


@inlined
def is_crowded(sample, registers):
    """Whether a sample should be halved before states are added."""
    return 2 * registers[BitstateReg.SAMPLED] > sample.keys.shape[0]


def halve(sample: Sample, registers: np.ndarray) -> None:
    """Leave out the larger hashes, until a quarter of the places is taken at most.

    It does nothing before the sample is crowded.
    """
    keys, counts, most = sample
    if 2 * registers[BitstateReg.SAMPLED] <= len(keys):
        return
    filled = keys != 0
    known, times = keys[filled], counts[filled]
    while 4 * len(known) > len(keys):
        most[0] >>= np.uint64(1)
        small = known <= most[0]
        known, times = known[small], times[small]
    keys[:] = 0
    counts[:] = 0
    mask = len(keys) - 1
    for key, count in zip(known.tolist(), times.tolist(), strict=True):
        at = key & mask
        while keys[at]:
            at = (at + 1) & mask
        keys[at], counts[at] = key, count
    registers[BitstateReg.SAMPLED] = len(known)


def times_met(sample: Sample) -> np.ndarray:
    """Return float64[k], the share of the states met that were met 0, 1, 2, ... times.

    Steps of a state to itself do not count, nor does a second one between two states.
    """
    times = sample.counts[sample.keys != 0] & _MOST
    met = np.bincount(times[times > 0])
    return np.asarray(met / max(met.sum(), 1))


def omitted_of(sample: Sample) -> tuple[int, int]:
    """Return how many states of a sample were met but not entered, and entered."""
    counts = sample.counts[sample.keys != 0]
    n_entered = int(np.count_nonzero(counts & ENTERED))
    return len(counts) - n_entered, n_entered


def entered_states(sample: Sample) -> np.ndarray:
    """Return uint64[k], the hashes of the states in a sample that were entered."""
    return np.asarray(sample.keys[sample.counts & ENTERED != 0])


def reached_share(omitted: float, n_states: int, histogram: np.ndarray) -> float | None:
    """Return the share of the reachable states that was visited, if it can be told.

    Parameters
    ----------
    omitted : float
        States met and taken for visited.
    n_states : int
        States visited, at least one.
    histogram : float64[k]
        Share of the states met that were met from 0, 1, 2, ... others.
    """
    q = omitted / n_states
    if omitted <= CERTAIN:
        return 1 / (1 + q)
    times = np.arange(len(histogram))
    signs = np.where(times % 2 == 1, 1.0, -1.0)
    signs[0] = 0
    if len(histogram) < 2 or histogram[1] * (1 + q) >= STEEPEST:
        return None
    unseen = q
    for _ in range(_ROUNDS):
        unmet = float(np.sum(signs * histogram * unseen**times))
        following = (1 + q) * (1 + unmet) - 1
        if following > _MOST_UNSEEN:
            return None
        if abs(following - unseen) < 1e-9 * (1 + unseen):
            break
        unseen = following
    return 1 / (1 + unseen)

"""A sample of the states that a search over bits meets: how often is each met?

The states whose hash is small enough are in it, so that searches of one product with
different hash functions of their bits have the same states in their samples.  It is
halved whenever it is full.

Cost: 12 bytes per place, of which there are `PLACES` or a few more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.registers import Reg

PLACES = 1 << 13

ENTERED = 1 << 15
"""Bit of a count: the state has been entered.  Those below are how often it was met."""

_MOST = ENTERED - 1


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
            registers[Reg.SAMPLED] += 1
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
    return 2 * registers[Reg.SAMPLED] > sample.keys.shape[0]


def halve(sample: Sample, registers: np.ndarray) -> None:
    """Leave out the larger hashes, until a quarter of the places is taken at most.

    It does nothing before the sample is crowded.
    """
    keys, counts, most = sample
    if 2 * registers[Reg.SAMPLED] <= len(keys):
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
    registers[Reg.SAMPLED] = len(known)


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

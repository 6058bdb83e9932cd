"""Which visited sets may include a set, or be included in it.

Sets of which one includes the other have the same key; so those that come into question
for a set are in one chain, and only these are compared.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3.

Differences from the source: one hash table whose key tells the coarsest class and the
state of the property at once, instead of two levels.

Cost: 12 bytes per set, 4 bytes per head, with one head per set or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_U32 = np.uint64(32)


class Index(NamedTuple):
    """Room for n sets and h heads."""

    keys: np.ndarray  # int64[n], of the sets in chains
    following: np.ndarray  # int32[n], the next of the chain plus 1, 0 at its end
    heads: np.ndarray  # int32[h], the first of a chain plus 1, 0 for an empty one


@inlined
def chain_of(index, key):
    """Return the place in `heads` where the chain of a key begins."""
    mixed = np.uint64(key) * _MULTIPLIER
    n_heads = np.uint64(index.heads.shape[0])
    return np.int64(((mixed >> _U32) * n_heads) >> _U32)


@inlined
def enlist(index, state, key):
    """Put a set at the beginning of the chain of its key."""
    at = chain_of(index, key)
    index.keys[state] = key
    index.following[state] = index.heads[at]
    index.heads[at] = state + 1


@njit
def enlist_all(index, numbers, n_stored, lowest):
    """Build the chains anew, of the sets in them that have some number (int32[n]).

    The heads are all 0; a set without a key (0) is in no chain.  Only sets with exactly
    the number `lowest`, or, if that is positive, with at least that number, stay.
    """
    for state in range(n_stored):
        number = numbers[state]
        stays = number >= lowest if lowest > 0 else number == lowest
        key = index.keys[state]
        if key != 0:
            index.keys[state] = 0
            if stays:
                enlist(index, state, key)


@njit
def rehash(index, numbers, active, count, n_stored):
    """Build the chains anew, of all sets in them; the heads are all 0.

    numbers (int32[n]) are positive for the `count` active sets, which `active`
    (int32[n]) has in the order in which they were visited: their order in the chains
    depends on it.
    """
    for state in range(n_stored):
        key = index.keys[state]
        if key != 0 and numbers[state] <= 0:
            enlist(index, state, key)
    for place in range(count):
        visited = np.int64(active[place])
        key = index.keys[visited]
        if key != 0:
            enlist(index, visited, key)

"""Visited states as a few bits each, somewhere in an array.

Each hash function of a search is its salt: the hash of a state's row, mixed with the
salt, is the key that says which bits.  Two searches with different salts take different
states for visited that are not.  Blue and red visits have keys of their own, so that a
product without red searches has the whole array for blue ones.

Source: G. Holzmann, "An Analysis of Bitstate Hashing", FMSD 13(3), 1998; G. Holzmann,
R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE 37(6), 2011.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, prefetch

HASHES = 3
"""Bits that a key sets; Spin's number, too."""

_STEP = np.uint64(0xA0761D6478BD642F)
_RED = np.uint64(0xE7037ED1A0B428DB)
_U31, _U32 = np.uint64(31), np.uint64(32)


@inlined
def key_of(mixed, salt, red):
    """Return the key of a state's hash in the blue or the red search."""
    key = mixed ^ salt
    if red:
        key ^= _RED
    key *= _STEP
    return key ^ (key >> _U32)


@inlined
def step_of(key):
    """Return the distance of a key's places from one to the next, an odd number."""
    return ((key ^ (key >> _U31)) * _STEP) | np.uint64(1)


@inlined
def place_of(key, n_words):
    """Return the word of one place of a key."""
    return np.int64(((key >> _U32) * np.uint64(n_words)) >> _U32)


@inlined
def is_noted(bits, key):
    """Whether all places of a key are set; bits uint64[...]."""
    step = step_of(key)
    for _ in range(HASHES):
        word = bits[place_of(key, bits.shape[0])]
        if (word >> (key & np.uint64(63))) & np.uint64(1) == 0:
            return False
        key += step
    return True


@inlined
def note(bits, key):
    """Set all places of a key."""
    step = step_of(key)
    for _ in range(HASHES):
        bits[place_of(key, bits.shape[0])] |= np.uint64(1) << (key & np.uint64(63))
        key += step


@inlined
def ask_for_bits(bits, mixed, salt):
    """Ask for the first of a state's places ahead of time."""
    prefetch(bits, place_of(key_of(mixed, salt, False), bits.shape[0]))


def bit_omissions(n_states: int, n_keys: int, n_words: int) -> float:
    """Return how many states are omitted, on average, until so many are visited.

    When i keys have been noted, each of `HASHES` bits in an array of m, a new state is
    omitted with the probability p = (1 - exp(-HASHES i / m)) ** HASHES, and p / (1 - p)
    states are for one that is not.
    """
    load = np.linspace(0.0, HASHES * n_keys / (64 * n_words), 1001)
    missing = (1 - np.exp(-load)) ** HASHES
    return float(n_states * np.mean(missing / (1 - missing)))

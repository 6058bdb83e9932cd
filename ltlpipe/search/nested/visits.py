"""Visited states, as far as a search keeps them: a few bits each, or a fingerprint.

Each hash function of a search is its salt: the hash of a state's row, mixed with the
salt, is the key that says which bits.  Two searches with different salts take different
states for visited that are not.

A search has `bits`, uint64[...], or `prints`, a `Prints`.  The other is None, and
kernels hold no code for it.

**Bits.**  A visit is three bits somewhere in an array.  Blue and red visits have keys
of their own, so that a product without red searches has the whole array for blue ones.
Source: G. Holzmann, "An Analysis of Bitstate Hashing", FMSD 13(3), 1998; G. Holzmann,
R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE 37(6), 2011.

**Fingerprints.**  So many bits of a hash each, in a hash table: two states with the
same fingerprint are taken for one.  With n states and b bits, each new state is omitted
with the probability n / 2^b, so that n^2 / 2^(b + 1) are, on average.
Source: U. Stern and D. Dill, "A New Scheme for Memory-Efficient Probabilistic
Verification", FORTE 1996; P. Wolper and D. Leroy, "Reliable Hashing without Collision
Detection", CAV 1993.
Difference from the source: where the probing of a fingerprint begins follows from the
fingerprint itself, so that the table can grow; it says nothing more of a state than
these bits.

Cost of a fingerprint: the bits, rounded up to bytes, and one for red states per slot,
with 5 slots for 4 states or more.  While the table grows there are two of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch, specialised
from ltlpipe.search.registers import Reg

HASHES = 3
"""Bits that a key sets; Spin's number, too."""

LOAD = 0.8
"""States per slot at which a table of fingerprints grows."""

_STEP = np.uint64(0xA0761D6478BD642F)
_RED = np.uint64(0xE7037ED1A0B428DB)
_U31, _U32, _U64 = np.uint64(31), np.uint64(32), np.uint64(64)


class Prints(NamedTuple):
    """The arrays of a table of n slots."""

    slots: np.ndarray  # uint8[n, width], fingerprints; 0 is an empty slot
    red: np.ndarray  # uint8[n / 8 + 1], a bit per slot
    n_bits: np.ndarray  # int64[1], of a fingerprint


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
def place_of(key, n_places):
    """Return the place, of so many, that the upper half of a key says."""
    return np.int64(((key >> _U32) * np.uint64(n_places)) >> _U32)


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
def print_of(prints, mixed, salt):
    """Return the fingerprint of a state's hash; it is not 0."""
    value = key_of(mixed, salt, False) >> (_U64 - np.uint64(prints.n_bits[0]))
    return max(value, np.uint64(1))


@inlined
def home_of(prints, value):
    """Return the slot at which the search for a fingerprint begins."""
    shift = _U64 - np.uint64(prints.n_bits[0])
    return place_of(value << shift, prints.slots.shape[0])


@inlined
def read_slot(prints, at):
    """Return the fingerprint in a slot, 0 if it is empty."""
    value = np.uint64(0)
    for b in range(prints.slots.shape[1]):
        value |= np.uint64(prints.slots[at, b]) << np.uint64(8 * b)
    return value


@inlined
def slot_with(prints, value):
    """Return the slot of a fingerprint, or the empty one that it would take."""
    at = home_of(prints, value)
    while True:
        found = read_slot(prints, at)
        if found == value or found == np.uint64(0):
            return at
        at += 1
        if at == prints.slots.shape[0]:
            at = 0


@inlined
def add_print(prints, value, red):
    """Enter a fingerprint; a red visit follows a blue one."""
    at = slot_with(prints, value)
    for b in range(prints.slots.shape[1]):
        byte = (value >> np.uint64(8 * b)) & np.uint64(255)
        prints.slots[at, b] = np.uint8(byte)
    if red:
        prints.red[at >> 3] |= np.uint8(1 << (at & 7))


@inlined
def is_red(prints, at):
    """Whether the state of a slot has a red visit."""
    return (prints.red[at >> 3] >> (at & 7)) & 1 != 0


@specialised
def ask_for(bits, prints, salt, mixed):
    """Ask for what is kept of a state ahead of time."""
    if bits is not None:
        prefetch(bits, place_of(key_of(mixed, salt, False), bits.shape[0]))
    if prints is not None:
        prefetch(prints.slots, home_of(prints, print_of(prints, mixed, salt)))


@specialised
def has_visited(bits, prints, salt, mixed, red):
    """Whether the state of a hash seems to have been visited, in blue or in red.

    Red visits follow blue ones.
    """
    if bits is not None:
        return is_noted(bits, key_of(mixed, salt, red))
    if prints is not None:
        at = slot_with(prints, print_of(prints, mixed, salt))
        if read_slot(prints, at) == np.uint64(0):
            return False
        return not red or is_red(prints, at)
    return False


@specialised
def visit(bits, prints, salt, mixed, red):
    """Keep that the state of a hash is visited."""
    if bits is not None:
        note(bits, key_of(mixed, salt, red))
    if prints is not None:
        add_print(prints, print_of(prints, mixed, salt), red)


@specialised
def is_full(prints, registers):
    """Whether there is no room for one more fingerprint."""
    if prints is None:
        return False
    return 5 * (registers[Reg.VISITED] + 1) > 4 * prints.slots.shape[0]


def new_prints(n_bits: int, n_slots: int) -> Prints:
    """Return an empty table of fingerprints of so many bits, 64 at most."""
    return Prints(
        slots=np.zeros((n_slots, -(-n_bits // 8)), dtype=np.uint8),
        red=np.zeros(n_slots // 8 + 1, dtype=np.uint8),
        n_bits=np.array([n_bits], dtype=np.int64),
    )


@njit
def move_prints(prints, others, first, last):
    """Enter the fingerprints of slots from `first` to before `last` elsewhere."""
    for at in range(first, last):
        value = read_slot(prints, at)
        if value != np.uint64(0):
            add_print(others, value, is_red(prints, at))


def bit_omissions(n_states: int, n_keys: int, n_words: int) -> float:
    """Return how many states are omitted, on average, until so many are visited.

    When i keys have been noted, each of `HASHES` bits in an array of m, a new state is
    omitted with the probability p = (1 - exp(-HASHES i / m)) ** HASHES, and p / (1 - p)
    states are for one that is not.
    """
    load = np.linspace(0.0, HASHES * n_keys / (64 * n_words), 1001)
    missing = (1 - np.exp(-load)) ** HASHES
    return float(n_states * np.mean(missing / (1 - missing)))


def print_omissions(n_states: int, n_bits: int) -> float:
    """Return how many states are omitted, on average, until so many are visited."""
    taken = np.linspace(0.0, n_states, 1001) / 2.0**n_bits
    taken = np.minimum(taken, 1 - 2.0**-n_bits)
    return float(n_states * np.mean(taken / (1 - taken)))

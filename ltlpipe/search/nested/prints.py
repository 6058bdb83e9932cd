"""Visited states as fingerprints: so many bits of a hash each, in a hash table.

Two states with the same fingerprint are taken for one.  With n states and b bits, each
new state is omitted with the probability n / 2^b, so that n^2 / 2^(b + 1) are, on
average.

Source: U. Stern and D. Dill, "A New Scheme for Memory-Efficient Probabilistic
Verification", FORTE 1996; P. Wolper and D. Leroy, "Reliable Hashing without Collision
Detection", CAV 1993.

Differences from the source: where the probing of a fingerprint begins follows from the
fingerprint itself, so that the table can grow; it says nothing more of a state than
these bits.

Cost: the bits, rounded up to bytes, and one for red states per slot, with 5 slots for
4 states or more.  While the table grows there are two of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch
from ltlpipe.search.nested.bit_keys import key_of

LOAD = 0.8
"""States per slot at which the table grows."""

_U32, _U64 = np.uint64(32), np.uint64(64)


class Prints(NamedTuple):
    """The arrays of a table of n slots."""

    slots: np.ndarray  # uint8[n * width], fingerprints; 0 is an empty slot
    red: np.ndarray  # uint8[n / 8 + 1], a bit per slot
    shape: np.ndarray  # int64[3]: width in bytes, bits, n


def new_prints(bits: int, n_slots: int) -> Prints:
    """Return an empty table of fingerprints of so many bits, 64 at most."""
    width = -(-bits // 8)
    return Prints(
        slots=np.zeros(n_slots * width, dtype=np.uint8),
        red=np.zeros(n_slots // 8 + 1, dtype=np.uint8),
        shape=np.array([width, bits, n_slots], dtype=np.int64),
    )


def table_bytes(bits: int, n_slots: int) -> int:
    """Return the bytes of a table."""
    return -(-bits // 8) * n_slots + n_slots // 8 + 1


@inlined
def print_of(prints, mixed, salt):
    """Return the fingerprint of a state's hash; it is not 0."""
    value = key_of(mixed, salt, False) >> (_U64 - np.uint64(prints.shape[1]))
    return max(value, np.uint64(1))


@inlined
def home_of(prints, value):
    """Return the slot at which the search for a fingerprint begins."""
    high = (value << (_U64 - np.uint64(prints.shape[1]))) >> _U32
    return np.int64((high * np.uint64(prints.shape[2])) >> _U32)


@inlined
def read_slot(prints, at):
    """Return the fingerprint in a slot, 0 if it is empty."""
    width = prints.shape[0]
    value = np.uint64(0)
    for b in range(width):
        value |= np.uint64(prints.slots[at * width + b]) << np.uint64(8 * b)
    return value


@inlined
def write_slot(prints, at, value):
    """Put a fingerprint into a slot."""
    width = prints.shape[0]
    for b in range(width):
        byte = (value >> np.uint64(8 * b)) & np.uint64(255)
        prints.slots[at * width + b] = np.uint8(byte)


@inlined
def slot_with(prints, value):
    """Return the slot of a fingerprint, or the empty one that it would take."""
    at = home_of(prints, value)
    while True:
        found = read_slot(prints, at)
        if found == value or found == np.uint64(0):
            return at
        at += 1
        if at == prints.shape[2]:
            at = 0


@inlined
def ask_for_print(prints, mixed, salt):
    """Ask for the slots of a state ahead of time."""
    at = home_of(prints, print_of(prints, mixed, salt))
    prefetch(prints.slots, at * prints.shape[0])


@inlined
def has_print(prints, mixed, salt, red):
    """Whether a state, or another one with its fingerprint, has been visited."""
    at = slot_with(prints, print_of(prints, mixed, salt))
    if read_slot(prints, at) == np.uint64(0):
        return False
    return not red or (prints.red[at >> 3] >> (at & 7)) & 1 != 0


@inlined
def add_print(prints, mixed, salt, red):
    """Note a visit of a state; a red one follows a blue one."""
    value = print_of(prints, mixed, salt)
    at = slot_with(prints, value)
    write_slot(prints, at, value)
    if red:
        prints.red[at >> 3] |= np.uint8(1 << (at & 7))


@njit
def move_prints(prints, others, first, last):
    """Enter the fingerprints of slots from `first` to before `last` elsewhere."""
    for slot in range(first, last):
        value = read_slot(prints, slot)
        if value != np.uint64(0):
            at = slot_with(others, value)
            write_slot(others, at, value)
            if (prints.red[slot >> 3] >> (slot & 7)) & 1:
                others.red[at >> 3] |= np.uint8(1 << (at & 7))


def print_omissions(n_states: int, bits: int) -> float:
    """Return how many states are omitted, on average, until so many are visited."""
    taken = np.linspace(0.0, n_states, 1001) / 2.0**bits
    taken = np.minimum(taken, 1 - 2.0**-bits)
    return float(n_states * np.mean(taken / (1 - taken)))

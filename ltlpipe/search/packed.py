"""A few bits per entry, packed: colours, flags and sets of marks.

`Colour` takes two bits, for searches in which a state has one of four colours.  Bit
planes are for searches that keep independent flags: the planes of 32 states lie side
by side, so that all flags of a state share a cache line and k flags cost k bits.  A set
of marks takes their number in bits, rounded up to a power of two, so that none
straddles two words.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.growth import Column


class Colour(IntEnum):
    """The four colours of Schwoon & Esparza 2005, Sec. 3.2."""

    WHITE = 0  # generated, not entered
    CYAN = 1  # its blue search has not ended
    BLUE = 2  # its blue search has ended
    RED = 3  # entered by a red search, or the seed of one that has ended


COLOUR_SHIFT = 2
"""States of one byte of colours, as a power of two."""

PLANE_SHIFT = 5
"""States of one row of planes, as a power of two."""

COLOURS = Column(np.uint8, packed=4)


@inlined
def colour_of(colours, state):
    """Return the Colour of a state."""
    return (colours[state >> 2] >> (2 * (state & 3))) & 3


@inlined
def set_colour(colours, state, colour):
    """Give a state another Colour."""
    shift = 2 * (state & 3)
    kept = colours[state >> 2] & ~(3 << shift)
    colours[state >> 2] = np.uint8(kept | (colour << shift))


def unpacked_colours(colours: np.ndarray, n_states: int) -> np.ndarray:
    """Return uint8[n_states], the Colour of every state."""
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8)
    return ((colours[:, None] >> shifts) & 3).ravel()[:n_states]


@inlined
def has_flag(planes, state, flag):
    """Whether a state has a flag; planes uint32[n / 32, k]."""
    return (planes[state >> 5, flag] >> np.uint32(state & 31)) & np.uint32(1) != 0


@inlined
def set_flag(planes, state, flag):
    """Give a state a flag."""
    planes[state >> 5, flag] |= np.uint32(1) << np.uint32(state & 31)


@inlined
def clear_flag(planes, state, flag):
    """Take a flag from a state."""
    planes[state >> 5, flag] &= ~(np.uint32(1) << np.uint32(state & 31))


def planes_of(n_flags: int) -> Column:
    """Declare uint32[..., n_flags], so many flags per state."""
    return Column(np.uint32, packed=32, width=n_flags)


def unpacked_flag(planes: np.ndarray, flag: int, n_states: int) -> np.ndarray:
    """Return bool[n_states], the states that have a flag."""
    bits = np.arange(32, dtype=np.uint32)
    spread = (planes[:, flag, None] >> bits) & np.uint32(1)
    return np.asarray(spread.ravel()[:n_states] != 0)


@inlined
def read_marks(packed, bits, entry):
    """Return the set of an entry; packed uint32[...], `bits` bits each."""
    at = entry * bits
    shifted = packed[at >> 5] >> np.uint32(at & 31)
    return shifted & np.uint32((1 << bits) - 1)


@inlined
def write_marks(packed, bits, entry, marks):
    """Replace the set of an entry."""
    at = entry * bits
    shift = np.uint32(at & 31)
    hole = np.uint32((1 << bits) - 1) << shift
    packed[at >> 5] = (packed[at >> 5] & ~hole) | (marks << shift)


def mark_bits(n_marks: int) -> int:
    """Return the bits per set of so many marks."""
    return 0 if n_marks == 0 else 1 << (n_marks - 1).bit_length()


def sets_of(bits: int) -> Column:
    """Declare uint32[...], sets of so many bits, of which there may be none."""
    return Column(np.uint32, packed=32 // bits if bits else 1 << 62)

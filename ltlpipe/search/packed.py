"""A few bits per entry, packed: colours and sets of marks.

A `Colour` takes two bits.  A set of marks takes their number in bits, rounded up to a
power of two, so that none straddles two words.
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

"""A few bits per state, packed.

Two forms: `Colour` in two bits, for searches in which a state has one of four
colours; and bit planes, for searches that keep independent flags.  The planes
of 32 states lie side by side, so that all flags of a state share a cache line
and k flags cost k bits.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined


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


def new_colours(n_states: int) -> np.ndarray:
    """Return uint8[...], colours of `n_states` white states."""
    return np.zeros(colour_bytes(n_states), dtype=np.uint8)


def colour_bytes(n_states: int) -> int:
    """Return the length of an array of colours."""
    return n_states // 4 + 1


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


def new_planes(n_states: int, n_flags: int) -> np.ndarray:
    """Return uint32[..., n_flags], no flag of `n_states` states set."""
    return np.zeros((plane_rows(n_states), n_flags), dtype=np.uint32)


def plane_rows(n_states: int) -> int:
    """Return the length of an array of planes."""
    return n_states // 32 + 1


def unpacked_flag(planes: np.ndarray, flag: int, n_states: int) -> np.ndarray:
    """Return bool[n_states], the states that have a flag."""
    bits = np.arange(32, dtype=np.uint32)
    spread = (planes[:, flag, None] >> bits) & np.uint32(1)
    return np.asarray(spread.ravel()[:n_states] != 0)

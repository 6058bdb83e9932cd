"""A depth-first stack of steps: a byte or two per state on the path.

A frame says which of its state's successors the path goes on with.  Rows are kept of
every `BLOCK`-th state only, and of the topmost ones, between one and two blocks, which
are all that a search looks at; where it comes back to a block whose rows are gone,
they are generated again, from the kept one on.  That takes one expansion per frame that
is left, at most, since a block has to be left before the one below it is needed.

Successors are taken in the order in which the system has them or, so that searches of
one product can differ, beginning with one that depends on the state and on an `order`.

Cost: `width` bytes per frame and a row per `BLOCK` frames.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.search.product import successors
from ltlpipe.search.store import hash_row

BLOCK = 64
"""Frames per row that is kept."""

WINDOW = 2 * BLOCK
"""Frames on top whose rows are at hand, at most."""

_MULTIPLIER = np.uint64(0xD1342543DE82EF95)
_U32 = np.uint64(32)


class Flag(IntEnum):
    """Bits of a frame's entry; the number of successors taken stands above them."""

    MORE = 1  # others may have to be taken, too
    ACCEPTING = 2  # its state is
    SHARED = 4  # another frame's entry in the table of the path stands for it


FLAG_BITS = 3


class Steps(NamedTuple):
    """The arrays of a stack with room for k frames."""

    entries: np.ndarray  # uint8[k * width]
    kept: np.ndarray  # uint64[k / BLOCK + 1, n_words], the first rows of blocks
    window: np.ndarray  # uint64[WINDOW + BLOCK + 1, n_words]; see `place_in_block`
    width: np.ndarray  # int64[1], bytes of an entry
    order: np.ndarray  # uint64[1], 0 for that of the system


def width_for(branching: int) -> int:
    """Return the bytes of an entry if states have so many successors at most."""
    width = 1
    while branching >= unlooked_entry(width) >> FLAG_BITS:
        width += 1
    return width


def unlooked_entry(width: int) -> int:
    """Return the entry, flags apart, that `unlooked` is the count of."""
    return (1 << (8 * width)) - (1 << FLAG_BITS)


@inlined
def unlooked(width):
    """Return the count of a frame none of whose successors have been looked at."""
    return (1 << (8 * width - FLAG_BITS)) - 1


@inlined
def read_entry(steps, frame):
    """Return the entry of a frame."""
    width = steps.width[0]
    entry = np.int64(0)
    for b in range(width):
        entry |= np.int64(steps.entries[frame * width + b]) << (8 * b)
    return entry


@inlined
def write_entry(steps, frame, entry):
    """Replace the entry of a frame."""
    width = steps.width[0]
    for b in range(width):
        steps.entries[frame * width + b] = np.uint8((entry >> (8 * b)) & 255)


@inlined
def first_taken(steps, mixed, n):
    """Return which of `n` successors of a state with this hash is taken first."""
    order = steps.order[0]
    if order == np.uint64(0):
        return np.int64(0)
    key = (mixed ^ order) * _MULTIPLIER
    return np.int64(((key >> _U32) * np.uint64(n)) >> _U32)


@inlined
def taken(first, count, n):
    """Return the place of the successor that is taken after `count` others."""
    i = first + count
    return i - n if i >= n else i


@inlined
def copy_row(rows, i, to, k):
    """Write ``rows[i]`` to ``to[k]``."""
    for w in range(rows.shape[1]):
        to[k, w] = rows[i, w]


@inlined
def same_row(rows, i, others, k):
    """Whether ``rows[i]`` is ``others[k]``."""
    for w in range(rows.shape[1]):  # noqa: SIM110 (a kernel has no `all`)
        if rows[i, w] != others[k, w]:
            return False
    return True


@called
def regenerate(expand, product, steps, first, to, n_frames):
    """Write the rows of frames from `first`, that of a block, to ``window[to:]``.

    The buffers of the product are used.
    """
    window = steps.window
    copy_row(steps.kept, first // BLOCK, window, to)
    for k in range(n_frames - 1):
        n = successors(expand, product, window[to + k])
        begin = first_taken(steps, hash_row(window, to + k), n)
        count = (read_entry(steps, first + k) >> FLAG_BITS) - 1
        copy_row(product.rows, taken(begin, count, n), window, to + k + 1)


@called
def place_in_block(expand, product, steps, first, n_frames, low, i, source):
    """Return the frame of a block that is ``product.rows[i]``, or -1.

    The block begins with frame `first`; rows of frames from `low` on are at hand.  If
    the frames are none of these, their rows are written behind the window, with the one
    that is looked for after them, and the buffers of the product then hold the
    successors of ``window[source]``, as they did before.
    """
    window, rows = steps.window, product.rows
    if first >= low:
        at = first % WINDOW
        for k in range(n_frames):
            if same_row(window, at + k, rows, i):
                return first + k
        return np.int64(-1)
    wanted = WINDOW + BLOCK
    copy_row(rows, i, window, wanted)
    regenerate(expand, product, steps, first, WINDOW, n_frames)
    place = np.int64(-1)
    for k in range(n_frames):
        if same_row(window, WINDOW + k, window, wanted):
            place = first + k
    successors(expand, product, window[source])
    return place


@njit
def write_path(expand, product, steps, rows, first, last):
    """Write the rows of frames from `first`, that of a block, to before `last`.

    rows uint64[k, n_words] with k >= last.
    """
    for begin in range(first, last, BLOCK):
        n_frames = min(BLOCK, last - begin)
        regenerate(expand, product, steps, begin, WINDOW, n_frames)
        for k in range(n_frames):
            copy_row(steps.window, WINDOW + k, rows, begin + k)

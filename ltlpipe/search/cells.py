"""Sets of rows of one word: what is left of a row in the cell where it lies.

A row of b bits, mixed by a bijection, says by its upper bits in which bucket it is, so
that these need not be stored.  A *cell* holds the other bits, the *remainder*, and in
its lowest 6 bits, 1 to 63, in which bucket from its own on it lies; an empty cell is 0.
A bucket is a cache line: the first 32 bits of all its cells, which look-ups compare,
and then the rest of each.  A look-up waits for memory once, where a table of numbers
(`ltlpipe.search.store`) waits for the slot and then for the row.

Source: J. G. Cleary, "Compact Hash Tables Using Bidirectional Linear Probing", IEEE
Transactions on Computers C-33 (1984), pp. 828-834, and D. E. Knuth, "The Art of
Computer Programming", vol. 3, Sec. 6.4, exercise 13, for storing only what the place
does not say.

Differences from the sources: rows that find their bucket full go to the next ones, and
say how far, so nothing is moved and no order is kept; the number of buckets is no power
of two, so the table grows by half.

Why two rows never look the same: a cell and its place give back the bucket to which the
row belongs, hence, with the remainder, the mixed row, and the mixing can be undone.
Why no row is stored twice: none is removed, so all look-ups of a row meet the same full
buckets in the same order, up to the first cell that was empty when it was stored.

Cost: for n buckets b - log2(n) + 6 bits, and room to grow; the table is built anew from
the old one, in the order of its buckets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch

if TYPE_CHECKING:
    from collections.abc import Iterator

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
_UNMULTIPLIER = np.uint64(pow(int(_MULTIPLIER), -1, 1 << 64))
_UNFINISHER = np.uint64(pow(int(_FINISHER), -1, 1 << 64))
_ONE = np.uint64(1)
_U31 = np.uint64(31)
_U32 = np.uint64(32)
_LOW31 = np.uint64(0x7FFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)

_DISTANCE_BITS = np.uint64(6)
_FARTHEST = 63  # buckets that are looked at
_FIRST = 32  # bits of a cell that lie in front
_LINE = 16  # words of 32 bits
_FEWEST = 128  # buckets: more than are looked at for one row
_LOAD = 0.8
"""Rows per cell at which a table grows: of 10^7 rows few lie 63 buckets away then."""

_BLOCK = 1 << 15  # buckets that are entered into a new table without a pause


class Shape(NamedTuple):
    """The numbers that describe a table."""

    bits: int  # of a row, 32 or more
    buckets: int
    inverse: int  # of buckets: x // buckets is x * inverse >> shift for x < 2^31
    shift: int
    per_bucket: int  # cells
    rest: int  # bits of a cell behind its first 32


class Cells(NamedTuple):
    """A set of rows."""

    words: np.ndarray  # uint32[buckets * _LINE]
    shape: np.ndarray  # int64[len(Shape)]


def new_cells(bits: int, n_rows: int) -> Cells:
    """Return an empty set with room for so many rows of so many bits."""
    n_buckets = _FEWEST
    while _capacity(shape := _shape(bits, n_buckets)) < n_rows:
        n_buckets = max(int(n_rows / (_LOAD * shape.per_bucket)) + 1, n_buckets + 1)
    n_words = n_buckets * _LINE
    memory = np.zeros(n_words + _LINE, dtype=np.uint32)
    first = -memory.ctypes.data % (4 * _LINE) // 4  # a bucket is a line of the cache
    return Cells(
        words=memory[first : first + n_words], shape=np.array(shape, dtype=np.int64)
    )


def _shape(bits: int, n_buckets: int) -> Shape:
    bits = max(bits, _FIRST)
    remainder = (((1 << 31) - 1) // n_buckets).bit_length() + bits - 31
    cell_bits = max(int(_DISTANCE_BITS) + remainder, _FIRST)
    shift = 31 + (n_buckets - 1).bit_length()
    return Shape(
        bits=bits,
        buckets=n_buckets,
        inverse=-(-(1 << shift) // n_buckets),
        shift=shift,
        per_bucket=32 * _LINE // cell_bits,
        rest=cell_bits - _FIRST,
    )


def _capacity(shape: Shape) -> int:
    return int(_LOAD * shape.per_bucket * shape.buckets)


def room_of(cells: Cells) -> int:
    """Return the rows that a set is to hold at most."""
    return _capacity(Shape(*cells.shape.tolist()))


@inlined
def shape_of(cells):
    """Return the numbers that describe a set, so that loops have them at hand."""
    s = cells.shape
    return Shape(s[0], s[1], s[2], s[3], s[4], s[5])


@inlined
def mask_of(shape):
    """Return a word with all bits of a row."""
    return ~np.uint64(0) >> (np.uint64(64) - np.uint64(shape.bits))


@inlined
def place_of(shape, row):
    """Return the bucket to which a row belongs, and its remainder."""
    return place_of_mixed(shape, mixed(shape, row))


@inlined
def mixed(shape, row):
    """Return a row, mixed."""
    mask, half = mask_of(shape), np.uint64(shape.bits) >> _ONE
    row = (row * _MULTIPLIER) & mask
    row ^= row >> half
    row = (row * _FINISHER) & mask
    return row ^ (row >> half)


@inlined
def place_of_mixed(shape, mixed):
    """Return the bucket to which a mixed row belongs, and its remainder."""
    lower = np.uint64(shape.bits) - _U31
    product = (mixed >> lower) * np.uint64(shape.buckets)
    rest = ((product & _LOW31) * np.uint64(shape.inverse)) >> np.uint64(shape.shift)
    low = mixed & ((_ONE << lower) - _ONE)
    return np.int64(product >> _U31), (rest << lower) | low


@inlined
def least_of(shape, home):
    """Return the least upper bits of a mixed row that belongs to a bucket."""
    n_buckets = np.uint64(shape.buckets)
    return ((np.uint64(home) << _U31) + n_buckets - _ONE) // n_buckets


@inlined
def mixed_at(shape, least, remainder):
    """Return the mixed row with a remainder, given `least_of` its bucket."""
    lower = np.uint64(shape.bits) - _U31
    row = (least + (remainder >> lower)) << lower
    return row | (remainder & ((_ONE << lower) - _ONE))


@inlined
def unmixed(shape, row):
    """Return a row that has been mixed."""
    mask, half = mask_of(shape), np.uint64(shape.bits) >> _ONE
    for inverse in (_UNFINISHER, _UNMULTIPLIER):
        row ^= row >> half
        if shape.bits < 64:  # a bit is left if their number is odd
            row ^= row >> (half + half)
        row = (row * inverse) & mask
    return row


@inlined
def place_of_rest(shape, bucket, k):
    """Return the word and the bit at which the rest of cell `k` of a bucket begins."""
    at = shape.per_bucket * _FIRST + k * shape.rest
    return bucket * _LINE + (at >> 5), np.uint64(at & 31)


@inlined
def rest_of(shape, words, bucket, k):
    """Return what cell `k` of a bucket has behind its first 32 bits."""
    word, shift = place_of_rest(shape, bucket, k)
    held = np.uint64(words[word])
    if np.int64(shift) + shape.rest > 32:
        held |= np.uint64(words[word + 1]) << _U32
    return (held >> shift) & ((_ONE << np.uint64(shape.rest)) - _ONE)


@inlined
def add(shape, words, bucket, remainder):
    """Store a row with a remainder from its bucket on, if it is not there.

    Returns 1 if it was stored, 0 if it was there, and -1 if there is no room for it.
    """
    cell = remainder << _DISTANCE_BITS
    first, rest = np.uint32(cell & _LOW32), cell >> _U32
    for distance in range(1, _FARTHEST + 1):
        at = bucket * _LINE
        wanted = first | np.uint32(distance)
        for k in range(shape.per_bucket):
            found = words[at + k]
            if found == 0:
                write(shape, words, bucket, k, wanted, rest)
                return 1
            if found == wanted and (
                shape.rest == 0 or rest_of(shape, words, bucket, k) == rest
            ):
                return 0
        bucket += 1
        if bucket == shape.buckets:
            bucket = 0
    return -1


@inlined
def ask_for(words, bucket):
    """Ask for a bucket ahead of time."""
    prefetch(words, bucket * _LINE)


@inlined
def write(shape, words, bucket, k, first, rest):
    """Write cell `k` of a bucket, which is empty."""
    words[bucket * _LINE + k] = first
    if shape.rest > 0:
        word, shift = place_of_rest(shape, bucket, k)
        words[word] |= np.uint32((rest << shift) & _LOW32)
        if np.int64(shift) + shape.rest > 32:
            words[word + 1] |= np.uint32((rest << shift) >> _U32)


@njit
def move_cells(cells, new, filled, first, last):
    """Add the rows of some buckets to another set; return whether it had room.

    `filled` (uint8[buckets]) tells how many cells of the other set's buckets are full.
    """
    shape, larger, words = shape_of(cells), shape_of(new), cells.words
    known, least = np.int64(-1), np.uint64(0)
    for bucket in range(first, last):
        for k in range(shape.per_bucket):
            cell = np.uint64(words[bucket * _LINE + k])
            if cell == 0:
                break
            home = bucket + 1 - np.int64(cell & np.uint64(_FARTHEST))
            if home < 0:
                home += shape.buckets
            if home != known:
                known, least = home, least_of(shape, home)
            if shape.rest > 0:
                cell |= rest_of(shape, words, bucket, k) << _U32
            row = mixed_at(shape, least, cell >> _DISTANCE_BITS)
            if shape.bits != larger.bits:
                row = mixed(larger, unmixed(shape, row))
            home, remainder = place_of_mixed(larger, row)
            if not place(larger, new.words, filled, home, remainder):
                return False
    return True


@inlined
def place(shape, words, filled, bucket, remainder):
    """Store a row that is not there yet; return whether there was room."""
    cell = remainder << _DISTANCE_BITS
    for distance in range(1, _FARTHEST + 1):
        k = np.int64(filled[bucket])
        if k < shape.per_bucket:
            filled[bucket] = k + 1
            first = np.uint32(cell & _LOW32) | np.uint32(distance)
            write(shape, words, bucket, k, first, cell >> _U32)
            return True
        bucket += 1
        if bucket == shape.buckets:
            bucket = 0
    return False


def moved(cells: Cells, new: Cells) -> Iterator[bool]:
    """Add all rows to another set, with pauses; yield whether it has room so far."""
    n_buckets = Shape(*cells.shape.tolist()).buckets
    filled = np.zeros(Shape(*new.shape.tolist()).buckets, dtype=np.uint8)
    for first in range(0, n_buckets, _BLOCK):
        yield move_cells(cells, new, filled, first, min(first + _BLOCK, n_buckets))

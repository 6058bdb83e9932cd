"""Markings in rows: reading, permuting and writing them.

A marking is handled as its *support*: the cells that are marked, and how many tokens
they hold.  A permutation is an array over elements; it takes a cell to the cell of the
same place with the images of its colours.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, trailing_zeros
from ltlpipe.symmetry.sets.layout import (
    FIELD,
    Cell,
    Head,
    PlaceAt,
    Turn,
)

_CELL = len(Cell)
_PLACE = len(PlaceAt)
TURN = len(Turn)


@inlined
def cell_at(ints, cell):
    """Return the place of the table of a cell."""
    return ints[Head.CELLS] + cell * (_CELL + ints[Head.ARITY])


@called
def tokens_in(ints, row, cell):
    """Return how many tokens a cell holds."""
    at = cell_at(ints, cell)
    word = row[ints[at + Cell.WORD]] >> np.uint64(ints[at + Cell.SHIFT])
    return np.int64(word & np.uint64(ints[at + Cell.MASK]))


@called
def put_tokens(ints, row, cell, count):
    """Write how many tokens a cell holds, where it has held none."""
    at = cell_at(ints, cell)
    moved = np.uint64(count) << np.uint64(ints[at + Cell.SHIFT])
    row[ints[at + Cell.WORD]] |= moved


@called
def read(ints, at, row):
    """Return the value of the field at ``ints[at]``."""
    word = row[ints[at]] >> np.uint64(ints[at + 1])
    return np.int64(word & np.uint64(ints[at + 2]))


@called
def write(ints, at, row, value):
    """Write the field at ``ints[at]``."""
    shift = np.uint64(ints[at + 1])
    word = row[ints[at]] & ~(np.uint64(ints[at + 2]) << shift)
    row[ints[at]] = word | np.uint64(value) << shift


@called
def read_group(ints, row, blocks, steps):
    """Write the block of each member, and the step of each turning sort."""
    for member in range(ints[Head.MEMBERS]):
        blocks[member] = read(ints, ints[Head.BLOCK_FIELDS] + FIELD * member, row)
    for turn in range(ints[Head.TURNING]):
        steps[turn] = 1 + read(ints, ints[Head.STEP_FIELDS] + FIELD * turn, row)


@called
def write_group(ints, row, blocks, steps):
    """Do the reverse of `read_group`."""
    for member in range(ints[Head.MEMBERS]):
        at = ints[Head.BLOCK_FIELDS] + FIELD * member
        write(ints, at, row, blocks[member])
    for turn in range(ints[Head.TURNING]):
        at = ints[Head.STEP_FIELDS] + FIELD * turn
        write(ints, at, row, steps[turn] - 1)


@called
def read_support(ints, words, row, cells, counts):
    """Write the cells that are marked, and their tokens; return their number.

    ``words[:n_words]`` are the bits of rows in which markings are.
    """
    n = np.int64(0)
    bits = ints[Head.BITS]
    for w in range(ints[Head.WORDS]):
        left = row[w] & words[w]
        while left != 0:
            cell = ints[bits + 64 * w + trailing_zeros(left)]
            at = cell_at(ints, cell)
            mask, shift = (
                np.uint64(ints[at + Cell.MASK]),
                np.uint64(ints[at + Cell.SHIFT]),
            )
            cells[n] = cell
            counts[n] = np.int64((row[w] >> shift) & mask)
            left &= ~(mask << shift)
            n += 1
    return n


@called
def image_of(ints, cell, permutation):
    """Return the cell to which a permutation takes a cell."""
    at = cell_at(ints, cell)
    place = ints[Head.PLACES] + ints[at + Cell.PLACE] * (_PLACE + ints[Head.ARITY])
    image = ints[place + PlaceAt.OF_ELEMENTS]
    for k in range(ints[Head.ARITY]):
        element = ints[at + _CELL + k]
        if element < 0:
            break
        image += ints[place + _PLACE + k] * permutation[element]
    return image


@called
def swapped(ints, cell, first, second):
    """Return the cell to which the exchange of two elements takes a cell."""
    at = cell_at(ints, cell)
    place = ints[Head.PLACES] + ints[at + Cell.PLACE] * (_PLACE + ints[Head.ARITY])
    image = cell
    for k in range(ints[Head.ARITY]):
        element = ints[at + _CELL + k]
        if element == first:
            image += ints[place + _PLACE + k] * (second - first)
        elif element == second:
            image += ints[place + _PLACE + k] * (first - second)
    return image


@called
def write_permuted(ints, cells, counts, n, permutation, row):
    """Write the image of a support of n cells to a row; nothing else is in it."""
    for w in range(ints[Head.WORDS]):
        row[w] = 0
    for k in range(n):
        put_tokens(ints, row, image_of(ints, cells[k], permutation), counts[k])


@called
def stay(ints, permutation):
    """Write the permutation that moves nothing."""
    for element in range(ints[Head.ELEMENTS]):
        permutation[element] = element


@inlined
def rotate(ints, permutation, turn, by):
    """Let a permutation rotate a turning sort."""
    at = ints[Head.TURNS] + TURN * turn
    first, size = ints[at + Turn.FIRST], ints[at + Turn.SIZE]
    for colour in range(size):
        permutation[first + colour] = first + (colour + by) % size


@called
def link(ints, cells, n, head, following):
    """Write for each element the chain of its entries in a support of n cells.

    Entry ``k * arity + i`` is colour i of the cell k; -1 is the end of a chain.
    """
    arity = ints[Head.ARITY]
    for element in range(ints[Head.ELEMENTS]):
        head[element] = -1
    for k in range(n):
        at = cell_at(ints, cells[k]) + _CELL
        for i in range(arity):
            element = ints[at + i]
            if element < 0:
                break
            following[k * arity + i] = head[element]
            head[element] = k * arity + i

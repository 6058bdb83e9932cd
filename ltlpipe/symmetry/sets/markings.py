"""Markings in rows: reading, permuting and writing them; colours that are twins.

A marking is handled as its *support*: the cells that are marked, and how many tokens
they hold.  A permutation is an array over elements; it takes a cell to the cell of the
same place with the images of its colours.

*Twins* are colours whose exchange leaves a marking as it is.  To be twins is an
equivalence; the twins of one block are a *dynamic subclass*.  Blocks
whose members are all twins of each other act on the marking like the identity, so those
of one class of twins are made one block, and a block is as coarse as it may be.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic markings).

Differences from the source: a row has one marking of the set and its blocks, and
dynamic subclasses are found in it, where the source stores the marking over subclasses.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, trailing_zeros
from ltlpipe.symmetry.sets.layout import (
    FIELD,
    Cell,
    Head,
    PlaceAt,
    Row,
    Word,
)

_CELL = len(Cell)
_PLACE = len(PlaceAt)


@inlined
def cell_at(ints, cell):
    """Return the place of the table of a cell."""
    return ints[Head.CELLS] + cell * (_CELL + ints[Head.ARITY])


@called
def copy(one, other, n):
    """Copy the first n entries of an array to another one."""
    for k in range(n):
        other[k] = one[k]


@called
def are_equal(one, other, n):
    """Whether two arrays begin with the same n numbers."""
    same = True
    for k in range(n):
        same = same and one[k] == other[k]
    return same


@called
def order_by(keys, n, order):
    """Write 0 to n - 1 in the order of their keys; equal ones stay in their order."""
    for place in range(n):
        at = np.int64(place)
        while at > 0 and keys[order[at - 1]] > keys[place]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = place


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
def read_group(ints, row, blocks):
    """Write the block of each member."""
    for member in range(ints[Head.MEMBERS]):
        blocks[member] = read(ints, ints[Head.BLOCK_FIELDS] + FIELD * member, row)


@called
def write_group(ints, row, blocks):
    """Do the reverse of `read_group`."""
    for member in range(ints[Head.MEMBERS]):
        at = ints[Head.BLOCK_FIELDS] + FIELD * member
        write(ints, at, row, blocks[member])


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
    row[: ints[Head.WORDS]] = 0
    for k in range(n):
        put_tokens(ints, row, image_of(ints, cells[k], permutation), counts[k])


@called
def stay(ints, permutation):
    """Write the permutation that moves nothing."""
    for element in range(ints[Head.ELEMENTS]):
        permutation[element] = element


@called
def link(ints, cells, n, head, following):
    """Write for each element the chain of its entries in a support of n cells.

    Entry ``k * arity + i`` is colour i of the cell k; -1 is the end of a chain.
    """
    arity = ints[Head.ARITY]
    head[: ints[Head.ELEMENTS]] = -1
    for k in range(n):
        at = cell_at(ints, cells[k]) + _CELL
        for i in range(arity):
            element = ints[at + i]
            if element < 0:
                break
            following[k * arity + i] = head[element]
            head[element] = k * arity + i


_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S1, _S2, _S3 = np.uint64(30), np.uint64(27), np.uint64(31)


@inlined
def mix(value):
    """Return a hash of a number (the finaliser of SplitMix64)."""
    value = (value ^ (value >> _S1)) * _M1
    value = (value ^ (value >> _S2)) * _M2
    return value ^ (value >> _S3)


@called
def is_kept(ints, row, first, second, head, following, cells, counts):
    """Whether the exchange of two elements leaves the links of the first as they are.

    The support is that of the row.
    """
    arity = ints[Head.ARITY]
    entry = head[first]
    while entry >= 0:
        k = entry // arity
        image = swapped(ints, cells[k], first, second)
        if tokens_in(ints, row, image) != counts[k]:
            return False
        entry = following[entry]
    return True


@called
def are_twins(ints, row, first, second, scratch):
    """Whether the exchange of two elements leaves a marking as it is.

    Its support is in CELLS and COUNTS, its links in HEAD and NEXT.
    """
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    return is_kept(
        ints, row, first, second, head, following, cells, counts
    ) and is_kept(ints, row, second, first, head, following, cells, counts)


@called
def find_mixed(n_members, blocks, leaders, scratch):
    """Write the first member of each block (LABELS), and whether it is MIXED.

    That is, whether its members are not all twins of each other.
    """
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    first[: 2 * n_members] = -1
    mixed[: 2 * n_members] = 0
    for member in range(n_members):
        block = blocks[member]
        if first[block] < 0:
            first[block] = member
        elif leaders[first[block]] != leaders[member]:
            mixed[block] = 1


@called
def settle(ints, blocks, leaders, scratch, settled):
    """Write blocks, made as coarse as the twins allow, numbered from 0.

    Blocks are numbered below 2 * n_members.
    """
    n = ints[Head.MEMBERS]
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    find_mixed(n, blocks, leaders, scratch)
    for member in range(n):
        block = blocks[member]
        # A block of twins is known by the first twin of all, any other by itself.
        settled[member] = leaders[member] if mixed[block] == 0 else n + first[block]
    first[: 2 * n] = -1
    n_blocks = np.int64(0)
    for member in range(n):
        label = settled[member]
        if first[label] < 0:
            first[label] = n_blocks
            n_blocks += 1
        settled[member] = first[label]


@called
def read_marking(tables, row):
    """Write the support of a row to CELLS and COUNTS, and its twins to LEADERS.

    These are the first twin of each member.  Returns how many cells are marked; writes
    HEAD and NEXT, and hashes of what unary twins have in common to the row SIMPLE.
    """
    ints, scratch, simple = tables.ints, tables.scratch, tables.step_rows[Word.SIMPLE]
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    leaders, elements = scratch[Row.LEADERS], ints[Head.MEMBER_ELEMENTS]
    n = read_support(ints, tables.words, row, cells, counts)
    if ints[Head.MEMBERS] == 0:
        return n
    link(ints, cells, n, head, following)
    arity = ints[Head.ARITY]
    for member in range(ints[Head.MEMBERS]):
        element = ints[elements + member]
        total = np.uint64(0)
        entry = head[element]
        while entry >= 0:
            k = entry // arity
            place = ints[cell_at(ints, cells[k]) + Cell.PLACE]
            said = np.uint64(place * arity + entry % arity) * _M2
            total += mix(said + np.uint64(counts[k]))
            entry = following[entry]
        simple[member] = total
        leaders[member] = member
        of = ints[ints[Head.CLASSES] + member]
        for other in range(member):
            if (
                leaders[other] == other
                and simple[other] == total
                and ints[ints[Head.CLASSES] + other] == of
                and are_twins(ints, row, ints[elements + other], element, scratch)
            ):
                leaders[member] = other
                break
    return n


@called
def settle_group(tables, blocks):
    """Write blocks, made as coarse as the marking just read allows, to SETTLED."""
    ints, scratch = tables.ints, tables.scratch
    settle(ints, blocks, scratch[Row.LEADERS], scratch, scratch[Row.SETTLED])


@called
def keep_source(tables, n, blocks):
    """Keep a support of n cells as the source's, and its twins in blocks (LOCAL)."""
    scratch = tables.scratch
    copy(scratch[Row.CELLS], scratch[Row.SOURCE_CELLS], n)
    copy(scratch[Row.COUNTS], scratch[Row.SOURCE_COUNTS], n)
    leaders, local = scratch[Row.LEADERS], scratch[Row.LOCAL]
    for member in range(tables.ints[Head.MEMBERS]):
        local[member] = member
        for earlier in range(member):
            is_twin = leaders[earlier] == leaders[member]
            if is_twin and blocks[earlier] == blocks[member]:
                local[member] = earlier
                break

"""Members in a row: their colours, exchanges of two, and the blocks they are in.

A row stands for a set of product states: words of the packed network (a *representative*
state, with the property's state in the field `extra`), and behind them the number of the
block of each member.  The set is what permutations of members within their blocks make
of the representative.

The *colour* of a member is all that the group sees of it: the local states of its
components and its roles in those of others.  What a set holds is hence how many members
of each block have each colour; the representative lists them in ascending order.

Canonical rows: within a block colours ascend with the members; two blocks whose members
all have the same colour are one; blocks are numbered by their first members.  Then two
rows stand for the same set iff they are equal, and the blocks are as coarse as the set
allows (H' in Def. 12 of the source).

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Defs. 10 and 12, Sec. 6.3.

Differences from the source: the subgroup H is a partition (a Young subgroup) and the
orbit O counts of colours, both in one row, instead of well-formed nets' symbolic
markings.
"""

from __future__ import annotations

import numpy as np

from ltlpipe._jit import called, inlined
from ltlpipe.search.symmetric.layout import COLUMN, MOVED, Sym
from ltlpipe.systems.packing_kernels import read_field


@inlined
def write_field(ints, cell, row, value):
    """Change the field described at ``ints[cell:cell + 3]``."""
    shift = np.uint64(ints[cell + 1])
    word = ints[cell]
    mask = np.uint64(ints[cell + 2]) << shift
    row[word] = (row[word] & ~mask) | (np.uint64(value) << shift)


@called
def read_colours(ints, row, colours):
    """Write the colours of all members; row uint64[...], colours int64[n_members]."""
    n_members = ints[Sym.MEMBERS]
    n_columns = ints[Sym.COLUMNS]
    cell = ints[Sym.COLUMN_CELLS]
    for member in range(n_members):
        colour = np.int64(0)
        for _ in range(n_columns):
            if ints[cell + 2] != 0:  # smaller classes have columns without a field
                value = read_field(ints, cell, row)
                colour = colour * ints[cell + 3] + ints[ints[cell + 4] + value]
            cell += COLUMN
        colours[member] = colour
    cell = ints[Sym.MOVED_CELLS]
    for _ in range(ints[Sym.MOVED]):
        roles = ints[cell + 4] + read_field(ints, cell, row) * n_members
        n_roles = ints[cell + 3]
        for member in range(n_members):
            colours[member] = colours[member] * n_roles + ints[roles + member]
        cell += MOVED


@called
def exchange(ints, row, first, second):
    """Exchange two members of a class in a state."""
    n_columns = ints[Sym.COLUMNS]
    cells = ints[Sym.COLUMN_CELLS]
    a = cells + first * n_columns * COLUMN
    b = cells + second * n_columns * COLUMN
    for _ in range(n_columns):
        if ints[a + 2] != 0:
            of_a = ints[ints[a + 4] + read_field(ints, a, row)]
            of_b = ints[ints[b + 4] + read_field(ints, b, row)]
            write_field(ints, a, row, ints[ints[a + 5] + of_b])
            write_field(ints, b, row, ints[ints[b + 5] + of_a])
        a += COLUMN
        b += COLUMN
    swap = swap_of(ints, first, second)
    cell = ints[Sym.MOVED_CELLS]
    for _ in range(ints[Sym.MOVED]):
        at = ints[cell + 5] + swap * ints[cell + 6] + read_field(ints, cell, row)
        write_field(ints, cell, row, ints[at])
        cell += MOVED


@inlined
def swap_of(ints, first, second):
    """Return the number of the swap of two members of a class."""
    return ints[ints[Sym.SWAPS] + first * ints[Sym.MEMBERS] + second]


@inlined
def read_blocks(ints, row, blocks):
    """Write the block of each member; blocks int64[n_members]."""
    bits = ints[Sym.BLOCK_BITS]
    each = ints[Sym.BLOCKS_PER_WORD]
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    word = ints[Sym.BLOCK_WORD]
    at = np.int64(0)
    for member in range(ints[Sym.MEMBERS]):
        blocks[member] = np.int64((row[word] >> np.uint64(at * bits)) & mask)
        at += 1
        if at == each:
            at = 0
            word += 1


@inlined
def write_blocks(ints, row, blocks):
    """Put the block of each member into a row."""
    bits = ints[Sym.BLOCK_BITS]
    each = ints[Sym.BLOCKS_PER_WORD]
    word = ints[Sym.BLOCK_WORD]
    packed = np.uint64(0)
    at = np.int64(0)
    for member in range(ints[Sym.MEMBERS]):
        packed |= np.uint64(blocks[member]) << np.uint64(at * bits)
        at += 1
        if at == each:
            row[word] = packed
            packed = np.uint64(0)
            at = 0
            word += 1
    if at > 0:
        row[word] = packed


@inlined
def chain_blocks(ints, blocks, before):
    """Write, for each member, the previous one of its block, or -1.

    Block numbers are anything from 0 to twice the number of members plus 1; `before`
    int64[n_members].
    """
    for member in range(ints[Sym.MEMBERS]):
        earlier = member - 1
        while earlier >= 0 and blocks[earlier] != blocks[member]:
            earlier -= 1
        before[member] = earlier


@called
def sort_members(ints, row, colours, before):
    """Exchange members within their blocks until colours ascend in each."""
    for member in range(1, ints[Sym.MEMBERS]):
        at = np.int64(member)
        earlier = before[at]
        while earlier >= 0 and colours[earlier] > colours[at]:
            exchange(ints, row, earlier, at)
            colour = colours[at]
            colours[at] = colours[earlier]
            colours[earlier] = colour
            at = earlier
            earlier = before[at]


@called
def settle(ints, row, colours, before, blocks, plain):
    """Make the blocks of a row as coarse as its set allows, and write them.

    Parameters
    ----------
    ints : int64[...]
        The tables.
    row : uint64[n_words]
        Sorted by `sort_members`.
    colours, before : int64[n_members]
        Of its members, and the chains of their blocks.
    blocks, plain : int64[n_members]
        Written: the numbers of the blocks; whether all members of the block that each
        was in have one colour.
    """
    n_members = ints[Sym.MEMBERS]
    classes = ints[Sym.CLASSES]
    for member in range(n_members):
        plain[member] = 1
    # A block is plain if all its members have one colour; the last one knows.
    for member in range(n_members):
        earlier = before[member]
        if earlier >= 0:
            same = colours[earlier] == colours[member]
            plain[member] = plain[earlier] if same else 0
    # Hand what the last one knows to the first, against the chain.
    for member in range(n_members - 1, -1, -1):
        earlier = before[member]
        if earlier >= 0:
            plain[earlier] = min(plain[earlier], plain[member])
    n_blocks = np.int64(0)
    for member in range(n_members):
        earlier = before[member]
        if earlier >= 0:
            blocks[member] = blocks[earlier]
            continue
        if plain[member] != 0:
            earlier = member - 1
            while earlier >= 0 and (
                plain[earlier] == 0
                or colours[earlier] != colours[member]
                or ints[classes + earlier] != ints[classes + member]
            ):
                earlier -= 1
        if earlier >= 0:
            blocks[member] = blocks[earlier]
        else:
            blocks[member] = n_blocks
            n_blocks += 1
    write_blocks(ints, row, blocks)

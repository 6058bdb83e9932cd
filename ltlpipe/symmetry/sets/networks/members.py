"""Members in a row: their colours, exchanges of two, and the blocks they are in.

A row stands for a set of product states: words of the packed network (a
*representative* state, with the property's state in the field `extra`), and behind them
the number of the block of each member.  The set is what permutations of members within
their blocks make of the representative.

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

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.networks.layout import COLUMN, MOVED, Sym
from ltlpipe.systems.networks.packing_kernels import read_field


@inlined
def write_field(ints, cell, row, value):
    """Change the field described at ``ints[cell:cell + 3]``."""
    shift = np.uint64(ints[cell + 1])
    word = ints[cell]
    mask = np.uint64(ints[cell + 2]) << shift
    row[word] = (row[word] & ~mask) | (np.uint64(value) << shift)


@inlined
def read_columns(ints, row, member):
    """Return the states of a member's components as one number."""
    cell = ints[Sym.COLUMN_CELLS] + member * ints[Sym.COLUMNS] * COLUMN
    columns = np.int64(0)
    for _ in range(ints[Sym.COLUMNS]):
        # Columns that the class does not have are fields of no bits.
        value = read_field(ints, cell, row)
        columns = columns * ints[cell + 3] + ints[ints[cell + 4] + value]
        cell += COLUMN
    return columns


@inlined
def write_columns(ints, row, member, columns):
    """Give a member's components the states that a number of `read_columns` tells."""
    cell = ints[Sym.COLUMN_CELLS] + (member + 1) * ints[Sym.COLUMNS] * COLUMN
    for _ in range(ints[Sym.COLUMNS]):
        cell -= COLUMN
        n_states = ints[cell + 3]
        write_field(ints, cell, row, ints[ints[cell + 5] + columns % n_states])
        columns //= n_states


@inlined
def read_roles(ints, row, roles):
    """Write the roles of each member in what moves with members, as one number."""
    n_members = ints[Sym.MEMBERS]
    for member in range(n_members):
        roles[member] = 0
    cell = ints[Sym.MOVED_CELLS]
    for _ in range(ints[Sym.MOVED]):
        at = ints[cell + 4] + read_field(ints, cell, row) * n_members
        n_roles = ints[cell + 3]
        for member in range(n_members):
            roles[member] = roles[member] * n_roles + ints[at + member]
        cell += MOVED


@called
def read_colours(ints, row, colours):
    """Write the colours of all members; row uint64[...], colours int64[n_members]."""
    read_roles(ints, row, colours)
    for member in range(ints[Sym.MEMBERS]):
        colours[member] += read_columns(ints, row, member) * ints[Sym.ROLES]


@inlined
def swap_roles(ints, row, first, second):
    """Exchange two members of a class in what moves with members."""
    swap = swap_of(ints, first, second)
    cell = ints[Sym.MOVED_CELLS]
    for _ in range(ints[Sym.MOVED]):
        at = ints[cell + 5] + swap * ints[cell + 6] + read_field(ints, cell, row)
        write_field(ints, cell, row, ints[at])
        cell += MOVED


@called
def exchange(ints, row, first, second):
    """Exchange two members of a class in a state."""
    columns = read_columns(ints, row, first)
    write_columns(ints, row, first, read_columns(ints, row, second))
    write_columns(ints, row, second, columns)
    swap_roles(ints, row, first, second)


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
    at = 0
    for member in range(ints[Sym.MEMBERS]):
        blocks[member] = np.int64((row[word] >> np.uint64(at * bits)) & mask)
        at += 1
        if at == each:
            at = 0
            word += 1


@inlined
def chain_blocks(ints, blocks, before, first):
    """Write, for each member, the previous one of its block, or -1, and the first one.

    Block numbers are any; all arrays int64[n_members].
    """
    for member in range(ints[Sym.MEMBERS]):
        earlier = member - 1
        while earlier >= 0 and blocks[earlier] != blocks[member]:
            earlier -= 1
        before[member] = earlier
        first[member] = member if earlier < 0 else first[earlier]


@inlined
def sort_members(ints, row, colours, before):
    """Put the members of each block in ascending order of their colours.

    Changes `colours` (int64[n_members]) and the row, in which they stand as `colours`
    says but for roles, which are as they were.
    """
    changed = False
    for member in range(1, ints[Sym.MEMBERS]):
        at = np.int64(member)
        earlier = before[at]
        while earlier >= 0 and colours[earlier] > colours[at]:
            swap_roles(ints, row, earlier, at)
            colour = colours[at]
            colours[at] = colours[earlier]
            colours[earlier] = colour
            changed = True
            at = earlier
            earlier = before[at]
    if changed:
        n_roles = ints[Sym.ROLES]
        for member in range(ints[Sym.MEMBERS]):
            write_columns(ints, row, member, colours[member] // n_roles)


@inlined
def settle(ints, row, colours, before, first, blocks, mixed):
    """Make the blocks of a row as coarse as its set allows, and write them.

    The row is sorted by `sort_members`; `colours` are its members', `before` and
    `first` the chains of their blocks.  Also written: `blocks`, their numbers, and
    `mixed`, whether the block of each first member has several colours (all
    int64[n_members]).
    """
    classes = ints[Sym.CLASSES]
    bits = ints[Sym.BLOCK_BITS]
    each = ints[Sym.BLOCKS_PER_WORD]
    word = ints[Sym.BLOCK_WORD]
    for member in range(ints[Sym.MEMBERS]):
        mixed[member] = 0
        earlier = before[member]
        if earlier >= 0 and colours[earlier] != colours[member]:
            mixed[first[member]] = 1
    n_blocks = np.int64(0)
    packed = np.uint64(0)
    at = 0
    for member in range(ints[Sym.MEMBERS]):
        leader = first[member]
        if leader != member:
            blocks[member] = blocks[leader]
        else:
            earlier = np.int64(-1)
            if mixed[member] == 0:
                earlier = np.int64(member) - 1
                while earlier >= 0 and (
                    first[earlier] != earlier
                    or mixed[earlier] != 0
                    or colours[earlier] != colours[member]
                    or ints[classes + earlier] != ints[classes + member]
                ):
                    earlier -= 1
            if earlier >= 0:
                blocks[member] = blocks[earlier]
            else:
                blocks[member] = n_blocks
                n_blocks += 1
        packed |= np.uint64(blocks[member]) << np.uint64(at * bits)
        at += 1
        if at == each:
            row[word] = packed
            packed = np.uint64(0)
            at = 0
            word += 1
    if at > 0:
        row[word] = packed

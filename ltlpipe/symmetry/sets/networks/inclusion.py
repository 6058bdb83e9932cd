"""Inclusion of the sets of a symbolic product, on colours and blocks.

A set is included in another one iff each of its blocks with more than one colour lies
within a block of the other one, and its representative has, in each block of the other
one, as many members of each colour as the other's.  (If a block with two colours lies
across two blocks of the other one, an exchange across changes what these hold.)

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Secs. 3 and 6.3.

Differences from the source: sets are not refined until their blocks are equal.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.networks.layout import Row, Sym
from ltlpipe.symmetry.sets.networks.members import read_blocks, read_colours

_MIX = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U31 = np.uint64(31)
_U29 = np.uint64(29)


@inlined
def mixed(value):
    """Return 64 well-mixed bits of a word."""
    value = (value ^ (value >> _U29)) * _MIX
    value = (value ^ (value >> _U31)) * _MIX_2
    return value ^ (value >> _U31)


def symbolic_key(tables, row, other, out_rows, out_marks):
    """Return a hash of the orbit under the whole group, and of what it never moves."""
    ints, words = tables.ints, tables.words
    scratch = tables.scratch
    colours = scratch[Row.COLOURS]
    classes = ints[Sym.CLASSES]
    read_colours(ints, row, colours)
    total = np.uint64(0)
    for member in range(ints[Sym.MEMBERS]):
        class_ = np.uint64(ints[classes + member])
        total += mixed(np.uint64(colours[member] + 1) + (class_ << np.uint64(56)))
    for w in range(ints[Sym.SYSTEM_WORDS]):
        total = mixed(total + (row[w] & words[w]))
    return np.int64(total >> np.uint64(1))


@inlined
def same_elsewhere(ints, words, first, second):
    """Whether two rows agree in all that the group never moves."""
    for w in range(ints[Sym.SYSTEM_WORDS]):
        if (first[w] ^ second[w]) & words[w] != 0:
            return False
    return True


@inlined
def same_from(row, other, first):
    """Whether two rows agree from word `first` on."""
    for w in range(first, row.shape[0]):  # noqa: SIM110 (a kernel has no `all`)
        if row[w] != other[w]:
            return False
    return True


@inlined
def insert(values, n, value):
    """Insert a value into ``values[:n]``, which ascends."""
    at = n
    while at > 0 and values[at - 1] > value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value


@called
def gather(ints, colours, blocks, block, gathered):
    """Write the colours of the members of a block in ascending order.

    All arrays int64[n_members].
    """
    n = np.int64(0)
    for member in range(ints[Sym.MEMBERS]):
        if blocks[member] == block:
            insert(gathered, n, colours[member])
            n += 1


@inlined
def has_across(ints, blocks, other_blocks, other, first, mixed):
    """Whether a block of the other set with two colours lies across blocks.

    Writes `first` and `mixed`; all arrays int64[n_members].
    """
    n_members = ints[Sym.MEMBERS]
    for member in range(n_members):
        leader = np.int64(0)
        while other_blocks[leader] != other_blocks[member]:
            leader += 1
        first[member] = leader
        mixed[member] = 0
        if other[leader] != other[member]:
            mixed[leader] = 1
    for member in range(n_members):
        leader = first[member]
        if mixed[leader] != 0 and blocks[leader] != blocks[member]:
            return True
    return False


def symbolic_includes(tables, row, other, out_rows, out_marks):
    """Return whether a set includes another one, as 0 or 1."""
    ints, words = tables.ints, tables.words
    scratch = tables.scratch
    if not same_elsewhere(ints, words, row, other):
        return 0
    if same_from(row, other, ints[Sym.BLOCK_WORD]):
        # Orbits of the same group are equal or disjoint.
        return 1 if same_from(row, other, 0) else 0
    n_members = ints[Sym.MEMBERS]
    colours, blocks = scratch[Row.COLOURS], scratch[Row.BLOCKS]
    other_colours, other_blocks = scratch[Row.OTHER_COLOURS], scratch[Row.OTHER_BLOCKS]
    gathered = scratch[Row.GATHERED]
    read_blocks(ints, row, blocks)
    read_blocks(ints, other, other_blocks)
    read_colours(ints, row, colours)
    read_colours(ints, other, other_colours)
    first, mixed = scratch[Row.FIRST], scratch[Row.MIXED]
    if has_across(ints, blocks, other_blocks, other_colours, first, mixed):
        return 0
    for leader in range(n_members):
        # Once for each block, at its first member, where the colours ascend from.
        is_first = True
        for earlier in range(leader):
            if blocks[earlier] == blocks[leader]:
                is_first = False
        if not is_first:
            continue
        gather(ints, other_colours, blocks, blocks[leader], gathered)
        at = np.int64(0)
        for member in range(leader, n_members):
            if blocks[member] == blocks[leader]:
                if colours[member] != gathered[at]:
                    return 0
                at += 1
    return 1

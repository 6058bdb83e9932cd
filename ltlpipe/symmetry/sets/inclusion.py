"""Inclusion of sets of markings, and the key of comparable sets.

A set T is found to include a set D if the property is in the same state, the group of D
is one of that of T (blocks that leave the representative of D as it is apart), and the
representative of D has that of T under the group of T.  Each of these is sufficient: D
may be included in T and not be found to be, where a representative is not the least one
(`ltlpipe.symmetry.sets.canonical`).

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3.

Differences from the source: sets are not refined; the key is an invariant of the orbit
under the whole group, not the orbit.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.symmetry.sets.canonical import refine, represent, start_signatures
from ltlpipe.symmetry.sets.layout import Cell, Head, Row, Word
from ltlpipe.symmetry.sets.markings import (
    are_equal,
    cell_at,
    find_mixed,
    mix,
    read,
    read_group,
    read_marking,
    read_support,
)

_CELL = len(Cell)
_POSITIVE = np.uint64((1 << 62) - 1)


@called
def group_fits(ints, scratch):
    """Whether the group of OTHER_BLOCKS is one of that of BLOCKS, on a marking.

    Its twins are in LEADERS; blocks of twins count as nothing.
    """
    blocks, others = scratch[Row.BLOCKS], scratch[Row.OTHER_BLOCKS]
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    find_mixed(ints[Head.MEMBERS], others, scratch[Row.LEADERS], scratch)
    for member in range(ints[Head.MEMBERS]):
        block = others[member]
        if mixed[block] != 0 and blocks[first[block]] != blocks[member]:
            return False
    return True


@called
def fits(tables, row, other):
    """Do what `symbolic_includes` does; the permutation is then in BEST.

    It takes the representative of `other` to that of `row`.
    """
    ints, scratch = tables.ints, tables.scratch
    watching = ints[Head.PROPERTY]
    if read(ints, watching, row) != read(ints, watching, other):
        return False
    blocks, others = scratch[Row.BLOCKS], scratch[Row.OTHER_BLOCKS]
    read_group(ints, row, blocks)
    read_group(ints, other, others)
    # Of two sets with one group, one includes the other only if their rows are equal.
    if are_equal(blocks, others, ints[Head.MEMBERS]):
        return False
    n = read_marking(tables, other)
    if not group_fits(ints, scratch):
        return False
    represent(tables, n, blocks)
    for w in range(ints[Head.WORDS]):
        if row[w] & tables.words[w] != tables.step_rows[Word.BEST, w]:
            return False
    return True


def symbolic_includes(tables, row, other, out_rows, out_marks):
    """Whether `row` is found to include `other`: 1 or 0."""
    if are_equal(row, other, tables.ints[Head.WORDS]):
        return np.int64(1)
    return np.int64(fits(tables, row, other))


def symbolic_key(tables, row, other, out_rows, out_marks):
    """Return a number that is the same for sets of which one includes the other.

    It is a hash of the marking's cells by the signatures of their colours.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    signatures = rows[Word.OWN]
    start_signatures(ints, ints[ints[Head.CLASSES] :], signatures)
    n = read_support(ints, tables.words, row, cells, counts)
    for _ in range(ints[Head.ROUNDS]):
        refine(ints, cells, counts, n, signatures, rows[Word.FRESH])
    total = np.uint64(read(ints, ints[Head.PROPERTY], row))
    for k in range(n):
        at = cell_at(ints, cells[k])
        told = mix(np.uint64(counts[k])) + np.uint64(ints[at + Cell.PLACE])
        for i in range(ints[Head.ARITY]):
            element = ints[at + _CELL + i]
            if element < 0:
                break
            told = mix(told) + signatures[element]
        total += mix(told)
    return np.int64(mix(total) & _POSITIVE)

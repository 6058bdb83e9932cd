"""Inclusion of sets of markings, and the key of sets that may include each other.

A set T is found to include a set D if the property is in the same state, the group of D
is one of that of T (blocks and rotations that leave the representative of D as it is
apart), and the representative of D has that of T under the group of T.  Each of these
is sufficient: D may be included in T and not be found to be, where a representative is
not the least one (`ltlpipe.symmetry.sets.canonical`).

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3.

Differences from the source: sets are not refined; the key is an invariant of the orbit
under the whole group, not the orbit.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.symmetry.sets.canonical import refine, represent, start_signatures
from ltlpipe.symmetry.sets.layout import Cell, Head, Row, Turn, Word
from ltlpipe.symmetry.sets.markings import (
    TURN,
    cell_at,
    read,
    read_group,
    read_support,
)
from ltlpipe.symmetry.sets.twins import find_twins, mix, turns_to_itself

_CELL = len(Cell)
_POSITIVE = np.uint64((1 << 62) - 1)


@called
def group_fits(ints, row, n, scratch):
    """Whether the group of OTHER_BLOCKS is one of that of BLOCKS, on a marking.

    Its support is in CELLS, its twins are in LEADERS; blocks of twins and rotations
    that do not change it count as nothing.
    """
    blocks, others = scratch[Row.BLOCKS], scratch[Row.OTHER_BLOCKS]
    leaders, first, mixed = (
        scratch[Row.LEADERS],
        scratch[Row.LABELS],
        scratch[Row.MIXED],
    )
    for member in range(ints[Head.MEMBERS]):
        first[member] = -1
        mixed[member] = 0
    for member in range(ints[Head.MEMBERS]):
        block = others[member]
        if first[block] < 0:
            first[block] = member
        elif leaders[first[block]] != leaders[member]:
            mixed[block] = 1
    for member in range(ints[Head.MEMBERS]):
        block = others[member]
        if mixed[block] != 0 and blocks[first[block]] != blocks[member]:
            return False
    for turn in range(ints[Head.TURNING]):
        step = scratch[Row.OTHER_STEPS, turn]
        if step % scratch[Row.STEPS, turn] != 0 and not turns_to_itself(
            ints, row, n, turn, step, scratch
        ):
            return False
    return True


@called
def same_groups(ints, scratch):
    """Whether two sets have the same group: those in BLOCKS and OTHER_BLOCKS.

    Then one includes the other only if they are the same, and so are their rows.
    """
    same = True
    for member in range(ints[Head.MEMBERS]):
        same = same and scratch[Row.BLOCKS, member] == scratch[Row.OTHER_BLOCKS, member]
    for turn in range(ints[Head.TURNING]):
        same = same and scratch[Row.STEPS, turn] == scratch[Row.OTHER_STEPS, turn]
    return same


@called
def fits(tables, row, other):
    """Do what `symbolic_includes` does; the permutation is then in BEST.

    It takes the representative of `other` to that of `row`.
    """
    ints, words, scratch = tables.ints, tables.words, tables.scratch
    watching = ints[Head.PROPERTY]
    if read(ints, watching, row) != read(ints, watching, other):
        return False
    read_group(ints, row, scratch[Row.BLOCKS], scratch[Row.STEPS])
    read_group(ints, other, scratch[Row.OTHER_BLOCKS], scratch[Row.OTHER_STEPS])
    if same_groups(ints, scratch):
        return False
    n = read_support(ints, words, other, scratch[Row.CELLS], scratch[Row.COUNTS])
    find_twins(ints, other, n, scratch, tables.step_rows[Word.SIMPLE])
    if not group_fits(ints, other, n, scratch):
        return False
    represent(tables, n, scratch[Row.BLOCKS], scratch[Row.STEPS])
    best = tables.step_rows[Word.BEST]
    same = True
    for w in range(ints[Head.WORDS]):
        same = same and row[w] & words[w] == best[w]
    return same


@called
def same_rows(ints, row, other):
    """Whether two rows are the same."""
    same = True
    for w in range(ints[Head.WORDS]):
        same = same and row[w] == other[w]
    return same


def symbolic_includes(tables, row, other, out_rows, out_marks):
    """Whether `row` is found to include `other`: 1 or 0."""
    if same_rows(tables.ints, row, other):
        return np.int64(1)
    return np.int64(fits(tables, row, other))


@called
def widest(ints, scratch):
    """Write the whole group to BLOCKS and STEPS."""
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.BLOCKS, member] = ints[ints[Head.CLASSES] + member]
    for turn in range(ints[Head.TURNING]):
        least = ints[ints[Head.TURNS] + TURN * turn + Turn.LEAST]
        scratch[Row.STEPS, turn] = least


def symbolic_key(tables, row, other, out_rows, out_marks):
    """Return a number that is the same for sets of which one includes the other.

    It is a hash of the marking's cells by the signatures of their colours.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    signatures = rows[Word.OWN]
    widest(ints, scratch)
    start_signatures(ints, scratch[Row.BLOCKS], scratch[Row.STEPS], signatures)
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

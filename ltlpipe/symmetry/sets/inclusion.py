"""Inclusion of sets of markings, their difference, and the key of comparable sets.

A set T is found to include a set D if the property is in the same state, the group of D
is one of that of T (blocks that leave the representative of D as it is apart), and the
representative of D has that of T under the group of T.  Each of these
is sufficient: D may be included in T and not be found to be, where a representative is
not the least one (`ltlpipe.symmetry.sets.canonical`).

Let D be included in T, both under the group that they have in common.  The finer blocks
are gone through, small ones first: a piece of the rest is where one of them has other
twins than in D, those before it have the same, and those behind it have whatever is
left, in blocks as coarse as those of T.  So the rest falls into few large sets.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3.

Differences from the source: sets are not refined; the key is an invariant of the orbit
under the whole group, not the orbit.  Pieces of a difference are not refined and
grouped afterwards; where a representative of T has automorphisms that are no exchanges
of twins, a piece may include states of D, or of another piece, which are then searched
twice.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.symmetry.sets.canonical import refine, represent, start_signatures
from ltlpipe.symmetry.sets.markings import (
    Cell,
    Head,
    Row,
    Word,
    are_equal,
    cell_at,
    find_mixed,
    keep_source,
    mix,
    order_by,
    read,
    read_group,
    read_marking,
    read_support,
    settle_group,
    write,
    write_permuted,
)
from ltlpipe.symmetry.sets.product import (
    cut,
    next_members,
    write_arrangement,
    write_set,
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


@called
def order_pieces(ints, scratch):
    """Write the members to ORDER, those of small finer blocks first."""
    finer, sizes, keys = scratch[Row.FINER], scratch[Row.SIZES], scratch[Row.KEYS]
    n = ints[Head.MEMBERS]
    sizes[:n] = 0
    for member in range(n):
        sizes[finer[member]] += 1
    for member in range(n):
        keys[member] = sizes[finer[member]] * n + finer[member]
    order_by(keys, n, scratch[Row.ORDER])


@called
def sort_goal(ints, scratch):
    """Let GOAL ascend in each finer block, in the order of ORDER."""
    finer, order, goal = scratch[Row.FINER], scratch[Row.ORDER], scratch[Row.GOAL]
    for k in range(ints[Head.MEMBERS]):
        value = goal[order[k]]
        at = np.int64(k)
        while (
            at > 0
            and finer[order[at - 1]] == finer[order[k]]
            and goal[order[at - 1]] > value
        ):
            goal[order[at]] = goal[order[at - 1]]
            at -= 1
        goal[order[at]] = value


@called
def compare_representatives(tables, row, other):
    """Prepare to decompose a set that includes another one.

    Writes the support of its representative to SOURCE_CELLS and SOURCE_COUNTS, its
    twins to LOCAL, which of them the other one has where to GOAL, and the common group
    to FINER.  Returns how many cells are marked, or -1 if the inclusion is not found.
    """
    ints, scratch = tables.ints, tables.scratch
    if not fits(tables, row, other):
        return np.int64(-1)
    elements, members = ints[Head.MEMBER_ELEMENTS], ints[Head.ELEMENT_MEMBERS]
    goal, best = scratch[Row.GOAL], scratch[Row.BEST]
    for member in range(ints[Head.MEMBERS]):
        goal[member] = ints[members + best[ints[elements + member]]]
    blocks, others = scratch[Row.BLOCKS], scratch[Row.OTHER_BLOCKS]
    cut(ints[Head.MEMBERS], blocks, others, scratch[Row.FINER])
    n = read_marking(tables, row)
    keep_source(tables, n, blocks)
    for member in range(ints[Head.MEMBERS]):
        goal[member] = scratch[Row.LOCAL, goal[member]]
    order_pieces(ints, scratch)
    sort_goal(ints, scratch)
    return n


@called
def append_piece(tables, n, other, out_rows, count):
    """Append the piece of WANTED under PIECES; not `other`.

    Returns the new count, or -1 if there is no room.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    if count == out_rows.shape[0]:
        return np.int64(-1)
    state, permutation = rows[Word.STATE], scratch[Row.PERMUTATION]
    cells, counts = scratch[Row.SOURCE_CELLS], scratch[Row.SOURCE_COUNTS]
    write_arrangement(ints, scratch, permutation)
    write_permuted(ints, cells, counts, n, permutation, state)
    read_marking(tables, state)
    settle_group(tables, scratch[Row.PIECES])
    write_set(tables, n, scratch[Row.SETTLED], out_rows[count])
    at = ints[Head.PROPERTY]
    write(ints, at, out_rows[count], read(ints, at, other))
    if are_equal(out_rows[count], other, ints[Head.WORDS]):
        return count
    return count + 1


@called
def fill(ints, scratch, begin):
    """Complete WANTED behind a place of ORDER with whatever is left.

    Those members are in blocks as coarse as BLOCKS (PIECES).
    """
    blocks, local, order = scratch[Row.BLOCKS], scratch[Row.LOCAL], scratch[Row.ORDER]
    for k in range(begin, ints[Head.MEMBERS]):
        member = order[k]
        source = np.int64(0)
        while (
            local[source] != source
            or blocks[source] != blocks[member]
            or scratch[Row.LEFT, source] == 0
        ):
            source += 1
        scratch[Row.WANTED, member] = source
        scratch[Row.LEFT, source] -= 1
        scratch[Row.PIECES, member] = ints[Head.MEMBERS] + blocks[member]


@called
def has_goal(scratch, begin, end):
    """Whether ``ORDER[begin:end]`` have what they have in the set that is included."""
    for k in range(begin, end):
        member = scratch[Row.ORDER, k]
        if scratch[Row.WANTED, member] != scratch[Row.GOAL, member]:
            return False
    return True


@called
def append_pieces(tables, n, other, out_rows):
    """Append the pieces of `row` without `other`; return how many, or -1."""
    ints, scratch = tables.ints, tables.scratch
    finer, order, left = scratch[Row.FINER], scratch[Row.ORDER], scratch[Row.LEFT]
    wanted = scratch[Row.WANTED]
    n_members = ints[Head.MEMBERS]
    left[:n_members] = 0
    wanted[:n_members] = -1
    for member in range(n_members):
        left[scratch[Row.LOCAL, member]] += 1
    begin = count = np.int64(0)
    while begin < n_members:
        end = begin + 1
        while end < n_members and finer[order[end]] == finer[order[begin]]:
            end += 1
        for k in range(begin, end):
            scratch[Row.PIECES, order[k]] = finer[order[k]]
        started = False
        while next_members(ints, scratch, begin, end, started):
            started = True
            if has_goal(scratch, begin, end):
                continue
            fill(ints, scratch, end)
            count = append_piece(tables, n, other, out_rows, count)
            if count < 0:
                return count
            for k in range(end, n_members):
                left[wanted[order[k]]] += 1
                wanted[order[k]] = -1
        for k in range(begin, end):
            wanted[order[k]] = scratch[Row.GOAL, order[k]]
            left[wanted[order[k]]] -= 1
        begin = end
    return count


def symbolic_decompose(tables, row, other, out_rows, out_marks):
    """Write sets that make up `row` with the set `other`, which it includes."""
    if are_equal(row, other, tables.ints[Head.WORDS]):
        return np.int64(0)
    n = compare_representatives(tables, row, other)
    if n < 0:
        return np.int64(0)
    return append_pieces(tables, n, other, out_rows)

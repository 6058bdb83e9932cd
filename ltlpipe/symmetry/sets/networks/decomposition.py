"""Decomposition of a set of a symbolic product: what completes a subset.

It is cut step by step: first one piece of one block holds other colours than in the
subset, whatever the rest holds; then it holds the same, and the next piece others; and
so on, small pieces first.  So what is left over falls into few large sets.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Secs. 3 and 6.3 (Decomp).

Differences from the source: sets are not refined until their blocks are equal.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.networks.arranging import arrange, order_members
from ltlpipe.symmetry.sets.networks.inclusion import insert
from ltlpipe.symmetry.sets.networks.layout import Row, Sym
from ltlpipe.symmetry.sets.networks.members import (
    chain_blocks,
    read_blocks,
    read_colours,
    settle,
)

# In PARTS, times the number of members: the piece that is being divided from what is
# left of its block, and that rest.  Lower numbers are those of blocks, and of pieces
# that are done.
_IN_PIECE, _IN_REST = 2, 3


@called
def write_part(ints, scratch, whole, out_rows, count):
    """Append the set with the colours WANTED in the blocks PARTS.

    Reads BLOCKS and COLOURS of the row `whole` as well, which includes it.
    """
    n_words = whole.shape[0]
    row = out_rows[count]
    for w in range(n_words):
        row[w] = whole[w]
    for member in range(ints[Sym.MEMBERS]):
        scratch[Row.CURRENT, member] = scratch[Row.COLOURS, member]
    arrange(
        ints,
        row,
        scratch[Row.BLOCKS],
        scratch[Row.ORDER],
        scratch[Row.CURRENT],
        scratch[Row.WANTED],
    )
    chain_blocks(ints, scratch[Row.PARTS], scratch[Row.BEFORE], scratch[Row.FIRST])
    settle(
        ints,
        row,
        scratch[Row.WANTED],
        scratch[Row.BEFORE],
        scratch[Row.FIRST],
        scratch[Row.STEP_BLOCKS],
        scratch[Row.MIXED],
    )


@inlined
def smallest_piece(ints, scratch, block):
    """Return the number of the least piece of a block that is not done, and its size.

    -1 if at most one is left: that one is decided by the others.  A piece is what a
    block of the subset has in it; those done have numbers of at least n_members in
    PARTS.
    """
    n_members = ints[Sym.MEMBERS]
    blocks, parts = scratch[Row.BLOCKS], scratch[Row.PARTS]
    own = scratch[Row.OTHER_BLOCKS]
    best = np.int64(-1)
    best_size = np.int64(0)
    n_left = np.int64(0)
    for member in range(n_members):
        if blocks[member] != block or parts[member] >= n_members:
            continue
        size = np.int64(0)
        is_first = True
        for third in range(n_members):
            if blocks[third] == block and own[third] == own[member]:
                size += 1
                is_first = is_first and third >= member
        if is_first:
            n_left += 1
            if best < 0 or size < best_size:
                best = own[member]
                best_size = size
    if n_left <= 1:
        best = np.int64(-1)
    return best, best_size


@inlined
def next_choice(pool, n_pool, choice, size):
    """Advance ascending places of `pool` to the next other colours; False at the end.

    ``pool[:n_pool]`` ascends; so do the colours at ``choice[:size]``, of which the
    sequence that comes next in lexical order takes the place.
    """
    at = size - 1
    while at >= 0 and pool[choice[at]] == pool[n_pool - size + at]:
        at -= 1
    if at < 0:
        return False
    source = choice[at]
    while pool[source] == pool[choice[at]]:
        source += 1
    for k in range(at, size):
        choice[k] = source + k - at
    return True


@inlined
def divide(ints, scratch, block, piece):
    """Divide what of a block is not done yet into a piece and the rest, in PARTS.

    Writes the colours of both together to POOL, and those that the piece has in the
    subset to GATHERED, in ascending order; returns how many there are in POOL.
    """
    n_members = ints[Sym.MEMBERS]
    blocks, parts = scratch[Row.BLOCKS], scratch[Row.PARTS]
    own, target = scratch[Row.OTHER_BLOCKS], scratch[Row.OTHER_COLOURS]
    pool, gathered = scratch[Row.POOL], scratch[Row.GATHERED]
    n_pool = np.int64(0)
    n_own = np.int64(0)
    for member in range(n_members):
        if blocks[member] == block and parts[member] < n_members:
            insert(pool, n_pool, target[member])
            n_pool += 1
            parts[member] = _IN_REST * n_members
            if own[member] == piece:
                parts[member] = _IN_PIECE * n_members
                insert(gathered, n_own, target[member])
                n_own += 1
    return n_pool


@inlined
def is_as_it_should(scratch, size):
    """Whether the colours of POOL at CHOICE are those of the piece in the subset."""
    pool, choice = scratch[Row.POOL], scratch[Row.CHOICE]
    for k in range(size):  # noqa: SIM110 (a kernel has no `all`)
        if pool[choice[k]] != scratch[Row.GATHERED, k]:
            return False
    return True


@inlined
def hand_out(ints, scratch, n_pool, size):
    """Write to WANTED the colours of POOL: those at CHOICE to the piece, or the rest.

    Writes USED.
    """
    n_members = ints[Sym.MEMBERS]
    parts, wanted = scratch[Row.PARTS], scratch[Row.WANTED]
    pool, choice = scratch[Row.POOL], scratch[Row.CHOICE]
    used = scratch[Row.USED]
    for k in range(n_pool):
        used[k] = 0
    for k in range(size):
        used[choice[k]] = 1
    of_piece = of_rest = np.int64(0)
    for member in range(n_members):
        if parts[member] == _IN_PIECE * n_members:
            wanted[member] = pool[choice[of_piece]]
            of_piece += 1
        elif parts[member] == _IN_REST * n_members:
            while used[of_rest] != 0:
                of_rest += 1
            wanted[member] = pool[of_rest]
            of_rest += 1


@inlined
def finish(ints, scratch, block, piece):
    """Note in PARTS and WANTED that a piece is done, and the rest still waits."""
    n_members = ints[Sym.MEMBERS]
    parts, wanted = scratch[Row.PARTS], scratch[Row.WANTED]
    target = scratch[Row.OTHER_COLOURS]
    for member in range(n_members):
        if parts[member] == _IN_PIECE * n_members:
            parts[member] = n_members + piece
            wanted[member] = target[member]
        elif parts[member] == _IN_REST * n_members:
            parts[member] = block
            wanted[member] = target[member]


@called
def write_others(ints, scratch, whole, block, piece, size, out_rows, count):
    """Append the sets in which a piece of a block has other colours than it should.

    What of the block is not done yet is divided between the piece and the rest in every
    other way.  Returns the new count, or -1 if there is no room.
    """
    pool, choice = scratch[Row.POOL], scratch[Row.CHOICE]
    n_pool = divide(ints, scratch, block, piece)
    for k in range(size):
        choice[k] = k
    going = True
    while going:
        if not is_as_it_should(scratch, size):
            if count == out_rows.shape[0]:
                return np.int64(-1)
            hand_out(ints, scratch, n_pool, size)
            write_part(ints, scratch, whole, out_rows, count)
            count += 1
        going = next_choice(pool, n_pool, choice, size)
    finish(ints, scratch, block, piece)
    return count


def symbolic_decompose(tables, row, other, out_rows, out_marks):
    """Write what completes a subset (see `ltlpipe.symmetry.sets.automaton`)."""
    ints, scratch = tables.ints, tables.scratch
    n_members = ints[Sym.MEMBERS]
    colours, blocks = scratch[Row.COLOURS], scratch[Row.BLOCKS]
    target, own = scratch[Row.OTHER_COLOURS], scratch[Row.OTHER_BLOCKS]
    parts, wanted = scratch[Row.PARTS], scratch[Row.WANTED]
    read_blocks(ints, row, blocks)
    read_blocks(ints, other, own)
    read_colours(ints, row, colours)
    read_colours(ints, other, target)
    order_members(ints[Sym.MEMBERS], blocks, blocks, scratch[Row.ORDER])
    n_blocks = np.int64(0)
    for member in range(n_members):
        parts[member] = blocks[member]
        wanted[member] = colours[member]
        n_blocks = max(n_blocks, blocks[member] + 1)
    count = np.int64(0)
    for block in range(n_blocks):
        while True:
            piece, size = smallest_piece(ints, scratch, block)
            if piece < 0:
                break
            count = write_others(
                ints, scratch, row, block, piece, size, out_rows, count
            )
            if count < 0:
                return count
        # From here on the block is as in the subset: its last piece is what is left.
        for member in range(n_members):
            if blocks[member] == block:
                wanted[member] = target[member]
                if parts[member] < n_members:
                    parts[member] = n_members + own[member]
    return count

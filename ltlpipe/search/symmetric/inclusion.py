"""Inclusion and decomposition of the sets of a symbolic product, on colours and blocks.

A set is included in another one iff each of its blocks with more than one colour lies
within a block of the other one, and its representative has, in each block of the other
one, as many members of each colour as the other's.  (If a block with two colours lies
across two blocks of the other one, an exchange across changes what these hold.)

Sources: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Secs. 3 and 6.3.

Differences from the source: neither refines both sets until their blocks are equal.
Inclusion takes the test above.  What completes a subset is cut step by step: first one
piece of one block holds other colours than in the subset, whatever the rest holds; then
it holds the same, and the next piece others; and so on, small pieces first.  So what is
left over falls into few large sets.
"""

from __future__ import annotations

import numpy as np

from ltlpipe._jit import called, inlined
from ltlpipe.search.symmetric.arranging import arrange, order_members
from ltlpipe.search.symmetric.layout import Row, Sym
from ltlpipe.search.symmetric.members import (
    chain_blocks,
    read_blocks,
    read_colours,
    settle,
)

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


@called
def write_others(ints, scratch, whole, block, piece, size, out_rows, count):
    """Append the sets in which a piece of a block has other colours than it should.

    What of the block is not done yet is divided between the piece and the rest in every
    other way.  Returns the new count, or -1 if there is no room.
    """
    n_members = ints[Sym.MEMBERS]
    blocks, parts = scratch[Row.BLOCKS], scratch[Row.PARTS]
    own, target = scratch[Row.OTHER_BLOCKS], scratch[Row.OTHER_COLOURS]
    pool, choice = scratch[Row.POOL], scratch[Row.CHOICE]
    used, wanted = scratch[Row.USED], scratch[Row.WANTED]
    gathered = scratch[Row.GATHERED]
    in_piece, in_rest = 2 * n_members, 2 * n_members + 1
    n_pool = np.int64(0)
    n_own = np.int64(0)
    for member in range(n_members):
        if blocks[member] == block and parts[member] < n_members:
            insert(pool, n_pool, target[member])
            n_pool += 1
            parts[member] = in_rest
            if own[member] == piece:
                parts[member] = in_piece
                insert(gathered, n_own, target[member])
                n_own += 1
    for k in range(size):
        choice[k] = k
    going = True
    while going:
        same = True
        for k in range(size):
            same = same and pool[choice[k]] == gathered[k]
        if not same:
            if count == out_rows.shape[0]:
                return np.int64(-1)
            for k in range(n_pool):
                used[k] = 0
            for k in range(size):
                used[choice[k]] = 1
            of_piece = of_rest = np.int64(0)
            for member in range(n_members):
                if parts[member] == in_piece:
                    wanted[member] = pool[choice[of_piece]]
                    of_piece += 1
                elif parts[member] == in_rest:
                    while used[of_rest] != 0:
                        of_rest += 1
                    wanted[member] = pool[of_rest]
                    of_rest += 1
            write_part(ints, scratch, whole, out_rows, count)
            count += 1
        going = next_choice(pool, n_pool, choice, size)
    # The piece is done, the rest still waits.
    for member in range(n_members):
        if parts[member] == in_piece:
            parts[member] = n_members + piece
            wanted[member] = target[member]
        elif parts[member] == in_rest:
            parts[member] = block
            wanted[member] = target[member]
    return count


def symbolic_decompose(tables, row, other, out_rows, out_marks):
    """Write what completes a subset (see `ltlpipe.search.powerset.automaton`)."""
    ints, scratch = tables.ints, tables.scratch
    n_members = ints[Sym.MEMBERS]
    colours, blocks = scratch[Row.COLOURS], scratch[Row.BLOCKS]
    target, own = scratch[Row.OTHER_COLOURS], scratch[Row.OTHER_BLOCKS]
    parts, wanted = scratch[Row.PARTS], scratch[Row.WANTED]
    read_blocks(ints, row, blocks)
    read_blocks(ints, other, own)
    read_colours(ints, row, colours)
    read_colours(ints, other, target)
    order_members(ints, blocks, blocks, scratch[Row.ORDER])
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

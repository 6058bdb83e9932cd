"""Canonical representatives of markings under a group of permutations of colours.

The group permutes members within blocks.  Colours get *signatures*, which are refined
by those of the colours that are together with them in tuples; in each block colours are
then ordered by signature.  Twins are alike.  Where others have the same signature, one
after the other is set apart (*individualised*) with its twins and the signatures are
refined again.  Of all the markings that come out so the least one is the
representative.

Two leaves of that search with the same marking tell an automorphism: the branches in
which they lie are alike, and the second one is left.

Source: B. D. McKay, "Practical Graph Isomorphism", Congressus Numerantium 30, 1981,
pp. 45-87 (refinement, individualisation, pruning by automorphisms).

Differences from the source: signatures are hashes, refined a fixed number of times; of
automorphisms only those between the best leaf and the current one are used.

Limits: after ``Head.MOST_LEAVES`` leaves the best one so far is taken.  It is a marking
of the same orbit, but maybe not the one that others of the orbit lead to: the same set
may then have several rows, which costs states and no more; ``Head.APPROXIMATE`` counts.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.symmetry.sets.markings import (
    Cell,
    Head,
    Row,
    Word,
    cell_at,
    copy,
    mix,
    order_by,
    stay,
    write_permuted,
)

_MEMBER = np.uint64(1 << 40)
_CHOSEN = np.uint64(0xD6E8FEB86659FD93)
_CELL = len(Cell)


@called
def start_signatures(ints, blocks, signatures):
    """Write the signatures that the group alone tells (uint64[n_elements])."""
    for element in range(ints[Head.ELEMENTS]):
        member = ints[ints[Head.ELEMENT_MEMBERS] + element]
        told = np.uint64(element)
        if member >= 0:
            told = _MEMBER + np.uint64(blocks[member])
        signatures[element] = mix(told + np.uint64(1))


@called
def refine(ints, cells, counts, n, signatures, fresh):
    """Refine signatures once by a support of n cells."""
    arity = ints[Head.ARITY]
    for element in range(ints[Head.ELEMENTS]):
        fresh[element] = mix(signatures[element])
    for k in range(n):
        at = cell_at(ints, cells[k])
        told = mix(np.uint64(counts[k])) + np.uint64(ints[at + Cell.PLACE])
        for i in range(arity):
            element = ints[at + _CELL + i]
            if element < 0:
                break
            others = told + np.uint64(i)
            for j in range(arity):
                if j != i and ints[at + _CELL + j] >= 0:
                    others = mix(others) + signatures[ints[at + _CELL + j]]
            fresh[element] += mix(others)
    copy(fresh, signatures, ints[Head.ELEMENTS])


@called
def sort_members(ints, blocks, signatures, positions, ordered):
    """Write the members in the order of their blocks and signatures."""
    elements = ints[Head.MEMBER_ELEMENTS]
    for k in range(ints[Head.MEMBERS]):
        member = positions[k]
        own = signatures[ints[elements + member]]
        at = np.int64(k)
        while (
            at > 0
            and blocks[ordered[at - 1]] == blocks[member]
            and signatures[ints[elements + ordered[at - 1]]] > own
        ):
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = member


@called
def choose(ints, scratch, blocks, signatures, depth):
    """Look for members that are tied and not all twins; return whether there are any.

    Reads POSITIONS and LEADERS, writes SORTED, and one of them to EXAMPLES.
    """
    ordered, leaders = scratch[Row.SORTED], scratch[Row.LEADERS]
    sort_members(ints, blocks, signatures, scratch[Row.POSITIONS], ordered)
    elements = ints[Head.MEMBER_ELEMENTS]
    for k in range(1, ints[Head.MEMBERS]):
        before, member = ordered[k - 1], ordered[k]
        if (
            blocks[before] == blocks[member]
            and leaders[before] != leaders[member]
            and signatures[ints[elements + before]]
            == signatures[ints[elements + member]]
        ):
            scratch[Row.EXAMPLES, depth] = member
            return True
    return False


@called
def next_choice(ints, scratch, blocks, signatures, depth):
    """Return the next choice at a depth after the one in PATH, or -1.

    Choices are the first twins of the members in the tie.
    """
    last, found = scratch[Row.PATH, depth], np.int64(-1)
    for member in range(ints[Head.MEMBERS]):
        leader = scratch[Row.LEADERS, member]
        if (
            leader > last
            and (found < 0 or leader < found)
            and is_tied(ints, scratch, blocks, signatures, depth, member)
        ):
            found = leader
    return found


@called
def is_tied(ints, scratch, blocks, signatures, depth, member):
    """Whether a member is in the tie at a depth."""
    elements, example = ints[Head.MEMBER_ELEMENTS], scratch[Row.EXAMPLES, depth]
    own, wanted = ints[elements + member], ints[elements + example]
    return blocks[member] == blocks[example] and signatures[own] == signatures[wanted]


@called
def set_apart(ints, scratch, blocks, signatures, depth, choice, chosen):
    """Write the signatures after a choice, not yet refined."""
    copy(signatures, chosen, ints[Head.ELEMENTS])
    for member in range(ints[Head.MEMBERS]):
        element = ints[ints[Head.MEMBER_ELEMENTS] + member]
        if scratch[Row.LEADERS, member] == choice and is_tied(
            ints, scratch, blocks, signatures, depth, member
        ):
            chosen[element] = mix(signatures[element] ^ _CHOSEN)


@called
def permutation_at(ints, scratch, permutation):
    """Write the permutation of a leaf: by SORTED and POSITIONS."""
    stay(ints, permutation)
    elements = ints[Head.MEMBER_ELEMENTS]
    for k in range(ints[Head.MEMBERS]):
        source = ints[elements + scratch[Row.SORTED, k]]
        permutation[source] = ints[elements + scratch[Row.POSITIONS, k]]


@called
def compared(ints, one, other):
    """Return -1, 0 or 1: whether a row is less than another one, equal or greater."""
    for w in range(ints[Head.WORDS]):
        if one[w] != other[w]:
            return np.int64(-1) if one[w] < other[w] else np.int64(1)
    return np.int64(0)


@called
def take_leaf(tables, n, depth, leaves):
    """Compare the marking of a leaf with the best one; return where to go on.

    That is the depth at which another choice is to be made.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    permutation = scratch[Row.PERMUTATION]
    permutation_at(ints, scratch, permutation)
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    goal = Word.BEST if leaves == 0 else Word.TRIAL
    write_permuted(ints, cells, counts, n, permutation, rows[goal])
    relation = np.int64(-1)
    if leaves > 0:
        relation = compared(ints, rows[Word.TRIAL], rows[Word.BEST])
    if relation == 0:
        for k in range(depth):
            if scratch[Row.PATH, k] != scratch[Row.BEST_PATH, k]:
                return np.int64(k)
    elif relation < 0:
        if leaves > 0:
            copy(rows[Word.TRIAL], rows[Word.BEST], ints[Head.WORDS])
        copy(permutation, scratch[Row.BEST], ints[Head.ELEMENTS])
        copy(scratch[Row.PATH], scratch[Row.BEST_PATH], depth)
    return np.int64(depth - 1)


@called
def represent(tables, n, blocks):
    """Write the representative of a marking, and the permutation that leads to it.

    The support of the marking, n cells, is in CELLS and COUNTS of `scratch`, its twins
    are in LEADERS.  The marking goes to the row BEST of `step_rows`, with nothing else
    in it, the permutation to the row BEST of `scratch`.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    fresh = rows[Word.FRESH]
    start_signatures(ints, blocks, rows[Word.SIGNATURES])
    order_by(blocks, ints[Head.MEMBERS], scratch[Row.POSITIONS])
    for _ in range(ints[Head.ROUNDS]):
        refine(ints, cells, counts, n, rows[Word.SIGNATURES], fresh)
    depth, leaves = np.int64(0), np.int64(0)
    descends = True
    while depth >= 0:
        own = rows[Word.SIGNATURES + depth]
        if descends:
            if choose(ints, scratch, blocks, own, depth):
                scratch[Row.PATH, depth] = -1
            else:
                if leaves == ints[Head.MOST_LEAVES]:
                    ints[Head.APPROXIMATE] += 1
                    return
                depth = take_leaf(tables, n, depth, leaves)
                leaves += 1
            descends = False
            continue
        choice = next_choice(ints, scratch, blocks, own, depth)
        scratch[Row.PATH, depth] = choice
        if choice < 0:
            depth -= 1
            continue
        chosen = rows[Word.SIGNATURES + depth + 1]
        set_apart(ints, scratch, blocks, own, depth, choice, chosen)
        for _ in range(ints[Head.ROUNDS]):
            refine(ints, cells, counts, n, chosen, fresh)
        depth += 1
        descends = True

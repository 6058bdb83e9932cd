"""Canonical representatives of markings under a group of permutations of colours.

The group permutes members within blocks, and rotates turning sorts by multiples of
their steps.  Colours get *signatures*, which are refined by those of the colours that
are together with them in tuples; in each block colours are then ordered by signature.
Twins are alike.  Where others have the same signature, one after the other is set apart
(*individualised*) with its twins and the signatures are refined again; for a turning
sort, one colour after the other is taken to the first place.  Of all the markings that
come out so the least one is the representative.

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
from ltlpipe.symmetry.sets.layout import Cell, Head, Row, Word
from ltlpipe.symmetry.sets.markings import (
    cell_at,
    copy,
    mix,
    order_by,
    rotate,
    stay,
    turn_of,
    write_permuted,
)

_MEMBER = np.uint64(1 << 40)
_TURNING = np.uint64(2 << 40)
_CHOSEN = np.uint64(0xD6E8FEB86659FD93)
_NEXT = np.uint64(0xA0761D6478BD642F)
_TIE = -2  # what is chosen at a depth: a member, or a turning sort by its number
_CELL = len(Cell)


@called
def start_signatures(ints, blocks, steps, signatures):
    """Write the signatures that the group alone tells (uint64[n_elements])."""
    for element in range(ints[Head.ELEMENTS]):
        member = ints[ints[Head.ELEMENT_MEMBERS] + element]
        turn = ints[ints[Head.ELEMENT_TURNS] + element]
        told = np.uint64(element)
        if member >= 0:
            told = _MEMBER + np.uint64(blocks[member])
        elif turn >= 0:
            first, _ = turn_of(ints, turn)
            place = (element - first) % steps[turn]
            told = _TURNING + np.uint64((turn << 20) + place)
        signatures[element] = mix(told + np.uint64(1))


@called
def refine(ints, cells, counts, n, signatures, fresh):
    """Refine signatures once by a support of n cells, and by who is next in a sort."""
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
    for turn in range(ints[Head.TURNING]):
        first, size = turn_of(ints, turn)
        for colour in range(size):
            following = signatures[first + (colour + 1) % size]
            fresh[first + colour] += mix(following ^ _NEXT)
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
def is_open(ints, scratch, steps, turn, depth):
    """Whether it is not yet chosen which colour of a turning sort is first."""
    _, size = turn_of(ints, turn)
    for k in range(depth):
        if scratch[Row.KINDS, k] == turn:
            return False
    return steps[turn] < size


@called
def rarest(ints, signatures, turn, step):
    """Return a colour of a turning sort that may come first and is like few others.

    Which one it is depends on the signatures alone.
    """
    first, size = turn_of(ints, turn)
    best, fewest = np.int64(0), np.int64(size + 1)
    for colour in range(0, size, step):
        own = signatures[first + colour]
        n = np.int64(0)
        for other in range(0, size, step):
            n += np.int64(signatures[first + other] == own)
        if n < fewest or (n == fewest and own < signatures[first + best]):
            best, fewest = np.int64(colour), n
    return best


@called
def choose(ints, scratch, blocks, steps, signatures, depth):
    """Write what is to be chosen at a depth; return whether anything is.

    The members of a tie, which are not all twins, or the first colour of a turning
    sort.  Reads POSITIONS and LEADERS, writes SORTED, KINDS and EXAMPLES.
    """
    for turn in range(ints[Head.TURNING]):
        if is_open(ints, scratch, steps, turn, depth):
            scratch[Row.KINDS, depth] = turn
            rare = rarest(ints, signatures, turn, steps[turn])
            scratch[Row.EXAMPLES, depth] = rare
            return True
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
            scratch[Row.KINDS, depth] = _TIE
            scratch[Row.EXAMPLES, depth] = member
            return True
    return False


@called
def next_choice(ints, scratch, blocks, steps, signatures, depth):
    """Return the next choice at a depth after the one in PATH, or -1.

    Colours of a turning sort like the rarest of those that may come first; the first
    twins of members in a tie.
    """
    kind, last = scratch[Row.KINDS, depth], scratch[Row.PATH, depth]
    if kind != _TIE:
        first, size = turn_of(ints, kind)
        rare = signatures[first + scratch[Row.EXAMPLES, depth]]
        for colour in range(0, size, steps[kind]):
            if colour > last and signatures[first + colour] == rare:
                return np.int64(colour)
        return np.int64(-1)
    found = np.int64(-1)
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
    kind = scratch[Row.KINDS, depth]
    if kind != _TIE:
        first, size = turn_of(ints, kind)
        for colour in range(size):
            place = np.uint64((colour + size - choice) % size)
            chosen[first + colour] = mix(_CHOSEN + place)
        return
    for member in range(ints[Head.MEMBERS]):
        element = ints[ints[Head.MEMBER_ELEMENTS] + member]
        if scratch[Row.LEADERS, member] == choice and is_tied(
            ints, scratch, blocks, signatures, depth, member
        ):
            chosen[element] = mix(signatures[element] ^ _CHOSEN)


@called
def permutation_at(ints, scratch, depth, permutation):
    """Write the permutation of a leaf: by SORTED, POSITIONS, KINDS and PATH."""
    stay(ints, permutation)
    elements = ints[Head.MEMBER_ELEMENTS]
    for k in range(ints[Head.MEMBERS]):
        source = ints[elements + scratch[Row.SORTED, k]]
        permutation[source] = ints[elements + scratch[Row.POSITIONS, k]]
    for k in range(depth):
        turn = scratch[Row.KINDS, k]
        if turn != _TIE:
            _, size = turn_of(ints, turn)
            rotate(ints, permutation, turn, size - scratch[Row.PATH, k])


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
    permutation_at(ints, scratch, depth, permutation)
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
def represent(tables, n, blocks, steps):
    """Write the representative of a marking, and the permutation that leads to it.

    The support of the marking, n cells, is in CELLS and COUNTS of `scratch`, its twins
    are in LEADERS.  The marking goes to the row BEST of `step_rows`, with nothing else
    in it, the permutation to the row BEST of `scratch`.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    fresh = rows[Word.FRESH]
    start_signatures(ints, blocks, steps, rows[Word.SIGNATURES])
    order_by(blocks, ints[Head.MEMBERS], scratch[Row.POSITIONS])
    for _ in range(ints[Head.ROUNDS]):
        refine(ints, cells, counts, n, rows[Word.SIGNATURES], fresh)
    depth, leaves = np.int64(0), np.int64(0)
    descends = True
    while depth >= 0:
        own = rows[Word.SIGNATURES + depth]
        if descends:
            if choose(ints, scratch, blocks, steps, own, depth):
                scratch[Row.PATH, depth] = -1
            else:
                if leaves == ints[Head.MOST_LEAVES]:
                    ints[Head.APPROXIMATE] += 1
                    return
                depth = take_leaf(tables, n, depth, leaves)
                leaves += 1
            descends = False
            continue
        choice = next_choice(ints, scratch, blocks, steps, own, depth)
        scratch[Row.PATH, depth] = choice
        if choice < 0:
            depth -= 1
            continue
        chosen = rows[Word.SIGNATURES + depth + 1]
        set_apart(ints, scratch, blocks, own, depth, choice, chosen)
        if ints[Head.MEMBERS] > 0 or ints[Head.TURNING] > 1:
            for _ in range(ints[Head.ROUNDS]):
                refine(ints, cells, counts, n, chosen, fresh)
        depth += 1
        descends = True

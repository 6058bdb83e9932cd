"""Twins: colours whose exchange leaves a marking as it is; and blocks made of them.

To be twins is an equivalence; the twins of one block are a *dynamic subclass*.  Blocks
whose members are all twins of each other act on the marking like the identity, so those
of one class of twins are made one block, and a block is as coarse as it may be.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic markings).

Differences from the source: a row has one marking of the set and its blocks, and
dynamic subclasses are found in it, where the source stores the marking over subclasses.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.layout import Cell, Head, Row, Turn
from ltlpipe.symmetry.sets.markings import (
    TURN,
    cell_at,
    image_of,
    link,
    rotate,
    stay,
    swapped,
    tokens_in,
)

_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S1, _S2, _S3 = np.uint64(30), np.uint64(27), np.uint64(31)


@inlined
def mix(value):
    """Return a hash of a number (the finaliser of SplitMix64)."""
    value = (value ^ (value >> _S1)) * _M1
    value = (value ^ (value >> _S2)) * _M2
    return value ^ (value >> _S3)


@called
def is_kept(ints, row, first, second, head, following, cells, counts):
    """Whether the exchange of two elements leaves the links of the first as they are.

    The support is that of the row.
    """
    arity = ints[Head.ARITY]
    entry = head[first]
    while entry >= 0:
        k = entry // arity
        image = swapped(ints, cells[k], first, second)
        if tokens_in(ints, row, image) != counts[k]:
            return False
        entry = following[entry]
    return True


@called
def are_twins(ints, row, first, second, scratch):
    """Whether the exchange of two elements leaves a marking as it is.

    Its support is in CELLS and COUNTS, its links in HEAD and NEXT.
    """
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    return is_kept(
        ints, row, first, second, head, following, cells, counts
    ) and is_kept(ints, row, second, first, head, following, cells, counts)


@called
def find_twins(ints, row, n, scratch, simple):
    """Write the first twin of each member (LEADERS) of a marking.

    Its support, of n cells, is in CELLS and COUNTS; writes HEAD and NEXT, and hashes of
    what unary twins have in common to `simple` (uint64[n_members]).
    """
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    leaders = scratch[Row.LEADERS]
    if ints[Head.MEMBERS] == 0:
        return
    link(ints, cells, n, head, following)
    arity = ints[Head.ARITY]
    for member in range(ints[Head.MEMBERS]):
        element = ints[ints[Head.MEMBER_ELEMENTS] + member]
        total = np.uint64(0)
        entry = head[element]
        while entry >= 0:
            k = entry // arity
            place = ints[cell_at(ints, cells[k]) + Cell.PLACE]
            said = np.uint64(place * arity + entry % arity) * _M2
            total += mix(said + np.uint64(counts[k]))
            entry = following[entry]
        simple[member] = total
        leaders[member] = member
        of = ints[ints[Head.CLASSES] + member]
        for other in range(member):
            if (
                leaders[other] == other
                and simple[other] == total
                and ints[ints[Head.CLASSES] + other] == of
                and are_twins(
                    ints,
                    row,
                    ints[ints[Head.MEMBER_ELEMENTS] + other],
                    element,
                    scratch,
                )
            ):
                leaders[member] = other
                break


@called
def settle(ints, blocks, leaders, scratch, settled):
    """Write blocks, made as coarse as the twins allow, numbered from 0.

    Blocks are numbered below 2 * n_members.
    """
    n = ints[Head.MEMBERS]
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    for k in range(2 * n):
        first[k] = -1
        mixed[k] = 0
    for member in range(n):
        block = blocks[member]
        if first[block] < 0:
            first[block] = member
        elif leaders[first[block]] != leaders[member]:
            mixed[block] = 1
    for member in range(n):
        block = blocks[member]
        # A block of twins is known by the first twin of all, any other by itself.
        label = leaders[member] if mixed[block] == 0 else n + first[block]
        settled[member] = label
    for k in range(2 * n):
        first[k] = -1
    n_blocks = np.int64(0)
    for member in range(n):
        label = settled[member]
        if first[label] < 0:
            first[label] = n_blocks
            n_blocks += 1
        settled[member] = first[label]


@called
def turns_to_itself(ints, row, n, turn, by, scratch):
    """Whether a rotation leaves a marking, with its support in CELLS, as it is.

    Writes PERMUTATION.
    """
    permutation = scratch[Row.PERMUTATION]
    stay(ints, permutation)
    rotate(ints, permutation, turn, by)
    for k in range(n):
        image = image_of(ints, scratch[Row.CELLS, k], permutation)
        if tokens_in(ints, row, image) != scratch[Row.COUNTS, k]:
            return False
    return True


@inlined
def common_divisor(a, b):
    """Return the greatest common divisor of two positive numbers."""
    while b != 0:
        a, b = b, a % b
    return a


@called
def settle_steps(ints, row, n, steps, scratch, settled):
    """Write steps of rotations, made as small as the marking allows."""
    for turn in range(ints[Head.TURNING]):
        at = ints[Head.TURNS] + TURN * turn
        size, least = ints[at + Turn.SIZE], ints[at + Turn.LEAST]
        settled[turn] = steps[turn]
        by = least
        while by < size and settled[turn] > least:
            smaller = common_divisor(settled[turn], by)
            if (
                size % by == 0
                and smaller < settled[turn]
                and turns_to_itself(ints, row, n, turn, by, scratch)
            ):
                settled[turn] = smaller
            by += least

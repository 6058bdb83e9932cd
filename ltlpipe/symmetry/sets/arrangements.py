"""All ways to hand out the colours of a set's blocks to finer blocks.

A set whose blocks are cut falls into as many sets as there are ways to hand out the
twins of each block to its pieces, and, for turning sorts, as many rotations as the
group has lost.  They are gone through one after another, without a list.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3 (refinement).

Differences from the source: of two ways that lead to the same set by an automorphism
that is no exchange of twins, both are taken.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.layout import Head, Row
from ltlpipe.symmetry.sets.markings import rotate, stay
from ltlpipe.symmetry.sets.twins import common_divisor


@called
def cut(n_members, blocks, others, finer):
    """Write the blocks of both of two partitions, all numbered from 0.

    All arrays int64[n_members] at least.  Returns whether they are finer than `blocks`.
    """
    n_blocks = n_finer = np.int64(0)
    for member in range(n_members):
        n_blocks = max(n_blocks, blocks[member] + 1)
        earlier = member - 1
        while earlier >= 0 and (
            blocks[earlier] != blocks[member] or others[earlier] != others[member]
        ):
            earlier -= 1
        if earlier >= 0:
            finer[member] = finer[earlier]
        else:
            finer[member] = n_finer
            n_finer += 1
    return n_finer > n_blocks


@inlined
def order_members(n_members, blocks, finer, order):
    """Write the members in order of their blocks, in those of their finer blocks.

    All arrays int64[n_members].  Members of the same finer block keep their order.
    """
    for member in range(n_members):
        at = np.int64(member)
        while at > 0 and (
            blocks[order[at - 1]] > blocks[member]
            or (
                blocks[order[at - 1]] == blocks[member]
                and finer[order[at - 1]] > finer[member]
            )
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = member


@called
def cut_steps(ints, steps, others, finer):
    """Write the steps of the rotations that two groups have in common."""
    for turn in range(ints[Head.TURNING]):
        shared = common_divisor(steps[turn], others[turn])
        finer[turn] = steps[turn] // shared * others[turn]


@called
def find_local(ints, blocks, leaders, local):
    """Write the first twin of each member in its block."""
    for member in range(ints[Head.MEMBERS]):
        local[member] = member
        for earlier in range(member):
            if (
                blocks[earlier] == blocks[member]
                and leaders[earlier] == leaders[member]
            ):
                local[member] = earlier
                break


@called
def begin_arranging(ints, scratch):
    """Prepare to go through the arrangements of the twins of BLOCKS over FINER.

    Reads LOCAL; writes ORDER, WANTED, LEFT and TURN.
    """
    blocks, finer, order = scratch[Row.BLOCKS], scratch[Row.FINER], scratch[Row.ORDER]
    order_members(ints[Head.MEMBERS], blocks, finer, order)
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.LEFT, member] = 0
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.LEFT, scratch[Row.LOCAL, member]] += 1
        scratch[Row.WANTED, member] = -1
    for turn in range(ints[Head.TURNING]):
        scratch[Row.TURN, turn] = 0


@called
def next_members(ints, scratch, first, end, started):
    """Write the next arrangement of ``ORDER[first:end]`` to WANTED, if there is one.

    WANTED has for each member the first twin of those that come to its place; within a
    finer block they ascend.  Without one, those places are open again.
    """
    blocks, finer, local = scratch[Row.BLOCKS], scratch[Row.FINER], scratch[Row.LOCAL]
    order, wanted, left = scratch[Row.ORDER], scratch[Row.WANTED], scratch[Row.LEFT]
    if first == end:
        return not started
    at = end - 1 if started else first
    while at >= first:
        member = order[at]
        source = wanted[member] + 1
        if source > 0:
            left[wanted[member]] += 1
        if at > 0 and finer[order[at - 1]] == finer[member]:
            source = max(source, wanted[order[at - 1]])
        n = ints[Head.MEMBERS]
        while source < n and (
            local[source] != source
            or blocks[source] != blocks[member]
            or left[source] == 0
        ):
            source += 1
        if source == n:
            wanted[member] = -1
            at -= 1
            continue
        wanted[member] = source
        left[source] -= 1
        at += 1
        if at == end:
            return True
    return False


@called
def next_turn(ints, scratch, steps, finer):
    """Go on to the next rotation (TURN); return whether there is one."""
    for turn in range(ints[Head.TURNING]):
        scratch[Row.TURN, turn] += steps[turn]
        if scratch[Row.TURN, turn] < finer[turn]:
            return True
        scratch[Row.TURN, turn] = 0
    return False


@called
def write_arrangement(ints, scratch, permutation):
    """Write the permutation that WANTED and TURN say."""
    wanted, local = scratch[Row.WANTED], scratch[Row.LOCAL]
    order, cursor = scratch[Row.ORDER], scratch[Row.CURSOR]
    elements = ints[Head.MEMBER_ELEMENTS]
    stay(ints, permutation)
    for member in range(ints[Head.MEMBERS]):
        cursor[member] = member
    for k in range(ints[Head.MEMBERS]):
        member = order[k]
        source = wanted[member]
        twin = cursor[source]
        permutation[ints[elements + twin]] = ints[elements + member]
        twin += 1
        while twin < ints[Head.MEMBERS] and local[twin] != source:
            twin += 1
        cursor[source] = twin
    for turn in range(ints[Head.TURNING]):
        rotate(ints, permutation, turn, scratch[Row.TURN, turn])

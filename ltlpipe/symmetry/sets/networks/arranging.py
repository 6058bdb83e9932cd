"""All ways to arrange the colours of a set's blocks over finer blocks.

A set whose blocks are cut falls into as many sets as there are ways to hand out the
colours of each block to its pieces (the refinement of Sec. 6.3 of the source).  They
are gone through one after another, without a list.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.3.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.networks.layout import Row, Sym
from ltlpipe.symmetry.sets.networks.members import exchange


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
def begin_arranging(ints, scratch):
    """Prepare to go through the arrangements of BLOCKS over FINER.

    Reads the rows BLOCKS and FINER of `scratch` (int64[k, m]), where FINER cuts BLOCKS
    and both number blocks from 0; writes ORDER, CHOICE and USED.
    """
    blocks, finer = scratch[Row.BLOCKS], scratch[Row.FINER]
    order_members(ints[Sym.MEMBERS], blocks, finer, scratch[Row.ORDER])
    scratch[Row.CHOICE, 0] = -1
    for member in range(ints[Sym.MEMBERS]):
        scratch[Row.USED, member] = 0


@called
def next_arrangement(ints, scratch, started):
    """Write the next arrangement to WANTED; return whether there is one.

    Reads COLOURS, which ascend in each block, beside what `begin_arranging` needs and
    writes.  Within each finer block the colours of an arrangement ascend.
    """
    n_members = ints[Sym.MEMBERS]
    colours, blocks = scratch[Row.COLOURS], scratch[Row.BLOCKS]
    finer, order = scratch[Row.FINER], scratch[Row.ORDER]
    choice, used = scratch[Row.CHOICE], scratch[Row.USED]
    wanted = scratch[Row.WANTED]
    at = n_members - 1 if started else np.int64(0)
    while at >= 0:
        member = order[at]
        chosen = choice[at]
        least = np.int64(-1)  # the colour to choose is at least this
        if chosen >= 0:
            used[chosen] = 0
            least = colours[chosen] + 1
        if at > 0 and finer[order[at - 1]] == finer[member]:
            least = max(least, wanted[order[at - 1]])
        source = chosen + 1
        while source < n_members and (
            used[source] != 0
            or blocks[source] != blocks[member]
            or colours[source] < least
        ):
            source += 1
        if source == n_members:
            choice[at] = -1
            at -= 1
            continue
        used[source] = 1
        choice[at] = source
        wanted[member] = colours[source]
        if at == n_members - 1:
            return True
        at += 1
        choice[at] = -1
    return False


@called
def arrange(ints, row, blocks, order, current, wanted):
    """Exchange members within blocks until each has the colour that is wanted.

    Changes row (uint64[...], a state) and current, its colours.  In `order` members of
    a block lie together.  All but `ints` and `row` are int64[n_members].
    """
    n_members = ints[Sym.MEMBERS]
    for at in range(n_members):
        member = order[at]
        if current[member] == wanted[member]:
            continue
        later = at + 1
        while current[order[later]] != wanted[member] or (
            blocks[order[later]] != blocks[member]
        ):
            later += 1
        other = order[later]
        exchange(ints, row, member, other)
        current[other] = current[member]
        current[member] = wanted[member]

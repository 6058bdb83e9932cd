"""Successors in the symbolic product of a symmetric net and a property.

A *phase* of a state of the property is a group of permutations and those of its
transitions that the group leaves as they are (the isotropy G_p' of Def. 12 of the
source).  For each phase the group of the set is cut by that of the phase; for each way
to arrange the twins over the finer blocks one marking is expanded, and what it leads to
stands for sets under the finer group, which is then made as coarse as it may be.

If the tables say so, successors are *closed*: their group is joined with the one that
the property's state tells no difference of.  The set may then be larger than what is
reached.

A set whose blocks are cut falls into as many sets as there are ways to hand out the
twins of each block to its pieces.  They are gone through one after another, without a
list; successors are handed out after some markings.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12 and Sec. 6.3 (refinement).

Differences from the source: a transition of the property stands for all letters that it
allows, not for one valuation; groups are Young subgroups; closed successors are not in
the source.  Of two ways that lead to the same set by an automorphism that is no
exchange of twins, both are taken.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.symmetry.sets.canonical import represent
from ltlpipe.symmetry.sets.firing import (
    answer_asked,
    fire,
    letter_bits,
    move_at,
    next_binding,
)
from ltlpipe.symmetry.sets.markings import (
    Head,
    Phase,
    Row,
    Word,
    are_equal,
    copy,
    keep_source,
    order_by,
    read,
    read_group,
    read_marking,
    settle,
    settle_group,
    stay,
    write,
    write_group,
    write_permuted,
)
from ltlpipe.systems.propositions.kernels import letter_of


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


@called
def begin_arranging(ints, scratch):
    """Prepare to go through the arrangements of the twins of BLOCKS over FINER.

    Reads LOCAL; writes ORDER, WANTED and LEFT.
    """
    blocks, finer, order = scratch[Row.BLOCKS], scratch[Row.FINER], scratch[Row.ORDER]
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.KEYS, member] = blocks[member] * ints[Head.MEMBERS] + finer[member]
    scratch[Row.LEFT, : ints[Head.MEMBERS]] = 0
    scratch[Row.WANTED, : ints[Head.MEMBERS]] = -1
    order_by(scratch[Row.KEYS], ints[Head.MEMBERS], order)
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.LEFT, scratch[Row.LOCAL, member]] += 1


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
def write_arrangement(ints, scratch, permutation):
    """Write the permutation that WANTED says."""
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


_PHASE = len(Phase)

MOST_WORK = 1 << 10
"""Markings that are expanded, and sets written, before successors are handed out."""


@called
def join(ints, blocks, closure, scratch):
    """Write the blocks of the group that two generate to JOINED.

    One is given by blocks, the other one at ``ints[closure]``: the first member alike
    of each member.
    """
    joined = scratch[Row.JOINED]
    n = ints[Head.MEMBERS]
    copy(blocks, joined, n)
    for member in range(n):
        old, new = joined[member], joined[ints[closure + member]]
        if old != new:
            for third in range(n):
                if joined[third] == old:
                    joined[third] = new


@called
def close(tables, watching):
    """Write the closed group of a marking to COARSE.

    SETTLED has the group that it has got; `watching` is the state of the property.
    Notes where sets become larger.
    """
    ints, scratch = tables.ints, tables.scratch
    n_members = ints[Head.MEMBERS]
    settled, coarse = scratch[Row.SETTLED], scratch[Row.COARSE]
    join(ints, settled, ints[Head.CLOSURES] + watching * n_members, scratch)
    settle(ints, scratch[Row.JOINED], scratch[Row.LEADERS], scratch, coarse)
    if not are_equal(coarse, settled, n_members):
        ints[Head.CLOSED_MORE] = 1


@called
def write_set(tables, n, blocks, out):
    """Write the set of a marking under a group to a row; CELLS and LEADERS are its."""
    represent(tables, n, blocks)
    copy(tables.step_rows[Word.BEST], out, tables.ints[Head.WORDS])
    write_group(tables.ints, out, blocks)


@called
def write_sets(tables, phase, letter, out_rows, out_marks, count):
    """Append the sets that a step leads to, by all transitions of a phase that it has.

    The marking that it leads to is in the row STEP.  Returns the new count, or -1 if
    there is no room.
    """
    ints, scratch = tables.ints, tables.scratch
    row = tables.step_rows[Word.STEP]
    first = ints[ints[phase + Phase.OFFSETS] + letter]
    last = ints[ints[phase + Phase.OFFSETS] + letter + 1]
    if count + last - first > out_rows.shape[0]:
        return np.int64(-1)
    n = read_marking(tables, row)
    settle_group(tables, scratch[Row.FINER])
    closes = ints[Head.CLOSES] != 0
    for edge in range(first, last):
        at = ints[phase + Phase.EDGES] + 2 * edge
        watching = ints[at]
        out = out_rows[count]
        if edge > first and (not closes or watching == ints[at - 2]):
            copy(out_rows[count - 1], out, ints[Head.WORDS])
        elif closes:
            close(tables, watching)
            write_set(tables, n, scratch[Row.COARSE], out)
        else:
            write_set(tables, n, scratch[Row.SETTLED], out)
        write(ints, ints[Head.PROPERTY], out, watching)
        out_marks[count] = np.uint32(ints[at + 1])
        count += 1
    return count


@njit
def set_of_one(tables, row):
    """Make a row of a marking that of the set that holds just this marking."""
    ints, scratch = tables.ints, tables.scratch
    read_marking(tables, row)
    for member in range(ints[Head.MEMBERS]):
        scratch[Row.FINER, member] = member
    settle_group(tables, scratch[Row.FINER])
    write_group(ints, row, scratch[Row.SETTLED])


@called
def find_subclasses(ints, scratch):
    """Write for each element the one before it in its dynamic subclass (EARLIER).

    Those of the marking that WANTED says: members of one block of FINER to which twins
    have come.
    """
    earlier, finer, wanted = (
        scratch[Row.EARLIER],
        scratch[Row.FINER],
        scratch[Row.WANTED],
    )
    elements = ints[Head.MEMBER_ELEMENTS]
    earlier[: ints[Head.ELEMENTS]] = -1
    for member in range(ints[Head.MEMBERS]):
        for other in range(member - 1, -1, -1):
            if finer[other] == finer[member] and wanted[other] == wanted[member]:
                earlier[ints[elements + member]] = ints[elements + other]
                break


@called
def has_edges(ints, phase, letter):
    """Whether a phase has a transition for a letter."""
    at = ints[phase + Phase.OFFSETS] + letter
    return ints[at] < ints[at + 1]


@called
def expand(tables, phase, ends, out_rows, out_marks, count):
    """Append the sets that the steps of the marking in the row STATE lead to.

    If it `ends`, it repeats itself, whatever its steps.  Its dynamic subclasses are in
    EARLIER.  Returns the new count, or -1 if there is no
    room.
    """
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    state = rows[Word.STATE]
    answer_asked(ints, scratch, state)
    letter = letter_of(ints, ints[Head.PROPOSITIONS], state, 0)
    dead = letter
    stutters = ends or ints[Head.STUTTER] != 0
    if stutters:
        dead = letter_of(ints, ints[Head.PROPOSITIONS], state, 1)
    follows = not ends and (ints[Head.TAKEN] != 0 or has_edges(ints, phase, letter))
    stutters = stutters and has_edges(ints, phase, dead)
    if not follows and not stutters:
        return count
    is_dead = True
    for number in range(0 if ends else ints[Head.TRANSITIONS]):
        move = move_at(ints, number)
        started = False
        while next_binding(ints, move, scratch, state, started):
            started = True
            if not fire(ints, move, scratch, state, rows[Word.STEP]):
                continue
            is_dead = False
            if not follows:
                return count
            told = letter | letter_bits(ints, move, scratch)
            if has_edges(ints, phase, told):
                count = write_sets(tables, phase, told, out_rows, out_marks, count)
                if count < 0:
                    return count
    if is_dead and stutters and ints[Head.OVERFLOW] == 0:
        copy(state, rows[Word.STEP], ints[Head.WORDS])
        count = write_sets(tables, phase, dead, out_rows, out_marks, count)
    return count


@inlined
def suspend(ints, number, is_left, count):
    """Note where to go on: in which phase, and whether its arrangement is left.

    Returns what says that `count` successors are written.
    """
    ints[Head.PHASE] = number
    ints[Head.IS_LEFT] = is_left
    return -2 - count


def symbolic_successors(tables, row, other, out_rows, out_marks):
    """Write the successors of a set (see `ltlpipe.symmetry.sets.powerset_search`)."""
    ints, scratch, rows = tables.ints, tables.scratch, tables.step_rows
    blocks, finer = scratch[Row.BLOCKS], scratch[Row.FINER]
    cells, counts = scratch[Row.SOURCE_CELLS], scratch[Row.SOURCE_COUNTS]
    permutation = scratch[Row.PERMUTATION]
    read_group(ints, row, blocks)
    n = read_marking(tables, row)
    keep_source(tables, n, blocks)
    watching = read(ints, ints[Head.PROPERTY], row)
    phases, ends = ints[Head.PHASES] + watching, ints[ints[Head.ENDS] + watching] != 0
    goes_on = other.shape[0] == 0
    begin = ints[Head.PHASE] if goes_on else ints[phases]
    is_left = goes_on and ints[Head.IS_LEFT] != 0
    count = work = np.int64(0)
    for number in range(begin, ints[phases + 1]):
        phase = ints[Head.PHASE_CELLS] + _PHASE * number
        cut(ints[Head.MEMBERS], blocks, ints[ints[phase + Phase.BLOCKS] :], finer)
        started = goes_on and number == begin
        if not started:
            begin_arranging(ints, scratch)
        while is_left or next_members(ints, scratch, 0, ints[Head.MEMBERS], started):
            is_left, started = False, True
            write_arrangement(ints, scratch, permutation)
            write_permuted(ints, cells, counts, n, permutation, rows[Word.STATE])
            find_subclasses(ints, scratch)
            before = count
            count = expand(tables, phase, ends, out_rows, out_marks, count)
            if count < 0:
                written = suspend(ints, number, True, before)
                return written if before > 0 else np.int64(-1)
            work += 1 + count - before
            if work >= MOST_WORK:
                return suspend(ints, number, False, count)
    return count

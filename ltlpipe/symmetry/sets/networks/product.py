"""Successors in the symbolic product of a symmetric network and a property.

A *phase* of a state of the property is a partition of the members and those of its
transitions that it fits: all permutations within its blocks take the actions that let
such a transition happen to such actions again (the isotropy G_p' of Def. 12 of the
source).  For each phase the blocks of the set are cut by those of the phase; for each
way to hand out the colours to the finer blocks one state is expanded, its successors
stand for sets whose blocks are the finer ones, and these are made as coarse as they
may be.

If the tables say so, the blocks of a successor are not the finer ones, but those beside
them made one whose members its state of the property does not tell apart.  The set is
then larger than what can be reached: a property that holds of it holds, and what is
found to be violated need not be.  It forgets differences that no longer matter at once,
though, which the exact product keeps until a block has one colour.

Successors are handed out after some states: a set may have millions, and many of them
may be alike.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12.

Differences from the source: a transition of the property stands for all actions that it
allows, not for one valuation; of steps that permutations of equally coloured members
take to each other one is followed; closed successors are not in the source.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.networks.arranging import (
    arrange,
    begin_arranging,
    cut,
    next_arrangement,
)
from ltlpipe.symmetry.sets.networks.layout import PHASE, Row, Sym
from ltlpipe.symmetry.sets.networks.members import (
    chain_blocks,
    read_blocks,
    read_colours,
    read_columns,
    read_roles,
    settle,
    sort_members,
    swap_of,
    write_field,
)
from ltlpipe.systems.networks.packing_kernels import Select, expand_network, read_field

_expand = called(expand_network)

MOST_WORK = 1 << 12
"""States and steps of them that are generated before successors are handed out."""


@inlined
def is_repeated(ints, action, wanted, before):
    """Whether an exchange of members of equal colour gives an action with less number.

    Then that one's step stands for this one, too.
    """
    if action < 0:
        return False
    n_actions = ints[Sym.N_ACTIONS]
    for member in range(ints[Sym.MEMBERS]):
        earlier = before[member]
        if earlier >= 0 and wanted[earlier] == wanted[member]:
            swap = swap_of(ints, earlier, member)
            if ints[ints[Sym.ACTION_SWAPS] + swap * n_actions + action] < action:
                return True
    return False


@inlined
def differs(ints, words, row, state, at):
    """Whether two states differ in the bits of the mask at ``words[at:]``."""
    for w in range(ints[Sym.SYSTEM_WORDS]):
        if (row[w] ^ state[w]) & words[at + w] != 0:
            return True
    return False


@inlined
def read_step(ints, words, scratch, row, state):
    """Write the colours of a successor of a state, from what the step has changed.

    Reads WANTED and ROLES, which are the state's, writes STEP_COLOURS.
    """
    colours, roles = scratch[Row.STEP_COLOURS], scratch[Row.ROLES]
    wanted, step_roles = scratch[Row.WANTED], scratch[Row.STEP_ROLES]
    n_roles, n_words = ints[Sym.ROLES], ints[Sym.SYSTEM_WORDS]
    moved = differs(ints, words, row, state, n_words)
    if moved:
        read_roles(ints, row, step_roles)
    at = 2 * n_words
    for member in range(ints[Sym.MEMBERS]):
        colour = wanted[member]
        if moved:
            colour += step_roles[member] - roles[member]
        if differs(ints, words, row, state, at):
            colour = colour % n_roles + read_columns(ints, row, member) * n_roles
        colours[member] = colour
        at += n_words


@called
def close(ints, scratch, watching):
    """Write the chains of blocks under which successors are closed (CLOSED_BEFORE).

    They are the coarsest ones that are at least as coarse as FINER and as what the
    state `watching` of the property tells apart itself.
    """
    n_members = ints[Sym.MEMBERS]
    finer, closed = scratch[Row.FINER], scratch[Row.CLOSED]
    own = ints[Sym.CLOSURES] + watching * n_members
    for member in range(n_members):
        closed[member] = finer[member]
    for member in range(n_members):
        alike = ints[own + member]  # the first member that is alike
        old, new = closed[member], closed[alike]
        if old != new:
            ints[Sym.CLOSED_MORE] = 1
            for third in range(n_members):
                if closed[third] == old:
                    closed[third] = new
    chain_blocks(ints, closed, scratch[Row.CLOSED_BEFORE], scratch[Row.CLOSED_FIRST])


@called
def write_steps(tables, phase, n_steps, out_rows, out_marks, count):
    """Append the sets that the steps of one state lead to in a phase.

    The state is the last of `step_rows`, the steps are the first.  Reads FINER, BEFORE,
    FIRST, WANTED and ROLES of `scratch`.  Returns the new count, or -1 if there is no
    room for them.
    """
    ints, words, scratch = tables.ints, tables.words, tables.scratch
    step_rows, step_letters = tables.step_rows, tables.step_letters
    step_actions, step_marks = tables.step_actions, tables.step_marks
    first_edge, edges = ints[phase + 1], ints[phase + 2]
    letter_shift = ints[Sym.LETTER_SHIFT]
    told = (np.int64(1) << letter_shift) - 1
    system_shift = np.uint32(ints[Sym.SYSTEM_SHIFT])
    state = step_rows[step_rows.shape[0] - 1]
    colours, wanted = scratch[Row.STEP_COLOURS], scratch[Row.WANTED]
    own_before = scratch[Row.BEFORE]  # for the state that is expanded
    before, first_of = own_before, scratch[Row.FIRST]
    if ints[Sym.CLOSES] != 0:
        before, first_of = scratch[Row.CLOSED_BEFORE], scratch[Row.CLOSED_FIRST]
    blocks, mixed = scratch[Row.STEP_BLOCKS], scratch[Row.MIXED]
    n_words = out_rows.shape[1]
    closes = ints[Sym.CLOSES] != 0
    closed_for = np.int64(-1)  # the state of the property for which blocks are closed
    for step in range(n_steps):
        letter = np.int64(step_letters[step]) << letter_shift
        letter += np.int64(step_marks[step]) & told
        first, last = ints[first_edge + letter], ints[first_edge + letter + 1]
        if first == last:
            continue
        if is_repeated(ints, step_actions[step], wanted, own_before):
            continue
        if count + (last - first) > out_rows.shape[0]:
            return np.int64(-1)
        own_marks = np.uint32(0)
        if letter_shift == 0:
            own_marks = step_marks[step] << system_shift
        for edge in range(first, last):
            row = out_rows[count]
            watching = ints[edges + 2 * edge]
            if edge > first and not closes:
                for w in range(n_words):
                    row[w] = out_rows[count - 1, w]
            else:
                for w in range(n_words):
                    row[w] = step_rows[step, w]
                read_step(ints, words, scratch, row, state)
                if closes and watching != closed_for:
                    close(ints, scratch, watching)
                    closed_for = watching
                sort_members(ints, row, colours, before)
                settle(ints, row, colours, before, first_of, blocks, mixed)
            write_field(ints, ints[Sym.PROPERTY], row, watching)
            out_marks[count] = np.uint32(ints[edges + 2 * edge + 1]) | own_marks
            count += 1
    return count


@inlined
def steps_of(tables, state, select):
    """Write the steps of the network from a state; return their number."""
    return _expand(
        tables.system_ints,
        tables.system_words,
        state[: tables.ints[Sym.SYSTEM_WORDS]],
        select,
        tables.step_rows,
        tables.step_letters,
        tables.step_actions,
        tables.step_marks,
    )


@inlined
def take_arrangement(tables, row, state, is_finer):
    """Write the state that WANTED says, of those that a row stands for.

    Without finer blocks it is the representative, and WANTED is written.
    """
    ints, scratch = tables.ints, tables.scratch
    colours = scratch[Row.COLOURS]
    for w in range(row.shape[0]):
        state[w] = row[w]
    goal = Row.CURRENT if is_finer else Row.WANTED
    for member in range(ints[Sym.MEMBERS]):
        scratch[goal, member] = colours[member]
    if is_finer:
        blocks, order = scratch[Row.BLOCKS], scratch[Row.ORDER]
        current, wanted = scratch[Row.CURRENT], scratch[Row.WANTED]
        arrange(ints, state, blocks, order, current, wanted)


@inlined
def suspend(ints, number, is_left, count):
    """Note where to go on: in which phase, and whether its arrangement is left.

    Returns what says that `count` successors are written.
    """
    ints[Sym.PHASE] = number
    ints[Sym.IS_LEFT] = is_left
    return -2 - count


def symbolic_successors(tables, row, other, out_rows, out_marks):
    """Write the successors of a set (see `ltlpipe.symmetry.sets.automaton`)."""
    ints, scratch = tables.ints, tables.scratch
    state = tables.step_rows[tables.step_rows.shape[0] - 1]  # the one to expand
    blocks, finer = scratch[Row.BLOCKS], scratch[Row.FINER]
    read_blocks(ints, row, blocks)
    read_colours(ints, row, scratch[Row.COLOURS])
    watching = read_field(ints, ints[Sym.PROPERTY], row)
    phases = ints[Sym.PHASES] + watching
    ends = ints[ints[Sym.ENDS] + watching] != 0
    goes_on = other.shape[0] == 0
    begin = ints[Sym.PHASE] if goes_on else ints[phases]
    is_left = goes_on and ints[Sym.IS_LEFT] != 0
    count = work = np.int64(0)
    for number in range(begin, ints[phases + 1]):
        phase = ints[Sym.PHASE_CELLS] + PHASE * number
        n_members = ints[Sym.MEMBERS]
        is_finer = cut(n_members, blocks, ints[ints[phase] :], finer)
        chain_blocks(ints, finer, scratch[Row.BEFORE], scratch[Row.FIRST])
        started = goes_on and number == begin
        if is_finer and not started:
            begin_arranging(ints, scratch)
        while True:
            if not is_left:
                if is_finer:
                    if not next_arrangement(ints, scratch, started):
                        break
                elif started:
                    break
            is_left, started = False, True
            take_arrangement(tables, row, state, is_finer)
            read_roles(ints, state, scratch[Row.ROLES])
            n_steps = 0
            if not ends:
                n_steps = steps_of(tables, state, Select.ALL)
            if n_steps == 0 and (ends or ints[Sym.STUTTER] != 0):
                n_steps = steps_of(tables, state, Select.STUTTER)
            work += 1 + n_steps
            before = count
            count = write_steps(tables, phase, n_steps, out_rows, out_marks, count)
            if count < 0:
                written = suspend(ints, number, True, before)
                return written if before > 0 else np.int64(-1)
            if work >= MOST_WORK:
                return suspend(ints, number, False, count)
    return count

"""The kernels of `tela`: levels, Current, and what is avoided.

Source, differences, invariants and cost: see `ltlpipe.search.scc.tela`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.acceptance import Formula, holds, judge, split
from ltlpipe.search.packed import read_marks, write_marks
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import push_root
from ltlpipe.search.scc.rules import NOTED, REMOVED, SccReg, next_start, note

WAITING = -2
"""On level l, ``WAITING - l`` is the number of a state that has not been entered."""


class TelaReg(IntEnum):
    """Places in the registers of this search, behind those of `SccReg`."""

    N_CURRENT = max(SccReg) + 1  # states in Current
    MAX_CURRENT = N_CURRENT + 1  # its largest value
    LEVEL = N_CURRENT + 2  # SCCs that are being taken apart, each in the one before
    MAX_LEVEL = N_CURRENT + 3  # its largest value
    IS_CHOOSING = N_CURRENT + 4  # whether the next step chooses what to avoid
    N_ROWS = N_CURRENT + 5  # alternatives that are left
    N_SPLITS = N_CURRENT + 6  # searches inside an SCC so far


class Level(IntEnum):
    """What is known of a level: an SCC that is taken apart; level 0 is the product."""

    BEGIN = 0  # the SCC's states are those of Current from here
    END = 1  # up to here
    CURSOR = 2  # and from here on they may still have to be entered
    MARKS = 3  # inside the SCC
    AVOIDED = 4  # marks of transitions that are not taken
    STACK_BASE = 5  # entries of the stack that belong to the levels below
    ROW_BASE = 6  # alternatives that belong to them


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots, c in Current."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 place in Current, or a constant
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    current: np.ndarray  # int32[c], the state
    fstates: np.ndarray  # int32[f], a stack
    levels: np.ndarray  # int64[MAX_MARKS + 2, len(Level)]
    rows: np.ndarray  # uint8[a, m], alternatives: the nodes struck out of the formula
    formula: Formula  # of m nodes, the condition of this pass
    goal: Formula  # the whole condition


@inlined
def merge(registers, arrays, number, marks):
    """Close a cycle to the live state `number`; FOUND if its SCC is accepting."""
    top = registers[Reg.N_ROOTS] - 1
    while arrays.roots[top] > number:
        marks |= arrays.root_marks[top] | arrays.entry_marks[top]
        top -= 1
    before = arrays.root_marks[top]
    marks |= before
    arrays.root_marks[top] = marks
    registers[Reg.N_ROOTS] = top + 1
    # Marks that have been judged are not judged again.
    if (marks != before or (marks == 0 and registers[Reg.EMPTY_ACCEPTS] != 0)) and (
        holds(arrays.goal, marks)
    ):
        return Status.FOUND
    return Status.RUNNING


@inlined
def is_unknown(number, level):
    """Whether a state with this number is still to be entered on a level."""
    if level > 0:
        return number == WAITING - level
    return number == 0 or number == NOTED


@inlined
def put_in_current(registers, arrays, state, marks):
    """Make a state the last one in Current, and a root."""
    number = registers[TelaReg.N_CURRENT] + 1
    registers[TelaReg.N_CURRENT] = number
    registers[TelaReg.MAX_CURRENT] = max(registers[TelaReg.MAX_CURRENT], number)
    arrays.current[number - 1] = state
    arrays.numbers[state] = number
    push_root(registers, arrays, number, marks)


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter a state over a transition with `marks`."""
    level = registers[TelaReg.LEVEL]
    again = level > 0 or registers[Reg.IS_LATER] != 0
    registers[Reg.VISITED] += not again
    registers[Reg.REENTERED] += again
    put_in_current(registers, arrays, state, marks)
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    avoided = np.uint32(arrays.levels[level, Level.AVOIDED])
    below = arrays.levels[level, Level.END]  # higher numbers are this level's
    bits = registers[Reg.MARK_BITS]
    top = registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = np.int64(arrays.numbers[product.ids[i]])
        if product.marks[i] & avoided != 0:
            if level == 0:
                note(registers, arrays.numbers, arrays.fstates, product.ids[i])
        elif number > below:
            status = merge(registers, arrays, number, product.marks[i])
            if status == Status.FOUND:
                break
        elif is_unknown(number, level):
            arrays.stack[top] = product.ids[i]
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return status


@inlined
def copy_row(rows, src, dst):
    """Copy one row to another, without the buffer that an assignment would need."""
    for i in range(rows.shape[1]):
        rows[dst, i] = rows[src, i]


@inlined
def begin_level(registers, arrays, begin, marks):
    """Take apart the SCC of the states from place `begin` of Current on."""
    level = registers[TelaReg.LEVEL] + 1
    registers[TelaReg.LEVEL] = level
    registers[TelaReg.MAX_LEVEL] = max(registers[TelaReg.MAX_LEVEL], level)
    fields = arrays.levels[level]
    fields[Level.BEGIN] = begin
    fields[Level.END] = registers[TelaReg.N_CURRENT]
    fields[Level.MARKS] = marks
    fields[Level.STACK_BASE] = registers[Reg.TOP]
    row = registers[TelaReg.N_ROWS]
    fields[Level.ROW_BASE] = row
    copy_row(arrays.rows, row - 1, row)
    registers[TelaReg.N_ROWS] = row + 1
    registers[TelaReg.IS_CHOOSING] = 1


@inlined
def complete(registers, arrays, begin, marks):
    """End an SCC that is not accepting as a whole: remove it, or take it apart."""
    row = arrays.rows[registers[TelaReg.N_ROWS] - 1]
    if marks != 0 and judge(arrays.formula, np.uint32(marks), row):
        begin_level(registers, arrays, begin, marks)
        return
    numbers, current = arrays.numbers, arrays.current
    for i in range(begin, registers[TelaReg.N_CURRENT]):
        numbers[current[i]] = REMOVED
    registers[TelaReg.N_CURRENT] = begin


@inlined
def leave(registers, arrays, state):
    """End the frame of a state whose successors are done."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    number = np.int64(arrays.numbers[state])
    root = registers[Reg.N_ROOTS] - 1
    if arrays.roots[root] == number:
        registers[Reg.N_ROOTS] = root
        complete(registers, arrays, number - 1, arrays.root_marks[root])


@inlined
def choose(registers, arrays):
    """Choose what to avoid in the SCC of this level, for the last alternative.

    Either two alternatives take its place, or the search without its marks begins.
    """
    level = registers[TelaReg.LEVEL]
    fields = arrays.levels[level]
    rows, formula = arrays.rows, arrays.formula
    row = registers[TelaReg.N_ROWS] - 1
    judge(formula, np.uint32(fields[Level.MARKS]), rows[row])
    needs = formula.needs[formula.needs.shape[0] - 1]
    if needs == 0:
        copy_row(rows, row, row + 1)
        split(formula, rows[row], rows[row + 1])
        registers[TelaReg.N_ROWS] = row + 2
        return
    fields[Level.AVOIDED] = arrays.levels[level - 1, Level.AVOIDED] | needs
    fields[Level.CURSOR] = fields[Level.BEGIN]
    numbers, current = arrays.numbers, arrays.current
    for i in range(fields[Level.BEGIN], fields[Level.END]):
        numbers[current[i]] = WAITING - level
    registers[TelaReg.IS_CHOOSING] = 0
    registers[TelaReg.N_SPLITS] += 1


@inlined
def next_state(registers, arrays):
    """Return a state to enter when all is done that the last one led to, or -1."""
    level = registers[TelaReg.LEVEL]
    if level == 0:
        return next_start(registers, arrays.numbers, arrays.fstates)
    fields = arrays.levels[level]
    numbers, current = arrays.numbers, arrays.current
    at = fields[Level.CURSOR]
    while at < fields[Level.END] and numbers[current[at]] != WAITING - level:
        at += 1
    fields[Level.CURSOR] = at
    return np.int64(current[at]) if at < fields[Level.END] else np.int64(-1)


@inlined
def end_search(registers, arrays):
    """End the search for one alternative of a level: go on with the next, if any."""
    level = registers[TelaReg.LEVEL]
    fields = arrays.levels[level]
    registers[TelaReg.N_ROWS] -= 1
    if registers[TelaReg.N_ROWS] > fields[Level.ROW_BASE]:
        registers[TelaReg.IS_CHOOSING] = 1
    else:  # all states of the SCC have been removed
        registers[TelaReg.N_CURRENT] = fields[Level.BEGIN]
        registers[TelaReg.LEVEL] = level - 1


@inlined
def is_short(registers, arrays, n):
    """Whether a stack lacks room for a state with `n` successors; its own apart."""
    return (
        registers[Reg.N_ROOTS] == arrays.roots.shape[0]
        or registers[TelaReg.N_CURRENT] == arrays.current.shape[0]
        or registers[Reg.N_FSTATES] + n > arrays.fstates.shape[0]
        or registers[TelaReg.N_ROWS] + 1 >= arrays.rows.shape[0]
    )


@njit
def tela_step(expand, product, store, registers, arrays, budget):
    """Advance the search after Baier et al. 2019.

    After FOUND the states of Current from the last root on are strongly connected by
    transitions whose marks are those of the root, and these satisfy the condition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if (
            top > room
            or is_short(registers, arrays, product.ids.shape[0])
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        if registers[TelaReg.IS_CHOOSING] != 0:
            choose(registers, arrays)
            continue
        level = registers[TelaReg.LEVEL]
        bits = registers[Reg.MARK_BITS]
        if top == arrays.levels[level, Level.STACK_BASE]:
            state = next_state(registers, arrays)
            if state >= 0:
                arrays.stack[top] = state
                write_marks(arrays.stack_marks, bits, top, np.uint32(0))
                registers[Reg.TOP] = top + 1
            elif level == 0:
                return Status.EMPTY
            else:
                end_search(registers, arrays)
            continue
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        marks = read_marks(arrays.stack_marks, bits, top - 1)
        number = np.int64(arrays.numbers[entry])
        unknown = is_unknown(number, level)
        status = Status.RUNNING
        if (
            unknown
            and level == 0
            and registers[Reg.IS_LATER] == 0
            and at_limit(registers)
        ):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if unknown:
            status = enter(expand, product, store, registers, arrays, entry, marks)
            budget -= 1
        elif number > arrays.levels[level, Level.END]:
            status = merge(registers, arrays, number, marks)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING

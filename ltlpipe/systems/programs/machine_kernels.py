"""A kernel that executes generated successor functions, the same one for all models.

It is there for as long as a model's own machine code is not
(`ltlpipe.runtime.kernels.compilation.Interim`).  Instructions are rows of five numbers,
an `Op` first; `ltlpipe.systems.programs.assembly` makes them of generated source, so
that both do the same by construction.  They lie in a model's `ints`, which only they
have further on than a compiled successor function looks.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, locals_
from ltlpipe.systems.networks.packing_kernels import Select, normalise_all
from ltlpipe.systems.programs.kernels import (
    Header,
    are_steps,
    begun,
    copied,
    divided,
    finish,
    moved,
    multiply,
    remainder,
    settle,
    stutter,
    wrapped,
)

WIDTH = 5
"""Numbers of an instruction: its operation, `to`, two registers, a constant.

What the operations below call `x` is the content of the first register, `y` that of
the second, plus the constant.  Register 0 holds 0.
"""


class Op(IntEnum):
    """The operations; jumps and tables are told by their places behind the first."""

    SET = 0  # register `to` becomes y
    ADD = 1
    SUBTRACT = 2
    MULTIPLY = 3
    AND = 4
    OR = 5
    XOR = 6
    SHIFT_LEFT = 7
    SHIFT_RIGHT = 8
    FLOOR = 9  # x // y
    MODULO = 10
    FIELD = 11  # x >> second register's number, and the constant
    INSERT = 12  # x, or the second register shifted left by the constant
    INVERT = 13  # ~y
    WRAPPED = 14
    DIVIDED = 15
    REMAINDER = 16
    ENTRY = 17  # of a table that begins at the constant
    JUMP = 18  # to `to`
    IF_EQUAL = 19  # jump to `to` if x == y
    IF_DIFFERENT = 20
    IF_LESS = 21
    IF_NOT_LESS = 22
    SWITCH = 23  # to the place in the table (its length first) at x, else to `to`
    EMIT = 24  # y is the action of row `to`, a register, which grows
    ROW = 25  # word `to` of successor x becomes y
    CHANGE = 26  # the same by exclusive or
    ACTION = 27  # of successor x becomes y
    MARKS = 28
    OWN_WORD = 29  # of the row that is left
    WORD_OF = 30  # of successor x, the number being the constant
    LETTER_OF = 31
    MARKS_OF = 32
    RETURN = 33  # y
    # Calls; arguments are registers from that of x on.
    BEGUN = 34
    ARE_STEPS = 35
    MOVED = 36  # two results: in `to` and behind it
    MULTIPLIED = 37
    SETTLE = 38
    FINISH = 39
    COPIED = 40  # the words of row x, as many as the constant, to row `to`, a register


@called
def execute(ints, row, out_rows, out_letters, out_actions, out_marks):
    """Execute the instructions of a model from the first on; return the last `y`."""
    base = ints[Header.CODE]
    r = locals_()
    r[0] = 0
    pc = base
    while True:
        op, to, a = ints[pc], ints[pc + 1], ints[pc + 2]
        x = r[a]
        y = r[ints[pc + 3]] + ints[pc + 4]
        pc += WIDTH
        if op == Op.SET:
            r[to] = y
        elif op == Op.ADD:
            r[to] = x + y
        elif op == Op.SUBTRACT:
            r[to] = x - y
        elif op == Op.MULTIPLY:
            r[to] = x * y
        elif op == Op.AND:
            r[to] = x & y
        elif op == Op.OR:
            r[to] = x | y
        elif op == Op.XOR:
            r[to] = x ^ y
        elif op == Op.SHIFT_LEFT:
            r[to] = x << y
        elif op == Op.SHIFT_RIGHT:
            r[to] = x >> y
        elif op == Op.FLOOR:
            r[to] = x // y
        elif op == Op.MODULO:
            r[to] = x % y
        elif op == Op.FIELD:
            r[to] = (x >> ints[pc - 2]) & ints[pc - 1]
        elif op == Op.INSERT:
            r[to] = x | (r[ints[pc - 2]] << ints[pc - 1])
        elif op == Op.INVERT:
            r[to] = ~y
        elif op == Op.WRAPPED:
            r[to] = wrapped(y)
        elif op == Op.DIVIDED:
            r[to] = divided(x, y)
        elif op == Op.REMAINDER:
            r[to] = remainder(x, y)
        elif op == Op.ENTRY:
            r[to] = ints[base + y]
        elif op == Op.JUMP:
            pc = base + to
        elif op == Op.IF_EQUAL:
            if x == y:
                pc = base + to
        elif op == Op.IF_DIFFERENT:
            if x != y:
                pc = base + to
        elif op == Op.IF_LESS:
            if x < y:
                pc = base + to
        elif op == Op.IF_NOT_LESS:
            if x >= y:
                pc = base + to
        elif op == Op.SWITCH:
            table = base + ints[pc - 1]
            inside = x >= 0 and x < ints[table]
            pc = base + (ints[table + 1 + x] if inside else to)
        elif op == Op.EMIT:
            out_actions[r[to]] = y
            r[to] += 1
        elif op == Op.ROW:
            out_rows[x, to] = np.uint64(y)
        elif op == Op.CHANGE:
            out_rows[x, to] ^= np.uint64(y)
        elif op == Op.ACTION:
            out_actions[x] = y
        elif op == Op.MARKS:
            out_marks[x] = np.uint32(y)
        elif op == Op.OWN_WORD:
            r[to] = np.int64(row[y])
        elif op == Op.WORD_OF:
            r[to] = np.int64(out_rows[x, y])
        elif op == Op.LETTER_OF:
            r[to] = np.int64(out_letters[x])
        elif op == Op.MARKS_OF:
            r[to] = np.int64(out_marks[x])
        elif op == Op.RETURN:
            return y
        elif op == Op.BEGUN:
            r[to] = begun(row, x, out_rows)
        elif op == Op.ARE_STEPS:
            r[to] = are_steps(ints, out_rows, out_actions, x, r[a + 1])
        elif op == Op.MOVED:
            r[to], r[to + 1] = moved(
                ints,
                x,
                out_rows,
                out_letters,
                out_actions,
                r[a + 1],
                r[a + 2],
                r[a + 3],
            )
        elif op == Op.MULTIPLIED:
            multiply(
                x,
                out_rows,
                out_actions,
                out_marks,
                r[a + 1],
                r[a + 2],
                r[a + 3],
                np.uint32(r[a + 4]),
            )
        elif op == Op.SETTLE:
            r[to] = settle(x, out_rows, out_actions, out_marks, r[a + 1], r[a + 2])
        elif op == Op.FINISH:
            r[to] = finish(
                ints, row, x, out_rows, out_letters, out_actions, out_marks, r[a + 1]
            )
        else:
            copied(out_rows, x, y, r[to])


def expand(ints, words, row, select, out_rows, out_letters, out_actions, out_marks):  # noqa: ARG001
    """Generate a state's successors (see `ltlpipe.systems.networks.packing`)."""
    if select == Select.STUTTER:
        return stutter(ints, row, out_rows, out_letters, out_actions, out_marks)
    return execute(ints, row, out_rows, out_letters, out_actions, out_marks)


_expand = called(expand)


def expand_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the representatives behind that of a state."""
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)

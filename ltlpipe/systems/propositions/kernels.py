"""The letter of a packed state: a stack machine over the fields of a row.

The stack is eight local numbers, since a kernel may not allocate and a table that is
shared by threads may not be written to.  An operator takes its operands from the top
and pushes what comes out.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called

DEPTH = 8
"""Numbers on the stack."""

FIELD_STRIDE = 4  # word, shift, mask, lowest value


class Code(IntEnum):
    """Instructions; what follows each of them in the table."""

    END = 0  # the top is the proposition's value
    NUMBER = 1  # value: push it
    FIELD = 2  # a field: push its value
    TERMS = 3  # n, constant, n times (factor, field): push the sum
    ELEMENT = 4  # n, n fields: the index on top becomes the element
    DEADLOCK = 5  # push whether the state is dead
    IS = 6  # word, mask, required bits: push whether they are there
    ADD = 7
    MULTIPLY = 8
    DIVIDE = 9
    REMAINDER = 10
    EQUAL = 11
    LESS = 12
    AT_MOST = 13
    AND = 14
    OR = 15
    NOT = 16
    NEGATIVE = 17


@called
def field_value(ints, at, row):
    """Return the value of the field at ``ints[at:at + FIELD_STRIDE]``."""
    word = row[ints[at]] >> np.uint64(ints[at + 1])
    return np.int64(word & np.uint64(ints[at + 2])) + ints[at + 3]


@called
def combined(code, left, right):
    """Return what a binary operator makes of two numbers."""
    if code == Code.ADD:
        return left + right
    if code == Code.MULTIPLY:
        return left * right
    if code == Code.EQUAL:
        return np.int64(left == right)
    if code == Code.LESS:
        return np.int64(left < right)
    if code == Code.AT_MOST:
        return np.int64(left <= right)
    if code == Code.AND:
        return np.int64(left != 0 and right != 0)
    if code == Code.OR:
        return np.int64(left != 0 or right != 0)
    if right == 0:
        return np.int64(0)
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    if code == Code.DIVIDE:
        return quotient
    return left - quotient * right


@called
def leaf(ints, at, row, dead):
    """Return the number that the instruction at `at` pushes, and where the next is."""
    code = ints[at]
    if code == Code.IS:
        found = row[ints[at + 1]] & np.uint64(ints[at + 2])
        return np.int64(found == np.uint64(ints[at + 3])), at + 4
    if code == Code.FIELD:
        return field_value(ints, at + 1, row), at + 1 + FIELD_STRIDE
    if code == Code.NUMBER:
        return ints[at + 1], at + 2
    if code == Code.DEADLOCK:
        return np.int64(dead), at + 1
    total = ints[at + 2]  # Code.TERMS
    n = ints[at + 1]
    at += 3
    for _ in range(n):
        total += ints[at] * field_value(ints, at + 1, row)
        at += 1 + FIELD_STRIDE
    return total, at


@called
def letter_of(ints, start, row, dead):
    """Return the propositions that hold in a state, as bits.

    Parameters
    ----------
    ints : int64[...]
        Holds the tables of `ltlpipe.systems.propositions.tables.assemble` from
        `start` on.
    start : int64
        Where they begin.
    row : uint64[n_words]
        The state.
    dead : int64
        1 if it has no step, else 0.

    Returns
    -------
    int64
        Bit k is proposition k; those about steps are 0.
    """
    letter = np.int64(0)
    at = start + 1
    for bit in range(ints[start]):
        s0 = np.int64(0)
        s1, s2, s3, s4, s5, s6, s7 = s0, s0, s0, s0, s0, s0, s0
        while ints[at] != Code.END:
            code = ints[at]
            if code >= Code.ADD and code <= Code.OR:
                s0 = combined(code, s1, s0)
                s1, s2, s3, s4, s5, s6 = s2, s3, s4, s5, s6, s7
                at += 1
            elif code == Code.NOT:
                s0 = np.int64(s0 == 0)
                at += 1
            elif code == Code.NEGATIVE:
                s0 = -s0
                at += 1
            elif code == Code.ELEMENT:
                size = ints[at + 1]
                if s0 >= 0 and s0 < size:
                    s0 = field_value(ints, at + 2 + FIELD_STRIDE * s0, row)
                else:
                    s0 = np.int64(0)
                at += 2 + FIELD_STRIDE * size
            else:
                s1, s2, s3, s4, s5, s6, s7 = s0, s1, s2, s3, s4, s5, s6
                s0, at = leaf(ints, at, row, dead)
        at += 1
        if s0 != 0:
            letter |= np.int64(1) << bit
    return letter

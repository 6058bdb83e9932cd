"""The letter of a packed state: a stack machine over the fields of a row.

The stack is eight local numbers, since a kernel may not allocate and a table that is
shared by threads may not be written to.  An operator takes its operands from the top
and pushes what comes out.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.logic.propositions.syntax import (
    COMMUTATIVE,
    Deadlock,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.kernels.jit import called
from ltlpipe.systems.propositions.letters import (
    TooLargeNumberError,
    refuse_too_many,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.fields import Field

DEPTH = 8
"""Numbers on the stack."""

FIELD_STRIDE = 4  # word, shift, mask, lowest value

_LARGEST = (1 << 63) - 1


class Code(IntEnum):
    """Instructions; what follows each of them in the table."""

    END = 0  # the top is the proposition's value
    NUMBER = 1  # value: push it
    FIELD = 2  # a field: push its value
    TERMS = 3  # n, constant, n times (factor, field): push the sum
    ELEMENT = 4  # n, n fields: the index on top becomes the element
    DEADLOCK = 5  # push whether the state is dead
    ADD = 6
    MULTIPLY = 7
    DIVIDE = 8
    REMAINDER = 9
    EQUAL = 10
    LESS = 11
    AT_MOST = 12
    AND = 13
    OR = 14
    BIT_AND = 15
    BIT_OR = 16
    BIT_XOR = 17
    SHIFT_LEFT = 18
    SHIFT_RIGHT = 19
    NOT = 20
    NEGATIVE = 21


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
    if code >= Code.BIT_AND:
        return bits_combined(code, left, right)
    if right == 0:
        return np.int64(0)
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    if code == Code.DIVIDE:
        return quotient
    return left - quotient * right


@called
def bits_combined(code, left, right):
    """Return what an operator on bits makes of two numbers; shifts are of 32 bits."""
    if code == Code.BIT_AND:
        return left & right
    if code == Code.BIT_OR:
        return left | right
    if code == Code.BIT_XOR:
        return left ^ right
    if code == Code.SHIFT_RIGHT:
        return left >> (right & 31)
    return np.int64(np.int32((left << (right & 31)) & 0xFFFFFFFF))


@called
def leaf(ints, at, row, dead):
    """Return the number that the instruction at `at` pushes, and where the next is."""
    code = ints[at]
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
        Holds the tables of `ltlpipe.systems.propositions.kernels.assemble` from
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
            if code >= Code.ADD and code <= Code.SHIFT_RIGHT:
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


_SIGNS = ("+", "*", "/", "%", "==", "<", "<=", "&&", "||", "&", "|", "^", "<<", ">>")
_OPERATORS = dict(zip(_SIGNS, [*Code][Code.ADD : Code.NOT], strict=True))


def assemble(propositions: Sequence[Expression], places: Sequence[Field]) -> np.ndarray:
    """Return the table, int64[m], from which `letter_of` evaluates bound propositions.

    It has their number, and the code of each; those about steps (`Taken`) are 0 here,
    see `taken_bits`.  Each variable has one of the `places`.

    Raises
    ------
    UnsupportedError
        There are too many, or one is nested too deep.
    TooLargeNumberError
        A number in one, or what is computed, may not fit into 64 bits.
    """
    refuse_too_many(len(propositions))
    table = [len(propositions)]
    for proposition in propositions:
        if isinstance(proposition, Taken):
            proposition = Number(0)
        _reach(proposition, places)
        depth, proposition = _ordered(proposition)
        if depth > DEPTH:
            raise UnsupportedError(
                f"a proposition needs {depth} intermediate results, the "
                f"limit is {DEPTH}: put what is nested deep to the left"
            )
        table += _code(proposition, places)
        table.append(Code.END)
    return np.array(table, dtype=np.int64)


def _reach(expression: Expression, places: Sequence[Field]) -> int:
    """Return a bound of the absolute value of an expression, and of its parts."""
    if isinstance(expression, Number):
        most = abs(expression.value)
    elif isinstance(expression, Variable):
        most = _most(places[expression.number])
    elif isinstance(expression, Indexed):
        _reach(expression.index, places)
        own = places[expression.first : expression.first + expression.size]
        most = max(map(_most, own))
    elif isinstance(expression, Operation):
        operator = expression.operator
        parts = [_reach(part, places) for part in expression.operands]
        if operator in ("+", "*"):
            most = sum(parts) if operator == "+" else prod(parts)
        elif operator in ("-", "/", "%", ">>"):
            most = parts[0]
        elif operator in ("&", "|", "^"):
            most = 1 << max(parts).bit_length()
        else:
            most = 1 << 31 if operator == "<<" else 1
    else:
        most = 1
    if most > _LARGEST:
        message = "a proposition may have a number beyond 64 bits, too large for a "
        raise TooLargeNumberError(message + "search")
    return most


def _most(place: Field) -> int:
    return max(abs(place.low), abs(place.low + place.mask))


def taken_bits(propositions: Sequence[Expression], n_actions: int) -> np.ndarray:
    """Return for each action the bits of the propositions that it is taken.

    int64[n_actions]; a step's letter is the state's and these together.
    """
    bits = np.zeros(n_actions, dtype=np.int64)
    for bit, proposition in enumerate(propositions):
        if isinstance(proposition, Taken):
            bits[list(proposition.actions)] |= 1 << bit
    return bits


def _ordered(expression: Expression) -> tuple[int, Expression]:
    """Return how many intermediate results an expression needs, and in which order.

    Operands that can be exchanged are in the order that needs the fewest.
    """
    if isinstance(expression, Indexed):
        depth, index = _ordered(expression.index)
        return depth, replace(expression, index=index)
    if not isinstance(expression, Operation) or _terms(expression) is not None:
        return 1, expression
    known = list(map(_ordered, expression.operands))
    if expression.operator in COMMUTATIVE:
        known.sort(key=itemgetter(0), reverse=True)
    depth = max(depth + (i > 0) for i, (depth, _) in enumerate(known))
    return depth, replace(expression, operands=tuple(said for _, said in known))


def _code(expression: Expression, places: Sequence[Field]) -> Iterator[int]:
    """Yield the instructions that push the value of an expression."""
    if isinstance(expression, Number):
        yield from (Code.NUMBER, expression.value)
    elif isinstance(expression, Variable):
        yield Code.FIELD
        yield from _field(places[expression.number])
    elif isinstance(expression, Deadlock):
        yield Code.DEADLOCK
    elif isinstance(expression, Indexed):
        yield from _code(expression.index, places)
        yield from (Code.ELEMENT, expression.size)
        for i in range(expression.size):
            yield from _field(places[expression.first + i])
    elif isinstance(expression, Operation):
        yield from _operation(expression, places)
    else:
        raise TypeError(f"{expression} is not bound to a system")


def _operation(operation: Operation, places: Sequence[Field]) -> Iterator[int]:
    terms = _terms(operation)
    if terms is not None:
        constant, factors = terms
        yield from (Code.TERMS, len(factors), constant)
        for number, factor in factors.items():
            yield factor
            yield from _field(places[number])
    elif len(operation.operands) == 1:
        yield from _code(operation.operands[0], places)
        yield Code.NOT if operation.operator == "!" else Code.NEGATIVE
    else:
        for i, operand in enumerate(operation.operands):
            yield from _code(operand, places)
            if i > 0:
                yield _OPERATORS[operation.operator]


def _terms(operation: Operation) -> tuple[int, dict[int, int]] | None:
    """Return a sum of variables as a constant and a factor for each; None if none."""
    if operation.operator not in ("+", "-"):
        return None
    constant = 0
    factors: dict[int, int] = {}
    operands = operation.operands if operation.operator == "+" else (operation,)
    for operand in operands:
        factor = 1
        while isinstance(operand, Operation) and operand.operator == "-":
            factor, operand = -factor, operand.operands[0]
        if isinstance(operand, Number):
            constant += factor * operand.value
        elif isinstance(operand, Variable):
            factors[operand.number] = factors.get(operand.number, 0) + factor
        else:
            return None
    return constant, factors


def _field(place: Field) -> tuple[int, int, int, int]:
    return place.word, place.shift, place.mask, place.low

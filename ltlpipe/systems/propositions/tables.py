"""Bound propositions as tables for `ltlpipe.systems.propositions.kernels`."""

from __future__ import annotations

from dataclasses import replace
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
from ltlpipe.systems.fields import Field
from ltlpipe.systems.propositions.kernels import DEPTH, Code
from ltlpipe.systems.propositions.letters import refuse_too_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

_OPERATORS = {
    "+": Code.ADD,
    "*": Code.MULTIPLY,
    "/": Code.DIVIDE,
    "%": Code.REMAINDER,
    "==": Code.EQUAL,
    "<": Code.LESS,
    "<=": Code.AT_MOST,
    "&&": Code.AND,
    "||": Code.OR,
}


Place = Field
"""Where a variable lies in a row."""


def assemble(propositions: Sequence[Expression], places: Sequence[Place]) -> np.ndarray:
    """Return the table, int64[m], from which `letter_of` evaluates bound propositions.

    It has their number, and the code of each; those about steps (`Taken`) are 0 here,
    see `taken_bits`.  Each variable has one of the `places`.

    Raises
    ------
    UnsupportedError
        There are too many, or one is nested too deep.
    """
    refuse_too_many(len(propositions))
    table = [len(propositions)]
    for proposition in propositions:
        if isinstance(proposition, Taken):
            proposition = Number(0)
        depth, proposition = _ordered(proposition)
        if depth > DEPTH:
            raise UnsupportedError(
                f"a proposition needs {depth} intermediate results, the "
                f"limit is {DEPTH}: put what is nested deep to the left"
            )
        table += _code(proposition, places)
        table.append(Code.END)
    return _int64(table)


def taken_bits(propositions: Sequence[Expression], n_actions: int) -> np.ndarray:
    """Return for each action the bits of the propositions that it is taken.

    int64[n_actions]; a step's letter is the state's and these together.
    """
    bits = np.zeros(n_actions, dtype=np.int64)
    for bit, proposition in enumerate(propositions):
        if isinstance(proposition, Taken):
            bits[list(proposition.actions)] |= 1 << bit
    return bits


def _int64(values: Sequence[int]) -> np.ndarray:
    """Return numbers below 2**64; masks of whole words become negative."""
    wrapped = [int(value) & 0xFFFFFFFFFFFFFFFF for value in values]
    return np.array(wrapped, dtype=np.uint64).view(np.int64)


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


def _code(expression: Expression, places: Sequence[Place]) -> Iterator[int]:
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


def _operation(operation: Operation, places: Sequence[Place]) -> Iterator[int]:
    fixed = _fixed(operation, places)
    terms = _terms(operation)
    if fixed is not None:
        yield from fixed
    elif terms is not None:
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


def _fixed(operation: Operation, places: Sequence[Place]) -> list[int] | None:
    """Return the code of a variable's comparison with a constant it can have."""
    if operation.operator != "==":
        return None
    for some, other in (operation.operands, operation.operands[::-1]):
        if isinstance(some, Variable) and isinstance(other, Number):
            place = places[some.number]
            bits = other.value - place.low
            if not 0 <= bits <= place.mask:
                return [Code.NUMBER, 0]
            return [Code.IS, place.word, place.mask << place.shift, bits << place.shift]
    return None


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


def _field(place: Place) -> tuple[int, int, int, int]:
    return place.word, place.shift, place.mask, place.low

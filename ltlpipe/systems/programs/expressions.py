"""Checked expressions: names have become numbers of variables, constants are folded.

Arithmetic is that of 32-bit integers in C: a result is taken modulo 2**32, division
truncates towards zero, a shift uses the lowest five bits of its right operand.  A
comparison is 1 or 0; ``&&``, ``||`` and ``imply`` look at their right operand only if
it matters.  An index out of range and a division by zero are errors
(`EvaluationError`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
COMMUTATIVE = frozenset({"+", "*", "==", "!=", "&", "|", "^"})
"""Operators whose operands may change places.

Those that may leave their second operand unevaluated are not among them.
"""

LOGICAL = frozenset({"&&", "||", "imply"})


class EvaluationError(Exception):
    """A division by zero, or an index out of range."""


@dataclass(frozen=True, eq=False)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, eq=False)
class Read:
    """The value of a variable."""

    variable: int


@dataclass(frozen=True, eq=False)
class Element:
    """The element of an array that an expression names.

    The array's elements are the variables `first` to ``first + size - 1``.
    """

    first: int
    size: int
    index: Expression


@dataclass(frozen=True, eq=False)
class Lookup:
    """The element of an array of constants that an expression names."""

    values: tuple[int, ...]
    index: Expression

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Unary:
    """``-``, ``~`` or ``not``."""

    op: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """An operator as C writes it, or ``imply``."""

    op: str
    left: Expression
    right: Expression


# Nodes are compared and hashed by identity: what is known of one is known of one place.
Expression: TypeAlias = Number | Read | Element | Lookup | Unary | Binary


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression, or its index."""
    if isinstance(expression, Binary):
        return expression.left, expression.right
    if isinstance(expression, Unary):
        return (expression.operand,)
    return () if isinstance(expression, (Number, Read)) else (expression.index,)


def is_truth(expression: Expression) -> bool:
    """Whether the value of an expression is 0 or 1 by its form."""
    if isinstance(expression, Unary):
        return expression.op == "not"
    if isinstance(expression, Binary):
        return expression.op in COMPARISONS or expression.op in LOGICAL
    return False


def wrapped(value: int) -> int:
    """Return a number as a signed integer of 32 bits."""
    return (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def _divided(a: int, b: int) -> int:
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "%": lambda a, b: a - b * _divided(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << (b & 31),
    ">>": lambda a, b: a >> (b & 31),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def evaluate(expression: Expression, values: Sequence[int]) -> int:
    """Return the value of an expression, evaluated from left to right.

    Raises
    ------
    EvaluationError
        An index is out of range, or a divisor is 0.
    """
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Read):
        return values[expression.variable]
    if isinstance(expression, Element):
        return values[position(expression, values)]
    if isinstance(expression, Lookup):
        return expression.values[_index(expression, values)]
    if isinstance(expression, Unary):
        operand = evaluate(expression.operand, values)
        if expression.op == "not":
            return int(not operand)
        return wrapped(-operand if expression.op == "-" else ~operand)
    left = evaluate(expression.left, values)
    if expression.op in LOGICAL:
        if expression.op == "||" and left:
            return 1
        if expression.op != "||" and not left:
            return int(expression.op == "imply")
        return int(evaluate(expression.right, values) != 0)
    right = evaluate(expression.right, values)
    return wrapped(_ARITHMETIC[expression.op](left, right))


def position(target: Read | Element, values: Sequence[int]) -> int:
    """Return the variable that a target names; raise if an index is out of range."""
    if isinstance(target, Read):
        return target.variable
    return target.first + _index(target, values)


def _index(node: Element | Lookup, values: Sequence[int]) -> int:
    index = evaluate(node.index, values)
    if not 0 <= index < node.size:
        raise EvaluationError("index out of range")
    return index

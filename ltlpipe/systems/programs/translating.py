"""Expressions as Python source over the words of a row.

All numbers are 64-bit signed integers: words are read as such, and bits are the same.
Operators are wrapped to 32 bits, indices tested and divisions rounded towards zero
only where `Ranges` cannot show that there is no need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ltlpipe.systems.programs.expressions import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
    is_truth,
    parts,
)
from ltlpipe.systems.programs.intervals import ALL, MAX, MIN, Interval

if TYPE_CHECKING:
    from ltlpipe.systems.programs.expressions import Expression
    from ltlpipe.systems.programs.ranges import Ranges

# How closely Python binds its operators; comparisons never chain, being in brackets.
_OR, _AND, _NOT, _COMPARE = 1, 2, 3, 4
_LEVELS = {"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10}
_TIMES, _SIGN, _ATOM = 10, 11, 13


class Translator(ABC):
    """Translates expressions at one point of a step; `ranges` is what is known of them.

    Values are names, numbers or in brackets.
    """

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges

    @abstractmethod
    def read(self, variable: int) -> str:
        """Return the value of a variable."""

    @abstractmethod
    def read_element(self, first: int, size: int, index: str) -> str:
        """Return the value of an element of an array."""

    def value(self, expression: Expression) -> str:
        """Return the value of an expression as an integer."""
        return self._value(expression)[0]

    def truth(self, expression: Expression) -> str:
        """Return whether an expression is not 0 as a truth value."""
        return self._truth(expression)[0]

    def fails(self, expression: Expression) -> str | None:
        """Return whether evaluating an expression fails; None if it never does."""
        found = self._fails(expression)
        return None if found is None else found[0]

    def interval(self, expression: Expression) -> Interval:
        """Return the interval of an expression's value."""
        known = self.ranges.nodes.get(expression, ALL)
        return known if known.low >= MIN and known.high <= MAX else ALL

    def _value(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, Number):
            level = _ATOM if expression.value >= 0 else _SIGN
            return str(expression.value), level
        if isinstance(expression, Read):
            return self.read(expression.variable), _ATOM
        if isinstance(expression, Element):
            index = self.value(expression.index)
            text = self.read_element(expression.first, expression.size, index)
            return text, _ATOM
        if isinstance(expression, Lookup):
            return f"{expression.values}[{self.value(expression.index)}]", _ATOM
        if is_truth(expression):
            return f"np.int64({self.truth(expression)})", _ATOM
        if isinstance(expression, Unary):
            text = expression.op + self._operand(expression.operand, _SIGN)
            return self._wrapped(expression, text, _SIGN)
        if expression.op in ("/", "%"):
            return self._quotient(expression.op, expression.left, expression.right)
        level = _LEVELS[expression.op]
        left = self._operand(expression.left, level)
        shifts = self.interval(expression.right)
        is_shift = expression.op in ("<<", ">>")
        if is_shift and (shifts.low < 0 or shifts.high > 31):
            right = f"({self._operand(expression.right, _LEVELS['&'])} & 31)"
        else:
            right = self._operand(expression.right, level + 1)
        text = f"{left} {expression.op} {right}"
        return self._wrapped(expression, text, level)

    def _operand(self, expression: Expression, level: int) -> str:
        text, own = self._value(expression)
        return text if own >= level else f"({text})"

    def _wrapped(self, node: Expression, text: str, level: int) -> tuple[str, int]:
        known = self.ranges.nodes.get(node, Interval(MIN - 1, MAX))
        if known.low >= MIN and known.high <= MAX:
            return text, level
        return f"wrapped({text})", _ATOM

    def _quotient(
        self, op: str, left: Expression, right: Expression
    ) -> tuple[str, int]:
        if self.interval(left).low < 0 or self.interval(right).low < 0:
            name = "divided" if op == "/" else "remainder"
            return f"{name}({self.value(left)}, {self.value(right)})", _ATOM
        sign = "//" if op == "/" else "%"
        dividend = self._operand(left, _TIMES)
        return f"{dividend} {sign} {self._operand(right, _TIMES + 1)}", _TIMES

    def _truth(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, Number):
            return str(expression.value != 0), _ATOM
        if isinstance(expression, Unary) and expression.op == "not":
            return f"not {self._part(expression.operand, _NOT)}", _NOT
        if not is_truth(expression) or isinstance(expression, Unary):
            return f"{self._operand(expression, _COMPARE + 1)} != 0", _COMPARE
        assert not isinstance(expression, (Read, Element, Lookup))
        if expression.op in COMPARISONS:
            left = self._operand(expression.left, _COMPARE + 1)
            right = self._operand(expression.right, _COMPARE + 1)
            return f"{left} {expression.op} {right}", _COMPARE
        if expression.op == "&&":
            left = self._part(expression.left, _AND)
            return f"{left} and {self._part(expression.right, _AND)}", _AND
        if expression.op == "imply":
            left = f"not {self._part(expression.left, _NOT)}"
        else:
            left = self._part(expression.left, _OR)
        return f"{left} or {self._part(expression.right, _OR)}", _OR

    def _part(self, expression: Expression, level: int) -> str:
        text, own = self._truth(expression)
        return text if own >= level else f"({text})"

    def _fails(self, expression: Expression) -> tuple[str, int] | None:
        if isinstance(expression, (Element, Lookup)):
            outside = None
            if expression in self.ranges.failing:
                index = self._operand(expression.index, _COMPARE + 1)
                outside = f"({index} < 0 or {index} >= {expression.size})", _ATOM
            return _some(self._fails(expression.index), outside)
        if not isinstance(expression, Binary):
            operands = parts(expression)
            return self._fails(operands[0]) if operands else None
        left, right = map(self._fails, parts(expression))
        if expression.op in LOGICAL:
            if right is not None:
                reached = self._part(expression.left, _NOT)
                if expression.op == "||":
                    reached = f"not {reached}"
                inner = right[0] if right[1] >= _AND else f"({right[0]})"
                right = f"{reached} and {inner}", _AND
            return _some(left, right)
        found = _some(left, right)
        if expression in self.ranges.failing:
            divisor = self._operand(expression.right, _COMPARE + 1)
            found = _some(found, (f"{divisor} == 0", _COMPARE))
        return found


def _some(
    a: tuple[str, int] | None, b: tuple[str, int] | None
) -> tuple[str, int] | None:
    if a is None or b is None:
        return b if a is None else a
    return f"{a[0]} or {b[0]}", _OR

"""The value of a bound proposition on a valuation, in plain Python.

It shares nothing with the tables and the kernel, so that lassos are replayed apart
from what found them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression


def evaluate(
    expression: Expression,
    state: Sequence[int],
    *,
    action: int | None = None,
    dead: bool = False,
) -> int:
    """Return the value of a bound expression.

    Parameters
    ----------
    expression : Expression
        As `ltlpipe.systems.propositions.binding.bind` returns it.
    state : sequence of int
        The values of the variables.
    action : int, optional
        The action that the step takes; None if it takes none.
    dead : bool
        Whether the state has no step.

    Returns
    -------
    int
        Division is C's, and 0 where the divisor is; an element that there is not is 0.
    """

    def value(part: Expression) -> int:
        if isinstance(part, Number):
            return part.value
        if isinstance(part, Variable):
            return state[part.number]
        if isinstance(part, Indexed):
            index = value(part.index)
            return state[part.first + index] if 0 <= index < part.size else 0
        if isinstance(part, Deadlock):
            return int(dead)
        if isinstance(part, Taken):
            return int(part.action == action)
        if isinstance(part, Operation):
            return _applied(part.operator, [value(o) for o in part.operands])
        raise TypeError(f"{part} is not bound to a system")

    return value(expression)


def _applied(operator: str, values: list[int]) -> int:
    first, *others = values
    if operator == "+":
        return sum(values)
    if operator == "&&":
        return int(all(values))
    if operator == "||":
        return int(any(values))
    if operator == "!":
        return int(not first)
    if operator == "-":
        return -first
    (second,) = others
    if operator == "==":
        return int(first == second)
    if operator == "<":
        return int(first < second)
    if operator == "<=":
        return int(first <= second)
    if operator == "*":
        return first * second
    quotient = 0 if second == 0 else abs(first) // abs(second)
    if (first < 0) != (second < 0):
        quotient = -quotient
    if operator == "/":
        return quotient
    return 0 if second == 0 else first - quotient * second

"""The value of a bound proposition on a valuation, in plain Python.

It shares nothing with the tables and the kernel, so that lassos are replayed apart
from what found them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Enabled,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
            return int(action in part.actions)
        if isinstance(part, Enabled):
            return int(part.test(state))
        if isinstance(part, Operation):
            return _OPERATORS[part.operator](*map(value, part.operands))
        raise TypeError(f"{part} is not bound to a system")

    return value(expression)


def _quotient(dividend: int, divisor: int) -> int:
    size = abs(dividend) // abs(divisor) if divisor else 0
    return size if (dividend < 0) == (divisor < 0) else -size


_OPERATORS: dict[str, Callable[..., int]] = {
    "+": lambda *terms: sum(terms),
    "-": lambda a: -a,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - _quotient(a, b) * b if b else 0,
    "==": lambda a, b: int(a == b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    "&&": lambda *parts: int(all(parts)),
    "||": lambda *parts: int(any(parts)),
    "!": lambda a: int(not a),
}

"""Values of propositions in a state of a model, and the letters of its steps.

`evaluate` shares nothing with the tables and the kernel, so that lassos are replayed
apart from what found them.
"""

from __future__ import annotations

import operator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Enabled,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
    uses_step,
    variables_in,
)
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

MAX_PROPOSITIONS = 20
"""Propositions of one property: every set of them is a letter."""

_OFTEN = 100
"""Times that propositions are asked before a function is worth its compilation."""


class TooLargeNumberError(UnsupportedError):
    """What a proposition computes may not fit into the numbers of a kernel."""


def refuse_too_many(n_propositions: int) -> None:
    """Raise UnsupportedError if a property has too many propositions."""
    if n_propositions > MAX_PROPOSITIONS:
        raise UnsupportedError(
            f"the property has {n_propositions} propositions about states, the largest "
            f"parts without temporal operators: the limit is {MAX_PROPOSITIONS}"
        )


class Letters:
    """What a property sees of a model: bit k is set where its proposition k holds."""

    def __init__(self, propositions: Sequence[Expression]) -> None:
        bits = [(1 << k, meaning) for k, meaning in enumerate(propositions)]
        self._of_steps = [(bit, p) for bit, p in bits if uses_step(p)]
        self._of_states = [(bit, p) for bit, p in bits if not uses_step(p)]
        self._asked = 0
        self._function: Callable[[Sequence[int], bool], int] | None = None

    @property
    def reads(self) -> set[int]:
        """The variables that matter, if propositions have no `Enabled`."""
        propositions = self._of_steps + self._of_states
        return {number for _, p in propositions for number in variables_in(p)}

    @property
    def see_steps(self) -> bool:
        """Whether some proposition tells steps apart, not only states."""
        return bool(self._of_steps)

    def of_state(self, state: Sequence[int], *, dead: bool = False) -> int:
        """Return the bits that all steps of a valuation have."""
        if self._function is not None:
            return self._function(state, dead)
        self._asked += 1
        if self._asked == _OFTEN:
            with suppress(RecursionError, MemoryError, SyntaxError):  # too deep
                self._function = _function(self._of_states)
        return _holding(self._of_states, state, None, dead=dead)

    def of_step(self, state: Sequence[int], action: int) -> int:
        """Return the other bits of a step; the action is -1 for a repetition."""
        if not self._of_steps:
            return 0
        dead = action < 0
        taken = None if dead else action
        return _holding(self._of_steps, state, taken, dead=dead)

    def of(self, state: Sequence[int], action: int) -> int:
        """Return the letter of a step; the action is -1 for a repetition."""
        return self.of_state(state, dead=action < 0) | self.of_step(state, action)


def _holding(
    propositions: list[tuple[int, Expression]],
    state: Sequence[int],
    action: int | None,
    *,
    dead: bool,
) -> int:
    """Return the bits of the propositions that hold."""
    held = 0
    for bit, meaning in propositions:
        if evaluate(meaning, state, action=action, dead=dead):
            held |= bit
    return held


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
            if part.operator == "&&":  # the first that is false decides
                return int(all(map(value, part.operands)))
            if part.operator == "||":
                return int(any(map(value, part.operands)))
            return _OPERATORS[part.operator](*map(value, part.operands))
        raise TypeError(f"{part} is not bound to a system")

    return value(expression)


def _function(
    propositions: list[tuple[int, Expression]],
) -> Callable[[Sequence[int], bool], int]:
    """Return a function for the bits of propositions about states."""
    names: dict[str, Any] = {"element": _element}
    bits = [f"({bit} if {_text(p, names)} else 0)" for bit, p in propositions]
    exec(f"def function(s, dead): return {' | '.join(bits) or 0}", names)
    return names["function"]  # type: ignore[no-any-return]


def _element(state: Sequence[int], first: int, size: int, index: int) -> int:
    return state[first + index] if 0 <= index < size else 0


def _text(part: Expression, names: dict[str, Any]) -> str:
    """Return text with the value of a part in a state ``s``, as `evaluate` has it."""
    if isinstance(part, Number):
        return f"({part.value})"
    if isinstance(part, Variable):
        return f"s[{part.number}]"
    if isinstance(part, Indexed):
        return f"element(s, {part.first}, {part.size}, {_text(part.index, names)})"
    if isinstance(part, Deadlock):
        return "dead"
    if isinstance(part, Operation):
        operands = [_text(operand, names) for operand in part.operands]
        if part.operator in ("&&", "||"):
            sign = " and " if part.operator == "&&" else " or "
            return f"(True if {sign.join(operands)} else False)"
        if part.operator == "!":
            return f"(not {operands[0]})"
        if part.operator in ("==", "<", "<="):
            return f"({part.operator.join(operands)})"
        name = f"f{len(names)}"
        names[name] = _OPERATORS[part.operator]
        return f"{name}({', '.join(operands)})"
    name = f"f{len(names)}"
    names[name] = partial(evaluate, part)
    return f"{name}(s, dead=dead)"


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
    "!": lambda a: int(not a),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda a, b: ((a << (b & 31)) + (1 << 31)) % (1 << 32) - (1 << 31),
    ">>": lambda a, b: a >> (b & 31),
}

"""What propositions look at: the atoms of a model's state."""

from __future__ import annotations

from typing import NamedTuple

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Expression,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
)

ANY = -1


class Atom(NamedTuple):
    """A part of a state: a variable (`value` ANY), or whether it has a value."""

    variable: int
    value: int = ANY


def watched(expression: Expression) -> set[Atom]:
    """Return the atoms that tell the value of a bound expression."""
    if isinstance(expression, Variable):
        return {Atom(expression.number)}
    if isinstance(expression, Indexed):
        elements = range(expression.first, expression.first + expression.size)
        return watched(expression.index) | {Atom(number) for number in elements}
    if not isinstance(expression, Operation):
        return set()
    if expression.operator == "==":
        for some, other in (expression.operands, expression.operands[::-1]):
            if isinstance(some, Variable) and isinstance(other, Number):
                return {Atom(some.number, other.value)}
    return {atom for operand in expression.operands for atom in watched(operand)}


def names_steps(expression: Expression) -> bool:
    """Whether a bound expression tells steps apart, or states without steps."""
    if isinstance(expression, Operation):
        return any(map(names_steps, expression.operands))
    if isinstance(expression, Indexed):
        return names_steps(expression.index)
    return isinstance(expression, (Taken, Deadlock))

"""Integer expressions: what propositions about states are made of.

Truth is a number, as in C: comparisons give 0 or 1, and what is not 0 is true.
What a system calls its variables is replaced by their numbers when a proposition is
bound to it.  Sums, conjunctions and disjunctions have any number of operands, so
that a sum of a thousand places is no tree of a thousand levels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

_LEVELS = {
    operator: level
    for level, operators in enumerate(
        (("||",), ("&&",), ("!",), ("==", "<", "<="), ("+",), ("*", "/", "%"), ("-",))
    )
    for operator in operators
}
_SIGN = max(_LEVELS.values())

COMMUTATIVE = frozenset({"+", "*", "==", "&&", "||"})
"""Operators whose operands may change places: all operands have a value everywhere."""

MAX_DIGITS = 40
"""Digits of a number in a formula: more than any value of a model has."""

KEYWORDS = ("true", "false", "not", "and", "or", "xor", "imply")

_NO_NAME = re.compile(r"[^\w.]")


def escaped(name: str) -> str:
    r"""Return a name as it is written: ``a\-b`` for one with a minus sign in it."""
    text = _NO_NAME.sub(lambda found: "\\" + found[0], name)
    if name in KEYWORDS or re.match(r"[\d.]|[^\W\da-zA-Z_]", name):
        text = "\\" + text
    return text


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Text:
    """Something in quotes: a state of a process, or an action."""

    value: str

    def __str__(self) -> str:
        return "'" + re.sub(r"[\\']", r"\\\g<0>", self.value) + "'"


@dataclass(frozen=True)
class Name:
    """What a system calls something, with dots in it if it has some."""

    text: str

    def __str__(self) -> str:
        return escaped(self.text)


@dataclass(frozen=True)
class Element:
    """An element of an array."""

    array: str
    index: Expression

    def __str__(self) -> str:
        return f"{escaped(self.array)}[{self.index}]"


@dataclass(frozen=True)
class Path:
    """A field of an element of an array: ``s[1].p[2].x``."""

    parts: tuple[tuple[str, Expression | None], ...]  # names, with indices

    def __str__(self) -> str:
        return ".".join(
            escaped(name) if index is None else f"{escaped(name)}[{index}]"
            for name, index in self.parts
        )


def name_of(part: Name | Element | Path) -> str:
    """Return a name: what looks like an element may be one with brackets in it."""
    if isinstance(part, Name):
        return part.text
    parts = part.parts if isinstance(part, Path) else ((part.array, part.index),)
    return ".".join(
        name if index is None else f"{name}[{_plain(index)}]" for name, index in parts
    )


def _plain(index: Expression) -> str:
    if isinstance(index, (Name, Element, Path)):
        return name_of(index)
    return str(index)


@dataclass(frozen=True)
class Remote:
    """A variable of a process, ``P[1]:x``, or a place where it is, ``P[1]@a``."""

    process: Name | Element
    mark: str  # ":" or "@"
    subject: Name | Element | Path

    def __str__(self) -> str:
        return f"{self.process}{self.mark}{self.subject}"


@dataclass(frozen=True)
class Call:
    """A function such as ``fireable`` or ``len``."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.function}({','.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Variable:
    """A variable of a system, by its number."""

    number: int


@dataclass(frozen=True)
class Indexed:
    """An element of an array whose index is known in a state only.

    It is 0 where there is no such element.
    """

    first: int
    size: int
    index: Expression


@dataclass(frozen=True)
class Deadlock:
    """Whether a state has no step."""


@dataclass(frozen=True)
class Ranges:
    """Numbers in any of some ranges, which may be too many to be listed."""

    parts: tuple[range, ...]

    def __contains__(self, number: object) -> bool:
        return any(number in part for part in self.parts)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.parts)

    def __len__(self) -> int:
        return sum(map(len, self.parts))


@dataclass(frozen=True)
class Taken:
    """Whether the step that leaves a state takes one of some actions."""

    actions: Collection[int]  # their numbers: a frozenset, a range, or `Ranges`


def any_taken(parts: Sequence[Taken]) -> Taken:
    """Return the proposition that a step takes an action that one of some names."""
    actions = [part.actions for part in parts]
    if all(isinstance(own, frozenset) for own in actions):
        return Taken(frozenset().union(*actions))
    ranges = [part for own in actions for part in ranges_in(own)]
    return Taken(ranges[0] if len(ranges) == 1 else Ranges(tuple(ranges)))


def ranges_in(actions: Collection[int]) -> Sequence[range]:
    """Return the ranges that numbers of actions are in."""
    if isinstance(actions, range):
        return [actions]
    if isinstance(actions, Ranges):
        return actions.parts
    return [range(number, number + 1) for number in sorted(actions)]


@dataclass(frozen=True)
class Enabled:
    """Whether some step of a state is one of a transition of a symmetric net."""

    transition: int
    test: Callable[[Sequence[int]], bool] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Operation:
    """An operator and its operands."""

    operator: str
    """One of + * / % == < <= && ||, or - and ! of one operand; bound to a system also
    & | ^ << >>, which have no text."""
    operands: tuple[Expression, ...]  # two or more; one of - and !

    def __str__(self) -> str:
        level = _level(self)
        # To the right of the same operator brackets keep what belongs together, and
        # comparisons of comparisons are written with brackets only.
        alone = self.operator in ("==", "<", "<=")
        shown = []  # by a loop: a frame for each level counts in Python 3.10
        for i, operand in enumerate(self.operands):
            text = str(operand)
            has_brackets = _level(operand) < level + (alone or i > 0)
            shown.append("(" + text + ")" if has_brackets else text)
        if len(self.operands) == 1:
            return self.operator + shown[0]
        return self.operator.join(shown)


_Given = Number | Text | Name | Element | Path | Remote | Call
_Bound = Variable | Indexed | Deadlock | Taken | Enabled
Expression = _Given | _Bound | Operation


def _level(expression: Expression) -> int:
    if isinstance(expression, Operation):
        return _LEVELS[expression.operator]
    negative_number = isinstance(expression, Number) and expression.value < 0
    return _SIGN if negative_number else _SIGN + 1


def joined(operator: str, left: Expression, right: Expression) -> Expression:
    """Return `left` and `right` with an associative operator between them, flat."""
    if isinstance(left, Operation) and left.operator == operator:
        return Operation(operator, (*left.operands, right))
    return Operation(operator, (left, right))


def negative(operand: Expression) -> Expression:
    """Return an expression with its sign changed."""
    if isinstance(operand, Number):
        return Number(-operand.value)
    return Operation("-", (operand,))


def compared(relation: str, left: Expression, right: Expression) -> Expression:
    """Return a comparison, written with ``== < <= !`` alone."""
    if relation == "!=":
        return Operation("!", (compared("==", left, right),))
    if relation in (">", ">="):
        return compared({">": "<", ">=": "<="}[relation], right, left)
    return Operation(relation, (left, right))


def given_parts(expression: Expression) -> Iterator[Expression]:
    """Yield the operands of an expression that is not yet bound to a system."""
    if isinstance(expression, Operation):
        yield from expression.operands
    elif isinstance(expression, Call):
        yield from expression.arguments
    elif isinstance(expression, Element):
        yield expression.index
    elif isinstance(expression, Remote):
        yield from (expression.process, expression.subject)
    elif isinstance(expression, Path):
        yield from (index for _, index in expression.parts if index is not None)


def nodes_in(expression: Expression) -> Iterator[Expression]:
    """Yield a bound expression and its parts."""
    yield expression
    if isinstance(expression, Operation):
        for part in expression.operands:
            yield from nodes_in(part)
    elif isinstance(expression, Indexed):
        yield from nodes_in(expression.index)


def mentions(expression: Expression, *kinds: type) -> bool:
    """Whether a bound expression has a part of some kinds."""
    return any(isinstance(node, kinds) for node in nodes_in(expression))


def uses_step(expression: Expression) -> bool:
    """Whether a bound expression tells steps apart, not only states."""
    return mentions(expression, Taken)


def variables_in(expression: Expression) -> list[int]:
    """Return the numbers of the variables in a bound expression.

    An element whose index is a variable stands for all of its array.
    """
    found: list[int] = []
    for node in nodes_in(expression):
        if isinstance(node, Indexed):
            found += range(node.first, node.first + node.size)
        elif isinstance(node, Variable):
            found.append(node.number)
    return found


def replaced(
    expression: Expression, variable: Callable[[int], Expression]
) -> Expression:
    """Return a bound expression, without arrays, with others for its variables."""
    if isinstance(expression, Operation):
        parts = tuple(replaced(part, variable) for part in expression.operands)
        return Operation(expression.operator, parts)
    if isinstance(expression, Variable):
        return variable(expression.number)
    return expression


def renumbered(expression: Expression, numbers: Mapping[int, int]) -> Expression:
    """Return a bound expression, without arrays, whose variables have other numbers."""
    return replaced(expression, lambda number: Variable(numbers[number]))


def spelled_out(
    expression: Expression, names: Sequence[str], actions: Sequence[str]
) -> Expression:
    """Return an expression that is bound to a net, with names of places and actions."""
    if isinstance(expression, Deadlock):
        return Name("deadlock")
    if isinstance(expression, Taken):
        own = [Text(actions[number]) for number in sorted(expression.actions)]
        taken = [Operation("==", (Name("action"), name)) for name in own]
        return taken[0] if len(taken) == 1 else Operation("||", tuple(taken))
    if isinstance(expression, Operation):
        parts = [spelled_out(part, names, actions) for part in expression.operands]
        return Operation(expression.operator, tuple(parts))
    return replaced(expression, lambda number: Name(names[number]))


Sum: TypeAlias = tuple[dict[int, int], int]
"""Weights of variables, by their numbers, and a constant."""


def linear(expression: Expression) -> Sum | None:
    """Return an expression as weights of variables and a constant; None if not one."""
    if isinstance(expression, Number):
        return {}, expression.value
    if isinstance(expression, Variable):
        return {expression.number: 1}, 0
    if not isinstance(expression, Operation):
        return None
    if expression.operator not in ("+", "-", "*"):
        return None
    parts = [linear(part) for part in expression.operands]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if expression.operator == "+":
        return added(known)
    if expression.operator == "-":
        return scaled(known[0], -1)
    left, right = known
    if left[0] and right[0]:
        return None
    return scaled(left, right[1]) if left[0] else scaled(right, left[1])


def added(parts: Iterable[Sum]) -> Sum:
    """Return the sum of some."""
    weights: dict[int, int] = {}
    constant = 0
    for own, more in parts:
        constant += more
        for place, weight in own.items():
            weights[place] = weights.get(place, 0) + weight
    return weights, constant


def scaled(part: Sum, factor: int) -> Sum:
    """Return a sum so many times."""
    weights, constant = part
    return {p: factor * weight for p, weight in weights.items()}, factor * constant

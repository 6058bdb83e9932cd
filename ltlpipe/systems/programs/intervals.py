"""Expressions evaluated on intervals of integers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.programs.expressions import Expression

MIN, MAX = -(1 << 31), (1 << 31) - 1
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MOST_CASES = 3  # comparisons inside arithmetic that are distinguished


class Interval(NamedTuple):
    """The integers from `low` to `high`, at least one."""

    low: int
    high: int


_TRUTH = Interval(0, 1)
ALL = Interval(MIN, MAX)


def join(a: Interval, b: Interval) -> Interval:
    """Return the smallest interval around two."""
    return Interval(min(a.low, b.low), max(a.high, b.high))


def wrapped_to(value: Interval, bounds: tuple[int, int]) -> Interval:
    """Return an interval taken modulo the size of a range."""
    low, high = bounds
    return value if low <= value.low and value.high <= high else Interval(low, high)


@dataclass(eq=False)
class Environment:
    """Intervals of the variables at one point of a step.

    `values` has the interval of each slot (`Program.slots`), but `narrow` that of those
    that conditions have narrowed, and `slots` the slot of each variable; what is found
    about expressions goes to `nodes` and `failing` (see `Ranges`), unless it
    `is_quiet`.  `cases` are comparisons whose value is known, and `written` the slots
    that have been written to.
    """

    values: dict[int, Interval]
    slots: Sequence[int]
    nodes: dict[Expression, Interval]
    failing: set[Expression]
    cases: dict[Expression, int] = field(default_factory=dict)
    is_quiet: bool = False
    narrow: dict[int, Interval] = field(default_factory=dict)
    written: set[int] = field(default_factory=set, init=False)
    # Conditions inside each other would be narrowed by again and again.
    _narrowed: dict[tuple[Expression, bool], Environment | None] = field(
        default_factory=dict, init=False
    )

    def value(self, slot: int) -> Interval:
        """Return the interval of a slot."""
        found = self.narrow.get(slot)
        return self.values[slot] if found is None else found

    def write(self, slot: int, value: Interval) -> None:
        """Change the interval of a slot, in a `copy`."""
        self.values[slot] = value
        self.written.add(slot)
        self._narrowed.clear()

    def copy(self) -> Environment:
        """Return an environment that can be changed apart from this one."""
        return replace(self, values={**self.values, **self.narrow}, narrow={})

    def changed(self, slot: int, value: Interval) -> Environment:
        """Return the same environment with a slot narrowed to an interval."""
        return replace(self, narrow={**self.narrow, slot: value})

    def assigned(self, expression: Expression) -> Interval:
        """Return the interval of an expression, by cases of the comparisons in it.

        ``x + (x < 9)`` is at most 9: without cases it would be at most ``x + 1``.
        """
        self.evaluate(expression)  # notes what is true of all cases
        tests = _tests_in(expression)
        if not 0 < len(tests) <= _MOST_CASES:
            return self._quiet().evaluate(expression)
        found: Interval | None = None
        for number in range(1 << len(tests)):
            case: Environment | None = self._quiet()
            truths = {test: number >> i & 1 for i, test in enumerate(tests)}
            for test, truth in truths.items():
                case = case.narrowed(test, bool(truth)) if case is not None else None
            if case is None:
                continue
            case = replace(case, cases={**self.cases, **truths})
            value = case.evaluate(expression)
            found = value if found is None else join(found, value)
        return ALL if found is None else found

    def _quiet(self) -> Environment:
        """Return the same environment, taking up nothing about expressions."""
        return replace(self, nodes={}, failing=set(), is_quiet=True)

    def evaluate(self, expression: Expression) -> Interval:
        """Return the interval of an expression's value."""
        if expression in self.cases:
            truth = self.cases[expression]
            return Interval(truth, truth)
        value = self._evaluated(expression)
        known = self.nodes.get(expression)
        self.nodes[expression] = value if known is None else join(known, value)
        if value.low < MIN or value.high > MAX:
            return ALL
        return value

    def _evaluated(self, expression: Expression) -> Interval:
        """Return the interval before it is taken modulo 2**32."""
        if isinstance(expression, Number):
            return Interval(expression.value, expression.value)
        if isinstance(expression, Read):
            return self.value(self.slots[expression.variable])
        if isinstance(expression, (Element, Lookup)):
            index = self.evaluate(expression.index)
            if index.low < 0 or index.high >= expression.size:
                self.failing.add(expression)
            if isinstance(expression, Element):
                return self.value(self.slots[expression.first])
            return _around(expression.values)
        if isinstance(expression, Unary):
            operand = self.evaluate(expression.operand)
            if expression.op == "not":
                if operand == (0, 0):
                    return Interval(1, 1)
                return _TRUTH if operand.low <= 0 <= operand.high else Interval(0, 0)
            shift = 0 if expression.op == "-" else 1
            return Interval(-operand.high - shift, -operand.low - shift)
        if expression.op in LOGICAL:
            return self._logical(expression)
        left = self.evaluate(expression.left)
        right = self.evaluate(expression.right)
        if expression.op in ("/", "%") and right.low <= 0 <= right.high:
            self.failing.add(expression)
        return combined(expression.op, left, right)

    def _logical(self, expression: Binary) -> Interval:
        """Evaluate the right operand where the left one lets it matter.

        The value is 0 or 1 in any case, so there is nothing to do but to take up what
        is found: comparisons of conditions inside each other would be evaluated twice
        as often at every level.
        """
        if self.is_quiet:
            return _TRUTH
        self.evaluate(expression.left)
        inner = self.narrowed(expression.left, expression.op != "||")
        if inner is not None:
            inner.evaluate(expression.right)
        return _TRUTH

    def narrowed(self, condition: Expression, truth: bool) -> Environment | None:
        """Return the environment where a condition is (not) true, None if nowhere.

        It is not to be changed.
        """
        key = condition, truth
        if key not in self._narrowed:
            self._narrowed[key] = self._narrowed_by(condition, truth)
        return self._narrowed[key]

    def _narrowed_by(self, condition: Expression, truth: bool) -> Environment | None:
        if isinstance(condition, Unary) and condition.op == "not":
            return self.narrowed(condition.operand, not truth)
        if not isinstance(condition, Binary) or condition.op not in (
            LOGICAL | COMPARISONS
        ):
            zero = Number(0)
            return self._compared("!=" if truth else "==", condition, zero)
        if condition.op in COMPARISONS:
            op = condition.op if truth else _NEGATED[condition.op]
            return self._compared(op, condition.left, condition.right)
        # All operators are brought to "&&": both of two conditions hold.
        first = condition.op != "||"
        second = condition.op == "&&"
        both = truth == second
        left = self.narrowed(condition.left, first)
        inner = None if left is None else left.narrowed(condition.right, second)
        if both:
            return inner
        outer = self.narrowed(condition.left, not first)
        rest = None if left is None else left.narrowed(condition.right, not second)
        return _either(outer, rest)

    def _compared(
        self, op: str, left: Expression, right: Expression
    ) -> Environment | None:
        """Narrow both sides of a comparison."""
        quiet = self._quiet()
        a, b = quiet.evaluate(left), quiet.evaluate(right)
        new_a, new_b = _meet(op, a, b), _meet(_FLIPPED[op], b, a)
        if new_a is None or new_b is None:
            return None
        narrowed = self
        for side, value in ((left, new_a), (right, new_b)):
            if isinstance(side, Read) and self._is_scalar(side.variable):
                narrowed = narrowed.changed(side.variable, value)
        return narrowed

    def _is_scalar(self, variable: int) -> bool:
        """Whether a variable shares its interval with no other one."""
        slots = self.slots
        if slots[variable] != variable:
            return False
        return variable + 1 == len(slots) or slots[variable + 1] != variable


def _either(a: Environment | None, b: Environment | None) -> Environment | None:
    if a is None or b is None:
        return b if a is None else a
    both = a.narrow.keys() & b.narrow.keys()
    return replace(a, narrow={s: join(a.narrow[s], b.narrow[s]) for s in both})


def _meet(op: str, a: Interval, b: Interval) -> Interval | None:
    """Return the part of `a` that compares with some value of `b`."""
    low, high = a
    if op == "<":
        high = min(high, b.high - 1)
    elif op == "<=":
        high = min(high, b.high)
    elif op == ">":
        low = max(low, b.low + 1)
    elif op == ">=":
        low = max(low, b.low)
    elif op == "==":
        low, high = max(low, b.low), min(high, b.high)
    elif b.low == b.high:
        low += low == b.low
        high -= high == b.low
    return Interval(low, high) if low <= high else None


def combined(op: str, a: Interval, b: Interval) -> Interval:
    """Return an interval that holds ``x op y`` for all x of `a` and y of `b`."""
    if op in COMPARISONS:
        if _meet(op, a, b) is None:
            return Interval(0, 0)
        return Interval(1, 1) if _meet(_NEGATED[op], a, b) is None else _TRUTH
    if op == "+":
        return Interval(a.low + b.low, a.high + b.high)
    if op == "-":
        return Interval(a.low - b.high, a.high - b.low)
    if op == "*":
        return _around([x * y for x in a for y in b])
    if op in ("/", "%"):
        return _quotients(op, a, b)
    if op in ("<<", ">>"):
        inside = b.low >= 0 and b.high <= 31
        shifts = b if inside else Interval(0, 31)
        if op == "<<":
            return _around([x << y for x in a for y in shifts])
        return _around([x >> y for x in a for y in shifts])
    return _bitwise(op, a, b)


def _around(values: Sequence[int]) -> Interval:
    return Interval(min(values), max(values))


def _quotients(op: str, a: Interval, b: Interval) -> Interval:
    largest = max(abs(b.low), abs(b.high))
    if op == "%":
        # The sign is that of the dividend, the size below both.
        size = max(largest - 1, 0)
        low = -min(size, -a.low) if a.low < 0 else 0
        return Interval(low, min(size, a.high) if a.high > 0 else 0)
    size = max(abs(a.low), abs(a.high))
    if a.low >= 0 and b.low > 0:
        return Interval(a.low // b.high, a.high // b.low)
    return Interval(-size, size)


def _bitwise(op: str, a: Interval, b: Interval) -> Interval:
    if a.low < 0 or b.low < 0:
        if op == "&" and max(a.low, b.low) >= 0:
            return Interval(0, a.high if a.low >= 0 else b.high)
        bits = max(v.bit_length() for v in (*a, *b))
        return Interval(-(1 << bits), (1 << bits) - 1)
    if op == "&":
        return Interval(0, min(a.high, b.high))
    limit = (1 << max(a.high.bit_length(), b.high.bit_length())) - 1
    return Interval(max(a.low, b.low) if op == "|" else 0, limit)


def _tests_in(expression: Expression) -> list[Expression]:
    """Return the comparisons that are operands of arithmetic, from left to right."""
    if is_truth(expression):
        return [expression]
    if isinstance(expression, (Unary, Binary)):
        return [test for part in parts(expression) for test in _tests_in(part)]
    return []

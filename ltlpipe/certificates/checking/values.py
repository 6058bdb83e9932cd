"""Sets of values of a variable of a program, and C's arithmetic on them.

A set is a tuple of ranges of 32-bit integers, none of them empty.  What an operation
returns contains all results, and may contain others.  All is computed in Python's
integers.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Values: TypeAlias = tuple[range, ...]

MIN, MAX = -(1 << 31), (1 << 31) - 1
ALL = range(MIN, MAX + 1)
FALSE, TRUE, EITHER = (range(1),), (range(1, 2),), (range(2),)

_EXPLICIT = 1 << 8  # values that are sorted one by one
_MOST_RANGES = 1 << 8  # of a set before it becomes one range


def of(numbers: Iterable[int]) -> Values:
    """Return the set of some numbers, exactly."""
    ordered = sorted(set(numbers))
    found, begin = [], 0
    while begin < len(ordered):
        end = begin + 1
        step = ordered[end] - ordered[begin] if end < len(ordered) else 1
        while end < len(ordered) and ordered[end] - ordered[end - 1] == step:
            end += 1
        found.append(range(ordered[begin], ordered[end - 1] + 1, step))
        begin = end
    return tuple(found)


def size(values: Values) -> int:
    """Return how many values there are at most."""
    return sum(map(len, values))


def step_of(part: range) -> int:
    """Return the distance of values, 0 for a single one."""
    return part.step if len(part) > 1 else 0


def hull(values: Values) -> range:
    """Return one range around a set, with the largest distance possible."""
    low, high = min(part[0] for part in values), max(part[-1] for part in values)
    step = gcd(*(step_of(part) for part in values), *(p[0] - low for p in values))
    return range(low, high + 1, step or 1)


def union(a: Values, b: Values) -> Values:
    """Return a set of the values of both, exactly."""
    return a if a == b else _tidy({*a, *b})


def _tidy(parts: Iterable[range]) -> Values:
    """Return some ranges in order; neighbours are one where that is exact."""
    ordered = sorted(parts, key=lambda part: (part[0], part[-1], part.step))
    if len(ordered) < 2:
        return tuple(ordered)
    if size(tuple(ordered)) <= _EXPLICIT:
        return of(value for part in ordered for value in part)
    found = [ordered[0]]
    for part in ordered[1:]:
        last = found[-1]
        step = step_of(last) or step_of(part) or 1
        joins = (part[0] - last[0]) % step == 0 and part[0] <= last[-1] + step
        if joins and {step_of(last), step_of(part)} <= {0, step}:
            found[-1] = range(last[0], max(last[-1], part[-1]) + 1, step)
        elif not within((part,), (last,)):
            found.append(part)
    return tuple(found)


def within(a: Values, b: Values) -> bool:
    """Whether all values of one set are seen to be in the other."""
    return a == b or all(
        any(
            part[0] in own and part[-1] in own and step_of(part) % own.step == 0
            for own in b
        )
        or (len(part) <= _EXPLICIT and all(any(x in own for own in b) for x in part))
        for part in a
    )


def clipped(values: Values, op: str, bound: int) -> Values:
    """Return the values x of a set with ``x op bound``, exactly."""
    if op in ("==", "!="):
        if not any(bound in part for part in values):
            return () if op == "==" else values
        if op == "==":
            return (range(bound, bound + 1),)
        return clipped(values, "<", bound) + clipped(values, ">", bound)
    found = []
    for part in values:
        inside = bound + (op in ("<=", ">"))  # the first behind those below
        k = min(max(-(-(inside - part[0]) // part.step), 0), len(part))
        found.append(part[:k] if op[0] == "<" else part[k:])
    return tuple(part for part in found if part)


def wrapped(part: range) -> range:
    """Return a range as 32-bit integers."""
    shift = part[0] - ((part[0] - MIN) % (1 << 32) + MIN)
    if part[-1] - shift > MAX:
        return ALL
    return range(part[0] - shift, part[-1] - shift + 1, part.step)


def combined(op: str, a: Values, b: Values) -> Values:
    """Return the results of an operator; a divisor is not 0."""
    if len(a) * len(b) > _MOST_RANGES:
        a, b = (hull(a),), (hull(b),)
    operation = _COMPARED.get(op) or _ARITHMETIC[op]
    return _tidy({wrapped(operation(x, y)) for x in a for y in b})


def _spaced(low: int, high: int, step: int) -> range:
    return range(low, high + 1, step or 1)


def _plus(a: range, b: range) -> range:
    return _spaced(a[0] + b[0], a[-1] + b[-1], gcd(step_of(a), step_of(b)))


def _minus(a: range, b: range) -> range:
    return _spaced(a[0] - b[-1], a[-1] - b[0], gcd(step_of(a), step_of(b)))


def _times(a: range, b: range) -> range:
    corners = [x * y for x in (a[0], a[-1]) for y in (b[0], b[-1])]
    p, q = step_of(a), step_of(b)
    return _spaced(min(corners), max(corners), gcd(a[0] * q, b[0] * p, p * q))


def truncated(a: int, b: int) -> int:
    """Return a quotient as C has it."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _divided(a: range, b: range) -> range:
    if len(b) == 1:
        ends = sorted(truncated(x, b[0]) for x in (a[0], a[-1]))
        return _spaced(ends[0], ends[1], 1)
    most = max(abs(a[0]), abs(a[-1]))
    return _spaced(-most, most, 1)


def _remainder(a: range, b: range) -> range:
    if len(b) == 1:
        quotient = truncated(a[0], b[0])
        if truncated(a[-1], b[0]) == quotient:
            return _minus(a, range(quotient * b[0], quotient * b[0] + 1))
    most = max(abs(b[0]), abs(b[-1])) - 1
    low, high = (-most if a[0] < 0 else 0), (most if a[-1] > 0 else 0)
    step = gcd(step_of(a), b[0]) if len(b) == 1 else 1
    low += (a[0] - low) % step
    return _spaced(low, high - (high - a[0]) % step, step)


def _compared(less: bool, equal: bool, more: bool) -> Callable[[range, range], range]:
    """Return a comparison, by what it is for less, equal and more."""

    def compared(a: range, b: range) -> range:
        step = gcd(step_of(a), step_of(b))
        meets = (a[0] - b[0]) % step == 0 if step else a[0] == b[0]
        meets = meets and a[0] <= b[-1] and b[0] <= a[-1]
        if len(a) == 1 or len(b) == 1:
            meets = a[0] in b if len(a) == 1 else b[0] in a
        truths = {
            *([less] if a[0] < b[-1] else []),
            *([equal] if meets else []),
            *([more] if a[-1] > b[0] else []),
        }
        return range(int(min(truths)), max(truths) + 1)

    return compared


_ARITHMETIC = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _divided,
    "%": _remainder,
}
_COMPARED = {
    "<": _compared(True, False, False),
    "<=": _compared(True, True, False),
    "==": _compared(False, True, False),
    "!=": _compared(True, False, True),
    ">=": _compared(False, True, True),
    ">": _compared(False, False, True),
}

"""Rules of a program on sets of values: one set for each variable, whatever the others.

A condition splits sets: those of the states for which it holds, for which it does not,
and for which it has no value (a division by zero, an index out of range).  Each of the
three contains all such states, and may contain others, for what the variables have to
do with each other is lost.
"""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ltlpipe.runtime.arrays import distinct
from ltlpipe.systems.programs.eca.liveness import (
    REGION,
    Assigned,
    Branch,
    needed,
)
from ltlpipe.systems.programs.eca.ranges import Known, interval
from ltlpipe.systems.programs.eca.rules import reads
from ltlpipe.systems.programs.program import (
    Binary,
    Lookup,
    Number,
    Read,
    Unary,
    may_fail,
    parts,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.systems.programs.eca.rules import Rules, Spans
    from ltlpipe.systems.programs.program import Expression

Sets: TypeAlias = "list[np.ndarray]"
"""int64, ascending, by variable; none is empty."""

_MOST_CASES = 1 << 18  # combinations of values that are looked at at once
_MOST_PATHS = 64  # through a body, before they are joined

_NEVER = np.zeros((), dtype=np.bool_)

_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class DoubtError(Exception):
    """Sets of values tell too little, or are too large."""


class Split(NamedTuple):
    """States for which a condition holds, does not hold, and has no value."""

    yes: Sets | None
    no: Sets | None
    failed: Sets | None


class Step(NamedTuple):
    """An assignment; if only the region of the target is needed, its cuts."""

    variable: int
    value: Expression
    cuts: np.ndarray | None


class Choice(NamedTuple):
    """An ``if``."""

    condition: Expression
    then: tuple[Step | Choice, ...]
    otherwise: tuple[Step | Choice, ...]


def needed_part(
    body: Sequence[Assigned | Branch], needs: list[int], rules: Rules
) -> tuple[Step | Choice, ...]:
    """Return what of a body matters; `needs` behind it become those before it."""
    found: list[Step | Choice] = []
    for step in needed(body, needs):
        if isinstance(step, Assigned):
            variable, value, _ = step.statement
            cuts = None
            if needs[variable] == REGION and not step.fails:
                cuts = np.array(rules.cuts[variable], dtype=np.int64)
            found.append(Step(variable, value, cuts))
        else:
            then = needed_part(step.then, needs.copy(), rules)
            otherwise = needed_part(step.otherwise, needs.copy(), rules)
            found.append(Choice(step.statement.condition, then, otherwise))
    return tuple(reversed(found))


def either(a: Sets | None, b: Sets | None) -> Sets | None:
    """Return sets that contain the states of both."""
    if a is None or b is None or a is b:
        return b if a is None else a
    return [x if x is y else np.union1d(x, y) for x, y in zip(a, b, strict=True)]


def by_literal(
    variable: int, spans: Spans, sets: Sets
) -> tuple[Sets | None, Sets | None]:
    """Return the states whose value of a variable is in some spans, and the others."""
    values = sets[variable]
    inside = np.zeros(len(values), dtype=np.bool_)
    for low, high in spans:
        inside |= (low <= values) & (values <= high)
    return _where(inside, [variable], sets), _where(~inside, [variable], sets)


def split(condition: Expression, sets: Sets) -> Split:
    """Split states by a condition."""
    if isinstance(condition, Unary) and condition.op == "not":
        yes, no, failed = split(condition.operand, sets)
        return Split(no, yes, failed)
    if isinstance(condition, Binary) and condition.op in ("&&", "||"):
        is_or = condition.op == "||"
        yes, no, failed = split(condition.left, sets)
        rest = no if is_or else yes
        if rest is None:
            return Split(yes, no, failed)
        right = split(condition.right, rest)
        if is_or:
            return Split(either(yes, right.yes), right.no, either(failed, right.failed))
        return Split(right.yes, either(no, right.no), either(failed, right.failed))
    read = sorted(reads(condition))
    found = _evaluated(condition, read, sets)
    if found is not None:
        value, bad = found
        masks = ~bad & (value != 0), ~bad & (value == 0), bad
        return Split(*(_where(mask, read, sets) for mask in masks))
    if may_fail(condition):
        raise DoubtError
    return Split(sets, sets, None)


def run(body: Iterable[Step | Choice], sets: Sets) -> tuple[list[Sets], bool]:
    """Return the states behind a body, path by path, and whether some have none."""
    paths, ends = [sets], False
    for step in body:
        after: list[Sets] = []
        for path in paths:
            found, ended = _run_one(step, path)
            ends |= ended
            after += found
        while len(after) > _MOST_PATHS:
            joined = either(after.pop(), after.pop())
            assert joined is not None
            after.append(joined)
        paths = after
    return paths, ends


def _run_one(step: Step | Choice, sets: Sets) -> tuple[list[Sets], bool]:
    if isinstance(step, Choice):
        yes, no, failed = split(step.condition, sets)
        paths, ends = [], failed is not None
        for own, body in ((yes, step.then), (no, step.otherwise)):
            if own is not None:
                found, ended = run(body, own)
                paths += found
                ends |= ended
        return paths, ends
    image, rest, ends = _image(step, sets)
    if image is None:
        return [], ends
    rest = rest.copy()
    rest[step.variable] = image
    return [rest], ends


def _image(step: Step, sets: Sets) -> tuple[np.ndarray | None, Sets, bool]:
    """Return the values of an assignment, the states with one, and whether all have."""
    if step.cuts is not None:
        hull = {v: _hull(sets[v]) for v in reads(step.value)}
        low, high = interval(step.value, hull)
        bounds = np.searchsorted(step.cuts, (low, high), side="right")
        if bounds[0] == bounds[1]:
            return np.array([low], dtype=np.int64), sets, False
    read = sorted(reads(step.value))
    found = _evaluated(step.value, read, sets)
    if found is None:
        return _independent(step.value, sets), sets, False
    value, bad = found
    if not bad.any():
        return distinct(value), sets, False
    rest = _where(~bad, read, sets)
    if rest is None:
        return None, sets, True
    value, bad = np.broadcast_arrays(value, bad)
    return distinct(value[~bad]), rest, True


def _hull(values: np.ndarray) -> Known:
    return Known(int(values[0]), int(values[-1]), 0)


def _independent(expression: Expression, sets: Sets) -> np.ndarray:
    """Return the values of an expression, part by part, whatever the other parts."""
    found = None
    if not may_fail(expression):
        own = sorted(reads(expression))
        found = _evaluated(expression, own, sets)
        if found is not None:
            return distinct(found[0])
        if isinstance(expression, Binary):
            sides = [_independent(side, sets) for side in parts(expression)]
            joint = Binary(expression.op, Read(0), Read(1))
            found = _evaluated(joint, [0, 1], sides)
    if found is None:
        raise DoubtError
    return distinct(found[0])


def _where(mask: np.ndarray, read: Sequence[int], sets: Sets) -> Sets | None:
    """Return the states for which a mask over the variables that are read is set."""
    if not mask.any():
        return None
    if mask.all():
        return sets
    mask = np.broadcast_to(mask, [len(sets[v]) for v in read])
    found = sets.copy()
    for axis, variable in enumerate(read):
        others = tuple(k for k in range(len(read)) if k != axis)
        found[variable] = sets[variable][mask.any(axis=others)]
    return found


# --- expressions ------------------------------------------------------------


def _evaluated(
    expression: Expression, read: Sequence[int], sets: Sets
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the values for all combinations, and where there is none.

    Both have an axis for each variable that is read, or can be broadcast.  None if
    there are too many combinations.
    """
    if prod(len(sets[v]) for v in read) > _MOST_CASES:
        return None
    mesh = np.ix_(*(sets[v] for v in read))
    value, bad = _value(expression, dict(zip(read, mesh, strict=True)))
    return np.asarray(value, dtype=np.int64), bad


def _value(
    expression: Expression, values: Mapping[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(expression, Number):
        return np.array(expression.value, dtype=np.int64), _NEVER
    if isinstance(expression, Read):
        return values[expression.variable], _NEVER
    if isinstance(expression, Lookup):
        index, bad = _value(expression.index, values)
        outside = (index < 0) | (index >= expression.size)
        array = np.array(expression.values, dtype=np.int64)
        return array[np.where(outside, 0, index)], bad | outside
    if isinstance(expression, Unary):
        operand, bad = _value(expression.operand, values)
        if expression.op == "not":
            return (operand == 0).astype(np.int64), bad
        return wrapped(-operand), bad  # type: ignore[arg-type, return-value]
    assert isinstance(expression, Binary)
    a, bad = _value(expression.left, values)
    b, other = _value(expression.right, values)
    if expression.op in ("&&", "||"):
        decides = (a != 0) == (expression.op == "||")
        whole = np.where(decides, a, b) != 0
        return whole.astype(np.int64), bad | (other & ~decides)
    bad = bad | other
    if expression.op in ("/", "%"):
        bad = bad | (b == 0)
        b = np.where(b == 0, 1, b)
        left = np.fmod(a, b)
        result = left if expression.op == "%" else (a - left) // b
    else:
        result = _OPERATORS[expression.op](a, b)
    return wrapped(np.asarray(result, dtype=np.int64)), bad  # type: ignore[arg-type, return-value]

"""Operators with bounds: ``F[2:5] a``, ``a U[1:3] b``, ``a U<=3 b``, ``X[2] a``.

``f U[i:j] g`` holds iff g does after k steps, i <= k <= j, and f before.  It becomes
nested X, one for each step, as Spot makes of its own ``F[i:j]``, ``G[i:j]`` (in which
the bounds may stand in either order) and ``X[n]``.  ``R`` is the dual; ``F<=k`` is
``F[0:k]``, and ``F[i,j]`` is ``F[i:j]``.

Over finite words X is the weak one, which holds at the end, and ``X[!]`` the strong
one.  Spot's operators take the weak one unless there is a ``!`` in the brackets; ``U``
asks for steps that exist, and ``F<=k`` does, so they take the strong one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import FormulaError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_STEPS = 1_000
"""What the bounds of a formula may come to together."""

# What begins an operand, and is no operator that stands behind one.
_OPERAND = (
    r"(?=\s*(\(|\[\]|<>|!(?!=)|~|\"|'|\\|\w|\.+\w))"
    r"(?!\s*(and|or|xor|imply|WU|WR|[UWRVM])(?!\w))"
)
_BOUNDS = r"\[\s*(\d+\s*((:|\.\.)\s*(\d+|\$)?\s*)?!?|!)\s*\]"
_AT_MOST = r"<=\s*\d+(?![\w.])"

_LISTED = r"\[\s*\d+\s*,\s*\d+\s*\]"  # of U, too, but logics disagree on those

OF_ONE = rf"([XFG]\s*{_BOUNDS}|[FG]\s*({_AT_MOST}|{_LISTED})){_OPERAND}"
OF_COMPARISON = rf"{OF_ONE}(?!\s*\.)"  # .x is no name there, and X[2].x a variable
OF_TWO = rf"[URV]\s*({_BOUNDS}|{_AT_MOST})"
"""Operators with bounds, of one operand and of two."""

BOUNDED = re.compile(rf"(?<![\w.\\])([XFG]*{OF_ONE}|{OF_TWO})")

_BEHIND = re.compile(r"[\w)\]\"'](?<!\b[XFG])\s*$")

_PARTS = re.compile(r"([A-Z])\s*(?:\[\s*(.*?)\s*(!?)\s*\]|<=\s*(\d+))", re.DOTALL)


class Bounds(NamedTuple):
    """What stands at an operator."""

    letter: str
    least: int
    most: int | None  # None is no limit
    strong: bool  # whether the steps have to exist


def bounds_of(operator: str) -> Bounds | None:
    """Return the bounds of an operator, such as ``U[1:3]``; None if it has none.

    Raises
    ------
    FormulaError
        X has two, F or G has one, or another one has none.
    """
    found = _PARTS.fullmatch(operator)
    if found is None:
        return None
    letter, inside, mark, at_most = found.groups()
    letter = "R" if letter == "V" else letter
    if at_most is not None:
        return Bounds(letter, 0, _number(at_most), letter != "G")
    ends = re.split(r"\s*(?::|\.\.|,)\s*", inside)
    is_next, has_one = letter == "X", len(ends) == 1
    if (letter in "XFG" and has_one != is_next) or not (ends[0] or is_next):
        expected = "a single bound" if is_next else "two bounds"
        message = f"{letter}[{inside}{mark}], expected {expected}"
        raise FormulaError(message, formula="")
    least = _number(ends[0]) if ends[0] else 1  # X[!]
    most = least if len(ends) == 1 else None
    if len(ends) == 2 and ends[1].isdecimal():
        most = _number(ends[1])
    return Bounds(letter, least, most, bool(mark) or letter in "UR")


def steps_in(text: str) -> int:
    """Return what the bounds of a formula without quotes come to together."""
    numbers = (
        re.findall(r"\d+", found[0])
        for found in BOUNDED.finditer(text)
        # Without an operand before it the letter of `U<=2000` is a name.
        if found[0][0] not in "URV" or _BEHIND.search(text[: found.start()][-99:])
    )
    return sum(max(map(_number, some), default=0) for some in numbers)


def _number(digits: str) -> int:
    """Return a number; one that is too large anyway need not be exact."""
    return int(digits.lstrip("0")[:18] or 0)


def expanded(bounds: Bounds, operands: list[Any], *, finite: bool) -> Any:
    """Return an operator with bounds as Spot's formula with X."""
    import spot

    letter, least, most, strong = bounds
    if letter == "R":
        negated = [spot.formula_Not(operand) for operand in operands]
        until = bounds._replace(letter="U")
        return spot.formula_Not(expanded(until, negated, finite=finite))
    if max(least, most or 0) > MAX_STEPS:
        raise FormulaError(f"a bound of more than {MAX_STEPS:,} steps", formula="")
    if letter == "X":
        most = least
    if most is not None and most < least:
        if letter == "U":
            return spot.formula_ff()  # there is no such k
        least, most = most, least  # as Spot has it
    following = strong_next if finite and strong else spot.formula_X
    kept = operands[0] if letter == "U" else spot.formula_tt()
    wanted = operands[-1]
    join = _joined("And" if letter == "G" else "Or")
    found = wanted
    if most is None:
        unbounded = getattr(spot, f"formula_{letter}")
        found = unbounded(*operands)
    for _ in range((most or least) - least):
        later = spot.formula_And([kept, following(found)])
        found = join([wanted, following(found) if letter == "G" else later])
    for _ in range(least):
        found = spot.formula_And([kept, following(found)])
    return found


def strong_next(formula: Any) -> Any:
    """Return that a formula holds at a next step, which exists; Spot makes no X[!]."""
    import spot

    return spot.formula_Not(spot.formula_X(spot.formula_Not(formula)))


def _joined(operator: str) -> Callable[[list[Any]], Any]:
    import spot

    make: Callable[[list[Any]], Any] = getattr(spot, f"formula_{operator}")
    return make

"""Propositions about markings as trees of linear inequalities.

A constraint is plain data, so that it travels to worker processes:

- ``["row", [[place, weight], ...], constant]``: the weighted sum of tokens and the
  constant together are at most 0; places ascend, weights are not 0;
- ``["and", parts]`` and ``["or", parts]``, with two parts or more;
- ``["and", []]``, which is true, and ``["or", []]``, which is false.

What is no linear inequality (a product of places, whether a step takes an action), or
has numbers that no solver takes, is taken to be true, whatever it is asked for:
constraints are about more markings than the propositions, so what refutes them refutes
these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Operation,
    added,
    linear,
    scaled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression, Sum

    Constraint = list[Any]

SMALL = 1 << 20
"""Sums of numbers of propositions below this can be multiplied by those of markings."""

LARGEST = 1 << 60
"""Integers beyond are not computed with."""

TOLERANCE = 1e-6
"""By which floating-point solutions may be beside a constraint."""

TRUE: Constraint = ["and", []]
FALSE: Constraint = ["or", []]

_TRUTHS = frozenset({"<", "<=", "==", "&&", "||", "!"})


def row(weights: Mapping[int, int], constant: int) -> Constraint:
    """Return the constraint that a weighted sum and a constant are at most 0."""
    told = [[place, weight] for place, weight in sorted(weights.items()) if weight]
    if not told:
        return TRUE if constant <= 0 else FALSE
    return ["row", told, constant]


def both(parts: Iterable[Constraint]) -> Constraint:
    """Return the conjunction of constraints."""
    return _joined("and", parts)


def either(parts: Iterable[Constraint]) -> Constraint:
    """Return the disjunction of constraints."""
    return _joined("or", parts)


def _joined(operator: str, parts: Iterable[Constraint]) -> Constraint:
    neutral, absorbing = (TRUE, FALSE) if operator == "and" else (FALSE, TRUE)
    kept: dict[Any, Constraint] = {}
    for part in parts:
        if part == absorbing:
            return absorbing
        for own in part[1] if part[0] == operator else [part]:
            kept.setdefault(key_of(own), own)
    if not kept:
        return neutral
    found = [*kept.values()]
    return found[0] if len(found) == 1 else [operator, found]


def key_of(constraint: Any) -> Any:
    """Return a constraint as a key."""
    if isinstance(constraint, list):
        return tuple(map(key_of, constraint))
    return constraint


def constraint_of(
    expression: Expression, *, holds: bool, dead: Constraint = TRUE
) -> Constraint:
    """Return the constraint of a proposition, or of its negation.

    Parameters
    ----------
    expression : Expression
        Bound to the places of a net.
    holds : bool
        Whether it holds, or not.
    dead : list
        The constraint that no transition is enabled.
    """
    if isinstance(expression, Deadlock):
        return dead if holds else TRUE
    operator = expression.operator if isinstance(expression, Operation) else ""
    operands = expression.operands if isinstance(expression, Operation) else ()

    def of(part: Expression, *, holds: bool) -> Constraint:
        return constraint_of(part, holds=holds, dead=dead)

    if operator == "!":
        return of(operands[0], holds=not holds)
    if operator in ("&&", "||"):
        join = both if (operator == "&&") == holds else either
        return join(of(part, holds=holds) for part in operands)
    if operator == "==" and any(map(_is_truth, operands)):
        if not all(map(_is_truth, operands)):
            return TRUE
        left, right = operands
        return either(
            both([of(left, holds=value), of(right, holds=value == holds)])
            for value in (True, False)
        )
    if operator in ("<", "<=", "=="):
        difference = _difference(*operands)
        return TRUE if difference is None else _compared(operator, difference, holds)
    value = linear(expression)
    return TRUE if value is None else _compared("==", value, not holds)


def is_exact(expression: Expression) -> bool:
    """Whether the constraint of a bound proposition says the same as it does."""
    if not isinstance(expression, Operation) or expression.operator not in _TRUTHS:
        return _is_small(linear(expression))
    operands, operator = expression.operands, expression.operator
    truths = [*map(_is_truth, operands)]
    if operator in ("<", "<=", "==") and not any(truths):
        return _is_small(_difference(*operands))
    if operator in ("<", "<=", "==") and not (operator == "==" and all(truths)):
        return False
    return all(map(is_exact, operands))


def _is_small(part: Sum | None) -> bool:
    return part is not None and sum(map(abs, part[0].values())) + abs(part[1]) < SMALL


def _is_truth(expression: Expression) -> bool:
    if isinstance(expression, Deadlock):
        return True
    return isinstance(expression, Operation) and expression.operator in _TRUTHS


def _compared(operator: str, difference: Sum, holds: bool) -> Constraint:
    """Return the constraint that a difference is below 0, at most 0, or 0; or not."""
    weights, constant = difference
    if max(map(abs, (constant, *weights.values()))) > LARGEST:
        return TRUE
    opposite = {place: -weight for place, weight in weights.items()}
    if operator == "==":
        sides = [
            row(weights, constant + (not holds)),
            row(opposite, -constant + (not holds)),
        ]
        return both(sides) if holds else either(sides)
    if not holds:  # the difference is at least 0, or 1
        return row(opposite, -constant + (operator == "<="))
    return row(weights, constant + (operator == "<"))


def _difference(left: Expression, right: Expression) -> Sum | None:
    parts = linear(left), linear(right)
    if parts[0] is None or parts[1] is None:
        return None
    return added([parts[0], scaled(parts[1], -1)])


def shifted(constraint: Constraint, effect: Mapping[int, int]) -> Constraint:
    """Return what has to hold before a step with an effect, for a constraint after."""
    kind = constraint[0]
    if kind == "row":
        weights, constant = constraint[1:]
        gain = sum(weight * effect.get(place, 0) for place, weight in weights)
        return ["row", weights, constant + gain]
    join = both if kind == "and" else either
    return join(shifted(part, effect) for part in constraint[1])


def rows_in(constraint: Constraint) -> Iterator[Constraint]:
    """Yield the inequalities of a constraint, some of them repeatedly."""
    if constraint[0] == "row":
        yield constraint
    else:
        for part in constraint[1]:
            yield from rows_in(part)


def sort_parts(
    constraint: Constraint, rows: list[Constraint], cases: list[Constraint]
) -> None:
    """Enter the rows and the disjunctions of a conjunction."""
    if constraint[0] == "row":
        rows.append(constraint)
    elif constraint[0] == "or":
        cases.append(constraint)
    else:
        for part in constraint[1]:
            sort_parts(part, rows, cases)


def parts_of(constraint: Constraint) -> list[Constraint]:
    """Return the rows and disjunctions of a conjunction."""
    rows: list[Constraint] = []
    cases: list[Constraint] = []
    sort_parts(constraint, rows, cases)
    return [*rows, *cases]


def is_satisfied(constraint: Constraint, marking: np.ndarray | Sequence[int]) -> bool:
    """Whether a marking, of floating-point numbers or of exact ones, satisfies it."""
    if constraint[0] == "row":
        total = sum(weight * marking[place] for place, weight in constraint[1])
        return bool(total + constraint[2] <= TOLERANCE)
    quantifier = all if constraint[0] == "and" else any
    return quantifier(is_satisfied(part, marking) for part in constraint[1])

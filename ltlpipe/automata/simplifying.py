"""Acceptance conditions of tables in their simplest form.

Only what a look at the marks of all transitions tells is used; whatever needs the
SCCs is left to Spot, which simplifies before tables are made, and to the searches.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import (
    FALSE,
    TRUE,
    Condition,
    Op,
    Shape,
    has_shape,
    marks_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Cell = list[tuple[int, int]]
"""The transitions from one state on one letter: targets and marks."""


class Accepting(NamedTuple):
    """Transitions with the condition that their marks are for.

    Parameters
    ----------
    cells : list of list
        The transitions by state and letter.
    n_marks : int
        Marks 0 to ``n_marks - 1`` all occur in `condition`.
    condition : Condition, optional
        None is generalised Büchi, each mark infinitely often.
    """

    cells: list[Cell]
    n_marks: int
    condition: Condition | None


def simplified(cells: Sequence[Cell], condition: Condition) -> Accepting:
    """Decide what all transitions agree on, and number the other marks from 0.

    If the condition cannot hold, no transition is left.
    """
    left = _decided(condition, [marks for cell in cells for _, marks in cell])
    if left == FALSE:
        return Accepting([[] for _ in cells], 0, None)
    used = marks_in(left.marks)
    number = {mark: i for i, mark in enumerate(used)}
    left = left.renumbered(number.__getitem__)
    moved = [[(dst, _moved(marks, used)) for dst, marks in cell] for cell in cells]
    plain = has_shape(left, Shape.GENERALISED_BUCHI)
    return Accepting(moved, len(used), None if plain else left)


def _decided(condition: Condition, carried: Iterable[int]) -> Condition:
    """Replace marks that no transition has, or that all have, by constants."""
    sets = list(carried)
    somewhere = reduce(or_, sets, 0)
    everywhere = reduce(and_, sets) if sets else 0

    def leaf(op: Op, mark: int) -> Condition:
        if somewhere >> mark & 1 and not everywhere >> mark & 1:
            return Condition(op, mark)
        seen = bool(everywhere >> mark & 1)
        return TRUE if seen == (op == Op.INF) else FALSE

    return condition.mapped(leaf)


def _moved(marks: int, used: Sequence[int]) -> int:
    """Return the bits of the used marks, put next to each other."""
    return sum(1 << i for i, mark in enumerate(used) if marks >> mark & 1)

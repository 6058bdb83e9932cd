"""What a permutation of colours makes of cells, transitions and propositions.

A *cell* is a place of a symmetric net with a tuple of colours.  Cells are numbered
place by place, and in each place as numbers of mixed radix.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    COMMUTATIVE,
    Deadlock,
    Number,
    Operation,
    Taken,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.pnml.coloured.net import Colour, ColouredNet
    from ltlpipe.systems.pnml.coloured.unfolded import UnfoldedNet


class Cells:
    """The numbers of the cells of a symmetric net."""

    def __init__(self, net: ColouredNet) -> None:
        self.net = net
        self.sizes = [net.sizes(place) for place in range(len(net.places))]
        self.strides = [
            [prod(own[k + 1 :]) for k in range(len(own))] for own in self.sizes
        ]
        counts = [prod(own) for own in self.sizes]
        self.first = [0, *accumulate(counts)]

    def __len__(self) -> int:
        return self.first[-1]

    def number(self, place: int, colours: Colour) -> int:
        """Return the number of a cell."""
        pairs = zip(self.strides[place], colours, strict=True)
        return self.first[place] + sum(stride * colour for stride, colour in pairs)

    def of_places(self, net: UnfoldedNet) -> list[int]:
        """Return the cell of each place of the unfolded net."""
        return [
            self.number(place, net.colours[k])
            for place, own in enumerate(net.place_ranges)
            for k in own
        ]


class Forms:
    """Propositions in a form in which equal ones are the same number."""

    def __init__(self, net: UnfoldedNet, propositions: Sequence[Expression]) -> None:
        self._coloured = net.coloured
        self._propositions = propositions
        self._known: dict[object, int] = {}
        self._cells = [
            (place, net.colours[k])
            for place, own in enumerate(net.place_ranges)
            for k in own
        ]
        self._moves = [
            (number, net.bindings[k])
            for number, own in enumerate(net.transition_ranges)
            for k in own
        ]
        sorts = [variable.sort for variable in net.coloured.variables]
        self._domains = [
            tuple(sorts[v] for v in t.variables) for t in net.coloured.transitions
        ]
        self.size = sum(map(_size, propositions))
        self._numbers: dict[int, int] = {}
        for number, form in enumerate(self._forms({})):
            self._numbers.setdefault(form, number)

    def images(self, permutation: Mapping[tuple[int, int], int]) -> list[int]:
        """Return which proposition each one becomes, -1 if none of them."""
        return [self._numbers.get(form, -1) for form in self._forms(permutation)]

    def _forms(self, moved: Mapping[tuple[int, int], int]) -> list[int]:
        return [self._form(p, moved) for p in self._propositions]

    def _intern(self, key: object) -> int:
        return self._known.setdefault(key, len(self._known))

    def _form(self, part: Expression, moved: Mapping[tuple[int, int], int]) -> int:
        if isinstance(part, Number):
            return self._intern(("number", part.value))
        if isinstance(part, Variable):
            place, colours = self._cells[part.number]
            domain = self._coloured.places[place].domain
            return self._intern((place, _moved(domain, colours, moved)))
        if isinstance(part, Deadlock):
            return self._intern("deadlock")
        if isinstance(part, Taken):
            own = (self._moves[action] for action in part.actions)
            images = frozenset(
                (number, _moved(self._domains[number], colours, moved))
                for number, colours in own
            )
            return self._intern(("taken", images))
        if isinstance(part, Operation):
            operands = [self._form(operand, moved) for operand in part.operands]
            if part.operator in COMMUTATIVE:
                operands.sort()
            return self._intern((part.operator, *operands))
        raise TypeError(f"{part} is not of a net")


def _moved(
    domain: Sequence[int], colours: Colour, moved: Mapping[tuple[int, int], int]
) -> Colour:
    pairs = zip(domain, colours, strict=True)
    return tuple([moved.get(pair, pair[1]) for pair in pairs])


def _size(part: Expression) -> int:
    """Return how many parts an expression has, roughly."""
    if isinstance(part, Operation):
        return 1 + sum(map(_size, part.operands))
    return len(part.actions) if isinstance(part, Taken) else 1

"""What a permutation of colours makes of propositions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    COMMUTATIVE,
    Deadlock,
    Enabled,
    Number,
    Operation,
    Taken,
    Variable,
    ranges_in,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.coloured.net import Colour
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


class Forms:
    """Propositions in a form in which equal ones are the same number."""

    def __init__(self, net: SymmetricNet, propositions: Sequence[Expression]) -> None:
        self._cells, self._moves = net.cells, net.moves
        self._propositions = propositions
        self._known: dict[object, int] = {}
        self._whole: dict[int, int | None] = {}  # places that sums are of, by identity
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
            place, colours = self._cells.split(part.number)
            domain = self._cells.domains[place]
            return self._intern((place, _moved(domain, colours, moved)))
        if isinstance(part, Deadlock):
            return self._intern("deadlock")
        if isinstance(part, Taken):
            return self._intern(("taken", self._taken(part.actions, moved)))
        if isinstance(part, Enabled):  # under some binding, so under all images
            return self._intern(("enabled", part.transition))
        if isinstance(part, Operation):
            whole = self._place_of(part)
            if whole is not None:
                return self._intern(("tokens", whole))
            operands = [self._form(operand, moved) for operand in part.operands]
            if part.operator in COMMUTATIVE:
                operands.sort()
            return self._intern((part.operator, *operands))
        raise TypeError(f"{part} is not of a net")

    def _taken(
        self, actions: Collection[int], moved: Mapping[tuple[int, int], int]
    ) -> object:
        """Return the images of some moves; all moves of a transition are these."""
        found: set[object] = set()
        for part in ranges_in(actions):
            if len(part) > 1:
                found.add(part)
                continue
            number, colours = self._moves.split(part.start)
            found.add((number, _moved(self._moves.domains[number], colours, moved)))
        return frozenset(found)

    def _place_of(self, part: Operation) -> int | None:
        """Return the place of which an expression is the sum of all cells."""
        if id(part) not in self._whole:
            self._whole[id(part)] = self._found_place(part)
        return self._whole[id(part)]

    def _found_place(self, part: Operation) -> int | None:
        first = part.operands[0]
        if part.operator != "+" or not isinstance(first, Variable):
            return None
        place, _ = self._cells.split(first.number)
        every = tuple(map(Variable, self._cells.range_of(place)))
        return place if part.operands == every else None


def _moved(
    domain: Sequence[int], colours: Colour, moved: Mapping[tuple[int, int], int]
) -> Colour:
    pairs = zip(domain, colours, strict=True)
    return tuple([moved.get(pair, pair[1]) for pair in pairs])


def _size(part: Expression) -> int:
    """Return how many parts an expression has, roughly."""
    if isinstance(part, Operation):
        return 1 + sum(map(_size, part.operands))
    if isinstance(part, Taken):
        return len(ranges_in(part.actions))
    return 1

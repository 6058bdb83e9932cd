"""What propositions about a symmetric net name: with colours, and without.

``p`` is the number of all tokens in p, and t can fire (``fireable(t)``) or is taken
(``action=="t"``) if it is under some binding; so is one of several that are called t.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Enabled,
    Expression,
    Number,
    Operation,
    Taken,
    Variable,
    any_taken,
)
from ltlpipe.systems.nets.coloured.names import OnDemand
from ltlpipe.systems.nets.net import any_of, at_least
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.systems.nets.coloured.firing import Firing
    from ltlpipe.systems.nets.coloured.names import Names

_OFFERED = 20_000
"""Names that a message may offer."""


def vocabulary_of(firing: Firing, places: Names, moves: Names) -> Vocabulary:
    """Return the vocabulary of a net; what a name means is made on demand.

    Parameters
    ----------
    firing : Firing
        The net.
    places, moves : Names
        What its cells and moves are called.
    """
    meanings = _Meanings(firing, places, moves)
    return Vocabulary(
        OnDemand(meanings.offered_cells, places.number),
        facts=OnDemand(places.known.keys, meanings.tokens),
        fireable=OnDemand(meanings.offered_moves, meanings.fireable),
        actions=OnDemand(meanings.offered_moves, meanings.moves),
        variables_called=places.called,
        actions_called=moves.called,
    )


class _Meanings:
    """What the names of a net mean."""

    def __init__(self, firing: Firing, places: Names, moves: Names) -> None:
        self._firing, self._places, self._moves = firing, places, moves

    def offered_cells(self) -> Collection[str]:
        """Return the names of cells that a message may offer."""
        return [*self._places] if len(self._firing.cells) <= _OFFERED else []

    def offered_moves(self) -> Collection[str]:
        """Return the names of transitions, and of moves, that a message may offer."""
        names = self._moves
        if len(names) > _OFFERED:
            return names.known.keys()
        may_happen = [k for k in range(len(names)) if self._firing.guard_holds(k)]
        return [*(names[k] for k in may_happen), *names.known]

    def tokens(self, text: str) -> Expression | None:
        """Return the number of all tokens in a place."""
        places = self._places.known.get(text, ())
        if len(places) != 1:
            return None
        own = tuple(map(Variable, self._firing.cells.range_of(places[0])))
        return own[0] if len(own) == 1 else Operation("+", own)

    def moves(self, text: str) -> Collection[int] | None:
        """Return the moves that a name means."""
        numbers = self._moves.known.get(text)
        if numbers is None:
            return frozenset(self._with_colours(text)) or None
        ranges = map(self._firing.moves.range_of, numbers)
        return any_taken([Taken(own) for own in ranges]).actions

    def _with_colours(self, text: str) -> list[int]:
        """Return the moves that a name with colours means, if their guards hold."""
        numbers = (self._firing.moves.number(*node) for node in self._moves.nodes(text))
        return [move for move in numbers if self._firing.guard_holds(move)]

    def fireable(self, text: str) -> Expression | None:
        """Return when a transition, or a move, that is called so is enabled."""
        numbers = self._moves.known.get(text)
        if numbers is not None:
            return any_of(map(self._can_fire, numbers))
        own = self._with_colours(text)
        return any_of(map(self._condition, own)) if own else None

    def _can_fire(self, number: int) -> Expression:
        """Return the proposition that a transition is enabled under some binding."""
        if not self._firing.moves.variables[number]:
            (move,) = self._firing.moves.range_of(number)
            if self._firing.guard_holds(move):
                return self._condition(move)
        return Enabled(number, partial(self._firing.can_fire, number))

    def _condition(self, move: int) -> Expression:
        """Return the proposition that a move, whose guard holds, is enabled."""
        number, colours = self._firing.moves.split(move)
        side = self._firing.coloured.transitions[number].pre
        pre, wrong = self._firing.counted(
            side, self._firing.moves.binding(number, colours)
        )
        return Number(0) if wrong else at_least(pre)

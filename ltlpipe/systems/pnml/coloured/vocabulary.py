"""What propositions about a symmetric net name: with colours, and without.

``p`` is the number of all tokens in p, and t can fire (``fireable(t)``) or is taken
(``action=="t"``) if it is under some binding.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Enabled,
    Expression,
    Number,
    Operation,
    Variable,
)
from ltlpipe.systems.pnml.coloured.names import OnDemand
from ltlpipe.systems.pnml.net import at_least
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.systems.pnml.coloured.firing import Firing
    from ltlpipe.systems.pnml.coloured.names import Names

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
        actions=OnDemand(meanings.offered_moves, meanings.move),
        action_sets=OnDemand(moves.known.keys, meanings.moves),
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
        place = self._places.known.get(text)
        if place is None:
            return None
        own = tuple(map(Variable, self._firing.cells.range_of(place)))
        return own[0] if len(own) == 1 else Operation("+", own)

    def move(self, text: str) -> int | None:
        """Return the move that a name means, if its guard holds."""
        move = self._moves.number(text)
        return move if move is not None and self._firing.guard_holds(move) else None

    def moves(self, text: str) -> range | None:
        """Return the moves of a transition."""
        number = self._moves.known.get(text)
        return None if number is None else self._firing.moves.range_of(number)

    def fireable(self, text: str) -> Expression | None:
        """Return when a transition, or a move, is enabled."""
        move = self.move(text)
        if move is not None:
            return self._condition(move)
        number = self._moves.known.get(text)
        if number is None:
            return None
        return Enabled(number, partial(self._firing.can_fire, number))

    def _condition(self, move: int) -> Expression:
        """Return the proposition that a move, whose guard holds, is enabled."""
        number, colours = self._firing.moves.split(move)
        side = self._firing.coloured.transitions[number].pre
        pre, wrong = self._firing.counted(
            side, self._firing.moves.binding(number, colours)
        )
        return Number(0) if wrong else at_least(pre)

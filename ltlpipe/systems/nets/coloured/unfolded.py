"""The place/transition net that a symmetric net unfolds into, in the names of colours.

Colours that a place never has, and bindings under which a transition is never taken,
have no place and no transition here; their names mean 0 and never.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from ltlpipe.systems.nets.coloured.vocabulary import Coloured
from ltlpipe.systems.nets.net import PetriNet, any_of, enabling_condition

if TYPE_CHECKING:
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.coloured.cells import Tuples
    from ltlpipe.systems.nets.coloured.net import ColouredNet


class UnfoldedNet(Coloured, PetriNet):
    """A symmetric net, unfolded; `ltlpipe.systems.nets.coloured.unfolding` makes it.

    Attributes
    ----------
    coloured : ColouredNet
        What it has been made of.
    kept_cells, kept_moves : list of int
        The numbers of the cells that have places, in order, and of the moves that are
        transitions; those of one transition of the coloured net follow each other.
    """

    coloured: ColouredNet
    kept_cells: list[int]
    kept_moves: list[int]

    @property
    def about(self) -> tuple[str, ...]:
        """How large the net is, before and after unfolding."""
        net = self.coloured
        line = f"a symmetric net of {len(net.places):,} places and "
        line += f"{len(net.transitions):,} transitions, unfolded into "
        line += f"{len(self.places):,} and {len(self.transitions):,}"
        return (line,)

    @cached_property
    def _variables(self) -> dict[int, int]:
        return {cell: k for k, cell in enumerate(self.kept_cells)}

    @cached_property
    def _actions_of_moves(self) -> dict[int, int]:
        return {move: k for k, move in enumerate(self.kept_moves)}

    def variable_of(self, cell: int) -> int | None:
        """Return the place that a cell is, if it has one."""
        return self._variables.get(cell)

    def variables_of(self, place: int) -> range:
        """Return the places for a place of the coloured net."""
        return _among(self.kept_cells, self.cells, place)

    def action_of(self, move: int) -> int | None:
        """Return the transition that a move is, if it is ever taken."""
        return self._actions_of_moves.get(move)

    def actions_of(self, transition: int) -> range:
        """Return the transitions for a transition of the coloured net."""
        return _among(self.kept_moves, self.moves, transition)

    def can_act(self, action: int) -> Expression:
        """Return the proposition that each place has what a transition takes."""
        return enabling_condition(self.transitions[action])

    def can_fire(self, transition: int) -> Expression:
        """Return the proposition that some transition of those for one is enabled."""
        return any_of(map(self.can_act, self.actions_of(transition)))


def _among(numbers: list[int], tuples: Tuples, node: int) -> range:
    """Return which of some numbers are of a node."""
    first, end = tuples.first[node : node + 2]
    return range(bisect_left(numbers, first), bisect_left(numbers, end))

"""The place/transition net that a symmetric net unfolds into, in the names of colours.

The place for the colour ``(a, b)`` of the place p is called ``p.a.b``, the transition t
under a binding ``t.a.b``, with the colours of its variables in the order in which these
are declared; dots have no name.  ``p`` is the number of all tokens in p, and t can fire
(``fireable(t)``) or is taken (``action=="t"``) if it is under some binding.

Colours that a place never has, and bindings under which a transition is never taken,
have no place and no transition here; their names mean 0 and never.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import Expression, Number, Operation, Variable
from ltlpipe.systems.pnml.coloured.bindings import holds
from ltlpipe.systems.pnml.coloured.cells import Cells, Moves
from ltlpipe.systems.pnml.coloured.names import Names, OnDemand
from ltlpipe.systems.pnml.net import PetriNet, enabling_condition
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.pnml.coloured.net import Colour, ColouredNet


class UnfoldedNet(PetriNet):
    """A symmetric net, unfolded; `ltlpipe.systems.pnml.coloured.unfolding` makes it.

    Attributes
    ----------
    coloured : ColouredNet
        What it has been made of.
    colours, bindings : list of tuple of int
        The colour of each place, and the colours of the variables of each transition.
    place_ranges, transition_ranges : list of range
        The places for each place of the coloured net, and the transitions.
    """

    coloured: ColouredNet
    colours: list[Colour]
    bindings: list[Colour]
    place_ranges: list[range]
    transition_ranges: list[range]

    @property
    def about(self) -> tuple[str, ...]:
        """How large the net is, before and after unfolding."""
        net = self.coloured
        line = f"a symmetric net of {len(net.places):,} places and "
        line += f"{len(net.transitions):,} transitions, unfolded into "
        line += f"{len(self.places):,} and {len(self.transitions):,}"
        return (line,)

    @property
    def has_colours(self) -> bool:
        """Whether it is a symmetric net, unfolded."""
        return True

    @cached_property
    def _place_names(self) -> Names:
        return Names(self.coloured, self.coloured.places, Cells(self.coloured))

    @cached_property
    def _moves(self) -> Moves:
        return Moves(self.coloured)

    @cached_property
    def _move_names(self) -> Names:
        return Names(self.coloured, self.coloured.transitions, self._moves)

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Names of coloured places and transitions, and those with colours."""
        places, moves = self._place_names.known, self._move_names.known
        return Vocabulary(
            self.place_numbers,
            facts=OnDemand(places.keys, self._tokens),
            fireable=OnDemand(
                lambda: [*self.transition_numbers, *moves], self._fireable
            ),
            actions=self.transition_numbers,
            action_sets=OnDemand(moves.keys, self._taken),
        )

    def _tokens(self, text: str) -> Expression | None:
        """Return the tokens in a place, or of a colour that it never has."""
        place = self._place_names.known.get(text)
        if place is None:
            return None if self._place_names.node(text) is None else Number(0)
        own = self.place_ranges[place]
        return _joined("+", [Variable(k) for k in own], Number(0))

    def _instances(self, text: str) -> Sequence[int] | None:
        """Return the transitions for a name, with or without colours."""
        if text in self.transition_numbers:
            return [self.transition_numbers[text]]
        transition = self._move_names.known.get(text)
        if transition is not None:
            return self.transition_ranges[transition]
        node = self._move_names.node(text)
        if node is None:
            return None
        guard = self.coloured.transitions[node.number].guard
        return [] if holds(guard, self._moves.binding(*node)) else None

    def _fireable(self, text: str) -> Expression | None:
        own = self._instances(text)
        if own is None:
            return None
        conditions = dict.fromkeys(enabling_condition(self.transitions[t]) for t in own)
        return _joined("||", list(conditions), Number(0))

    def _taken(self, text: str) -> frozenset[int] | None:
        own = self._instances(text)
        return None if own is None else frozenset(own)


def _joined(operator: str, parts: list[Expression], none: Expression) -> Expression:
    if len(parts) < 2:
        return parts[0] if parts else none
    return Operation(operator, tuple(parts))

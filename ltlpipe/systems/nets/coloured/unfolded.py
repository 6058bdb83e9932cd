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
from ltlpipe.systems.nets.coloured.bindings import holds
from ltlpipe.systems.nets.coloured.cells import Cells, Moves
from ltlpipe.systems.nets.coloured.names import Names, OnDemand
from ltlpipe.systems.nets.net import PetriNet, any_of, enabling_condition
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.nets.coloured.net import Colour, ColouredNet


class UnfoldedNet(PetriNet):
    """A symmetric net, unfolded; `ltlpipe.systems.nets.coloured.unfolding` makes it.

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

        def offered() -> list[str]:
            return [*self.transitions_called, *moves]

        return Vocabulary(
            self.place_numbers,
            facts=OnDemand(places.keys, self._tokens),
            fireable=OnDemand(offered, self._fireable),
            actions=OnDemand(offered, self._instances),
            variables_called=self._place_names.called,
            actions_called=self._move_names.called,
        )

    def _tokens(self, text: str) -> Expression | None:
        """Return the tokens in a place, or of a colour that it never has."""
        places = self._place_names.known.get(text, ())
        if len(places) != 1:
            return None if self._place_names.node(text) is None else Number(0)
        own = tuple(map(Variable, self.place_ranges[places[0]]))
        if len(own) < 2:
            return own[0] if own else Number(0)
        return Operation("+", own)

    def _instances(self, text: str) -> Sequence[int] | None:
        """Return the transitions for a name, with or without colours."""
        transitions = self._move_names.known.get(text)
        if transitions is not None:
            return [k for t in transitions for k in self.transition_ranges[t]]
        if text in self.transitions_called:
            return self.transitions_called[text]
        about = self.coloured.transitions
        may_happen = (
            holds(about[node.number].guard, self._moves.binding(*node))
            for node in self._move_names.nodes(text)
        )
        return [] if any(may_happen) else None

    def _fireable(self, text: str) -> Expression | None:
        own = self._instances(text)
        if own is None:
            return None
        return any_of(enabling_condition(self.transitions[t]) for t in own)

"""The place/transition net that a symmetric net unfolds into, in the names of colours.

The place for the colour ``(a, b)`` of the place p is called ``p.a.b``, the transition t
under a binding ``t.a.b``, with the colours of its variables in the order in which these
are declared; dots have no name.  ``p`` is the number of all tokens in p, and t can fire
(``fireable(t)``) or is taken (``action=="t"``) if it is under some binding.

Colours that a place never has, and bindings under which a transition is never taken,
have no place and no transition here; their names mean 0 and never.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from ltlpipe.logic.propositions.syntax import Expression, Number, Operation, Variable
from ltlpipe.systems.pnml.coloured.bindings import holds
from ltlpipe.systems.pnml.coloured.net import DOT
from ltlpipe.systems.pnml.net import PetriNet, enabling_condition
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.systems.pnml.coloured.net import (
        Colour,
        ColouredNet,
        ColouredPlace,
        ColouredTransition,
    )

Meaning = TypeVar("Meaning")


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
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Names of coloured places and transitions, and those with colours."""
        net = self.coloured
        places, transitions = _numbers(net.places), _numbers(net.transitions)
        called = [*self.transition_numbers, *transitions]
        return Vocabulary(
            self.place_numbers,
            facts=_Told(places, lambda text: self._tokens(text, places)),
            fireable=_Told(called, lambda text: self._fireable(text, transitions)),
            actions=self.transition_numbers,
            action_sets=_Told(transitions, lambda text: self._taken(text, transitions)),
        )

    def _tokens(self, text: str, known: Mapping[str, int]) -> Expression | None:
        """Return the tokens in a place, or of a colour that it never has."""
        if text in known:
            own = self.place_ranges[known[text]]
            return _joined("+", [Variable(k) for k in own], Number(0))
        domains = {k: place.domain for k, place in enumerate(self.coloured.places)}
        found = self._coloured(text, known, domains)
        return None if found is None else Number(0)

    def _instances(self, text: str, known: Mapping[str, int]) -> Sequence[int] | None:
        """Return the transitions for a name, with or without colours."""
        if text in self.transition_numbers:
            return [self.transition_numbers[text]]
        if text in known:
            return self.transition_ranges[known[text]]
        net = self.coloured
        domains = {
            number: tuple(net.variables[v].sort for v in transition.variables)
            for number, transition in enumerate(net.transitions)
        }
        found = self._coloured(text, known, domains)
        if found is None:
            return None
        number, colours = found
        transition = net.transitions[number]
        binding = [0] * len(net.variables)
        for variable, colour in zip(transition.variables, colours, strict=True):
            binding[variable] = colour
        return [] if holds(transition.guard, binding) else None

    def _fireable(self, text: str, known: Mapping[str, int]) -> Expression | None:
        own = self._instances(text, known)
        if own is None:
            return None
        conditions = dict.fromkeys(enabling_condition(self.transitions[t]) for t in own)
        return _joined("||", list(conditions), Number(0))

    def _taken(self, text: str, known: Mapping[str, int]) -> frozenset[int] | None:
        own = self._instances(text, known)
        return None if own is None else frozenset(own)

    def _coloured(
        self,
        text: str,
        known: Mapping[str, int],
        domains: Mapping[int, tuple[int, ...]],
    ) -> tuple[int, Colour] | None:
        """Return the node and the colours that a name with dots says, if it does."""
        sorts = self.coloured.sorts
        head, *tail = text.split(".")
        for k in range(len(tail) + 1):
            number = known.get(head)
            if number is not None:
                domain = [sorts[sort] for sort in domains[number]]
                named = [sort for sort in domain if sort.kind != DOT]
                if len(named) == len(tail) - k:
                    colours = []
                    texts = iter(tail[k:])
                    for sort in domain:
                        text = sort.ids[0] if sort.kind == DOT else next(texts)
                        if text not in sort.ids and text not in sort.names:
                            break
                        own = sort.ids if text in sort.ids else sort.names
                        colours.append(own.index(text))
                    else:
                        return number, tuple(colours)
            if k < len(tail):
                head += "." + tail[k]
        return None


class _Told(Mapping[str, Meaning], Generic[Meaning]):
    """Meanings of names that are found when they are asked for.

    `names` are those that a message may offer.
    """

    def __init__(
        self, names: Sequence[str] | Mapping[str, int],
        tell: Callable[[str], Meaning | None],
    ) -> None:  # fmt: skip
        self._names = names
        self._tell = tell

    def __getitem__(self, text: str) -> Meaning:
        meaning = self._tell(text)
        if meaning is None:
            raise KeyError(text)
        return meaning

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _joined(operator: str, parts: list[Expression], none: Expression) -> Expression:
    if len(parts) < 2:
        return parts[0] if parts else none
    return Operation(operator, tuple(parts))


def _numbers(
    nodes: Sequence[ColouredPlace | ColouredTransition],
) -> dict[str, int]:
    """Return what ids mean, and names that only one node has."""
    numbers = {node.id: k for k, node in enumerate(nodes)}
    names = [node.name for node in nodes]
    for k, name in enumerate(names):
        if names.count(name) == 1:
            numbers.setdefault(name, k)
    return numbers

"""Names of places and transitions of a symmetric net, with colours and without.

The place p with the colour ``(a, b)`` is called ``p.a.b``, the transition t under a
binding ``t.a.b``, with the colours of its variables in the order in which these are
declared; dots have no name.

In propositions ``p`` is the number of all tokens in p, and t can fire (``fireable(t)``)
or is taken (``action=="t"``) if it is under some binding; so is one of several that are
called t.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Expression,
    Number,
    Operation,
    Taken,
    Variable,
    any_taken,
)
from ltlpipe.runtime.names import counted
from ltlpipe.systems.models import Model
from ltlpipe.systems.nets.coloured.cells import Cells, Moves
from ltlpipe.systems.nets.coloured.net import DOT
from ltlpipe.systems.nets.net import OnDemand, any_of
from ltlpipe.systems.nets.structure import namesakes, numbers_called
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ltlpipe.systems.nets.coloured.cells import Tuples
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredPlace,
        ColouredTransition,
    )


class Names:
    """The names of nodes of one kind with colours, by the numbers in `tuples`.

    An id always means its own node, a name that is no id all nodes that have it.
    """

    def __init__(
        self,
        net: ColouredNet,
        nodes: Sequence[ColouredPlace | ColouredTransition],
        tuples: Tuples,
    ) -> None:
        self._sorts = net.sorts
        self._nodes = nodes
        self._tuples = tuples
        self.known = numbers_called([(node.id, node.name) for node in nodes])
        self._colours_called = [
            numbers_called(list(zip(sort.ids, sort.names, strict=True)))
            for sort in net.sorts
        ]

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of the nodes with colours that a text means."""
        found: dict[int, None] = {}
        parts = text.split(".")
        for k in range(1, len(parts) + 1):
            for node in self.known.get(".".join(parts[:k]), ()):
                for colours in self._colours(self._tuples.domains[node], parts[k:]):
                    found[self._tuples.number(node, colours)] = None
        return [number for number in found if self.id(number) == text] or [*found]

    def _colours(self, domain: Sequence[int], parts: list[str]) -> Iterator[Colour]:
        """Yield the colours that a text means, which has been divided at dots."""
        if not domain:
            yield from [] if parts else [()]
            return
        sort, *others = domain
        if self._sorts[sort].kind == DOT:
            yield from ((0, *more) for more in self._colours(others, parts))
            return
        for k in range(1, len(parts) + 1):
            for colour in self._colours_called[sort].get(".".join(parts[:k]), ()):
                yield from (
                    (colour, *rest) for rest in self._colours(others, parts[k:])
                )

    def number(self, text: str) -> int | None:
        """Return the number of the one node with colours that a text means."""
        found = self.numbers(text)
        return found[0] if len(found) == 1 else None

    def called(self, text: str) -> list[str]:
        """Return the ids of the nodes that have a text for their name or id."""
        found = map(self.id, self.numbers(text))
        return list(dict.fromkeys([*namesakes(self._nodes, text), *found]))

    def id_and_name(self, number: int) -> tuple[str, str]:
        """Return the id and the name of a node with colours."""
        node, colours = self._tuples.split(number)
        own, name = [self._nodes[node].id], [self._nodes[node].name]
        for sort, colour in zip(self._tuples.domains[node], colours, strict=True):
            about = self._sorts[sort]
            if about.kind != DOT:
                own.append(about.ids[colour])
                name.append(about.names[colour])
        return ".".join(own), ".".join(name)

    def id(self, number: int) -> str:
        """Return the id of a node with colours."""
        return self.id_and_name(number)[0]

    def __getitem__(self, number: int) -> str:
        """Return what to call a node with colours: the name, if it means this one."""
        own, name = self.id_and_name(number)
        return name if self.number(name) == number else own

    def __len__(self) -> int:
        return len(self._tuples)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))


_OFFERED = 20_000
"""Names that a message may offer."""


class Coloured(Model):
    """A symmetric net in the names that its colours give places and transitions.

    All cells are variables, and all moves actions, unless a subclass keeps only some.
    """

    coloured: ColouredNet
    has_colours = True

    @property
    def about(self) -> tuple[str, ...]:  # type: ignore[override]
        """How large the net is."""
        net = self.coloured
        transitions = counted(len(net.transitions), "transition")
        return (
            f"a symmetric net of {counted(len(net.places), 'place')} and {transitions}",
        )

    @cached_property
    def cells(self) -> Cells:
        """The numbers of places with colours."""
        return Cells(self.coloured)

    @cached_property
    def moves(self) -> Moves:
        """The numbers of transitions under bindings."""
        return Moves(self.coloured)

    @cached_property
    def place_names(self) -> Names:
        """Ids and names of the cells."""
        return Names(self.coloured, self.coloured.places, self.cells)

    @cached_property
    def move_names(self) -> Names:
        """Ids and names of the moves."""
        return Names(self.coloured, self.coloured.transitions, self.moves)

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Names of places and transitions, with colours and without."""
        return Vocabulary(
            OnDemand(self._offered_places, self._variable),
            facts=OnDemand(self.place_names.known.keys, self._tokens),
            fireable=OnDemand(self._offered_moves, self._fireable),
            actions=OnDemand(self._offered_moves, self._actions),
            variables_called=self.place_names.called,
            actions_called=self.move_names.called,
            counts=True,
        )

    def variable_of(self, cell: int) -> int | None:
        """Return the variable that a cell is, if it is one."""
        return cell

    def variables_of(self, place: int) -> range:
        """Return the variables that the cells of a place are."""
        return self.cells.range_of(place)

    def action_of(self, move: int) -> int | None:
        """Return the action that a move is, if it is one."""
        return move

    def actions_of(self, transition: int) -> range:
        """Return the actions that the moves of a transition are."""
        return self.moves.range_of(transition)

    def can_act(self, action: int) -> Expression:
        """Return the proposition that an action, whose guard holds, can be taken."""
        raise NotImplementedError

    def can_fire(self, transition: int) -> Expression:
        """Return the proposition that a transition is enabled under some binding."""
        raise NotImplementedError

    def _offered_places(self) -> Sequence[str]:
        """Return the names of cells that a message may offer."""
        return self.variables if len(self.cells) <= _OFFERED else ()

    def _offered_moves(self) -> Collection[str]:
        """Return the names of transitions, and of moves, that a message may offer."""
        names = self.move_names
        if len(names) > _OFFERED:
            return names.known.keys()
        may_happen = filter(self.moves.guard_holds, range(len(names)))
        return [*(names[move] for move in may_happen), *names.known]

    def _variable(self, text: str) -> int | None:
        cell = self.place_names.number(text)
        return None if cell is None else self.variable_of(cell)

    def _tokens(self, text: str) -> Expression | None:
        """Return the tokens in a place, or of a colour that it never has."""
        places = self.place_names.known.get(text, ())
        if len(places) != 1:
            return None if self.place_names.number(text) is None else Number(0)
        own = tuple(map(Variable, self.variables_of(places[0])))
        if len(own) < 2:
            return own[0] if own else Number(0)
        return Operation("+", own)

    def _actions(self, text: str) -> Collection[int] | None:
        """Return the actions that a name means."""
        transitions = self.move_names.known.get(text)
        if transitions is None:
            own = self._with_colours(text)
            return None if own is None else frozenset(own)
        return any_taken([Taken(self.actions_of(t)) for t in transitions]).actions

    def _fireable(self, text: str) -> Expression | None:
        """Return when a transition, or a move, that is called so is enabled."""
        transitions = self.move_names.known.get(text)
        if transitions is not None:
            return any_of(map(self.can_fire, transitions))
        own = self._with_colours(text)
        return None if own is None else any_of(map(self.can_act, own))

    def _with_colours(self, text: str) -> list[int] | None:
        """Return the actions that a name with colours means, if their guards hold."""
        moves = [*filter(self.moves.guard_holds, self.move_names.numbers(text))]
        if not moves:
            return None
        return [own for own in map(self.action_of, moves) if own is not None]

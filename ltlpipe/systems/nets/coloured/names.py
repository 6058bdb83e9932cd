"""Display names of places and transitions of a symmetric net.

The place p with the colour ``(a, b)`` is called ``p.a.b``, the transition t under a
binding ``t.a.b``, with the colours of its variables in the order in which these are
declared; dots have no name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from ltlpipe.systems.nets.coloured.net import DOT
from ltlpipe.systems.nets.structure import namesakes, numbers_called

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from ltlpipe.systems.nets.coloured.cells import Tuples
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredPlace,
        ColouredTransition,
    )

Meaning = TypeVar("Meaning")


class OnDemand(Mapping[str, Meaning], Generic[Meaning]):
    """Meanings of names that are found when they are asked for.

    `names` returns those that a message may offer.
    """

    def __init__(
        self,
        names: Callable[[], Collection[str]],
        tell: Callable[[str], Meaning | None],
    ) -> None:
        self._names = names
        self._tell = tell

    def __getitem__(self, text: str) -> Meaning:
        meaning = self._tell(text)
        if meaning is None:
            raise KeyError(text)
        return meaning

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


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

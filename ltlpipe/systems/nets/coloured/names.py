"""Display names of places and transitions of a symmetric net.

The place p with the colour ``(a, b)`` is called ``p.a.b``, the transition t under a
binding ``t.a.b``, with the colours of its variables in the order in which these are
declared; dots have no name.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ltlpipe.systems.nets.coloured.net import DOT
from ltlpipe.systems.nets.structure import namesakes, nodes_called

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from ltlpipe.systems.nets.coloured.cells import Tuples
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredPlace,
        ColouredTransition,
        Sort,
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


class Node(NamedTuple):
    """A place or a transition with colours."""

    number: int
    colours: Colour


def called(
    sorts: Sequence[Sort],
    node: ColouredPlace | ColouredTransition,
    domain: Sequence[int],
    colours: Colour,
) -> tuple[str, str]:
    """Return the id and the name of a node with colours."""
    pairs = zip((sorts[sort] for sort in domain), colours, strict=True)
    named = [(sort, colour) for sort, colour in pairs if sort.kind != DOT]
    own = ".".join([node.id, *(sort.ids[colour] for sort, colour in named)])
    name = ".".join([node.name, *(sort.names[colour] for sort, colour in named)])
    return own, name


def meanings(
    sorts: Sequence[Sort],
    known: Mapping[str, Sequence[int]],
    domains: Sequence[Sequence[int]],
    text: str,
) -> list[Node]:
    """Return the nodes with colours that a name stands for, if dots divide it so.

    `known` are the nodes by their names, `domains` the sorts of each one's colours.
    """
    found: dict[Node, None] = {}
    head, *tail = text.split(".")
    for k in range(len(tail) + 1):
        for number in known.get(head, ()):
            for colours in _colours(sorts, domains[number], tail[k:]):
                found[Node(number, colours)] = None
        if k < len(tail):
            head += "." + tail[k]
    return list(found)


def _colours(
    sorts: Sequence[Sort], domain: Sequence[int], texts: list[str]
) -> Iterator[Colour]:
    """Yield the colours of a domain that names, which have dots between them, mean."""
    named = [sort for sort in domain if sorts[sort].kind != DOT]
    if len(named) > len(texts) or (not named and texts):
        return
    for parts in _divided(texts, len(named)):
        choices = []
        left = iter(parts)
        for sort in domain:
            about = sorts[sort]
            dotted = about.kind == DOT
            choices.append([0] if dotted else _called_so(about, next(left)))
        yield from product(*choices)


def _divided(texts: list[str], n: int) -> Iterator[list[str]]:
    """Yield the ways to join texts to n, with dots."""
    if n == 0:
        yield []
        return
    if n == 1:
        yield [".".join(texts)]
        return
    for k in range(1, len(texts) - n + 2):
        for rest in _divided(texts[k:], n - 1):
            yield [".".join(texts[:k]), *rest]


def _called_so(sort: Sort, text: str) -> list[int]:
    """Return the colours with an id or, if there is none, with a name."""
    if text in sort.ids:
        return [sort.ids.index(text)]
    return [colour for colour, name in enumerate(sort.names) if name == text]


class Names:
    """The names of nodes of one kind with colours.

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
        self.known = nodes_called(nodes)
        self._is_plain = not self._has_dots() and all(
            len({*sort.names}) == len(sort.names) and _agree(sort) for sort in net.sorts
        )

    def _has_dots(self) -> bool:
        texts = [t for node in self._nodes for t in (node.id, node.name)]
        texts += [t for sort in self._sorts for t in (*sort.ids, *sort.names)]
        return any("." in text for text in texts)

    def nodes(self, text: str) -> list[Node]:
        """Return the nodes with colours that a text means."""
        found = meanings(self._sorts, self.known, self._tuples.domains, text)
        return [node for node in found if self._called(node)[0] == text] or found

    def node(self, text: str) -> Node | None:
        """Return the node with colours that a text means; None if it is not one."""
        found = self.nodes(text)
        return found[0] if len(found) == 1 else None

    def called(self, text: str) -> list[str]:
        """Return the ids of the nodes that have a text for their name or id."""
        found = [self._called(node)[0] for node in self.nodes(text)]
        return list(dict.fromkeys([*namesakes(self._nodes, text), *found]))

    def number(self, text: str) -> int | None:
        """Return the number of the node with colours that a text means."""
        node = self.node(text)
        return None if node is None else self._tuples.number(*node)

    def id(self, number: int) -> str:
        """Return the id of a node with colours."""
        return self._called(Node(*self._tuples.split(number)))[0]

    def __getitem__(self, number: int) -> str:
        """Return what to call a node with colours: the name, if it means this one."""
        node = Node(*self._tuples.split(number))
        own, name = self._called(node)
        if self._is_plain:
            about = self._nodes[node.number]
            return name if self.known.get(about.name) == (node.number,) else own
        return name if self.node(name) == node else own

    def __len__(self) -> int:
        return len(self._tuples)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def _called(self, node: Node) -> tuple[str, str]:
        domain = self._tuples.domains[node.number]
        return called(self._sorts, self._nodes[node.number], domain, node.colours)


def _agree(sort: Sort) -> bool:
    """Whether no colour is called as another one's id says."""
    ids = {own: k for k, own in enumerate(sort.ids)}
    return all(ids.get(name, k) == k for k, name in enumerate(sort.names))

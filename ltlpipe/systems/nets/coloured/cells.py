"""The numbers of cells and moves of a symmetric net.

A *cell* is a place with a tuple of colours.  Cells are numbered place by place, and in
each place as numbers of mixed radix.  A *move* is a transition with a colour for each
of its variables, numbered likewise.  So a number is found without any list.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.nets.coloured.net import Colour, ColouredNet


class Tuples:
    """Numbers of nodes with tuples of colours; `domains` are the sorts of each node."""

    def __init__(self, net: ColouredNet, domains: Sequence[Sequence[int]]) -> None:
        self.net = net
        self.domains = domains
        self.sizes = [tuple(map(net.size, domain)) for domain in domains]
        self.strides = [
            [prod(own[k + 1 :]) for k in range(len(own))] for own in self.sizes
        ]
        counts = [prod(own) for own in self.sizes]
        self.first = [0, *accumulate(counts)]

    def __len__(self) -> int:
        return self.first[-1]

    def number(self, node: int, colours: Colour) -> int:
        """Return the number of a node with colours."""
        pairs = zip(self.strides[node], colours, strict=True)
        return self.first[node] + sum(stride * colour for stride, colour in pairs)

    def range_of(self, node: int) -> range:
        """Return the numbers of a node with all tuples of colours."""
        return range(self.first[node], self.first[node + 1])

    def listed(self, ranges: Sequence[range], colours: Sequence[Colour]) -> list[int]:
        """Return the numbers of some colours; those of each node are in a range."""
        return [
            self.number(node, colours[k])
            for node, own in enumerate(ranges)
            for k in own
        ]

    def split(self, number: int) -> tuple[int, Colour]:
        """Return the node and the colours that a number stands for."""
        node = bisect_right(self.first, number) - 1
        rest = number - self.first[node]
        pairs = zip(self.strides[node], self.sizes[node], strict=True)
        return node, tuple([rest // stride % size for stride, size in pairs])


class Cells(Tuples):
    """The numbers of the cells of a symmetric net."""

    def __init__(self, net: ColouredNet) -> None:
        super().__init__(net, [place.domain for place in net.places])


class Moves(Tuples):
    """The numbers of the moves of a symmetric net.

    Attributes
    ----------
    variables : list of tuple of int
        Those of each transition, whose colours the tuples are.
    """

    def __init__(self, net: ColouredNet) -> None:
        self.variables = [transition.variables for transition in net.transitions]
        sorts = [variable.sort for variable in net.variables]
        super().__init__(net, [tuple(sorts[v] for v in own) for own in self.variables])

    def binding(self, number: int, colours: Colour) -> list[int]:
        """Return the colours of all variables of the net under a move."""
        binding = [0] * len(self.net.variables)
        for variable, colour in zip(self.variables[number], colours, strict=True):
            binding[variable] = colour
        return binding

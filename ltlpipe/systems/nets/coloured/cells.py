"""The numbers of cells and moves of a symmetric net, and the meaning of its terms.

A *cell* is a place with a tuple of colours.  Cells are numbered place by place, and in
each place as numbers of mixed radix.  A *move* is a transition with a colour for each
of its variables, numbered likewise.  So a number is found without any list.

A *binding* gives all variables of a net a colour; it tells the value of a term, whether
a guard holds, and the tokens of a multiset.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    AllOf,
    Bound,
    Comparison,
    Constant,
    Every,
    Sum,
    Tokens,
    signed_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        Guard,
        Multiset,
        Part,
    )

Binding = list[int]
"""The colours of all variables of a net, by their numbers; of others than those of the
transition they mean nothing."""

RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class SubtractionError(Exception):
    """A multiset is subtracted from one that it is no part of."""


def value(term: Bound | Constant | Part, binding: Binding) -> int:
    """Return the colour, or the number of the element of a partition, of a term."""
    if isinstance(term, Bound):
        return (binding[term.variable] + term.shift) % term.size
    if isinstance(term, Constant):
        return term.colour
    return term.elements[value(term.of, binding)]


def holds(guard: Guard, binding: Binding) -> bool:
    """Whether a guard is true."""
    if isinstance(guard, Comparison):
        sides = value(guard.left, binding), value(guard.right, binding)
        return bool(RELATIONS[guard.relation](*sides))
    some = all if isinstance(guard, AllOf) else any
    return some(holds(part, binding) for part in guard.parts)


def counted(multiset: Multiset, binding: Binding) -> dict[Colour, int]:
    """Return how often each tuple is in a multiset, those that are there.

    Raises
    ------
    SubtractionError
        More is subtracted than there is.
    """
    if isinstance(multiset, Tokens):
        choices = [
            range(entry.size) if isinstance(entry, Every) else (value(entry, binding),)
            for entry in multiset.entries
        ]
        weight = multiset.weight
        return dict.fromkeys(product(*choices), weight) if weight else {}
    if isinstance(multiset, Sum):
        signed = [(1, part) for part in multiset.parts]
    else:
        signed = [(1, multiset.left), (-1, multiset.right)]
    counts: dict[Colour, int] = {}
    for sign, part in signed:
        for colours, count in counted(part, binding).items():
            counts[colours] = counts.get(colours, 0) + sign * count
    if min(counts.values(), default=0) < 0:
        raise SubtractionError
    return {colours: count for colours, count in counts.items() if count}


def most_counted(multiset: Multiset) -> int:
    """Return a bound of the number of tuples that `counted` looks at."""
    return sum(
        prod(entry.size for entry in tokens.entries if isinstance(entry, Every))
        for _, tokens in signed_tokens(multiset, 1)
    )


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

    def counted(
        self, side: Iterable[tuple[int, Multiset]], binding: Binding
    ) -> tuple[dict[int, int], list[int]]:
        """Return tokens on one side of a transition under a binding.

        By cells; and the places where more is subtracted than there is, whose tokens
        are left out.
        """
        tokens: dict[int, int] = {}
        wrong = []
        for place, what in side:
            try:
                known = counted(what, binding)
            except SubtractionError:
                wrong.append(place)
            else:
                for colours, count in known.items():
                    cell = self.number(place, colours)
                    tokens[cell] = tokens.get(cell, 0) + count
        return tokens, wrong

    def initial(self, file: str) -> dict[int, int]:
        """Return the initial marking; messages name `file`.

        Raises
        ------
        UnsupportedError
            It subtracts more than there is.
        """
        places = self.net.places
        tokens, wrong = self.counted(((k, p.marking) for k, p in enumerate(places)), [])
        for place in wrong:
            raise UnsupportedError(
                f"{file}: the initial marking of the place {places[place].name!r} "
                "subtracts more than there is"
            )
        return tokens


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

    def binding(self, number: int, colours: Colour) -> Binding:
        """Return the colours of all variables of the net under a move."""
        binding = [0] * len(self.net.variables)
        for variable, colour in zip(self.variables[number], colours, strict=True):
            binding[variable] = colour
        return binding

    def guard_holds(self, move: int) -> bool:
        """Whether the guard of a transition holds under the binding of a move."""
        number, colours = self.split(move)
        return holds(self.net.transitions[number].guard, self.binding(number, colours))

    def refusal(self, file: str, number: int, colours: Colour, place: int) -> str:
        """Say that a move subtracts more than there is at a place."""
        net = self.net
        variables = [net.variables[v] for v in self.variables[number]]
        shown = ", ".join(
            f"{variable.name} = {net.sorts[variable.sort].names[colour]}"
            for variable, colour in zip(variables, colours, strict=True)
        )
        return (
            f"{file}: the transition {net.transitions[number].name!r} subtracts more "
            f"than there is at the place {net.places[place].name!r}, for "
            f"{shown or 'no variable'}"
        )

"""Symmetric nets: sorts, terms, guards, and the coloured net that is made of them.

A *colour* of a basic sort is its number there, from 0 on.  Places hold tuples of such
colours: the *domain* of a place lists the sorts.  A transition is taken under a
*binding*, a colour for each of its variables that satisfies the guard; arcs then take
and put multisets of tuples.

All of it is plain data, named tuples of named tuples, which `to_plain` and `from_plain`
send between processes.

Source: ISO/IEC 15909-2:2011, symmetric nets; G. Chiola, C. Dutheillet, G.
Franceschinis and S. Haddad, "Stochastic Well-Formed Colored Nets and Symmetric Modeling
Applications", IEEE Transactions on Computers 42(11), 1993, pp. 1343-1360.

Differences from the source: sorts of pairs of pairs are sorts of tuples; variables are
of basic sorts; guards have no negation, which is pushed into the comparisons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.plain import Plain

DOT, ENUMERATION, CYCLIC, RANGE = "dot", "enumeration", "cyclic", "range"
"""Kinds of basic sorts."""

Colour: TypeAlias = tuple[int, ...]
"""What a token is: a colour of each sort of the domain."""


class Sort(NamedTuple):
    """A basic sort; sorts of kind `RANGE` and `CYCLIC` are ordered."""

    id: str
    name: str
    kind: str
    ids: tuple[str, ...]  # of the colours
    names: tuple[str, ...]  # what people call them


class Variable(NamedTuple):
    """A variable of a net, which has a basic sort."""

    id: str
    name: str
    sort: int


class Bound(NamedTuple):
    """The colour of a variable, or one that follows it round a cyclic sort."""

    variable: int
    shift: int  # 0 to size - 1
    size: int  # of the sort


class Constant(NamedTuple):
    """A colour."""

    colour: int


class Every(NamedTuple):
    """Each colour of a sort, once: ``<all>``."""

    size: int


class Part(NamedTuple):
    """The element of a partition that a colour is in: ``<partitionelementof>``."""

    of: Bound | Constant
    elements: tuple[int, ...]  # the number of the element of each colour


class Tokens(NamedTuple):
    """So many tokens of each tuple that the entries stand for."""

    weight: int
    entries: tuple[Bound | Constant | Every, ...]


class Sum(NamedTuple):
    """A sum of multisets; of none, the empty one."""

    parts: tuple[Multiset, ...]


class Difference(NamedTuple):
    """A multiset without another one, which has to be part of it."""

    left: Multiset
    right: Multiset


class Comparison(NamedTuple):
    """A comparison of two colours, or of two elements of a partition, by number."""

    relation: str  # one of == != < <= > >=
    left: Bound | Constant | Part
    right: Bound | Constant | Part


class AllOf(NamedTuple):
    """A conjunction; of nothing, truth."""

    parts: tuple[Guard, ...]


class AnyOf(NamedTuple):
    """A disjunction; of nothing, falsehood."""

    parts: tuple[Guard, ...]


Multiset: TypeAlias = Tokens | Sum | Difference
Guard: TypeAlias = Comparison | AllOf | AnyOf

TRUE = AllOf(())
EMPTY = Sum(())


class ColouredPlace(NamedTuple):
    """A place: the numbers of the sorts of its tokens, and its initial marking."""

    id: str
    name: str
    domain: tuple[int, ...]
    marking: Multiset


class ColouredTransition(NamedTuple):
    """A transition: its guard, and what it takes from and puts to places."""

    id: str
    name: str
    guard: Guard
    pre: tuple[tuple[int, Multiset], ...]  # by the numbers of the places
    post: tuple[tuple[int, Multiset], ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """The numbers of its variables, in the order of their declarations."""
        parts = (self.guard, *(what for _, what in (*self.pre, *self.post)))
        return tuple(sorted({v for part in parts for v in variables_of(part)}))


class ColouredNet(NamedTuple):
    """A symmetric net."""

    name: str
    sorts: tuple[Sort, ...]
    variables: tuple[Variable, ...]
    places: tuple[ColouredPlace, ...]
    transitions: tuple[ColouredTransition, ...]

    def size(self, sort: int) -> int:
        """Return how many colours a sort has."""
        return len(self.sorts[sort].ids)

    def sizes(self, place: int) -> tuple[int, ...]:
        """Return how many colours the sorts of a place's domain have."""
        return tuple(map(self.size, self.places[place].domain))


def variables_of(part: Any) -> Iterator[int]:
    """Yield the numbers of the variables in a guard, a multiset or a term."""
    if isinstance(part, Bound):
        yield part.variable
    elif isinstance(part, tuple):
        for inner in part:
            yield from variables_of(inner)


def tokens_of(multiset: Multiset) -> Iterator[Tokens]:
    """Yield the tokens that are named, but not what is subtracted."""
    for weight, tokens in signed_tokens(multiset, 1):
        if weight > 0:
            yield tokens


def signed_tokens(what: Multiset, sign: int) -> Iterator[tuple[int, Tokens]]:
    """Yield the tokens of a multiset with their weights, negative if subtracted."""
    if isinstance(what, Sum):
        for part in what.parts:
            yield from signed_tokens(part, sign)
    elif isinstance(what, Difference):
        yield from signed_tokens(what.left, sign)
        yield from signed_tokens(what.right, -sign)
    elif what.weight:
        yield sign * what.weight, what


def scaled(multiset: Multiset, factor: int) -> Multiset:
    """Return a multiset so many times."""
    if isinstance(multiset, Tokens):
        return Tokens(factor * multiset.weight, multiset.entries) if factor else EMPTY
    if isinstance(multiset, Sum):
        return Sum(tuple(scaled(part, factor) for part in multiset.parts))
    return Difference(scaled(multiset.left, factor), scaled(multiset.right, factor))


_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Sort, Variable, Bound, Constant, Every, Part, Tokens, Sum, Difference),
        *(Comparison, AllOf, AnyOf, ColouredPlace, ColouredTransition, ColouredNet),
    )
}


def to_plain(value: Any) -> Plain:
    """Return a net, or a part of one, as lists, numbers and texts."""
    if isinstance(value, tuple):
        kind = type(value).__name__ if hasattr(value, "_fields") else ""
        return [kind, *map(to_plain, value)]
    return value


def from_plain(plain: Plain) -> Any:
    """Return what `to_plain` was given."""
    if isinstance(plain, list):
        kind, *parts = plain
        values = tuple(map(from_plain, parts))
        return _KINDS[kind](*values) if kind else values
    return plain

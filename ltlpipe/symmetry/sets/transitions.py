"""The transitions of a symmetric net, and propositions about it, as tables.

Their layout is in `ltlpipe.symmetry.sets.layout`.  Variables are bound in an order in
which conditions can be looked at early.

Cells that are never marked have no field: propositions read 0.  Whether a transition
can be taken under some binding is found out by looking for one; the answers are bits
behind the words of the marking that is expanded, where propositions read them.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.logic.propositions.syntax import Enabled, Number, Operation, Variable
from ltlpipe.symmetry.sets.layout import (
    CONSTANT,
    EVERY,
    NONE,
    Guard,
    Move,
    Relation,
)
from ltlpipe.systems.fields import Field
from ltlpipe.systems.nets.coloured.bindings import conjuncts
from ltlpipe.systems.nets.coloured.net import (
    AllOf,
    Bound,
    Comparison,
    Constant,
    Every,
    Part,
    Sum,
    Tokens,
    signed_tokens,
    variables_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.symmetry.sets.isotropy_groups import Kinds
    from ltlpipe.systems.nets.coloured.net import (
        ColouredNet,
        ColouredTransition,
        Multiset,
    )
    from ltlpipe.systems.nets.coloured.net import Guard as Condition

_RELATIONS = {
    "==": (Relation.EQUAL, False),
    "!=": (Relation.DIFFERENT, False),
    "<": (Relation.LESS, False),
    "<=": (Relation.AT_MOST, False),
    ">": (Relation.LESS, True),
    ">=": (Relation.AT_MOST, True),
}


WORD_BITS = 64


class IntTable:
    """The integer table while it is built."""

    def __init__(self, n_entries: int) -> None:
        self.header = np.zeros(n_entries, dtype=np.int64)
        self._pieces = [self.header]
        self.length = n_entries

    def append(self, piece: np.ndarray) -> int:
        """Append whole numbers of any shape and width; return their place.

        They are not copied, and must not be changed.
        """
        place = self.length
        self._pieces.append(piece.ravel())
        self.length += piece.size
        return place

    def joined(self) -> np.ndarray:
        """Return all of it."""
        return np.concatenate(self._pieces, dtype=np.int64)


class Placed:
    """Propositions over the fields of rows of `n_words`; `of_cells` are those of cells.

    Attributes
    ----------
    propositions : list of Expression
        Over numbers of fields.
    fields : list of Field
        These fields.
    transitions : list of int
        Those of which it is asked whether they can be taken.
    """

    def __init__(
        self,
        propositions: Sequence[Expression],
        of_cells: Mapping[int, Field],
        n_words: int,
    ) -> None:
        self._of_cells = of_cells
        self._n_words = n_words
        self._numbers: dict[Field, int] = {}
        self._bits: dict[int, int] = {}
        self.propositions = [self._placed(p) for p in propositions]
        self.fields = list(self._numbers)
        self.transitions = list(self._bits)

    @property
    def n_words(self) -> int:
        """Words of a row with all answers behind it."""
        return self._n_words + -(-len(self._bits) // WORD_BITS)

    def _placed(self, part: Expression) -> Expression:
        if isinstance(part, Variable):
            field = self._of_cells.get(part.number)
            return Number(0) if field is None else self._variable(field)
        if isinstance(part, Enabled):
            bit = self._bits.setdefault(part.transition, len(self._bits))
            word, shift = divmod(bit, WORD_BITS)
            return self._variable(Field(self._n_words + word, shift, 1))
        if isinstance(part, Operation):
            return replace(part, operands=tuple(map(self._placed, part.operands)))
        return part

    def _variable(self, field: Field) -> Variable:
        return Variable(self._numbers.setdefault(field, len(self._numbers)))


class TransitionTables:
    """Appends the transitions of a net to a table.

    `first` are the first elements of the sorts, `arity` is that of all tuples.
    """

    def __init__(
        self, ints: IntTable, net: ColouredNet, first: Sequence[int], arity: int
    ) -> None:
        self._ints = ints
        self._net = net
        self._first = first
        self._arity = arity
        self.deepest = 1
        """Intermediate results of a guard, at most."""

    def append(self, transition: ColouredTransition, bits: int | None) -> list[int]:
        """Append the parts of a transition; return its entries.

        `bits` is the place of the bits of its letters, if there are any.
        """
        order = _order(self._net, transition)
        slots = {variable: k for k, variable in enumerate(order)}
        parts = list(conjuncts(transition.guard))
        taken = [
            (place, tokens)
            for place, what in transition.pre
            for tokens in _simple(what)
        ]
        sizes = {v: self._net.size(self._net.variables[v].sort) for v in order}
        strides = _strides([sizes[v] for v in transition.variables])
        by_variable = dict(zip(transition.variables, strides, strict=True))
        cells = []
        for k, variable in enumerate(order):
            bound = set(order[: k + 1])
            guards = [
                g
                for g in parts
                if variable in (used := set(variables_of(g))) and used <= bound
            ]
            tests = [
                (place, tokens)
                for place, tokens in taken
                if variable in (used := set(variables_of(tokens))) and used <= bound
            ]
            cells += [
                self._first[self._net.variables[variable].sort],
                sizes[variable],
                by_variable[variable],
                self._guards(guards, slots),
                self._listed([(p, t.weight, t) for p, t in tests], slots),
            ]
        free = [g for g in parts if not set(variables_of(g))]
        entries = [0] * len(Move)
        entries[Move.SLOTS] = len(order)
        entries[Move.SLOT_CELLS] = self._append(cells)
        entries[Move.PRE] = self._side(transition.pre, slots)
        entries[Move.POST] = self._side(transition.post, slots)
        entries[Move.LETTERS] = -1 if bits is None else bits
        entries[Move.CONDITIONS] = self._guards(free, slots)
        return entries

    def _append(self, numbers: Sequence[int]) -> int:
        return self._ints.append(np.array(numbers, dtype=np.int64))

    def _guards(self, guards: Sequence[Condition], slots: dict[int, int]) -> int:
        places = []
        for guard in guards:
            code = [*self._code(guard, slots), Guard.END]
            self.deepest = max(self.deepest, len(code))
            places.append(self._append(code))
        return self._append([len(places), *places])

    def _code(self, guard: Condition, slots: dict[int, int]) -> Iterator[int]:
        if isinstance(guard, Comparison):
            relation, turned = _RELATIONS[guard.relation]
            sides = [self._term(side, slots) for side in (guard.left, guard.right)]
            if turned:
                sides.reverse()
            yield from (Guard.COMPARE, relation, *sides[0], *sides[1])
            return
        for part in guard.parts:
            yield from self._code(part, slots)
        yield Guard.ALL if isinstance(guard, AllOf) else Guard.SOME
        yield len(guard.parts)

    def _term(self, term: Any, slots: dict[int, int]) -> list[int]:
        elements = -1
        if isinstance(term, Part):
            elements = self._append(term.elements)
            term = term.of
        return [*_entry(term, slots), elements]

    def _side(self, side: Sequence[tuple[int, Multiset]], slots: dict[int, int]) -> int:
        tokens = [(p, *part) for p, what in side for part in signed_tokens(what, 1)]
        return self._listed(tokens, slots)

    def _listed(
        self, tokens: Sequence[tuple[int, int, Tokens]], slots: dict[int, int]
    ) -> int:
        numbers = [len(tokens)]
        for place, weight, what in tokens:
            numbers += [place, weight]
            for entry in what.entries:
                numbers += _entry(entry, slots)
            numbers += [NONE, 0, 1] * (self._arity - len(what.entries))
        return self._append(numbers)


def letter_tables(ints: IntTable, kinds: Kinds) -> list[int | None]:
    """Append which propositions about steps each transition makes true, and its kind.

    Returns the place for each transition, None where it makes none true.
    """
    places: list[int | None] = []
    for mention in kinds.mentions:
        if not mention.kind:
            places.append(None)
            continue
        bits = mention.always | (mention.kind << kinds.n_propositions)
        pairs = [n for pair in mention.named.items() for n in pair]
        places.append(ints.append(np.array([bits, len(mention.named), *pairs])))
    return places


def _strides(sizes: Sequence[int]) -> list[int]:
    return [prod(sizes[k + 1 :]) for k in range(len(sizes))]


def _entry(entry: Any, slots: dict[int, int]) -> tuple[int, int, int]:
    if isinstance(entry, Bound):
        return slots[entry.variable], entry.shift, entry.size
    if isinstance(entry, Constant):
        return CONSTANT, entry.colour, 1
    return EVERY, 0, entry.size


def _simple(what: Multiset) -> Iterator[Tokens]:
    """Yield tokens that are surely taken, of single tuples."""
    if isinstance(what, Sum):
        for part in what.parts:
            yield from _simple(part)
    elif isinstance(what, Tokens) and what.weight and not _has_every(what):
        yield what


def _has_every(tokens: Tokens) -> bool:
    return any(isinstance(entry, Every) for entry in tokens.entries)


def _order(net: ColouredNet, transition: ColouredTransition) -> list[int]:
    """Return the variables in the order in which they are bound."""
    conditions = [set(variables_of(g)) for g in conjuncts(transition.guard)]
    conditions += [
        set(variables_of(t)) for _, what in transition.pre for t in _simple(what)
    ]
    left, order = list(transition.variables), list[int]()
    while left:

        def rank(v: int) -> tuple[int, int]:
            bound = {*order, v}
            ready = sum(v in used and used <= bound for used in conditions)
            return -ready, net.size(net.variables[v].sort)

        best = min(left, key=rank)
        left.remove(best)
        order.append(best)
    return order

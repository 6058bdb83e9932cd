"""The tables of the symbolic product of a symmetric net and a property.

Their layout is in `ltlpipe.symmetry.sets.markings`.  Variables of a transition are
bound in an order in which conditions can be looked at early.

Cells that are never marked have no field: propositions read 0.  Whether a transition
can be taken under some binding is found out by looking for one; the answers are bits
behind the words of the marking that is expanded, where propositions read them.

Cost: a row has the bits of the cells that may be marked, and n members n times the bits
of n - 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import Enabled, Number, Operation, Variable
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.compilation import ready
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.search.product import MAX_MARKS
from ltlpipe.symmetry.sets.inclusion import (
    symbolic_decompose,
    symbolic_includes,
    symbolic_key,
)
from ltlpipe.symmetry.sets.isotropy_groups import (
    common_blocks,
    isotropy_groups,
    kinds_of,
)
from ltlpipe.symmetry.sets.markings import (
    CONSTANT,
    EVERY,
    NONE,
    Guard,
    Head,
    Move,
    Relation,
    Row,
    Word,
)
from ltlpipe.symmetry.sets.powerset_search import Operations, PowersetAutomaton, Tables
from ltlpipe.symmetry.sets.product import set_of_one, symbolic_successors
from ltlpipe.systems.fields import Field, allocation
from ltlpipe.systems.nets.coloured.bindings import conjuncts, surely_taken
from ltlpipe.systems.nets.coloured.net import (
    AllOf,
    Bound,
    Comparison,
    Constant,
    Every,
    Part,
    Tokens,
    signed_tokens,
    variables_of,
)
from ltlpipe.systems.networks.packing_tables import Pieces
from ltlpipe.systems.propositions.kernels import assemble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours import Layout
    from ltlpipe.symmetry.sets.isotropy_groups import Kinds, Phase
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
        self, ints: Pieces, net: ColouredNet, first: Sequence[int], arity: int
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

            def ready(part: Any, last: int = variable, bound: set[int] = bound) -> bool:
                used = set(variables_of(part))
                return last in used and used <= bound

            tests = [(place, t.weight, t) for place, t in taken if ready(t)]
            cells += [
                self._first[self._net.variables[variable].sort],
                sizes[variable],
                by_variable[variable],
                self._guards([g for g in parts if ready(g)], slots),
                self._listed(tests, slots),
            ]
        free = [g for g in parts if not set(variables_of(g))]
        entries = [0] * len(Move)
        entries[Move.SLOTS] = len(order)
        entries[Move.SLOT_CELLS] = self._ints.append(cells)
        entries[Move.PRE] = self._side(transition.pre, slots)
        entries[Move.POST] = self._side(transition.post, slots)
        entries[Move.LETTERS] = -1 if bits is None else bits
        entries[Move.CONDITIONS] = self._guards(free, slots)
        return entries

    def _guards(self, guards: Sequence[Condition], slots: dict[int, int]) -> int:
        places = []
        for guard in guards:
            code = [*self._code(guard, slots), Guard.END]
            self.deepest = max(self.deepest, len(code))
            places.append(self._ints.append(code))
        return self._ints.append([len(places), *places])

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
            elements = self._ints.append(term.elements)
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
        return self._ints.append(numbers)


def letter_tables(ints: Pieces, kinds: Kinds) -> list[int | None]:
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
        places.append(ints.append([bits, len(mention.named), *pairs]))
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
    for tokens in surely_taken(what):
        if not any(isinstance(entry, Every) for entry in tokens.entries):
            yield tokens


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


MOST_LEAVES = 256
"""Markings that are compared for one representative."""

_WORD_BITS = 64
_NUMBER = 8  # bytes


class Made(NamedTuple):
    """The symbolic product, and where its rows have what."""

    automaton: PowersetAutomaton
    places: list[Field | None]  # of each cell; None if it is never marked
    of_property: Field
    members: list[tuple[int, int]]  # sorts and colours that can be exchanged
    of_members: list[Field]  # the block of each

    def noted(self) -> list[int]:
        """Return the cells whose fields were too narrow."""
        ints = self.automaton.tables.ints
        if not ints[Head.OVERFLOW]:
            return []
        at = int(ints[Head.NOTED])
        end = at + int(ints[Head.N_CELLS])
        return np.flatnonzero(ints[at:end]).tolist()

    @property
    def approximate(self) -> int:
        """Representatives that were taken before all were compared."""
        return int(self.automaton.tables.ints[Head.APPROXIMATE])


def symbolic_product(
    layout: Layout,
    propositions: Sequence[Expression],
    automaton: PropertyAutomaton,
    *,
    stutter: bool = True,
    closes: bool = False,
    ends: Sequence[int] = (),
) -> Job[Made]:
    """Return the symbolic product of a symmetric net and a property.

    Parameters
    ----------
    layout : Layout
        Of the net.
    propositions : sequence of Expression
        Bound to the net; letters are sets of them.
    automaton : PropertyAutomaton
        What is searched for; generalised Büchi.
    stutter : bool
        Whether a marking without successors repeats itself for ever.
    closes : bool
        Whether successors are closed under what the property tells no difference of.
    ends : sequence of int
        States of the property in which every marking repeats itself.

    Raises
    ------
    UnsupportedError
        The property has more than 32 marks.
    StoppedError
        The tables would take more memory than is granted.
    """
    if automaton.n_marks > MAX_MARKS:
        raise UnsupportedError(
            f"the property has {automaton.n_marks} acceptance marks, the limit is "
            f"{MAX_MARKS}: use --acceptance=ba"
        )
    built = _Builder(layout, automaton)
    grant = yield Progress(TABULATING, memory_bytes=built.needed_bytes)
    if built.needed_bytes > grant.memory_bytes:
        raise StoppedError(MEMORY)
    kinds = kinds_of(layout.net.moves, propositions)
    phases = yield from isotropy_groups(
        layout.group, layout.net, propositions, automaton, kinds
    )
    yield from built.fields()
    built.elements()
    yield from built.cells()
    built.propositions(propositions)
    yield from built.transitions(kinds)
    yield from built.phases(phases, kinds)
    built.header[Head.STUTTER] = stutter
    built.header[Head.CLOSES] = closes
    among = np.isin(np.arange(automaton.n_states), ends)
    built.header[Head.ENDS] = built.ints.append(among)
    built.header[Head.MOST_LEAVES] = MOST_LEAVES
    table = built.ints.joined()
    tables = built.tables(table)
    yield from ready(set_of_one, tables, np.zeros(built.n_words, dtype=np.uint64))
    places = [built.of_cells.get(cell) for cell in range(len(layout.orbits))]
    # The initial marking is its own orbit.
    first = layout.net.initial(), automaton.initial
    row = single_set(places, built.of_property, tables, *first)
    automaton_of_sets = PowersetAutomaton(
        Operations(
            symbolic_successors,
            symbolic_includes,
            symbolic_decompose,
            symbolic_key,
            tables,
        ),
        initial=np.array([row]),
        n_marks=automaton.n_marks,
        widened=lambda: bool(table[Head.CLOSED_MORE]),
        narrow=partial(_narrow, table),
    )
    fields = (built.of_property, built.members, built.of_members)
    return Made(automaton_of_sets, places, *fields)


def _narrow(table: np.ndarray) -> None:
    """Let successors be what they are from now on."""
    table[Head.CLOSES] = table[Head.CLOSED_MORE] = 0


class _Builder:
    """Lays out the tables of a product."""

    def __init__(self, layout: Layout, automaton: PropertyAutomaton) -> None:
        self.layout = layout
        self.automaton = automaton
        self.net = layout.net.coloured
        self.group = layout.group
        self.header = np.zeros(len(Head), dtype=np.int64)
        self.ints = Pieces()
        self.ints.append(self.header)
        self.arity = max(1, *(len(p.domain) for p in self.net.places), 1)
        sizes = [len(sort.ids) for sort in self.net.sorts]
        self.first: list[int] = np.cumsum([0, *sizes]).tolist()
        self.members = self.group.members()
        self.marked = [
            cell for cell, orbit in enumerate(layout.orbits) if orbit in layout.bits
        ]
        self._ticks = Ticks(TABULATING)
        self.deepest = 1

    @property
    def needed_bytes(self) -> int:
        """Bytes of tables and buffers, apart from those of the property."""
        n_cells = len(self.layout.orbits)
        per_cell = 5 + self.arity + len(Row)
        signatures = (len(Word) + len(self.members)) * self.first[-1]
        return _NUMBER * (n_cells * per_cell + signatures)

    def fields(self) -> Job[None]:
        """Append the fields of a row."""
        layout, n = self.layout, len(self.members)
        sizes = [1 << layout.bits[layout.orbits[cell]] for cell in self.marked]
        sizes += [self.automaton.n_states, *[n] * n]
        placed = yield from allocation(sizes, self._ticks)
        self.of_cells = dict(zip(self.marked, placed, strict=False))
        self.of_property = placed[len(self.marked)]
        self.of_members = placed[len(self.marked) + 1 :]
        self.n_words = 1 + max(place.word for place in placed)
        header = self.header
        header[Head.WORDS] = self.n_words
        header[Head.PROPERTY] = self.ints.append([_triple(self.of_property)])
        header[Head.BLOCK_FIELDS] = self.ints.append([*map(_triple, self.of_members)])

    def elements(self) -> None:
        """Append what moves which elements."""
        header = self.header
        n = self.first[-1]
        of = np.full(n, -1, dtype=np.int64)
        own = [self.first[sort] + colour for sort, colour in self.members]
        of[own] = np.arange(len(own))
        header[Head.ELEMENTS] = n
        header[Head.MEMBERS] = len(own)
        header[Head.MEMBER_ELEMENTS] = self.ints.append(own)
        header[Head.ELEMENT_MEMBERS] = self.ints.append(of)
        sizes = [len(colours) for _, colours in self.group.classes]
        self.class_of = np.repeat(np.arange(len(sizes)), sizes)
        header[Head.CLASSES] = self.ints.append(self.class_of)
        # Signatures reach colours that are two tuples away.
        moving = {sort for sort, _ in self.members}
        tied = any(sum(s in moving for s in p.domain) > 1 for p in self.net.places)
        header[Head.ROUNDS] = 2 if tied else 1

    def cells(self) -> Job[None]:
        """Append places and cells."""
        cells = self.layout.net.cells
        header, arity = self.header, self.arity
        header[Head.ARITY] = arity
        places = []
        table = np.full((len(cells), 4 + arity), -1, dtype=np.int64)
        table[:, :3] = 0
        for number, place in enumerate(self.net.places):
            strides = cells.strides[number]
            pairs = list(zip(strides, place.domain, strict=True))
            base = cells.first[number]
            of_elements = base - sum(s * self.first[sort] for s, sort in pairs)
            padding = [0] * (arity - len(strides))
            places.append([base, of_elements, *strides, *padding])
            numbers = np.arange(base, cells.first[number + 1])
            table[numbers, 3] = number
            for k, (stride, sort) in enumerate(pairs):
                colours = (numbers - base) // stride % self.net.size(sort)
                table[numbers, 4 + k] = self.first[sort] + colours
            yield from self._ticks.worked(len(numbers) / 100)
        bits = np.full((self.n_words, _WORD_BITS), -1, dtype=np.int64)
        self.masks = np.zeros(self.n_words, dtype=np.uint64)
        for cell, own in self.of_cells.items():
            table[cell, :3] = _triple(own)
            bits[own.word, own.shift : own.shift + own.bits] = cell
            self.masks[own.word] |= np.uint64(own.mask << own.shift)
            yield from self._ticks.worked()
        header[Head.PLACES] = self.ints.append(places)
        header[Head.CELLS] = self.ints.append(table)
        header[Head.BITS] = self.ints.append(bits)
        header[Head.NOTED] = self.ints.append([0] * len(cells))
        header[Head.N_CELLS] = len(cells)

    def propositions(self, propositions: Sequence[Expression]) -> None:
        """Append the code of the propositions."""
        placed = Placed(propositions, self.of_cells, self.n_words)
        self.n_answered = placed.n_words
        header = self.header
        header[Head.PROPOSITIONS] = self.ints.append(
            assemble(placed.propositions, placed.fields)
        )
        header[Head.ASKED] = len(placed.transitions)
        header[Head.ASKED_CELLS] = self.ints.append(placed.transitions)

    def transitions(self, kinds: Kinds) -> Job[None]:
        """Append the transitions of the net."""
        bits = letter_tables(self.ints, kinds)
        made = TransitionTables(self.ints, self.net, self.first, self.arity)
        cells = []
        for transition, own in zip(self.net.transitions, bits, strict=True):
            cells.append(made.append(transition, own))
            yield from self._ticks.worked(50)
        header = self.header
        header[Head.TAKEN] = any(own is not None for own in bits)
        header[Head.TRANSITIONS] = len(cells)
        header[Head.TRANSITION_CELLS] = self.ints.append(cells)
        self.deepest = made.deepest

    def phases(self, phases: list[list[Phase]], kinds: Kinds) -> Job[None]:
        """Append the phases of each state of the property, and its closures."""
        cells = []
        n_letters = kinds.n_letters
        for phase in (p for own in phases for p in own):
            sizes = [len(edge.letters) for edge in phase.edges]
            letters = np.concatenate([edge.letters for edge in phase.edges])
            ends = np.repeat(
                [[edge.dst, edge.marks] for edge in phase.edges], sizes, axis=0
            )
            order = np.lexsort((ends[:, 1], ends[:, 0], letters))
            offsets = np.searchsorted(letters[order], np.arange(n_letters + 1))
            parts = phase.group, offsets, ends[order]
            cells.append([self.ints.append(part) for part in parts])
            yield from self._ticks.worked(n_letters / 10)
        first = np.cumsum([0, *map(len, phases)])
        header = self.header
        header[Head.PHASES] = self.ints.append(first)
        header[Head.PHASE_CELLS] = self.ints.append(cells)
        n_plain = 1 << kinds.n_propositions
        header[Head.CLOSURES] = self.ints.append(
            [self._closure(own, n_plain) for own in phases]
        )

    def _closure(self, phases: list[Phase], n_plain: int) -> list[int]:
        """Return what a state of the property tells no difference of, itself.

        Steps that the property names do not count: after them, sets are as large as
        all other steps let them be.
        """
        own = [p.group for p in phases if any(e.letters[0] < n_plain for e in p.edges)]
        if not own:
            everyone = np.searchsorted(self.class_of, self.class_of)
            return everyone.tolist()  # type: ignore[no-any-return]
        return [*common_blocks(own)]

    def tables(self, table: np.ndarray) -> Tables:
        """Return all tables, and the buffers."""
        n_cells, n_marked = len(self.layout.orbits), len(self.marked)
        n_elements, n_members = self.first[-1], len(self.members)
        depth = n_members + 1
        width = max(n_cells, n_marked * self.arity, n_elements, 2 * n_members)
        width = max(width, depth, self.deepest) + 1
        n_rows = len(Word) + depth
        return Tables(
            ints=table,
            words=self.masks,
            scratch=np.zeros((len(Row), width), dtype=np.int64),
            step_rows=np.zeros(
                (n_rows, max(self.n_answered, n_elements)), dtype=np.uint64
            ),
        )


def _triple(place: Field) -> tuple[int, int, int]:
    return place.word, place.shift, place.mask


def single_set(
    places: Sequence[Field | None],
    of_property: Field,
    tables: Tables,
    tokens: Sequence[int],
    watching: int,
) -> np.ndarray | None:
    """Return the row, uint64[n_words], of the set of one marking and property's state.

    None if the marking does not fit into rows.
    """
    row = np.zeros(len(tables.words), dtype=np.uint64)
    row[of_property.word] = np.uint64(watching << of_property.shift)
    for place, count in zip(places, tokens, strict=True):
        if not count:
            continue
        if place is None or count > place.mask:
            return None
        row[place.word] |= np.uint64(count << place.shift)
    set_of_one(tables, row)
    return row

"""The group of a symmetric net, and the orbits of its cells.

Colours of a sort can be exchanged if the net never tells them apart: no constant, no
element of a partition and no comparison with a constant is true of one and not of the
other.  A sort whose colours have successors, or are compared by order, has no
permutation: rotations are found in the unfolded net (``--reduce automorphisms``).

All of it is read off the terms, so it is exact for the transitions; the initial marking
is not looked at, since the search begins with the permutations that leave that alone.
`Forms` tells what a permutation makes of propositions.

Permutations take cells to cells; all of an *orbit* have fields of one width (`Layout`),
the widest that one of them needs, since a marking may be permuted in a row.  Fields
hold what cells have in the beginning, one token at least; one that is too narrow is
widened later.  Orbits that are never marked have no fields.

Which orbits are marked is found without counting tokens, as
`ltlpipe.systems.nets.coloured.unfolding` finds it of cells and moves.  Of each orbit of
moves one is looked at: the colours of a class come in the order in which variables are
bound.  All cells of an orbit count as marked where one is.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Secs. II (basic color classes and their static
subclasses) and IV (symbolic firing).

Differences from the source: static subclasses are found, not declared; ordered classes
are not used; tokens are not counted to find what is ever marked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ltlpipe.components.progress import SYMMETRY
from ltlpipe.logic.propositions.syntax import (
    COMMUTATIVE,
    Deadlock,
    Enabled,
    Number,
    Operation,
    Taken,
    Variable,
    ranges_in,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.nets.coloured.bindings import (
    first_alike,
)
from ltlpipe.systems.nets.coloured.cells import RELATIONS, Cells, counted
from ltlpipe.systems.nets.coloured.net import (
    DOT,
    Bound,
    Comparison,
    Constant,
    Part,
    signed_tokens,
)
from ltlpipe.systems.nets.coloured.unfolding import Unfolding
from ltlpipe.systems.nets.packing import MAX_BITS, wider

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Every,
        Guard,
    )
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

_EQUATIONS = ("==", "!=")


class ColourGroup(NamedTuple):
    """The permutations of colours that leave a symmetric net as it is."""

    net: ColouredNet
    classes: list[tuple[int, tuple[int, ...]]]
    """Sorts and colours that can be exchanged, two or more each."""
    refused: list[str]
    """Which sorts have no permutation, and why."""

    def names(self) -> list[list[str]]:
        """Return the names of the colours of each class."""
        sorts = self.net.sorts
        return [
            [f"{sorts[sort].name}.{sorts[sort].names[colour]}" for colour in colours]
            for sort, colours in self.classes
        ]

    def members(self) -> list[tuple[int, int]]:
        """Return the sorts and colours of all classes, one after the other."""
        return [(sort, c) for sort, colours in self.classes for c in colours]

    @property
    def is_trivial(self) -> bool:
        """Whether it has no permutation but the identity."""
        return not self.classes


class _Uses:
    """What a net asks about the colours of each sort."""

    def __init__(self, net: ColouredNet) -> None:
        self.net = net
        self.told: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        self.ordered: dict[int, str] = {}

    def note(self) -> Iterator[None]:
        """Look at all terms of the transitions."""
        for transition in self.net.transitions:
            where = f"guard of {transition.name}"
            self._guard(transition.guard, where)
            for place, what in (*transition.pre, *transition.post):
                of = self.net.places[place]
                where = f"the arc between {transition.name} and {of.name}"
                for _, tokens in signed_tokens(what, 1):
                    for entry, sort in zip(tokens.entries, of.domain, strict=True):
                        self._entry(entry, sort, where)
            yield

    def _guard(self, guard: Guard, where: str) -> None:
        if not isinstance(guard, Comparison):
            for part in guard.parts:
                self._guard(part, where)
            return
        left, right = guard.left, guard.right
        sides = [(left, right), (right, left)]
        for side, _ in sides:
            self._bound(side.of if isinstance(side, Part) else side, where)
        if isinstance(left, Bound) and isinstance(right, Bound):
            sorts = [self.net.variables[b.variable].sort for b in (left, right)]
            if guard.relation not in _EQUATIONS:
                self._refuse(sorts, f"compared by order in {where}")
            elif sorts[0] != sorts[1]:
                self._refuse(sorts, f"compared with another sort in {where}")
            return
        for side, other in sides:
            term = side.of if isinstance(side, Part) else side
            if not isinstance(term, Bound):
                continue
            sort = self.net.variables[term.variable].sort
            elements = side.elements if isinstance(side, Part) else range(term.size)
            told = [elements[(c + term.shift) % term.size] for c in range(term.size)]
            if isinstance(other, Constant):
                relates = RELATIONS[guard.relation]
                pairs = [(shown, other.colour) for shown in told]
                if side is right:
                    pairs = [pair[::-1] for pair in pairs]
                told = [int(relates(*pair)) for pair in pairs]
            self.told[sort].add(tuple(told))

    def _entry(self, entry: Bound | Constant | Every, sort: int, where: str) -> None:
        """Look at an entry of a tuple in a place."""
        if isinstance(entry, Constant):
            size = self.net.size(sort)
            self.told[sort].add(tuple(int(c == entry.colour) for c in range(size)))
        elif isinstance(entry, Bound):
            self._bound(entry, where)
            own = self.net.variables[entry.variable].sort
            if own != sort:
                self._refuse([own, sort], f"mixed with another sort at {where}")

    def _bound(self, term: Bound | Constant, where: str) -> None:
        if isinstance(term, Bound) and term.shift:
            sort = self.net.variables[term.variable].sort
            self._refuse([sort], f"colours have successors in {where}")

    def _refuse(self, sorts: list[int], why: str) -> None:
        for sort in sorts:
            self.ordered.setdefault(sort, why)


def group_of_colours(net: ColouredNet) -> Job[ColourGroup]:
    """Return the group of a symmetric net."""
    ticks = Ticks(SYMMETRY, 20)
    uses = _Uses(net)
    for _ in uses.note():
        yield from ticks.worked()
    group = ColourGroup(net, [], [])
    for sort, about in enumerate(net.sorts):
        size = len(about.ids)
        if about.kind == DOT or size == 1:
            continue
        told = sorted(uses.told[sort])
        why = uses.ordered.get(sort)
        if why is None:
            alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
            for colour in range(size):
                alike[tuple(own[colour] for own in told)].append(colour)
            classes = [(sort, tuple(own)) for own in alike.values() if len(own) > 1]
            group.classes.extend(classes)
            if not classes:
                why = "the net names each colour"
        if why is not None:
            group.refused.append(f"sort {about.name}: {why}")
        yield from ticks.worked(size)
    return group


class Forms:
    """Propositions in a form in which equal ones are the same number."""

    def __init__(self, net: SymmetricNet, propositions: Sequence[Expression]) -> None:
        self._cells, self._moves = net.cells, net.moves
        self._propositions = propositions
        self._known: dict[object, int] = {}
        self._whole: dict[int, int | None] = {}  # places that sums are of, by identity
        self.size = sum(map(_size, propositions))
        self._numbers: dict[int, int] = {}
        for number, form in enumerate(self._forms({})):
            self._numbers.setdefault(form, number)

    def images(self, permutation: Mapping[tuple[int, int], int]) -> list[int]:
        """Return which proposition each one becomes, -1 if none of them."""
        return [self._numbers.get(form, -1) for form in self._forms(permutation)]

    def _forms(self, moved: Mapping[tuple[int, int], int]) -> list[int]:
        return [self._form(p, moved) for p in self._propositions]

    def _intern(self, key: object) -> int:
        return self._known.setdefault(key, len(self._known))

    def _form(self, part: Expression, moved: Mapping[tuple[int, int], int]) -> int:
        if isinstance(part, Number):
            return self._intern(("number", part.value))
        if isinstance(part, Variable):
            place, colours = self._cells.split(part.number)
            domain = self._cells.domains[place]
            return self._intern((place, _moved(domain, colours, moved)))
        if isinstance(part, Deadlock):
            return self._intern("deadlock")
        if isinstance(part, Taken):
            return self._intern(("taken", self._taken(part.actions, moved)))
        if isinstance(part, Enabled):  # under some binding, so under all images
            return self._intern(("enabled", part.transition))
        if isinstance(part, Operation):
            whole = self._place_of(part)
            if whole is not None:
                return self._intern(("tokens", whole))
            operands = [self._form(operand, moved) for operand in part.operands]
            if part.operator in COMMUTATIVE:
                operands.sort()
            return self._intern((part.operator, *operands))
        raise TypeError(f"{part} is not of a net")

    def _taken(
        self, actions: Collection[int], moved: Mapping[tuple[int, int], int]
    ) -> object:
        """Return the images of some moves; all moves of a transition are these."""
        found: set[object] = set()
        for part in ranges_in(actions):
            if len(part) > 1:
                found.add(part)
                continue
            number, colours = self._moves.split(part.start)
            found.add((number, _moved(self._moves.domains[number], colours, moved)))
        return frozenset(found)

    def _place_of(self, part: Operation) -> int | None:
        """Return the place of which an expression is the sum of all cells."""
        if id(part) not in self._whole:
            self._whole[id(part)] = self._found_place(part)
        return self._whole[id(part)]

    def _found_place(self, part: Operation) -> int | None:
        first = part.operands[0]
        if part.operator != "+" or not isinstance(first, Variable):
            return None
        place, _ = self._cells.split(first.number)
        every = tuple(map(Variable, self._cells.range_of(place)))
        return place if part.operands == every else None


def _moved(
    domain: Sequence[int], colours: Colour, moved: Mapping[tuple[int, int], int]
) -> Colour:
    pairs = zip(domain, colours, strict=True)
    return tuple([moved.get(pair, pair[1]) for pair in pairs])


def _size(part: Expression) -> int:
    """Return how many parts an expression has, roughly."""
    if isinstance(part, Operation):
        return 1 + sum(map(_size, part.operands))
    if isinstance(part, Taken):
        return len(ranges_in(part.actions))
    return 1


@dataclass
class Layout:
    """Where rows have what, for one net and its group.

    Attributes
    ----------
    orbits : list of int
        The orbit of each cell.
    bits : dict
        The width of the fields of each orbit of cells; only these are ever marked.
    """

    net: SymmetricNet
    group: ColourGroup
    orbits: list[int] = field(default_factory=list)
    bits: dict[int, int] = field(default_factory=dict)

    def widened(self, cells: Sequence[int]) -> bool:
        """Widen the fields of some cells; return whether that is possible."""
        for orbit in {self.orbits[cell] for cell in cells}:
            if self.bits[orbit] == MAX_BITS:
                return False
            self.bits[orbit] = wider(self.bits[orbit])
        return True


def layout_of(net: SymmetricNet, group: ColourGroup) -> Job[Layout]:
    """Return the layout of a net.

    Raises
    ------
    UnsupportedError
        There are too many moves that no permutation takes to each other.
    """
    ticks = Ticks(TABULATING, 5)
    made = Layout(net, group, (yield from _orbits_of(net, group, ticks)))
    _, marked = yield from _Reaching(net, group, made.orbits).reached()
    made.bits = dict.fromkeys((made.orbits[cell] for cell in marked), 1)
    for cell, tokens in enumerate(net.initial()):
        if tokens:
            orbit = made.orbits[cell]
            bits = min(tokens.bit_length(), MAX_BITS)
            made.bits[orbit] = max(made.bits[orbit], bits)
    return made


def _orbits_of(net: SymmetricNet, group: ColourGroup, ticks: Ticks) -> Job[list[int]]:
    """Return the number of the orbit of each cell."""
    labels = {
        (sort, colour): 1 + number
        for number, (sort, colours) in enumerate(group.classes)
        for colour in colours
    }
    known: dict[tuple[int, ...], int] = {}
    orbits = []
    for cell in range(len(net.cells)):
        place, colours = net.cells.split(cell)
        told = _orbit(list(zip(net.cells.domains[place], colours, strict=True)), labels)
        orbits.append(known.setdefault((place, *told), len(known)))
        yield from ticks.worked()
    return orbits


def _orbit(
    tuple_: list[tuple[int, int]], labels: dict[tuple[int, int], int]
) -> list[int]:
    """Return numbers that are the same for tuples of one orbit only."""
    told: list[int] = []
    first: dict[tuple[int, int], int] = {}
    for at, entry in enumerate(tuple_):
        number = labels.get(entry, 0)
        # Of a member: which of the entries before is the same colour.
        told += [number, first.setdefault(entry, at) if number else entry[1]]
    return told


MOST_MOVES = 1_000_000
"""Moves that no permutation takes to each other."""


class _OrbitCells(Cells):
    """The numbers of the first cells of orbits; `firsts` has that of each cell."""

    def __init__(self, net: ColouredNet, orbits: Sequence[int]) -> None:
        super().__init__(net)
        first: dict[int, int] = {}
        self.firsts = [first.setdefault(own, k) for k, own in enumerate(orbits)]

    def number(self, node: int, colours: Colour) -> int:
        """Return the number of the first cell in the orbit of one."""
        return self.firsts[super().number(node, colours)]


class _Reaching(Unfolding):
    """Looks for the orbits of cells that may be marked."""

    cells: _OrbitCells

    def __init__(
        self, net: SymmetricNet, group: ColourGroup, orbits: Sequence[int]
    ) -> None:
        super().__init__(net.coloured, net.file)
        self.cells = _OrbitCells(net.coloured, orbits)
        self._alike = {
            (sort, colour): colours
            for sort, colours in group.classes
            for colour in colours
        }
        self.admits = first_alike(net.coloured, self._alike)

    def most_moves(self) -> int:
        """Return how many moves may be listed, of which others are images."""
        return MOST_MOVES

    def _refuse(self, limit: str) -> NoReturn:
        raise UnsupportedError(
            f"{self.file}: more than {limit} that no permutation takes to each other: "
            "leave symmetry out of --reduce"
        )

    def _colours(
        self, transition: ColouredTransition, inside: dict[int, list[int]]
    ) -> dict[int, list[int]]:
        """Return the colours with all that are like them: others stand for them."""
        del transition
        found = {}
        for variable, colours in inside.items():
            sort = self.net.variables[variable].sort
            alike = [self._alike.get((sort, colour), (colour,)) for colour in colours]
            found[variable] = sorted(set(chain.from_iterable(alike)))
        return found

    def _held(self, place: int) -> set[Colour]:
        """Return the tuples of all orbits that a place has in the beginning."""
        cells = self.cells
        begun = counted(self.net.places[place].marking, [])
        known = {cells.number(place, colours) for colours in begun}
        own = cells.range_of(place)
        return {cells.split(cell)[1] for cell in own if cells.firsts[cell] in known}

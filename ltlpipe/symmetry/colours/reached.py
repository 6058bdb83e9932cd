"""Which cells of a symmetric net are ever marked, and how wide their fields are.

Permutations take cells to cells; all of an *orbit* have fields of one width, the widest
that one of them needs, since a marking may be permuted in a row.  Fields hold what
cells have in the beginning, or get at once; one that is too narrow is widened later.
Orbits that are never marked have no fields.

Which orbits are marked is found without counting tokens.
What `ltlpipe.systems.nets.coloured.unfolding` does for cells and moves is done here for
their orbits under the group of the net.  Of each orbit of moves one is looked at: the
colours of a class come in the order in which variables are bound, and the first
variable of a sort that is rotated has one of its first colours.  All cells of an orbit
count as marked where one is.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic firing).

Differences from the source: tokens are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltlpipe.components.progress import SYMMETRY
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.nets.coloured.bindings import (
    bindings,
    domains,
    first_alike,
    full_support,
)
from ltlpipe.systems.nets.packing import MAX_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours.group import ColourGroup
    from ltlpipe.systems.nets.coloured.bindings import Condition
    from ltlpipe.systems.nets.coloured.net import Colour
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

MOST_TRIED = 4_000_000
"""Colours that are tried for variables, of all transitions together."""

_TRIAL = 4  # microseconds


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
        """Double the fields of some cells; return whether that is possible."""
        wider = {self.orbits[cell] for cell in cells}
        for orbit in wider:
            if self.bits[orbit] == MAX_BITS:
                return False
            self.bits[orbit] = min(2 * self.bits[orbit], MAX_BITS)
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
    reaching = _Reaching(net, group, made.orbits)
    yield from reaching.job()
    for orbit, tokens in reaching.found.items():
        made.bits[orbit] = min(max(tokens, 1).bit_length(), MAX_BITS)
    return made


def _orbits_of(net: SymmetricNet, group: ColourGroup, ticks: Ticks) -> Job[list[int]]:
    """Return the number of the orbit of each cell."""
    labels = {
        (sort, colour): (number, 0, 1)
        for number, (sort, colours) in enumerate(group.classes)
        for colour in colours
    }
    for number, (sort, least) in enumerate(group.rotations):
        size = net.coloured.size(sort)
        for colour in range(size):
            labels[sort, colour] = (-1 - number, least, size)
    known: dict[tuple[int, ...], int] = {}
    orbits = []
    for cell in range(len(net.cells)):
        place, colours = net.cells.split(cell)
        told = _orbit(list(zip(net.cells.domains[place], colours, strict=True)), labels)
        orbits.append(known.setdefault((place, *told), len(known)))
        if ticks.over():
            yield ticks.progress
    return orbits


def _orbit(
    tuple_: list[tuple[int, int]],
    labels: dict[tuple[int, int], tuple[int, int, int]],
) -> list[int]:
    """Return numbers that are the same for tuples of one orbit only."""
    told: list[int] = []
    first: dict[tuple[int, int], int] = {}
    rotated: dict[int, int] = {}
    for at, (sort, colour) in enumerate(tuple_):
        if (sort, colour) not in labels:
            told += [0, colour]
            continue
        number, least, size = labels[sort, colour]
        if number >= 0:  # which of the entries before is the same colour
            told += [1 + number, first.setdefault((sort, colour), at)]
        else:  # how far from the first one of the sort
            base = rotated.setdefault(number, colour - colour % least)
            told += [number, (colour - base) % size]
    return told


class _Held:
    """The tuples of a place whose orbits may be marked."""

    def __init__(self, reaching: _Reaching, place: int) -> None:
        self._reaching = reaching
        self._place = place

    def __contains__(self, colours: object) -> bool:
        own: Any = colours
        return self._reaching.orbit(self._place, own) in self._reaching.found


class _Reaching:
    """Looks for the orbits of cells that may be marked.

    Attributes
    ----------
    found : dict of int to int
        For each such orbit the most tokens that one of its cells has in the beginning,
        or gets at once.
    """

    def __init__(
        self, net: SymmetricNet, group: ColourGroup, orbits: Sequence[int]
    ) -> None:
        self.net = net
        self.orbits = orbits
        self.found: dict[int, int] = {}
        alike = {
            (sort, colour): colours
            for sort, colours in group.classes
            for colour in colours
        }
        self._in_order = first_alike(net.coloured, alike)
        self._least = dict(group.rotations)
        self._sorts = [variable.sort for variable in net.coloured.variables]
        self._support = full_support(net.coloured)
        self._held = {p: _Held(self, p) for p in range(len(net.coloured.places))}
        self._ticks = Ticks(SYMMETRY, _TRIAL)
        self._tried = 0

    def orbit(self, place: int, colours: Colour) -> int:
        """Return the orbit of a cell."""
        return self.orbits[self.net.cells.number(place, colours)]

    def job(self) -> Job[None]:
        """Look at transitions until nothing more is marked.

        Raises
        ------
        UnsupportedError
            There are too many orbits of moves; or a transition that might be taken
            subtracts more than there is.
        """
        for cell, tokens in enumerate(self.net.initial()):
            if tokens:
                self._put(self.orbits[cell], tokens)
        transitions = self.net.coloured.transitions
        grown = set(range(len(self.net.coloured.places)))
        is_first = True
        while grown:
            before, grown = grown, set[int]()
            for number, transition in enumerate(transitions):
                if is_first or any(place in before for place, _ in transition.pre):
                    grown |= yield from self._taken(number)
            is_first = False

    def _put(self, orbit: int, tokens: int) -> bool:
        """Mark an orbit; return whether it was not marked before."""
        is_new = orbit not in self.found
        self.found[orbit] = max(self.found.get(orbit, 0), tokens)
        return is_new

    def _taken(self, number: int) -> Job[set[int]]:
        """Take a transition under each binding; return the places that have grown."""
        net, grown = self.net.coloured, set[int]()
        transition = net.transitions[number]
        known = domains(net, transition, self._support)
        if known is None:
            return grown
        for colours in bindings(net, transition, known, self._held, self._admits):
            if colours is not None:
                grown |= self._move(number, colours)
            self._tried += 1
            if self._tried > MOST_TRIED:
                raise UnsupportedError(
                    f"more than {MOST_TRIED:,} colours of variables are to be tried: "
                    "leave symmetry out of --reduce"
                )
            if self._ticks.over():
                yield self._ticks.progress
        return grown

    def _admits(self, before: Sequence[int], variable: int) -> Condition:
        """Return whether a variable has a colour that no other one stands for.

        Of a sort that is rotated the first variable has one of the first colours.
        """
        sort = self._sorts[variable]
        least = self._least.get(sort)
        if least is None or any(self._sorts[other] == sort for other in before):
            return self._in_order(before, variable)
        return lambda binding: binding[variable] < least

    def _move(self, number: int, colours: Colour) -> set[int]:
        """Take a transition under a binding; return the places that have grown."""
        transition = self.net.coloured.transitions[number]
        binding = self.net.moves.binding(number, colours)
        pre, wrong = self.net.cells.counted(transition.pre, binding)
        if any(self.orbits[cell] not in self.found for cell in pre):
            return set()
        post, also_wrong = self.net.cells.counted(transition.post, binding)
        for place in (*wrong, *also_wrong):
            raise UnsupportedError(
                self.net.moves.refusal(self.net.file, number, colours, place)
            )
        return {
            self.net.cells.split(cell)[0]
            for cell, tokens in post.items()
            if self._put(self.orbits[cell], tokens - pre.get(cell, 0))
        }

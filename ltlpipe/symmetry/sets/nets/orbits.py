"""Which cells of a symmetric net are ever marked, and how wide their fields are.

Permutations take cells to cells; all of an *orbit* have fields of one width, the widest
that one of them needs, since a marking may be permuted in a row.  Invariants bound how
many tokens they have; where none does, a field that is too narrow is widened later.
Orbits that are never marked have no fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.symmetry.colours.reached import reached_orbits
from ltlpipe.systems.nets.coloured.invariants import UNBOUNDED, cell_bounds
from ltlpipe.systems.nets.packing import MAX_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours.group import ColourGroup
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


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
    most = yield from reached_orbits(net, group, made.orbits)
    bounds = np.full(1 + max(made.orbits, default=0), -1, dtype=np.int64)
    np.maximum.at(bounds, made.orbits, (yield from cell_bounds(net)))
    for orbit, tokens in most.items():
        bound = int(bounds[orbit])
        least = max(tokens, 1, 0 if bound == UNBOUNDED else bound)
        made.bits[orbit] = min(least.bit_length(), MAX_BITS)
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

"""Which cells of a symmetric net are ever marked, and how wide their fields are.

Permutations take cells to cells; all of an *orbit* have fields of one width, the widest
that one of them needs, since a marking may be permuted in a row.  An orbit that has no
place of the unfolded net is never marked, and has no fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.reduction.colours.images import Cells
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.systems.pnml.widths import MAX_BITS, first_widths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.reduction.colours.group import ColourGroup
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.pnml.coloured.unfolded import UnfoldedNet

MOST_CELLS = 1 << 17
"""Places of a symmetric net with all tuples of their colours."""

Orbit = tuple[int, ...]


@dataclass
class Layout:
    """Where rows have what, for one net and its group.

    Attributes
    ----------
    bits : dict
        The width of the fields of each orbit of cells; only these are ever marked.
    orbits : list of tuple
        The orbit of each cell.
    places : list of int
        The cell of each place of the unfolded net.
    """

    net: UnfoldedNet
    group: ColourGroup
    bits: dict[Orbit, int] = field(default_factory=dict)
    orbits: list[Orbit] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def widened(self, cells: Sequence[int]) -> bool:
        """Double the fields of some cells; return whether that is possible."""
        wider = {self.orbits[cell] for cell in cells}
        for orbit in wider:
            if self.bits[orbit] == MAX_BITS:
                return False
            self.bits[orbit] = min(2 * self.bits[orbit], MAX_BITS)
        return True


def layout_of(net: UnfoldedNet, group: ColourGroup) -> Job[Layout]:
    """Return the layout of a net whose facts are prepared.

    Raises
    ------
    UnsupportedError
        There are too many cells.
    """
    cells = Cells(net.coloured)
    if len(cells) > MOST_CELLS:
        raise UnsupportedError(
            f"the places of the net have {len(cells):,} tuples of colours, the limit "
            f"is {MOST_CELLS:,}: leave symmetry out of --reduce"
        )
    ticks = Ticks(TABULATING, 5)
    made = Layout(net, group)
    labels = {
        (sort, colour): (number, 0, 1)
        for number, (sort, colours) in enumerate(group.classes)
        for colour in colours
    }
    for number, (sort, least) in enumerate(group.rotations):
        size = net.coloured.size(sort)
        for colour in range(size):
            labels[sort, colour] = (-1 - number, least, size)
    for place, domain in enumerate(net.coloured.places):
        for k in range(cells.first[place + 1] - cells.first[place]):
            pairs = zip(cells.strides[place], cells.sizes[place], strict=True)
            colours = [k // stride % size for stride, size in pairs]
            orbit = _orbit(list(zip(domain.domain, colours, strict=True)), labels)
            made.orbits.append((place, *orbit))
            if ticks.over():
                yield ticks.progress
    widths = yield from first_widths(net, ticks)
    made.places = cells.of_places(net)
    for place, bits in zip(made.places, widths.bits, strict=True):
        known = made.bits.get(made.orbits[place], 1)
        made.bits[made.orbits[place]] = max(known, bits)
    return made


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

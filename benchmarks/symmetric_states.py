"""How many states of the explicit product the sets of a symbolic search stand for.

A search that finds a product empty has visited sets that together hold all reachable
states of the product, and none besides (properties 3 to 5 of
`ltlpipe.symmetry.sets.automaton`).  The sets overlap, so their sizes cannot be added.
Instead all of them are cut until they have the same blocks, the common refinement of
all; then two pieces are equal or disjoint (the refinement of Baarir & Duret-Lutz 2006,
Sec. 6.3), and a piece of blocks with so many members of each colour has the product of
the blocks' multinomial coefficients as its size.  The number is exact, and so that of a
search state by state wherever that can be done; `tests/test_benchmarks.py` compares
them.

Cost: time and memory linear in the pieces, of which a set whose blocks are coarse has
as many as there are ways to hand out its colours.
"""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.alphabet import letters_of
from ltlpipe.question.answer import Trace
from ltlpipe.question.network import NetworkQuestion
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import run
from ltlpipe.search.driver import advance
from ltlpipe.search.registers import Reg, Status
from ltlpipe.strategies.symmetry import symmetry_of
from ltlpipe.symmetry.sets.inclusion_checks import REMOVED
from ltlpipe.symmetry.sets.networks.layout import Sym
from ltlpipe.symmetry.sets.networks.tables import symbolic_product
from ltlpipe.symmetry.sets.searching import PowersetSearch
from ltlpipe.systems.networks.packing import pack

if TYPE_CHECKING:
    from ltlpipe import Network
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.packing import PackedNetwork

Cell = tuple[int, ...]  # members, ascending
EXACT = ("tec", "nsiec", "iec", "aec")
_MOST = 1 << 62


class Sets(NamedTuple):
    """Sets of product states, one in each row.

    Parameters
    ----------
    elsewhere : int64[k, m]
        What permutations never move: local states, and the property's state.
    colours : int64[k, n_members]
        Of a state of each set.
    blocks : int64[k, n_members]
        The block of each member.
    """

    elsewhere: np.ndarray
    colours: np.ndarray
    blocks: np.ndarray


def explicit_states(
    network: Network, formula: Formula, emptiness: str = "aec"
) -> tuple[int, int] | None:
    """Search a symbolic product; return the explicit states, and the sets visited.

    None if the product is not empty: then a search state by state stops as well, and
    need not see as many.

    Raises
    ------
    ValueError
        The plan makes no use of symmetry, or of sets with states that are not reached.
    """
    options = Options(emptiness=emptiness, lasso=False)
    question = NetworkQuestion(network, Property(formula), options)
    symmetry = run(symmetry_of(network, options))
    if symmetry is None or emptiness not in EXACT:
        raise ValueError(f"no exact use is made of symmetry: {network.name}")
    trace, actions = Trace(question.given), question.actions
    table = run(question.automaton(question.given, actions, trace))
    letters = letters_of(symmetry.network, actions)
    packed = pack(symmetry.network, letters, extra_values=table.n_states)
    stutter = question.stutters
    automaton = run(symbolic_product(symmetry, packed, table, letters, stutter=stutter))
    search = PowersetSearch(automaton, emptiness)
    if run(advance(search)).status != Status.EMPTY:
        return None
    visited = int(search.registers[Reg.VISITED])
    return count_union(_sets(search, packed, symmetry)), visited


def _sets(search: PowersetSearch, packed: PackedNetwork, symmetry: Symmetry) -> Sets:
    """Return the sets from which nothing is accepted."""
    removed = search.arrays.numbers[: search.n_stored] == REMOVED
    rows = search.store.rows[: search.n_stored][removed]
    states = packed.unpack(rows)
    moving = {c for member in symmetry.members for c in member} | set(symmetry.moved)
    kept = [c for c in range(states.shape[1]) if c not in moving]
    extra = packed.extra
    watching = (rows[:, extra.word] >> np.uint64(extra.shift)) & np.uint64(extra.mask)
    elsewhere = np.column_stack([watching.astype(np.int64), states[:, kept]])
    return Sets(elsewhere, _colours(symmetry, states), _blocks(search, rows))


def _blocks(search: PowersetSearch, rows: np.ndarray) -> np.ndarray:
    ints = search.automaton.tables.ints
    bits, each = int(ints[Sym.BLOCK_BITS]), int(ints[Sym.BLOCKS_PER_WORD])
    blocks = np.empty((len(rows), int(ints[Sym.MEMBERS])), dtype=np.int64)
    for member in range(blocks.shape[1]):
        word, at = divmod(member, each)
        packed = rows[:, int(ints[Sym.BLOCK_WORD]) + word] >> np.uint64(at * bits)
        blocks[:, member] = packed & np.uint64((1 << bits) - 1)
    return blocks


def _colours(symmetry: Symmetry, states: np.ndarray) -> np.ndarray:
    """Return what the group sees of members in states int32[k, n_components]."""
    columns = []
    for member, components in enumerate(symmetry.members):
        seen = [symmetry.canonical[c][states[:, c]] for c in components]
        seen += [symmetry.roles[c][states[:, c], member] for c in symmetry.moved]
        colour = np.zeros(len(states), dtype=np.int64)
        for part in seen:
            colour = colour << 16 | part
        columns.append(colour)
    table = np.stack(columns, axis=1)
    _, numbers = np.unique(table, return_inverse=True)
    return numbers.reshape(table.shape)


def count_union(sets: Sets) -> int:
    """Return how many states sets have together."""
    first, which = distinct(sets.blocks)
    patterns = sets.blocks[first]
    cells = cells_of(patterns)
    pieces = []
    for number, pattern in enumerate(patterns):
        own = np.flatnonzero(which == number)
        source, colours = cut(sets.colours[own], pattern, cells)
        pieces.append(np.concatenate([sets.elsewhere[own][source], colours], axis=1))
    table = np.concatenate(pieces)
    first, _ = distinct(table)
    colours = table[first, sets.elsewhere.shape[1] :]
    return int(sizes(colours, cells).sum())


def distinct(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each kind of equal rows, and the kind of each row.

    The entries, which are not negative, are made one number, column by column; when
    that becomes too large, kinds take its place.  NumPy compares rows as bytes, which
    takes ten times as long.
    """
    key = np.zeros(len(table), dtype=np.int64)
    largest = 0
    for column in table.T:
        radix = int(column.max()) + 1
        if (largest + 1) * radix > _MOST:
            key = np.unique(key, return_inverse=True)[1]
            largest = len(key)
        key = key * radix + column
        largest = (largest + 1) * radix - 1
    _, first, kinds = np.unique(key, return_index=True, return_inverse=True)
    return first, kinds


def cells_of(patterns: np.ndarray) -> list[Cell]:
    """Return the blocks of the common refinement of partitions int64[k, n_members]."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for member, seen in enumerate(patterns.T.tolist()):
        cells.setdefault(tuple(seen), []).append(member)
    return [tuple(cell) for cell in cells.values()]


def cut(
    colours: np.ndarray, pattern: np.ndarray, cells: list[Cell]
) -> tuple[np.ndarray, np.ndarray]:
    """Hand out the colours of sets of one partition to finer blocks in all ways.

    Returns, for each piece, the number of the set that it is of, and its colours,
    ascending in each cell.
    """
    colours = colours.copy()
    source = np.arange(len(colours))
    for block in np.unique(pattern):
        left = np.flatnonzero(pattern == block).tolist()
        for cell in cells:
            if not set(cell) < set(left):
                continue
            source, colours = _hand_out(source, colours, left, cell)
            left = [member for member in left if member not in cell]
    for cell in cells:
        colours[:, cell] = np.sort(colours[:, cell], axis=1)
    return source, colours


def _hand_out(
    source: np.ndarray, colours: np.ndarray, block: list[int], cell: Cell
) -> tuple[np.ndarray, np.ndarray]:
    """Give a cell of a block every choice of the block's colours, once each."""
    pool = np.sort(colours[:, block], axis=1)
    rest = [member for member in block if member not in cell]
    sources, tables = [], []
    for chosen in combinations(range(len(block)), len(cell)):
        others = [k for k in range(len(block)) if k not in chosen]
        new = np.ones(len(pool), dtype=np.bool_)
        for k in chosen:  # of equal colours the first ones
            if k and k - 1 not in chosen:
                new &= pool[:, k] != pool[:, k - 1]
        table = colours[new]
        table[:, cell] = pool[new][:, chosen]
        table[:, rest] = pool[new][:, others]
        sources.append(source[new])
        tables.append(table)
    return np.concatenate(sources), np.concatenate(tables)


def sizes(colours: np.ndarray, cells: list[Cell]) -> np.ndarray:
    """Return the sizes of pieces, int64[k]: products of multinomial coefficients."""
    found = np.ones(len(colours), dtype=np.int64)
    for cell in cells:
        run = np.ones(len(colours), dtype=np.int64)  # equal colours so far
        repeated = np.ones(len(colours), dtype=np.int64)
        for k in range(1, len(cell)):
            same = colours[:, cell[k]] == colours[:, cell[k - 1]]
            run = np.where(same, run + 1, 1)
            repeated *= run
        found *= factorial(len(cell)) // repeated
    return found

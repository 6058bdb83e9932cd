"""The tables of a symbolic product (layout: `ltlpipe.symmetry.sets.networks.layout`).

Rows: the words of the packed network, then the blocks of the members.  Cost: the row of
the plain product and, for n members, n times the bits of n - 1, rounded up to words.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.search.product import MAX_MARKS
from ltlpipe.symmetry.sets.automaton import PowersetAutomaton, Tables
from ltlpipe.symmetry.sets.networks.decomposition import symbolic_decompose
from ltlpipe.symmetry.sets.networks.inclusion import symbolic_includes, symbolic_key
from ltlpipe.symmetry.sets.networks.layout import (
    COLUMN,
    MOVED,
    PHASE,
    Blocks,
    Row,
    Sym,
    blocks_behind,
)
from ltlpipe.symmetry.sets.networks.phases import (
    Phase,
    common_blocks,
    phases_of,
    unseen,
)
from ltlpipe.symmetry.sets.networks.product import symbolic_successors
from ltlpipe.symmetry.sets.networks.starts import initial_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.networks.packing import PackedNetwork

_MAX_COLOURS = 1 << 55
"""Colours are hashed together with the number of a class in one word."""


_NUMBER = 8  # bytes
_STEP = 4 + 4 + 4  # bytes of a step beside its row: letter, action, marks


class IntTable:
    """The integer table while it is built."""

    def __init__(self, n_entries: int = len(Sym)) -> None:
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


def symbolic_product(
    symmetry: Symmetry,
    packed: PackedNetwork,
    automaton: PropertyAutomaton,
    letters: np.ndarray,
    *,
    stutter: bool = False,
    closes: bool = False,
    ends: Sequence[int] = (),
) -> Job[PowersetAutomaton]:
    """Return the symbolic product of a network and a property (Def. 12 of the source).

    Parameters
    ----------
    symmetry, packed
        Of the network, which is packed with ``extra_values=automaton.n_states`` and
        `letters`.
    automaton : PropertyAutomaton
        What is searched for; generalised Büchi.
    letters : int32[n_actions]
        The letter of each action.
    stutter : bool
        Whether a state without successors repeats itself for ever.
    closes : bool
        Whether successors are closed under what the property tells no difference of:
        `ltlpipe.symmetry.sets.networks.product`.
    ends : sequence of int
        States of the property in which every state repeats itself.

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks, or members have too many colours.
    StoppedError
        The tables would take more memory than is granted; they are not made.
    """
    n_marks = _count_marks(packed, automaton)
    needed = product_bytes(symmetry, packed, automaton)
    grant = yield Progress(TABULATING)
    if needed > grant.memory_bytes:
        raise StoppedError(MEMORY)
    blocks = blocks_behind(packed.initial.shape[0], symmetry.n_members)
    ints = IntTable()
    ints.header[Sym.STUTTER] = stutter
    ints.header[Sym.CLOSES] = closes
    ints.header[Sym.ENDS] = ints.append(np.isin(np.arange(automaton.n_states), ends))
    ints.header[Sym.LETTER_SHIFT] = automaton.system_marks
    if n_marks > automaton.n_marks:
        ints.header[Sym.SYSTEM_SHIFT] = automaton.n_marks
    _append_layout(ints, packed, blocks)
    append_swaps(ints, symmetry)
    append_colours(ints, symmetry, packed)
    phases = yield from phases_of(symmetry, automaton, letters)
    yield from _append_phases(ints, symmetry, automaton, phases)
    table = ints.joined()
    return PowersetAutomaton(
        successors=symbolic_successors,
        includes=symbolic_includes,
        decompose=symbolic_decompose,
        key=symbolic_key,
        tables=_tables(table, symmetry, packed, blocks),
        initial=_first_row(symmetry, packed, automaton, phases, blocks),
        n_marks=n_marks,
        widened=lambda: bool(table[Sym.CLOSED_MORE]),
        narrow=partial(_narrow, table),
    )


def _count_marks(packed: PackedNetwork, automaton: PropertyAutomaton) -> int:
    """Return the marks of the product: the property's, and the system's behind them.

    Marks of the system that the property's letters tell are the property's affair.
    """
    n_marks = automaton.n_marks
    if not automaton.system_marks:
        n_marks += packed.n_marks
    if n_marks > MAX_MARKS:
        raise UnsupportedError(
            f"the product has {n_marks} acceptance marks, the limit is {MAX_MARKS}: "
            "use --acceptance=ba"
        )
    return n_marks


def _tables(
    table: np.ndarray, symmetry: Symmetry, packed: PackedNetwork, blocks: Blocks
) -> Tables:
    """Return the integer table with all others, and buffers for the largest state."""
    n_steps = packed.max_successors
    return Tables(
        ints=table,
        words=_masks(symmetry, packed),
        system_ints=packed.ints,
        system_words=packed.words,
        scratch=np.zeros((len(Row), symmetry.n_members), dtype=np.int64),
        step_rows=np.zeros((n_steps + 1, blocks.n_words), dtype=np.uint64),
        step_letters=np.zeros(n_steps, dtype=np.int32),
        step_actions=np.zeros(n_steps, dtype=np.int32),
        step_marks=np.zeros(n_steps, dtype=np.uint32),
    )


def _first_row(
    symmetry: Symmetry,
    packed: PackedNetwork,
    automaton: PropertyAutomaton,
    phases: list[list[Phase]],
    blocks: Blocks,
) -> np.ndarray:
    """Return uint64[1, n_words]: the set of the initial state."""
    row = initial_set(symmetry, packed, unseen(symmetry, phases), blocks)
    extra = packed.extra
    row[extra.word] |= np.uint64(automaton.initial << extra.shift)
    return row[None]


def _narrow(table: np.ndarray) -> None:
    """Let successors be what they are from now on."""
    table[Sym.CLOSES] = table[Sym.CLOSED_MORE] = 0


def _cell(field: Field) -> np.ndarray:
    return np.array([field.word, field.shift, field.mask], dtype=np.int64)


def _masks(symmetry: Symmetry, packed: PackedNetwork) -> np.ndarray:
    """Return uint64[(2 + n_members) * n_words], bits of rows.

    First those that no permutation changes, then those of what moves with members, then
    those of each member.
    """
    n_words = packed.initial.shape[0]
    masks = np.zeros((2 + symmetry.n_members, n_words), dtype=np.uint64)
    kinds = dict.fromkeys(range(len(packed.fields)), 0)
    kinds |= dict.fromkeys(symmetry.moved, 1)
    for member, components in enumerate(symmetry.members):
        kinds |= dict.fromkeys(components, 2 + member)
    for component, field in enumerate(packed.fields):
        masks[kinds[component], field.word] |= np.uint64(field.mask << field.shift)
    extra = packed.extra
    masks[0, extra.word] |= np.uint64(extra.mask << extra.shift)
    return masks.ravel()


def _append_layout(ints: IntTable, packed: PackedNetwork, blocks: Blocks) -> None:
    """Append where rows have what."""
    ints.header[Sym.SYSTEM_WORDS] = ints.header[Sym.BLOCK_WORD] = blocks.word
    ints.header[Sym.BLOCK_BITS] = blocks.bits
    ints.header[Sym.BLOCKS_PER_WORD] = blocks.per_word
    ints.header[Sym.PROPERTY] = ints.append(_cell(packed.extra))


def append_swaps(ints: IntTable, symmetry: Symmetry) -> None:
    """Append classes and swaps of members."""
    ints.header[Sym.MEMBERS] = symmetry.n_members
    ints.header[Sym.CLASSES] = ints.append(symmetry.class_of)
    ints.header[Sym.SWAPS] = ints.append(symmetry.swap_of)
    ints.header[Sym.N_ACTIONS] = symmetry.action_swaps.shape[1]
    ints.header[Sym.ACTION_SWAPS] = ints.append(symmetry.action_swaps)


def append_colours(ints: IntTable, symmetry: Symmetry, packed: PackedNetwork) -> None:
    """Append what colours are made of, unless there are too many."""
    colours = _append_columns(ints, symmetry, packed)
    n_roles = _append_moved(ints, symmetry, packed)
    ints.header[Sym.ROLES] = n_roles
    if colours * n_roles > _MAX_COLOURS:
        raise UnsupportedError(
            f"interchangeable components have {colours * n_roles} colours, the limit "
            f"is {_MAX_COLOURS}: leave symmetry out of --reduce"
        )


def _append_columns(ints: IntTable, symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Append the components of members; return how many colours they make."""
    n_columns = max(len(member) for member in symmetry.members)
    cells = np.zeros((symmetry.n_members, n_columns, COLUMN), dtype=np.int64)
    cells[..., 3] = 1
    colours = 1
    for member, components in enumerate(symmetry.members):
        product = 1
        for column, component in enumerate(components):
            states = packed.local_states[component]
            canonical = symmetry.canonical[component][states]
            n_states = int(canonical.max()) + 1
            back = np.zeros(n_states, dtype=np.int64)
            back[canonical] = np.arange(len(states))
            field = packed.fields[component]
            cells[member, column] = (
                *_cell(field).tolist(),
                n_states,
                ints.append(canonical),
                ints.append(back),
            )
            product *= n_states
        colours = max(colours, product)
    ints.header[Sym.COLUMNS] = n_columns
    ints.header[Sym.COLUMN_CELLS] = ints.append(cells)
    return colours


def _append_moved(ints: IntTable, symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Append the other components that move; return how many roles they make."""
    cells = np.zeros((len(symmetry.moved), MOVED), dtype=np.int64)
    product = 1
    for cell, component in zip(cells, symmetry.moved, strict=True):
        states = packed.local_states[component]
        roles = symmetry.roles[component][states]
        swaps = np.searchsorted(states, symmetry.state_swaps[component][:, states])
        n_roles = int(roles.max()) + 1
        cell[:] = (
            *_cell(packed.fields[component]).tolist(),
            n_roles,
            ints.append(roles),
            ints.append(swaps),
            len(states),
        )
        product *= n_roles
    ints.header[Sym.MOVED] = len(symmetry.moved)
    ints.header[Sym.MOVED_CELLS] = ints.append(cells)
    return product


def _append_phases(
    ints: IntTable,
    symmetry: Symmetry,
    automaton: PropertyAutomaton,
    phases: list[list[Phase]],
) -> Job[None]:
    """Append the phases of each state of the property, and their transitions."""
    ticks = Ticks(TABULATING)
    first = np.cumsum([0, *map(len, phases)])
    cells = np.zeros((int(first[-1]), PHASE), dtype=np.int64)
    for cell, phase in zip(cells, (p for own in phases for p in own), strict=True):
        by_letter: list[list[tuple[int, int]]] = [
            [] for _ in range(automaton.n_letters)
        ]
        for edge in phase.edges:
            for letter in edge.letters:
                by_letter[letter].append((edge.dst, edge.marks))
        offsets = np.cumsum([0, *map(len, by_letter)])
        edges = np.array([e for own in by_letter for e in own], dtype=np.int64)
        cell[:] = (
            ints.append(np.array(phase.blocks)),
            ints.append(offsets),
            ints.append(edges),
        )
        if ticks.over(automaton.n_letters + len(edges)):
            yield ticks.progress
    closures = [common_blocks([phase.blocks for phase in own]) for own in phases]
    everyone = np.searchsorted(symmetry.class_of, symmetry.class_of)  # first of class
    ints.header[Sym.CLOSURES] = ints.append(
        np.array([own or everyone.tolist() for own in closures], dtype=np.int64)
    )
    ints.header[Sym.PHASES] = ints.append(first)
    ints.header[Sym.PHASE_CELLS] = ints.append(cells)


def product_bytes(
    symmetry: Symmetry, packed: PackedNetwork, automaton: PropertyAutomaton
) -> int:
    """Return the bytes of the tables and buffers that `symbolic_product` makes.

    They are exact but for the phases of the property, of which each of its states is
    taken to have one; it may have more, but none that its transitions do not call for.
    """
    n_system = packed.initial.shape[0]
    n_words = blocks_behind(n_system, symmetry.n_members).n_words
    numbers = (
        numbers_of_group(symmetry, packed)
        + 3  # the field of the property's state
        + automaton.n_states  # whether every state repeats itself in it
        + _of_phases(symmetry, automaton)
        + len(Row) * symmetry.n_members  # scratch
        + (2 + symmetry.n_members) * n_system  # masks
    )
    steps = packed.max_successors
    return int(_NUMBER * (numbers + (steps + 1) * n_words) + _STEP * steps)


def numbers_of_group(symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Return the entries of a table that knows the members, and no property."""
    return (
        len(Sym)
        + _of_swaps(symmetry)
        + _of_columns(symmetry, packed)
        + _of_moved(symmetry, packed)
    )


def _of_swaps(symmetry: Symmetry) -> int:
    """Return the numbers of classes and swaps."""
    return symmetry.n_members + symmetry.swap_of.size + symmetry.action_swaps.size


def _of_columns(symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Return the numbers of the members' components."""
    n_columns = max(len(member) for member in symmetry.members)
    total = symmetry.n_members * n_columns * COLUMN
    for component in (c for member in symmetry.members for c in member):
        states = packed.local_states[component]
        canonical = symmetry.canonical[component][states]
        total += len(states) + int(canonical.max()) + 1
    return total


def _of_moved(symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Return the numbers of the other components that move."""
    each = symmetry.n_members + symmetry.action_swaps.shape[0]
    n_states = sum(len(packed.local_states[component]) for component in symmetry.moved)
    return int(MOVED * len(symmetry.moved) + each * n_states)


def _of_phases(symmetry: Symmetry, automaton: PropertyAutomaton) -> int:
    """Return the numbers of the phases, one for each state with transitions."""
    n_states, n_letters = automaton.n_states, automaton.n_letters
    n_phases = int(np.count_nonzero(np.diff(automaton.first_edge[::n_letters])))
    each = PHASE + symmetry.n_members + n_letters + 1
    places = n_states + 1
    closures = n_states * symmetry.n_members
    n_edges = 2 * len(automaton.edge_dst)  # where each leads, and its marks
    return n_phases * each + places + closures + n_edges

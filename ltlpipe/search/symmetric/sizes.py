"""How much the tables of a symbolic product take, before they are made.

The swaps of members make most of it: one for each two of a class, each with where it
takes every action, and every state of what moves with members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.search.symmetric.layout import (
    COLUMN,
    MOVED,
    PHASE,
    Row,
    Sym,
    blocks_behind,
)

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.systems.packing import PackedNetwork

_NUMBER = 8  # bytes
_STEP = 4 + 4 + 4  # bytes of a step beside its row: letter, action, marks


def product_bytes(
    symmetry: Symmetry, packed: PackedNetwork, automaton: PropertyAutomaton
) -> int:
    """Return the bytes of the tables and buffers that `symbolic_product` makes.

    They are exact but for the phases of the property, of which each of its states is
    taken to have one; it may have more, but none that its transitions do not call for.

    Parameters
    ----------
    symmetry, packed, automaton
        As for `ltlpipe.search.symmetric.tables.symbolic_product`.
    """
    n_system = packed.initial.shape[0]
    n_words = blocks_behind(n_system, symmetry.n_members).n_words
    numbers = (
        len(Sym)
        + 3  # the field of the property's state
        + _of_swaps(symmetry)
        + _of_columns(symmetry, packed)
        + _of_moved(symmetry, packed)
        + _of_phases(symmetry, automaton)
        + len(Row) * symmetry.n_members  # scratch
        + (2 + symmetry.n_members) * n_system  # masks
    )
    steps = packed.max_successors
    return int(_NUMBER * (numbers + (steps + 1) * n_words) + _STEP * steps)


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

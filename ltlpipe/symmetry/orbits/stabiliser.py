"""The quotient of a network by a group that a property does not see.

Two states are of one *orbit* if a permutation of members within fixed blocks takes one
to the other.  The successor function of a network is made one of orbits: each is known
by its state whose colours ascend in every block.  If the permutations leave the actions
of each transition of the property as they are (they are in the *stabiliser* of what it
watches), they are automorphisms of the product; so the product of the quotient accepts
a run iff that of the network does, for whatever acceptance.  To a search the quotient
is a packed system like any other.

Sources: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods
in System Design 9, 1996, pp. 105-131 (the quotient, and the group of the formula).
C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", same volume, pp. 41-75
(canonical representatives).

Differences from the sources: the group is the largest product of full symmetric groups
in the stabiliser; the formula's symmetry is read from the transitions of its automaton;
of steps that permutations of equally coloured members take to each other one is kept.

Cost: beside the packed network the tables of the group; a successor costs what it costs
in the network, its colours, and an insertion sort of each block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import called, njit
from ltlpipe.symmetry.sets.networks.layout import Sym
from ltlpipe.symmetry.sets.networks.members import exchange, read_colours, sort_members
from ltlpipe.symmetry.sets.networks.phases import phases_of, unseen
from ltlpipe.symmetry.sets.networks.product import is_repeated
from ltlpipe.symmetry.sets.networks.starts import initial_row
from ltlpipe.symmetry.sets.networks.tables import (
    IntTable,
    append_colours,
    append_swaps,
    numbers_of_group,
)
from ltlpipe.systems.networks.packing_kernels import Select, expand_network

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.packing import PackedNetwork

_expand = called(expand_network)


def expand_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the orbits behind one (see `ltlpipe.systems.networks.packing`).

    All rows are representatives; `row` is.  The table has room for colours, and serves
    one search at a time.
    """
    network = ints[ints[Sym.NETWORK] :]
    n_steps = _expand(
        network, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    if select == Select.STUTTER:
        return n_steps
    before = ints[ints[Sym.BEFORE] :]
    own = ints[ints[Sym.OWN_COLOURS] :]
    colours = ints[ints[Sym.STEP_COLOURS] :]
    read_colours(ints, row, own)
    count = np.int64(0)
    for step in range(n_steps):
        if is_repeated(ints, out_actions[step], own, before):
            continue
        target = out_rows[count]
        if count < step:
            for w in range(row.shape[0]):
                target[w] = out_rows[step, w]
            out_letters[count] = out_letters[step]
            out_actions[count] = out_actions[step]
            out_marks[count] = out_marks[step]
        read_colours(ints, target, colours)
        sort_members(ints, target, colours, before)
        count += 1
    return count


def stabiliser(
    symmetry: Symmetry, automaton: PropertyAutomaton, letters: np.ndarray
) -> Job[tuple[int, ...]]:
    """Return, for each member, the first of its block: those that are never told apart.

    letters : int32[n_actions], of each action.
    """
    phases = yield from phases_of(symmetry, automaton, letters)
    return unseen(symmetry, phases)


def orbit_bytes(symmetry: Symmetry, packed: PackedNetwork) -> int:
    """Return the bytes of the table that `orbits` makes."""
    own = numbers_of_group(symmetry, packed) + 3 * symmetry.n_members
    return 8 * (own + len(packed.ints))


def orbits(
    symmetry: Symmetry, packed: PackedNetwork, blocks: tuple[int, ...]
) -> PackedNetwork:
    """Return a packed network whose states are orbits.

    Parameters
    ----------
    symmetry, packed
        Of the network; `packed` is not changed.
    blocks : tuple of int
        For each member the first one of its block.

    Raises
    ------
    UnsupportedError
        Members have too many colours.
    """
    ints = IntTable()
    append_swaps(ints, symmetry)
    append_colours(ints, symmetry, packed)
    latest: dict[int, int] = {}
    before = [-1] * symmetry.n_members
    for member, block in enumerate(blocks):
        before[member] = latest.get(block, -1)
        latest[block] = member
    ints.header[Sym.BEFORE] = ints.append(np.array(before))
    room = np.zeros(symmetry.n_members, dtype=np.int64)
    ints.header[Sym.OWN_COLOURS] = ints.append(room)
    ints.header[Sym.STEP_COLOURS] = ints.append(room)
    ints.header[Sym.NETWORK] = ints.append(packed.ints)
    return replace(
        packed,
        expand=expand_orbits,
        ints=ints.joined(),
        initial=initial_row(symmetry, packed, blocks),
    )


@njit
def exchange_two(ints, row, first, second):
    """Exchange two members in a state; for Python."""
    exchange(ints, row, first, second)


@njit
def find_step(ints, words, row, action, goal, buffers, colours):
    """Write to `row` the successor by an action whose representative is `goal`.

    row, goal : uint64[n_words]; buffers : rows, letters, actions and marks of the
    successors of one state; colours : int64[n_members] of the successor, written.
    Returns whether there is one.
    """
    out_rows, out_letters, out_actions, out_marks = buffers
    network = ints[ints[Sym.NETWORK] :]
    before = ints[ints[Sym.BEFORE] :]
    sorted_ = ints[ints[Sym.STEP_COLOURS] :]
    n_steps = _expand(
        network, words, row, Select.ALL, out_rows, out_letters, out_actions, out_marks
    )
    for step in range(n_steps):
        if out_actions[step] != action:
            continue
        target = out_rows[step]
        for w in range(row.shape[0]):
            row[w] = target[w]
        read_colours(ints, target, colours)
        read_colours(ints, target, sorted_)
        sort_members(ints, target, sorted_, before)
        same = True
        for w in range(row.shape[0]):
            same = same and target[w] == goal[w]
        if same:
            return True
    return False

"""Where runs of sets and of orbits begin: the initial state, however its members begin.

Members of a class may begin in different local states.  A permutation that the property
never sees takes product states to product states, and runs to runs with the same marks;
so one of the states that these permutations make of the initial one begins an accepting
run iff the initial state does.  The first set holds all of them.  A run that begins in
another one is taken to the initial state by a permutation that leads there.

States are put in order here as `ltlpipe.symmetry.sets.networks.members` does it: the
colours of members ascend in each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.symmetry.sets.networks.layout import Blocks
    from ltlpipe.systems.networks.packing import PackedNetwork

Permutation = tuple[int, ...]
"""Where what stands in the place of each member is moved to."""


def transpositions(permutation: Permutation) -> list[tuple[int, int]]:
    """Return exchanges of two places that make up a permutation.

    Examples
    --------
    >>> transpositions((1, 2, 0))
    [(0, 1), (0, 2)]
    """
    left = list(permutation)
    found = []
    for place in range(len(left)):
        while left[place] != place:
            other = left[place]
            found.append((place, other))
            left[place], left[other] = left[other], other
    return found


def initial_state(symmetry: Symmetry) -> np.ndarray:
    """Return the initial state of a network, int64[n_components]."""
    components = symmetry.network.components
    return np.array([c.initial for c in components], dtype=np.int64)


def arranged(
    symmetry: Symmetry, state: np.ndarray, blocks: Sequence[int]
) -> tuple[np.ndarray, Permutation]:
    """Return a state whose members stand in order, and what takes it back.

    Parameters
    ----------
    symmetry : Symmetry
        Of the network.
    state : int64[n_components]
        A state of it.
    blocks : sequence of int
        For each member the first one of its block.
    """
    colours = _colours(symmetry, state)
    order = list(range(symmetry.n_members))
    for block in set(blocks):
        places = [m for m, own in enumerate(blocks) if own == block]
        ascending = sorted(places, key=lambda m: colours[m])
        for place, member in zip(places, ascending, strict=True):
            order[place] = member
    back = tuple(order)
    inverse = tuple(np.argsort(back).tolist())
    return _permuted(symmetry, state[None], inverse)[0], back


def initial_row(
    symmetry: Symmetry, packed: PackedNetwork, blocks: Sequence[int]
) -> np.ndarray:
    """Return the row, uint64[n_words], of the initial state whose members are in order.

    Arguments are those of `arranged`.
    """
    state, _ = arranged(symmetry, initial_state(symmetry), blocks)
    row: np.ndarray = packed.rows_of(state[None])[0]
    return row


def initial_set(
    symmetry: Symmetry, packed: PackedNetwork, blocks: Sequence[int], layout: Blocks
) -> np.ndarray:
    """Return the set of what permutations within blocks make of the initial state.

    It is a canonical row, uint64[n_words] (`ltlpipe.symmetry.sets.networks.members`),
    without the state of the property.
    """
    row = np.zeros(layout.n_words, dtype=np.uint64)
    row[: layout.word] = initial_row(symmetry, packed, blocks)
    state = packed.unpack(row[None])[0]
    colours = _colours(symmetry, state)
    classes = symmetry.class_of.tolist()
    several = {b for b, c in zip(blocks, colours, strict=True) if c != colours[b]}
    numbers: dict[object, int] = {}
    for member, (block, colour) in enumerate(zip(blocks, colours, strict=True)):
        # Blocks with one colour are one.
        known = block if block in several else (classes[member], colour)
        number = numbers.setdefault(known, len(numbers))
        place, at = divmod(member, layout.per_word)
        row[layout.word + place] |= np.uint64(number << (at * layout.bits))
    return row


def from_initial_state(symmetry: Symmetry, blocks: Sequence[int], found: Run) -> Run:
    """Return a run that begins in the initial state, for one that begins in its set.

    `blocks` has for each member the first one of its block.
    """
    start = initial_state(symmetry)
    if np.array_equal(found.states[0], start):
        return found
    least, back = arranged(symmetry, start, blocks)
    own, own_back = arranged(symmetry, found.states[0].astype(np.int64), blocks)
    if not np.array_equal(least, own):
        raise ReplayError("a run of sets does not begin in the first one")
    permutation = list(back)
    for place, member in enumerate(own_back):
        permutation[member] = back[place]
    states = _permuted(symmetry, found.states, tuple(permutation))
    actions = found.actions.copy()
    steps = actions >= 0
    for first, second in transpositions(tuple(permutation)):
        swap = symmetry.action_swaps[symmetry.swap_of[first, second]]
        actions[steps] = swap[actions[steps]]
    return Run(actions, states, found.length)


def _colours(symmetry: Symmetry, state: np.ndarray) -> list[tuple[int, ...]]:
    """Return the colours of all members, in the order of `members.read_colours`."""
    canonical, roles = symmetry.canonical, symmetry.roles
    return [
        (
            *(int(canonical[c][state[c]]) for c in components),
            *(int(roles[c][state[c], member]) for c in symmetry.moved),
        )
        for member, components in enumerate(symmetry.members)
    ]


def _permuted(
    symmetry: Symmetry, states: np.ndarray, permutation: Permutation
) -> np.ndarray:
    """Return what a permutation makes of states, int[k, n_components]."""
    images = states.copy()
    for first, second in transpositions(permutation):
        _exchange(symmetry, images, first, second)
    return images


def _exchange(symmetry: Symmetry, states: np.ndarray, first: int, second: int) -> None:
    """Exchange two members of a class in states, int[k, n_components], in place."""
    members, canonical = symmetry.members, symmetry.canonical
    for here, there in zip(members[first], members[second], strict=True):
        number_here = canonical[here][states[:, here]]
        number_there = canonical[there][states[:, there]]
        states[:, here] = _back(canonical[here])[number_there]
        states[:, there] = _back(canonical[there])[number_here]
    swap = symmetry.swap_of[first, second]
    for component in symmetry.moved:
        images = symmetry.state_swaps[component][swap]
        states[:, component] = images[states[:, component]]


def _back(canonical: np.ndarray) -> np.ndarray:
    """Return the states with each number of `Symmetry.canonical`."""
    states = np.zeros(int(canonical.max()) + 1, dtype=np.int64)
    known = np.flatnonzero(canonical >= 0)
    states[canonical[known]] = known
    return states

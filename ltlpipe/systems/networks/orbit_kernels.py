"""Representatives of states under a group of permutations, and steps between them.

A group acts on the fields of a row: an element moves the value of each field to another
one, and may rename it on the way.  It comes as *factors* whose elements move different
fields.  Some elements of a factor are *listed*: each is applied to the state.  Others
are *tried*, on the state and all these images, as long as they make it less.  The least
of what this leads to is the representative.

The table stands behind that of the system, whose own places stay as they are; its last
entry says where it begins.  It has room to work in, and serves one search at a time.

Sources: C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", Formal Methods
in System Design 9, 1996, pp. 41-75 (representatives); A. F. Donaldson and A. Miller,
"Exact and Approximate Strategies for Symmetry Reduction in Model Checking", FM 2006
(enumeration, and local search where a group is large).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.systems.networks.packing_kernels import Select, expand_network, read_field

_expand = called(expand_network)


class Factor(IntEnum):
    """The entries for a factor, which follow the number of factors."""

    LISTED = 0  # number of elements that are listed, without the identity
    TRIED = 1  # number of elements that are tried
    FIELDS = 2  # number of fields that it moves
    CELLS = 3  # place of (word, shift, mask) of each
    FIRST = 4  # place of the first move of each element, listed ones first, and the end
    ROOM = 5  # place of four times as many numbers as fields


FACTOR_STRIDE = len(Factor)
CELL_STRIDE = 3

MOVE_STRIDE = 3
"""The numbers of the field that gets a value and of that which it comes from, among
those of the factor, and the place of the new names of values, or 0.

An element that is listed moves all fields; of those that are tried the moves that
change nothing are left out."""


@inlined
def moved(ints, move, state):
    """Return the value that a move leads to."""
    value = ints[state + ints[move + 1]]
    names = ints[move + 2]
    return ints[names + value] if names != 0 else value


@inlined
def is_less(ints, first, end, state, best):
    """Whether moves make a state less than the values at `best`.

    Then these become what the moves make of the state.  The moves lie from `first` to
    `end`, by the fields that they change.
    """
    for move in range(first, end, MOVE_STRIDE):
        value, least = moved(ints, move, state), ints[best + ints[move]]
        if value > least:
            return False
        if value < least:
            for later in range(move, end, MOVE_STRIDE):
                ints[best + ints[later]] = moved(ints, later, state)
            return True
    return False


@inlined
def least_listed(ints, at, state, best):
    """Write the least image of a state; return whether it is another one."""
    changed = False
    first = ints[at + Factor.FIRST]
    for element in range(ints[at + Factor.LISTED]):
        begin, end = ints[first + element], ints[first + element + 1]
        changed = is_less(ints, begin, end, state, best) or changed
    return changed


@called
def lessen(ints, at, state, less):
    """Make a state less by elements that are tried; return whether one did.

    Both become what the state becomes.
    """
    changed = False
    n_tried = ints[at + Factor.TRIED]
    first = ints[at + Factor.FIRST] + ints[at + Factor.LISTED]
    for place in range(ints[at + Factor.FIELDS]):
        ints[less + place] = ints[state + place]
    failures = 0  # since the last element that made the state less
    tried = 0
    while failures < n_tried:
        failures += 1
        begin, end = ints[first + tried], ints[first + tried + 1]
        if is_less(ints, begin, end, state, less):
            changed = True
            failures = 0
            for move in range(begin, end, MOVE_STRIDE):
                ints[state + ints[move]] = ints[less + ints[move]]
        tried += 1
        if tried == n_tried:
            tried = 0
    return changed


@inlined
def least_lessened(ints, at, state, best):
    """Write the least that the images of a state are lessened to.

    Returns whether it is another one.
    """
    n_fields = ints[at + Factor.FIELDS]
    image, spare = best + n_fields, best + 2 * n_fields
    changed = lessen(ints, at, best, spare)
    first = ints[at + Factor.FIRST]
    for element in range(ints[at + Factor.LISTED]):
        begin, end = ints[first + element], ints[first + element + 1]
        for move in range(begin, end, MOVE_STRIDE):
            ints[image + ints[move]] = moved(ints, move, state)
        lessen(ints, at, image, spare)
        place = 0
        while place < n_fields and ints[image + place] == ints[best + place]:
            place += 1
        if place < n_fields and ints[image + place] < ints[best + place]:
            changed = True
            for later in range(place, n_fields):
                ints[best + later] = ints[image + later]
    return changed


@inlined
def least(ints, at):
    """Write a representative behind the values of a factor's fields, in its room.

    Returns whether they differ.
    """
    n_fields = ints[at + Factor.FIELDS]
    state = ints[at + Factor.ROOM]
    best = state + n_fields
    for place in range(n_fields):
        ints[best + place] = ints[state + place]
    if ints[at + Factor.TRIED] == 0:
        return least_listed(ints, at, state, best)
    return least_lessened(ints, at, state, best)


@called
def normalise(ints, row):
    """Make a row a representative of its orbit."""
    table = ints[ints.shape[0] - 1]
    at = table + 1
    for _ in range(ints[table]):
        n_fields = ints[at + Factor.FIELDS]
        state = ints[at + Factor.ROOM]
        cell = ints[at + Factor.CELLS]
        for place in range(n_fields):
            ints[state + place] = read_field(ints, cell + CELL_STRIDE * place, row)
        if least(ints, at):
            best = state + n_fields
            for place in range(n_fields):
                shift = np.uint64(ints[cell + 1])
                word = ints[cell]
                mask = np.uint64(ints[cell + 2]) << shift
                value = np.uint64(ints[best + place]) << shift
                row[word] = (row[word] & ~mask) | value
                cell += CELL_STRIDE
        at += FACTOR_STRIDE


@called
def normalise_all(ints, select, rows, count):
    """Make the first rows representatives, unless a state repeats itself."""
    if select != Select.STUTTER:
        for k in range(count):
            normalise(ints, rows[k])
    return count


def expand_network_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the representatives behind that of a composed state.

    See `ltlpipe.systems.networks.packing`.
    """
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)

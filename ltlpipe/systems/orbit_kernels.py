"""Representatives of states under a group of permutations, and steps between them.

A group acts on the fields of a row: an element moves the value of each field to another
one, and may rename it on the way.  It comes as *factors* whose elements move different
fields.  A factor is *listed*, then all its elements are there and the least row that
they make of a state is its one representative; or its elements are a part of it that
is tried as long as rows become less: then a state has one or several.

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
from ltlpipe.systems.packing_kernels import Select, expand_network, read_field

_expand = called(expand_network)


class Factor(IntEnum):
    """The entries for a factor, which follow the number of factors."""

    LISTED = 0  # whether all its elements are there
    ELEMENTS = 1  # their number, without the identity
    FIELDS = 2  # number of fields that it moves
    CELLS = 3  # place of (word, shift, mask) of each
    SOURCES = 4  # place of the field, among these, that each gets its value from
    VALUES = 5  # place of where the new names of values are, -1 for the old ones; or 0
    ROOM = 6  # place of two times as many numbers as fields


FACTOR_STRIDE = len(Factor)
CELL_STRIDE = 3


@inlined
def image(ints, at, element, place, state):
    """Return the value of a field in what an element makes of a state.

    `at` is the place of the factor, `state` that of the values of its fields.
    """
    entry = element * ints[at + Factor.FIELDS] + place
    value = ints[state + ints[ints[at + Factor.SOURCES] + entry]]
    names = ints[at + Factor.VALUES]
    if names != 0 and ints[names + entry] >= 0:
        value = ints[ints[names + entry] + value]
    return value


@inlined
def is_less(ints, at, element, state, best):
    """Whether the image of a state is less than the values at `best`.

    Then it takes their place.
    """
    n_fields = ints[at + Factor.FIELDS]
    for place in range(n_fields):
        value = image(ints, at, element, place, state)
        if value == ints[best + place]:
            continue
        if value > ints[best + place]:
            return False
        for later in range(place, n_fields):
            ints[best + later] = image(ints, at, element, later, state)
        return True
    return False


@inlined
def least(ints, at):
    """Replace the values of a factor's fields by the least ones; return if they differ.

    They stand in its room, followed by as many numbers that are overwritten.
    """
    n_fields, n_elements = ints[at + Factor.FIELDS], ints[at + Factor.ELEMENTS]
    state = ints[at + Factor.ROOM]
    best = state + n_fields
    for place in range(n_fields):
        ints[best + place] = ints[state + place]
    changed = False
    if ints[at + Factor.LISTED] != 0:
        for element in range(n_elements):
            changed = is_less(ints, at, element, state, best) or changed
    else:
        failures = 0  # since the last element that made the state less
        tried = 0
        while failures < n_elements:
            failures += 1
            if is_less(ints, at, tried, state, best):
                changed = True
                failures = 0
                for place in range(n_fields):
                    ints[state + place] = ints[best + place]
            tried += 1
            if tried == n_elements:
                tried = 0
    return changed


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

    See `ltlpipe.systems.packing`.
    """
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)

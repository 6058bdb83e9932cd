"""The successor function of packed networks, and representatives under groups.

Tables are described in `ltlpipe.systems.networks.packing`.

A group acts on the fields of a row: an element moves the value of each field to another
one, and may rename it on the way.  It comes as *factors* whose elements move different
fields.  Some elements of a factor are *listed*: each is applied to the state.  In the
state and all these images the members of *classes* are sorted, or elements are *tried*
as long as they make it less.  The least of what this leads to is the representative.

The table of a group stands behind that of the system, whose own places stay as they
are; its last entry says where it begins.  It has room to work in, and serves one search
at a time.

Sources: C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", Formal Methods
in System Design 9, 1996, pp. 41-75 (representatives); A. F. Donaldson and A. Miller,
"Exact and Approximate Strategies for Symmetry Reduction in Model Checking", FM 2006
(enumeration, and local search where a group is large).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined

COMPONENT_STRIDE = 4  # word, shift, mask, place of the component's table


class Header(IntEnum):
    """The first entries of a network's `ints`."""

    N_COMPONENTS = 0
    COMPONENTS = 1  # place of COMPONENT_STRIDE entries per component
    MOVES = 2  # place of (action, letter) per move
    N_WIDE = 3  # number of wide actions
    WIDE = 4  # place of the first of them
    MARKS = 5  # all marks of accepting states, as bits
    REPEATED = 6  # the letter of a state that repeats itself


class Select(IntEnum):
    """What a successor function is asked for."""

    ALL = -1  # every successor
    STUTTER = -2  # the step in which the state repeats itself


@inlined
def read_field(ints, cell, row):
    """Return the value of the field described at ``ints[cell:cell + 3]``."""
    word = row[ints[cell]] >> np.uint64(ints[cell + 1])
    return np.int64(word & np.uint64(ints[cell + 2]))


@inlined
def repeat(row, letter, marks, out_rows, out_letters, out_actions, out_marks):
    """Write the step in which a state repeats itself; return 1."""
    for w in range(row.shape[0]):
        out_rows[0, w] = row[w]
    out_letters[0] = letter
    out_actions[0] = -1
    out_marks[0] = marks
    return 1


@inlined
def multiply_out(ints, cell, row, out_rows, count):
    """Append the successors of `row` by the wide action at ``ints[cell]``.

    The rows grow participant by participant: what the earlier ones left is
    copied once for each further choice.  Returns the new count.
    """
    n_words = row.shape[0]
    made = 1
    for w in range(n_words):
        out_rows[count, w] = row[w]
    participant = cell + 3
    for _ in range(ints[cell + 2]):
        offsets = ints[participant + 3] + read_field(ints, participant, row)
        first = ints[offsets]
        n_choices = ints[offsets + 1] - first
        # The first choice comes last: it changes the rows that are copied.
        for choice in range(n_choices - 1, -1, -1):
            change = np.uint64(ints[first + choice]) << np.uint64(ints[participant + 1])
            for i in range(made):
                target = count + choice * made + i
                for w in range(n_words):
                    out_rows[target, w] = out_rows[count + i, w]
                out_rows[target, ints[participant]] ^= change
        made *= n_choices
        participant += COMPONENT_STRIDE
    return count + made


def expand_network(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the successors of a composed state.

    The tables are described in `ltlpipe.systems.networks.packing`.
    """
    n_words = row.shape[0]
    count = 0
    accepting = ints[Header.MARKS]
    cell = ints[Header.COMPONENTS]
    labels = ints[Header.MOVES]
    for _ in range(ints[Header.N_COMPONENTS]):
        entry = ints[cell + 3] + 2 * read_field(ints, cell, row)
        cell += COMPONENT_STRIDE
        accepting &= ints[entry + 1]
        if select == Select.STUTTER:
            continue
        for move in range(ints[entry], ints[entry + 2]):
            at = 3 * n_words * move
            enabled = True
            for w in range(n_words):
                if row[w] & words[at + 3 * w] != words[at + 3 * w + 1]:
                    enabled = False
                    break
            if enabled:
                for w in range(n_words):
                    out_rows[count, w] = row[w] ^ words[at + 3 * w + 2]
                out_actions[count] = ints[labels + 2 * move]
                out_letters[count] = ints[labels + 2 * move + 1]
                count += 1
    marks = np.uint32(accepting)
    if select == Select.STUTTER:
        own = ints[Header.REPEATED]
        return repeat(row, own, marks, out_rows, out_letters, out_actions, out_marks)
    for i in range(ints[Header.N_WIDE]):
        action = ints[ints[Header.WIDE] + i]
        end = multiply_out(ints, action, row, out_rows, count)
        for k in range(count, end):
            out_actions[k] = ints[action]
            out_letters[k] = ints[action + 1]
        count = end
    for i in range(count):
        out_marks[i] = marks
    return count


class Factor(IntEnum):
    """The entries for a factor, which follow the number of factors."""

    LISTED = 0  # number of elements that are listed, without the identity
    TRIED = 1  # number of elements that are tried
    FIELDS = 2  # number of fields that it moves
    CELLS = 3  # place of (word, shift, mask) of each
    FIRST = 4  # place of the first move of each element, listed ones first, and the end
    ROOM = 5  # place of four times as many numbers as fields
    CLASSES = 6  # place of the number of classes; see `sort_members`


FACTOR_STRIDE = len(Factor)
CELL_STRIDE = 3

MOVE_STRIDE = 3
"""The numbers of the field that gets a value and of that which it comes from, among
those of the factor, and the place of the new names of values, or 0.

An element that is listed moves all fields; of those that are tried the moves that
change nothing are left out."""

MEMBER_STRIDE = 3
"""The number of a member's field among those of the factor, and the places of the names
of its values in the first member and of those back, or 0."""


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
    """Write the least image of a state."""
    first = ints[at + Factor.FIRST]
    for element in range(ints[at + Factor.LISTED]):
        begin, end = ints[first + element], ints[first + element + 1]
        is_less(ints, begin, end, state, best)


@inlined
def rename(ints, entry, end, which, state):
    """Rename values of members: to those of the first (1), or back (2)."""
    while entry < end:
        names = ints[entry + which]
        if names != 0:
            place = state + ints[entry]
            ints[place] = ints[names + ints[place]]
        entry += MEMBER_STRIDE


@inlined
def exchanged(ints, entry, width, state):
    """Exchange a member with the one before if it is less; return whether it was."""
    for column in range(entry, entry + width, MEMBER_STRIDE):
        value = ints[state + ints[column]]
        before = ints[state + ints[column - width]]
        if value > before:
            return False
        if value < before:
            for later in range(column, entry + width, MEMBER_STRIDE):
                here, there = state + ints[later], state + ints[later - width]
                ints[here], ints[there] = ints[there], ints[here]
            return True
    return False


@called
def sort_members(ints, at, state):
    """Sort the members of each class.

    Behind the number of classes there are, for each of them, the number of members and
    of the fields of one, and `MEMBER_STRIDE` numbers for each field of each member.
    """
    own = ints[at + Factor.CLASSES] + 1
    for _ in range(ints[own - 1]):
        n_members, width = ints[own], ints[own + 1] * MEMBER_STRIDE
        first = own + 2
        own = first + n_members * width
        rename(ints, first, own, 1, state)
        for member in range(1, n_members):
            entry = first + member * width
            while entry > first and exchanged(ints, entry, width, state):
                entry -= width
        rename(ints, first, own, 2, state)


@called
def lessen(ints, at, state, less):
    """Make a state less by elements that are tried.

    Both become what the state becomes.
    """
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
            failures = 0
            for move in range(begin, end, MOVE_STRIDE):
                ints[state + ints[move]] = ints[less + ints[move]]
        tried += 1
        if tried == n_tried:
            tried = 0


@inlined
def settle(ints, at, state, spare):
    """Sort the members of a state, or make it less by elements that are tried."""
    if ints[at + Factor.TRIED] == 0:
        sort_members(ints, at, state)
    else:
        lessen(ints, at, state, spare)


@inlined
def least_settled(ints, at, state, best):
    """Write the least that the images of a state, and itself at `best`, settle to."""
    n_fields = ints[at + Factor.FIELDS]
    image, spare = best + n_fields, best + 2 * n_fields
    settle(ints, at, best, spare)
    first = ints[at + Factor.FIRST]
    for element in range(ints[at + Factor.LISTED]):
        begin, end = ints[first + element], ints[first + element + 1]
        for move in range(begin, end, MOVE_STRIDE):
            ints[image + ints[move]] = moved(ints, move, state)
        settle(ints, at, image, spare)
        place = 0
        while place < n_fields and ints[image + place] == ints[best + place]:
            place += 1
        if place < n_fields and ints[image + place] < ints[best + place]:
            for later in range(place, n_fields):
                ints[best + later] = ints[image + later]


@inlined
def least(ints, at):
    """Write a representative behind the values of a factor's fields, in its room."""
    n_fields = ints[at + Factor.FIELDS]
    state = ints[at + Factor.ROOM]
    best = state + n_fields
    for place in range(n_fields):
        ints[best + place] = ints[state + place]
    if ints[at + Factor.TRIED] == 0 and ints[ints[at + Factor.CLASSES]] == 0:
        least_listed(ints, at, state, best)
    else:
        least_settled(ints, at, state, best)


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
        least(ints, at)
        for place in range(n_fields):
            value = ints[state + n_fields + place]
            if value != ints[state + place]:
                shift = np.uint64(ints[cell + 1])
                word = ints[cell]
                mask = np.uint64(ints[cell + 2]) << shift
                row[word] = (row[word] & ~mask) | (np.uint64(value) << shift)
            cell += CELL_STRIDE
        at += FACTOR_STRIDE


@called
def normalise_all(ints, select, rows, count):
    """Make the first rows representatives, unless a state repeats itself."""
    if select != Select.STUTTER:
        for k in range(count):
            normalise(ints, rows[k])
    return count


_expand = called(expand_network)


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

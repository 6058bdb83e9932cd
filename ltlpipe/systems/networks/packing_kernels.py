"""The successor function of packed networks (`ltlpipe.systems.networks.packing`)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined

COMPONENT_STRIDE = 4  # word, shift, mask, place of the component's table


class Header(IntEnum):
    """The first entries of a network's `ints`."""

    N_COMPONENTS = 0
    COMPONENTS = 1  # place of COMPONENT_STRIDE entries per component
    MOVES = 2  # place of (action, letter) per move
    N_WIDE = 3  # number of wide actions
    WIDE = 4  # place of the first of them
    MARKS = 5  # all marks of accepting states, as bits


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
    if select == Select.STUTTER:
        for w in range(n_words):
            out_rows[0, w] = row[w]
        out_actions[0] = -1
        out_letters[0] = 0
        count = 1
    else:
        for i in range(ints[Header.N_WIDE]):
            action = ints[ints[Header.WIDE] + i]
            end = multiply_out(ints, action, row, out_rows, count)
            for k in range(count, end):
                out_actions[k] = ints[action]
                out_letters[k] = ints[action + 1]
            count = end
    marks = np.uint32(accepting)
    for i in range(count):
        out_marks[i] = marks
    return count

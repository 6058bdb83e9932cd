"""The successor function of graphs (see `ltlpipe.systems.graph`)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.systems.networks.packing_kernels import Select, read_field, repeat

HALF = 32
LOW = (1 << HALF) - 1
"""An entry of a step holds two numbers of 32 bits each."""


class Header(IntEnum):
    """The first entries of a graph's `ints`."""

    WORD = 0  # the field of the state
    SHIFT = 1
    MASK = 2
    FIRST = 3  # place of the number of the first step of each state
    STEPS = 4  # place of two entries per step: target and letter, action + 1 and marks


def expand_graph(
    ints,
    words,  # noqa: ARG001 (one signature for all)
    row,
    select,
    out_rows,
    out_letters,
    out_actions,
    out_marks,
):
    """Generate the successors of a state (see `ltlpipe.systems.networks.packing`)."""
    if select == Select.STUTTER:
        return repeat(row, 0, 0, out_rows, out_letters, out_actions, out_marks)
    word = ints[Header.WORD]
    shift = np.uint64(ints[Header.SHIFT])
    state = read_field(ints, Header.WORD, row)
    first = ints[ints[Header.FIRST] + state]
    n = ints[ints[Header.FIRST] + state + 1] - first
    at = ints[Header.STEPS] + 2 * first
    for k in range(n):
        step, about = ints[at + 2 * k], ints[at + 2 * k + 1]
        for w in range(row.shape[0]):
            out_rows[k, w] = row[w]
        out_rows[k, word] ^= np.uint64(state ^ (step & LOW)) << shift
        out_letters[k] = step >> HALF
        out_actions[k] = (about & LOW) - 1
        out_marks[k] = np.uint32((about >> HALF) & LOW)
    return n

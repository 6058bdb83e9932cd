"""The successor function of graphs (see `ltlpipe.systems.graph`)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.systems.networks.packing_kernels import Select, read_field

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


@inlined
def copy_row(row, out_rows, n):
    """Write a row as the n-th successor."""
    for w in range(row.shape[0]):
        out_rows[n, w] = row[w]


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
        copy_row(row, out_rows, 0)
        out_letters[0] = 0
        out_actions[0] = -1
        out_marks[0] = 0
        return 1
    word = ints[Header.WORD]
    shift = np.uint64(ints[Header.SHIFT])
    state = read_field(ints, Header.WORD, row)
    first = ints[ints[Header.FIRST] + state]
    n = ints[ints[Header.FIRST] + state + 1] - first
    at = ints[Header.STEPS] + 2 * first
    for k in range(n):
        step, about = ints[at + 2 * k], ints[at + 2 * k + 1]
        copy_row(row, out_rows, k)
        out_rows[k, word] ^= np.uint64(state ^ (step & LOW)) << shift
        out_letters[k] = step >> HALF
        out_actions[k] = (about & LOW) - 1
        out_marks[k] = np.uint32((about >> HALF) & LOW)
    return n

"""Successor functions: static ample sets of models, and the steps of graphs.

Which steps of a model may stand for all steps of a state is a table of numbers, an
entry per action (`ltlpipe.por.groups` makes it), so it costs no code: the
successors of a state are generated as ever, and those that may wait are dropped.

The successor function of graphs is that of `ltlpipe.systems.graph`.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.systems.networks.packing import BLOCKED, LEADS, Entry
from ltlpipe.systems.networks.packing_kernels import Select, read_field, repeat

ENTRIES = len(Entry)


@called
def takes_part(ints, at, first, second):
    """Whether the action at ``ints[at]`` is one of some places."""
    ends = (ints[at + Entry.FIRST], ints[at + Entry.SECOND])
    return first in ends or second in ends


@called
def is_ample(ints, table, first, second, out_actions, count):
    """Whether none of the enabled actions of some places is blocked."""
    for i in range(count):
        at = table + ENTRIES * out_actions[i]
        if ints[at + Entry.KIND] & BLOCKED and takes_part(ints, at, first, second):
            return False
    return True


@called
def keep_ample(ints, table, n_words, out_rows, out_actions, count):
    """Drop the steps of a state that may wait for others.

    The first action that leads a group without blocked actions has it kept; without
    such an action, all steps are.

    Parameters
    ----------
    ints : int64[...]
        From `table` on, the entries of the actions; see `Entry`.
    table : int64
        Where they begin.
    n_words : int64
        Words of a row that have been written.
    out_rows, out_actions : uint64[m, w], int32[m]
        The steps, changed in place.
    count : int64
        How many there are.

    Returns
    -------
    int64
        How many are left, in the order that they had.
    """
    for leader in range(count):
        entry = table + ENTRIES * out_actions[leader]
        if ints[entry + Entry.KIND] != LEADS:
            continue
        first, second = ints[entry + Entry.FIRST], ints[entry + Entry.SECOND]
        if not is_ample(ints, table, first, second, out_actions, count):
            continue
        kept = 0
        for i in range(count):
            at = table + ENTRIES * out_actions[i]
            if takes_part(ints, at, first, second):
                out_actions[kept] = out_actions[i]
                for word in range(n_words):
                    out_rows[kept, word] = out_rows[i, word]
                kept += 1
        return kept
    return count


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

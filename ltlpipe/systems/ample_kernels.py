"""What successor functions of models do with a static ample set.

Which steps of a model may stand for all steps of a state is a table of numbers, an
entry per action (`ltlpipe.por.groups` makes it), so it costs no code: the
successors of a state are generated as ever, and those that may wait are dropped.
"""

from __future__ import annotations

from enum import IntEnum

from ltlpipe.runtime.kernels.jit import called


class Entry(IntEnum):
    """What the table has for each action."""

    KIND = 0  # LEADS, BLOCKED or both
    FIRST = 1  # the place that takes part in it
    SECOND = 2  # the other one, or the same


LEADS = 1
"""Where this action is enabled, the actions of its places are a group."""

BLOCKED = 2
"""A group with this action is no ample set where the action is enabled."""

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

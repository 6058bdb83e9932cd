"""What successor functions of models do with a static ample set.

Which steps of a model may stand for all steps of a state is a table of numbers, one
per action (`ltlpipe.reduction.static` makes it), so it costs no code: the successors
of a state are generated as ever, and those that may wait are dropped.
"""

from __future__ import annotations

from ltlpipe._jit import called

BLOCKED = 1
"""The bit of a code that says: not in an ample set; the others are the group."""


@called
def keep_ample(ints, table, n_words, out_rows, out_actions, count):
    """Drop the steps of a state that may wait for others.

    The steps of a group are an ample set if none of them is blocked.  The first such
    group is kept; without one, all steps are.

    Parameters
    ----------
    ints : int64[...]
        ``ints[table + a]`` is the code of action a: 0 for one that is in no group,
        else twice the number of its group, with `BLOCKED` or without.
    table : int64
        Where the codes begin.
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
    rejected = 0
    for first in range(count):
        group = ints[table + out_actions[first]] & ~BLOCKED
        if group == 0 or group == rejected:
            continue
        blocked = False
        for i in range(first, count):
            blocked |= ints[table + out_actions[i]] == group | BLOCKED
        if blocked:
            rejected = group
            continue
        kept = 0
        for i in range(first, count):
            if ints[table + out_actions[i]] == group:
                out_actions[kept] = out_actions[i]
                for word in range(n_words):
                    out_rows[kept, word] = out_rows[i, word]
                kept += 1
        return kept
    return count

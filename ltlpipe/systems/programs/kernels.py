"""What generated successor functions call.

The first entries of a model's `ints` say what `finish` needs (`Header`); the tables
of the propositions follow.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.systems.ample_kernels import keep_ample
from ltlpipe.systems.networks.packing_kernels import repeat
from ltlpipe.systems.propositions.kernels import letter_of


class Header(IntEnum):
    """The first entries of a model's `ints`."""

    LETTERS = 0  # place of the table of propositions
    TAKEN = 1  # place of the letters of actions, 0 if no proposition is about them
    SEED = 2  # 0, or how successors are shuffled
    AMPLE = 3  # place of the codes of `keep_ample`, 0 if all steps are taken


N_HEADER = len(Header)

FAILED = 1 << 31
"""The mark of a step of a synchronous system that fails."""


@inlined
def wrapped(value):
    """Return a number as a signed integer of 32 bits."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@inlined
def divided(a, b):
    """Return a quotient, rounded towards zero; `b` is not 0."""
    quotient = abs(a) // abs(b)
    if (a < 0) != (b < 0):
        quotient = -quotient
    return wrapped(quotient)


@inlined
def remainder(a, b):
    """Return what is left by `divided`; it has the sign of `a`."""
    left = abs(a) % abs(b)
    return -left if a < 0 else left


@called
def finish(ints, row, n_own, out_rows, out_letters, out_actions, out_marks, count):
    """Complete `count` successors whose first `n_own` words and actions are there.

    Those that may wait are dropped, the other words are copied, letters and marks
    written, and the successors shuffled, as the model's `ints` ask for.  Returns how
    many are left.
    """
    if ints[Header.AMPLE] != 0:
        count = keep_ample(
            ints, ints[Header.AMPLE], n_own, out_rows, out_actions, count
        )
    for word in range(n_own, row.shape[0]):
        for i in range(count):
            out_rows[i, word] = row[word]
    if ints[Header.SEED] != 0:
        shuffle(ints[Header.SEED], row, out_rows, out_actions, count)
    letter = letter_of(ints, ints[Header.LETTERS], row, np.int64(count == 0))
    taken = ints[Header.TAKEN]
    for i in range(count):
        out_letters[i] = letter
        if taken != 0:
            out_letters[i] = letter | ints[taken + out_actions[i]]
        out_marks[i] = 0
    return count


@called
def stutter(ints, row, out_rows, out_letters, out_actions, out_marks):
    """Write the step in which a state without successors repeats itself; return 1."""
    letter = letter_of(ints, ints[Header.LETTERS], row, np.int64(1))
    return repeat(row, letter, 0, out_rows, out_letters, out_actions, out_marks)


@called
def shuffle(seed, row, out_rows, out_actions, count):
    """Put successors into an order that depends on the seed and the state alone."""
    mixed = np.uint64(seed)
    for word in range(row.shape[0]):
        mixed = (mixed ^ row[word]) * np.uint64(0x9E3779B97F4A7C15)
    for last in range(count - 1, 0, -1):
        mixed = mixed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = np.int64((mixed >> np.uint64(33)) % np.uint64(last + 1))
        out_actions[last], out_actions[other] = out_actions[other], out_actions[last]
        for word in range(row.shape[0]):
            kept = out_rows[last, word]
            out_rows[last, word] = out_rows[other, word]
            out_rows[other, word] = kept


@called
def multiply(n_own, out_rows, out_actions, out_marks, made, choices, action, marks):
    """Copy the first `made` joint steps for one more transition of a process.

    The copies stand behind those of its `choices` earlier transitions; `action` is
    added to their actions, and `marks` (uint32: what the transition writes to, or
    FAILED) to theirs.  Writing to the same as an earlier process is a failure.
    """
    for i in range(made):
        at = (choices + 1) * made + i
        for word in range(n_own):
            out_rows[at, word] = out_rows[i, word]
        out_actions[at] = out_actions[i] + action
        joint = out_marks[i] | marks
        if out_marks[i] & marks:
            joint |= np.uint32(FAILED)
        out_marks[at] = joint
    return 0


@called
def settle(n_own, out_rows, out_actions, out_marks, made, choices):
    """Move the copies of `multiply` to the beginning; return how many there are."""
    count = made * choices
    for i in range(count):
        for word in range(n_own):
            out_rows[i, word] = out_rows[i + made, word]
        out_actions[i] = out_actions[i + made]
        out_marks[i] = out_marks[i + made]
    return count

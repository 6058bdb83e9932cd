"""Runtime of generated successor functions.

The first entries of a model's `ints` say what `finish` needs (`Header`); the tables
of the propositions follow.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, specialised
from ltlpipe.systems.networks.packing_kernels import repeat
from ltlpipe.systems.programs.program import ATOMIC, BLOCKED, D_STEP, ENDLESS, FULL
from ltlpipe.systems.propositions.kernels import letter_of
from ltlpipe.systems.successor_kernels import keep_ample

FAULT_MASK = np.uint64((1 << ENDLESS.bit_length()) - 1)


class Header(IntEnum):
    """The first entries of a model's `ints`."""

    LETTERS = 0  # place of the table of propositions
    TAKEN = 1  # place of the letters of actions, 0 if no proposition is about them
    SEED = 2  # 0, or how successors are shuffled
    AMPLE = 3  # place of the codes of `keep_ample`, 0 if all steps are taken
    CONTROL = 4  # place of the table of control, 0 if no process keeps it
    IS_FULL = 5  # becomes 1 where a step fails for want of room
    CODE = 6  # place of the instructions of `ltlpipe.systems.programs.machine_kernels`


N_HEADER = len(Header)

MAX_MOVES = 1 << 12
"""Moves of all steps of a state together beyond which a step fails."""

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


@inlined
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
    letter = np.int64(0)
    if ints[ints[Header.LETTERS]] != 0:
        letter = letter_of(ints, ints[Header.LETTERS], row, np.int64(count == 0))
    taken = ints[Header.TAKEN]
    for i in range(count):
        out_letters[i] = letter
        if taken != 0:
            out_letters[i] |= ints[taken + out_actions[i]]
        out_marks[i] = 0
    return count


class Control(IntEnum):
    """The table of control: these entries, then a code for each action.

    A code is 0, or four times the process that keeps control behind the action, plus
    how (`ATOMIC` or `D_STEP`).
    """

    WORD = 0  # where the field for errors lies
    SHIFT = 1
    LIMITS = 2  # bits: a step can fail for want of room; too many moves are no fault
    CODES = 3


@specialised
def begun(row, n_own, out_rows):
    """Keep a state behind the rows that moves are appended to; return where."""
    origin = out_rows.shape[0] - 1
    for word in range(n_own):
        out_rows[origin, word] = row[word]
    return origin


@inlined
def copied(out_rows, at, n_own, count):
    """Begin the row of a move with that which it leads on from."""
    for word in range(n_own):
        out_rows[count, word] = out_rows[at, word]
    return 0


@inlined
def are_steps(ints, out_rows, out_actions, at, count):
    """Whether all moves that begin at row `at` are steps, as they nearly always are."""
    table = ints[Header.CONTROL]
    codes = ints[table + Control.LIMITS] & 1
    begins = at == out_rows.shape[0] - 1
    for i in range(count if begins else 0):  # not once for each row: they can be many
        codes |= ints[table + Control.CODES + out_actions[i]]
    return begins and codes == 0


@called
def moved(ints, n_own, out_rows, out_letters, out_actions, at, before, count):
    """Take note of moves that lead on from row `at`, which are ``before:count``.

    Returns the next row behind which control is kept, and how many rows there are; or
    -1, and how many steps there are.
    """
    count = controlled(ints, out_rows, out_letters, out_actions, at, before, count)
    at = next_kept(n_own, out_rows, out_letters, out_actions, at, count)
    if at < count <= MAX_MOVES:
        return at, count
    return -1, settled(ints, n_own, out_rows, out_letters, out_actions, count)


@inlined
def controlled(ints, out_rows, out_letters, out_actions, at, before, count):
    """Note what becomes of control behind moves; return how many rows there are.

    Actions become those that the step begins with; letters tell by which code control
    is kept behind a row, 0 if it is not, less than 0 if moves lead on.  Of several on
    an only way, the first is taken.
    """
    table = ints[Header.CONTROL]
    begins = at == out_rows.shape[0] - 1
    if not begins:
        code = out_letters[at]
        if count == before:
            out_letters[at] = 0
            if code & 3 == D_STEP and fault_of(ints, out_rows, at) == 0:
                failed(ints, out_rows, at, BLOCKED)
            return count
        out_letters[at] = -code
        if code & 3 == D_STEP:
            count = before + 1
    for i in range(before, count):
        out_letters[i] = ints[table + Control.CODES + out_actions[i]]
        if not begins:
            out_actions[i] = out_actions[at]
    return count


@called
def fault_of(ints, out_rows, at):
    """Return why a step has failed whose row is given, 0 if it has not."""
    table = ints[Header.CONTROL]
    word = out_rows[at, ints[table + Control.WORD]]
    return (word >> np.uint64(ints[table + Control.SHIFT])) & FAULT_MASK


@called
def failed(ints, out_rows, at, fault):
    """Make a row that of the step that fails, from the row that steps begin with."""
    origin = out_rows.shape[0] - 1
    for word in range(out_rows.shape[1]):
        out_rows[at, word] = out_rows[origin, word]
    table = ints[Header.CONTROL]
    error = np.uint64(fault) << np.uint64(ints[table + Control.SHIFT])
    out_rows[at, ints[table + Control.WORD]] |= error
    return 0


@inlined
def next_kept(n_own, out_rows, out_letters, out_actions, at, count):
    """Return the next row behind `at` behind which control is kept, or `count`.

    One that has been there before, in a step that begins alike, is dropped.
    """
    at = 0 if at == out_rows.shape[0] - 1 else at + 1
    while at < count:
        code = out_letters[at]
        if code > 0:
            is_new = True
            if code & 3 == ATOMIC:
                for other in range(at):
                    if out_letters[other] == -code and is_new:
                        same = out_actions[other] == out_actions[at]
                        for word in range(n_own):
                            same &= out_rows[other, word] == out_rows[at, word]
                        is_new = not same
            if is_new:
                return at
            out_letters[at] = -code
        at += 1
    return count


@inlined
def settled(ints, n_own, out_rows, out_letters, out_actions, count):
    """Move the rows behind which control is not kept to the front; return how many.

    If there are none, or too many moves, one row tells of that instead.
    """
    limits = ints[ints[Header.CONTROL] + Control.LIMITS]
    is_endless = count > MAX_MOVES
    if is_endless and limits & 2:
        ints[Header.IS_FULL] = 1
    kept = 0
    for i in range(count):
        if out_letters[i] == 0 and not is_endless:
            if limits & 1 and fault_of(ints, out_rows, i) == np.uint64(FULL):
                ints[Header.IS_FULL] = 1
            if kept < i:
                for word in range(n_own):
                    out_rows[kept, word] = out_rows[i, word]
                out_actions[kept] = out_actions[i]
            kept += 1
    if count > 0 and kept == 0:  # nor does a step end that goes round for ever
        failed(ints, out_rows, 0, ENDLESS)
        kept = 1
    return kept


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

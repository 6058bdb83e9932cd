"""The successor function of packed nets (see `ltlpipe.systems.nets.packing`).

Each transition is listed under one of the places that it takes from, so only those
under marked places are tried: the marked places are found bit by bit in the words of
the row.  A transition is tried word by word: all fields of a word are compared at once,
by a subtraction in which no field borrows from the next one (`lacks`), and likewise
added (`exceeds`).  Firing adds one number to each word that it changes: what a field
may not hold has been ruled out before.  Limits of inhibitor arcs and capacities are
compared like what is needed, with the sides changed, and reset places cleared before
anything is added.

No state is kept between two calls, so states can be expanded in any order and by
several threads at once.

`expand_net_orbits` is the same for nets whose states are representatives of orbits.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, trailing_zeros
from ltlpipe.systems.nets.stubborn_kernels import keep_stubborn
from ltlpipe.systems.networks.packing_kernels import Select, normalise_all, repeat
from ltlpipe.systems.propositions.kernels import letter_of
from ltlpipe.systems.successor_kernels import keep_ample


class Header(IntEnum):
    """The first entries of a net's `ints`."""

    OVERFLOW = 0  # whether some field was too narrow
    CELLS = 1  # place of (first candidate, last + 1) per bit of a row
    CANDIDATES = 2  # place of the candidates
    N_FREE = 3  # candidates that take nothing: the first ones
    N_WORDS = 4  # words of a row
    PROPOSITIONS = 5  # place of the tables of `letter_of`
    AMPLE = 6  # place of the codes of `keep_ample`, 0 if all steps are taken
    STUBBORN = 7  # place of the table of `keep_stubborn`, 0 likewise


class Candidate(IntEnum):
    """A transition as it is tried; what it points to lies in `words`."""

    TESTS = 0  # place of its tests: (word, tokens needed)
    LIMITS = 1  # place of its limits: (word, the most tokens)
    CLEARS = 2  # place of what it empties: (word, bits that are kept)
    CHANGES = 3  # place of its changes: (word, tokens put if in doubt, difference)
    NUMBER = 4  # of the transition
    LETTER = 5  # bits of its step's letter beside those of the state


class Part(IntEnum):
    """The parts of `words` with an entry per word of a row; the rest follows."""

    OWNED = 0  # bits of fields under which candidates are listed
    TOPS = 1  # the highest bit of each field
    PASSED = 2  # tops of the fields that were too narrow
    KEPT = 3  # 64 entries per word: what is left when the field of a bit is cleared


CANDIDATE_STRIDE = len(Candidate)
CELL_STRIDE = 2
PAIR_STRIDE = 2
CHANGE_STRIDE = 3
WORD_BITS = 64


@inlined
def lacks(held, needed, tops):
    """Return the tops of the fields in which `held` is less than `needed`.

    Below their tops, fields are subtracted with the top set, which stops borrows;
    a field borrows iff its tops say so, or are equal and the rest has borrowed.
    """
    rest = (held | tops) - (needed & ~tops)
    return ((~held & needed) | (~(held ^ needed) & ~rest)) & tops


@inlined
def exceeds(held, put, tops):
    """Return the tops of the fields that are too narrow for `held` + `put`.

    Below their tops, fields are added with the top clear, which stops carries; a
    field overflows iff both tops are set, or one is and the rest carries.
    """
    rest = (held & ~tops) + (put & ~tops)
    return ((held & put) | ((held ^ put) & rest)) & tops


@inlined
def is_enabled(ints, words, row, at):
    """Whether the candidate at ``ints[at]`` can fire."""
    tops = Part.TOPS * row.shape[0]
    limits = ints[at + Candidate.LIMITS]
    for test in range(ints[at + Candidate.TESTS], limits, PAIR_STRIDE):
        word = np.int64(words[test])
        if lacks(row[word], words[test + 1], words[tops + word]) != 0:
            return False
    for limit in range(limits, ints[at + Candidate.CLEARS], PAIR_STRIDE):
        word = np.int64(words[limit])
        if lacks(words[limit + 1], row[word], words[tops + word]) != 0:
            return False
    return True


@inlined
def fire(ints, words, row, at, out_rows, count):
    """Write the successor of `row` by the enabled candidate at ``ints[at]``.

    Returns whether all fields are wide enough; if not, what ``out_rows[count]`` holds
    is worth nothing and the fields have been noted.
    """
    n_words = row.shape[0]
    for w in range(n_words):
        out_rows[count, w] = row[w]
    changes = ints[at + Candidate.CHANGES]
    for clear in range(ints[at + Candidate.CLEARS], changes, PAIR_STRIDE):
        out_rows[count, np.int64(words[clear])] &= words[clear + 1]
    end = ints[at + CANDIDATE_STRIDE + Candidate.TESTS]  # those of the next one
    for change in range(changes, end, CHANGE_STRIDE):
        word = np.int64(words[change])
        put = words[change + 1]
        if put != 0:
            held = out_rows[count, word]
            beyond = exceeds(held, put, words[Part.TOPS * n_words + word])
            if beyond != 0:
                words[Part.PASSED * n_words + word] |= beyond
                ints[Header.OVERFLOW] = 1
                return False
        out_rows[count, word] += words[change + 2]
    return True


@inlined
def try_all(ints, words, row, first, end, letter, outputs, count):
    """Append the steps of the candidates from `first` to `end`; return the new count.

    `outputs` are the arrays that a successor function writes to.
    """
    out_rows, out_letters, out_actions, out_marks = outputs
    at = ints[Header.CANDIDATES] + CANDIDATE_STRIDE * first
    for _ in range(first, end):
        if is_enabled(ints, words, row, at) and fire(
            ints, words, row, at, out_rows, count
        ):
            out_letters[count] = letter | ints[at + Candidate.LETTER]
            out_actions[count] = ints[at + Candidate.NUMBER]
            out_marks[count] = 0
            count += 1
        at += CANDIDATE_STRIDE
    return count


def expand_net(ints, words, row, select, out_rows, out_letters, out_actions, out_marks):
    """Generate the successors of a marking (see `ltlpipe.systems.networks.packing`).

    A successor that does not fit its fields is left out: ``ints[Header.OVERFLOW]``
    and ``words[Part.PASSED * n_words:]`` then say so.
    """
    n_words = row.shape[0]
    # Whatever has a step is no deadlock, and only deadlocks stutter.
    dead = np.int64(select == Select.STUTTER)
    letter = letter_of(ints, ints[Header.PROPOSITIONS], row, dead)
    if select == Select.STUTTER:
        return repeat(row, letter, 0, out_rows, out_letters, out_actions, out_marks)
    outputs = (out_rows, out_letters, out_actions, out_marks)
    n_free = ints[Header.N_FREE]
    count = try_all(ints, words, row, 0, n_free, letter, outputs, 0)
    cells = ints[Header.CELLS]
    for w in range(n_words):
        marked = row[w] & words[Part.OWNED * n_words + w]
        while marked != 0:
            bit = WORD_BITS * w + trailing_zeros(marked)
            marked &= words[Part.KEPT * n_words + bit]
            cell = cells + CELL_STRIDE * bit
            count = try_all(
                ints, words, row, ints[cell], ints[cell + 1], letter, outputs, count
            )
    if ints[Header.STUBBORN] != 0:
        return keep_stubborn(ints, ints[Header.STUBBORN], row, outputs, count)
    if ints[Header.AMPLE] != 0:  # steps of a state then have the same letter
        return keep_ample(
            ints, ints[Header.AMPLE], n_words, out_rows, out_actions, count
        )
    return count


_expand = called(expand_net)


def expand_net_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the representatives behind that of a marking.

    See `ltlpipe.systems.networks.packing`.
    """
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)

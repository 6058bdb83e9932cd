"""Automata over sets that are made from listed states, as bit words.

The underlying automaton is given by its transitions.  What can be reached in one step
from a set, with the same marks, is cut into *groups*: sets of states that are given as
well, may overlap and together hold all states.  Each group that is met gives one
successor, the states of it that are reached.

So the five properties (Def. 5 of the source) hold by construction: what is reached lies
in some group (4), and all of a successor is reached (5).

Meant for automata small enough to be listed: for tests, and to try searches on.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Defs. 1 and 5, Sec. 3.

Cost: one row for each state and set of marks; the successors of a set take one look at
these rows for each of its states and each set of marks.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, trailing_zeros
from ltlpipe.symmetry.sets.powerset_search import Operations, PowersetAutomaton, Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD_BITS = 64


class At(IntEnum):
    """The first entries of `Tables.ints`."""

    STATES = 0  # number of states
    GROUPS = 1  # number of groups
    MARK_SETS = 2  # number of different sets of marks
    PIECES = 3  # whether what completes a subset is cut into groups
    TURN = 4  # successors that are handed out at a time; 0 for all
    NEXT = 5  # where they go on
    # Then follow the sets of marks, and for each state the number of its family.


_HEADER = len(At)


def no_tables() -> Tables:
    """Return tables and buffers without any entry, to be replaced where needed."""
    return Tables(
        ints=np.zeros(0, dtype=np.int64),
        words=np.zeros(0, dtype=np.uint64),
        scratch=np.zeros((0, 0), dtype=np.int64),
        step_rows=np.zeros((0, 0), dtype=np.uint64),
    )


def row_of(states: Iterable[int], n_words: int) -> np.ndarray:
    """Return the row, uint64[n_words], of a set of states."""
    row = np.zeros(n_words, dtype=np.uint64)
    for state in states:
        row[state // _WORD_BITS] |= np.uint64(1) << np.uint64(state % _WORD_BITS)
    return row


def states_of(row: np.ndarray) -> frozenset[int]:
    """Return the set of states that a row, uint64[n_words], stands for."""
    return frozenset(
        place * _WORD_BITS + bit
        for place, word in enumerate(row.tolist())
        for bit in range(_WORD_BITS)
        if word >> bit & 1
    )


def explicit_powerset(
    n_states: int,
    transitions: Iterable[tuple[int, int, int]],
    initial: Sequence[Iterable[int]],
    groups: Sequence[Iterable[int]],
    *,
    n_marks: int,
    pieces: bool = False,
    turn: int = 0,
) -> PowersetAutomaton:
    """Return an automaton over the sets of states of a listed automaton.

    Parameters
    ----------
    n_states : int
        States are 0..n_states-1.
    transitions : iterable of (int, int, int)
        Source, marks as bits, and target of each transition.
    initial : sequence of iterable of int
        The initial sets, at least one; together they hold the initial states.  Equal
        ones count once.
    groups : sequence of iterable of int
        How reached states are gathered; each state is in one group or more.
    n_marks : int
        A run is accepted iff it sees each of so many marks infinitely often.
    pieces : bool
        What completes a subset is cut into groups as well, instead of one set.
    turn : int
        Successors that are handed out at a time; 0 for all.

    Raises
    ------
    ValueError
        There is no initial set, or an empty one, or a state is in no group.
    """
    n_words = max(-(-n_states // _WORD_BITS), 1)
    first = sorted({tuple(sorted(set(states))) for states in initial})
    sets = [frozenset(group) for group in groups]
    if not first or not all(first):
        raise ValueError("initial sets: at least one, and none is empty")
    if missing := set(range(n_states)).difference(*sets):
        raise ValueError(f"states in no group: {sorted(missing)}")
    steps = list(transitions)
    mark_sets = sorted({marks for _, marks, _ in steps})
    images = np.zeros((len(mark_sets), n_states, n_words), dtype=np.uint64)
    for src, marks, dst in steps:
        images[mark_sets.index(marks), src] |= row_of([dst], n_words)
    header = [n_states, len(sets), len(mark_sets), int(pieces), turn, 0]
    families = _families(n_states, [*sets, *map(frozenset, first)])
    rows = [row_of(states, n_words) for states in sets]
    return PowersetAutomaton(
        Operations(
            explicit_successors,
            explicit_includes,
            explicit_decompose,
            explicit_key,
            no_tables()._replace(
                ints=np.array([*header, *mark_sets, *families], dtype=np.int64),
                words=np.concatenate([*rows, images.ravel()]),
                step_rows=np.zeros((1, n_words), dtype=np.uint64),
            ),
        ),
        initial=np.array([row_of(states, n_words) for states in first]),
        n_marks=n_marks,
    )


def _families(n_states: int, sets: list[frozenset[int]]) -> list[int]:
    """Return for each state a number that all states of each of some sets share."""
    family = list(range(n_states))
    for states in sets:
        joined = {family[state] for state in states}
        least = min(joined, default=0)
        family = [least if number in joined else number for number in family]
    return family


@inlined
def write_image(ints, words, row, number, image):
    """Write what a set reaches in one step with one set of marks, given by number."""
    n_states = ints[At.STATES]
    n_words = row.shape[0]
    base = (ints[At.GROUPS] + number * n_states) * n_words
    for w in range(n_words):
        image[w] = np.uint64(0)
    for place in range(n_words):
        word = row[place]
        while word != np.uint64(0):
            state = place * _WORD_BITS + trailing_zeros(word)
            word &= word - np.uint64(1)
            for w in range(n_words):
                image[w] |= words[base + state * n_words + w]


def explicit_successors(tables, row, other, out_rows, out_marks):
    """Write the successors of a set (see `ltlpipe.symmetry.sets.powerset_search`)."""
    ints, words = tables.ints, tables.words
    step_rows = tables.step_rows
    n_words = row.shape[0]
    image = step_rows[0]
    count = np.int64(0)
    n_groups = ints[At.GROUPS]
    begin = ints[At.NEXT] if other.shape[0] == 0 else np.int64(0)
    for number in range(begin // n_groups, ints[At.MARK_SETS]):
        write_image(ints, words, row, number, image)
        for group in range(max(begin - number * n_groups, 0), n_groups):
            if count == out_rows.shape[0]:
                return np.int64(-1)
            if count == ints[At.TURN] and count > 0:
                ints[At.NEXT] = number * n_groups + group
                return -2 - count
            met = np.uint64(0)
            for w in range(n_words):
                word = image[w] & words[group * n_words + w]
                out_rows[count, w] = word
                met |= word
            if met != np.uint64(0):
                out_marks[count] = np.uint32(ints[_HEADER + number])
                count += 1
    return count


def explicit_includes(tables, row, other, out_rows, out_marks):
    """Return whether a set includes another one, as 0 or 1."""
    for w in range(row.shape[0]):
        if other[w] & ~row[w] != np.uint64(0):
            return np.int64(0)
    return np.int64(1)


def explicit_decompose(tables, row, other, out_rows, out_marks):
    """Write what completes a subset (see `ltlpipe.symmetry.sets.powerset_search`)."""
    ints, words = tables.ints, tables.words
    step_rows = tables.step_rows
    n_words = row.shape[0]
    rest = step_rows[0]
    left = np.uint64(0)
    for w in range(n_words):
        rest[w] = row[w] & ~other[w]
        left |= rest[w]
    count = np.int64(0)
    group = np.int64(0)
    while left != np.uint64(0):  # each state is in a group: this ends
        if count == out_rows.shape[0]:
            return np.int64(-1)
        met = left = np.uint64(0)
        for w in range(n_words):
            word = rest[w]
            if ints[At.PIECES] != 0:
                word &= words[group * n_words + w]
            out_rows[count, w] = word
            rest[w] &= ~word
            met |= word
            left |= rest[w]
        if met != np.uint64(0):
            count += 1
        group += 1
    return count


def explicit_key(tables, row, other, out_rows, out_marks):
    """Return the number of the family that all states of a set share."""
    ints = tables.ints
    families = _HEADER + ints[At.MARK_SETS]
    for place in range(row.shape[0]):
        if row[place] != np.uint64(0):
            state = place * _WORD_BITS + trailing_zeros(row[place])
            return np.int64(ints[families + state])
    return np.int64(0)

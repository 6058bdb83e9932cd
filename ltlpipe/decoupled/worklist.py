"""Boxes that wait to be expanded: the largest ones first.

What is met later is left out if what was met sooner covers it, so the sooner large
boxes are met the better.  A box is as large as its row has bits; of several, the one
that was entered last comes first.

A state is a number, by which it is known where it was entered from.  Rows last as long
as their states wait or are being expanded, and are used again.

Invariants: every row in use is in the list of its size, free, or current; with
`keeping`, rows have the numbers of their states, and none is free.

Cost: 12 bytes per state; a row and 8 bytes per state that waits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.dominance import add_row, find_including
from ltlpipe.decoupled.members import COVERED, NO_ROOM, TOO_LARGE, look_up
from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.search.growth import FIRST_ENTRIES, lengthen
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Callable

_ANY = np.iinfo(np.int32).max
_ONE = np.uint64(1)


class At(IntEnum):
    """Places in the scalars of a worklist."""

    STATES = 0  # states that have been entered
    ROWS = 1  # rows that have been used
    FREE = 2  # the first free one of them, -1 if there is none
    LARGEST = 3  # no row that waits is larger
    CURRENT = 4  # the row that is being expanded, -1 if there is none
    LABEL = 5  # its next label, -1 for a new one


class Worklist(NamedTuple):
    """Room for n states and r rows of W words."""

    at: np.ndarray  # int64[len(At)], the scalars
    parent: np.ndarray  # int32[n], the state from which each was entered, or -1
    label: np.ndarray  # int32[n], by which label
    depth: np.ndarray  # int32[n], and how many led there
    rows: np.ndarray  # uint64[r, W]
    state: np.ndarray  # int32[r], whose row it is
    next: np.ndarray  # int32[r], the next row of the same size, or free row
    heads: np.ndarray  # int32[64 * W + 1], by size, -1 for none
    fresh: np.ndarray  # uint64[1, W], room for a successor


def new_worklist(n_words: int) -> Worklist:
    """Return one in which nothing waits."""
    at = np.full(len(At), -1, dtype=np.int64)
    at[At.STATES] = at[At.ROWS] = 0
    return Worklist(
        at=at,
        parent=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        label=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        depth=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        rows=np.zeros((FIRST_ENTRIES, n_words), dtype=np.uint64),
        state=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        next=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        heads=np.full(64 * n_words + 1, -1, dtype=np.int32),
        fresh=np.zeros((1, n_words), dtype=np.uint64),
    )


def lengthen_worklist(work: Worklist, free_bytes: Callable[[], float]) -> None:
    """Make room for one state more."""
    n_states, n_rows = (int(work.at[place]) for place in (At.STATES, At.ROWS))
    lengthen((work.parent, work.label, work.depth), n_states + 1, free_bytes())
    lengthen((work.rows, work.state, work.next), n_rows + 1, free_bytes())


def labels_to_current(work: Worklist) -> list[int]:
    """Return the labels by which the current state was reached."""
    state = int(work.state[work.at[At.CURRENT]])
    labels = []
    while work.parent[state] >= 0:
        labels.append(int(work.label[state]))
        state = int(work.parent[state])
    return labels[::-1]


@inlined
def is_full(work):
    """Whether there is no room for one state more."""
    at = work.at
    return at[At.STATES] == work.parent.shape[0] or (
        at[At.FREE] < 0 and at[At.ROWS] == work.state.shape[0]
    )


@called
def put(work, label):
    """Let ``work.fresh[0]`` wait, to which a label has led from the current state."""
    at = work.at
    state = at[At.STATES]
    at[At.STATES] = state + 1
    current = at[At.CURRENT]
    before = np.int64(-1) if current < 0 else np.int64(work.state[current])
    work.parent[state] = before
    work.label[state] = label
    work.depth[state] = 0 if before < 0 else work.depth[before] + 1
    row = at[At.FREE]
    if row >= 0:
        at[At.FREE] = work.next[row]
    else:
        row = at[At.ROWS]
        at[At.ROWS] = row + 1
    work.state[row] = state
    size = np.int64(0)
    for w in range(work.fresh.shape[1]):
        word = work.fresh[0, w]
        work.rows[row, w] = word
        while word != 0:
            word &= word - _ONE
            size += 1
    work.next[row] = work.heads[size]
    work.heads[size] = row
    at[At.LARGEST] = max(at[At.LARGEST], size)


@njit
def begin(work):
    """Let ``work.fresh[0]`` wait, in which a search begins."""
    put(work, -1)


@inlined
def take(work):
    """Make the largest box that waits the current one; return whether one does."""
    at = work.at
    size = at[At.LARGEST]
    while size >= 0 and work.heads[size] < 0:
        size -= 1
    at[At.LARGEST] = size
    if size < 0:
        return False
    row = np.int64(work.heads[size])
    work.heads[size] = work.next[row]
    at[At.CURRENT] = row
    at[At.LABEL] = -1
    return True


@inlined
def leave(work, keeping):
    """Take away the current box; its row is used again unless `keeping`."""
    at = work.at
    row = at[At.CURRENT]
    at[At.CURRENT] = -1
    if not keeping:
        work.next[row] = at[At.FREE]
        at[At.FREE] = row


@inlined
def enter(registers, work, boxes, label):
    """Let ``work.fresh[0]`` wait if no visited states cover it.

    Returns LIMIT if one state more may not be entered, GROW if the table of members
    has no room, and nothing has changed; else RUNNING.
    """
    limit = at_limit(registers)
    found = look_up(boxes, work.fresh, 0, not limit)
    if found == COVERED:
        return Status.RUNNING
    if found == NO_ROOM:
        return Status.GROW
    if limit:
        return Status.LIMIT
    if found == TOO_LARGE:
        add_row(boxes.visited, boxes.known, work.fresh, 0)
    put(work, label)
    registers[Reg.VISITED] += 1
    return Status.RUNNING


@called
def is_superseded(work, boxes):
    """Whether a larger box than the current one has been entered since it was.

    With a table of members the larger one may have been entered in part.
    """
    if boxes.members.pages.shape[0] > 0:
        return False
    row = work.at[At.CURRENT]
    visited = boxes.visited
    found = find_including(
        visited, boxes.known, work.rows, row, visited.next_row, _ANY, True
    )
    return found >= 0

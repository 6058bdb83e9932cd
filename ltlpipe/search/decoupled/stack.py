"""The path of a depth-first search in boxes, whose rows are kept as long as it lasts.

Invariant: every state on the path is a box that was not covered when it was entered,
and is included in what its label leads to from the state before.

Cost: a row, 4 bytes and the room to grow, per state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.decoupled.dominance import add_row
from ltlpipe.search.decoupled.members import COVERED, TOO_LARGE, look_up
from ltlpipe.search.growth import FIRST_ENTRIES
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status


class Stack(NamedTuple):
    """A path of d states at most, whose rows have W words, and room for a new row."""

    rows: np.ndarray  # uint64[d, W]
    cursor: np.ndarray  # int32[d], the next label of each, -1 for a new one
    fresh: np.ndarray  # uint64[1, W], the successor that is looked at


def new_stack(n_words: int) -> Stack:
    """Return an empty stack."""
    return Stack(
        rows=np.zeros((FIRST_ENTRIES, n_words), dtype=np.uint64),
        cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        fresh=np.zeros((1, n_words), dtype=np.uint64),
    )


@inlined
def dominated_on_stack(path, depth, overall):
    """Return the place of a state on the stack within ``overall[0]``, or -1."""
    rows = path.rows
    for place in range(depth):
        included = True
        for w in range(rows.shape[1]):
            if rows[place, w] & ~overall[0, w] != 0:
                included = False
                break
        if included:
            return place
    return np.int64(-1)


@inlined
def enter(registers, depth_register, stack, boxes):
    """Go on with ``stack.fresh[0]`` if no visited states cover it.

    Returns LIMIT if one state more may not be entered, and nothing has changed; else
    RUNNING.
    """
    limit = at_limit(registers)
    found = look_up(boxes, stack.fresh, 0, not limit)
    if found == COVERED:
        return Status.RUNNING
    if limit:
        return Status.LIMIT
    if found == TOO_LARGE:
        add_row(boxes.visited, boxes.known, stack.fresh, 0)
    depth = registers[depth_register]
    for w in range(stack.fresh.shape[1]):
        stack.rows[depth, w] = stack.fresh[0, w]
    stack.cursor[depth] = -1
    registers[depth_register] = depth + 1
    registers[Reg.VISITED] += 1
    return Status.RUNNING

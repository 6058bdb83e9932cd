"""A worker's path in ``ufscc``, ``rabin``, ``tela``: frames, roots, closing cycles.

See `ltlpipe.search.shared.ufscc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.acceptance import Formula, holds
from ltlpipe.search.registers import Reg
from ltlpipe.search.shared.table import Own
from ltlpipe.search.shared.union_find import (
    MARKS_SHIFT,
    NONE,
    add_bits,
    find,
    set_at,
    unite,
)

if TYPE_CHECKING:
    from ltlpipe.por.component_sets import AmpleTables

HELPING = -(1 << 31)
"""Stands on the stack for a root's frame without a state of its own to take off it."""

INSIDE = -2
"""The worker is in the set of a state already, so a transition to it closes a cycle.

Or there is more to begin with than there was.
"""


class Arrays(NamedTuple):
    """The arrays of one worker: n states, k stack entries, r roots; n are shared."""

    words: np.ndarray  # uint64[n, 2], the memory of `nodes` and `sets`
    nodes: np.ndarray  # uint32[4 n], see `union_find`
    sets: np.ndarray  # uint64[2 n]
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], a state of each set on the worker's path
    frames: np.ndarray  # int32[r], the place of its frame on the stack
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    own: np.ndarray  # int64[N_OWN], see `Own`
    fstates: np.ndarray  # uint32[n], shared: states to begin with, + 1
    labels: np.ndarray  # uint32[n], shared: the part of the product that a state is in
    avoided: np.ndarray  # uint32[parts], marks of transitions that are not taken there
    clauses: np.ndarray  # uint32[c], marks of which a cycle has to see one entry's all
    goal: Formula  # or that have to satisfy this, if it has nodes
    mail: np.ndarray  # uint64[...], see `sharing`
    ample: AmpleTables | None  # for ample sets, with buffers of the worker's own


@inlined
def close_cycle(registers, arrays, state, marks):
    """Unite all sets on the path down to that of a state; whether it accepts."""
    own, roots = arrays.own, arrays.roots
    nodes, sets = arrays.nodes, arrays.sets
    top = own[Own.N_ROOTS] - 1
    while find(nodes, state) != find(nodes, np.int64(roots[top])):
        marks |= arrays.entry_marks[top]
        above, below = np.int64(roots[top]), np.int64(roots[top - 1])
        unite(nodes, sets, own, above, below)
        top -= 1
    own[Own.N_ROOTS] = top + 1
    return add_marks(registers, arrays, state, marks)


@inlined
def add_marks(registers, arrays, state, marks):
    """Join marks to the set of a state; return whether it accepts."""
    nodes, sets = arrays.nodes, arrays.sets
    bits = np.uint64(marks) << MARKS_SHIFT
    root = find(nodes, state)
    if load(sets, set_at(root)) & bits != bits:
        add_bits(nodes, sets, root, bits)
    seen = np.uint32(load(sets, set_at(find(nodes, state))) >> MARKS_SHIFT)
    if not is_accepting(arrays, seen):
        return False
    if compare_and_swap(registers, Reg.CLOSING, NONE, state):
        registers[Reg.CLOSING_MARKS] = np.int64(seen)
    return True


@inlined
def is_accepting(arrays, marks):
    """Whether a cycle that sees exactly these marks accepts."""
    for i in range(arrays.clauses.shape[0]):
        if marks & arrays.clauses[i] == arrays.clauses[i]:
            return True
    return arrays.goal.ops.shape[0] > 0 and holds(arrays.goal, marks)


@inlined
def begin_frame(arrays, root, marks, frame):
    """Make a state the worker's uppermost root; `frame` is the entry of its frame."""
    own = arrays.own
    own[Own.DEPTH] += 1
    own[Own.MAX_DEPTH] = max(own[Own.MAX_DEPTH], own[Own.DEPTH])
    top, n_roots = own[Own.TOP], own[Own.N_ROOTS]
    arrays.roots[n_roots], arrays.entry_marks[n_roots] = root, marks
    arrays.frames[n_roots] = top
    arrays.stack[top] = frame
    own[Own.TOP], own[Own.N_ROOTS] = top + 1, n_roots + 1


@inlined
def end_frame(own, is_roots):
    """End the uppermost frame."""
    own[Own.TOP] -= 1
    own[Own.DEPTH] -= 1
    own[Own.N_ROOTS] -= is_roots
    own[Own.OFFERED] = min(own[Own.OFFERED], own[Own.TOP])

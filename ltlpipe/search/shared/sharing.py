"""A worker's path in ``ufscc``, ``rabin`` or ``tela``, and work that it asks for.

Frames, roots and closing cycles come first (`ltlpipe.search.shared.ufscc`), then how a
worker asks another one.

A worker that comes to a set in which others are could expand its live states once more,
to find transitions that the others have not followed yet.  Instead it asks one of them,
which has these transitions on its stack: the giver looks for the set on its own path
and names states above it that wait there and that no worker has entered, the oldest
first, and the roots of its path up to them.  What a giver names are transitions, so the
asker does only what it could have done by expanding the states itself.

Each worker has a line of `mail`, uint64[`LINE`] each:

======== ===============================================================================
0        the workers that ask it (a bit each)
`ANSWER` 0: none yet; else 1 + the number of roots + 2**16 times that of states
`ABOUT`  a state of the set about which it asks
`FIRST`  roots and then states, the marks of the transition to each in the upper half
======== ===============================================================================

No worker waits for ever: one that waits still gives answers, and one that has got none
often enough expands a live state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    exchange,
    fetch_or,
    give_way,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.search.acceptance import Formula, holds
from ltlpipe.search.registers import Reg
from ltlpipe.search.stacks import read_marks, write_marks
from ltlpipe.search.store import Worker
from ltlpipe.search.union_find import (
    MARKS_SHIFT,
    NONE,
    WORKERS,
    add_bits,
    find,
    is_dead,
    is_new,
    pick,
    set_at,
    unite,
)

if TYPE_CHECKING:
    from ltlpipe.por.component_sets import Reduction

HELPING = -(1 << 31)
"""Stands on the stack for a root's frame without a state of its own to take off it."""

INSIDE = -2
"""The worker is in the set of a state already, so a transition to it closes a cycle.

Or there is more to begin with than there was.
"""

LINE = 32
ANSWER = 16
ABOUT = 17
FIRST = 18

MOST_TOLD = LINE - FIRST
"""States that one answer can tell, roots included."""

PATIENCE = 64
"""Answers without anything after which a worker expands a live state of others."""

_MOST_STATES = 4  # in one answer
_ROOTS_LOOKED_AT = 128  # from either end of a path
_ENTRIES_LOOKED_AT = 4096  # of a stack, for one answer
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


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
    own: np.ndarray  # int64[N_REGISTERS], see `Worker`
    fstates: np.ndarray  # uint32[n], shared: states to begin with, + 1
    labels: np.ndarray  # uint32[n], shared: the part of the product that a state is in
    avoided: np.ndarray  # uint32[parts], marks of transitions that are not taken there
    clauses: np.ndarray  # uint32[c], marks of which a cycle has to see one entry's all
    goal: Formula  # or that have to satisfy this, if it has nodes
    mail: np.ndarray  # uint64[...], see `sharing`
    reduction: Reduction | None  # by ample sets, with buffers of the worker's own


@inlined
def close_cycle(registers, arrays, state, marks):
    """Unite all sets on the path down to that of a state; whether it accepts."""
    own, roots = arrays.own, arrays.roots
    nodes, sets = arrays.nodes, arrays.sets
    top = own[Reg.N_ROOTS] - 1
    while find(nodes, state) != find(nodes, np.int64(roots[top])):
        marks |= arrays.entry_marks[top]
        above, below = np.int64(roots[top]), np.int64(roots[top - 1])
        unite(nodes, sets, own, above, below)
        top -= 1
    own[Reg.N_ROOTS] = top + 1
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
        registers[Worker.CLOSING_MARKS] = np.int64(seen)
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
    own[Reg.DEPTH] += 1
    own[Reg.MAX_DEPTH] = max(own[Reg.MAX_DEPTH], own[Reg.DEPTH])
    top, n_roots = own[Reg.TOP], own[Reg.N_ROOTS]
    arrays.roots[n_roots], arrays.entry_marks[n_roots] = root, marks
    arrays.frames[n_roots] = top
    arrays.stack[top] = frame
    own[Reg.TOP], own[Reg.N_ROOTS] = top + 1, n_roots + 1


@inlined
def end_frame(own, is_roots):
    """End the uppermost frame."""
    own[Reg.TOP] -= 1
    own[Reg.DEPTH] -= 1
    own[Reg.N_ROOTS] -= is_roots
    own[Worker.OFFERED] = min(own[Worker.OFFERED], own[Reg.TOP])


@inlined
def ask(arrays, state, others):
    """Ask one of the workers `others`, a bit each, about the set of a state."""
    own, mail = arrays.own, arrays.mail
    giver = own[Worker.GIVER]
    while True:
        giver = 0 if giver == 30 else giver + 1
        if others >> np.uint64(giver) & np.uint64(1) != 0:
            break
    own[Worker.GIVER] = giver
    own[Worker.IS_WAITING] = 1
    line = LINE * own[Worker.NUMBER]
    store(mail, line + ANSWER, np.uint64(0))
    store(mail, line + ABOUT, np.uint64(state))
    fetch_or(mail, LINE * giver, np.uint64(1) << np.uint64(own[Worker.NUMBER]))


@inlined
def answer_all(registers, arrays):
    """Answer a request of another worker."""
    own, mail = arrays.own, arrays.mail
    line = LINE * own[Worker.NUMBER]
    if load(mail, line) != 0:
        askers = exchange(mail, line, np.uint64(0))
        for asker in range(31):
            if askers >> np.uint64(asker) & np.uint64(1) != 0:
                answer(registers, arrays, LINE * asker)


@called
def answer(registers, arrays, line):
    """Tell states that wait above a set, in the asker's line."""
    own, mail, roots = arrays.own, arrays.mail, arrays.roots
    nodes, n_roots = arrays.nodes, own[Reg.N_ROOTS]
    about = find(nodes, np.int64(load(mail, line + ABOUT)))
    base = place_of(nodes, roots, n_roots, about)
    place = np.int64(-1)
    if base >= 0:
        place = first_waiting(arrays, base)
    if place < 0:
        store(mail, line + ANSWER, np.uint64(1))
        return
    below, above = base, n_roots  # the last root whose frame is below
    while above - below > 1:
        middle = (below + above) // 2
        if arrays.frames[middle] < place:
            below = middle
        else:
            above = middle
    n_told = min(below - base, MOST_TOLD - _MOST_STATES)
    for k in range(n_told):
        marks = np.uint64(arrays.entry_marks[base + 1 + k]) << _HALF
        mail[line + FIRST + k] = np.uint64(roots[base + 1 + k]) | marks
    n_states = 0
    if n_told == below - base:
        top = own[Reg.TOP]
        end = arrays.frames[above] if above < n_roots else top
        bits = registers[Reg.MARK_BITS]
        is_lowest = own[Worker.OFFERED] == place
        while place < end and n_states < _MOST_STATES:
            state = np.int64(arrays.stack[place])
            if state >= 0 and is_new(nodes, arrays.sets, state):
                marks = np.uint64(read_marks(arrays.stack_marks, bits, place)) << _HALF
                mail[line + FIRST + n_told + n_states] = np.uint64(state) | marks
                n_states += 1
            place += 1
        if is_lowest:
            own[Worker.OFFERED] = place
    store(mail, line + ANSWER, np.uint64(1 + n_told + (n_states << 16)))


@inlined
def place_of(nodes, roots, n_roots, root):
    """Return the place of a set among the last or first on a path, or -1."""
    last = max(n_roots - _ROOTS_LOOKED_AT, 0)
    for k in range(n_roots - 1, last - 1, -1):
        if find(nodes, np.int64(roots[k])) == root:
            return k
    for k in range(min(last, _ROOTS_LOOKED_AT)):
        if find(nodes, np.int64(roots[k])) == root:
            return k
    return np.int64(-1)


@inlined
def first_waiting(arrays, base):
    """Return the lowest place above a root where a state waits that is new, or -1."""
    own, nodes = arrays.own, arrays.nodes
    top = own[Reg.TOP]
    own[Worker.OFFERED] = min(own[Worker.OFFERED], top)
    frame = np.int64(arrays.frames[base])
    start = max(frame, own[Worker.OFFERED])
    end = min(top, start + _ENTRIES_LOOKED_AT)
    found = np.int64(-1)
    place = start
    while place < end:
        state = np.int64(arrays.stack[place])
        if state >= 0 and is_new(nodes, arrays.sets, state):
            found = place
            break
        place += 1
    if start == own[Worker.OFFERED]:
        own[Worker.OFFERED] = place
    return found


@inlined
def help_others(registers, arrays):
    """Go on where the set of the uppermost root has live states of other workers.

    Returns a state of it to expand; `NONE`: the frame has ended, or has more above it,
    or waits; `INSIDE`: a cycle accepts.
    """
    own, nodes = arrays.own, arrays.nodes
    n_roots = own[Reg.N_ROOTS]
    root = np.int64(arrays.roots[n_roots - 1])
    if own[Worker.IS_WAITING] != 0:
        told = load(arrays.mail, LINE * own[Worker.NUMBER] + ANSWER)
        if told == 0:
            own[Worker.POLLS] += 1
            if own[Worker.POLLS] & 63 == 0:  # the other worker may have no core
                give_way()
            else:
                pause()
            return np.int64(NONE)
        own[Worker.IS_WAITING] = 0
        if told == 1:
            own[Worker.TRIES] += 1
            return np.int64(NONE)
        own[Worker.TRIES] = 0
        return take_shared_work(registers, arrays, np.int64(told) - 1)
    if n_roots > 1 and find(nodes, root) == find(
        nodes, np.int64(arrays.roots[n_roots - 2])
    ):
        marks = arrays.entry_marks[n_roots - 1]
        end_frame(own, 1)
        if add_marks(registers, arrays, root, marks):
            return np.int64(INSIDE)
        return np.int64(NONE)
    chosen = pick(nodes, own, root)
    if chosen < 0:
        end_frame(own, 1)
        return chosen
    me = np.uint64(1) << np.uint64(own[Worker.NUMBER])
    workers = load(arrays.sets, set_at(find(nodes, root))) & WORKERS
    if workers & ~me != 0 and own[Worker.TRIES] < PATIENCE:
        ask(arrays, root, workers & ~me)
        return np.int64(NONE)
    own[Worker.TRIES] = 0
    arrays.stack[own[Reg.TOP] - 1] = ~chosen
    return chosen


@inlined
def take_shared_work(registers, arrays, told):
    """Enter the roots that another worker has told, and have its states wait above."""
    own = arrays.own
    n_roots, n_states = told & 0xFFFF, told >> 16
    first = LINE * own[Worker.NUMBER] + FIRST
    own[Worker.TOLD] += n_states
    me = np.uint64(1) << np.uint64(own[Worker.NUMBER])
    for k in range(n_roots):
        word = arrays.mail[first + k]
        root = np.int64(word & _LOW)
        marks = np.uint32(word >> _HALF)
        if is_dead(arrays.nodes, root):
            return np.int64(NONE)
        before = add_bits(arrays.nodes, arrays.sets, find(arrays.nodes, root), me)
        if before & me == 0:
            begin_frame(arrays, root, marks, HELPING)
        elif close_cycle(registers, arrays, root, marks):
            return np.int64(INSIDE)
    top = own[Reg.TOP]
    for k in range(n_states - 1, -1, -1):  # the first ends on top
        word = arrays.mail[first + n_roots + k]
        arrays.stack[top] = np.int64(word & _LOW)
        marks = np.uint32(word >> _HALF)
        write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top, marks)
        top += 1
    own[Reg.TOP] = top
    return np.int64(NONE)

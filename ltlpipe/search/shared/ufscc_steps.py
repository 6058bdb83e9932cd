"""The steps of a worker of ``ufscc`` and ``rabin`` (`ltlpipe.search.shared.ufscc`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    fetch_add,
    fetch_or,
    give_way,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.acceptance import Formula, holds
from ltlpipe.search.packed import read_marks, write_marks
from ltlpipe.search.product import successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.sharing import (
    ANSWER,
    FIRST,
    LINE,
    MOST_TOLD,
    answer_all,
    ask,
    is_new,
)
from ltlpipe.search.shared.table import Own, intern_shared, lacks_ids_or_room
from ltlpipe.search.shared.union_find import (
    HIGH,
    MARKS_SHIFT,
    NONE,
    NOTED,
    WORKERS,
    add_bits,
    bury_alone,
    find,
    is_dead,
    parent_at,
    pick,
    remove,
    set_at,
    unite,
)
from ltlpipe.search.shared.worker_control import (
    count_entry,
    count_expansion,
    is_at_limit,
    is_at_work,
    shuffle,
    stopped,
)

HELPING = -(1 << 31)
"""Stands on the stack for a root's frame without a state of its own to take off it."""

PATIENCE = 64
"""Answers without anything after which a worker expands a live state of others."""

REFUSED = -3
"""No more states may be entered."""

LOW_HALF = np.uint64(0xFFFFFFFF)

INSIDE = -2
"""The worker is in the set of a state already, so a transition to it closes a cycle.

Or there is more to begin with than there was.
"""


class Arrays(NamedTuple):
    """The arrays of one worker: n states, k stack entries, r roots; n are shared."""

    pairs: np.ndarray  # uint64[n, 2], the memory of `nodes` and `sets`
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


@inlined
def note(registers, arrays, state):
    """Put a state that nobody has entered on the list Fstates, once."""
    sets, at = arrays.sets, set_at(state)
    if load(sets, at) != 0 or load(arrays.nodes, parent_at(state)) != 0:
        return
    if fetch_or(sets, at, NOTED) == 0:
        place = fetch_add(registers, Reg.N_FSTATES, 1)
        store(arrays.fstates, place, np.uint32(state + 1))


@inlined
def next_start(registers, arrays):
    """Return a state of Fstates whose set is not dead; `NONE` if there is none.

    `INSIDE` if the list has become longer meanwhile.  Each worker goes round the list
    from where it was last, and takes a state that nobody has entered; if there is none,
    it helps in a set in which others are.
    """
    own, fstates = arrays.own, arrays.fstates
    n = load(registers, Reg.N_FSTATES)
    others = np.int64(NONE)
    for k in range(n):
        place = (own[Own.CURSOR] + k) % n
        word = load(fstates, place)
        while word == 0:  # its number is known before it is written
            pause()
            word = load(fstates, place)
        state = np.int64(word) - 1
        if is_new(arrays, state):
            own[Own.CURSOR] = place
            return state
        if others < 0 and not is_dead(arrays.nodes, state):
            others = state
    if others >= 0:
        return others
    if load(registers, Reg.N_FSTATES) == n:
        return np.int64(NONE)
    return np.int64(INSIDE)


@inlined
def lacks_room(product, store_, registers, arrays):
    """Whether an array is too short for one more step; ids are taken if need be."""
    own = arrays.own
    n = product.ids.shape[0]
    if own[Own.TOP] + max(n + 1, MOST_TOLD) > arrays.stack.shape[0]:
        return True
    if own[Own.N_ROOTS] + MOST_TOLD > arrays.roots.shape[0]:
        return True
    return lacks_ids_or_room(product, store_, registers, own)


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
def expand_state(expand, product, store_, registers, arrays, state):
    """Take the transitions of a state; return whether a cycle accepts.

    Those to complete sets are done, those to sets of the path close cycles; other
    states wait on the worker's stack, below all others those in which other workers
    are: these may have completed them, or united them with the path, until then.
    """
    own, nodes, sets = arrays.own, arrays.nodes, arrays.sets
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    n = successors(expand, product, store_.rows[state])
    intern_shared(
        store_, own, product.rows, n, product.ids, product.hashes, arrays.pairs
    )
    own[Own.EXPANSIONS] += 1
    own[Own.TRANSITIONS] += n
    if own[Own.SHUFFLE] != 0:
        shuffle(own, product, n)
    top, n_new = own[Own.TOP], 0
    bits = registers[Reg.MARK_BITS]
    labels = arrays.labels
    part = labels[state] if labels.shape[0] > 0 else np.uint32(0)
    avoided = arrays.avoided[part]
    may_pass = registers[Reg.EMPTY_ACCEPTS] == 0
    uppermost = find(nodes, np.int64(arrays.roots[own[Own.N_ROOTS] - 1]))
    for i in range(n):
        target, marks = np.int64(product.ids[i]), product.marks[i]
        if marks & avoided != 0:
            if part == 0:
                note(registers, arrays, target)
            continue
        if part != 0 and labels[target] != part:
            continue
        root = find(nodes, target)
        if load(nodes, parent_at(root)) & HIGH != 0:
            continue
        known = load(sets, set_at(root))
        bits_of_marks = np.uint64(marks) << MARKS_SHIFT
        is_known = root == uppermost and known & bits_of_marks == bits_of_marks
        if is_known and (may_pass or known >> MARKS_SHIFT != 0):
            continue  # most transitions of a large set: they tell nothing new
        if known & me != 0:
            if close_cycle(registers, arrays, target, marks):
                return True
            uppermost = find(nodes, np.int64(arrays.roots[own[Own.N_ROOTS] - 1]))
        elif known & WORKERS != 0:
            arrays.stack[top] = target
            write_marks(arrays.stack_marks, bits, top, marks)
            top += 1
        else:
            product.ids[n_new], product.marks[n_new] = target, marks
            n_new += 1
    for i in range(n_new - 1, -1, -1):  # the first ends on top
        arrays.stack[top] = product.ids[i]
        write_marks(arrays.stack_marks, bits, top, product.marks[i])
        top += 1
    own[Own.TOP] = top
    return False


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


@inlined
def go_on(arrays, state):
    """Continue a frame whose state is done.

    It ends, or is the root's; then live states of its set are others'.
    """
    own = arrays.own
    top, root = own[Own.TOP] - 1, own[Own.N_ROOTS] - 1
    is_roots = arrays.frames[root] == top
    if is_roots and bury_alone(arrays.sets, own, state):
        end_frame(own, 1)
        return
    remove(arrays.nodes, state)
    # Other frames of the set end with their state.
    if is_roots and pick(arrays.nodes, own, state) >= 0:
        arrays.stack[top] = HELPING
    else:
        end_frame(own, is_roots)


@inlined
def help_others(registers, arrays):
    """Go on where the set of the uppermost root has live states of other workers.

    Returns a state of it to expand; `NONE`: the frame has ended, or has more above it,
    or waits; `INSIDE`: a cycle accepts.
    """
    own, nodes = arrays.own, arrays.nodes
    n_roots = own[Own.N_ROOTS]
    root = np.int64(arrays.roots[n_roots - 1])
    if own[Own.IS_WAITING] != 0:
        told = load(arrays.mail, LINE * own[Own.NUMBER] + ANSWER)
        if told == 0:
            own[Own.POLLS] += 1
            if own[Own.POLLS] & 63 == 0:  # who is asked may have no core
                give_way()
            else:
                pause()
            return np.int64(NONE)
        own[Own.IS_WAITING] = 0
        if told == 1:
            own[Own.TRIES] += 1
            return np.int64(NONE)
        own[Own.TRIES] = 0
        return take_told(registers, arrays, np.int64(told) - 1)
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
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    workers = load(arrays.sets, set_at(find(nodes, root))) & WORKERS
    if workers & ~me != 0 and own[Own.TRIES] < PATIENCE:
        ask(arrays, root, workers & ~me)
        return np.int64(NONE)
    own[Own.TRIES] = 0
    arrays.stack[own[Own.TOP] - 1] = ~chosen
    return chosen


@inlined
def take_told(registers, arrays, told):
    """Enter the roots that another worker has told, and have its states wait above."""
    own = arrays.own
    n_roots, n_states = told & 0xFFFF, told >> 16
    first = LINE * own[Own.NUMBER] + FIRST
    own[Own.TOLD] += n_states
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    for k in range(n_roots):
        word = arrays.mail[first + k]
        root = np.int64(word & LOW_HALF)
        marks = np.uint32(word >> np.uint64(32))
        if is_dead(arrays.nodes, root):
            return np.int64(NONE)
        before = add_bits(arrays.nodes, arrays.sets, find(arrays.nodes, root), me)
        if before & me == 0:
            begin_frame(arrays, root, marks, HELPING)
        elif close_cycle(registers, arrays, root, marks):
            return np.int64(INSIDE)
    top = own[Own.TOP]
    for k in range(n_states - 1, -1, -1):  # the first ends on top
        word = arrays.mail[first + n_roots + k]
        arrays.stack[top] = np.int64(word & LOW_HALF)
        marks = np.uint32(word >> np.uint64(32))
        write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top, marks)
        top += 1
    own[Own.TOP] = top
    return np.int64(NONE)


@inlined
def enter(registers, arrays, state, marks):
    """Enter the set of the state on top of the stack, and take the state off it.

    Returns what to expand; `NONE` if the set is dead or others are inside; `INSIDE`;
    `REFUSED`, and does nothing, if it is one state too many.
    """
    own, nodes, sets = arrays.own, arrays.nodes, arrays.sets
    root = find(nodes, state)
    if load(nodes, parent_at(root)) & HIGH != 0:
        own[Own.TOP] -= 1
        return np.int64(NONE)
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    before = load(sets, set_at(root))
    if before & WORKERS == 0 and is_at_limit(registers, own):
        return np.int64(REFUSED)
    if before & me == 0:
        before = add_bits(nodes, sets, root, me)
    own[Own.TOP] -= 1
    if before & me != 0:
        return np.int64(INSIDE)
    if before & WORKERS == 0:
        count_entry(registers, own)
        begin_frame(arrays, state, marks, ~state)
        return state
    begin_frame(arrays, state, marks, HELPING)
    return np.int64(NONE)


@njit
def ufscc_step(expand, product, store_, registers, arrays, _):
    """Advance one worker of Bloemen et al. 2016, Algorithm 4.

    `registers` are shared, `arrays` are the worker's.  Any answer but RUNNING makes the
    others return, too.  After FOUND the set of state ``registers[Reg.CLOSING]`` is
    strongly connected, and its transitions carry all marks of a clause.
    """
    own = arrays.own
    while is_at_work(registers, own):
        answer_all(registers, arrays)
        if lacks_room(product, store_, registers, arrays):
            return stopped(registers, Status.GROW)
        top = own[Own.TOP]
        if top == 0:
            start = next_start(registers, arrays)
            if start == INSIDE:
                continue
            if start < 0:
                return stopped(registers, Status.EMPTY)
            arrays.stack[0] = start
            write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], 0, np.uint32(0))
            own[Own.TOP] = 1
            continue
        state = np.int64(arrays.stack[top - 1])
        if state == HELPING:
            marks = np.uint32(0)
            chosen = help_others(registers, arrays)
            if chosen == INSIDE:
                return stopped(registers, Status.FOUND)
        elif state < 0:
            go_on(arrays, ~state)
            continue
        else:
            marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
            chosen = enter(registers, arrays, state, marks)
        if chosen == REFUSED:
            return stopped(registers, Status.LIMIT)
        if chosen == INSIDE:
            if close_cycle(registers, arrays, state, marks):
                return stopped(registers, Status.FOUND)
        elif chosen >= 0:
            count_expansion(registers, own)
            if expand_state(expand, product, store_, registers, arrays, chosen):
                return stopped(registers, Status.FOUND)
    return stopped(registers, Status.RUNNING)  # others may be waiting for this one

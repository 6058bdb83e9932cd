"""The steps of a worker of ``ufscc``, ``rabin`` and ``tela`` (see `.ufscc`)."""

from __future__ import annotations

import numpy as np

from ltlpipe.por.component_sets import Reduction
from ltlpipe.runtime.kernels.atomics import (
    fetch_add,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.packed import read_marks, write_marks
from ltlpipe.search.product import visit_successors
from ltlpipe.search.reduced import visit_ample
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.search import (
    count_entry,
    count_expansion,
    is_at_limit,
    is_at_work,
    shuffle,
    stopped,
)
from ltlpipe.search.shared.sharing import (
    HELPING,
    INSIDE,
    MOST_TOLD,
    answer_all,
    begin_frame,
    close_cycle,
    end_frame,
    help_others,
)
from ltlpipe.search.shared_store import Worker, lacks_ids_or_room
from ltlpipe.search.union_find import (
    HIGH,
    MARKS_SHIFT,
    NONE,
    NOTED,
    WORKERS,
    add_bits,
    bury_alone,
    find,
    is_dead,
    is_new,
    parent_at,
    pick,
    remove,
    set_at,
)

REFUSED = -3
"""No more states may be entered."""


@inlined
def note(registers, arrays, state):
    """Put a state that no worker has entered on the list Fstates, once."""
    sets, at = arrays.sets, set_at(state)
    if load(sets, at) != 0 or load(arrays.nodes, parent_at(state)) != 0:
        return
    if fetch_or(sets, at, NOTED) == 0:
        place = fetch_add(registers, Worker.N_FSTATES, 1)
        store(arrays.fstates, place, np.uint32(state + 1))


@inlined
def next_start(registers, arrays):
    """Return a state of Fstates whose set is not dead; `NONE` if there is none.

    `INSIDE` if the list has become longer meanwhile.  Each worker goes round the list
    from where it was last, and takes a state that no worker has entered; if there is
    none, it helps in a set in which others are.
    """
    own, fstates = arrays.own, arrays.fstates
    n = load(registers, Worker.N_FSTATES)
    others = np.int64(NONE)
    for k in range(n):
        place = (own[Worker.CURSOR] + k) % n
        word = load(fstates, place)
        while word == 0:  # its number is known before it is written
            pause()
            word = load(fstates, place)
        state = np.int64(word) - 1
        if is_new(arrays.nodes, arrays.sets, state):
            own[Worker.CURSOR] = place
            return state
        if others < 0 and not is_dead(arrays.nodes, state):
            others = state
    if others >= 0:
        return others
    if load(registers, Worker.N_FSTATES) == n:
        return np.int64(NONE)
    return np.int64(INSIDE)


@inlined
def lacks_room(product, store_, registers, arrays):
    """Whether an array is too short for one more step; ids are taken if need be."""
    own = arrays.own
    n = product.ids.shape[0]
    if own[Reg.TOP] + max(n + 1, MOST_TOLD) > arrays.stack.shape[0]:
        return True
    if own[Reg.N_ROOTS] + MOST_TOLD > arrays.roots.shape[0]:
        return True
    return lacks_ids_or_room(product, store_, registers, own)


@specialised
def visit(expand, product, store_, arrays, state, reduction):
    """Generate the successors of a state, by its ample set if there are any; return n.

    See `visit_first`; here states of complete SCCs and new ones close no cycle.
    """
    own, words, sets = arrays.own, arrays.words, arrays.sets
    if reduction is None:
        return visit_successors(expand, product, store_, own, state, words, 0)
    others = words, arrays.nodes, sets
    known = Reduction(reduction.tables, reduction.seeds, others)
    return visit_ample(expand, product, store_, own, state, sets, known)


@inlined
def expand_state(expand, product, store_, registers, arrays, state):
    """Take the transitions of a state; return whether a cycle accepts.

    Those to complete sets are done, those to sets of the path close cycles; other
    states wait on the worker's stack, below all others those in which other workers
    are: these may have completed them, or united them with the path, until then.
    """
    own, nodes, sets = arrays.own, arrays.nodes, arrays.sets
    me = np.uint64(1) << np.uint64(own[Worker.NUMBER])
    n = visit(expand, product, store_, arrays, state, arrays.reduction)
    if own[Worker.SHUFFLE] != 0:
        shuffle(own, product, n)
    top, n_new = own[Reg.TOP], 0
    bits = registers[Reg.MARK_BITS]
    labels = arrays.labels
    part = labels[state] if labels.shape[0] > 0 else np.uint32(0)
    avoided = arrays.avoided[part]
    may_pass = registers[Worker.EMPTY_ACCEPTS] == 0
    uppermost = find(nodes, np.int64(arrays.roots[own[Reg.N_ROOTS] - 1]))
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
            uppermost = find(nodes, np.int64(arrays.roots[own[Reg.N_ROOTS] - 1]))
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
    own[Reg.TOP] = top
    return False


@inlined
def go_on(arrays, state):
    """Continue a frame whose state is done.

    It ends, or is the root's; then live states of its set are others'.
    """
    own = arrays.own
    top, root = own[Reg.TOP] - 1, own[Reg.N_ROOTS] - 1
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
def enter(registers, arrays, state, marks):
    """Enter the set of the state on top of the stack, and take the state off it.

    Returns what to expand; `NONE` if the set is dead or others are inside; `INSIDE`;
    `REFUSED`, and does nothing, if it is one state too many.
    """
    own, nodes, sets = arrays.own, arrays.nodes, arrays.sets
    root = find(nodes, state)
    if load(nodes, parent_at(root)) & HIGH != 0:
        own[Reg.TOP] -= 1
        return np.int64(NONE)
    me = np.uint64(1) << np.uint64(own[Worker.NUMBER])
    before = load(sets, set_at(root))
    if before & WORKERS == 0 and is_at_limit(registers, own):
        return np.int64(REFUSED)
    if before & me == 0:
        before = add_bits(nodes, sets, root, me)
    own[Reg.TOP] -= 1
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
        top = own[Reg.TOP]
        if top == 0:
            start = next_start(registers, arrays)
            if start == INSIDE:
                continue
            if start < 0:
                return stopped(registers, Status.EMPTY)
            arrays.stack[0] = start
            write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], 0, np.uint32(0))
            own[Reg.TOP] = 1
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

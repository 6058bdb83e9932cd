"""The kernels of `decoupled_scc`: paths, live states, roots, and both passes.

Source, differences and cost: see `ltlpipe.decoupled.decoupled_scc`.

Invariants: those of `dominance`; the numbers of live states are their places on the
stack of live states; roots are live states in ascending order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import is_enabled, write_successor
from ltlpipe.decoupled.decoupled_ndfs import has_local_cycle, meets
from ltlpipe.decoupled.dominance import add_row, find_including, has_room
from ltlpipe.runtime.kernels.jit import inlined, njit, trailing_zeros
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import find, hash_row

DEAD = -2
"""The number of a state from which no run is accepted."""

UNKNOWN = -1
"""The number of a state of which the relaxed pass could not tell."""

_ANY = np.iinfo(np.int32).max
LOCAL = -2  # Reg.CLOSING: internal transitions close the cycle


class Components(NamedTuple):
    """Room for n visited states and d states on the path."""

    number: np.ndarray  # int32[n], place among the live states, DEAD or UNKNOWN
    place: np.ndarray  # int32[n], place on the path, -1 if it is not there
    live: np.ndarray  # int32[n], states of SCCs that are not complete
    roots: np.ndarray  # int32[d], the numbers of their roots
    inner_marks: np.ndarray  # uint32[d], the marks inside of each
    arc_marks: np.ndarray  # uint32[d], those on the way to its root
    doubtful: np.ndarray  # uint8[d], whether a state that is UNKNOWN can be reached


@inlined
def watching(tables, rows, i):
    """Return the state of the monitor, the last component, in ``rows[i]``."""
    monitor = tables.first_word.shape[0] - 1
    first = tables.first_word[monitor]
    state = np.int64(0)
    for w in range(tables.n_words[monitor]):
        word = rows[i, first + w] & tables.mask[monitor]
        if word != 0:
            state = 64 * w + trailing_zeros(word) - tables.shift[monitor]
    return state


@inlined
def enter(registers, path, parts, state, arc):
    """Put a state on the path, a root of its own, by an arc with these marks."""
    depth = registers[Reg.DEPTH]
    count = registers[Reg.COUNT]
    root = registers[Reg.N_ROOTS]
    path.states[depth] = state
    path.cursor[depth] = -1
    parts.number[state] = count
    parts.place[state] = depth
    parts.live[count] = state
    parts.roots[root] = count
    parts.inner_marks[root] = 0
    parts.arc_marks[root] = arc
    parts.doubtful[root] = 0
    registers[Reg.COUNT] = count + 1
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.DEPTH] = depth + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)


@inlined
def leave(registers, parts, state):
    """Take the state at the end of the path off; its SCC if it is the root."""
    registers[Reg.DEPTH] -= 1
    parts.place[state] = -1
    root = registers[Reg.N_ROOTS] - 1
    first = np.int64(parts.number[state])
    if parts.roots[root] == first:
        doubtful = parts.doubtful[root] != 0
        number = UNKNOWN if doubtful else DEAD
        for k in range(first, registers[Reg.COUNT]):
            parts.number[parts.live[k]] = number
        registers[Reg.COUNT] = first
        registers[Reg.N_ROOTS] = root
        registers[Reg.N_SCCS] += 1
        if doubtful and root > 0:
            parts.doubtful[root - 1] = 1


@inlined
def unite(registers, parts, number, marks):
    """Make one SCC of those from that of a live state to the end of the path.

    Returns the marks in it, `marks` included.
    """
    root = registers[Reg.N_ROOTS] - 1
    doubtful = np.uint8(0)
    while parts.roots[root] > number:
        marks |= parts.inner_marks[root] | parts.arc_marks[root]
        doubtful |= parts.doubtful[root]
        root -= 1
    registers[Reg.N_ROOTS] = root + 1
    parts.inner_marks[root] |= marks
    parts.doubtful[root] |= doubtful
    return parts.inner_marks[root]


@inlined
def marks_on_path(tables, label_marks, rows, path, first, last):
    """Return the marks of the labels taken from the path's states first to last."""
    marks = np.uint32(0)
    for k in range(first, last + 1):
        state = np.int64(path.states[k])
        marks |= label_marks[path.cursor[k] - 1, watching(tables, rows, state)]
    return marks


@inlined
def find_stand_in(visited, known, registers, parts, rows):
    """Return the visited state that stands for ``rows[0]``, or -1.

    A dead one that includes it; else the same; else, in the relaxed pass, any that
    includes it.
    """
    store = visited.store
    mixed = hash_row(rows, 0)
    id_bits = np.uint64(known[Reg.ID_BITS])
    _, same = find(store.slots, store.rows, rows, 0, mixed, id_bits)
    if same >= 0:
        known[Reg.DUPLICATES] += 1
        if parts.number[same] == DEAD:
            return same
    any_ = same
    if same < 0 and registers[Reg.EXACT] == 0:
        any_ = find_including(visited, known, rows, 0, parts.number, _ANY, False)
        if any_ < 0 or parts.number[any_] == DEAD:
            return any_
    dead = find_including(visited, known, rows, 0, parts.number, DEAD, False)
    return dead if dead >= 0 else any_


@inlined
def follow(tables, label_marks, visited, known, registers, path, parts, label):
    """Follow an enabled label from the end of the path; return a Status.

    The cursor there is behind the label.
    """
    rows = visited.store.rows
    end = registers[Reg.DEPTH] - 1
    src = np.int64(path.states[end])
    marks = label_marks[label, watching(tables, rows, src)]
    united = write_successor(tables, rows, src, label, path.fresh, 0)
    registers[Reg.UNITED] += united
    found = find_stand_in(visited, known, registers, parts, path.fresh)
    number = np.int64(DEAD) if found < 0 else np.int64(parts.number[found])
    again = number == UNKNOWN and registers[Reg.EXACT] != 0
    if found < 0 or again:
        if at_limit(registers):
            path.cursor[end] = label  # the call can be repeated
            registers[Reg.TURN] += 1
            return Status.LIMIT
        registers[Reg.VISITED] += 1
        if found < 0:
            found = add_row(visited, known, path.fresh, 0)
        enter(registers, path, parts, found, marks)
    elif number == UNKNOWN:
        parts.doubtful[registers[Reg.N_ROOTS] - 1] = 1
    elif number != DEAD:
        full = np.uint32(registers[Reg.MARK_BITS])
        inside = unite(registers, parts, number, marks)
        if inside & full == full:
            registers[Reg.CLOSING] = parts.place[found]
            registers[Reg.TRANSITIONS] += 1
            if registers[Reg.EXACT] != 0:
                return Status.FOUND
            parts.doubtful[registers[Reg.N_ROOTS] - 1] = 1
            place = np.int64(parts.place[found])
            if place >= 0 and (
                marks_on_path(tables, label_marks, rows, path, place, end) & full
                == full
            ):
                return Status.FOUND
            return Status.RUNNING
    registers[Reg.TRANSITIONS] += 1
    return Status.RUNNING


@njit
def scc_step(tables, label_marks, visited, known, registers, path, parts, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited (Visited) with its registers `known`, `registers` of the search, `path` and
    `parts` (Components) are changed in place; label_marks : uint32[n_labels, k].
    Returns a Status.  In the relaxed pass FOUND is no more than a candidate, and the
    search can go on: ``registers[Reg.CLOSING]`` is the place on the path to which the
    last label leads back.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = visited.store.rows
    while budget > 0 and registers[Reg.TURN] > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0:
            return Status.EMPTY
        if depth == path.states.shape[0] or not has_room(visited, known):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        registers[Reg.TURN] -= 1
        src = np.int64(path.states[depth - 1])
        label = np.int64(path.cursor[depth - 1])
        if label == n_labels:
            leave(registers, parts, src)
            continue
        path.cursor[depth - 1] = label + 1
        if label < 0:
            if has_local_cycle(tables, rows, src) and meets(
                tables, tables.accepting, rows, src
            ):
                registers[Reg.CLOSING] = LOCAL
                return Status.FOUND
            continue
        if not is_enabled(tables, rows, src, label):
            continue
        status = follow(
            tables, label_marks, visited, known, registers, path, parts, label
        )
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@njit
def begin(registers, path, parts):
    """Begin a pass in the initial state, the first that was visited."""
    registers[Reg.DEPTH] = 0
    registers[Reg.COUNT] = 0
    registers[Reg.N_ROOTS] = 0
    enter(registers, path, parts, 0, np.uint32(0))


@njit
def take_turn(tables, rows, labels):
    """Follow labels from ``rows[0]``; the end is in ``rows[0]`` again.

    rows : uint64[2, n_words]; labels : int64[k].  Returns whether they are enabled.
    """
    for label in labels:
        if not is_enabled(tables, rows, 0, label):
            return False
        write_successor(tables, rows, 0, label, rows, 1)
        for w in range(rows.shape[1]):
            rows[0, w] = rows[1, w]
    return True


@njit
def write_targets(tables, store, known, state, fresh, targets):
    """Write to ``targets[label]`` where labels lead from a state, or -1.

    fresh : uint64[1, n_words], room for a row; targets : int64[n_labels].
    """
    rows = store.rows
    for label in range(targets.shape[0]):
        targets[label] = -1
        if is_enabled(tables, rows, state, label):
            write_successor(tables, rows, state, label, fresh, 0)
            id_bits = np.uint64(known[Reg.ID_BITS])
            mixed = hash_row(fresh, 0)
            _, targets[label] = find(store.slots, rows, fresh, 0, mixed, id_bits)

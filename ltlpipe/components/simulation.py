"""Weak simulation: mergers, and steps left out, that keep traces and divergences.

State q *simulates* p (p <= q) if it can follow each step of p after silent steps, to a
state that simulates the target, and reaches a mark silently if p is marked.  States
that simulate each other become one.  Then a step with a target that another step of
its source, after silent ones, has a greater target than is left out.  The same is done
backwards, where what counts is the ways from the initial state instead of those into
marks.  The result is not deterministic, and never larger; where the deterministic form
of a component grows, it is often smaller by a power.

The proof is in docs/components.md, section 5.

Sources: D. Bustan and O. Grumberg, "Simulation-Based Minimization", ACM Transactions on
Computational Logic 4(2), 2003, pp. 181-206 (quotient, and steps to "little brothers");
L. Clemente and R. Mayr, "Efficient Reduction of Nondeterministic Automata with
Application to Language Inclusion Testing", Logical Methods in Computer Science 15(1),
2019 (backwards, and one after the other).

Differences from the sources: simulation is weak, and marks stand for divergence.

Cost: a set of n bits for each state.  A state whose set has changed takes one pass over
the steps of each label that leads to it, so n m in all if sets change once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import ENTRY_WORK, reducing
from ltlpipe.components.transition_arrays import (
    Steps,
    breadth_first,
    merged,
    sort_steps,
)
from ltlpipe.runtime.arrays import begins
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

MOST_LOOKS = 2e7
"""Of states times steps, beyond which nothing is done."""

_BUDGET = 1 << 20
_LOOK_WORK = 0.02  # microseconds of one
_ROUNDS, _WORTH = 4, 0.9
_ONE, _LOW = np.uint64(1), np.uint64(63)


class Relation(NamedTuple):
    """Steps by target, and of each of n states a set of those that simulate it."""

    first: np.ndarray  # int64[n + 1], where the steps to each state begin
    label: np.ndarray  # int32[m], sorted by target and label; the silent one is last
    src: np.ndarray  # int32[m]
    above: np.ndarray  # uint64[n, w], bit q of row p: q simulates p
    row: np.ndarray  # uint64[w], room
    stack: np.ndarray  # int32[n], room
    queue: np.ndarray  # int32[n], a ring of states whose row has changed
    queued: np.ndarray  # bool[n]
    registers: np.ndarray  # int64[2], head of the queue, and its length


def reduced(steps: Steps) -> Job[Steps]:
    """Return steps with the same traces and divergences, never more.

    No silent step lies on a cycle, and marks are of states that can run silently for
    ever, as `ltlpipe.components.transition_arrays.collapse` leaves them.
    """
    for _ in range(_ROUNDS):
        if steps.n_states * len(steps.src) > MOST_LOOKS:
            return steps
        before = steps.n_states, len(steps.src)
        steps = yield from _smaller(steps, steps.marked)
        is_initial = np.zeros(steps.n_states, dtype=np.bool_)
        is_initial[steps.initial] = True
        backwards = steps._replace(src=steps.dst, dst=steps.src)
        backwards = yield from _smaller(backwards, is_initial)
        steps = backwards._replace(src=backwards.dst, dst=backwards.src)
        steps = yield from breadth_first(steps)
        if steps.n_states + len(steps.src) > _WORTH * sum(before):
            break
    return steps


def _smaller(steps: Steps, ends: np.ndarray) -> Job[Steps]:
    """Merge states that simulate each other, and leave out steps that others exceed.

    Where p has an end, bool[n], what simulates it reaches one silently.
    """
    relation = yield from _related(steps, ends)
    n = steps.n_states
    above = np.unpackbits(relation.above.view(np.uint8), axis=1, bitorder="little")
    above = above[:, :n].astype(np.bool_)
    yield reducing(n * n * ENTRY_WORK, 3 * n * n)
    least = (above & above.T).argmax(axis=1)
    kept, number = np.unique(least, return_inverse=True)
    if len(kept) < n:
        # Classes are in the order of their least members, as `merged` has them.
        steps = merged(steps, len(kept), number.astype(np.int32))
        above = np.ascontiguousarray(above[np.ix_(kept, kept)])
    src, label, dst = yield from sort_steps(
        steps.n_states, steps.n_labels + 1, steps.src, steps.label, steps.dst
    )
    first = begins(src, steps.n_states)
    exceeded = np.zeros(len(src), dtype=np.bool_)
    room = np.zeros(steps.n_states, dtype=np.int32)
    is_seen = np.zeros(steps.n_states, dtype=np.int32)
    at = np.zeros(1, dtype=np.int64)
    arrays = first, label, dst, steps.n_labels, above, exceeded, room, is_seen, at
    while not (yield from called(_note_exceeded, *arrays, _BUDGET)):
        yield reducing(_BUDGET * _LOOK_WORK, 3 * n * n)
    left = ~exceeded
    return steps._replace(src=src[left], label=label[left], dst=dst[left])


def _related(steps: Steps, ends: np.ndarray) -> Job[Relation]:
    """Return the greatest weak simulation."""
    n, silent = steps.n_states, steps.n_labels
    bits = max(n, silent + 1)
    columns = steps.dst, steps.label, steps.src
    dst, label, src = yield from sort_steps(bits, bits, *columns)
    width = (n + 63) // 64
    relation = Relation(
        begins(dst, n),
        label,
        src,
        np.full((n, width), ~np.uint64(0)),
        np.zeros(width, dtype=np.uint64),
        np.empty(n, dtype=np.int32),
        np.arange(n, dtype=np.int32),
        np.ones(n, dtype=np.bool_),
        np.array([0, n], dtype=np.int64),
    )
    held = 3 * steps.memory_bytes + relation.above.nbytes
    for letter in range(silent):
        offers = np.zeros(n, dtype=np.bool_)
        offers[src[label == letter]] = True
        yield from called(_begin, relation, offers, silent)
        yield reducing((n + len(src)) * _LOOK_WORK, held)
    yield from called(_begin, relation, ends, silent)
    while not (yield from called(_restrict, relation, silent, _BUDGET)):
        yield reducing(_BUDGET * _LOOK_WORK, held)
    return relation


@njit
def _begin(relation, ends, silent):
    """Take from states with an end, bool[n], what does not reach one silently."""
    row = relation.row
    for i in range(row.shape[0]):
        row[i] = np.uint64(0)
    for state in range(ends.shape[0]):
        if ends[state]:
            _add(relation, state, silent)
    for state in range(ends.shape[0]):
        if ends[state]:
            for i in range(row.shape[0]):
                relation.above[state, i] &= row[i]


@inlined
def _add(relation, state, silent):
    """Add a state to the row, and what reaches it silently; return the looks."""
    row, stack = relation.row, relation.stack
    looks = 1
    depth = 0
    if row[state >> 6] >> (np.uint64(state) & _LOW) & _ONE == 0:
        row[state >> 6] |= _ONE << (np.uint64(state) & _LOW)
        stack[0] = state
        depth = 1
    while depth > 0:
        depth -= 1
        target = stack[depth]
        k = relation.first[target + 1] - 1
        while k >= relation.first[target] and relation.label[k] == silent:
            looks += 1
            src = relation.src[k]
            k -= 1
            if row[src >> 6] >> (np.uint64(src) & _LOW) & _ONE == 0:
                row[src >> 6] |= _ONE << (np.uint64(src) & _LOW)
                stack[depth] = src
                depth += 1
    return looks


@njit
def _restrict(relation, silent, budget):
    """Take away what does not simulate a state, at most about `budget` looks.

    Returns whether all has been done; otherwise it is to be called again.
    """
    n, width = relation.above.shape
    above, row, registers = relation.above, relation.row, relation.registers
    while registers[1] > 0:
        if budget <= 0:
            return False
        target = relation.queue[registers[0]]
        registers[0] = (registers[0] + 1) % n
        registers[1] -= 1
        relation.queued[target] = False
        label = -1
        for step in range(relation.first[target], relation.first[target + 1]):
            if relation.label[step] != label:
                label = relation.label[step]
                budget -= _before(relation, target, label, silent)
            p = relation.src[step]
            is_changed = False
            for i in range(width):
                left = above[p, i] & row[i]
                is_changed |= left != above[p, i]
                above[p, i] = left
            budget -= width
            if is_changed and not relation.queued[p]:
                relation.queued[p] = True
                relation.queue[(registers[0] + registers[1]) % n] = p
                registers[1] += 1
        budget -= 1
    return True


@inlined
def _before(relation, target, label, silent):
    """Write to the row what reaches, by a label, a state that simulates `target`.

    Returns the looks that this took.
    """
    row, width = relation.row, relation.row.shape[0]
    if label == silent:  # what reaches a member of a row silently is in the row
        for i in range(width):
            row[i] = relation.above[target, i]
        return width
    for i in range(width):
        row[i] = np.uint64(0)
    looks = 2 * width
    for i in range(width):
        word = relation.above[target, i]
        state = 64 * i
        while word != 0 and state < relation.queue.shape[0]:
            if word & _ONE:
                for k in range(relation.first[state], relation.first[state + 1]):
                    looks += 1
                    if relation.label[k] == label:
                        looks += _add(relation, relation.src[k], silent)
            word >>= _ONE
            state += 1
    return looks


@njit
def _note_exceeded(first, label, dst, silent, above, exceeded, room, seen, at, budget):
    """Note the steps that others of the same state exceed, of some more states.

    first int64[n + 1], label, dst int32[m]
        Steps, sorted by source, label and target; of no two states each simulates the
        other.
    above : bool[n, n]
        Whether state q simulates state p, in row p.
    exceeded : bool[m]
        Written.
    room, seen : int32[n], at : int64[1]
        Room; the states that are behind a state silently; the next state.

    Returns whether all states have been looked at.
    """
    n = seen.shape[0]
    while at[0] < n:
        if budget <= 0:
            return False
        state = at[0]
        at[0] += 1
        room[0] = state
        seen[state] = state + 1
        count, done = 1, 0
        while done < count:
            for k in range(first[room[done]], first[room[done] + 1]):
                if label[k] == silent and seen[dst[k]] != state + 1:
                    seen[dst[k]] = state + 1
                    room[count] = dst[k]
                    count += 1
            done += 1
        for step in range(first[state], first[state + 1]):
            target = dst[step]
            for i in range(1 if label[step] == silent else count):
                for k in range(first[room[i]], first[room[i] + 1]):
                    budget -= 1
                    is_other = dst[k] != target or i > 0
                    if is_other and label[k] == label[step] and above[target, dst[k]]:
                        exceeded[step] = True
    return True

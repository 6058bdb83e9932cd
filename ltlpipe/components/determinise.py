"""Determinising: the subset construction over silent steps.

A subset is what can be reached with one observable word, silent steps included.  Of
its states only the *significant* ones are kept, those with a visible step or a mark:
the others can do nothing but what states that they lead to do, which are members too.

Source: J. E. Hopcroft, R. Motwani and J. D. Ullman, "Introduction to Automata Theory,
Languages, and Computation", 3rd ed., 2006, Sec. 2.5.5 (subsets closed under silent
steps, built from the initial one on).

Differences from the source: only significant states are kept; the automaton stays
partial, so an empty subset is a state that can do nothing more; and all states
accept, for every word that can be begun counts.

Subsets are compared as sets without being sorted: their hash is a sum, and a subset
found is the one at hand iff the sizes agree and all its members bear the stamp of the
closure at hand.

Cost: up to 2^n subsets; for each, the visible steps of its members and, per label,
the silent steps of the states behind them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import reducing
from ltlpipe.components.transition_arrays import (
    U32,
    Graph,
    Status,
    Steps,
    graph_of,
    lengthened,
    scrambled,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

_BUDGET = 1 << 19  # states visited by one call
_VISIT_WORK = 1 / 32
_FIRST_ROOM = 64
_MEAN_SIZE = 64  # members per subset allowed that are worth the time

MAX_MEMBERS = 1 << 28
"""Members of all subsets together at which the construction is given up (1 GiB)."""


class TooLargeError(UnsupportedError):
    """The deterministic form of an LTS has more states than allowed."""


class Reg(IntEnum):
    """The scalars that outlive a call of `subset_step`."""

    SUBSETS = 0  # subsets known
    DONE = 1  # subsets whose successors are known
    STEPS = 2  # steps between those
    STAMP = 3  # the last number written to `Subsets.mark`
    HASHED = 4  # subsets entered into `Subsets.slots`
    CAP = 5  # subsets allowed


class Subsets(NamedTuple):
    """Subsets and the steps between them, of a graph of n states, m steps, d labels."""

    begin: np.ndarray  # int64[u + 1], where the members of each subset begin
    hashes: np.ndarray  # uint64[u]
    marked: np.ndarray  # bool[u], a member is marked
    members: np.ndarray  # int32[w]
    slots: np.ndarray  # int32[v], v a power of two: subset + 1 by hash, 0 if free
    src: np.ndarray  # int32[t]
    label: np.ndarray  # int32[t]
    dst: np.ndarray  # int32[t]
    mark: np.ndarray  # int64[n], when a state was last reached
    stack: np.ndarray  # int32[n]
    targets: np.ndarray  # int32[m], what is behind the labels, as lists ...
    after: np.ndarray  # int32[m], ... that end with -1
    head: np.ndarray  # int32[d], where the list of a label begins; -1 between calls
    used: np.ndarray  # int32[d], labels with a list


def determinise(steps: Steps, cap: int | None = None) -> Job[Steps]:
    """Find the deterministic form: what observable words lead to.

    A mark says that a state can run silently for ever; a state of the result is marked
    iff a member of its subset is.  With `cap`, so many subsets are allowed, also those
    of `_MEAN_SIZE` members on average (n more to begin with): many states in a subset
    take as much time as many subsets.  Beyond, and beyond `MAX_MEMBERS`,
    `TooLargeError` is raised.
    """
    graph, n_labels = yield from _with_start(steps)
    n = len(graph.silent)
    subsets = _new_subsets(n, len(graph.dst), n_labels)
    # Subset 0 is the extra state alone, which nothing else leads to.
    subsets.begin[1] = 1
    subsets.members[0] = n - 1
    registers = np.zeros(len(Reg), dtype=np.int64)
    registers[Reg.SUBSETS] = registers[Reg.HASHED] = 1
    registers[Reg.CAP] = np.iinfo(np.int64).max if cap is None else cap + 1
    allowed = MAX_MEMBERS if cap is None else min(MAX_MEMBERS, _MEAN_SIZE * cap + n)
    while True:
        before = _written(subsets, registers)
        status = yield from called(subset_step, graph, subsets, registers, _BUDGET)
        work = _BUDGET * _VISIT_WORK
        if status != Status.RUNNING:
            work = min(work, _written(subsets, registers) - before)
        held = steps.memory_bytes + sum(array.nbytes for array in (*graph, *subsets))
        # What is full becomes twice as large.
        yield reducing(work, 2 * held if status == Status.GROW else held)
        if status == Status.DONE:
            return _deterministic(subsets, registers, steps.n_labels)
        if status == Status.LIMIT:
            raise TooLargeError(
                f"the deterministic form has more than {cap} states;"
                " allow more or use branching equivalence"
            )
        if status == Status.GROW:
            subsets = _grown(subsets, registers, allowed)


def _written(subsets: Subsets, registers: np.ndarray) -> int:
    """Return how many members and steps have been written."""
    return int(subsets.begin[registers[Reg.SUBSETS]] + registers[Reg.STEPS])


def _with_start(steps: Steps) -> Job[tuple[Graph, int]]:
    """Make the graph with one more state and a step to the initial one.

    So the first subset is computed like the others.  The number of labels comes
    back too, at least one.
    """
    n, extra = steps.n_states, int(steps.n_labels == 0)
    widened = Steps(
        n + 1,
        n,
        steps.n_labels + extra,
        np.append(steps.src, np.int32(n)),
        np.append(steps.label + np.int32(extra), np.int32(0)),
        np.append(steps.dst, np.int32(steps.initial)),
        np.append(steps.marked, False),
    )
    graph = yield from graph_of(widened)
    return graph, widened.n_labels


def _first_room(n: int, m: int, n_labels: int) -> tuple[int, int, int]:
    """Return how many subsets, members and steps have room to begin with."""
    return n + _FIRST_ROOM, 2 * n + _FIRST_ROOM, m + n_labels + _FIRST_ROOM


def _new_subsets(n: int, m: int, n_labels: int) -> Subsets:
    n_subsets, n_members, n_steps = _first_room(n, m, n_labels)
    arrays = [
        np.zeros(n_subsets + 1, dtype=np.int64),
        np.zeros(n_subsets, dtype=np.uint64),
        np.zeros(n_subsets, dtype=np.bool_),
        np.zeros(n_members, dtype=np.int32),
        _slots_for(n_subsets),
        *np.zeros((3, n_steps), dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int32),
        *np.zeros((2, m), dtype=np.int32),
        np.full(n_labels, -1, dtype=np.int32),
        np.zeros(n_labels, dtype=np.int32),
    ]
    return Subsets._make(arrays)


def _slots_for(room: int) -> np.ndarray:
    """Return an empty hash table that is never more than half full."""
    return np.zeros(1 << (2 * room).bit_length(), dtype=np.int32)


def _grown(subsets: Subsets, registers: np.ndarray, allowed: int) -> Subsets:
    """Return the same with more room in the arrays that are full."""
    n_known = int(registers[Reg.SUBSETS])
    used = int(subsets.begin[n_known])
    if used + len(subsets.mark) > len(subsets.members):
        if used > allowed:
            raise TooLargeError(
                f"the deterministic form has more than {n_known} states, sets of"
                f" {used // n_known} on average; use branching equivalence"
            )
        size = max(2 * len(subsets.members), used + len(subsets.mark))
        subsets = lengthened(subsets, size, "members")
    if n_known == len(subsets.hashes):
        room = 2 * n_known
        subsets = lengthened(subsets, room + 1, "begin")
        subsets = lengthened(subsets, room, "hashes", "marked")
        subsets = subsets._replace(slots=_slots_for(room))
        registers[Reg.HASHED] = 0
    n_steps = int(registers[Reg.STEPS])
    if n_steps + len(subsets.head) > len(subsets.src):
        subsets = lengthened(subsets, 2 * len(subsets.src), "src", "label", "dst")
    return subsets


def _deterministic(subsets: Subsets, registers: np.ndarray, n_labels: int) -> Steps:
    """Return the subsets behind the extra one, which has the number 0."""
    n_known, n_steps = int(registers[Reg.SUBSETS]), int(registers[Reg.STEPS])
    # The only step of the extra subset is the first, and it leads to subset 1.
    return Steps(
        n_known - 1,
        0,
        n_labels,
        subsets.src[1:n_steps] - np.int32(1),
        subsets.label[1:n_steps],
        subsets.dst[1:n_steps] - np.int32(1),
        subsets.marked[1:n_known].copy(),
    )


@njit
def subset_step(graph, subsets, registers, budget):
    """Advance the subset construction.

    The arrays of `subsets` and `registers` (int64[len(Reg)]) are changed in place;
    the call ends after about `budget` states visited.  Returns RUNNING, GROW
    (an array is full; the call can be repeated), LIMIT or DONE.
    """
    n_labels = subsets.head.shape[0]
    enter_slots(subsets, registers)
    while registers[Reg.DONE] < registers[Reg.SUBSETS]:
        if budget <= 0:
            return Status.RUNNING
        n_steps = registers[Reg.STEPS]
        if n_steps + n_labels > subsets.src.shape[0]:
            return Status.GROW
        at = registers[Reg.DONE]
        n_used, n_targets = collect(graph, subsets, at)
        budget -= n_targets
        status = Status.RUNNING
        for i in range(n_used):
            label = subsets.used[i]
            if status == Status.RUNNING:
                registers[Reg.STAMP] += 1
                size, mixed, visited = close(graph, subsets, registers, label)
                budget -= visited
                if size < 0:
                    status = Status.GROW
                else:
                    found, status = find_subset(subsets, registers, size, mixed)
                    if status == Status.RUNNING:
                        subsets.src[n_steps] = at
                        subsets.label[n_steps] = label
                        subsets.dst[n_steps] = found
                        n_steps += 1
            subsets.head[label] = -1
        if status != Status.RUNNING:
            return status  # what was found is found again: the subset is not done
        registers[Reg.STEPS] = n_steps
        registers[Reg.DONE] += 1
    return Status.DONE


@inlined
def enter_slots(subsets, registers):
    """Enter the subsets that a new hash table lacks."""
    mask = np.int64(subsets.slots.shape[0] - 1)
    for i in range(registers[Reg.HASHED], registers[Reg.SUBSETS]):
        slot = np.int64(subsets.hashes[i] >> U32) & mask
        while subsets.slots[slot] != 0:
            slot = (slot + 1) & mask
        subsets.slots[slot] = i + 1
    registers[Reg.HASHED] = registers[Reg.SUBSETS]


@inlined
def collect(graph, subsets, at):
    """List what is behind each label; return the numbers of labels and targets."""
    members = subsets.members
    n_used = 0
    n_targets = 0
    for i in range(subsets.begin[at], subsets.begin[at + 1]):
        state = members[i]
        for step in range(graph.first[state], graph.silent[state]):
            label = graph.label[step]
            if label == subsets.head.shape[0]:
                subsets.marked[at] = True
                continue
            if subsets.head[label] < 0:
                subsets.used[n_used] = label
                n_used += 1
            subsets.targets[n_targets] = graph.dst[step]
            subsets.after[n_targets] = subsets.head[label]
            subsets.head[label] = n_targets
            n_targets += 1
    return n_used, n_targets


@inlined
def close(graph, subsets, registers, label):
    """Stamp what the targets of a label reach silently.

    The significant ones are written behind the members of the last subset.  Returns
    their number (-1 if there is no room), their hash, and how many were reached.
    """
    mark = subsets.mark
    stack = subsets.stack
    members = subsets.members
    stamp = registers[Reg.STAMP]
    begin = subsets.begin[registers[Reg.SUBSETS]]
    end = begin
    mixed = np.uint64(0)
    visited = 0
    depth = 0
    at = np.int64(subsets.head[label])
    while at >= 0:
        target = subsets.targets[at]
        at = np.int64(subsets.after[at])
        if mark[target] != stamp:
            mark[target] = stamp
            stack[depth] = target
            depth += 1
        while depth > 0:
            depth -= 1
            visited += 1
            state = stack[depth]
            if graph.first[state] < graph.silent[state]:
                if end == members.shape[0]:
                    return np.int64(-1), mixed, visited
                members[end] = state
                end += 1
                mixed += scrambled(np.uint64(state) + np.uint64(1))
            for step in range(graph.silent[state], graph.first[state + 1]):
                following = graph.dst[step]
                if mark[following] != stamp:
                    mark[following] = stamp
                    stack[depth] = following
                    depth += 1
    return end - begin, mixed, visited


@inlined
def find_subset(subsets, registers, size, mixed):
    """Return the subset that has just been closed, added if it is new, and a Status."""
    slots = subsets.slots
    members = subsets.members
    n_known = registers[Reg.SUBSETS]
    mask = np.int64(slots.shape[0] - 1)
    slot = np.int64(mixed >> U32) & mask
    while slots[slot] != 0:
        known = np.int64(slots[slot] - 1)
        begin = subsets.begin[known]
        end = subsets.begin[known + 1]
        if subsets.hashes[known] == mixed and end - begin == size:
            at = begin
            while at < end and subsets.mark[members[at]] == registers[Reg.STAMP]:
                at += 1
            if at == end:
                return known, Status.RUNNING
        slot = (slot + 1) & mask
    if n_known >= registers[Reg.CAP]:
        return n_known, Status.LIMIT
    if n_known == subsets.hashes.shape[0]:
        return n_known, Status.GROW
    slots[slot] = n_known + 1
    subsets.hashes[n_known] = mixed
    subsets.begin[n_known + 1] = subsets.begin[n_known] + size
    registers[Reg.SUBSETS] = n_known + 1
    registers[Reg.HASHED] = n_known + 1
    return n_known, Status.RUNNING

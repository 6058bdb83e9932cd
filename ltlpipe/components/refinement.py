"""Strong and branching bisimulation by signatures, for changed states only.

The signature of a state is the set of (label, block of the target) over its steps
and, in branching bisimulation, over those of the states that it reaches by *inert*
steps: silent ones inside its block.  Inert steps themselves do not count.  A
partition is refined by signatures until none differ inside a block; what comes out
is the coarsest bisimulation.

A state is *dirty* if its signature may have changed.  All *clean* states of a block
have one signature.  When a block is split, the largest part keeps its number, so
that only the states before the smaller parts become dirty.

Sources: S. Blom and S. Orzan, "Distributed Branching Bisimulation Reduction of State
Spaces", PDMC 2003, ENTCS 89(1), pp. 99-113 (signatures for branching bisimulation);
J. Jacobs and T. Wissmann, "Fast Coalgebraic Bisimilarity Minimization", POPL 2023,
PACMPL 7, article 52 (dirty states, the largest part keeps its number).

Differences from the sources:

- Dirty states for branching bisimulation: with a state, all that reach it by inert
  steps are dirty; so from a clean state inert steps lead to clean states only, and
  to a *bottom* state, without inert steps, whose own steps are the signature of all.
- Divergence counts: a mark is a visible loop.  With silent SCCs collapsed and those
  that can run silently for ever marked, this is divergence-preserving branching
  bisimulation.
- Signatures are not closed over inert steps: such sets grow from step to step and can
  take quadratic space.  The states of a block are taken from the bottom up.  One
  whose own steps are all in the signature of the group to which its inert successors
  belong joins that group.  Any other is *mixed*: it reaches inertly a state with a
  smaller signature.  No mixed state is bisimilar to one that is not, since all that
  the latter reaches inertly has one signature.  So the mixed ones can be split off as
  a block, in which silent steps to the groups found so far are steps like others, and
  the bottom states of that block are known at once: all levels of mixture are found
  in one pass, and groups of different levels are kept apart.

Invariants: a block is in the queue iff it has dirty states, and those are the last
of its elements; no silent step lies on a cycle.

Cost: a look at a state of d steps sorts those that are not inert.  For strong
bisimulation each state is moved to another block at most log2(n) times, and each move
makes its predecessors dirty, so a state is looked at O(d log n) times.  For branching
bisimulation there is no such bound, since dirt spreads over inert steps.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import ENTRY_WORK, reducing
from ltlpipe.components.transition_arrays import (
    U32,
    Status,
    Steps,
    graph_of,
    merged,
    scrambled,
)
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

_BUDGET = 1 << 13  # dirty states of a call, or those of one block if they are more
_STATE_WORK = 2  # of a dirty state
_STATE_BYTES = 130  # of a state in a partition, a room and a graph
_EDGE_BYTES = 24


class Reg(IntEnum):
    """The scalars that outlive a call of `refine`."""

    N_BLOCKS = 0
    HEAD = 1  # place in the ring `queue` of the block to be split next
    QUEUED = 2  # blocks in the queue
    N_LABELS = 3  # of `Graph.label`


class Partition(NamedTuple):
    """A partition of n states into blocks, each a stretch of `elements`."""

    elements: np.ndarray  # int32[n], states, block by block
    place: np.ndarray  # int32[n], where each state stands in `elements`
    end: np.ndarray  # int32[n], of each block
    begin: np.ndarray  # int32[n]
    clean: np.ndarray  # int32[n], where its dirty states begin, behind the others
    block: np.ndarray  # int32[n], the block of each state
    queue: np.ndarray  # int32[n], a ring of blocks


class Room(NamedTuple):
    """What one split writes; a *group* is the states of one signature."""

    keys: np.ndarray  # int64[k], the signatures of the groups, sorted
    hashes: np.ndarray  # uint64[n + 1], of each group's signature
    slots: np.ndarray  # int32[s], group + 1 by hash; zeros between two splits
    key_begin: np.ndarray  # int64[n + 2], of each group
    slot_of: np.ndarray  # int64[n + 2], of each group
    size: np.ndarray  # int64[n + 2], states of each group
    start: np.ndarray  # int64[n + 2], where a group begins
    level: np.ndarray  # int64[n + 2], of each group
    group: np.ndarray  # int32[n], of each dirty state
    missing: np.ndarray  # int32[n], inert successors to come; zeros between splits
    order: np.ndarray  # int32[n], dirty states, inert successors first


def quotient(steps: Steps) -> Job[Steps]:
    """Merge bisimilar states; no silent step lies on a cycle.

    Without silent steps this is strong bisimulation, otherwise (divergence-preserving)
    branching bisimulation; only states with equal marks are merged, or states that
    reach a mark inertly.  The steps are in no particular order, inert ones left out;
    others may stand twice.
    """
    n_blocks, block = yield from classes(steps)
    if n_blocks == steps.n_states:
        return steps
    return merged(steps, n_blocks, block)


def classes(steps: Steps) -> Job[tuple[int, np.ndarray]]:
    """Find the number of bisimulation classes and the class of each state, int32[n].

    The argument is that of `quotient`.
    """
    n = steps.n_states
    graph = yield from graph_of(steps)
    held = steps.memory_bytes + _EDGE_BYTES * len(graph.dst) + _STATE_BYTES * n
    yield reducing(len(graph.dst) * ENTRY_WORK, held)
    widest = int(np.diff(graph.first).max())
    states = np.arange(n, dtype=np.int32)
    end = np.full(n, n, dtype=np.int32)
    partition = Partition(states, states.copy(), end, *np.zeros((4, n), dtype=np.int32))
    room = Room(
        np.empty(len(graph.dst) + n + widest + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.uint64),
        np.zeros(1 << (2 * n + 2).bit_length(), dtype=np.int32),
        *np.zeros((5, n + 2), dtype=np.int64),
        *np.zeros((3, n), dtype=np.int32),
    )
    registers = np.zeros(len(Reg), dtype=np.int64)
    registers[Reg.N_BLOCKS] = 1
    registers[Reg.QUEUED] = 1
    registers[Reg.N_LABELS] = steps.n_labels + 2
    work = _STATE_WORK * min(_BUDGET, n)
    status = Status.RUNNING
    while status != Status.DONE:
        status = yield from called(refine, graph, partition, room, registers, _BUDGET)
        yield reducing(work, held)
    return int(registers[Reg.N_BLOCKS]), partition.block


@njit
def refine(graph, partition, room, registers, budget):
    """Split blocks by signatures until no block has dirty states.

    The partition, the room and `registers` (int64[len(Reg)]) are changed in place;
    after about `budget` dirty states the call ends.  Returns RUNNING or DONE.
    """
    queue = partition.queue
    while registers[Reg.QUEUED] > 0:
        if budget <= 0:
            return Status.RUNNING
        b = np.int64(queue[registers[Reg.HEAD]])
        if partition.begin[b] + 1 < partition.end[b]:
            spread_dirt(graph, partition, room, b)
            budget -= np.int64(partition.end[b] - partition.clean[b])
            n_groups = group_dirty(graph, partition, room, registers, b)
        else:
            n_groups = 1
        # Out of the queue before the split, which may put it in again.
        registers[Reg.HEAD] = (registers[Reg.HEAD] + 1) % queue.shape[0]
        registers[Reg.QUEUED] -= 1
        old_clean = np.int64(partition.clean[b])
        partition.clean[b] = partition.end[b]
        if n_groups > 1:
            split(graph, partition, room, registers, b, n_groups, old_clean)
    return Status.DONE


@inlined
def spread_dirt(graph, partition, room, b):
    """Make dirty what reaches dirty states of block `b` inertly.

    Counts in ``room.missing`` the inert successors of each that are dirty.
    """
    elements = partition.elements
    place = partition.place
    clean = np.int64(partition.clean[b])
    at = np.int64(partition.end[b]) - 1
    while at >= clean:
        state = elements[at]
        for step in range(graph.in_silent[state], graph.in_first[state + 1]):
            before = graph.src[step]
            if partition.block[before] == b:
                room.missing[before] += 1
                if place[before] < clean:
                    clean -= 1
                    exchange(elements, place, np.int64(place[before]), clean)
        at -= 1
    partition.clean[b] = clean


@inlined
def exchange(elements, place, i, j):
    """Exchange the states at two places."""
    left = elements[i]
    right = elements[j]
    elements[i] = right
    elements[j] = left
    place[right] = i
    place[left] = j


@inlined
def group_dirty(graph, partition, room, registers, b):
    """Put the dirty states of block `b` into groups of one signature each.

    Group 0 is that of the clean states if there are any.  Returns the number of
    groups.
    """
    elements = partition.elements
    block = partition.block
    order = room.order
    missing = room.missing
    begin = np.int64(partition.begin[b])
    clean = np.int64(partition.clean[b])
    end = np.int64(partition.end[b])
    tail = 0
    for at in range(clean, end):
        if missing[elements[at]] == 0:
            order[tail] = elements[at]
            tail += 1
    head = 0
    if begin < clean:
        head = -1  # one of the clean states comes first
    n_groups = 0
    while head < tail:
        if head < 0:
            state = bottom_of(graph, block, np.int64(elements[begin]))
        else:
            state = np.int64(order[head])
        used = np.int64(room.key_begin[n_groups])
        found, at, level = signature(graph, partition, room, registers, state, used)
        if found < 0:
            found = find_group(room, n_groups, used, at)
        if found == n_groups:
            n_groups += 1
            room.size[found] = 0
            room.level[found] = level
        if head < 0:
            room.size[found] = clean - begin
        else:
            room.size[found] += 1
            room.group[state] = found
            for step in range(graph.in_silent[state], graph.in_first[state + 1]):
                before = graph.src[step]
                if block[before] == b:
                    missing[before] -= 1
                    if missing[before] == 0:
                        order[tail] = before
                        tail += 1
        head += 1
    for g in range(n_groups):
        room.slots[room.slot_of[g]] = 0
    return n_groups


@inlined
def bottom_of(graph, block, state):
    """Return a state without inert steps that `state` reaches by such."""
    step = graph.silent[state]
    while step < graph.first[state + 1]:
        if block[graph.dst[step]] == block[state]:
            state = np.int64(graph.dst[step])
            step = graph.silent[state]
        else:
            step += 1
    return state


@inlined
def signature(graph, partition, room, registers, state, begin):
    """Write the signature of a state whose inert successors have groups.

    Returns its group if it is that of its inert successors of the highest level,
    else -1 and, from ``keys[begin]`` on, the signature that it brings to the next
    level; the end of the keys and the level.
    """
    keys = room.keys
    block = partition.block
    n = np.int64(block.shape[0])
    b = block[state]
    to_group = registers[Reg.N_LABELS] * n  # keys of silent steps inside the block
    to_level = to_group + n
    highest = np.int64(-1)
    top = np.int64(-1)
    several = False
    for step in range(graph.silent[state], graph.first[state + 1]):
        target = graph.dst[step]
        if block[target] == b:
            g = group_of(partition, room, b, target)
            if room.level[g] > highest:
                highest = room.level[g]
                top = g
                several = False
            elif room.level[g] == highest and g != top:
                several = True
    end = begin
    for step in range(graph.first[state], graph.first[state + 1]):
        target = graph.dst[step]
        if step < graph.silent[state] or block[target] != b:
            keys[end] = graph.label[step] * n + block[target]
            end += 1
        else:
            g = group_of(partition, room, b, target)
            if g != top:
                keys[end] = to_group + g
                end += 1
    end = sort_keys(keys, begin, end)
    if top >= 0:
        if not several and is_included(keys, begin, end, room.key_begin, top):
            return top, end, highest
        at = end
        while at > begin and keys[at - 1] > to_group + top:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = to_group + top
        end += 1
    keys[end] = to_level + highest + 1
    return np.int64(-1), end + 1, highest + 1


@inlined
def group_of(partition, room, b, state):
    """Return the group of a state of block `b`: 0 if it is clean."""
    if partition.place[state] < partition.clean[b]:
        return np.int64(0)
    return np.int64(room.group[state])


@inlined
def is_included(keys, begin, end, key_begin, g):
    """Whether the keys from `begin` to `end` are in the signature of group `g`."""
    at = key_begin[g]
    last = key_begin[g + 1]
    for i in range(begin, end):
        while at < last and keys[at] < keys[i]:
            at += 1
        if at == last or keys[at] != keys[i]:
            return False
    return True


@inlined
def sort_keys(keys, begin, end):
    """Sort ``keys[begin:end]`` (Shell's method), each once; return the new end."""
    gap = (end - begin) // 2
    if end - begin < 12:
        gap = 1
    while gap > 0:
        for i in range(begin + gap, end):
            key = keys[i]
            j = i
            while j >= begin + gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
        if gap == 2:
            gap = 1
        else:
            gap = gap * 5 // 11
    last = begin
    for i in range(begin, end):
        if i == begin or keys[i] != keys[last - 1]:
            keys[last] = keys[i]
            last += 1
    return last


@inlined
def find_group(room, n_groups, begin, end):
    """Return the group with the signature ``keys[begin:end]``; add it if it is new."""
    keys = room.keys
    slots = room.slots
    mixed = np.uint64(end - begin)
    for i in range(begin, end):
        mixed = scrambled(mixed ^ np.uint64(keys[i]))
    mask = np.int64(slots.shape[0] - 1)
    slot = np.int64(mixed >> U32) & mask
    while slots[slot] != 0:
        g = np.int64(slots[slot] - 1)
        size = room.key_begin[g + 1] - room.key_begin[g]
        if room.hashes[g] == mixed and size == end - begin:
            shift = room.key_begin[g] - begin
            at = begin
            while at < end and keys[at + shift] == keys[at]:
                at += 1
            if at == end:
                return g
        slot = (slot + 1) & mask
    slots[slot] = n_groups + 1
    room.slot_of[n_groups] = slot
    room.hashes[n_groups] = mixed
    room.key_begin[n_groups + 1] = end
    return np.int64(n_groups)


@inlined
def split(graph, partition, room, registers, b, n_groups, clean):
    """Make each group of block `b` a block, and dirty what is before those moved.

    Its dirty states were those from ``elements[clean]`` on.
    """
    elements = partition.elements
    place = partition.place
    block = partition.block
    order = room.order
    start = room.start
    size = room.size
    begin = np.int64(partition.begin[b])
    end = np.int64(partition.end[b])
    largest = np.int64(0)
    at = begin
    for i in range(n_groups):
        if size[i] > size[largest]:
            largest = np.int64(i)
        start[i] = at
        at += size[i]
    # Clean states stay where they are, in front of the others of group 0.
    fill = room.slot_of
    for g in range(n_groups):
        fill[g] = start[g]
    fill[0] = clean
    for i in range(end - clean):
        state = order[i]
        g = room.group[state]
        elements[fill[g]] = state
        place[state] = fill[g]
        fill[g] += 1
    n_moved = 0
    for g in range(n_groups):
        new = b
        if g != largest:
            new = registers[Reg.N_BLOCKS]
            registers[Reg.N_BLOCKS] += 1
        partition.begin[new] = start[g]
        partition.end[new] = start[g] + size[g]
        partition.clean[new] = start[g] + size[g]
        if g != largest:
            for i in range(start[g], start[g] + size[g]):
                block[elements[i]] = new
                # A list of its own: `elements` changes when states become dirty.
                order[n_moved] = elements[i]
                n_moved += 1
    for i in range(n_moved):
        state = order[i]
        for step in range(graph.in_first[state], graph.in_first[state + 1]):
            before = graph.src[step]
            # Silent steps inside the block are part of the new signatures.
            inside = begin <= place[before] < end
            if step < graph.in_silent[state] or not inside:
                make_dirty(partition, registers, before)


@inlined
def make_dirty(partition, registers, state):
    """Note that the signature of a state may have changed."""
    b = partition.block[state]
    clean = np.int64(partition.clean[b])
    if partition.place[state] >= clean:
        return
    if clean == partition.end[b]:
        size = partition.queue.shape[0]
        at = registers[Reg.HEAD] + registers[Reg.QUEUED]
        partition.queue[at % size] = b
        registers[Reg.QUEUED] += 1
    exchange(
        partition.elements,
        partition.place,
        np.int64(partition.place[state]),
        clean - 1,
    )
    partition.clean[b] = clean - 1

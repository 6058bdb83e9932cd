"""SCCs that grow while several workers find cycles: union-find with cyclic lists.

Sets of states that are known to lie in one SCC.  A set has a *root*; all its states
lead there by `parent`.  The states of a set whose successors are not all known yet are
*live*; they and *tombstones*, states that are done, are on a cyclic list (`next`), from
which workers pick live ones.  A set without live states is *dead*: an SCC that is
complete.  What a set knows (which workers are inside, acceptance marks) are bits of its
root's word in `sets`.

What belongs to a state are 16 bytes side by side, its *node*, so that it takes one
cache line.  Kernels see all nodes as uint32[4 n], `nodes`, and as uint64[2 n], `sets`.
A node of zeros is a live state alone, so nodes need not be initialised:

========== ========================================= =================================
`parent`   0: a root; otherwise the parent + 1        `LOCK`, `HIGH` (dead; roots only)
`next`     0: itself; otherwise the next one + 1      `LOCK`, `HIGH` (a tombstone)
`sets`     bits 0 to 30: workers; 31: `NOTED`         32 to 63: acceptance marks
========== ========================================= =================================

Source: V. Bloemen, A. Laarman and J. van de Pol, "Multi-Core On-The-Fly SCC
Decomposition", PPoPP 2016, Figs. 5 to 8 and Algorithms 3 and 4.

Differences from the source: nothing is initialised; workers, marks and the note for
Fstates are one word, so that joining them is one atomic operation; a set dies by a
compare-and-swap of its root from 0, so that no set dies while it is being united.

Why workers do not wait for each other for ever.  `unite` locks the root that is to
become a child, then a live state of that root's list, then one of the other root's
list.  Roots are ordered by `priority`, a child is lower than its parent, so a chain of
waits ascends in this order and ends.  Between lock and unlock no worker expands a
state.

Why marks and workers are not lost.  The bits of the child are joined to the new root
*after* it has been made a child by an `exchange`, a full fence.  Who adds bits to a
root looks afterwards whether it is still one, and adds them to the root above if not
(`add_bits`).  Either this look comes before the exchange, then the bits are among those
that are joined; or it sees the new parent.

Why a list stays whole.  Two lists are made one by swapping `next` of one live locked
state of each.  A locked state is no tombstone and cannot become one, and only
tombstones are taken out of a list (two in a row, the second is passed by), by their
predecessor, which is a tombstone itself.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    exchange,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.search.store import Worker

LOCK = np.uint32(1 << 30)
HIGH = np.uint32(1 << 31)
LOW = np.uint32((1 << 30) - 1)
_ZERO = np.uint32(0)
_DEAD_ALONE = np.uint64((1 << 63) | (1 << 31))

NOTED = np.uint64(1 << 31)
"""Of a set: it is on the list Fstates."""

WORKERS = np.uint64((1 << 31) - 1)
"""Of a set: the workers that are inside."""

MARKS_SHIFT = np.uint64(32)

NONE = -1


@inlined
def parent_at(state):
    """Return the place of a state's `parent` in `nodes`."""
    return 4 * state


@inlined
def next_at(state):
    """Return the place of a state's `next` in `nodes`."""
    return 4 * state + 1


@inlined
def set_at(state):
    """Return the place of a state's word in `sets`."""
    return 2 * state + 1


@inlined
def find(nodes, state):
    """Return the root of a state's set; paths become shorter on the way."""
    above = load(nodes, parent_at(state)) & LOW
    if above == _ZERO:
        return state
    return find_from(nodes, state, above)


@called
def find_from(nodes, state, above):
    """Return the root of a state's set, whose parent is not 0."""
    while True:
        middle = np.int64(above) - 1
        next_above = load(nodes, parent_at(middle)) & LOW
        if next_above == _ZERO:
            return middle
        # A state that has a parent never is a root again, and has no flags.
        store(nodes, parent_at(state), next_above)
        state = middle
        above = next_above


@inlined
def priority(state):
    """Return what orders roots: a mix of the bits of their ids, different for each."""
    return np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)


@inlined
def is_dead(nodes, state):
    """Whether a state's SCC is complete."""
    return load(nodes, parent_at(find(nodes, state))) & HIGH != _ZERO


@inlined
def is_new(nodes, sets, state):
    """Whether no worker has entered a state."""
    alone = load(nodes, parent_at(state)) == 0
    return alone and load(sets, set_at(state)) & WORKERS == 0


@inlined
def add_bits(nodes, sets, root, bits):
    """Join bits to the set of what was its root; return what `root` itself had.

    Of a later root one cannot say whether it has had them before: another worker may
    have carried them there.
    """
    before = fetch_or(sets, set_at(root), bits)
    while True:
        above = find(nodes, root)
        if above == root:
            return before
        root = above
        fetch_or(sets, set_at(root), bits)


@inlined
def following(word, state):
    """Return what comes behind a state on its list, by its word in `next`."""
    place = word & LOW
    return state if place == _ZERO else np.int64(place) - 1


@inlined
def settled(nodes, state):
    """Return a word of `next` once the state is not locked by another worker."""
    word = load(nodes, next_at(state))
    while word & (LOCK | HIGH) == LOCK:
        pause()
        word = load(nodes, next_at(state))
    return word


@called
def pick(nodes, own, state):
    """Return a live state of a state's list; `NONE`: its set is dead."""
    while True:
        word = settled(nodes, state)
        if word & HIGH == _ZERO:
            return state
        other = following(word, state)
        if other == state:  # no live state is left
            bury(nodes, own, state)
            return np.int64(NONE)
        word = settled(nodes, other)
        if word & HIGH == _ZERO:
            return other
        behind = following(word, other)
        store(nodes, next_at(state), HIGH | np.uint32(behind + 1))
        state = behind


@inlined
def bury(nodes, own, state):
    """Make the set of a state dead."""
    while True:
        root = find(nodes, state)
        word = load(nodes, parent_at(root))
        if word & HIGH != _ZERO:
            return
        if word == _ZERO and compare_and_swap(nodes, parent_at(root), _ZERO, HIGH):
            own[Worker.N_SCCS] += 1
            return
        pause()


@inlined
def bury_alone(sets, own, state):
    """Make a live state a tombstone and its set dead, if it is alone in it.

    Does so at once: `parent` and `next` are one word of `sets`.
    """
    if load(sets, 2 * state) != 0:
        return False
    if not compare_and_swap(sets, 2 * state, np.uint64(0), _DEAD_ALONE):
        return False
    own[Worker.N_SCCS] += 1
    return True


@inlined
def remove(nodes, state):
    """Make a state a tombstone."""
    while True:
        word = load(nodes, next_at(state))
        if word & HIGH != _ZERO:
            return
        if word & LOCK == _ZERO and compare_and_swap(
            nodes, next_at(state), word, word | HIGH
        ):
            return
        pause()


@inlined
def lock_live(nodes, own, state):
    """Lock a live state of a state's list and return it; `NONE`: its set is dead."""
    while True:
        live = pick(nodes, own, state)
        if live < 0:
            return live
        word = load(nodes, next_at(live))
        if word & (LOCK | HIGH) == _ZERO and compare_and_swap(
            nodes, next_at(live), word, word | LOCK
        ):
            return live
        pause()


@inlined
def unlock(nodes, state):
    """Undo `lock_live`."""
    store(nodes, next_at(state), load(nodes, next_at(state)) & ~LOCK)


@called
def unite(nodes, sets, own, one, other):
    """Make the sets of two states one, unless one of them is dead."""
    while True:
        root, child = find(nodes, one), find(nodes, other)
        if root == child:
            return
        if priority(root) < priority(child):
            root, child = child, root
        if compare_and_swap(
            nodes, parent_at(child), _ZERO, LOCK
        ):  # it stays a live root
            break
        if load(nodes, parent_at(child)) & HIGH != _ZERO:
            return
        pause()
    low = lock_live(nodes, own, child)
    if low < 0:
        store(nodes, parent_at(child), _ZERO)
        return
    high = lock_live(nodes, own, root)
    if high < 0:
        unlock(nodes, low)
        store(nodes, parent_at(child), _ZERO)
        return
    behind_low = following(load(nodes, next_at(low)), low)
    behind_high = following(load(nodes, next_at(high)), high)
    store(nodes, next_at(low), LOCK | np.uint32(behind_high + 1))
    store(nodes, next_at(high), LOCK | np.uint32(behind_low + 1))
    exchange(nodes, parent_at(child), np.uint32(root + 1))
    add_bits(nodes, sets, root, load(sets, set_at(child)))
    store(nodes, next_at(low), np.uint32(behind_high + 1))
    store(nodes, next_at(high), np.uint32(behind_low + 1))

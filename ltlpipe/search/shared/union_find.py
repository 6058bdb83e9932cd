"""SCCs that grow while several workers find cycles: union-find with cyclic lists.

Sets of states that are known to lie in one SCC.  A set has a *root*; all its states
lead there by `parent`.  The states of a set whose successors are not all known yet are
*live*; they and *tombstones*, states that are done, are on a cyclic list (`next`), from
which workers pick live ones.  A set without live states is *dead*: an SCC that is
complete.  What a set knows (which workers are inside, acceptance marks) are bits of its
root's word in `sets`.

An entry that is 0 is a live state alone, so arrays need not be initialised:

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
waits ascends in this order and ends.  Between lock and unlock nobody expands a state.

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
    fetch_add,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.search.registers import Reg

LOCK = np.uint32(1 << 30)
HIGH = np.uint32(1 << 31)
LOW = np.uint32((1 << 30) - 1)
_ZERO = np.uint32(0)

NOTED = np.uint64(1 << 31)
"""Of a set: it is on the list Fstates."""

WORKERS = np.uint64((1 << 31) - 1)
"""Of a set: the workers that are inside."""

MARKS_SHIFT = np.uint64(32)

NONE = -1


@called
def find(parent, state):
    """Return the root of a state's set; paths become shorter on the way."""
    above = load(parent, state) & LOW
    if above == _ZERO:
        return state
    while True:
        middle = np.int64(above) - 1
        next_above = load(parent, middle) & LOW
        if next_above == _ZERO:
            return middle
        # A state that has a parent never is a root again, and has no flags.
        store(parent, state, next_above)
        state = middle
        above = next_above


@inlined
def priority(state):
    """Return what orders roots: a mix of the bits of their ids, different for each."""
    return np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)


@inlined
def is_dead(parent, state):
    """Whether a state's SCC is complete."""
    return load(parent, find(parent, state)) & HIGH != _ZERO


@inlined
def add_bits(parent, sets, root, bits):
    """Join bits to the set of what was its root; return what `root` itself had.

    Of a later root one cannot say whether it has had them before: another worker may
    have carried them there.
    """
    before = fetch_or(sets, root, bits)
    while True:
        above = find(parent, root)
        if above == root:
            return before
        root = above
        fetch_or(sets, root, bits)


@inlined
def following(word, state):
    """Return what comes behind a state on its list, by its word in `next`."""
    place = word & LOW
    return state if place == _ZERO else np.int64(place) - 1


@inlined
def settled(following_of, state):
    """Return a word of `next` once the state is not locked by another worker."""
    word = load(following_of, state)
    while word & (LOCK | HIGH) == LOCK:
        pause()
        word = load(following_of, state)
    return word


@called
def pick(parent, following_of, registers, state):
    """Return a live state of a state's list; `NONE`: its set is dead."""
    while True:
        word = settled(following_of, state)
        if word & HIGH == _ZERO:
            return state
        other = following(word, state)
        if other == state:  # no live state is left
            bury(parent, registers, state)
            return np.int64(NONE)
        word = settled(following_of, other)
        if word & HIGH == _ZERO:
            return other
        behind = following(word, other)
        store(following_of, state, HIGH | np.uint32(behind + 1))
        state = behind


@inlined
def bury(parent, registers, state):
    """Make the set of a state dead."""
    while True:
        root = find(parent, state)
        word = load(parent, root)
        if word & HIGH != _ZERO:
            return
        if word == _ZERO and compare_and_swap(parent, root, _ZERO, HIGH):
            fetch_add(registers, Reg.N_SCCS, 1)
            return
        pause()


@inlined
def remove(following_of, state):
    """Make a state a tombstone."""
    while True:
        word = load(following_of, state)
        if word & HIGH != _ZERO:
            return
        if word & LOCK == _ZERO and compare_and_swap(
            following_of, state, word, word | HIGH
        ):
            return
        pause()


@inlined
def lock_live(parent, following_of, registers, state):
    """Lock a live state of a state's list and return it; `NONE`: its set is dead."""
    while True:
        live = pick(parent, following_of, registers, state)
        if live < 0:
            return live
        word = load(following_of, live)
        if word & (LOCK | HIGH) == _ZERO and compare_and_swap(
            following_of, live, word, word | LOCK
        ):
            return live
        pause()


@inlined
def unlock(following_of, state):
    """Undo `lock_live`."""
    store(following_of, state, load(following_of, state) & ~LOCK)


@called
def unite(parent, following_of, sets, registers, one, other):
    """Make the sets of two states one, unless one of them is dead."""
    while True:
        root, child = find(parent, one), find(parent, other)
        if root == child:
            return
        if priority(root) < priority(child):
            root, child = child, root
        if compare_and_swap(parent, child, _ZERO, LOCK):  # it stays a live root
            break
        if load(parent, child) & HIGH != _ZERO:
            return
        pause()
    low = lock_live(parent, following_of, registers, child)
    if low < 0:
        store(parent, child, _ZERO)
        return
    high = lock_live(parent, following_of, registers, root)
    if high < 0:
        unlock(following_of, low)
        store(parent, child, _ZERO)
        return
    behind_low = following(load(following_of, low), low)
    behind_high = following(load(following_of, high), high)
    store(following_of, low, LOCK | np.uint32(behind_high + 1))
    store(following_of, high, LOCK | np.uint32(behind_low + 1))
    exchange(parent, child, np.uint32(root + 1))
    add_bits(parent, sets, root, load(sets, child))
    store(following_of, low, np.uint32(behind_high + 1))
    store(following_of, high, np.uint32(behind_low + 1))

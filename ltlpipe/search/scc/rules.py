"""Rules by which searches differ from `ltlpipe.search.scc.couvreur99`.

A rule is a field of the search's arrays, and None where it does not hold: then the
parts of the kernel that are here leave no code behind.

Sources: see the modules of the searches: `ltlpipe.search.scc.couvreur99` (`Dead`,
`Path`, `Lazy` and the rule "twice"), ``rabin`` (`Fin`), ``ranks`` (`Ranks`),
``scc_enumeration`` (`Tally`) and ``walks`` (`Guidance`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, specialised
from ltlpipe.search.guidance import (
    MOST_STORED,
    Place,
    begin_walk,
    store_rows,
    visit_guided,
)
from ltlpipe.search.interning import intern, row_of
from ltlpipe.search.product import Setting, successors, visit_successors
from ltlpipe.search.reduced import visit_ample
from ltlpipe.search.registers import PRIVATE, Reg
from ltlpipe.search.stacks import Colour, set_colour, write_marks
from ltlpipe.search.store import copy_row

if TYPE_CHECKING:
    from ltlpipe.por.component_sets import Reduction

REMOVED = -1
"""The number of a state whose SCC is complete, where no dead interval says so."""

NOTED = -2
"""The number of a state that is on Fstates and has not been entered."""

YES = np.zeros(0, dtype=np.uint8)
"""A rule that holds and needs no arrays; None is one that does not hold."""

_PIECE = 1 << 12  # states of an SCC that get their rank at a time


class SccReg(IntEnum):
    """Places in the registers of these searches, and of `ltlpipe.search.scc.tela`."""

    N_DEAD = PRIVATE  # dead intervals of DFS numbers
    REMOVE_BASE = PRIVATE + 1  # couvreur99-fig5: stack entries below the removal
    CURSOR = PRIVATE + 2  # in a later pass: no state before this one is left


class Dead(NamedTuple):
    """Dead intervals of numbers, ascending."""

    first: np.ndarray  # int32[d]
    last: np.ndarray  # int32[d]


class Path(NamedTuple):
    """What ample sets need: the states on the path are cyan."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    reduction: Reduction


class Fin(NamedTuple):
    """Marks of transitions that are not taken, and the states behind them."""

    marks: np.ndarray  # uint32[1]
    states: np.ndarray  # int32[f], a stack, *Fstates*


class Ranks(NamedTuple):
    """Removed states have the number -1 - rank; COUNT is the number of live ones."""

    below: np.ndarray  # int32[r], the highest rank to which it leads, or -1
    exits: np.ndarray  # uint32[r], marks of transitions to that rank
    live: np.ndarray  # int32[l], states of incomplete SCCs by number - 1
    lacks: np.ndarray  # uint32[m], the marks of which a rank lacks one


class Tally(NamedTuple):
    """What is counted of the SCCs: c of them are complete."""

    inner: np.ndarray  # int64[r], transitions inside the SCC of a root
    leaves: np.ndarray  # uint8[r], whether a transition leaves it
    sizes: np.ndarray  # int64[c], states of each complete SCC
    transitions: np.ndarray  # int64[c], transitions inside it
    exits: np.ndarray  # uint8[c], whether a transition leaves it


# Dead intervals


@specialised
def is_live(dead, registers, number):
    """Whether the state of a number > 0 is in an SCC that is not complete."""
    if dead is None:
        return True
    high = registers[SccReg.N_DEAD]
    if high == 0 or number > dead.last[high - 1]:
        return True
    low = 0  # the interval that begins last at or before the number is in low..high
    while low < high:
        middle = (low + high) >> 1
        if dead.first[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low == 0 or number > dead.last[low - 1]


@specialised
def bury(dead, registers, numbers, state, number):
    """Remove the states whose numbers are `number`, that of `state`, to COUNT."""
    if dead is None:
        return
    if registers[Reg.COUNT] == number:  # it is alone
        numbers[state] = REMOVED
        registers[Reg.COUNT] = number - 1
        return
    n_dead = registers[SccReg.N_DEAD]
    while n_dead > 0 and dead.last[n_dead - 1] >= number - 1:
        n_dead -= 1
        number = min(number, np.int64(dead.first[n_dead]))
    dead.first[n_dead] = number
    dead.last[n_dead] = registers[Reg.COUNT]
    registers[SccReg.N_DEAD] = n_dead + 1


# Removal by a second traversal


@specialised
def is_removing(twice, registers):
    """Whether the states on top of the stack are being removed."""
    if twice is None:
        return False
    if registers[SccReg.REMOVE_BASE] > registers[Reg.TOP]:
        registers[SccReg.REMOVE_BASE] = 0  # all is removed
    return registers[SccReg.REMOVE_BASE] > 0


@specialised
def begin_removal(twice, registers, arrays, root):
    """Remove, from now on, the SCC of a root."""
    if twice is not None:
        arrays.numbers[root] = REMOVED
        arrays.stack[registers[Reg.TOP]] = root
        registers[Reg.TOP] += 1
        registers[SccReg.REMOVE_BASE] = registers[Reg.TOP]  # never 0


@specialised
def remove(twice, expand, product, store, registers, arrays, state):
    """Stack the successors that are to be removed, too (lines 6-7)."""
    if twice is None:
        return
    numbers = arrays.numbers
    n = visit_successors(expand, product, store, registers, state, numbers, 0)
    for i in range(n):
        dst = product.ids[i]
        if numbers[dst] > 0:
            numbers[dst] = REMOVED
            arrays.stack[registers[Reg.TOP]] = dst
            registers[Reg.TOP] += 1


# States behind Fin transitions


@inlined
def note(registers, numbers, fstates, state):
    """Put an unknown state on the list; a later pass meets all states without."""
    if numbers[state] == 0 and registers[Reg.IS_LATER] == 0:
        numbers[state] = NOTED
        fstates[registers[Reg.N_FSTATES]] = state
        registers[Reg.N_FSTATES] += 1


@inlined
def next_start(registers, numbers, fstates):
    """Return a state from which the search of this pass goes on; -1 if none is left."""
    found = np.int64(-1)
    if registers[Reg.IS_LATER] == 0:
        n = registers[Reg.N_FSTATES]
        while n > 0 and found < 0:
            n -= 1
            if numbers[fstates[n]] == NOTED:
                found = np.int64(fstates[n])
        registers[Reg.N_FSTATES] = n
    else:
        state = registers[SccReg.CURSOR]
        while state < registers[Reg.STORED] and numbers[state] != 0:
            state += 1
        registers[SccReg.CURSOR] = state
        if state < registers[Reg.STORED]:
            found = state
    return found


@specialised
def is_put_off(fin, registers, numbers, state, marks):
    """Whether a transition is not taken for its Fin marks; notes where it leads."""
    if fin is None or marks & fin.marks[0] == 0:
        return False
    note(registers, numbers, fin.states, state)
    return True


@specialised
def is_unknown(fin, number):
    """Whether a state with this number is still to be entered."""
    if fin is None:
        return number == 0
    return number == 0 or number == NOTED


@specialised
def has_ended(fin, registers, arrays):
    """Whether nothing is left; else a state is put on the stack, which is empty."""
    if fin is None:
        return True
    state = next_start(registers, arrays.numbers, fin.states)
    if state < 0:
        return True
    arrays.stack[0] = state
    write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], 0, np.uint32(0))
    registers[Reg.TOP] = 1
    return False


# Walks


@specialised
def is_walked(guidance, registers):
    """Whether a walk has entered or stored as many states as it may."""
    if guidance is None:
        return False
    left = guidance.registers[Place.LEFT]
    return left == 0 or registers[Reg.STORED] > MOST_STORED


@specialised
def is_cut(guidance):
    """Whether a walk that has ended has left something out; then another begins."""
    if guidance is None or guidance.registers[Place.AIM] == 0:
        return False
    guidance.registers[Place.AIM] = 0
    guidance.registers[Place.LEFT] = 0
    return True


@specialised
def restart(guidance, product, store, registers, arrays):
    """Forget what has been seen, and put the initial state, id 0, on the stack."""
    if guidance is None:
        return
    arrays.numbers[: registers[Reg.STORED]] = 0
    store.slots[:] = 0
    initial = row_of(product, store, 0)
    for w in range(product.rows.shape[1]):
        product.rows[0, w] = initial[w]
    registers[Reg.STORED] = 0
    store_rows(product, store, registers, arrays.numbers, 1)
    arrays.stack[0] = 0
    registers[Reg.TOP] = 1
    registers[Reg.DEPTH] = 0
    registers[Reg.COUNT] = 0
    registers[Reg.N_ROOTS] = 0
    registers[SccReg.N_DEAD] = 0
    begin_walk(guidance, np.uint32(product.settings[Setting.FULL]))


# What is noted of SCCs


@inlined
def least_rank(lacks, below, inside, exits, has_inside):
    """Return the least rank of an SCC, -1 if there is none.

    It leads to states of rank `below` at most, -1 if it leads to none.
    """
    n_lacks = lacks.shape[0]
    found = np.int64(-1)
    if n_lacks == 0:
        if not has_inside:
            found = below + 1
    else:
        if below < 0:
            below = np.int64(0)
        if (inside | exits) & lacks[below % n_lacks] == 0:
            found = below
        else:
            for rank in range(below + n_lacks, below, -1):
                if inside & lacks[rank % n_lacks] == 0:
                    found = np.int64(rank)
    return found


@inlined
def note_rank(ranks, root, rank, marks):
    """Note that the SCC of a root leads to a state of a rank."""
    if rank > ranks.below[root]:
        ranks.below[root] = rank
        ranks.exits[root] = marks
    elif rank == ranks.below[root]:
        ranks.exits[root] |= marks


@specialised
def begin_notes(ranks, tally, registers, root, state):
    """Begin the notes of a root, a state that has just been given its number."""
    if ranks is not None:
        ranks.live[registers[Reg.COUNT] - 1] = state
        ranks.below[root] = -1
        ranks.exits[root] = 0
    if tally is not None:
        tally.inner[root] = 0
        tally.leaves[root] = 0


@specialised
def merge_notes(ranks, tally, root):
    """Add the notes of a root to those of the one before."""
    if ranks is not None:
        note_rank(ranks, root - 1, np.int64(ranks.below[root]), ranks.exits[root])
    if tally is not None:
        tally.inner[root - 1] += tally.inner[root] + 1  # the one that leads to it, too
        tally.leaves[root - 1] |= tally.leaves[root]


@specialised
def note_cycle(tally, root):
    """Note a transition that stays in the SCC of a root."""
    if tally is not None:
        tally.inner[root] += 1


@specialised
def note_exit(ranks, tally, root, number, marks):
    """Note a transition from the SCC of a root to a state that has been removed."""
    if ranks is not None:
        note_rank(ranks, root, np.int64(-1 - number), marks)
    if tally is not None:
        tally.leaves[root] = 1


@specialised
def is_ranked_on(ranks, registers, arrays, number):
    """Give a rank to states of the complete SCC of the last root, with this number.

    Returns whether some are left: a large SCC gets its rank piece by piece.
    """
    if ranks is None:
        return False
    root = registers[Reg.N_ROOTS] - 1
    below, inside = np.int64(ranks.below[root]), arrays.root_marks[root]
    rank = least_rank(ranks.lacks, below, inside, ranks.exits[root], False)
    count = registers[Reg.COUNT]
    first = max(number - 1, count - _PIECE)
    for place in range(first, count):
        arrays.numbers[ranks.live[place]] = -1 - rank
    registers[Reg.COUNT] = first
    if first >= number:  # the root itself is the last one
        return True
    if root > 0:
        note_rank(ranks, root - 1, rank, arrays.entry_marks[root])
    return False


@specialised
def count_scc(tally, registers, dead, number):
    """Add the SCC of the root `number`, which was the last one, to the table."""
    if tally is None:
        return
    size = registers[Reg.COUNT] - number + 1  # less those that are dead
    at = registers[SccReg.N_DEAD] - 1
    while at >= 0 and dead.first[at] >= number:
        size -= dead.last[at] - dead.first[at] + 1
        at -= 1
    root, scc = registers[Reg.N_ROOTS], registers[Reg.N_SCCS]
    tally.sizes[scc] = size
    tally.transitions[scc] = tally.inner[root]
    tally.exits[scc] = tally.leaves[root]
    registers[Reg.N_SCCS] = scc + 1
    if root > 0:  # the transition that led here leaves the SCC of the root before
        tally.leaves[root - 1] = 1


# Room, and successors


@specialised
def lack_room(dead, fin, ranks, tally, registers, n):
    """Whether a rule lacks room for a state with `n` successors."""
    if dead is not None and registers[SccReg.N_DEAD] == dead.first.shape[0]:
        return True
    if fin is not None and registers[Reg.N_FSTATES] + n > fin.states.shape[0]:
        return True
    if ranks is not None and registers[Reg.COUNT] == ranks.live.shape[0]:
        return True
    return tally is not None and registers[Reg.N_SCCS] == tally.sizes.shape[0]


@specialised
def visit(
    path, guidance, lazy, expand, product, store, registers, arrays, state, marks
):
    """Generate the successors of a state that is new on the path; return n."""
    numbers = arrays.numbers
    if lazy is not None:
        return visit_some(lazy, expand, product, store, registers, numbers, state, 0)
    if guidance is not None:
        return visit_guided(
            expand, product, store, registers, guidance, numbers, state, marks
        )
    if path is None:
        return visit_successors(expand, product, store, registers, state, numbers, 0)
    set_colour(path.colours, state, Colour.CYAN)
    return visit_ample(
        expand, product, store, registers, state, path.colours, path.reduction
    )


@specialised
def leave_path(path, state):
    """Note that the frame of a state has ended, where that is asked for."""
    if path is not None:
        set_colour(path.colours, state, Colour.WHITE)


# Successors that are stored a few at a time


class Lazy(NamedTuple):
    """Where frames go on whose states have more successors than are stored at once."""

    next: np.ndarray  # int32[k], by the frame's place on the stack; 0 if none is left
    batch: np.ndarray  # int64[1], successors that are stored at once


@inlined
def visit_some(lazy, expand, product, store, registers, numbers, state, first):
    """Generate all successors of a state, and store some, from number `first` on.

    Their frame is, or will be, on top of the stack, or where the next entry comes.
    Returns how many are stored.
    """
    n = successors(expand, product, row_of(product, store, state))
    rows, marks, actions = product.rows, product.marks, product.row_actions
    kept = min(n - first, lazy.batch[0])
    for i in range(kept if first > 0 else 0):
        copy_row(rows, first + i, rows, i)
        marks[i] = marks[first + i]
        actions[i] = actions[first + i]
    intern(store, registers, rows, kept, product.ids, product.hashes, numbers, 0)
    registers[Reg.TRANSITIONS] += kept
    registers[Reg.EXAMINED] += (n - kept) * rows.shape[1]
    registers[Reg.EXPANSIONS] += 1
    frame = registers[Reg.TOP] - (first > 0)
    lazy.next[frame] = first + kept if first + kept < n else 0
    return kept


@inlined
def visit_next(lazy, expand, product, store, registers, arrays, state):
    """Generate the next successors of the state whose frame is on top; return n."""
    first = np.int64(lazy.next[registers[Reg.TOP] - 1])
    return visit_some(
        lazy, expand, product, store, registers, arrays.numbers, state, first
    )


@specialised
def is_left(lazy, registers):
    """Whether the state whose frame is on top has successors that are not stored."""
    if lazy is None:
        return False
    return lazy.next[registers[Reg.TOP] - 1] > 0

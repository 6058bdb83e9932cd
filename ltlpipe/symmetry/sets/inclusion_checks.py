"""Emptiness checks of automata over sets (``--emptiness tec|nsiec|iec|aec``).

All are a depth-first search for SCCs; they differ in what they do with a set T that has
not been visited, but some set D that is comparable with it has:

====== =========== ============================ ====================================
check  answer      T included in D, which is    T and D that is on the stack
                   removed
====== =========== ============================ ====================================
tec    exact       --                           --
nsiec  exact       T is left out                --
iec    exact       T is left out                D included in T: T is replaced by D
                                                and by sets that complete T
aec    exact if it T is left out                T included in D: T is replaced by D
       holds
====== =========== ============================ ====================================

``aec-closed`` is aec of an automaton whose successors may be larger than they are
(`PowersetAutomaton.widened`), which deceives in the same way.

A set is *removed* when its SCC is complete: no run from it is accepted.  Once aec has
replaced a set, a cycle that it finds need not be there: it is an *alarm*.  What has
been removed by then has been removed for good, and the searches that go on exactly from
there know it.  The first of them tries to realise the alarm: it enters sets only that
some active set of the alarm includes, as many at most as had been visited until then.
A cycle that it finds is there, since its sets are what they are; if it finds none, iec
decides.

Sets of which one includes the other have the same key; so those that come into question
for a set are in one chain of the index, and only these are compared.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Fig. 4 and Secs. 3, 4 and 6.3.

Differences from the source:

- The index is one hash table whose key tells the coarsest class and the state of the
  property at once, instead of two levels.
- The sets of an SCC are those with the highest numbers, and lie together on a stack of
  active sets: no SCC carries a list of sets to remove (``rem``).
- A known set is not compared with others (line 15 comes after line 17): both orders are
  sound.
- Transitions to sets that are known are taken at once, and only the others wait.
- A set that is left out because a removed one includes it is removed itself.
- Of several sets on the stack that are comparable with T, the one visited last counts.
- After aec has found a cycle that need not be there, the exact search keeps what is
  removed.
- A set is visited as it is if what completes the one on the stack is more than
  MOST_PARTS sets.
- An alarm is realised by sets inside of those of the stack, not by their states one by
  one (Sec. 5).

Invariants, asserted by `tests.invariants`: the numbers of active sets
are their places on the stack of active sets, plus 1; roots are active and ascend; what
is in a chain of the index has been visited.

Cost: 4 bytes per set for its number, 4 for the stack of active sets, 12 and a head for
the index (which tec does not use), 8 bytes per entry of the stack; 12 bytes per root;
one operation `key` per transition to a set that is not known, and one comparison for
each visited set with the same key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.interning import intern
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_U32 = np.uint64(32)

REMOVED = -1
"""The number of a set from which no run is accepted."""

ALARM = -2
"""The number of a set that was active in an alarm, and is unknown again."""

MOST_PARTS = 1 << 8
"""Sets that may complete another one; more if successors have needed more room."""

TEC, NSIEC, IEC, AEC, WITHIN = range(5)
"""Values of ``Reg.KIND``."""

_NOTHING = 0  # what `look_up` says: nothing comparable that matters
_LEFT_OUT = 1  # a removed set includes it
_RELATED = 2  # one on the stack is comparable: included (iec) or including (aec)


class Index(NamedTuple):
    """Room for n sets and h heads."""

    keys: np.ndarray  # int64[n], of the sets in chains
    following: np.ndarray  # int32[n], the next of the chain plus 1, 0 at its end
    heads: np.ndarray  # int32[h], the first of a chain plus 1, 0 for an empty one


@inlined
def chain_of(index, key):
    """Return the place in `heads` where the chain of a key begins."""
    mixed = np.uint64(key) * _MULTIPLIER
    n_heads = np.uint64(index.heads.shape[0])
    return np.int64(((mixed >> _U32) * n_heads) >> _U32)


@inlined
def enlist(index, state, key):
    """Put a set at the beginning of the chain of its key."""
    at = chain_of(index, key)
    index.keys[state] = key
    index.following[state] = index.heads[at]
    index.heads[at] = state + 1


@njit
def enlist_all(index, numbers, n_stored, lowest):
    """Build the chains anew, of the sets in them that have some number (int32[n]).

    The heads are all 0; a set without a key (0) is in no chain.  Only sets with exactly
    the number `lowest`, or, if that is positive, with at least that number, stay.
    """
    for state in range(n_stored):
        number = numbers[state]
        stays = number >= lowest if lowest > 0 else number == lowest
        key = index.keys[state]
        if key != 0:
            index.keys[state] = 0
            if stays:
                enlist(index, state, key)


@njit
def rehash(index, numbers, active, count, n_stored):
    """Build the chains anew, of all sets in them; the heads are all 0.

    numbers (int32[n]) are positive for the `count` active sets, which `active`
    (int32[n]) has in the order in which they were visited: their order in the chains
    depends on it.
    """
    for state in range(n_stored):
        key = index.keys[state]
        if key != 0 and numbers[state] <= 0:
            enlist(index, state, key)
    for place in range(count):
        visited = np.int64(active[place])
        key = index.keys[visited]
        if key != 0:
            enlist(index, visited, key)


class Arrays(NamedTuple):
    """Room for n sets, k stack entries, r roots and b successors of one set."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 active, REMOVED or ALARM
    active: np.ndarray  # int32[n], the sets of SCCs that are not complete
    chains: Index
    stack: np.ndarray  # int32[k], a waiting set s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[k], marks of the transition to it
    roots: np.ndarray  # int32[r], number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the transition to it
    out_rows: np.ndarray  # uint64[b, n_words]
    out_marks: np.ndarray  # uint32[b]
    ids: np.ndarray  # int32[b]
    hashes: np.ndarray  # uint64[b]


@inlined
def merge(registers, arrays, number, marks):
    """Close a cycle to the active set `number`; FOUND if the SCC has all marks."""
    root = registers[Reg.N_ROOTS] - 1
    while arrays.roots[root] > number:
        marks |= arrays.root_marks[root] | arrays.entry_marks[root]
        root -= 1
    arrays.root_marks[root] |= marks
    registers[Reg.N_ROOTS] = root + 1
    full = np.uint32(registers[Reg.ALL_MARKS])
    if arrays.root_marks[root] & full == full:
        return Status.FOUND
    return Status.RUNNING


@inlined
def leave(registers, arrays, state):
    """End the frame of a set; remove its SCC if it is the root."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    number = np.int64(arrays.numbers[state])
    root = registers[Reg.N_ROOTS] - 1
    if arrays.roots[root] == number:
        for place in range(number - 1, registers[Reg.COUNT]):
            arrays.numbers[arrays.active[place]] = REMOVED
        registers[Reg.COUNT] = number - 1
        registers[Reg.N_ROOTS] = root


@inlined
def has_room(store, registers, arrays):
    """Whether the successors of one more set, or its parts, fit everywhere."""
    n = arrays.ids.shape[0]
    needed = registers[Reg.STORED] + n
    return (
        registers[Reg.TOP] + n + 1 < arrays.stack.shape[0]
        and registers[Reg.N_ROOTS] < arrays.roots.shape[0]
        and needed <= store.rows.shape[0]
        and 4 * needed <= 3 * store.slots.shape[0]
    )


@inlined
def operate(operation, operations, arrays, row, other):
    """Call an operation on one set or two."""
    tables = operations.tables
    return operation(tables, row, other, arrays.out_rows, arrays.out_marks)


@inlined
def key_of(operations, arrays, row):
    """Return the key of a set, as the index has it: 0 is none."""
    return operate(operations.key, operations, arrays, row, row) | 1


@inlined
def generate(operations, arrays, row, goes_on):
    """Write some successors of a set, the first ones or, if it goes on, the next.

    Returns how many, or -1 if there is no room, and whether there are more.
    """
    other = row[:0] if goes_on else row
    n = np.int64(operate(operations.successors, operations, arrays, row, other))
    if n < -1:
        return -2 - n, True
    return n, False


@inlined
def look_up(operations, rows, registers, arrays, entry):
    """Look for visited sets that are comparable with an unknown one, if it matters.

    Returns its key, 0 for tec, what there is, and the set on the stack if there is one.
    While an alarm is being realised, a set that no set of the alarm includes is left
    out as well.
    """
    kind = registers[Reg.KIND]
    answer, other = _NOTHING, np.int64(-1)
    if kind == TEC:
        return np.int64(0), answer, other
    outside = kind == WITHIN
    index = arrays.chains
    key = key_of(operations, arrays, rows[entry])
    following = np.int64(index.heads[chain_of(index, key)])
    while following > 0:
        state = following - 1
        following = np.int64(index.following[state])
        removed = arrays.numbers[state] == REMOVED
        if index.keys[state] != key:
            continue
        if kind == WITHIN:
            if not (removed or outside):  # all in the chains are inside
                continue
        elif not removed and (kind == NSIEC or other >= 0):
            continue
        # Which of the two has to include the other?
        larger, smaller = state, entry
        if not removed and kind == IEC:
            larger, smaller = entry, state
        registers[Reg.COMPARED] += 1
        registers[Reg.WORK] += 1
        row, part = rows[larger], rows[smaller]
        if operate(operations.includes, operations, arrays, row, part) != 0:
            if removed:
                answer = _LEFT_OUT
                break
            if kind == WITHIN:
                outside = False
                continue
            answer = _RELATED
            other = state
    if outside:
        answer = _LEFT_OUT
    return key, answer, other


@inlined
def leave_out(registers, arrays, entry):
    """Take an unknown set off the stack that a removed one includes."""
    registers[Reg.DOMINATED] += 1
    registers[Reg.TOP] -= 1
    arrays.numbers[entry] = REMOVED


@inlined
def meet(registers, arrays, number):
    """Take a known set off the stack; FOUND if it closes an accepting cycle."""
    registers[Reg.TOP] -= 1
    if number == REMOVED:
        return Status.RUNNING
    marks = arrays.stack_marks[registers[Reg.TOP]]
    return merge(registers, arrays, number, marks)


@inlined
def replace(registers, arrays, n, other):
    """Put a set on the stack, and `n` that complete it, in place of the top entry."""
    top = registers[Reg.TOP] - 1
    marks = arrays.stack_marks[top]
    for i in range(n - 1, -1, -1):
        arrays.stack[top] = arrays.ids[i]
        arrays.stack_marks[top] = marks
        top += 1
    arrays.stack[top] = other  # on top: it closes a cycle at once
    arrays.stack_marks[top] = marks
    registers[Reg.TOP] = top + 1
    registers[Reg.REPLACED] += 1
    registers[Reg.PARTS] += n


@inlined
def enter(registers, arrays, state):
    """Make the set of the top entry active."""
    count = registers[Reg.COUNT]
    root = registers[Reg.N_ROOTS]
    top = registers[Reg.TOP]
    registers[Reg.VISITED] += 1
    registers[Reg.EXPANSIONS] += 1
    arrays.active[count] = state
    arrays.numbers[state] = count + 1
    arrays.roots[root] = count + 1
    arrays.root_marks[root] = 0
    arrays.entry_marks[root] = arrays.stack_marks[top - 1]
    registers[Reg.COUNT] = count + 1
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.MAX_ROOTS] = max(registers[Reg.MAX_ROOTS], root + 1)
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    arrays.stack[top - 1] = ~state


@inlined
def take(registers, arrays, n):
    """Let those of n successors of the set entered last wait that are unknown.

    Returns FOUND if one closes an accepting cycle.
    """
    top = registers[Reg.TOP]
    registers[Reg.TRANSITIONS] += n
    registers[Reg.WORK] += n
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = np.int64(arrays.numbers[arrays.ids[i]])
        if number == 0 or number == ALARM:
            arrays.stack[top] = arrays.ids[i]
            arrays.stack_marks[top] = arrays.out_marks[i]
            top += 1
        elif number > 0:
            status = merge(registers, arrays, number, arrays.out_marks[i])
            if status == Status.FOUND:
                break
    registers[Reg.TOP] = top
    return status


@inlined
def expand(operations, store, registers, arrays, entry):
    """Enter an unknown set with its first successors, or go on with the next.

    They come in turns, as many as there is room for: PENDING says whether more follow.
    """
    goes_on = registers[Reg.PENDING] != 0
    n, more = generate(operations, arrays, store.rows[entry], goes_on)
    if n < 0:
        registers[Reg.MORE] = 1
        return Status.GROW
    ids, hashes = arrays.ids, arrays.hashes
    intern(store, registers, arrays.out_rows, n, ids, hashes, arrays.numbers, 0)
    if not goes_on:
        enter(registers, arrays, entry)
    registers[Reg.PENDING] = entry + 1 if more else 0
    return take(registers, arrays, n)


@inlined
def stand_in(operations, store, registers, arrays, entry, other):
    """Replace an unknown set by a comparable one on the stack, and what completes that.

    Returns whether it is; it is not if that is more than MOST_PARTS sets.  -1 says that
    there is no room for them.
    """
    n = np.int64(0)
    if registers[Reg.KIND] == IEC:
        row, part = store.rows[entry], store.rows[other]
        n = operate(operations.decompose, operations, arrays, row, part)
        if n < 0 and arrays.ids.shape[0] < MOST_PARTS:
            registers[Reg.MORE] = 1
            return -1
        if n < 0:
            return 0
    ids, hashes = arrays.ids, arrays.hashes
    intern(store, registers, arrays.out_rows, n, ids, hashes, arrays.numbers, 0)
    replace(registers, arrays, n, other)
    registers[Reg.WORK] += n
    return 1


@njit
def powerset_step(operations, store, registers, arrays, budget):
    """Advance the search of Baarir & Duret-Lutz 2006, Fig. 4.

    It returns after at most `budget` >= 1 units of work, or the first result behind
    them: entries of the stack that are looked at, sets that are generated, comparisons.
    A result is one comparison of a set with a chain of the index, or so many sets as
    there is room for.  `registers` (int64[N_REGISTERS]) and the arrays are changed in
    place; the operations are those of an automaton
    (`ltlpipe.symmetry.sets.powerset_search`).  Returns a Status; after FOUND the active
    sets whose number is at least that of the last root are strongly connected, and the
    transitions between them carry every mark.
    """
    end = registers[Reg.WORK] + budget
    while registers[Reg.WORK] < end:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if not has_room(store, registers, arrays):
            return Status.GROW  # before any write: the call can be repeated
        registers[Reg.WORK] += 1
        if registers[Reg.PENDING] != 0:
            entry = registers[Reg.PENDING] - 1
            status = expand(operations, store, registers, arrays, entry)
            if status != Status.RUNNING:
                return status
            continue
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        number = np.int64(arrays.numbers[entry])
        if number > 0 or number == REMOVED:
            if meet(registers, arrays, number) == Status.FOUND:
                return Status.FOUND
            continue
        rows = store.rows
        key, answer, other = look_up(operations, rows, registers, arrays, entry)
        if answer == _LEFT_OUT:
            leave_out(registers, arrays, entry)
            continue
        if answer == _RELATED:
            is_replaced = stand_in(operations, store, registers, arrays, entry, other)
            if is_replaced < 0:
                return Status.GROW
            if is_replaced > 0:
                continue
        if at_limit(registers):
            return Status.LIMIT
        if (
            registers[Reg.KIND] == WITHIN
            and registers[Reg.VISITED] >= registers[Reg.INSIDE_LIMIT]
        ):
            return Status.EMPTY  # enough has been tried
        status = expand(operations, store, registers, arrays, entry)
        entered = status != Status.GROW and key != 0
        if entered and arrays.chains.keys[entry] == 0:  # an alarm's set has its place
            enlist(arrays.chains, entry, key)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING

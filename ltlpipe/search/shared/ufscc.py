"""SCC-based emptiness check by several workers (``--emptiness ufscc``).

Decides whether a product with marks on transitions has a reachable cycle that sees
every mark, or all marks of one clause of a condition without Fin.  Each worker searches
depth first; what one has found out of SCCs helps all, because sets of states and
complete SCCs are shared (`ltlpipe.search.shared.union_find`), and so is the state table
(`ltlpipe.search.shared.table`).

Sources: V. Bloemen, A. Laarman and J. van de Pol, "Multi-Core On-The-Fly SCC
Decomposition", PPoPP 2016, Algorithm 4; acceptance: V. Bloemen, A. Duret-Lutz and J.
van de Pol, "Model checking with generalized Rabin and Fin-less automata", STTT 21
(2019), pp. 307-324, Algorithm 3 without Fin.

Differences from the sources:

- The recursion is a stack of states that wait and of frames, the complements of states
  that have been expanded; each root knows where its frame is.
- A frame that is not that of the uppermost root ends as soon as its own state is done;
  only the root's frame picks further states of the set.  As printed a single worker
  expands each state of a large SCC twice.
- Marks are joined to the set when a transition closes a cycle, with those of the tree
  transitions to the roots in between.
- Transitions to sets that are dead or on the worker's path are taken when their source
  is expanded ("known states first"), the others wait.
- Workers other than the first take successors in an order of their own (swarming).

Why no cycle is missed: a set dies only when all its states are tombstones, and a state
becomes one only when a worker has taken all its transitions: each led to a set that was
dead, or in which the worker was, and which it has then united with all in between, or
which was searched before.  So all transitions from a dead set lead to dead sets, and
all transitions inside it have been taken by somebody who has joined their marks.  Why
none is reported wrongly: states are united only along a cycle of one worker's stack, so
a set is strongly connected, and its marks are those of transitions inside.

Whether a worker was in a set already is told by the first atomic or of its own bit
alone: a root above may hold this bit because another worker has just carried it there.

Invariants, asserted by `assert_consistent` between calls: no row is stored twice;
each live set has a live state, its lists are cyclic and hold its live states; all
successors of states of dead sets are in dead sets.

Cost: 16 bytes per state; four bytes of each worker's stack, and a bit per mark (rounded
up to a power of two), per state on its path and per waiting successor; 12 bytes per
root.  Each state is expanded once or, by workers that meet in the same place at the
same time, a few times more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.normal_form import normal_form
from ltlpipe.runtime.kernels.atomics import (
    compare_and_swap,
    fetch_add,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.acceptance import implied_clause
from ltlpipe.search.growth import INT32, UINT32, UINT64, Column
from ltlpipe.search.packed import mark_bits, read_marks, sets_of, write_marks
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.search import SharedSearch
from ltlpipe.search.shared.table import Own, intern_shared, lacks_ids, take_ids
from ltlpipe.search.shared.union_find import (
    HIGH,
    LOCK,
    LOW,
    MARKS_SHIFT,
    NONE,
    NOTED,
    WORKERS,
    add_bits,
    find,
    is_dead,
    pick,
    remove,
    unite,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout


INSIDE = -2
"""The worker is in the set of a state already, so a transition to it closes a cycle.

Or there is more to begin with than there was.
"""


class Arrays(NamedTuple):
    """The arrays of one worker: n states, k stack entries, r roots; n are shared."""

    parent: np.ndarray  # uint32[n], see `union_find`
    following: np.ndarray  # uint32[n]
    sets: np.ndarray  # uint64[n]
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], a state of each set on the worker's path
    frames: np.ndarray  # int32[r], the place of its frame on the stack
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    own: np.ndarray  # int64[N_OWN], see `Own`
    fstates: np.ndarray  # uint32[n], shared: states to begin with, + 1
    fin: np.ndarray  # uint32[1], marks of transitions that are not taken
    clauses: np.ndarray  # uint32[c], marks of which a cycle has to see one entry's all


@inlined
def stopped(registers, status):
    """Have all workers return; return `status`."""
    store(registers, Reg.STOP, 1)
    return status


@inlined
def is_new(arrays, state):
    """Whether no worker has entered a state."""
    alone = load(arrays.parent, state) == 0
    return alone and load(arrays.sets, state) & WORKERS == 0


@inlined
def is_at_limit(registers):
    """Whether as many states have been entered as may be."""
    if registers[Reg.IS_LATER] != 0:
        return False
    return load(registers, Reg.VISITED) >= registers[Reg.MAX_STATES]


@inlined
def note(registers, arrays, state):
    """Put a state that nobody has entered on the list Fstates, once."""
    sets = arrays.sets
    if load(sets, state) != 0 or load(arrays.parent, state) != 0:
        return
    if fetch_or(sets, state, NOTED) == 0:
        place = fetch_add(registers, Reg.N_FSTATES, 1)
        store(arrays.fstates, place, np.uint32(state + 1))


@inlined
def next_start(registers, arrays):
    """Return a state of Fstates whose set is not dead; `NONE` if there is none.

    `INSIDE` if the list has become longer meanwhile.  Each worker goes round the list
    from where it was last; a set in which others work is not dead, and is helped.
    """
    own, fstates = arrays.own, arrays.fstates
    n = load(registers, Reg.N_FSTATES)
    for k in range(n):
        place = (own[Own.CURSOR] + k) % n
        word = load(fstates, place)
        while word == 0:  # its number is known before it is written
            pause()
            word = load(fstates, place)
        if not is_dead(arrays.parent, np.int64(word) - 1):
            own[Own.CURSOR] = place
            return np.int64(word) - 1
    if load(registers, Reg.N_FSTATES) == n:
        return np.int64(NONE)
    return np.int64(INSIDE)


@inlined
def lacks_room(product, store_, registers, arrays):
    """Whether an array is too short for one more step; ids are taken if need be."""
    own = arrays.own
    n = product.ids.shape[0]
    if own[Own.TOP] + n + 1 > arrays.stack.shape[0]:
        return True
    if own[Own.N_ROOTS] == arrays.roots.shape[0]:
        return True
    return lacks_ids_or_room(product, store_, registers, own)


@inlined
def lacks_ids_or_room(product, store_, registers, own):
    """Whether there is no room for the successors of one more state.

    Ids are taken if the worker has too few.
    """
    if not lacks_ids(own, product.ids.shape[0]):
        return False
    room = min(store_.rows.shape[0], 3 * store_.slots.shape[0] // 4)
    return not take_ids(registers, own, own[Own.CHUNK], room)


@inlined
def shuffle(own, product, n):
    """Put the successors of a state into an order of the worker's own."""
    bits = np.uint64(own[Own.SHUFFLE])
    for i in range(n - 1, 0, -1):
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        j = np.int64((bits >> np.uint64(33)) % np.uint64(i + 1))
        product.ids[i], product.ids[j] = product.ids[j], product.ids[i]
        product.marks[i], product.marks[j] = product.marks[j], product.marks[i]
    own[Own.SHUFFLE] = np.int64(bits)


@inlined
def close_cycle(registers, arrays, state, marks):
    """Unite all sets on the path down to that of a state; whether it accepts."""
    own, roots = arrays.own, arrays.roots
    parent, sets = arrays.parent, arrays.sets
    top = own[Own.N_ROOTS] - 1
    while find(parent, state) != find(parent, np.int64(roots[top])):
        marks |= arrays.entry_marks[top]
        above, below = np.int64(roots[top]), np.int64(roots[top - 1])
        unite(parent, arrays.following, sets, registers, above, below)
        top -= 1
    own[Own.N_ROOTS] = top + 1
    bits = np.uint64(marks) << MARKS_SHIFT
    root = find(parent, state)
    if load(sets, root) & bits != bits:
        add_bits(parent, sets, root, bits)
    seen = np.uint32(load(sets, find(parent, state)) >> MARKS_SHIFT)
    for i in range(arrays.clauses.shape[0]):
        if seen & arrays.clauses[i] == arrays.clauses[i]:
            compare_and_swap(registers, Reg.CLOSING, NONE, state)
            return True
    return False


@inlined
def expand_state(expand, product, store_, registers, arrays, state):
    """Take the transitions of a state; return whether a cycle accepts.

    Those to complete sets are done, those to sets of the path close cycles; other
    states wait on the worker's stack, below all others those in which other workers
    are: these may have completed them, or united them with the path, until then.
    """
    own, parent, sets = arrays.own, arrays.parent, arrays.sets
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    n = successors(expand, product, store_.rows[state])
    intern_shared(store_, own, product.rows, n, product.ids, product.hashes, sets)
    own[Own.EXPANSIONS] += 1
    own[Own.TRANSITIONS] += n
    if own[Own.SHUFFLE] != 0:
        shuffle(own, product, n)
    top, n_new = own[Own.TOP], 0
    bits = registers[Reg.MARK_BITS]
    fin = arrays.fin[0]
    for i in range(n):
        target, marks = np.int64(product.ids[i]), product.marks[i]
        if marks & fin != 0:
            note(registers, arrays, target)
            continue
        root = find(parent, target)
        if load(parent, root) & HIGH != 0:
            continue
        workers = load(sets, root) & WORKERS
        if workers & me != 0:
            if close_cycle(registers, arrays, target, marks):
                return True
        elif workers != 0:
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
def begin_frame(registers, arrays, state, marks):
    """Make a state the worker's uppermost root; return what to expand, or `NONE`."""
    own = arrays.own
    chosen = pick(arrays.parent, arrays.following, registers, state)
    if chosen < 0:  # others have completed it meanwhile
        return chosen
    own[Own.DEPTH] += 1
    own[Own.MAX_DEPTH] = max(own[Own.MAX_DEPTH], own[Own.DEPTH])
    top, n_roots = own[Own.TOP], own[Own.N_ROOTS]
    arrays.roots[n_roots], arrays.entry_marks[n_roots] = state, marks
    arrays.frames[n_roots] = top
    arrays.stack[top] = ~chosen
    own[Own.TOP], own[Own.N_ROOTS] = top + 1, n_roots + 1
    return chosen


@inlined
def go_on(registers, arrays, state):
    """Continue a frame whose state is done; return what to expand next, or `NONE`."""
    own = arrays.own
    top, root = own[Own.TOP] - 1, own[Own.N_ROOTS] - 1
    remove(arrays.following, state)
    chosen = np.int64(NONE)
    is_roots = arrays.frames[root] == top
    if is_roots:  # other frames of the set end with their state
        chosen = pick(arrays.parent, arrays.following, registers, state)
    if chosen < 0:
        own[Own.TOP] = top
        own[Own.DEPTH] -= 1
        own[Own.N_ROOTS] -= is_roots
    else:
        arrays.stack[top] = ~chosen
    return chosen


@inlined
def enter(registers, arrays, state, marks):
    """Enter a set that is not dead, unless the worker is inside.

    Returns what to expand; `NONE` if others have completed the set meanwhile; `INSIDE`.
    """
    own, parent, sets = arrays.own, arrays.parent, arrays.sets
    me = np.uint64(1) << np.uint64(own[Own.NUMBER])
    root = find(parent, state)
    before = load(sets, root)
    if before & me == 0:
        before = add_bits(parent, sets, root, me)
    own[Own.TOP] -= 1
    if before & me != 0:
        return np.int64(INSIDE)
    if before & WORKERS == 0:
        is_later = registers[Reg.IS_LATER] != 0
        fetch_add(registers, Reg.REENTERED if is_later else Reg.VISITED, 1)
    return begin_frame(registers, arrays, state, marks)


@njit
def ufscc_step(expand, product, store_, registers, arrays, budget):
    """Advance one worker of Bloemen et al. 2016, Algorithm 4.

    `registers` are shared, `arrays` are the worker's.  Any answer but RUNNING makes the
    others return, too.  After FOUND the set of state ``registers[Reg.CLOSING]`` is
    strongly connected, and its transitions carry all marks of a clause.
    """
    own, parent = arrays.own, arrays.parent
    while budget > 0 and load(registers, Reg.STOP) == 0:
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
        marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
        if state < 0:
            chosen = go_on(registers, arrays, ~state)
        elif is_dead(parent, state):
            own[Own.TOP] = top - 1
            continue
        elif is_new(arrays, state) and is_at_limit(registers):
            return stopped(registers, Status.LIMIT)
        else:
            chosen = enter(registers, arrays, state, marks)
        if chosen == INSIDE:
            if close_cycle(registers, arrays, state, marks):
                return stopped(registers, Status.FOUND)
        elif chosen >= 0:
            budget -= 1
            if expand_state(expand, product, store_, registers, arrays, chosen):
                return stopped(registers, Status.FOUND)
    return Status.RUNNING


class UFSCC(SharedSearch):
    """The search of Bloemen et al. 2016, Algorithm 4, in progress."""

    name = "ufscc"
    generalised = True
    fin_less = True
    kernel = staticmethod(ufscc_step)
    array_type: ClassVar[type[Any]] = Arrays
    _listed: ClassVar[dict[str, Column]] = {}  # of Fstates, where there are others

    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {
                "parent": UINT32,
                "following": UINT32,
                "sets": UINT64,
                **self._listed,
            },
        }

    def _own_layout(self) -> dict[Own, dict[str, Column]]:
        return {
            Own.TOP: {"stack": INT32, "stack_marks": sets_of(self._mark_bits())},
            Own.N_ROOTS: {"roots": INT32, "frames": INT32, "entry_marks": UINT32},
        }

    def _constants(self) -> dict[str, np.ndarray]:
        known = {"clauses": self._clauses(), "fin": np.zeros(1, dtype=np.uint32)}
        if not self._listed:
            known["fstates"] = np.zeros(1, dtype=np.uint32)
        return known

    def _clauses(self) -> np.ndarray:
        """Return uint32[c], the marks of each clause."""
        condition = self.problem.condition
        if condition is None:
            return np.array([(1 << self.problem.n_marks) - 1], dtype=np.uint32)
        infs = [clause.inf for clause in normal_form(condition)]
        return np.array(infs, dtype=np.uint32)

    def _begin(self) -> None:
        self.registers[Reg.CLOSING] = NONE
        self.registers[Reg.MARK_BITS] = self._mark_bits()
        self.arrays.fstates[0] = 1  # the initial state
        self.registers[Reg.N_FSTATES] = 1

    def _mark_bits(self) -> int:
        return mark_bits(self.problem.n_marks)

    def roots(self) -> np.ndarray:
        """Return int64[n_stored], the root of the set of each state."""
        above = (self.arrays.parent[: self.n_stored] & LOW).astype(np.int64)
        roots = np.where(above == 0, np.arange(self.n_stored), above - 1)
        while True:
            higher = roots[roots]
            if (higher == roots).all():
                return roots
            roots = higher

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been entered."""
        n = self.n_stored
        is_child = self.arrays.parent[:n] & LOW != 0
        return np.asarray(is_child | (self.arrays.sets[:n] & WORKERS != 0))

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        roots = self.roots()
        root = roots[self.registers[Reg.CLOSING]]
        marks = int(self.arrays.sets[root] >> MARKS_SHIFT)
        clause = implied_clause(self.problem, marks)
        return (yield from PathFinder(self).lasso_in(roots == root, clause))

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {**super().statistics(), "sccs": int(self.registers[Reg.N_SCCS])}

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        super().assert_consistent()
        assert_whole(self)


def assert_whole(search: UFSCC) -> None:
    """Check sets and lists; no worker is at work."""
    roots, visited = search.roots(), search.visited()
    arrays = search.arrays
    n = search.n_stored
    locked = LOCK | np.uint32(0)
    assert not (arrays.parent[:n] & locked).any()
    assert not (arrays.following[:n] & locked).any()
    is_tombstone = (arrays.following[:n] & HIGH) != 0
    dead = (arrays.parent[:n] & HIGH != 0)[roots]
    places = (arrays.following[:n] & LOW).astype(np.int64)
    behind = np.where(places == 0, np.arange(n), places - 1)
    assert (roots[behind] == roots).all()  # lists stay in their sets
    live = visited & ~is_tombstone
    assert not (live & dead).any()
    for state in np.flatnonzero(live).tolist():
        on_list = cycle_from(behind, state)
        members = set(np.flatnonzero(live & (roots == roots[state])).tolist())
        assert members <= on_list
    has_live = np.zeros(n, dtype=np.bool_)
    has_live[roots[live]] = True
    assert (has_live | dead | ~visited)[roots[visited]].all()


def cycle_from(behind: np.ndarray, state: int) -> set[int]:
    """Return the states on a cyclic list; it comes back to where it began."""
    seen: list[int] = []
    place = state
    while place not in seen:
        seen.append(place)
        place = int(behind[place])
    assert place == state
    return set(seen)

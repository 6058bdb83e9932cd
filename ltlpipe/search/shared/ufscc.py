"""SCC-based emptiness check by several workers (``--emptiness ufscc``).

Decides whether a product with marks on transitions has a reachable cycle that sees
every mark, or all marks of one clause of a condition without Fin.  Each worker searches
depth first; what one has found out of SCCs helps all, because sets of states and
complete SCCs are shared (`ltlpipe.search.union_find`), and so is the state table
(`ltlpipe.search.store`).

Sources: V. Bloemen, A. Laarman and J. van de Pol, "Multi-Core On-The-Fly SCC
Decomposition", PPoPP 2016, Algorithm 4; acceptance: V. Bloemen, A. Duret-Lutz and J.
van de Pol, "Model checking with generalized Rabin and Fin-less automata", STTT 21
(2019), pp. 307-324, Algorithm 3 without Fin.

Differences from the sources:

- The recursion is a stack of states that wait and of frames, the complements of states
  that have been expanded; each root knows where its frame is.
- A frame that is not that of the uppermost root ends as soon as its own state is done;
  only the root's frame goes on with other live states of the set.  As printed a single
  worker expands each state of a large SCC twice.
- A live state of a set is on the stack of a worker that has expanded it.  Others in
  this set do not expand it again: they ask that worker for transitions that no worker
  has followed (`ltlpipe.search.shared.sharing`).  The frame of the asker has no state
  then, and ends with the set, or becomes part of that of a root below in the same set.
- Marks are joined to the set when a transition closes a cycle, with those of the tree
  transitions to the roots in between.
- Transitions to sets that are dead or on the worker's path are taken when their source
  is expanded ("known states first"), the others wait, below all others those in which
  other workers are.
- When one worker has made its expansions of a call all return, so none waits at the
  end of a call for one that has more to do.
- Workers other than the first take successors in an order of their own (swarming).

Why no cycle is missed: a set dies only when all its states are tombstones, and a state
becomes one only when a worker has taken all its transitions: each led to a set that was
dead, or in which the worker was, and which it has then united with all in between, or
which was searched before.  So all transitions from a dead set lead to dead sets, and
all transitions inside it have been taken by a worker that has joined their marks.  Why
none is reported wrongly: states are united only along a cycle of one worker's stack, so
a set is strongly connected, and its marks are those of transitions inside.  What one
worker names to another are transitions from states of the set that was asked about, so
the other takes them as if it had expanded these states; only a worker that has expanded
a state makes it a tombstone.

Whether a worker was in a set already follows from its first atomic or of its own bit
alone: a root above may hold this bit because another worker has just carried it there.

Invariants, asserted by `tests.invariants` between calls: no row is stored twice;
each live set has a live state, its lists are cyclic and hold its live states; all
successors of states of dead sets are in dead sets.

Cost: 16 bytes per state; four bytes of each worker's stack, and a bit per mark (rounded
up to a power of two), per state on its path and per waiting successor; 12 bytes per
root.  Each state is expanded once, but for a few in a thousand.

The steps of a worker of ``ufscc``, ``rabin`` and ``tela`` (see `.ufscc`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.automata.conditions import TRUE
from ltlpipe.por.component_sets import Reduction
from ltlpipe.por.stubborn_sets import with_own_buffers
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.atomics import (
    fetch_add,
    fetch_or,
    load,
    pause,
    store,
)
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.acceptance import Formula, implied_clause, tabulate
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import INT32, UINT32, Column
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import visit_successors
from ltlpipe.search.reduced import visit_ample
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.search import (
    SharedSearch,
    count_entry,
    is_at_limit,
    shuffle,
    stopped,
)
from ltlpipe.search.shared.sharing import (
    HELPING,
    INSIDE,
    LINE,
    MOST_TOLD,
    Arrays,
    answer_all,
    begin_frame,
    close_cycle,
    end_frame,
    help_others,
)
from ltlpipe.search.stacks import read_marks, sets_of, write_marks
from ltlpipe.search.store import Worker, lacks_ids_or_room
from ltlpipe.search.union_find import (
    HIGH,
    LOW,
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

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Clause
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout

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
def ufscc_step(expand, product, store_, registers, arrays, budget):
    """Advance one worker of Bloemen et al. 2016, Algorithm 4.

    `registers` are shared, `arrays` are the worker's.  Any answer but RUNNING makes the
    others return, too.  After FOUND the set of state ``registers[Reg.CLOSING]`` is
    strongly connected, and its transitions carry all marks of a clause.
    """
    own = arrays.own
    while budget > 0 and load(registers, Worker.STOP) == 0:
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
            budget -= 1
            if expand_state(expand, product, store_, registers, arrays, chosen):
                return stopped(registers, Status.FOUND)
    return stopped(registers, Status.RUNNING)  # others may be waiting for this one


_ROOT_WORK = 0.01  # microseconds for each state whose root is looked for


class UFSCC(SharedSearch):
    """The search of Bloemen et al. 2016, Algorithm 4, in progress."""

    name = "ufscc"
    generalised = True
    fin_less = True
    kernel = staticmethod(ufscc_step)
    array_type: ClassVar[type[Any]] = Arrays
    _listed: ClassVar[
        dict[str, Column]
    ] = {}  # columns of searches that are built on it

    _extra: ClassVar[int] = MOST_TOLD

    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {
                "words": Column(np.uint64, width=2),
                **self._listed,
            },
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self.problem.mark_bits)},
            Reg.N_ROOTS: {"roots": INT32, "frames": INT32, "entry_marks": UINT32},
        }

    def _constants(self) -> dict[str, np.ndarray]:
        known = {
            "clauses": self._clauses(),
            "avoided": np.zeros(1, dtype=np.uint32),
            "mail": np.zeros(LINE * (self.n_workers + 1), dtype=np.uint64),
        }
        columns = {"fstates": 1, "labels": 0}  # what other searches have for each state
        for name, length in columns.items():
            if name not in self._listed:
                known[name] = np.zeros(length, dtype=np.uint32)
        return known

    def _new_own(self, room: int) -> dict[str, Any]:
        reduction = None
        if self.problem.ample is not None:  # no other worker writes to these tables
            tables = with_own_buffers(self.problem.ample)
            reduction = Reduction(tables, np.zeros(0, dtype=np.uint16))
        return super()._new_own(room) | {"goal": self._goal(), "reduction": reduction}

    def _goal(self) -> Formula:
        """Return what a cycle has to satisfy, if clauses do not say it."""
        return tabulate(TRUE)._replace(ops=np.zeros(0, dtype=np.uint8))

    def _views(self, shared: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        flat = shared["words"].reshape(-1)
        return {"nodes": flat.view(np.uint32), "sets": flat}

    def _clauses(self) -> np.ndarray:
        """Return uint32[c], the marks of each clause."""
        infs = [clause.inf for clause in self.problem.clauses()]
        return np.array(infs, dtype=np.uint32)

    def _begin(self) -> None:
        self.registers[Reg.CLOSING] = NONE
        self.registers[Reg.MARK_BITS] = self.problem.mark_bits
        clauses = self.arrays.clauses
        self.registers[Worker.EMPTY_ACCEPTS] = (clauses == 0).any()
        self.arrays.fstates[0] = 1  # the initial state
        self.registers[Worker.N_FSTATES] = 1

    def roots(self) -> Job[np.ndarray]:
        """Return int64[n_stored], the root of the set of each state."""
        above = (self._words(0) & LOW).astype(np.int64)
        roots = np.where(above == 0, np.arange(self.n_stored), above - 1)
        while True:
            yield Progress(EXTRACTING, work=_ROOT_WORK * self.n_stored)
            higher = roots[roots]
            if (higher == roots).all():
                return roots
            roots = higher

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been entered."""
        return self._of_round()

    def sets(self) -> np.ndarray:
        """Return uint64[n_stored], the word of each set, of no meaning for others."""
        return np.asarray(self.arrays.words[: self.n_stored, 1])

    def _words(self, place: int) -> np.ndarray:
        """Return uint32[n_stored], `parent` (0) or `next` (1) of each state."""
        return np.asarray(self.arrays.nodes[place::4][: self.n_stored])

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        roots = yield from self.roots()
        root = roots[self.registers[Reg.CLOSING]]
        clause = self._seen_clause(int(self.sets()[root] >> MARKS_SHIFT))
        return (yield from PathFinder(self).lasso_in(roots == root, clause))

    def _seen_clause(self, marks: int) -> Clause | None:
        """Return what an accepting set satisfies, by its marks."""
        return implied_clause(self.problem, marks)

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return {**super().statistics(), "sccs": int(self.registers[Worker.N_SCCS])}

    def _of_round(self) -> np.ndarray:
        """Return bool[n_stored]: the states that this round has entered."""
        is_child = self._words(0) & LOW != 0
        return np.asarray(is_child | (self.sets() & WORKERS != 0))

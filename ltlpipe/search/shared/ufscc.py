"""SCC-based emptiness check by several workers (``--emptiness ufscc``).

Decides whether a product with marks on transitions has a reachable cycle that sees
every mark, or all marks of one clause of a condition without Fin.  Each worker searches
depth first; what one has found out of SCCs helps all, because sets of states and
complete SCCs are shared (`ltlpipe.search.union_find`), and so is the state table
(`ltlpipe.search.shared_store`).

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
- The expansions that one call may make are taken by the workers as they need them, so
  none waits at the end of a call for one that has more to do.
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

Invariants, asserted by `assert_consistent` between calls: no row is stored twice;
each live set has a live state, its lists are cyclic and hold its live states; all
successors of states of dead sets are in dead sets.

Cost: 16 bytes per state; four bytes of each worker's stack, and a bit per mark (rounded
up to a power of two), per state on its path and per waiting successor; 12 bytes per
root.  Each state is expanded once, but for a few in a thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.automata.conditions import TRUE, normal_form
from ltlpipe.por.component_sets import Reduction
from ltlpipe.por.stubborn_sets import with_own_buffers
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.search.acceptance import Formula, implied_clause, tabulate
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import INT32, UINT32, Column
from ltlpipe.search.packed import mark_bits, sets_of
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.registers import Reg
from ltlpipe.search.shared.search import SharedSearch
from ltlpipe.search.shared.sharing import LINE, MOST_TOLD, Arrays
from ltlpipe.search.shared.ufscc_steps import ufscc_step
from ltlpipe.search.shared_store import Worker
from ltlpipe.search.union_find import (
    HIGH,
    LOCK,
    LOW,
    MARKS_SHIFT,
    NONE,
    WORKERS,
)

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Clause
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout


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
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self._mark_bits())},
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

    def _new_own(self) -> dict[str, Any]:
        reduction = None
        if self.problem.ample is not None:  # no other worker writes to these tables
            tables = with_own_buffers(self.problem.ample)
            reduction = Reduction(tables, np.zeros(0, dtype=np.uint16))
        return super()._new_own() | {"goal": self._goal(), "reduction": reduction}

    def _goal(self) -> Formula:
        """Return what a cycle has to satisfy, if clauses do not say it."""
        return tabulate(TRUE)._replace(ops=np.zeros(0, dtype=np.uint8))

    def _state_views(self, number: int) -> dict[str, np.ndarray]:
        views = super()._state_views(number)
        flat = views["words"].reshape(-1)
        return views | {"nodes": flat.view(np.uint32), "sets": flat}

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
        clauses = self.arrays.clauses
        self.registers[Worker.EMPTY_ACCEPTS] = (clauses == 0).any()
        self.arrays.fstates[0] = 1  # the initial state
        self.registers[Worker.N_FSTATES] = 1

    def _mark_bits(self) -> int:
        return mark_bits(self.problem.n_marks)

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

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        super().assert_consistent()
        roots = complete(self.roots())
        assert_whole(self._words(0), self._words(1), roots, self._of_round())

    def _of_round(self) -> np.ndarray:
        """Return bool[n_stored]: the states that this round has entered."""
        is_child = self._words(0) & LOW != 0
        return np.asarray(is_child | (self.sets() & WORKERS != 0))


def assert_whole(
    parent: np.ndarray, following: np.ndarray, roots: np.ndarray, visited: np.ndarray
) -> None:
    """Check sets and lists; no worker is at work.

    `parent` and `following` uint32[n] are words of nodes, `roots` int64[n] those of the
    sets of all states, `visited` bool[n] says which are to be looked at.
    """
    n = len(parent)
    assert not (parent & LOCK)[visited].any()
    assert not (following & LOCK)[visited].any()
    is_tombstone = (following & HIGH) != 0
    dead = (parent & HIGH != 0)[roots]
    places = (following & LOW).astype(np.int64)
    behind = np.where(places == 0, np.arange(n), places - 1)
    assert (roots[behind] == roots)[visited].all()  # lists stay in their sets
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

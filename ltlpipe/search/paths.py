"""Short accepting runs inside what a search has explored.

A search that answers FOUND knows that an accepting run exists among the states
it has expanded; the run on its own stack can be millions of steps long.  Here
the run is looked for again, breadth first: first the shortest way into the
accepting part, then, inside it, from mark to mark until all are seen, then back
to where the cycle began.  Each piece is a shortest path; the whole need not be
the shortest lasso.

Cost: nine bytes per stored state while it runs, and for each piece at most one
more look at every explored transition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import ProductLasso
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.interning import row_of
from ltlpipe.search.product import successors, visit_known
from ltlpipe.search.registers import Status

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import Search

_BUDGET = 1 << 14  # states that one call of a kernel looks at, at most
_TURN = 30_000.0  # units of work of one call
_STEPS_BACK = 1 << 16  # of a path, walked in Python
_ALL = 0xFFFFFFFF  # every mark


class Flag(IntEnum):
    """Bits of `Breadth.flags`."""

    INSIDE = 1  # the path may use this state
    GOAL = 2  # and may end here


class Breadth(NamedTuple):
    """The arrays of a breadth-first search over n stored states."""

    flags: np.ndarray  # uint8[n]
    parent: np.ndarray  # int32[n], the state before, -1 where not yet seen
    queue: np.ndarray  # int32[n]
    ends: np.ndarray  # int64[4]: head and tail of the queue, last step's src, dst


BREADTH_BYTES = 9
"""Of a `Breadth`, per stored state."""


@njit
def breadth_step(expand, product, store, registers, breadth, missing, avoid, budget):
    """Look for the nearest transition that carries one of the marks `missing`.

    With `missing` 0: the nearest transition into a GOAL state.  At least one
    transition is taken, none with a mark of `avoid`, and only INSIDE states are
    entered.  Returns a Status.
    """
    flags, parent = breadth.flags, breadth.parent
    queue, ends = breadth.queue, breadth.ends
    while ends[0] < ends[1]:
        if budget == 0:
            return Status.RUNNING
        budget -= 1
        src = queue[ends[0]]
        ends[0] += 1
        # A search that left steps out has not stored where they lead.
        n = visit_known(expand, product, store, registers, src, flags, 0)
        for i in range(n):
            dst = product.ids[i]
            if (
                dst < 0
                or flags[dst] & Flag.INSIDE == 0
                or product.marks[i] & avoid != 0
            ):
                continue
            if missing == 0:
                found = flags[dst] & Flag.GOAL != 0
            else:
                found = product.marks[i] & missing != 0
            if found:
                ends[2] = src
                ends[3] = dst
                return Status.FOUND
            if parent[dst] < 0:
                parent[dst] = src
                queue[ends[1]] = dst
                ends[1] += 1
    return Status.EMPTY


@inlined
def popcount(marks):
    """Return the number of marks in a set."""
    count = 0
    while marks != 0:
        marks &= marks - np.uint32(1)
        count += 1
    return count


@njit
def label_path(expand, product, store, path, seen, wanted, avoid, actions):
    """Choose an action for every step of a path, and return the marks seen.

    path int32[k + 1], actions int32[k].  Of several transitions between two
    states, none of which has a mark of `avoid`, the one with most marks that are
    `wanted` and not yet `seen` is taken.  Returns also whether every step exists.
    """
    rows, marks = product.rows, product.marks
    for step in range(actions.shape[0]):
        dst = path[step + 1]
        n = successors(expand, product, row_of(product, store, path[step]))
        there = row_of(product, store, dst)
        best = -1
        for i in range(n):
            same = marks[i] & avoid == 0
            for w in range(rows.shape[1]):
                if rows[i, w] != there[w]:
                    same = False
                    break
            news = wanted & ~seen
            if same and (
                best < 0 or popcount(marks[i] & news) > popcount(marks[best] & news)
            ):
                best = i
        if best < 0:
            return seen, False
        seen |= marks[best]
        actions[step] = product.row_actions[best]
    return seen, True


class PathFinder:
    """Finds paths among the states that a search, which answered FOUND, has expanded.

    The search's buffers are used, its arrays are not changed.  `held_bytes` is what
    others hold that counts towards the memory of these jobs.
    """

    def __init__(self, search: Search, held_bytes: float = 0) -> None:
        self.search = search
        self._held_bytes = held_bytes
        self._registers = search.registers.copy()  # statistics stay the search's
        self._budget = max(min(int(_TURN / search.work_per_step), _BUDGET), 1)

    def _progress(self, n_steps: float, own_bytes: float = 0) -> Progress:
        """Return what is said after so many steps."""
        search = self.search
        return Progress(
            EXTRACTING,
            work=n_steps * search.work_per_step,
            memory_bytes=search.memory_bytes + self._held_bytes + own_bytes,
        )

    def path(
        self,
        start: int,
        inside: np.ndarray,
        goal: np.ndarray,
        missing: int = 0,
        avoid: int = 0,
    ) -> Job[np.ndarray]:
        """Return a shortest path of k >= 1 steps, int32[k + 1] with `start` first.

        It enters states of `inside` (bool[n_stored]) only, takes no step with a mark of
        `avoid`, and ends in `goal` (bool[n_stored]) or, if `missing` is not 0, with a
        step that carries one of these marks.
        """
        n = self.search.n_stored
        yield self._progress(0, BREADTH_BYTES * n)
        flags = (inside * Flag.INSIDE + goal * Flag.GOAL).astype(np.uint8)
        breadth = Breadth(
            flags=flags,
            parent=np.full(n, -1, dtype=np.int32),
            queue=np.zeros(n, dtype=np.int32),
            ends=np.array([0, 1, 0, 0], dtype=np.int64),
        )
        breadth.queue[0] = start
        breadth.parent[start] = start
        problem = self.search.problem
        while True:
            status = yield from called(
                breadth_step,
                problem.expand,
                problem.product,
                self.search.store,
                self._registers,
                breadth,
                np.uint32(missing),
                np.uint32(avoid),
                self._budget,
            )
            if status == Status.FOUND:
                return (yield from self._walk_back(breadth, start))
            if status == Status.EMPTY:
                raise ReplayError("the search reported a run that is not there")
            yield self._progress(self._budget, BREADTH_BYTES * n)

    def _walk_back(self, breadth: Breadth, start: int) -> Job[np.ndarray]:
        """Return the path that a finished search found, from its last step back."""
        src, dst = int(breadth.ends[2]), int(breadth.ends[3])
        path = [dst, src]
        while path[-1] != start:
            path.append(int(breadth.parent[path[-1]]))
            if len(path) % _STEPS_BACK == 0:
                yield self._progress(_STEPS_BACK / 4, total_bytes(breadth))
        return np.array(path[::-1], dtype=np.int32)

    def label(
        self, path: np.ndarray, seen: int = 0, wanted: int = _ALL, avoid: int = 0
    ) -> Job[tuple[np.ndarray, int]]:
        """Return the actions, int32[k], of a path int32[k + 1], and all marks seen."""
        actions = np.empty(len(path) - 1, dtype=np.int32)
        problem = self.search.problem
        marks = np.uint32(seen)
        budget = self._budget
        for begin in range(0, len(actions), budget):
            if begin:
                yield self._progress(budget)
            marks, complete = yield from called(
                label_path,
                problem.expand,
                problem.product,
                self.search.store,
                path[begin : begin + budget + 1],
                np.uint32(marks),
                np.uint32(wanted),
                np.uint32(avoid),
                actions[begin : begin + budget],
            )
            if not complete:
                raise ReplayError("the search reported a step that is not there")
        return actions, int(marks)

    def _only(self, states: int | np.ndarray) -> np.ndarray:
        chosen = np.zeros(self.search.n_stored, dtype=np.bool_)
        chosen[states] = True
        return chosen

    def cycle_through(
        self, start: int, inside: np.ndarray, clause: Clause | None = None
    ) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return a cycle from `start` in the SCC `inside` that sees all marks.

        With a clause it sees those that the clause wants, and takes no transition
        with one that the clause forbids.  Returns its states, int32[c + 1], and its
        actions, int32[c].
        """
        problem = self.search.problem
        avoid, full = clause or Clause(0, (1 << problem.n_marks) - 1)
        nowhere = np.zeros(self.search.n_stored, dtype=np.bool_)
        home = self._only(start)
        states = np.array([start], dtype=np.int32)
        actions = np.zeros(0, dtype=np.int32)
        seen = 0
        while full & ~seen or states[-1] != start or len(actions) == 0:
            missing = full & ~seen
            goal = nowhere if missing else home
            start_of_piece = int(states[-1])
            piece = yield from self.path(start_of_piece, inside, goal, missing, avoid)
            labels, seen = yield from self.label(piece, seen, full, avoid)
            states = np.concatenate([states, piece[1:]])
            actions = np.concatenate([actions, labels])
        if problem.condition is not None and not problem.condition.satisfied_by(seen):
            raise ReplayError("the search reported a cycle that is not accepting")
        return states, actions

    def prefix_to(self, goal: np.ndarray) -> Job[np.ndarray]:
        """Return a shortest path, int32[k + 1], from the initial state to a goal.

        goal is bool[n_stored]; the path has no step if the initial state is one.
        """
        if goal[0]:  # the initial state is number 0
            return np.zeros(1, dtype=np.int32)
        return (yield from self.path(0, self.search.visited(), goal))

    def lasso_through(self, state: int) -> Job[ProductLasso]:
        """Return a run with a shortest cycle through `state`, which is accepting.

        The prefix is a shortest one to this cycle.
        """
        inside = self.search.visited()
        cycle, actions = yield from self.cycle_through(state, inside, Clause(0, 0))
        prefix = yield from self.prefix_to(self._only(cycle))
        return (yield from self.lasso(prefix, cycle, actions))

    def lasso_in(
        self, inside: np.ndarray, clause: Clause | None = None
    ) -> Job[ProductLasso]:
        """Return a run that stays in an accepting SCC, bool[n_stored], in the end.

        It enters the SCC by a shortest way and collects the marks from there.  With a
        clause these are its marks, and `inside` is strongly connected by transitions
        without those that it forbids.  A cycle whose marks do not satisfy the problem's
        condition is a bug of the search: RuntimeError.
        """
        prefix = yield from self.prefix_to(inside)
        cycle = yield from self.cycle_through(int(prefix[-1]), inside, clause)
        return (yield from self.lasso(prefix, *cycle))

    def lasso(
        self, prefix: np.ndarray, cycle: np.ndarray, cycle_actions: np.ndarray
    ) -> Job[ProductLasso]:
        """Return the lasso of a prefix and a cycle that passes where it ends.

        The cycle is turned to begin there.
        """
        turn = int(np.flatnonzero(cycle == prefix[-1])[0])
        states = np.roll(cycle[:-1], -turn)
        prefix_actions, _ = yield from self.label(prefix)
        return ProductLasso(
            prefix=prefix,
            cycle=np.append(states, states[0]),
            prefix_actions=prefix_actions,
            cycle_actions=np.roll(cycle_actions, -turn),
        )

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

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.emptiness import Interrupted
from ltlpipe.search.product import successors, visit_known
from ltlpipe.search.registers import Status

if TYPE_CHECKING:
    from ltlpipe.search.driver import Interrupt
    from ltlpipe.search.emptiness import Search

_BUDGET = 1 << 15
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
        n = successors(expand, product, store.rows[path[step]])
        best = -1
        for i in range(n):
            same = marks[i] & avoid == 0
            for w in range(rows.shape[1]):
                if rows[i, w] != store.rows[dst, w]:
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


@dataclass(frozen=True)
class ProductLasso:
    """An accepting run of the product, with its actions.

    Parameters
    ----------
    prefix : int32[k + 1]
        State ids from the initial state to where the cycle begins.
    cycle : int32[c + 1]
        State ids from there back to there, c >= 1.
    prefix_actions, cycle_actions : int32[k], int32[c]
        Actions of the system; -1 is the repetition of a state without
        successors.
    """

    prefix: np.ndarray
    cycle: np.ndarray
    prefix_actions: np.ndarray
    cycle_actions: np.ndarray


class PathFinder:
    """Finds paths among the states that a search has expanded.

    Parameters
    ----------
    search : Search
        One that has answered FOUND; its buffers are used, its arrays are not
        changed.
    interrupt : Interrupt, optional
        Ends the work when pressed.
    """

    def __init__(self, search: Search, interrupt: Interrupt | None = None) -> None:
        self.search = search
        self.interrupt = interrupt
        self._registers = search.registers.copy()  # statistics stay the search's

    def path(
        self,
        start: int,
        inside: np.ndarray,
        goal: np.ndarray,
        missing: int = 0,
        avoid: int = 0,
    ) -> np.ndarray:
        """Return a shortest path of at least one step.

        Parameters
        ----------
        start : int
            Where it begins.
        inside : bool[n_stored]
            The states it may enter.
        goal : bool[n_stored]
            The states it may end in; without meaning if `missing` is not 0.
        missing : int
            If not 0, the last step shall carry one of these marks.
        avoid : int
            No step may carry one of these marks.

        Returns
        -------
        int32[k + 1]
            The states, `start` first, k >= 1.

        Raises
        ------
        Interrupted
            `interrupt` was pressed.
        """
        n = self.search.n_stored
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
            status = breadth_step(
                problem.expand,
                problem.product,
                self.search.store,
                self._registers,
                breadth,
                np.uint32(missing),
                np.uint32(avoid),
                _BUDGET,
            )
            if self.interrupt is not None and self.interrupt.pressed:
                raise Interrupted
            if status == Status.FOUND:
                return _walk_back(breadth, start)
            if status == Status.EMPTY:
                raise RuntimeError("the search reported a run that is not there")

    def label(
        self, path: np.ndarray, seen: int = 0, wanted: int = _ALL, avoid: int = 0
    ) -> tuple[np.ndarray, int]:
        """Return the actions, int32[k], of a path int32[k + 1], and all marks seen."""
        actions = np.empty(len(path) - 1, dtype=np.int32)
        problem = self.search.problem
        marks, complete = label_path(
            problem.expand,
            problem.product,
            self.search.store,
            path,
            np.uint32(seen),
            np.uint32(wanted),
            np.uint32(avoid),
            actions,
        )
        if not complete:
            raise RuntimeError("the search reported a step that is not there")
        return actions, int(marks)

    def shortest_cycle(
        self, start: int, inside: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the states, int32[c + 1], and actions of a cycle from `start`."""
        states = self.path(start, inside, self._only(start))
        return states, self.label(states)[0]

    def _only(self, state: int) -> np.ndarray:
        chosen = np.zeros(self.search.n_stored, dtype=np.bool_)
        chosen[state] = True
        return chosen

    def cycle_through(
        self, start: int, inside: np.ndarray, clause: Clause | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
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
            piece = self.path(int(states[-1]), inside, goal, missing, avoid)
            labels, seen = self.label(piece, seen, full, avoid)
            states = np.concatenate([states, piece[1:]])
            actions = np.concatenate([actions, labels])
        if problem.condition is not None and not problem.condition.satisfied_by(seen):
            raise RuntimeError("the search reported a cycle that is not accepting")
        return states, actions

    def prefix_to(self, goal: np.ndarray) -> np.ndarray:
        """Return a shortest path, int32[k + 1], from the initial state to a goal.

        goal is bool[n_stored]; the path has no step if the initial state is one.
        """
        if goal[0]:  # the initial state is number 0
            return np.zeros(1, dtype=np.int32)
        return self.path(0, self.search.visited(), goal)

    def lasso_through(self, state: int) -> ProductLasso:
        """Return a run with a shortest cycle through `state`, which is accepting.

        The prefix is a shortest one to this cycle.
        """
        cycle, actions = self.shortest_cycle(state, self.search.visited())
        goal = np.zeros(self.search.n_stored, dtype=np.bool_)
        goal[cycle] = True
        return self.lasso(self.prefix_to(goal), cycle, actions)

    def lasso_in(
        self, inside: np.ndarray, clause: Clause | None = None
    ) -> ProductLasso:
        """Return a run that stays in an accepting SCC, bool[n_stored], in the end.

        It enters the SCC by a shortest way and collects the marks from there.  With
        a clause these are its marks, and `inside` is strongly connected by
        transitions without those that it forbids.

        Raises
        ------
        RuntimeError
            The cycle does not satisfy the problem's condition, which is evaluated on
            the marks that it has been seen to carry: a bug of the search.
        """
        prefix = self.prefix_to(inside)
        cycle = self.cycle_through(int(prefix[-1]), inside, clause)
        return self.lasso(prefix, *cycle)

    def lasso(
        self, prefix: np.ndarray, cycle: np.ndarray, cycle_actions: np.ndarray
    ) -> ProductLasso:
        """Return the lasso of a prefix and a cycle that passes where it ends.

        The cycle is turned to begin there.
        """
        turn = int(np.flatnonzero(cycle == prefix[-1])[0])
        states = np.roll(cycle[:-1], -turn)
        return ProductLasso(
            prefix=prefix,
            cycle=np.append(states, states[0]),
            prefix_actions=self.label(prefix)[0],
            cycle_actions=np.roll(cycle_actions, -turn),
        )


def _walk_back(breadth: Breadth, start: int) -> np.ndarray:
    """Return the path that a finished search found, from its last step back."""
    src, dst = int(breadth.ends[2]), int(breadth.ends[3])
    path = [dst, src]
    while path[-1] != start:
        path.append(int(breadth.parent[path[-1]]))
    return np.array(path[::-1], dtype=np.int32)

"""Nested search in the decoupled composition.

Decides whether a composition of Büchi automata has a run that visits, infinitely often,
a state in which all components accept.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Fig. 7.

Differences from the source:

- Dominance of split states is that of `ltlpipe.decoupled.splits`.
- An inner search begins before the successors of its state are looked at, and not
  after all that they lead to: a cycle is reported as soon as can be.  References are
  compared, so no inner search relies on its place in an order (docs/decoupled.md,
  section 6).
- The root of an inner search is a visited split state, and there is no inner search if
  another dominates it.  A split state is tested for a cycle before it is looked up.
- Neither search is depth first: the largest states come first (`worklist`).
- States are left out if visited ones cover them together (`members`).
- The test of Lemma 1 is an option; the state at which the inner search began is on the
  stack then.

Invariants: those of `dominance`, `members` and `worklist`, for decoupled and for split
states.

Cost: that of `tables`, `splits`, `dominance`, `members` and `worklist`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    is_enabled,
    write_successor,
)
from ltlpipe.decoupled.dominance import VisitedSets, has_room
from ltlpipe.decoupled.lassos import GlobalTrace
from ltlpipe.decoupled.members import Boxes, MemberTable, blocks_of
from ltlpipe.decoupled.splits import (
    closes_cycle,
    split_blocks,
    split_tables,
    write_overall,
    write_root,
    write_split_successor,
)
from ltlpipe.decoupled.worklist import (
    At,
    begin,
    enter,
    is_full,
    is_superseded,
    labels_to_current,
    leave,
    lengthen_worklist,
    new_worklist,
    take,
)
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.decoupled.tables import DecoupledNetwork
    from ltlpipe.runtime.jobs import Job


TABLE_FROM = 256
"""States that are stored before there is a table of members."""


class Closing(IntEnum):
    """How a cycle was found: ``registers[Reg.CLOSING]`` after FOUND."""

    LOCAL = 0  # internal transitions of one component (CheckLocalAccept)
    REFERENCES = 1  # references reach themselves (Lemma 2)
    STACK = 2  # a state before it is dominated (Lemma 1), at depth Reg.RED_BASE


@inlined
def meets(tables, wanted, rows, i):
    """Whether every component has one of the `wanted` local states in ``rows[i]``."""
    for component in range(tables.first_word.shape[0]):
        first = tables.first_word[component]
        some = False
        for w in range(tables.n_words[component]):
            word = rows[i, first + w] & tables.mask[component]
            if word & wanted[first + w] != 0:
                some = True
                break
        if not some:
            return False
    return True


@inlined
def has_local_cycle(tables, rows, i):
    """Whether an accepting local state of ``rows[i]`` reaches itself alone."""
    some = False
    for w in range(rows.shape[1]):
        some |= rows[i, w] & tables.looping[w] != 0
    return some


@inlined
def dominated_before(work, overall):
    """Return the depth of a state within ``overall[0]`` on the way to the current one.

    -1 if there is none; the current state itself is on the way.
    """
    rows = work.rows
    state = np.int64(work.state[work.at[At.CURRENT]])
    found = np.int64(-1)
    while state >= 0:
        included = True
        for w in range(rows.shape[1]):
            if rows[state, w] & ~overall[0, w] != 0:
                included = False
                break
        if included:
            found = np.int64(work.depth[state])
        state = np.int64(work.parent[state])
    return found


@inlined
def enter_inside(registers, inner, seen, label):
    """Let a split state wait, as `enter` does."""
    visited = registers[Reg.VISITED]
    status = enter(registers, inner, seen, label)
    entered = registers[Reg.VISITED] - visited
    registers[Reg.RED_VISITS] += entered
    registers[Reg.INNER_DEPTH] += entered
    return status


@inlined
def begin_inside(tables, splits, seen, registers, outer, inner):
    """Test the current state, and begin an inner search in it; returns a Status."""
    rows = outer.rows
    row = outer.at[At.CURRENT]
    if has_local_cycle(tables, rows, row) and meets(
        tables, tables.accepting, rows, row
    ):
        registers[Reg.CLOSING] = Closing.LOCAL
        return Status.FOUND
    if meets(tables, tables.references, rows, row):
        write_root(tables, splits, rows, row, inner.fresh)
        status = enter_inside(registers, inner, seen, -1)
        registers[Reg.INNER_ROOTS] += registers[Reg.INNER_DEPTH]
        return status
    return Status.RUNNING


@inlined
def look_outside(tables, splits, visited, seen, registers, outer, inner):
    """Take one step outside: choose a state, begin an inner search, follow one label.

    Returns a Status, RUNNING to go on.
    """
    at = outer.at
    if at[At.CURRENT] < 0:
        if not take(outer):
            return Status.EMPTY
        if is_superseded(outer, visited):
            leave(outer, registers[Reg.STACK_TEST] != 0)
        return Status.RUNNING
    label = at[At.LABEL]
    if label == tables.first_part.shape[0] - 1:
        leave(outer, registers[Reg.STACK_TEST] != 0)
        return Status.RUNNING
    status = Status.RUNNING
    if label < 0:
        status = begin_inside(tables, splits, seen, registers, outer, inner)
        depth = np.int64(outer.depth[outer.state[at[At.CURRENT]]])
        registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)
    elif is_enabled(tables, outer.rows, at[At.CURRENT], label):
        united = write_successor(
            tables, outer.rows, at[At.CURRENT], label, outer.fresh, 0
        )
        registers[Reg.UNITED] += united
        status = enter(registers, outer, visited, label)
        registers[Reg.TRANSITIONS] += status == Status.RUNNING
    if status == Status.RUNNING:
        at[At.LABEL] = label + 1
    return status


@inlined
def look_inside(tables, splits, seen, registers, outer, inner, overall):
    """Take one step inside: choose a state, follow one label; returns a Status."""
    at = inner.at
    if at[At.CURRENT] < 0:
        take(inner)
        at[At.LABEL] = 0
        if is_superseded(inner, seen):
            registers[Reg.INNER_DEPTH] -= 1
            leave(inner, False)
        return Status.RUNNING
    label = at[At.LABEL]
    if label == tables.first_part.shape[0] - 1:
        registers[Reg.INNER_DEPTH] -= 1
        leave(inner, False)
        return Status.RUNNING
    at[At.LABEL] = label + 1
    row = at[At.CURRENT]
    if not write_split_successor(tables, splits, inner.rows, row, label, inner.fresh):
        return Status.RUNNING
    registers[Reg.TRANSITIONS] += 1
    if closes_cycle(tables, splits, inner.fresh):
        registers[Reg.CLOSING] = Closing.REFERENCES
        return Status.FOUND
    if registers[Reg.STACK_TEST] != 0:
        write_overall(tables, splits, inner.fresh, overall)
        place = dominated_before(outer, overall)
        if place >= 0:
            registers[Reg.CLOSING] = Closing.STACK
            registers[Reg.RED_BASE] = place
            return Status.FOUND
    status = enter_inside(registers, inner, seen, label)
    if status != Status.RUNNING:
        at[At.LABEL] = label  # the call can be repeated
        registers[Reg.TRANSITIONS] -= 1
    return status


@njit
def ndfs_step(tables, splits, visited, seen, registers, outer, inner, overall, budget):
    """Advance the nested search by at most `budget` >= 1 steps.

    visited, seen : Boxes, the decoupled and the split states; outer, inner : Worklist;
    overall : uint64[1, w], room for a decoupled state.  All are changed in place.
    Returns a Status; after FOUND ``registers[Reg.CLOSING]`` is a Closing, and the
    current states of the worklists are where the run has got to.
    """
    while budget > 0:
        if (
            is_full(outer)
            or is_full(inner)
            or not has_room(visited.visited, visited.known)
            or not has_room(seen.visited, seen.known)
        ):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        if registers[Reg.INNER_DEPTH] > 0:
            status = look_inside(tables, splits, seen, registers, outer, inner, overall)
        else:
            status = look_outside(
                tables, splits, visited, seen, registers, outer, inner
            )
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class DecoupledNDFS(DecoupledSearch):
    """The search of Gnad et al. 2021, Fig. 7, as the driver takes it.

    With `stack_test` the test of Lemma 1 is made, too.  `visited` has the decoupled
    states, `seen` the split ones of all inner searches so far.
    """

    def __init__(self, network: DecoupledNetwork, *, stack_test: bool = False) -> None:
        super().__init__(network)
        self.splits, n_split_words = split_tables(network)
        self.registers[Reg.STACK_TEST] = stack_test
        n_words = len(network.initial)
        self.seen = VisitedSets(n_split_words)
        self.members = MemberTable(blocks_of(network), n_words)
        self.pairs = MemberTable(split_blocks(network, self.splits), n_split_words)
        self.outer, self.inner = new_worklist(n_words), new_worklist(n_split_words)
        self.overall = np.zeros((1, n_words), dtype=np.uint64)
        self.outer.fresh[0] = network.initial
        begin(self.outer)

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        return ndfs_step, (
            self.network.tables,
            self.splits,
            Boxes(self.visited.arrays, self.visited.registers, self.members.arrays),
            Boxes(self.seen.arrays, self.seen.registers, self.pairs.arrays),
            self.registers,
            self.outer,
            self.inner,
            self.overall,
            budget,
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        tables = (
            self.members.arrays,
            self.pairs.arrays,
            self.network.tables,
            self.splits,
        )
        other = total_bytes((self.outer, self.inner, tables))
        return other + self.visited.memory_bytes + self.seen.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        for work in (self.outer, self.inner):
            lengthen_worklist(work, lambda: limit_bytes - self.memory_bytes)
        for table, rows in ((self.members, self.visited), (self.pairs, self.seen)):
            if rows.n_stored >= TABLE_FROM:
                table.allocate(limit_bytes - self.memory_bytes)
            table.grow(limit_bytes - self.memory_bytes)
            yield from rows.grow(limit_bytes - self.memory_bytes)

    def trace(self) -> Job[GlobalTrace]:
        """Return the labels of the run that was found; after FOUND."""
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)
        names = self.network.labels
        top = self.outer.rows[self.outer.at[At.CURRENT]]
        outer = names[labels_to_current(self.outer)].tolist()
        closing = Closing(self.registers[Reg.CLOSING])
        if closing == Closing.LOCAL:
            return GlobalTrace(outer, [], top, returns=True)
        inner = [*labels_to_current(self.inner), int(self.inner.at[At.LABEL]) - 1]
        cycle = names[inner].tolist()
        if self.network.marks.shape[1] == 0:  # all accept where it began
            cycle = [-1, *cycle]
        if closing == Closing.STACK:
            cycle += outer[int(self.registers[Reg.RED_BASE]) :]
        return GlobalTrace(outer, cycle, top, returns=True)

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned, and how it was found."""
        inner = {f"split_{k}": n for k, n in self.seen.statistics().items()}
        n_split = int(self.registers[Reg.RED_VISITS])
        return {
            "decoupled_states": int(self.registers[Reg.VISITED]) - n_split,
            "split_states": n_split,
            "inner_searches": int(self.registers[Reg.INNER_ROOTS]),
            **self.visited.statistics(),
            **inner,
        }

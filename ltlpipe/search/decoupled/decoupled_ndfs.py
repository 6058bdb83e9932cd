"""Nested depth-first search in the decoupled composition.

Decides whether a composition of Büchi automata has a run that visits, infinitely often,
a state in which all components accept.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Fig. 7.

Differences from the source:

- Dominance of split states is that of `ltlpipe.search.decoupled.splits`.
- An inner search begins when its state is entered, and not when it is left: a cycle is
  reported as soon as its accepting state is known.  References are compared, so no
  inner search relies on those that came before (docs/decoupled.md, section 6).
- The root of an inner search is a visited split state, and there is no inner search if
  another dominates it.  A split state is tested for a cycle before it is looked up.
- States are left out if visited ones cover them together (`members`).
- The test of Lemma 1 is an option; the state at which the inner search began is on the
  stack then.

Invariants: those of `dominance` and `members`, for decoupled and for split states.

Cost: that of `tables`, `splits`, `dominance` and `members`, and a row per state on each
stack.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.decoupled.composition import (
    DecoupledSearch,
    is_enabled,
    write_successor,
)
from ltlpipe.search.decoupled.dominance import VisitedSets, has_room
from ltlpipe.search.decoupled.lassos import GlobalTrace
from ltlpipe.search.decoupled.members import Boxes, MemberTable, blocks_of
from ltlpipe.search.decoupled.splits import (
    closes_cycle,
    split_blocks,
    split_tables,
    write_overall,
    write_root,
    write_split_successor,
)
from ltlpipe.search.decoupled.stack import dominated_on_stack, enter, new_stack
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import lengthen, total_bytes
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.tables import DecoupledNetwork


TABLE_FROM = 256
"""States that are stored before there is a table of members."""


class Closing(IntEnum):
    """How a cycle was found: ``registers[Reg.CLOSING]`` after FOUND."""

    LOCAL = 0  # internal transitions of one component (CheckLocalAccept)
    REFERENCES = 1  # references reach themselves (Lemma 2)
    STACK = 2  # a state on the stack is dominated (Lemma 1), at Reg.RED_BASE


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
def enter_inside(registers, inner, seen):
    """Go on with a split state, as `enter` does."""
    visited = registers[Reg.VISITED]
    status = enter(registers, Reg.INNER_DEPTH, inner, seen)
    registers[Reg.RED_VISITS] += registers[Reg.VISITED] - visited
    return status


@inlined
def look_outside(tables, splits, visited, seen, registers, path, inner):
    """Take one step of DFS: begin an inner search, follow one label or leave.

    Returns a Status, RUNNING to go on.
    """
    rows = path.rows
    top = registers[Reg.DEPTH] - 1
    label = np.int64(path.cursor[top])
    if label == tables.first_part.shape[0] - 1:
        registers[Reg.DEPTH] = top
        return Status.RUNNING
    if label < 0:
        if has_local_cycle(tables, rows, top) and meets(
            tables, tables.accepting, rows, top
        ):
            registers[Reg.CLOSING] = Closing.LOCAL
            return Status.FOUND
        if meets(tables, tables.references, rows, top):
            write_root(tables, splits, rows, top, inner.fresh)
            status = enter_inside(registers, inner, seen)
            if status != Status.RUNNING:
                return status
            registers[Reg.INNER_ROOTS] += registers[Reg.INNER_DEPTH]
    elif is_enabled(tables, rows, top, label):
        united = write_successor(tables, rows, top, label, path.fresh, 0)
        registers[Reg.UNITED] += united
        status = enter(registers, Reg.DEPTH, path, visited)
        if status != Status.RUNNING:
            return status
        registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
        registers[Reg.TRANSITIONS] += 1
    path.cursor[top] = label + 1
    return Status.RUNNING


@inlined
def look_inside(tables, splits, seen, registers, path, inner, overall):
    """Take one step of NestedDFS: follow one label or leave; returns a Status."""
    top = registers[Reg.INNER_DEPTH] - 1
    label = np.int64(max(inner.cursor[top], 0))
    if label == tables.first_part.shape[0] - 1:
        registers[Reg.INNER_DEPTH] = top
        return Status.RUNNING
    inner.cursor[top] = label + 1
    if not write_split_successor(tables, splits, inner.rows, top, label, inner.fresh):
        return Status.RUNNING
    if closes_cycle(tables, splits, inner.fresh):
        registers[Reg.TRANSITIONS] += 1
        registers[Reg.CLOSING] = Closing.REFERENCES
        return Status.FOUND
    if registers[Reg.STACK_TEST] != 0:
        write_overall(tables, splits, inner.fresh, overall)
        place = dominated_on_stack(path, registers[Reg.DEPTH], overall)
        if place >= 0:
            registers[Reg.TRANSITIONS] += 1
            registers[Reg.CLOSING] = Closing.STACK
            registers[Reg.RED_BASE] = place
            return Status.FOUND
    status = enter_inside(registers, inner, seen)
    if status != Status.RUNNING:
        inner.cursor[top] = label  # the call can be repeated
        return status
    registers[Reg.TRANSITIONS] += 1
    return Status.RUNNING


@njit
def ndfs_step(tables, splits, visited, seen, registers, path, inner, overall, budget):
    """Advance the nested search by at most `budget` >= 1 steps.

    visited, seen : Boxes, the decoupled and the split states; path, inner : Stack;
    overall : uint64[1, w], room for a decoupled state.  All are changed in place.
    Returns a Status; after FOUND ``registers[Reg.CLOSING]`` is a Closing and the stacks
    are the run.
    """
    while budget > 0:
        if registers[Reg.DEPTH] == 0:
            return Status.EMPTY
        if (
            registers[Reg.DEPTH] == path.cursor.shape[0]
            or registers[Reg.INNER_DEPTH] == inner.cursor.shape[0]
            or not has_room(visited.visited, visited.known)
            or not has_room(seen.visited, seen.known)
        ):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        if registers[Reg.INNER_DEPTH] > 0:
            status = look_inside(tables, splits, seen, registers, path, inner, overall)
        else:
            status = look_outside(tables, splits, visited, seen, registers, path, inner)
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
        self.registers[Reg.MAX_DEPTH] = 1
        n_words = len(network.initial)
        self.seen = VisitedSets(n_split_words)
        self.members = MemberTable(blocks_of(network), n_words)
        self.pairs = MemberTable(split_blocks(network, self.splits), n_split_words)
        self.path, self.inner = new_stack(n_words), new_stack(n_split_words)
        self.overall = np.zeros((1, n_words), dtype=np.uint64)
        self.path.rows[0] = network.initial
        self.path.cursor[0] = -1
        self.registers[Reg.DEPTH] = 1

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        return ndfs_step, (
            self.network.tables,
            self.splits,
            Boxes(self.visited.arrays, self.visited.registers, self.members.arrays),
            Boxes(self.seen.arrays, self.seen.registers, self.pairs.arrays),
            self.registers,
            self.path,
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
        other = total_bytes((self.path, self.inner, tables))
        return other + self.visited.memory_bytes + self.seen.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        for stack, register in ((self.path, Reg.DEPTH), (self.inner, Reg.INNER_DEPTH)):
            needed = int(self.registers[register]) + 1
            lengthen(stack[:2], needed, limit_bytes - self.memory_bytes)
        for table, rows in ((self.members, self.visited), (self.pairs, self.seen)):
            if rows.n_stored >= TABLE_FROM:
                table.allocate(limit_bytes - self.memory_bytes)
            yield from rows.grow(limit_bytes - self.memory_bytes)

    def trace(self) -> Job[GlobalTrace]:
        """Return the labels of the run that was found; after FOUND."""
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)
        names = self.network.labels
        depth, inner_depth = (
            int(self.registers[r]) for r in (Reg.DEPTH, Reg.INNER_DEPTH)
        )
        top = self.path.rows[depth - 1]
        outer = names[self.path.cursor[: depth - 1] - 1].tolist()
        closing = Closing(self.registers[Reg.CLOSING])
        if closing == Closing.LOCAL:
            return GlobalTrace(outer, [], top, returns=True)
        cycle = names[self.inner.cursor[:inner_depth] - 1].tolist()
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

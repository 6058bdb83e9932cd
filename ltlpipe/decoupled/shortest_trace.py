"""The fewest global labels from one decoupled state to one that has given members.

A depth-first search finds runs as long as its path.  Whether a composed state can be
reached does not depend on references: a breadth-first search with dominance pruning
finds a shortest global trace to it (Theorem 1 and docs/decoupled.md, Lemma 2).

Source: none; D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, has the states.

Invariants: those of `dominance`; states are in the order of their distance, so that the
visited states are the queue.

Cost: that of `dominance`, and 8 bytes per state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    is_enabled,
    write_successor,
)
from ltlpipe.decoupled.dominance import add_row, find_dominating, has_room
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.driver import EXTRACTING, advance
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.decoupled.tables import DecoupledNetwork
    from ltlpipe.runtime.jobs import Job

MOST_STATES = 100_000
"""States of a search for a shorter trace, before the longer one is taken."""


class Origins(NamedTuple):
    """Where n visited states come from."""

    parent: np.ndarray  # int32[n], a visited state
    label: np.ndarray  # int32[n], the label that leads from there


@njit
def breadth_step(tables, visited, known, registers, origins, goal, fresh, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited (Visited) with its registers `known`, `registers` and origins (Origins) are
    changed in place; goal : uint64[1, n_words]; fresh : uint64[1, n_words], room for a
    row.  ``registers[Reg.DEPTH]`` is the state that is expanded and
    ``registers[Reg.TOP]`` its next label; after FOUND the last one that was taken.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = visited.store.rows
    while budget > 0:
        src = registers[Reg.DEPTH]
        label = registers[Reg.TOP]
        if src == known[Reg.STORED]:
            return Status.EMPTY
        if not has_room(visited, known):
            return Status.GROW
        if label == n_labels:
            registers[Reg.DEPTH] = src + 1
            registers[Reg.TOP] = 0
            continue
        budget -= 1
        if is_enabled(tables, rows, src, label):
            united = write_successor(tables, rows, src, label, fresh, 0)
            registers[Reg.UNITED] += united
            reached = True
            for w in range(goal.shape[1]):
                reached &= goal[0, w] & ~fresh[0, w] == 0
            if reached:
                return Status.FOUND
            if find_dominating(visited, known, fresh, 0) < 0:
                if at_limit(registers):
                    return Status.LIMIT
                registers[Reg.VISITED] += 1
                state = add_row(visited, known, fresh, 0)
                origins.parent[state] = src
                origins.label[state] = label
        registers[Reg.TOP] = label + 1
    return Status.RUNNING


class Breadth(DecoupledSearch):
    """The search from one row to another (uint64[n_words]), by one label or more."""

    def __init__(
        self, network: DecoupledNetwork, start: np.ndarray, goal: np.ndarray
    ) -> None:
        super().__init__(network, start)
        n_rows = self.visited.arrays.store.rows.shape[0]
        self.origins = Origins(
            parent=np.zeros(n_rows, dtype=np.int32),
            label=np.zeros(n_rows, dtype=np.int32),
        )
        self.goal = goal[np.newaxis].copy()
        self.fresh = np.zeros_like(self.goal)

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        return breadth_step, (
            self.network.tables,
            self.visited.arrays,
            self.visited.registers,
            self.registers,
            self.origins,
            self.goal,
            self.fresh,
            budget,
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        return total_bytes(self.origins) + self.visited.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from self.visited.grow(limit_bytes - self.memory_bytes)
        for array in self.origins:
            array.resize(self.visited.arrays.store.rows.shape[0], refcheck=False)

    def labels(self) -> list[int]:
        """Return the labels on the way to the goal; after FOUND."""
        way = [int(self.registers[Reg.TOP])]
        state = int(self.registers[Reg.DEPTH])
        while state > 0:
            way.append(int(self.origins.label[state]))
            state = int(self.origins.parent[state])
        return way[::-1]


def shortest_trace(
    network: DecoupledNetwork,
    start: np.ndarray,
    members: Sequence[int],
) -> Job[list[int] | None]:
    """Return a shortest global trace from a row to a composed state, as actions.

    `members` are a local state of each component, and of the monitor if there is one;
    -1 - j stands for acceptor j.  None if `MOST_STATES` or memory were not enough.
    """
    search = Breadth(network, start, network.pack(members))
    outcome = yield from advance(
        search,
        max_states=MOST_STATES,
        phase=EXTRACTING,
        held_bytes=total_bytes(network.tables),
    )
    if outcome.status != Status.FOUND:
        return None
    return [int(action) for action in network.labels[search.labels()]]

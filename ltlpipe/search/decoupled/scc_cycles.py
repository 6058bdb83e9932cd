"""An accepting cycle of an SCC of decoupled states, by its labels.

The states of the SCC are stored, its transitions are not: they are computed again, from
the states that a breadth-first search meets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.decoupled.composition import is_enabled, write_successor
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import find, hash_row

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.dominance import VisitedSets
    from ltlpipe.search.decoupled.tables import DecoupledNetwork


@njit
def write_targets(tables, store, known, state, fresh, targets):
    """Write to ``targets[label]`` where labels lead from a state, or -1.

    fresh : uint64[1, n_words], room for a row; targets : int64[n_labels].
    """
    rows = store.rows
    for label in range(targets.shape[0]):
        targets[label] = -1
        if is_enabled(tables, rows, state, label):
            write_successor(tables, rows, state, label, fresh, 0)
            id_bits = np.uint64(known[Reg.ID_BITS])
            mixed = hash_row(fresh, 0)
            _, targets[label] = find(store.slots, rows, fresh, 0, mixed, id_bits)


class _Edges:
    """The transitions of one SCC.

    Parameters
    ----------
    network : DecoupledNetwork
        With a monitor.
    visited : VisitedSets
        The states of the SCC and others.
    number : int32[n]
        Of each state; those of the SCC are not less than that of `start`.
    start : int
        A state of the SCC.
    ticks : Ticks
        When to yield.
    """

    def __init__(
        self,
        network: DecoupledNetwork,
        visited: VisitedSets,
        number: np.ndarray,
        start: int,
        ticks: Ticks,
    ) -> None:
        self._ticks = ticks
        self._network = network
        self._visited = visited
        self._number = number
        self._least = number[start]
        self._fresh = np.zeros((1, len(network.initial)), dtype=np.uint64)
        self._targets = np.zeros(len(network.labels), dtype=np.int64)

    def leaving(self, state: int) -> list[tuple[int, int, int]]:
        """Return (label, target, marks) of the transitions from a state."""
        visited = self._visited
        write_targets(
            self._network.tables,
            visited.arrays.store,
            visited.registers,
            state,
            self._fresh,
            self._targets,
        )
        row = visited.arrays.store.rows[state]
        (watching,) = self._network.unpack(row)[-1]
        return [
            (label, target, int(self._network.marks[label, watching]))
            for label, target in enumerate(self._targets.tolist())
            if target >= 0 and self._number[target] >= self._least
        ]

    def way(
        self, src: int, *, wanted: int = 0, goal: int = -1
    ) -> Job[tuple[list[int], int, int]]:
        """Return labels up to a transition with a wanted mark, or to the goal.

        Its target and its marks are returned, too.
        """
        came: dict[int, tuple[int, int]] = {}
        frontier = [src]
        n_labels = len(self._network.labels)
        for state in frontier:  # grows while it is read
            if self._ticks.over(10 + n_labels):
                yield self._ticks.progress
            for label, target, marks in self.leaving(state):
                if target == goal or marks & wanted:
                    labels = [label]
                    while state != src:
                        state, label = came[state]
                        labels.append(label)
                    return labels[::-1], target, marks
                if target not in came and target != src:
                    came[target] = (state, label)
                    frontier.append(target)
        raise RuntimeError("the search reported a cycle that is not there")


def accepting_cycle(
    network: DecoupledNetwork,
    visited: VisitedSets,
    number: np.ndarray,
    start: int,
    memory_bytes: float = 0,
) -> Job[list[int]]:
    """Return the labels of a cycle through `start` with all marks.

    Parameters
    ----------
    network : DecoupledNetwork
        With a monitor.
    visited : VisitedSets
        The states of the SCC and others.
    number : int32[n]
        Of each state; those of the SCC are not less than that of `start`.
    start : int
        The root of the SCC.
    memory_bytes : float
        What the search holds.

    Returns
    -------
    list of int
        Indices of labels.
    """
    ticks = Ticks(EXTRACTING, memory_bytes=memory_bytes)
    edges = _Edges(network, visited, number, start, ticks)
    cycle: list[int] = []
    state = start
    missing = (1 << network.n_marks) - 1
    while missing:
        labels, state, marks = yield from edges.way(state, wanted=missing)
        cycle += labels
        missing &= ~marks
    if state != start or not cycle:
        labels, _, _ = yield from edges.way(state, goal=start)
        cycle += labels
    return cycle

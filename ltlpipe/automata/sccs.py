"""Strongly connected components of small graphs, as Python lists.

Source: R. E. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM
Journal on Computing 1 (1972), pp. 146-160.

Differences from the source: an explicit stack, and the transitions that close a
cycle of the search are returned, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Step(NamedTuple):
    """A transition without its letter."""

    src: int
    dst: int
    marks: int


class Decomposition(NamedTuple):
    """The SCCs of a part of a graph; transitions are given by their indices."""

    inside: list[list[int]]  # the transitions of each SCC that has any, ascending
    back: frozenset[int]  # those that close a cycle of the search: all cycles have one


def decompose(
    steps: Sequence[Step], chosen: Iterable[int], starts: Iterable[int]
) -> Decomposition:
    """Decompose what some of all transitions, `chosen` by index, reach from states."""
    leaving: dict[int, list[int]] = {}
    for index in chosen:
        leaving.setdefault(steps[index].src, []).append(index)
    search = _Search(steps, leaving)
    for state in starts:
        search.run(state)
    inside: dict[int, list[int]] = {}
    for state, indices in leaving.items():
        for index in indices:
            scc = search.scc.get(state)
            if scc is not None and scc == search.scc[steps[index].dst]:
                inside.setdefault(scc, []).append(index)
    sccs = [sorted(inside[scc]) for scc in sorted(inside)]
    return Decomposition(sccs, frozenset(search.back))


class _Search:
    """Tarjan's algorithm, over transitions given by index."""

    def __init__(self, steps: Sequence[Step], leaving: dict[int, list[int]]) -> None:
        self.steps = steps
        self.leaving = leaving
        self.number: dict[int, int] = {}  # in the order of first visits
        self.lowlink: dict[int, int] = {}
        self.scc: dict[int, int] = {}  # of states whose SCC is complete
        self.live: list[int] = []  # states of SCCs that are not complete
        self.path: set[int] = set()
        self.back: list[int] = []

    def run(self, start: int) -> None:
        """Visit what can be reached from `start`."""
        if start in self.number:
            return
        stack = [(start, self._enter(start))]
        while stack:
            state, rest = stack[-1]
            for index in rest:
                dst = self.steps[index].dst
                if dst not in self.number:
                    stack.append((dst, self._enter(dst)))
                    break
                if dst in self.path:
                    self.back.append(index)
                if dst not in self.scc:
                    self.lowlink[state] = min(self.lowlink[state], self.number[dst])
            else:
                stack.pop()
                self._leave(state)
                if stack:
                    above = stack[-1][0]
                    self.lowlink[above] = min(self.lowlink[above], self.lowlink[state])

    def _enter(self, state: int) -> Iterable[int]:
        self.number[state] = self.lowlink[state] = len(self.number)
        self.live.append(state)
        self.path.add(state)
        return iter(self.leaving.get(state, ()))

    def _leave(self, state: int) -> None:
        self.path.remove(state)
        if self.lowlink[state] == self.number[state]:
            number = len(self.scc)
            while True:
                member = self.live.pop()
                self.scc[member] = number
                if member == state:
                    return

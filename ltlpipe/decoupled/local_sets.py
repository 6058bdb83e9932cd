"""The sets of one component's local states: closures, and images of labels.

Sets are Python integers whose bit k is the k-th local state.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3.

Differences from the source: those of `tables`.

Cost: one union of sets per transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.decoupled.tables import WORD_BITS
from ltlpipe.runtime.jobs import MEMORY, StoppedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.networks.lts import LTS

_BITS_PER_UNIT = 1 << 15
"""Bits of a set that are united with others in about a microsecond."""


class LocalSets:
    """The sets of a component of some local states (ascending), as integers.

    Attributes
    ----------
    closure : list of int
        What each local state reaches by internal transitions.
    images : dict of str to dict of int to int
        By global label, where each local state that has it gets to.
    accepting, looping, references : int
        See `Decoupled`.
    """

    def __init__(self, lts: LTS, states: np.ndarray) -> None:
        self._lts = lts
        self._index = {s: k for k, s in enumerate(states.tolist())}
        self.size = len(states)
        self.initial = self._index[lts.initial]
        flags = lts.accepting
        accepts = np.ones(self.size, dtype=np.bool_) if flags is None else flags[states]
        self.accepting = self.references = bits_of(accepts)
        self._accepting = np.flatnonzero(accepts).tolist()
        self.looping = 0
        self.closure: list[int] = []
        self.images: dict[str, dict[int, int]] = {}

    def tabulate(self, global_labels: frozenset[str], ticks: Ticks) -> Job[None]:
        """Compute the sets; `StoppedError` if they would exceed the memory granted."""
        index = self._index
        internal: list[list[int]] = [[] for _ in index]
        steps: dict[str, dict[int, list[int]]] = {}
        for src, label, dst in self._lts.transitions():
            if ticks.over():
                yield ticks.progress
            if src not in index:
                continue
            if label in global_labels:
                targets = steps.setdefault(label, {})
                targets.setdefault(index[src], []).append(index[dst])
            else:
                internal[index[src]].append(index[dst])
        sccs = yield from _sccs(internal, ticks)
        n_images = sum(map(len, steps.values()))
        grant = yield ticks.progress
        ticks.memory_bytes += self._bytes(len(sccs), n_images, len(steps))
        if ticks.memory_bytes > grant.memory_bytes:
            raise StoppedError(MEMORY)
        yield from self._close(internal, sccs, ticks)
        for label, targets in steps.items():
            image = self.images[label] = {}
            for src, dsts in targets.items():
                image[src] = self._closed(dsts)
                if ticks.over(len(dsts) * self._union_work):
                    yield ticks.progress
        self.accepting_closures = {k: self.closure[k] for k in self._accepting}
        """What is reached from the accepting states: the image of an acceptor."""

    @property
    def _union_work(self) -> float:
        """Units of work of a union of two sets."""
        return 1 + self.size / _BITS_PER_UNIT

    def _bytes(self, n_sccs: int, n_images: int, n_labels: int) -> int:
        """Estimate the bytes of all sets, as integers and as words, and their places.

        All states of an SCC have one closure.
        """
        n_words = -(-self.size // WORD_BITS)
        sets = 2 * 8 * n_words * (n_sccs + n_images)
        return sets + 2 * 8 * WORD_BITS * n_words * (n_labels + 1)

    def _close(
        self, internal: list[list[int]], sccs: list[list[int]], ticks: Ticks
    ) -> Job[None]:
        """Compute closures SCC by SCC, each after those that it leads to."""
        self.closure = [0] * self.size
        looping = np.zeros(self.size, dtype=np.bool_)
        for scc in sccs:
            if len(scc) == 1:
                closed = 1 << scc[0]
                looping[scc] = scc[0] in internal[scc[0]]
            else:
                inside = np.zeros(self.size, dtype=np.bool_)
                inside[scc] = looping[scc] = True
                closed = bits_of(inside)
            for state in scc:
                for dst in internal[state]:  # 0 as long as it is one of this SCC
                    closed |= self.closure[dst]
                if ticks.over(1 + len(internal[state]) * self._union_work):
                    yield ticks.progress
            for state in scc:
                self.closure[state] = closed
        self.looping = self.accepting & bits_of(looping)

    def _closed(self, states: list[int]) -> int:
        union = self.closure[states[0]]  # the same object, where there is one
        for state in states[1:]:
            union |= self.closure[state]
        return union


def _sccs(successors: list[list[int]], ticks: Ticks) -> Job[list[list[int]]]:
    """Return the SCCs of a graph, each after those that it leads to (Tarjan 1972)."""
    n = len(successors)
    lowlink = [-1] * n  # -1 unknown; n: its SCC is complete
    place = [0] * n  # on the stack of states whose SCC is not complete
    cursor = [0] * n
    current: list[int] = []
    sccs: list[list[int]] = []
    for start in range(n):
        path = [start] if lowlink[start] < 0 else []
        while path:
            if ticks.over():
                yield ticks.progress
            state = path[-1]
            if lowlink[state] < 0:
                lowlink[state] = place[state] = len(current)
                current.append(state)
            if cursor[state] < len(successors[state]):
                dst = successors[state][cursor[state]]
                if lowlink[dst] < 0:
                    path.append(dst)  # and the transition is looked at again
                    continue
                lowlink[state] = min(lowlink[state], lowlink[dst])
                cursor[state] += 1
                continue
            path.pop()
            if lowlink[state] == place[state]:
                scc = current[place[state] :]
                del current[place[state] :]
                sccs.append(scc)
                for member in scc:
                    lowlink[member] = n
    return sccs


def set_of(states: Iterable[int]) -> int:
    """Return the integer with these bits."""
    chosen = list(states)
    flags = np.zeros(max(chosen, default=-1) + 1, dtype=np.bool_)
    flags[chosen] = True
    return bits_of(flags)


def bits_of(flags: np.ndarray) -> int:
    """Return the integer whose bit k is the k-th of bool[n]."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

"""Coloured graphs, whose automorphisms are found by a library.

Source: T. Junttila and P. Kaski, "Engineering an Efficient Canonical Labeling Tool for
Large and Sparse Graphs", ALENEX 2007 (bliss, which igraph contains).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ltlpipe.runtime.jobs import Job

PHASE = "finding automorphisms"


class ColouredGraph:
    """An undirected graph whose vertices have colours."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.colours: list[int] = []
        self._ends: list[int] = []  # of one edge after the other

    def add(self, colour: Hashable, *neighbours: int) -> int:
        """Add a vertex with edges to others; return its number."""
        number = len(self.colours)
        self.colours.append(self._numbers.setdefault(colour, len(self._numbers)))
        for neighbour in neighbours:
            self._ends += number, neighbour
        return number

    def add_alike(self, colour: Hashable, neighbours: np.ndarray) -> None:
        """Add vertices of one colour, each with edges to those of a row, int[n, k]."""
        n, k = neighbours.shape
        numbers = np.repeat(np.arange(len(self.colours), len(self.colours) + n), k)
        self.colours += [self._numbers.setdefault(colour, len(self._numbers))] * n
        self._ends += np.stack([numbers, neighbours.ravel()], axis=1).ravel().tolist()

    def join(self, first: int, second: int) -> None:
        """Add an edge, unless it is there."""
        self._ends += first, second

    def _edges(self) -> np.ndarray:
        """Return the edges, int32[m, 2], each once."""
        ends = np.sort(np.array(self._ends, dtype=np.int64).reshape(-1, 2), axis=1)
        n = max(len(self.colours), 1)
        once = np.unique(ends[:, 0] * n + ends[:, 1])
        return np.stack([once // n, once % n], axis=1).astype(np.int32)

    def automorphisms(self, n_points: int) -> Job[np.ndarray]:
        """Return generators of what automorphisms make of the first vertices.

        Returns
        -------
        int32[n, n_points]
            Where each takes them; the first vertices are taken to each other.
        """
        found: Any = yield from workers.call(
            "automorphisms",
            phase=PHASE,
            subject="igraph",
            colours=np.array(self.colours, dtype=np.int32),
            edges=self._edges(),
            n_points=n_points,
        )
        generators: np.ndarray = np.asarray(found).reshape(len(found), n_points)
        moving = (generators != np.arange(n_points)).any(axis=1)
        own: np.ndarray = generators[moving].astype(np.int32)
        return own


def find_generators(
    colours: np.ndarray, edges: np.ndarray, n_points: int
) -> np.ndarray:
    """Return what `ColouredGraph.automorphisms` asks a worker for."""
    from igraph import Graph

    graph = Graph(n=len(colours), edges=edges.tolist())
    found = graph.automorphism_group(color=colours.tolist())
    points = [generator[:n_points] for generator in found]
    return np.array(points, dtype=np.int32).reshape(len(found), n_points)

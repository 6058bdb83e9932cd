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
        self._edges: set[tuple[int, int]] = set()

    def add(self, colour: Hashable, *neighbours: int) -> int:
        """Add a vertex with edges to others; return its number."""
        number = len(self.colours)
        self.colours.append(self._numbers.setdefault(colour, len(self._numbers)))
        for neighbour in neighbours:
            self.join(number, neighbour)
        return number

    def join(self, first: int, second: int) -> None:
        """Add an edge, unless it is there."""
        self._edges.add((min(first, second), max(first, second)))

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
            edges=np.array(sorted(self._edges), dtype=np.int32).reshape(-1, 2),
            n_points=n_points,
        )
        generators: np.ndarray = np.asarray(found).reshape(-1, n_points)
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
    return np.array(points, dtype=np.int32).reshape(-1, n_points)

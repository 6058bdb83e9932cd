"""Coloured graphs, whose automorphisms are found by a library.

Source: T. Junttila and P. Kaski, "Engineering an Efficient Canonical Labeling Tool for
Large and Sparse Graphs", ALENEX 2007 (bliss, which igraph contains).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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

    def extensions(
        self, fixed: Sequence[int], images: np.ndarray, n_points: int
    ) -> Job[list[np.ndarray | None]]:
        """Return automorphisms that take some vertices where they are wanted.

        Parameters
        ----------
        fixed : sequence of int
            Vertices.
        images : int[n, len(fixed)]
            Where to take them: permutations of `fixed`, as places in it.
        n_points : int
            Of how many of the first vertices is told where they are taken.

        Returns
        -------
        list of int32[n_points] or None
            One automorphism for each permutation, None if there is none.
        """
        own = np.array(self.colours, dtype=np.int32)
        found: Any = yield from workers.call(
            "extend permutations",
            phase=PHASE,
            subject="igraph",
            colours=own,
            edges=self._edges(),
            fixed=np.array(fixed, dtype=np.int32),
            images=images.astype(np.int32),
        )
        rows = np.asarray(found).reshape(len(images), len(own))
        return [None if row[0] < 0 else row[:n_points].astype(np.int32) for row in rows]

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


def extend_permutations(
    colours: np.ndarray, edges: np.ndarray, fixed: np.ndarray, images: np.ndarray
) -> np.ndarray:
    """Return what `ColouredGraph.extensions` asks a worker for; -1 for None.

    With each of `fixed` in a colour of its own the graph has a canonical form.  If that
    is the same with the colours moved along by a permutation, the one way to the form
    and the other one back are an automorphism.
    """
    from igraph import Graph

    graph = Graph(n=len(colours), edges=edges.tolist())
    own_colours = int(colours.max(initial=0)) + 1 + np.arange(len(fixed))

    def labelled(at: np.ndarray) -> np.ndarray:
        """Return the canonical labelling, with the own colours at vertices."""
        marked = colours.copy()
        marked[at] = own_colours
        way = graph.canonical_permutation(color=marked.tolist())
        return np.array(way, dtype=np.int64)

    def sorted_edges(mapping: np.ndarray) -> np.ndarray:
        moved = np.sort(mapping[edges], axis=1)
        return np.sort(moved[:, 0] * len(colours) + moved[:, 1])

    first = labelled(fixed)
    known = sorted_edges(np.arange(len(colours)))
    found = np.full((len(images), len(colours)), -1, dtype=np.int64)
    for row, image in zip(found, images, strict=True):
        other = labelled(fixed[image])
        # Versions of igraph disagree on whether labels are of vertices or vertices of
        # labels; the wrong way does not pass.
        for mapping in (other[np.argsort(first)], np.argsort(other)[first]):
            if (
                np.array_equal(mapping[fixed], fixed[image])
                and np.array_equal(colours[mapping], colours)
                and np.array_equal(sorted_edges(mapping), known)
            ):
                row[:] = mapping
    return found

"""Colour refinement: nodes that see different colours get different ones.

A colour is a number that depends on what is seen alone, never on the order of the
nodes, so colours of two structures can be compared, or of two ways to colour one.
Equal colours after different histories are as unlikely as a collision of random
numbers of 64 bits; nothing rests on it, since a symmetry is verified when found.

Source: C. Berkholz, P. Bonsma and M. Grohe, "Tight Lower and Upper Bounds for the
Complexity of Canonical Colour Refinement", Theory of Computing Systems 60, 2017,
pp. 581-614, Sec. 2.

Differences from the source: rounds refine all colours at once instead of splitting
cell by cell, and tuples of nodes take the place of edges.  A round takes time linear
in the tuples, but there may be as many rounds as nodes: `Effort` limits them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import comparing
from ltlpipe.symmetry.classes.structure import Structure, mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Job

# Odd numbers, so that multiplying loses nothing; one for each place of a tuple.
_SEEN = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
)
_TOLD = np.array(
    [0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB], dtype=np.uint64
)
_KEPT = np.uint64(0x8EBC6AF09C88C6E3)
_SINGLED_OUT = np.uint64(0x589965CC75374CC3)
_ENTRIES_AT_ONCE = 1 << 18


class SpentError(Exception):
    """The work that a search for symmetry may do is done."""


class Effort:
    """How many more tuples may be looked at; None means no limit."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit

    def spend(self, amount: int) -> None:
        """Count work that is to be done now; `SpentError` if it is too much."""
        if self._left is not None:
            self._left -= amount
            if self._left < 0:
                raise SpentError


def refined(
    structure: Structure,
    colours: np.ndarray,
    effort: Effort,
    *,
    alike: bool = False,
    look: Callable[[np.ndarray], bool] | None = None,
) -> Job[np.ndarray | None]:
    """Refine several colourings, uint64[k, n], of one structure until they are stable.

    With `alike`, None is returned as soon as not all colourings have the same colours
    equally often.  `look` takes the colourings before each round, and the stable ones,
    and says whether to go on.
    """
    before = -1
    while True:
        ordered = np.sort(colours, axis=1)
        if alike and (ordered[1:] != ordered[0]).any():
            return None
        if look is not None and not look(colours):
            return colours
        now = int((ordered[:, 1:] != ordered[:, :-1]).sum())
        if now == before:
            return colours
        before = now
        effort.spend(len(colours) * (structure.n_tuples + structure.n_nodes))
        yield comparing(colours.size)
        colours = yield from _round(structure, colours)


def _round(structure: Structure, colours: np.ndarray) -> Job[np.ndarray]:
    """Refine once, some colourings at a time."""
    n_rows = max(1, _ENTRIES_AT_ONCE // max(1, 3 * structure.n_tuples))
    done = []
    for begin in range(0, len(colours), n_rows):
        some = yield from _round_of(structure, colours[begin : begin + n_rows])
        done.append(some)
    return np.concatenate(done)


def _round_of(structure: Structure, colours: np.ndarray) -> Job[np.ndarray]:
    n_rows, m = len(colours), structure.n_tuples
    progress = comparing(3 * n_rows * m)
    padded = np.concatenate([colours, np.zeros((n_rows, 1), dtype=np.uint64)], axis=1)
    seen = np.take(padded, structure.tuples, axis=1)  # uint64[n_rows, 3, m]
    seen *= _SEEN[:, None]
    yield progress
    told = mixed(seen.sum(axis=1) + structure.weights)
    parts = (told[:, None, :] * _TOLD[:, None]).reshape(n_rows, 3 * m)
    yield progress
    sums = np.zeros((n_rows, 3 * m + 1), dtype=np.uint64)
    np.cumsum(np.take(parts, structure.places, axis=1), axis=1, out=sums[:, 1:])
    yield progress
    ends = structure.ends
    # Differences of sums that overflow are right, as long as they overflow alike.
    heard = np.take(sums, ends[1:], axis=1) - np.take(sums, ends[:-1], axis=1)
    return mixed(colours * _KEPT + heard)


def single_out(colours: np.ndarray, node: int, rank: int) -> None:
    """Give a node of a colouring, uint64[n], a colour of its own, in place.

    Nodes of equal colour that get equal ranks keep equal colours.
    """
    colours[node] = _marked(colours[node : node + 1], np.array([rank]))[0]


def single_out_each(colours: np.ndarray, nodes: np.ndarray) -> None:
    """Give each of some nodes (int64[m]) a colour of its own in all rows, in place."""
    colours[:, nodes] = _marked(colours[:, nodes], nodes + 2)


def _marked(colours: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    return mixed(colours + ranks.astype(np.uint64) * _SINGLED_OUT)

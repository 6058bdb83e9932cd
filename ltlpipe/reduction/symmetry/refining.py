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

from ltlpipe.reduction.symmetry.structure import Structure, mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Odd numbers, so that multiplying loses nothing; one for each place of a tuple.
_SEEN = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
)
_TOLD = np.array(
    [0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB], dtype=np.uint64
)
_KEPT = np.uint64(0x8EBC6AF09C88C6E3)
_SINGLED_OUT = np.uint64(0x589965CC75374CC3)


class SpentError(Exception):
    """The work that a search for symmetry may do is done."""


class Effort:
    """How much more work may be done.

    Parameters
    ----------
    limit : int, optional
        Tuples that may be looked at; None is no limit.
    stop_in_time : callable, optional
        Called before each round; may raise.
    """

    def __init__(
        self, limit: int | None, stop_in_time: Callable[[], None] | None
    ) -> None:
        self._left = limit
        self._stop_in_time = stop_in_time

    def spend(self, amount: int) -> None:
        """Count work that is to be done now.

        Raises
        ------
        SpentError
            No more may be done.
        """
        if self._stop_in_time is not None:
            self._stop_in_time()
        if self._left is not None:
            self._left -= amount
            if self._left < 0:
                raise SpentError


def refined(
    structure: Structure, colours: np.ndarray, effort: Effort, *, alike: bool = False
) -> np.ndarray | None:
    """Refine several colourings of one structure until they are stable.

    Parameters
    ----------
    structure : Structure
        With n nodes.
    colours : uint64[k, n]
        The colourings; not changed.
    effort : Effort
        What rounds cost.
    alike : bool
        Give up as soon as not all colourings have the same colours equally often.

    Returns
    -------
    uint64[k, n] or None
        None if they are not alike.
    """
    for now, ordered in rounds(structure, colours, effort):
        if alike and (ordered[1:] != ordered[0]).any():
            return None
        colours = now
    return colours


def rounds(
    structure: Structure, colours: np.ndarray, effort: Effort
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield colourings as they are refined, the stable ones last.

    Parameters
    ----------
    structure, colours, effort : Structure, uint64[k, n], Effort
        As `refined` takes them.

    Yields
    ------
    uint64[k, n], uint64[k, n]
        The colourings, and the same with each row ascending.
    """
    before = -1
    while True:
        ordered = np.sort(colours, axis=1)
        yield colours, ordered
        now = int((ordered[:, 1:] != ordered[:, :-1]).sum())
        if now == before:
            return
        before = now
        effort.spend(len(colours) * (structure.n_tuples + structure.n_nodes))
        colours = _round(structure, colours)


def _round(structure: Structure, colours: np.ndarray) -> np.ndarray:
    n_rows, m = len(colours), structure.n_tuples
    padded = np.concatenate([colours, np.zeros((n_rows, 1), dtype=np.uint64)], axis=1)
    seen = np.take(padded, structure.tuples, axis=1)  # uint64[n_rows, 3, m]
    seen *= _SEEN[:, None]
    told = mixed(seen.sum(axis=1) + structure.weights)
    parts = (told[:, None, :] * _TOLD[:, None]).reshape(n_rows, 3 * m)
    sums = np.zeros((n_rows, 3 * m + 1), dtype=np.uint64)
    np.cumsum(np.take(parts, structure.places, axis=1), axis=1, out=sums[:, 1:])
    ends = structure.ends
    # Differences of sums that overflow are right, as long as they overflow alike.
    heard = np.take(sums, ends[1:], axis=1) - np.take(sums, ends[:-1], axis=1)
    return mixed(colours * _KEPT + heard)


def single_out(colours: np.ndarray, node: int, rank: int) -> None:
    """Give a node of a colouring a colour that only equal ranks share, in place.

    Parameters
    ----------
    colours : uint64[n]
        Changed.
    node : int
        Which node.
    rank : int
        Nodes of equal colour that get equal ranks keep equal colours.
    """
    colours[node] = _marked(colours[node : node + 1], np.array([rank]))[0]


def single_out_each(colours: np.ndarray, nodes: np.ndarray) -> None:
    """Give each of these nodes a colour of its own, in place; the same in all rows.

    Parameters
    ----------
    colours : uint64[k, n]
        Changed.
    nodes : int64[m]
        Which nodes.
    """
    colours[:, nodes] = _marked(colours[:, nodes], nodes + 2)


def _marked(colours: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    return mixed(colours + ranks.astype(np.uint64) * _SINGLED_OUT)

"""One swap: an automorphism that exchanges two components and fixes what it can.

The network is coloured twice, with the colours of the two components exchanged in the
second, and both colourings are refined together.  Nodes of equal colours correspond;
where several have a colour, those that can stay do, and the others follow in the
order of their numbers, or, if that is no automorphism, are singled out one by one.

Source: B. D. McKay and A. Piperno, "Practical Graph Isomorphism, II", Journal of
Symbolic Computation 60, 2014, pp. 94-112, Sec. 2 (individualisation and refinement).

Differences from the source: choices are not undone once the colourings agree on them,
so a swap may be missed where refinement sees too little; what is returned has been
verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.symmetry.refining import (
    Effort,
    refined,
    single_out,
    single_out_each,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.reduction.symmetry.structure import Structure


def exchange(
    structure: Structure, stable: np.ndarray, first: int, second: int, effort: Effort
) -> np.ndarray | None:
    """Find an automorphism that exchanges two components.

    The other components stay, if that is possible; otherwise those that need not
    move along do.

    Parameters
    ----------
    structure : Structure
        All of a network, with n nodes.
    stable : uint64[n]
        Its stable colours.
    first, second : int
        The components, of equal colour.
    effort : Effort
        What refining costs.

    Returns
    -------
    int64[n] or None
        Where each node goes; None if there is no such automorphism, or none was found.
    """
    begin = np.stack([stable, stable])
    for row, nodes in zip(begin, [(first, second), (second, first)], strict=True):
        for rank, node in enumerate(nodes):
            single_out(row, node, rank)
    components = np.arange(structure.n_components)
    alike = stable[components] == stable[first]
    alone = begin.copy()
    single_out_each(alone, np.setdiff1d(components, [first, second]))
    rows = refined(structure, alone, effort, alike=True)
    found = None if rows is None else _completed(structure, rows, alike, effort)
    if found is not None:
        return found
    rows = refined(structure, begin, effort, alike=True)
    if rows is None:
        return None
    single_out_each(rows, components[rows[0, components] == rows[1, components]])
    rows = refined(structure, rows, effort, alike=True)
    return None if rows is None else _completed(structure, rows, alike, effort)


def _completed(
    structure: Structure, rows: np.ndarray, alike: np.ndarray, effort: Effort
) -> np.ndarray | None:
    """Match the nodes of two stable colourings with equal colours: int64[n] or None.

    `alike`, bool[n_components], are the components that look like the exchanged ones.
    """
    for decided in _decided(structure, rows, alike, effort):
        match = _in_order(decided)
        if structure.is_automorphism(match):
            return match
    return None


def _decided(
    structure: Structure, rows: np.ndarray, alike: np.ndarray, effort: Effort
) -> Iterator[np.ndarray]:
    """Yield stable colourings in which more and more is decided.

    First that states stay, component by component, where they can, those of components
    that look like the exchanged ones before others; then node by node.
    """
    yield rows
    components = np.arange(structure.n_components)
    staying = components[rows[0, components] == rows[1, components]]
    for component in sorted(staying.tolist(), key=lambda c: not alike[c]):
        nodes = np.flatnonzero(structure.owners == component) + structure.first_state
        nodes = np.intersect1d(nodes, _can_stay(rows))
        if len(nodes):
            trial = rows.copy()
            single_out_each(trial, nodes)
            done = refined(structure, trial, effort, alike=True)
            if done is not None:
                rows = done
                yield rows
    while True:
        done = _one_decided(structure, rows, effort)
        if done is None:
            return
        rows = done
        yield rows


def _in_order(rows: np.ndarray) -> np.ndarray:
    """Match nodes of equal colour in the order of their numbers: int64[n]."""
    match = np.empty(rows.shape[1], dtype=np.int64)
    orders = np.argsort(rows, axis=1, kind="stable")
    match[orders[0]] = orders[1]
    return match


def _can_stay(rows: np.ndarray) -> np.ndarray:
    """Return the nodes that share a colour, and with the same ones in both rows."""
    _, cells, sizes = np.unique(rows[0], return_inverse=True, return_counts=True)
    match = _in_order(rows)
    moved = np.bincount(cells, weights=match != np.arange(len(match))) > 0
    return np.flatnonzero((sizes > 1)[cells] & ~moved[cells])


def _one_decided(
    structure: Structure, rows: np.ndarray, effort: Effort
) -> np.ndarray | None:
    """Single out one node, its image, and its image's image, which is the node again.

    Of the smallest cell of several nodes; None if there is none, or no image leaves the
    colourings alike.
    """
    match = _in_order(rows)
    _, cells, sizes = np.unique(rows[0], return_inverse=True, return_counts=True)
    open_nodes = np.flatnonzero(sizes[cells] > 1)
    if not len(open_nodes):
        return None
    node = int(open_nodes[np.argmin(sizes[cells[open_nodes]])])
    images = np.flatnonzero(rows[1] == rows[0, node]).tolist()
    for image in sorted(images, key=lambda k: (k != node, k != match[node])):
        trial = rows.copy()
        if image != node and rows[0, image] == rows[1, node]:
            single_out(trial[0], image, 1)
            single_out(trial[1], node, 1)
        single_out(trial[0], node, 0)
        single_out(trial[1], image, 0)
        done = refined(structure, trial, effort, alike=True)
        if done is not None:
            return done
    return None

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

from ltlpipe.components.progress import comparing
from ltlpipe.symmetry.classes.colour_refinement import (
    Effort,
    refined,
    single_out,
    single_out_each,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.structure import Structure


def exchange(
    structure: Structure, stable: np.ndarray, first: int, second: int, effort: Effort
) -> Job[np.ndarray | None]:
    """Find an automorphism, int64[n], that exchanges two components of equal colour.

    The other components stay, if that is possible; otherwise those that need not move
    along do.  `stable` are the structure's stable colours, uint64[n].  None if there is
    no such automorphism, or none was found.
    """
    begin = np.stack([stable, stable])
    for row, nodes in zip(begin, [(first, second), (second, first)], strict=True):
        for rank, node in enumerate(nodes):
            single_out(row, node, rank)
    components = np.arange(structure.n_components)
    alike = stable[components] == stable[first]
    alone = begin.copy()
    single_out_each(alone, np.setdiff1d(components, [first, second]))
    rows = yield from refined(structure, alone, effort, alike=True)
    if rows is not None:
        found = yield from _completed(structure, rows, alike, effort)
        if found is not None:
            return found
    rows = yield from refined(structure, begin, effort, alike=True)
    if rows is None:
        return None
    single_out_each(rows, components[rows[0, components] == rows[1, components]])
    rows = yield from refined(structure, rows, effort, alike=True)
    if rows is None:
        return None
    return (yield from _completed(structure, rows, alike, effort))


def _completed(
    structure: Structure, rows: np.ndarray, alike: np.ndarray, effort: Effort
) -> Job[np.ndarray | None]:
    """Match the nodes of two stable colourings with equal colours: int64[n] or None.

    `alike`, bool[n_components], are the components that look like the exchanged ones.
    More and more is decided: first that states stay, component by component, where they
    can, those of components that look like the exchanged ones before others; then node
    by node.
    """
    match = yield from _matched(structure, rows)
    components = np.arange(structure.n_components)
    staying = components[rows[0, components] == rows[1, components]]
    for component in sorted(staying.tolist(), key=lambda c: not alike[c]):
        if match is not None:
            return match
        nodes = np.flatnonzero(structure.owners == component) + structure.first_state
        nodes = np.intersect1d(nodes, _can_stay(rows))
        yield comparing(4 * structure.n_nodes)
        if len(nodes):
            trial = rows.copy()
            single_out_each(trial, nodes)
            done = yield from refined(structure, trial, effort, alike=True)
            if done is not None:
                rows = done
                match = yield from _matched(structure, rows)
    while match is None:
        done = yield from _one_decided(structure, rows, effort)
        if done is None:
            return None
        rows = done
        match = yield from _matched(structure, rows)
    return match


def _matched(structure: Structure, rows: np.ndarray) -> Job[np.ndarray | None]:
    """Match nodes in the order of their numbers; None if it is no automorphism."""
    match = _in_order(rows)
    yield comparing(2 * structure.n_nodes)
    is_one = structure.is_automorphism(match)
    yield comparing(3 * structure.n_tuples)
    return match if is_one else None


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
) -> Job[np.ndarray | None]:
    """Single out one node, its image, and its image's image, which is the node again.

    Of the smallest cell of several nodes; None if there is none, or no image leaves the
    colourings alike.
    """
    match = _in_order(rows)
    _, cells, sizes = np.unique(rows[0], return_inverse=True, return_counts=True)
    open_nodes = np.flatnonzero(sizes[cells] > 1)
    if not len(open_nodes):
        return None
    yield comparing(4 * structure.n_nodes)
    node = int(open_nodes[np.argmin(sizes[cells[open_nodes]])])
    images = np.flatnonzero(rows[1] == rows[0, node]).tolist()
    for image in sorted(images, key=lambda k: (k != node, k != match[node])):
        trial = rows.copy()
        if image != node and rows[0, image] == rows[1, node]:
            single_out(trial[0], image, 1)
            single_out(trial[1], node, 1)
        single_out(trial[0], node, 0)
        single_out(trial[1], image, 0)
        done = yield from refined(structure, trial, effort, alike=True)
        if done is not None:
            return done
    return None

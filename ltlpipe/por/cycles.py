"""Graphs without cycles: what has to be left out of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.components.progress import ITEMS, counting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job


def back_edges(successors: Sequence[Sequence[int]], first: int = 0) -> Job[set[int]]:
    """Find edges such that every cycle of a graph has one of them.

    They are numbered in the order of `successors`, and are those of a depth-first
    search from `first` that lead back to its own path: every cycle has one, for a graph
    is acyclic iff there is none.
    """
    offsets = [0]
    for targets in successors:
        offsets.append(offsets[-1] + len(targets))
    entered, left = set(), set()
    found = set()
    steps = 0
    for root in (first, *range(len(successors))):
        if root in entered or root >= len(successors):
            continue
        entered.add(root)
        path = [(root, 0)]
        while path:
            steps += 1
            if steps % ITEMS == 0:
                yield counting(ITEMS)
            vertex, cursor = path.pop()
            if cursor == len(successors[vertex]):
                left.add(vertex)
                continue
            path.append((vertex, cursor + 1))
            target = successors[vertex][cursor]
            if target not in entered:
                entered.add(target)
                path.append((target, 0))
            elif target not in left:
                found.add(offsets[vertex] + cursor)
    return found


def feedback_vertices(successors: Sequence[Sequence[int]]) -> Job[set[int]]:
    """Find vertices such that every cycle of a graph has one of them.

    All sources of `back_edges`, or all targets, whichever are fewer.
    """
    ends = [(v, target) for v, targets in enumerate(successors) for target in targets]
    edges = yield from back_edges(successors)
    chosen = [ends[edge] for edge in edges]
    sources = {source for source, _ in chosen}
    targets = {target for _, target in chosen}
    return min(sources, targets, key=len)

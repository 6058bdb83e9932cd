"""Bounds of the cells of a symmetric net from its invariants, without unfolding it.

For some sorts, the *key*, a place is looked at through components of these sorts: how
many of its tokens have a tuple there, whatever their other components are.  A weight of
each such view is an invariant of every tuple if no term of a transition changes the
weighted sum: the tuples that it is about are those that its variables, with their
shifts, constants and ``<all>`` say, and terms that say the same are taken together.  So
the views are the places, and the terms the transitions, of a small place/transition
net, whose semiflows are looked for.

Keys are no sort (all tokens are counted), each sort, and the domains of places.  By one
cyclic sort, places are looked at through colours that follow each other, too: a fork is
free, or held by the philosopher who has its number, or by the one before.

Source: K. Jensen, "Coloured Petri Nets and the Invariant-Method", Theoretical Computer
Science 14(3), 1981, pp. 317-336.

Differences from the source: weights are numbers, and functions of colours are views
only.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.net import DOT, Bound, Constant, Every, signed_tokens
from ltlpipe.systems.nets.invariants import MAX_WEIGHT, flows_of

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.net import ColouredNet, Tokens
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

UNBOUNDED = (1 << 63) - 1
"""The bound of a cell of which no invariant tells."""

_MOST_VIEWS = 256
"""Views of all places for one key."""

_MOST_SHIFTS = 8
"""Distances of colours that one sort is looked at through."""

_MOST_TOKENS = 1 << 40
"""Tokens of a weighted sum."""

_TOO_MUCH = MAX_WEIGHT + 1
_PHASE = "finding invariants"


class _View(NamedTuple):
    """Some components of a place, in the order of the key.

    A colour c of the only component counts as c + `shift`, modulo `size`.
    """

    place: int
    components: tuple[int, ...]
    shift: int = 0
    size: int = 1


def cell_bounds(net: SymmetricNet) -> Job[np.ndarray]:
    """Return int64[n_cells]: how many tokens each cell of a net ever has, at most."""
    cells = net.cells
    initial = [
        np.array(net.initial()[cells.first[p] : cells.first[p + 1]], dtype=np.float64)
        .reshape(cells.sizes[p])
        for p in range(len(cells.sizes))
    ]  # fmt: skip
    bounds = [np.full(size, UNBOUNDED, dtype=np.int64) for size in cells.sizes]
    ticks = Ticks(_PHASE, 0.01)
    for key in _keys(net.coloured):
        views = _views(net.coloured, key)
        if not 0 < len(views) <= _MOST_VIEWS:
            continue
        for flow in (yield from flows_of(_projected(net.coloured, views))):
            _bound(views, flow, initial, bounds)
            if ticks.over(len(cells)):
                yield ticks.progress
    return np.concatenate([own.ravel() for own in bounds] or [np.zeros(0, np.int64)])


def _keys(net: ColouredNet) -> list[tuple[int, ...]]:
    """Return the sorts that places are looked at by, few first."""
    sorts = {sort for place in net.places for sort in place.domain}
    keys: set[tuple[int, ...]] = set()
    keys.update((sort,) for sort in sorts if net.sorts[sort].kind != DOT)
    for place in net.places:
        own = [sort for sort in place.domain if net.sorts[sort].kind != DOT]
        keys.add(tuple(sorted(own)))
    return sorted({(), *keys}, key=lambda key: (len(key), key))


def _views(net: ColouredNet, key: tuple[int, ...]) -> list[_View]:
    """Return the views of all places by a key."""
    size = net.size(key[0]) if len(key) == 1 else 1
    return [
        _View(number, components, shift, size)
        for number, place in enumerate(net.places)
        for components in permutations(range(len(place.domain)), len(key))
        if tuple(place.domain[k] for k in components) == key
        for shift in (_distances(net, key[0]) if len(key) == 1 else [0])
    ]


def _distances(net: ColouredNet, sort: int) -> list[int]:
    """Return how far apart the colours of a variable of a sort are, in transitions."""
    size, found = net.size(sort), {0}
    for transition in net.transitions:
        shifts: dict[int, set[int]] = defaultdict(set)
        for _, what in (*transition.pre, *transition.post):
            for _, tokens in signed_tokens(what, 1):
                for entry in tokens.entries:
                    if isinstance(entry, Bound):
                        shifts[entry.variable].add(entry.shift)
        for variable, own in shifts.items():
            if net.variables[variable].sort == sort:
                found |= {(a - b) % size for a in own for b in own}
    return sorted(found)[:_MOST_SHIFTS]


def _projected(net: ColouredNet, views: list[_View]) -> np.ndarray:
    """Return the effects on some views, int64[n_views, n]: what terms change."""
    of_place: dict[int, list[int]] = defaultdict(list)
    for number, view in enumerate(views):
        of_place[view.place].append(number)
    different: dict[tuple[tuple[int, int], ...], None] = {}
    for transition in net.transitions:
        changes: dict[object, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for sign, side in ((-1, transition.pre), (1, transition.post)):
            for place, what in side:
                for weight, tokens in signed_tokens(what, sign):
                    for number in of_place[place]:
                        said, n = _said(tokens, views[number])
                        changes[said][number] += weight * n
        for change in changes.values():
            different[tuple(sorted((p, n) for p, n in change.items() if n))] = None
    different.pop((), None)
    effect = np.zeros((len(views), len(different)), dtype=np.int64)
    for k, change in enumerate(sorted(different, key=len)):
        for number, n in change:
            effect[number, k] = min(max(n, -_TOO_MUCH), _TOO_MUCH)
    return effect


def _said(tokens: Tokens, view: _View) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Return what tokens say of a view, and how many tuples they have for each."""
    n = 1
    for k, entry in enumerate(tokens.entries):
        if k not in view.components and isinstance(entry, Every):
            n *= entry.size
    return tuple(_term(tokens.entries[k], view) for k in view.components), n


def _term(entry: Bound | Constant | Every, view: _View) -> tuple[int, ...]:
    if isinstance(entry, Every):
        return (2,)
    shift, size = view.shift, view.size
    if isinstance(entry, Bound):
        moved = (entry.shift + shift) % size if shift else entry.shift
        return (0, entry.variable, moved)
    return (1, (entry.colour + shift) % size if shift else entry.colour)


def _bound(
    views: list[_View],
    flow: np.ndarray,
    initial: list[np.ndarray],
    bounds: list[np.ndarray],
) -> None:
    """Lower the bounds of the cells that an invariant has a weight for."""
    weights = [(views[k], int(flow[k])) for k in np.flatnonzero(flow).tolist()]
    total = sum(w * _seen(view, initial[view.place]) for view, w in weights)
    total = np.asarray(total)
    if total.max(initial=0) > _MOST_TOKENS:
        return
    for view, weight in weights:
        most = total.astype(np.int64) // weight
        most = np.roll(most, -view.shift) if view.shift else most
        shape = bounds[view.place].shape
        own = np.argsort(view.components)
        most = most.transpose(own) if view.components else most
        spread = [n if k in view.components else 1 for k, n in enumerate(shape)]
        np.minimum(bounds[view.place], most.reshape(spread), out=bounds[view.place])


def _seen(view: _View, tokens: np.ndarray) -> np.ndarray:
    """Return how many tokens of a place have each tuple of a view."""
    others = tuple(k for k in range(tokens.ndim) if k not in view.components)
    left = sorted(view.components)
    summed = tokens.sum(axis=others)
    seen = np.asarray(summed.transpose([left.index(k) for k in view.components]))
    return np.roll(seen, view.shift) if view.shift else seen

"""The factors of a group that permutations generate.

Generators fall into factors that move different fields.  In each members are looked for
that swaps exchange two by two (`ltlpipe.symmetry.groups.members`): they are sorted, and
of the rest of the group one element of each coset is listed.  A factor of few elements
without such members is listed as a whole.  So full symmetric groups, their products,
wreath products with few blocks, and these together with a renaming of values have one
representative for each orbit.  Where cosets are too many, the generators are tried with
their conjugates by each other, as many as there is room for: an orbit may then have
several representatives.

Source: A. F. Donaldson and A. Miller, "Exact and Approximate Strategies for Symmetry
Reduction in Model Checking", FM 2006 (enumeration; minimisation for symmetric groups;
disjoint products; local search for what is left).

Differences from the source: a group is not decomposed by the structure of its
generators, but by the swaps in it and their cosets.  Members are sorted by insertion
and not by trying all of their swaps on each state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.graph import PHASE
from ltlpipe.symmetry.groups.group import ENTRIES_PER_TICK, Factor, Group
from ltlpipe.symmetry.groups.members import enumerated, members_of

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Space

MAX_LISTED = 2_000
"""Elements of a factor that is listed."""

MAX_COSETS = 200
"""Cosets of the swaps of a factor."""

MAX_TRIED = 2_000
"""Swaps of a factor whose cosets are too many."""

MAX_CONJUGATES = 500
"""Elements that are tried of a factor whose cosets are too many."""

MAX_ENTRIES = 1 << 21
"""Entries of the elements of all factors together."""


def grouped(space: Space, generators: np.ndarray) -> Job[Group]:
    """Return the group that permutations, int32[n, n_points], generate."""
    ticks = Ticks(PHASE)
    split = _split(space, generators)
    room = max(MAX_ENTRIES // max(len(split), 1) // max(space.n_points, 1), 1)
    factors = []
    for fields, own in split:
        factors.append((yield from _factor(space, fields, own, room, ticks)))
    return Group(space, factors)


def _factor(
    space: Space,
    fields: np.ndarray,
    generators: list[np.ndarray],
    room: int,
    ticks: Ticks,
) -> Job[Factor]:
    """Return the factor of some generators, with at most so many elements."""
    none = np.zeros((0, space.n_points), dtype=np.int32)
    tried = yield from conjugates(generators, min(MAX_CONJUGATES, room), ticks)
    members = yield from members_of(space, tried, ticks)
    if members.classes:
        most = min(MAX_COSETS, room)
        cosets = yield from members.cosets(generators, most, ticks)
        if cosets is not None:
            order = members.order * (len(cosets) + 1)
            return Factor(fields, members.classes, cosets, none, order)
    listed = yield from enumerated(generators, min(MAX_LISTED, room), ticks)
    if listed is not None:
        return Factor(fields, (), listed, none, len(listed) + 1)
    swaps = members.swaps(min(MAX_TRIED, room))
    if swaps is not None:
        fields = members.ordered(fields)
        if len(swaps) + len(tried) <= room:
            tried = np.concatenate([swaps, tried])
    return Factor(fields, (), none, tried, None)


def _split(
    space: Space, generators: np.ndarray
) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Return generators by the fields that they move, as far as these are separate."""
    parts: list[tuple[set[int], list[np.ndarray]]] = []
    for generator in generators:
        points = np.flatnonzero(generator != np.arange(space.n_points))
        moved = set(space.fields_at(points).tolist())
        joined = [generator]
        others = []
        for fields, own_generators in parts:
            if fields & moved:
                moved |= fields
                joined = own_generators + joined
            else:
                others.append((fields, own_generators))
        parts = [*others, (moved, joined)]
    return [
        (np.array(sorted(fields), dtype=np.int64), own)
        for fields, own in sorted(parts, key=lambda part: min(part[0]))
    ]


def conjugates(
    generators: list[np.ndarray], most: int, ticks: Ticks
) -> Job[np.ndarray]:
    """Return generators, their inverses, and what these make of each other."""
    inverses = [np.argsort(g).astype(np.int32) for g in generators]
    found: list[np.ndarray] = []
    known: set[bytes] = set()
    for element in (*generators, *inverses):
        if element.tobytes() not in known:
            known.add(element.tobytes())
            found.append(element)
    at = 0
    while at < len(found) and len(found) < most:
        element = found[at]
        at += 1
        for generator, inverse in zip(generators, inverses, strict=True):
            conjugate = generator[element[inverse]]
            if conjugate.tobytes() not in known and len(found) < most:
                known.add(conjugate.tobytes())
                found.append(conjugate)
            if ticks.over(1 + len(element) / ENTRIES_PER_TICK):
                yield ticks.progress
    return np.array(found, dtype=np.int32)

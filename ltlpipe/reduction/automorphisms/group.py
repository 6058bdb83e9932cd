"""Groups of permutations of *points*, and the representatives of states.

The points of a model are its variables: an automorphism moves values between them.
Those of a network are the local states of its components: it takes a component to
another one, and each local state to one of that.

The generators fall into *factors* that move different fields (components, variables);
the group is the direct product of what these generate.  A factor with few elements is
listed.  Of a larger one, all conjugates of its generators by each other are kept, as
many as there is room for; with all transpositions among them that sorts what can be
sorted, but in general it leaves several representatives of an orbit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.reduction.automorphisms.graph import PHASE
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job

MAX_LISTED = 2_000
"""Elements of a factor that is listed."""

MAX_TRIED = 500
"""Elements that are tried of a factor that is not."""

MAX_ENTRIES = 1 << 21
"""Entries of the elements of all factors together."""

_ENTRIES_PER_TICK = 200


@dataclass(frozen=True)
class Space:
    """What a group acts on.

    Parameters
    ----------
    n_fields : int
        Variables of a model, components of a network.
    first : int64[n_fields + 1], optional
        The first point of each component, and the number of points; None if fields are
        points.
    """

    n_fields: int
    first: np.ndarray | None = None

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return self.n_fields if self.first is None else int(self.first[-1])

    def fields_of(self, elements: np.ndarray) -> np.ndarray:
        """Return int64[n, n_fields], where elements int32[n, n_points] take fields."""
        if self.first is None:
            return elements.astype(np.int64)
        leading = elements[:, self.first[:-1]]
        return np.searchsorted(self.first, leading, side="right") - 1

    def images(self, elements: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return what elements int32[n, n_points] make of a state, int64[n, n_fields].

        state : int64[n_fields]
        """
        images = np.empty((len(elements), self.n_fields), dtype=np.int64)
        to = self.fields_of(elements)
        rows = np.arange(len(elements))[:, None]
        if self.first is None:
            images[rows, to] = state
        else:
            points = elements[:, state + self.first[:-1]]
            images[rows, to] = points - self.first[to]
        return images

    def image(self, element: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return what one element, int32[n_points], makes of a state."""
        found: np.ndarray = self.images(element[None], state)[0]
        return found


class Factor(NamedTuple):
    """A part of a group that moves fields of its own."""

    fields: np.ndarray  # int64[k], ascending
    elements: np.ndarray  # int32[n, n_points], without the identity
    listed: bool  # whether these are all


@dataclass(frozen=True)
class Group:
    """A group that acts on the states of a system.

    Parameters
    ----------
    space : Space
        What it acts on.
    factors : sequence of Factor
        They move different fields.
    """

    space: Space
    factors: Sequence[Factor]

    @property
    def exact(self) -> bool:
        """Whether an orbit has one representative."""
        return all(factor.listed for factor in self.factors)

    @property
    def order(self) -> int | None:
        """The number of its elements; None if they are not all listed."""
        if not self.exact:
            return None
        return prod(len(factor.elements) + 1 for factor in self.factors)

    def orbits(self) -> np.ndarray:
        """Return, for each point, the least one that it is taken to: int64[n_points]."""
        least = np.arange(self.space.n_points)
        for factor in self.factors:
            before = np.full_like(least, -1)
            while (before != least).any():
                before = least.copy()
                for element in factor.elements:
                    least = np.minimum(least, least[element])
                    least[element] = np.minimum(least[element], least)
        return least

    def normalised(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the representative of a state, and what takes the state there.

        Does what `ltlpipe.systems.orbit_kernels.normalise` does, with NumPy.

        Parameters
        ----------
        state : int64[n_fields]

        Returns
        -------
        representative : int64[n_fields]
        permutation : int64[n_points]
        """
        whole = np.arange(self.space.n_points)
        for factor in self.factors:
            start = 0
            while True:
                images = self.space.images(factor.elements, state)
                best = _lesser(images[:, factor.fields], state[factor.fields])
                if factor.listed:
                    best = _least(images[:, factor.fields]) if best.size else best
                if not best.size:
                    break
                later = best[best >= start]
                chosen = int(later[0] if later.size else best[0])
                state = images[chosen]
                whole = factor.elements[chosen].astype(np.int64)[whole]
                if factor.listed:
                    break
                start = (chosen + 1) % len(factor.elements)
        return state, whole


def _lesser(images: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return which rows are less than a state, in the order of words."""
    differ = images != state
    place = differ.argmax(axis=1)
    rows = np.arange(len(images))
    return np.flatnonzero(differ.any(axis=1) & (images[rows, place] < state[place]))


def _least(images: np.ndarray) -> np.ndarray:
    """Return the number of a least row, as an array."""
    return np.lexsort(images.T[::-1])[:1]


def grouped(space: Space, generators: np.ndarray) -> Job[Group]:
    """Return the group that permutations, int32[n, n_points], generate."""
    ticks = Ticks(PHASE)
    factors = []
    split = _split(space, generators)
    room = MAX_ENTRIES // max(len(split), 1)
    for fields, own in split:
        most = max(room // space.n_points, 1)
        elements = yield from _listed(own, min(MAX_LISTED, most), ticks)
        listed = elements is not None
        if elements is None:
            elements = yield from _conjugates(own, min(MAX_TRIED, most), ticks)
        factors.append(Factor(fields, elements, listed))
    return Group(space, factors)


def _split(
    space: Space, generators: np.ndarray
) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Return generators by the fields that they move, as far as these are separate."""
    parts: list[tuple[set[int], list[np.ndarray]]] = []
    for generator in generators:
        state_moved = generator != np.arange(space.n_points)
        if space.first is None:
            moved = set(np.flatnonzero(state_moved).tolist())
        else:
            points = np.flatnonzero(state_moved)
            own = np.searchsorted(space.first, points, side="right") - 1
            moved = set(own.tolist())
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


def _listed(
    generators: list[np.ndarray], most: int, ticks: Ticks
) -> Job[np.ndarray | None]:
    """Return all elements but the identity, or None if there are more than `most`."""
    identity = np.arange(len(generators[0]), dtype=np.int32)
    known = {identity.tobytes()}
    found: list[np.ndarray] = []
    waiting = [identity]
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = generator[element]
            if product.tobytes() not in known:
                if len(found) == most:
                    return None
                known.add(product.tobytes())
                found.append(product)
                waiting.append(product)
            if ticks.over(1 + len(identity) / _ENTRIES_PER_TICK):
                yield ticks.progress
    return np.array(found, dtype=np.int32)


def _conjugates(
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
            if ticks.over(1 + len(element) / _ENTRIES_PER_TICK):
                yield ticks.progress
    return np.array(found, dtype=np.int32)

"""Groups of permutations of *points*, and the representatives of states.

The points of a model are its variables: an automorphism moves values between them.
Those of a network are the local states of its components: it takes a component to
another one, and each local state to one of that.

A group comes as *factors* that move different fields (components, variables); it is
their direct product.  A factor has *classes* of members that can be permuted at will:
a state's members are sorted.  Where that is not all, elements are *listed*: each is
applied to the state, and the least of what becomes of the images is the representative.
Of a group that is too large for this, elements are *tried*: they make a state less as
long as one of them does.  `ltlpipe.symmetry.groups.factors` makes factors.

Groups are those of coloured graphs, whose automorphisms a library finds.

Source: T. Junttila and P. Kaski, "Engineering an Efficient Canonical Labeling Tool for
Large and Sparse Graphs", ALENEX 2007 (bliss, which igraph contains).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime import workers
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Hashable

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


ENTRIES_PER_TICK = 200
"""Entries of elements that are looked at in a microsecond, roughly."""


@dataclass(frozen=True)
class Space:
    """What a group acts on.

    Parameters
    ----------
    first : int64[n_fields + 1]
        The first point of each component or variable, and the number of points.
    of_values : bool
        Whether points are local states; else each variable is one point, and keeps its
        value where it is taken.
    """

    first: np.ndarray
    of_values: bool = True

    @classmethod
    def of_variables(cls, n: int) -> Space:
        """Return the space of n variables."""
        return cls(np.arange(n + 1), of_values=False)

    @property
    def n_fields(self) -> int:
        """How many variables or components there are."""
        return len(self.first) - 1

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.first[-1])

    def fields_at(self, points: np.ndarray) -> np.ndarray:
        """Return the fields of points, int64 of the same shape."""
        return np.searchsorted(self.first, points, side="right") - 1

    def fields_of(self, elements: np.ndarray) -> np.ndarray:
        """Return int64[n, n_fields], where elements int32[n, n_points] take fields."""
        return self.fields_at(elements[:, self.first[:-1]])

    def images(self, elements: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return what elements int32[n, n_points] make of a state, int64[n, n_fields].

        state : int64[n_fields]
        """
        images = np.empty((len(elements), self.n_fields), dtype=np.int64)
        to = self.fields_of(elements)
        rows = np.arange(len(elements))[:, None]
        if self.of_values:
            points = elements[:, state + self.first[:-1]]
            images[rows, to] = points - self.first[to]
        else:
            images[rows, to] = state
        return images

    def image(self, element: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return what one element, int32[n_points], makes of a state."""
        found: np.ndarray = self.images(element[None], state)[0]
        return found


Class = Sequence[np.ndarray]
"""The points of each member, int64[k], in an order in which they correspond."""


class Factor(NamedTuple):
    """A part of a group that moves fields of its own."""

    fields: np.ndarray  # int64[k], in the order in which states are compared
    classes: Sequence[Class]  # empty if elements are tried
    listed: np.ndarray  # int32[n, n_points], without the identity
    tried: np.ndarray  # int32[m, n_points]
    order: int | None  # the number of its elements, if an orbit has one representative

    @property
    def elements(self) -> np.ndarray:
        """Elements that generate the factor, int32[n, n_points]."""
        exchanges = [
            swaps_with_first(own, self.listed.shape[1]) for own in self.classes
        ]
        return np.concatenate([*exchanges, self.listed, self.tried])


def swaps_with_first(own: Class, n_points: int) -> np.ndarray:
    """Return the swaps of the first member with each of a class, int32[n, n_points].

    That with itself is the identity.
    """
    swaps = np.tile(np.arange(n_points, dtype=np.int32), (len(own), 1))
    for swap, points in zip(swaps, own, strict=True):
        swap[points], swap[own[0]] = own[0], points
    return swaps


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
        return all(factor.order is not None for factor in self.factors)

    @property
    def order(self) -> int | None:
        """The number of its elements; None if it is not `exact`."""
        orders = [factor.order for factor in self.factors if factor.order is not None]
        return prod(orders) if self.exact else None

    def orbits(self) -> Job[np.ndarray]:
        """Return the least point that each one is taken to, int64[n_points]."""
        ticks = Ticks(PHASE)
        least = np.arange(self.space.n_points)
        for factor in self.factors:
            before = np.full_like(least, -1)
            while (before != least).any():
                before = least.copy()
                for element in factor.elements:
                    least = np.minimum(least, least[element])
                    least[element] = np.minimum(least[element], least)
                    yield from ticks.worked(1 + len(least) / ENTRIES_PER_TICK)
        return least

    def normalised(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the representative of a state, and what takes the state there.

        Does what `ltlpipe.systems.networks.packing_kernels.normalise` does, with NumPy.

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
            settled = self._sorted if factor.classes else self._lessened
            best, taken = settled(factor, state, np.arange(len(whole)))
            for element in factor.listed:
                image = self.space.image(element, state)
                own, way = settled(factor, image, element.astype(np.int64))
                if own[factor.fields].tolist() < best[factor.fields].tolist():
                    best, taken = own, way
            state, whole = best, taken[whole]
        return state, whole

    def _sorted(
        self, factor: Factor, state: np.ndarray, way: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a state with its members sorted.

        And the permutation that has led to it, int64[n_points].
        """
        for own in factor.classes:
            fields = list(dict.fromkeys(self.space.fields_at(own[0]).tolist()))
            swaps = swaps_with_first(own, self.space.n_points)
            # What a member is in the place of the first one.
            members = self.space.images(swaps, state)[:, fields].tolist()
            element = np.arange(self.space.n_points)
            for place, member in enumerate(
                sorted(range(len(own)), key=members.__getitem__)
            ):
                element[own[member]] = own[place]
            state, way = self.space.image(element, state), element[way]
        return state, way

    def _lessened(
        self, factor: Factor, state: np.ndarray, way: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what elements that are tried make of a state.

        And of the permutation that has led to it, int64[n_points].
        """
        start = 0
        while len(factor.tried):
            images = self.space.images(factor.tried, state)
            less = _lesser(images[:, factor.fields], state[factor.fields])
            if not less.size:
                break
            later = less[less >= start]
            chosen = int(later[0] if later.size else less[0])
            state, way = images[chosen], factor.tried[chosen].astype(np.int64)[way]
            start = (chosen + 1) % len(factor.tried)
        return state, way


def _lesser(images: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return which rows are less than a state, in the order of words."""
    differ = images != state
    place = differ.argmax(axis=1)
    rows = np.arange(len(images))
    return np.flatnonzero(differ.any(axis=1) & (images[rows, place] < state[place]))

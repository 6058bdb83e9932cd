"""Groups of permutations of *points*, and the representatives of states.

The points of a model are its variables: an automorphism moves values between them.
Those of a network are the local states of its components: it takes a component to
another one, and each local state to one of that.

A group comes as *factors* that move different fields (components, variables); it is
their direct product.  A factor has *classes* of members that can be permuted at will:
a state's members are sorted.  Where that is not all, elements are *listed*: each is
applied to the state, and the least of what becomes of the images is the representative.
Of a group that is too large for this, elements are *tried*: they make a state less as
long as one of them does.

Groups are those of coloured graphs, whose automorphisms a library finds.  Generators
fall into factors that move different fields.  In each members are looked for that swaps
exchange two by two: they are sorted, and of the rest of the group one element of each
coset is listed.  A factor of few elements without such members is listed as a whole.
So full symmetric groups, their products, wreath products with few blocks, and these
together with a renaming of values have one representative for each orbit.  Where cosets
are too many, the generators are tried with their conjugates by each other, as many as
there is room for: an orbit may then have several representatives.

A *swap* is an element that exchanges two disjoint sets of fields, the *members*, and
leaves all else alone.  A single swap does not tell which of the fields that it moves
are one member and which the other: this follows from a second swap, which moves one of
the two.  Members that are connected by swaps are a *class*, of which the swaps generate
all permutations.

Sources: T. Junttila and P. Kaski, "Engineering an Efficient Canonical Labeling Tool for
Large and Sparse Graphs", ALENEX 2007 (bliss, which igraph contains); A. F. Donaldson
and A. Miller, "Exact and Approximate Strategies for Symmetry Reduction in Model
Checking", FM 2006 (enumeration; minimisation for symmetric groups; disjoint products;
local search for what is left).

Differences from the last source: a group is not decomposed by the structure of its
generators, but by the swaps in it and their cosets.  Members are sorted by insertion
and not by trying all of their swaps on each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from math import factorial, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime import workers
from ltlpipe.runtime.arrays import distinct
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ltlpipe.runtime.jobs import Job

PHASE = "finding automorphisms"

_EDGE_BYTES, _EDGE_WORK = 80, 0.05
"""Of each edge while edges are listed, at most; microseconds of each of two passes."""


class ColouredGraph:
    """An undirected graph whose vertices have colours."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.colours: list[int] = []
        self._ends: list[int] = []  # of one edge after the other
        self._pieces: list[np.ndarray] = []  # of further edges, int64[m, 2]

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
        self._pieces.append(np.stack([numbers, neighbours.ravel()], axis=1))

    def join(self, first: int, second: int) -> None:
        """Add an edge, unless it is there."""
        self._ends += first, second

    def _edges(self) -> Job[np.ndarray]:
        """Return the edges, int32[m, 2], each once."""
        n, n_ends = len(self.colours), sum(map(len, self._pieces)) + len(self._ends)
        needed = _EDGE_BYTES * n_ends
        grant = yield Progress(PHASE, memory_bytes=needed)
        if needed > grant.memory_bytes:
            raise StoppedError(MEMORY)
        own = np.array(self._ends, dtype=np.int64).reshape(-1, 2)
        ends = np.concatenate([own, *self._pieces])
        codes = np.minimum(*ends.T) * n + np.maximum(*ends.T)
        yield Progress(PHASE, n_ends * _EDGE_WORK, needed)
        once = distinct(codes)
        yield Progress(PHASE, n_ends * _EDGE_WORK, needed)
        return np.stack([once // n, once % n], axis=1).astype(np.int32)

    def automorphisms(self, n_points: int) -> Job[np.ndarray]:
        """Return generators of what automorphisms make of the first vertices.

        Returns
        -------
        int32[n, n_points]
            Where each takes them; the first vertices are taken to each other.
        """
        edges = yield from self._edges()
        found: Any = yield from workers.call(
            "automorphisms",
            phase=PHASE,
            subject="igraph",
            colours=np.array(self.colours, dtype=np.int32),
            edges=edges,
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
    graph = _graph_type()(n=len(colours), edges=edges.tolist())
    found = graph.automorphism_group(color=colours.tolist())
    points = [generator[:n_points] for generator in found]
    return np.array(points, dtype=np.int32).reshape(len(found), n_points)


@cache
def _graph_type() -> Any:
    """Return igraph's type of graphs.

    Without the package around it, which imports Matplotlib where that is installed:
    that takes a second, as long as many questions.
    """
    package = find_spec("igraph")
    folders = None if package is None else package.submodule_search_locations
    found = PathFinder.find_spec("igraph._igraph", folders)
    if found is None or found.loader is None:
        return import_module("igraph").GraphBase
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.GraphBase


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


_PER_IMAGE = 10  # looks until it is known whether an image is less, roughly


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

    def looks(self, n_changed: int) -> float:
        """Return how many looks at fields it takes to make a state a representative.

        Roughly, where it differs from one in so many fields.
        """
        looks = 0.0
        for factor in self.factors:
            sorting = len(factor.fields) * n_changed / 2 if factor.classes else 0.0
            looks += (1 + len(factor.listed)) * (_PER_IMAGE + sorting)
            looks += len(factor.tried) * _PER_IMAGE
        return looks

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


def members_of(space: Space, elements: np.ndarray, ticks: Ticks) -> Job[Members]:
    """Return the classes that swaps among some elements, int32[n, n_points], make."""
    members = Members(space)
    swaps = members.candidates(elements)
    targets = space.fields_of(swaps)
    moved = targets != np.arange(space.n_fields)
    common = moved.astype(np.float32) @ moved.T.astype(np.float32)
    for number, (swap, target) in enumerate(zip(swaps, targets, strict=True)):
        halves = np.flatnonzero(2 * common[number] == common[number, number])
        members.add(swap, _member(moved[number], target, moved[halves]))
        yield from ticks.worked(20 + 5 * len(halves) + moved.size / ENTRIES_PER_TICK)
    return members


class Members:
    """The classes that swaps make; `members_of` adds them."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._classes: dict[
            frozenset[int], list[np.ndarray]
        ] = {}  # by the fields of each member
        self._taken: set[int] = set()  # fields of members

    @cached_property
    def classes(self) -> list[list[np.ndarray]]:
        """All classes, once they are known, with their members in order."""
        found = {id(c): c for c in self._classes.values()}.values()
        return [sorted(own, key=lambda points: points.min()) for own in found]

    @property
    def order(self) -> int:
        """How many permutations the swaps generate."""
        return prod(factorial(len(own)) for own in self.classes)

    def ordered(self, fields: np.ndarray) -> np.ndarray:
        """Return fields in an order in which trying swaps sorts the members.

        Fields of members that correspond stand side by side, and the first ones decide.
        """
        order: dict[int, None] = {}
        for own in self.classes:
            rows = np.stack([self._space.fields_at(points) for points in own])
            order.update(dict.fromkeys(rows.T.ravel().tolist()))
        order.update(dict.fromkeys(fields.tolist()))
        return np.array(list(order), dtype=np.int64)

    def swaps(self, most: int) -> np.ndarray | None:
        """Return the swaps of all classes, int32[n, n_points]; None if too many."""
        if sum(len(own) * (len(own) - 1) // 2 for own in self.classes) > most:
            return None
        found = [np.zeros((0, self._space.n_points), dtype=np.int32)]
        for own in self.classes:
            for k, first in enumerate(own):
                for second in own[k + 1 :]:
                    swap = np.arange(self._space.n_points, dtype=np.int32)
                    swap[first], swap[second] = second, first
                    found.append(swap[None])
        return np.concatenate(found)

    def cosets(
        self, generators: list[np.ndarray], most: int, ticks: Ticks
    ) -> Job[np.ndarray | None]:
        """Return an element of each coset but that of the swaps; None if too many."""
        return enumerated(generators, most, ticks, self._sorted)

    def _sorted(self, element: np.ndarray) -> np.ndarray:
        """Return the element of a coset that leads to members in their order."""
        inverse = np.argsort(element)
        after = np.arange(self._space.n_points, dtype=np.int32)
        for own in self.classes:
            sources = [inverse[points[0]] for points in own]
            for target, place in enumerate(np.argsort(sources)):
                after[own[place]] = own[target]
        product: np.ndarray = after[element]
        return product

    def candidates(self, elements: np.ndarray) -> np.ndarray:
        """Return the elements that may be swaps, those that move little first."""
        points = np.arange(self._space.n_points)
        moved = elements != points
        is_undone = np.take_along_axis(elements, elements.astype(np.int64), 1) == points
        stays = self._space.fields_at(elements) == self._space.fields_at(points)
        kept = is_undone.all(axis=1) & ~(moved & stays).any(axis=1)
        order = np.argsort(moved[kept].sum(axis=1), kind="stable")
        found: np.ndarray = elements[kept][order]
        return found

    def add(self, swap: np.ndarray, member: list[int]) -> None:
        """Put two members into one class, unless they overlap with others."""
        points = np.concatenate([self._points(field) for field in member])
        pair = (points, swap[points].astype(np.int64))
        keys = [frozenset(self._space.fields_at(own).tolist()) for own in pair]
        for key in keys:
            if key not in self._classes and key & self._taken:
                return
        for key, own in zip(keys, pair, strict=True):
            self._taken |= key
            self._classes.setdefault(key, [own])
        first, second = (self._classes[key] for key in keys)
        if first is second:
            return
        at, own = (self._of(self._classes[key], key) for key in keys)
        order = np.argsort(own)[np.searchsorted(np.sort(own), swap[at])]
        joined = first + [other[order] for other in second]
        for other in joined:
            self._classes[frozenset(self._space.fields_at(other).tolist())] = joined

    def _of(self, own: list[np.ndarray], key: frozenset[int]) -> np.ndarray:
        """Return the points of the member of a class that has some fields."""
        at = self._space.fields_at
        (found,) = (p for p in own if key == frozenset(at(p).tolist()))
        return found

    def _points(self, field: int) -> np.ndarray:
        return np.arange(*self._space.first[field : field + 2].tolist())


def _member(moved: np.ndarray, target: np.ndarray, others: np.ndarray) -> list[int]:
    """Return the fields of one of the members that a swap exchanges.

    Parameters
    ----------
    moved, target : bool[n_fields], int64[n_fields]
        Which fields the swap moves, and where it takes each.
    others : bool[n, n_fields]
        What elements move that have half of that in common with it.
    """
    # Any two halves do where there are no more than two members.
    member = moved & (np.arange(len(target)) < target)
    for other in others:
        half = moved & other
        if not (half & half[target]).any():
            member = half
            break
    found: list[int] = np.flatnonzero(member).tolist()
    return found


def enumerated(
    generators: list[np.ndarray],
    most: int,
    ticks: Ticks,
    form: Callable[[np.ndarray], np.ndarray] = lambda element: element,
) -> Job[np.ndarray | None]:
    """Return what some generate, without the identity; None if more than `most`.

    form : callable
        Returns the same for elements of which one is enough.
    """
    identity = np.arange(len(generators[0]), dtype=np.int32)
    known = {form(identity).tobytes()}
    found: list[np.ndarray] = []
    waiting = [identity]
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = form(element[generator])
            if product.tobytes() not in known:
                if len(found) == most:
                    return None
                known.add(product.tobytes())
                found.append(product)
                waiting.append(product)
            yield from ticks.worked(1 + len(identity) / ENTRIES_PER_TICK)
    return np.array(found, dtype=np.int32).reshape(len(found), len(identity))


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
            yield from ticks.worked(1 + len(element) / ENTRIES_PER_TICK)
    return np.array(found, dtype=np.int32)

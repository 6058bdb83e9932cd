"""Places, transitions and arcs: what the tables of a net are made of.

`ltlpipe.systems.nets.net.PetriNet` is such a net, with all that checking asks of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.arrays import group_begins, ranges
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.plain import TURN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.runtime.jobs import Job

MAX_TOKENS = (1 << 63) - 1
"""Tokens of a place, or weight of an arc, that a file may name."""


@dataclass(frozen=True)
class Node:
    """A place or a transition: what it is called."""

    id: str
    name: str


@dataclass(frozen=True)
class Place(Node):
    """A place with its initial marking."""

    tokens: int = 0


@dataclass(frozen=True)
class Transition(Node):
    """A transition: weights by the numbers of the places it takes from and puts to."""

    pre: Mapping[int, int] = field(default_factory=dict)
    post: Mapping[int, int] = field(default_factory=dict)

    def differences(self) -> dict[int, int]:
        """Return what firing adds to the places that it changes."""
        changes = {
            place: self.post.get(place, 0) - self.pre.get(place, 0)
            for place in sorted({*self.pre, *self.post})
        }
        return {place: change for place, change in changes.items() if change}


def numbers_called(called: Sequence[tuple[str, str]]) -> dict[str, tuple[int, ...]]:
    """Return the numbers that each id or name means, of what has an id and a name.

    An id, which is unique, means its own; a name that is no id all that have it.
    """
    named: dict[str, list[int]] = {}
    for k, (_, name) in enumerate(called):
        named.setdefault(name, []).append(k)
    by_id = {own: (k,) for k, (own, _) in enumerate(called)}
    return {name: tuple(own) for name, own in named.items()} | by_id


def namesakes(nodes: Sequence[Any], text: str) -> list[str]:
    """Return the ids of the nodes that have a text for their name or id."""
    return [node.id for node in nodes if text in (node.id, node.name)]


class Arcs(NamedTuple):
    """The arcs on one side of all transitions, those of transition t at
    ``first[t]:first[t + 1]``.
    """

    first: np.ndarray  # int64[n_transitions + 1]
    place: np.ndarray  # int64[m]
    weight: np.ndarray  # int64[m], positive

    def of(self, transitions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the arcs of some transitions, int64[n], one after the other.

        For each arc the place of its transition in `transitions`, its place, and its
        weight: int64[m] each.
        """
        begins = self.first[transitions]
        counts = self.first[transitions + 1] - begins
        owner = np.repeat(np.arange(len(transitions)), counts)
        arc = ranges(begins, counts)
        return owner, self.place[arc], self.weight[arc]


class Bounds(NamedTuple):
    """What invariants say about n places."""

    tokens: list[int | None]  # n bounds, None where there is none
    share: np.ndarray  # float64[n], a guess how often a place is marked


class Net:
    """The structure of a place/transition net.

    Places and transitions are known by their numbers.
    """

    name: str  # what people call the net
    places: tuple[Place, ...]
    transitions: tuple[Transition, ...]
    pre: Arcs  # what transitions take
    post: Arcs  # what they put
    variables: tuple[str, ...]
    """Display names of the places: the name where it means this node, else the id."""
    actions: tuple[str, ...]  # the same of transitions
    places_called: dict[str, tuple[int, ...]]  # what each id or name means
    transitions_called: dict[str, tuple[int, ...]]
    bounds: Bounds  # what invariants say about the places

    def fill(
        self, places: Sequence[Place], transitions: Sequence[Transition], name: str
    ) -> Job[None]:
        """Take over nodes, and check them.

        Raises
        ------
        ValueError
            An id stands twice, or tokens, weights or places of arcs are none.
        """
        self.name = name
        self.places = tuple(places)
        self.transitions = tuple(transitions)
        yield from self._check()
        self.pre = yield from _arcs([t.pre for t in self.transitions])
        self.post = yield from _arcs([t.post for t in self.transitions])
        self.variables, self.places_called = yield from _named(self.places)
        named = yield from _named(self.transitions)
        self.actions, self.transitions_called = named

    def initial(self) -> tuple[int, ...]:
        """Return the initial marking."""
        return tuple(place.tokens for place in self.places)

    def pieces(self, transitions: np.ndarray | None = None) -> list[np.ndarray]:
        """Divide transitions, by default all, into parts of some thousand arcs."""
        if transitions is None:
            transitions = np.arange(len(self.transitions))
        n_arcs = np.diff(self.pre.first) + np.diff(self.post.first)
        piece = np.cumsum(n_arcs[transitions] + 1) // TURN
        return np.split(transitions, 1 + np.flatnonzero(np.diff(piece)))

    def effects(
        self, transitions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what firing some transitions, int64[n], adds to places they change.

        For each change the place of its transition in `transitions`, its place, and
        what is added: int64[m] each, in this order.
        """
        taker, source, taken = self.pre.of(transitions)
        putter, target, put = self.post.of(transitions)
        owner = np.concatenate([taker, putter])
        place = np.concatenate([source, target])
        order = np.lexsort((place, owner))
        owner, place = owner[order], place[order]
        begins = group_begins(owner, place)
        change = np.add.reduceat(np.concatenate([-taken, put])[order], begins)
        begins, change = begins[change != 0], change[change != 0]
        return owner[begins], place[begins], change

    def _check(self) -> Job[None]:
        nodes: list[Node] = [*self.places, *self.transitions]
        if len({node.id for node in nodes}) < len(nodes):
            raise ValueError("an id stands twice")
        if not all(0 <= place.tokens <= MAX_TOKENS for place in self.places):
            raise ValueError(f"expected 0 to {MAX_TOKENS} tokens in a place")
        arcs_seen = 0
        for transition in self.transitions:
            for arcs in (transition.pre, transition.post):
                if not all(0 <= place < len(self.places) for place in arcs):
                    raise ValueError(f"{transition.id}: an arc to no place")
                if not all(0 < weight <= MAX_TOKENS for weight in arcs.values()):
                    raise ValueError(f"{transition.id}: expected positive weights")
                arcs_seen += 2 + len(arcs)
            if arcs_seen > TURN:
                yield _progress(arcs_seen)
                arcs_seen = 0


def _progress(n_things: int) -> Progress:
    return Progress("reading", n_things)


def _arcs(weights: list[Mapping[int, int]]) -> Job[Arcs]:
    sizes = np.array([0, *map(len, weights)], dtype=np.int64)
    place: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    weight: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    for begin in range(0, len(weights), TURN):
        part = weights[begin : begin + TURN]
        place.append(np.array([p for arcs in part for p in arcs], dtype=np.int64))
        weight.append(
            np.array([w for arcs in part for w in arcs.values()], dtype=np.int64)
        )
        yield _progress(TURN + len(place[-1]))
    return Arcs(np.cumsum(sizes), np.concatenate(place), np.concatenate(weight))


def _named(
    nodes: Sequence[Node],
) -> Job[tuple[tuple[str, ...], dict[str, tuple[int, ...]]]]:
    """Return what to call nodes, and which nodes each id or name means."""
    numbers = numbers_called([(node.id, node.name) for node in nodes])
    yield _progress(2 * len(nodes))
    called = [
        node.name if numbers[node.name] == (k,) else node.id
        for k, node in enumerate(nodes)
    ]
    return tuple(called), numbers

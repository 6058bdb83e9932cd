"""Places, transitions and arcs: what the tables of a net are made of.

`ltlpipe.systems.nets.net.PetriNet` is such a net, with all that checking asks of it.

A transition *needs* tokens, has *limits* above which it is not enabled, *resets* places
and *adds* tokens.  That is how all nets are asked.  Only a `Transition` of plain arcs
has `pre` and `post`, which tell all that it does; a `SpecialTransition`, with inhibitor
or reset arcs or for places of limited capacity, has neither, so that nothing that was
made for plain nets can take one for the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from ltlpipe.runtime.arrays import ranges
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.plain import TURN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job

_MOST_LISTED = 1_000_000
"""Places of units around others that are listed."""

MAX_TOKENS = (1 << 63) - 1
"""Tokens of a place, or weight of an arc, that a file may name."""


def changes(pre: Mapping[int, int], post: Mapping[int, int]) -> dict[int, int]:
    """Return by how much more is put than taken, by place, where that is not 0."""
    found = dict(post)
    for place, weight in pre.items():
        found[place] = found.get(place, 0) - weight
    return {place: by for place, by in found.items() if by}


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

    limits: ClassVar[Mapping[int, int]] = {}
    resets: ClassVar[frozenset[int]] = frozenset()

    @property
    def needs(self) -> Mapping[int, int]:
        """The least tokens that places have to hold: what is taken."""
        return self.pre

    @property
    def puts(self) -> Mapping[int, int]:
        """The least tokens that places hold after it."""
        return self.post

    def differences(self) -> dict[int, int]:
        """Return what firing adds to the places that it changes."""
        return dict(sorted(changes(self.pre, self.post).items()))


@dataclass(frozen=True)
class SpecialTransition(Node):
    """A transition that has more than plain arcs.

    It is enabled iff places hold at least what it `needs` and at most its `limits`.
    Firing empties the places that it `resets`, and then adds to places, or takes from
    them; to those that it resets it adds what is not negative.
    """

    needs: Mapping[int, int] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    resets: frozenset[int] = frozenset()
    adds: Mapping[int, int] = field(default_factory=dict)

    @property
    def puts(self) -> Mapping[int, int]:
        """The least tokens that places hold after it."""
        left = {p: n for p, n in self.needs.items() if p not in self.resets}
        places = sorted({*left, *self.adds})
        held = {p: left.get(p, 0) + self.adds.get(p, 0) for p in places}
        return {p: tokens for p, tokens in held.items() if tokens}

    def differences(self) -> dict[int, int]:
        """Return the most that firing adds to the places that it may change.

        That of a place that is reset is what is in it afterwards.
        """
        places = sorted({*self.adds, *self.resets})
        return {place: self.adds.get(place, 0) for place in places}


AnyTransition: TypeAlias = Transition | SpecialTransition


class Unit(NamedTuple):
    """A unit of a nested-unit Petri net: sequential, if the file says it is safe."""

    id: str
    places: tuple[int, ...]  # its own ones
    units: tuple[int, ...]  # the numbers of the units inside it


class Notes(NamedTuple):
    """What a file says about a net beside its places, transitions and arcs."""

    final: tuple[tuple[tuple[int, int], ...], ...] = ()
    """Final markings: the places with tokens, and these; all others are empty."""
    invisible: frozenset[int] = frozenset()  # transitions without a name of their own
    units: tuple[Unit, ...] = ()
    safe: bool = False  # whether the file asserts that units have a token at most
    refined: tuple[str, ...] = ()  # the ids of transitions that nets stand for
    references: tuple[tuple[str, int | None, int | None], ...] = ()
    """The ids of reference nodes, and the place or transition that they refer to."""

    @property
    def exclusive(self) -> list[list[int]]:
        """The places of each innermost unit and of those around it.

        If units are safe, one of these has a token at most, and one only.  There are
        none if units are so deep that the lists would be long.
        """
        around = {part: k for k, unit in enumerate(self.units) for part in unit.units}
        found, left = [], _MOST_LISTED
        for k, unit in enumerate(self.units):
            if not unit.units:
                found.append([*unit.places])
                while k in around and left > 0:
                    k = around[k]
                    found[-1] += self.units[k].places
                    left -= 1 + len(self.units[k].places)
        return found if left > 0 else []


NO_NOTES = Notes()


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


Entries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


class Arcs(NamedTuple):
    """The arcs on one side of all transitions, those of transition t at
    ``first[t]:first[t + 1]``.
    """

    first: np.ndarray  # int64[n_transitions + 1]
    place: np.ndarray  # int64[m]
    weight: np.ndarray  # int64[m], positive

    def of(self, transitions: np.ndarray) -> Entries:
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
    transitions: tuple[Any, ...]  # all of type `kind`
    needs: Arcs  # the least tokens with which transitions are enabled
    limits: Arcs  # and the most
    resets: Arcs  # the places that they empty, with weights that mean nothing
    variables: tuple[str, ...]
    """Display names of the places: the name where it means this node, else the id."""
    actions: tuple[str, ...]  # the same of transitions
    places_called: dict[str, tuple[int, ...]]  # what each id or name means
    transitions_called: dict[str, tuple[int, ...]]
    bounds: Bounds  # what invariants say about the places
    notes: Notes = NO_NOTES

    kind: ClassVar[type[AnyTransition]]

    def fill(
        self,
        places: Sequence[Place],
        transitions: Sequence[Any],
        name: str,
        notes: Notes = NO_NOTES,
    ) -> Job[None]:
        """Take over nodes, and check them.

        Raises
        ------
        ValueError
            An id stands twice, or tokens, weights or places of arcs are none.
        TypeError
            Transitions are not of the kind that the net has.
        """
        self.name = name
        self.places = tuple(places)
        self.transitions = tuple(transitions)
        self.notes = notes
        yield from self._check()
        yield from self._take_arcs()
        self.variables, self.places_called = yield from _named(self.places)
        named = yield from _named(self.transitions)
        self.actions, self.transitions_called = named
        for own, place, transition in notes.references:
            if place is not None:
                self.places_called.setdefault(own, (place,))
            if transition is not None:
                self.transitions_called.setdefault(own, (transition,))

    def initial(self) -> tuple[int, ...]:
        """Return the initial marking."""
        return tuple(place.tokens for place in self.places)

    def pieces(self, transitions: np.ndarray | None = None) -> list[np.ndarray]:
        """Divide transitions, by default all, into parts of some thousand arcs."""
        if transitions is None:
            transitions = np.arange(len(self.transitions))
        n_arcs = self._n_arcs()
        piece = np.cumsum(n_arcs[transitions] + 1) // TURN
        return np.split(transitions, 1 + np.flatnonzero(np.diff(piece)))

    def effects(self, transitions: np.ndarray) -> Entries:
        """Return what firing some transitions, int64[n], adds to places they change.

        For each change the place of its transition in `transitions`, its place, and
        what is added: int64[m] each, in this order.  To places that are reset no more
        is added than that.
        """
        raise NotImplementedError

    def _take_arcs(self) -> Job[None]:
        """Make arrays of the arcs."""
        raise NotImplementedError

    def _n_arcs(self) -> np.ndarray:
        """Return how many arcs each transition has."""
        raise NotImplementedError

    def _check(self) -> Job[None]:
        nodes: list[Node] = [*self.places, *self.transitions]
        if len({node.id for node in nodes}) < len(nodes):
            raise ValueError("an id stands twice")
        if not all(0 <= place.tokens <= MAX_TOKENS for place in self.places):
            raise ValueError(f"expected 0 to {MAX_TOKENS} tokens in a place")
        arcs_seen = 0
        for transition in self.transitions:
            if not isinstance(transition, self.kind):
                raise TypeError(f"{transition.id}: expected a {self.kind.__name__}")
            for arcs in _sides(transition):
                if not all(0 <= place < len(self.places) for place in arcs):
                    raise ValueError(f"{transition.id}: an arc to no place")
                arcs_seen += 2 + len(arcs)
            if isinstance(transition, Transition):
                _check_weights(transition)
            else:
                _check_special(transition)
            if arcs_seen > TURN:
                yield _progress(arcs_seen)
                arcs_seen = 0


def _sides(transition: AnyTransition) -> tuple[Collection[int], ...]:
    if isinstance(transition, Transition):
        return transition.pre, transition.post
    return transition.needs, transition.limits, transition.resets, transition.adds


def _check_weights(transition: Transition) -> None:
    for arcs in (transition.pre, transition.post):
        if not all(0 < weight <= MAX_TOKENS for weight in arcs.values()):
            raise ValueError(f"{transition.id}: expected positive weights")


def _check_special(transition: SpecialTransition) -> None:
    needs, resets = transition.needs, transition.resets
    if not all(0 < weight <= MAX_TOKENS for weight in needs.values()):
        raise ValueError(f"{transition.id}: expected positive weights")
    if not all(0 <= most <= MAX_TOKENS for most in transition.limits.values()):
        raise ValueError(f"{transition.id}: expected limits of 0 tokens or more")
    for place, added in transition.adds.items():
        held = 0 if place in resets else needs.get(place, 0)
        if not (-held <= added <= MAX_TOKENS and added):
            raise ValueError(f"{transition.id}: takes more than it needs, or nothing")


def _progress(n_things: int) -> Progress:
    return Progress("reading", n_things)


def arcs_of(weights: Sequence[Mapping[int, int]]) -> Job[Arcs]:
    """Return the arcs with some weights, by place, of each transition."""
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

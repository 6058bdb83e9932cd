"""Place/transition nets, and their interpreter in plain Python.

A marking gives each place a number of tokens.  A transition is enabled iff each
place holds at least the tokens that it takes from there; firing it takes them and
puts others.  Both arc weights and markings are arbitrary numbers here: a field that
is too narrow is a matter of the packed net (`ltlpipe.systems.pnml.packing`), with
which the interpreter shares nothing.

Nodes have an id, which is unique in a file, and a name, which need not be.  The
Model Checking Contest's formulas use ids, other people's names; mostly they are the
same.  An id always means its own node; a name means the one node that has it unless
it is an id, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import Number, Operation, Variable
from ltlpipe.systems.models import Model, Step
from ltlpipe.systems.pnml.invariants import Bounds, place_bounds
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.pnml.packing import PackedNet

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


class Arcs(NamedTuple):
    """The arcs on one side of all transitions, those of transition t at
    ``first[t]:first[t + 1]``.
    """

    first: np.ndarray  # int64[n_transitions + 1]
    place: np.ndarray  # int64[m]
    weight: np.ndarray  # int64[m], positive


class PetriNet(Model):
    """A place/transition net.

    Parameters
    ----------
    places, transitions : sequence of Place, of Transition
        In the order of their numbers.
    name : str
        What people call the net.

    Attributes
    ----------
    pre, post : Arcs
        What transitions take and put.
    variables : tuple of str
        What people call the places: the name where it means this place, else the id.
    actions : tuple of str
        What people call the transitions, likewise.

    Raises
    ------
    ValueError
        An id stands twice, or tokens, weights or places of arcs are none.
    """

    def __init__(
        self,
        places: Sequence[Place],
        transitions: Sequence[Transition],
        *,
        name: str = "net",
    ) -> None:
        self.name = name
        self.places = tuple(places)
        self.transitions = tuple(transitions)
        self._check()
        self.pre = _arcs([t.pre for t in self.transitions])
        self.post = _arcs([t.post for t in self.transitions])
        self.variables, self._places = _named(self.places)
        self.actions, self._transitions = _named(self.transitions)

    def _check(self) -> None:
        nodes: list[Node] = [*self.places, *self.transitions]
        ids = [node.id for node in nodes]
        if len(set(ids)) < len(ids):
            raise ValueError("an id stands twice")
        if not all(0 <= place.tokens <= MAX_TOKENS for place in self.places):
            raise ValueError(f"expected 0 to {MAX_TOKENS} tokens in a place")
        for transition in self.transitions:
            for arcs in (transition.pre, transition.post):
                if not all(0 <= place < len(self.places) for place in arcs):
                    raise ValueError(f"{transition.id}: an arc to no place")
                if not all(0 < weight <= MAX_TOKENS for weight in arcs.values()):
                    raise ValueError(f"{transition.id}: expected positive weights")

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Ids and names of places and transitions."""
        fireable = [_is_enabled(transition) for transition in self.transitions]
        return Vocabulary(
            self._places,
            fireable={text: fireable[t] for text, t in self._transitions.items()},
            actions=self._transitions,
        )

    @cached_property
    def bounds(self) -> Bounds:
        """What invariants say about the places."""
        return place_bounds(self)

    def initial(self) -> Valuation:
        """Return the initial marking."""
        return tuple(place.tokens for place in self.places)

    def steps(self, state: Valuation) -> list[Step]:
        """Return all steps of a marking, in the order of the transitions.

        Each transition makes at most one, so its number tells the step; the packed
        net has another order.
        """
        return [
            Step(number, _fired(transition, state))
            for number, transition in enumerate(self.transitions)
            if all(state[place] >= weight for place, weight in transition.pre.items())
        ]

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the tokens by the names of their places."""
        return dict(zip(self.variables, state, strict=True))

    def pack(
        self,
        propositions: Sequence[Expression],
        *,
        extra_values: int = 1,
        seed: int | None = None,
        ample: np.ndarray | None = None,
    ) -> PackedNet:
        """Lay out the tables for one property (see `Model.pack`)."""
        # Only here: whoever reads a net, or steps through it, does without Numba.
        from ltlpipe.systems.pnml.packing import pack_net

        return pack_net(
            self, propositions, extra_values=extra_values, seed=seed, ample=ample
        )


def _is_enabled(transition: Transition) -> Expression:
    """Return the proposition that each place holds what is taken from it."""
    conditions = tuple(
        Operation("<=", (Number(weight), Variable(place)))
        for place, weight in transition.pre.items()
    )
    if not conditions:
        return Number(1)
    return conditions[0] if len(conditions) == 1 else Operation("&&", conditions)


def _fired(transition: Transition, state: Valuation) -> Valuation:
    tokens = list(state)
    for place, weight in transition.pre.items():
        tokens[place] -= weight
    for place, weight in transition.post.items():
        tokens[place] += weight
    return tuple(tokens)


def _arcs(weights: list[Mapping[int, int]]) -> Arcs:
    sizes = [0, *(len(arcs) for arcs in weights)]
    return Arcs(
        first=np.cumsum(np.array(sizes, dtype=np.int64)),
        place=np.array([p for arcs in weights for p in arcs], dtype=np.int64),
        weight=np.array([w for arcs in weights for w in arcs.values()], dtype=np.int64),
    )


def _named(
    nodes: Sequence[Node],
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return what to call nodes, and what each id or name means."""
    numbers = {node.id: k for k, node in enumerate(nodes)}
    shared = Counter(node.name for node in nodes)
    for k, node in enumerate(nodes):
        if shared[node.name] == 1:
            numbers.setdefault(node.name, k)
    called = [
        node.name if numbers.get(node.name) == k else node.id
        for k, node in enumerate(nodes)
    ]
    return tuple(called), numbers

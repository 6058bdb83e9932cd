"""Centre and leaves of a model, their local states, and the relations that join them.

Variables that no action joins, once those of the centre are left out, belong to
different leaves.  The centre begins with what the property reads.  As long as there are
no two leaves with steps of their own, the unit that most others are joined to goes to
the centre: a shared variable, a server.

Each part is explored for itself: an action is taken in a leaf as soon as *some* local
state of the centre that is known makes the offer for it, and in the centre as soon as
some local state of the leaf gives the answer.  So there may be local states that no run
comes to; that does no harm, as parts move together only where offer and answer meet.

Sources: D. Gnad and J. Hoffmann, "Star-topology decoupled state space search",
Artificial Intelligence 257, 2018, pp. 24-60: that the centre is what most interact
with.  The local semantics of threads, as in A. Malkis, A. Podelski and A. Rybalchenko,
"Thread-Modular Verification Is Cartesian Abstract Interpretation", ICTAC 2006, LNCS
4281, pp. 183-197.

Differences from the sources: the first factors planning tasks, by their causal graphs;
here units are moved to the centre one by one, and the first star will do that is not
too large.  In the second, threads share the centre; here its steps are explored, too,
as those of a part, and what is wanted are the transitions, not an invariant.

Cost: for each action of a leaf its offers times the local states of the leaf, and the
local states of the centre.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.components.progress import STATIC
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from ltlpipe.decoupled.star.footprints import (
        Divided,
        Footprints,
        Inside,
        Relation,
        Values,
    )
    from ltlpipe.runtime.jobs import Job

MAX_CENTRE = 1 << 12
"""Local states of the centre."""

MAX_LEAF = 1 << 11
"""Local states of a leaf."""

MAX_TRANSITIONS = 1 << 18
"""Transitions of all parts."""

_OFFER = 0.25  # looks that an offer takes

OWN = -1
"""The relation of steps that the centre takes alone."""

_LOOK_WORK = 15.0  # microseconds

_TOUCHED = 1 / 30
"""Looks at actions that a variable takes which an action touches."""


class NoStarError(Exception):
    """A model is no star, or too large a one.

    Parameters
    ----------
    reason : str
        Why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Effort(Ticks):
    """What may still be spent on a model, in looks at actions in local states."""

    def __init__(self, looks: int) -> None:
        super().__init__(STATIC, _LOOK_WORK)
        self._most = looks
        self._left: float = looks

    def over(self, n: float = 1) -> bool:
        """Count looks; return whether it is time to yield."""
        self._left -= n
        return super().over(n)

    def check(self) -> None:
        """Raise `NoStarError` if all is spent."""
        if self._left < 0:
            raise NoStarError(f"{self._most:,} looks at actions have shown no star")


class Leaf(NamedTuple):
    """A part that interacts with the centre alone."""

    variables: tuple[int, ...]  # ascending
    internal: tuple[int, ...]  # actions that touch nothing else
    crossing: tuple[int, ...]  # actions that touch the centre, too


class Partition(NamedTuple):
    """A star: every action touches one leaf at most."""

    centre: tuple[int, ...]  # variables, ascending
    own: tuple[int, ...]  # actions that touch no leaf
    leaves: tuple[Leaf, ...]

    @property
    def n_moving(self) -> int:
        """Leaves that have steps of their own."""
        return sum(bool(leaf.internal) for leaf in self.leaves)

    @property
    def share(self) -> float:
        """How many of the actions are steps of leaves alone, 0 to 1."""
        internal = sum(len(leaf.internal) for leaf in self.leaves)
        crossing = sum(len(leaf.crossing) for leaf in self.leaves)
        return internal / max(internal + crossing + len(self.own), 1)


def partition(
    footprints: Footprints, centre: Set[int], effort: Effort
) -> Job[Partition]:
    """Return the star with a given centre, whose leaves are as small as can be.

    Raises
    ------
    NoStarError
        The effort is spent.
    """
    owner: dict[int, int] = {}

    def root(variable: int) -> int:
        while owner[variable] != variable:
            owner[variable] = owner[owner[variable]]
            variable = owner[variable]
        return variable

    outside = []
    for touched in footprints.touched:
        rest = sorted(touched - centre)
        outside.append(rest)
        for variable in rest:
            owner.setdefault(variable, variable)
            owner[root(variable)] = root(rest[0])
        if effort.over((1 + len(touched)) * _TOUCHED):
            yield effort.progress
    effort.check()
    members: dict[int, list[int]] = defaultdict(list)
    for variable in sorted(owner):
        members[root(variable)].append(variable)
    internal: dict[int, list[int]] = defaultdict(list)
    crossing: dict[int, list[int]] = defaultdict(list)
    own = []
    for action, rest in enumerate(outside):
        if not rest:
            own.append(action)
        elif footprints.touched[action] & centre:
            crossing[root(rest[0])].append(action)
        else:
            internal[root(rest[0])].append(action)
    leaves = [
        Leaf(tuple(variables), tuple(internal[key]), tuple(crossing[key]))
        for key, variables in members.items()
    ]
    return Partition(tuple(sorted(centre)), tuple(own), tuple(leaves))


def joined_most(footprints: Footprints, leaf: Leaf) -> tuple[int, ...]:
    """Return those of a leaf's variables that are in the unit that most are joined to.

    What its actions touch in the centre does not count.
    """
    chosen = frozenset(leaf.variables)
    unit_of = {v: k for k, unit in enumerate(footprints.units) for v in unit}
    joined: dict[int, set[int]] = defaultdict(set)
    for action in (*leaf.internal, *leaf.crossing):
        touched = footprints.touched[action] & chosen
        units = {unit_of[variable] for variable in touched}
        for unit in units:
            joined[unit] |= units
    best = max(joined, key=lambda unit: (len(joined[unit]), -unit))
    return tuple(v for v in footprints.units[best] if v in chosen)


def largest(leaves: Sequence[Leaf]) -> Leaf:
    """Return the leaf with most variables."""
    return max(leaves, key=lambda leaf: len(leaf.variables))


class TooLargeError(NoStarError):
    """A leaf has too many local states."""

    def __init__(self, leaf: Leaf, reason: str) -> None:
        self.leaf = leaf
        super().__init__(reason)


class Space:
    """The local states of a part, by their numbers, and its transitions."""

    def __init__(self, initial: Values) -> None:
        self.states = [initial]
        self.index = {initial: 0}
        # (source, relation, target); relations of the leaf, or `OWN`
        self.steps: dict[tuple[int, int, int], None] = {}
        self.internal: dict[tuple[int, int], None] = {}  # (source, target)

    def number(self, state: Values) -> int:
        """Return the number of a local state, which may be new."""
        number = self.index.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number


@dataclass
class _Offer:
    """What was made of an offer so far."""

    centres: list[int] = field(default_factory=list)  # who makes it
    relations: dict[int, None] = field(default_factory=dict)  # the answers


@dataclass
class _Crossing:
    """An action of a leaf that touches the centre."""

    divided: Divided
    offers: dict[Values, _Offer] = field(default_factory=dict)


class Spaces:
    """The local states of a star.

    Attributes
    ----------
    centre : Space
        Its steps with relation `OWN` are those that touch no leaf; it has no internal
        ones yet, as these depend on the property.
    leaves : list of Space
        In the order of the partition.
    relations : list of (int, Relation)
        By number: the leaf, and what it does to the centre.
    halted : list of bool
        For each state of the centre whether nothing moves any more, whatever the leaves
        are like.
    """

    def __init__(self, footprints: Footprints, star: Partition, effort: Effort) -> None:
        self._footprints, self._star = footprints, star
        self._effort = effort
        self.centre = Space(_part(footprints.initial, star.centre))
        self.leaves = [
            Space(_part(footprints.initial, leaf.variables)) for leaf in star.leaves
        ]
        self.relations: list[tuple[int, Relation]] = []
        self.halted: list[bool] = []
        self._numbers: dict[tuple[int, Relation], int] = {}
        self._own = [footprints.within(a, star.centre) for a in star.own]
        self._inside: list[list[Inside]] = []
        self._crossings: list[list[_Crossing]] = []
        for leaf in star.leaves:
            own = leaf.variables
            self._inside.append([footprints.within(a, own) for a in leaf.internal])
            crossing = [footprints.divided(a, star.centre, own) for a in leaf.crossing]
            self._crossings.append([_Crossing(divided) for divided in crossing])
        self._n_done = [0] * len(self.leaves)

    def explore(self) -> Job[None]:
        """Find all local states.

        Raises
        ------
        NoStarError
            They are too many (`TooLargeError` in a leaf), or the effort is spent.
        """
        is_done = False
        while not is_done:
            is_done = True
            while len(self.halted) < len(self.centre.states):
                is_done = False
                yield from self._expand_centre(len(self.halted))
            for i, leaf in enumerate(self.leaves):
                while self._n_done[i] < len(leaf.states):
                    is_done = False
                    state = self._n_done[i]
                    self._n_done[i] += 1  # before offers are looked for, once each
                    yield from self._expand_leaf(i, state)

    def _expand_centre(self, src: int) -> Job[None]:
        """Take the steps of a state of the centre, and make its offers."""
        state = self.centre.states[src]
        self.halted.append(self._footprints.is_halted(self._star.centre, state))
        if self.halted[src]:
            return
        for step in self._own:
            target = step(state)
            if target is not None:
                self.centre.steps[src, OWN, self.centre.number(target)] = None
            if self._effort.over():
                yield self._effort.progress
        for i, crossings in enumerate(self._crossings):
            for crossing in crossings:
                if self._effort.over(_OFFER):
                    yield self._effort.progress
                seen = crossing.divided.offer(state)
                if seen is None:
                    continue
                offer = crossing.offers.get(seen)
                if offer is None:
                    offer = crossing.offers[seen] = _Offer()
                    for leaf in range(self._n_done[i]):
                        self._answer(i, crossing, seen, offer, leaf)
                        if self._effort.over():
                            yield self._effort.progress
                offer.centres.append(src)
                for relation in offer.relations:
                    self._move_centre(src, relation)
        self._refuse_large(None, len(self.centre.states), MAX_CENTRE)

    def _expand_leaf(self, i: int, src: int) -> Job[None]:
        """Take the steps of a state of a leaf, and answer the offers made so far."""
        space = self.leaves[i]
        state = space.states[src]
        for step in self._inside[i]:
            target = step(state)
            if target is not None:
                space.internal[src, space.number(target)] = None
            if self._effort.over():
                yield self._effort.progress
        for crossing in self._crossings[i]:
            for seen, offer in crossing.offers.items():
                self._answer(i, crossing, seen, offer, src)
                if self._effort.over():
                    yield self._effort.progress
        self._refuse_large(self._star.leaves[i], len(space.states), MAX_LEAF)

    def _answer(
        self, i: int, crossing: _Crossing, seen: Values, offer: _Offer, src: int
    ) -> None:
        """Take an action in a leaf; in the centre too, if the relation is new."""
        space = self.leaves[i]
        answer = crossing.divided.answer(space.states[src], seen)
        if answer is None:
            return
        relation, target = answer
        number = self._numbers.setdefault((i, relation), len(self.relations))
        if number == len(self.relations):
            self.relations.append((i, relation))
        space.steps[src, number, space.number(target)] = None
        if number not in offer.relations:
            offer.relations[number] = None
            for centre in offer.centres:
                self._move_centre(centre, number)

    def _move_centre(self, src: int, number: int) -> None:
        _, relation = self.relations[number]
        state = self.centre.states[src]
        target = self._footprints.moved(state, self._star.centre, relation)
        if target is not None:
            self.centre.steps[src, number, self.centre.number(target)] = None

    def _refuse_large(self, leaf: Leaf | None, n_states: int, most: int) -> None:
        self._effort.check()
        spaces = (self.centre, *self.leaves)
        if n_states > most:
            what = "the centre" if leaf is None else "a leaf"
            reason = f"{what} has more than {most:,} local states"
        elif sum(len(s.steps) + len(s.internal) for s in spaces) > MAX_TRANSITIONS:
            reason = f"there are more than {MAX_TRANSITIONS:,} steps"
        else:
            return
        raise NoStarError(reason) if leaf is None else TooLargeError(leaf, reason)

    def offered(self) -> list[set[int]]:
        """Return for each state of the centre the relations that it takes part in."""
        offered: dict[int, set[int]] = defaultdict(set)
        for src, relation, _ in self.centre.steps:
            offered[src].add(relation)
        return [offered[src] for src in range(len(self.centre.states))]


def _part(values: Values, variables: tuple[int, ...]) -> Values:
    return tuple(values[v] for v in variables)

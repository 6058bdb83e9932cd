"""A net that loses places and transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ltlpipe.systems.nets.net import PetriNet

    Weights = Mapping[int, int]


class Sequence(NamedTuple):
    """A transition that stands for a sequence of transitions of the net."""

    pre: Weights
    post: Weights
    steps: tuple[int, ...]  # numbers of the net's transitions

    def effect(self) -> dict[int, int]:
        """Return what it adds to the places that it changes."""
        change = dict(self.post)
        for place, weight in self.pre.items():
            change[place] = change.get(place, 0) - weight
        return {place: by for place, by in change.items() if by}


class Draft:
    """A net to which reductions are applied; its transitions are entered one by one.

    Parameters
    ----------
    net : PetriNet
        It is not changed.
    observed : collection of int
        Places whose tokens a property looks at; no rule removes them.

    Attributes
    ----------
    tokens : dict of int to int
        The initial marking of the places that are left.
    transitions : dict of int to Sequence
        Those that are left, by numbers of their own.
    takers, putters : dict of int to set of int
        The transitions that take from a place, and that put into it.
    first : list of int
        Steps of the net before its run begins.
    delayed : list of list of tuple of int
        For each rule that has delayed sequences of steps, these: where a run ends, they
        are still to be taken.
    applied : dict of str to int
        How often each rule was applied.
    is_related : bool
        Whether it is known which places may be marked together.
    """

    def __init__(self, net: PetriNet, observed: Collection[int]) -> None:
        self.observed = frozenset(observed)
        self.tokens = dict(enumerate(net.initial()))
        self.transitions: dict[int, Sequence] = {}
        self.takers: dict[int, set[int]] = {place: set() for place in self.tokens}
        self.putters: dict[int, set[int]] = {place: set() for place in self.tokens}
        self.first: list[int] = []
        self.delayed: list[list[tuple[int, ...]]] = []
        self.applied: dict[str, int] = {}
        self.is_related = False
        self._next = 0

    def enter(self, transition: Sequence) -> None:
        """Add a transition."""
        number, self._next = self._next, self._next + 1
        self.transitions[number] = transition
        for place in transition.pre:
            self.takers[place].add(number)
        for place in transition.post:
            self.putters[place].add(number)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove transitions."""
        for number in list(numbers):
            gone = self.transitions.pop(number)
            for place in gone.pre:
                self.takers[place].discard(number)
            for place in gone.post:
                self.putters[place].discard(number)

    def disconnect(self, place: int) -> None:
        """Remove the arcs of a place, and the place unless it is observed."""
        for number in self.takers[place] | self.putters[place]:
            own = self.transitions[number]
            pre = {p: weight for p, weight in own.pre.items() if p != place}
            post = {p: weight for p, weight in own.post.items() if p != place}
            self.transitions[number] = own._replace(pre=pre, post=post)
        self.takers[place], self.putters[place] = set(), set()
        if place not in self.observed:
            del self.tokens[place], self.takers[place], self.putters[place]

    def is_visible(self, number: int) -> bool:
        """Whether a transition changes places that are observed."""
        return not self.observed.isdisjoint(self.transitions[number].effect())

    def note(self, rule: str, times: int = 1) -> None:
        """Count the application of a rule."""
        self.applied[rule] = self.applied.get(rule, 0) + times

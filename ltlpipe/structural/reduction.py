"""Rules that make a net smaller, applied until none changes anything; runs led back.

``docs/reductions.md`` has the proofs of the rules.  A rule takes a draft, changes it
where it applies, and yields its work, so that whoever is in charge can stop between two
applications.  Rules of `ALWAYS` keep the letters of all runs, step by step; those of
`STUTTERING` keep them up to repetitions, and whether runs end.

Sources: G. Berthelot, "Transformations and Decompositions of Nets", Petri Nets: Central
Models and Their Properties, LNCS 254, Springer 1987, pp. 359-376 (redundant places,
agglomerations); D. Poitrenaud and J.-F. Pradat-Peyre, "Pre- and Post-agglomerations for
LTL Model Checking", Petri Nets 2000, LNCS 1825, pp. 387-408 (which of them keep LTL
without X); Y. Thierry-Mieg, "Structural Reductions Revisited", Petri Nets 2020, LNCS
12152, pp. 303-323 (how they are combined).

Differences from the sources: an agglomerated place has arcs of weight 1 only; a place
is redundant beside one other place with the same effects, so that runs that repeat a
marking repeat that of the redundant place, too; transitions of a pre-agglomeration have
inputs that no other transition takes from.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.concurrency import MOST_PLACES, concurrency
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import (
    MAX_TOKENS,
    Notes,
    Place,
    Transition,
    changes,
)
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.structure import Unit

    Weights = Mapping[int, int]

_MORE_TRANSITIONS = 4
"""By how many transitions an agglomeration may add to those that it replaces."""

_MOST_FIRST = 1_000
"""Steps before a run of the reduced net begins, which all of its runs begin with."""


class Sequence(NamedTuple):
    """A transition that stands for a sequence of transitions of the net."""

    pre: Weights
    post: Weights
    steps: tuple[int, ...]  # numbers of the net's transitions

    def effect(self) -> dict[int, int]:
        """Return what it adds to the places that it changes."""
        return changes(self.pre, self.post)


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

    def remove_dead(self, numbers: Collection[int]) -> None:
        """Remove transitions that no run takes, and note how many."""
        if numbers:
            self.note("dead transitions", len(numbers))
            self.remove(numbers)

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


def dead_transitions(draft: Draft) -> Iterator[float]:
    """Remove transitions that need a place which never has a token.

    It is enough that no transition that might fire puts one there.
    """
    marked = {place for place, tokens in draft.tokens.items() if tokens}
    missing = {
        number: sum(place not in marked for place in own.pre)
        for number, own in draft.transitions.items()
    }
    yield len(missing)
    live = {number for number, n in missing.items() if not n}
    waiting = deque(live)
    while waiting:
        number = waiting.popleft()
        for place in draft.transitions[number].post:
            if place in marked:
                continue
            marked.add(place)
            for taker in draft.takers[place]:
                missing[taker] -= 1
                if not missing[taker]:
                    live.add(taker)
                    waiting.append(taker)
    draft.remove_dead(draft.transitions.keys() - live)
    yield len(missing)


def excluded_transitions(draft: Draft) -> Iterator[float]:
    """Remove transitions whose inputs are never marked together; done once."""
    if draft.is_related or max(draft.tokens, default=0) >= MOST_PLACES:
        return
    draft.is_related = True
    tokens = [draft.tokens.get(p, 0) for p in range(max(draft.tokens, default=-1) + 1)]
    moves = [(own.pre, own.post) for own in draft.transitions.values()]
    found = yield from concurrency(tokens, moves)
    if found is None:
        return
    taken = draft.transitions.items()
    draft.remove_dead([n for n, own in taken if not found.allows(own.pre)])


def constant_places(draft: Draft) -> Iterator[float]:
    """Disconnect places that no transition changes, and remove those that need more."""
    for place, tokens in list(draft.tokens.items()):
        around = draft.takers[place] | draft.putters[place]
        yield 1 + len(around)
        own = [draft.transitions[number] for number in around]
        if not own or any(t.pre.get(place, 0) != t.post.get(place, 0) for t in own):
            continue
        takers = draft.takers[place]
        dead = [n for n in takers if draft.transitions[n].pre[place] > tokens]
        draft.remove(dead)
        draft.disconnect(place)
        draft.note("constant places")


def unused_places(draft: Draft) -> Iterator[float]:
    """Remove places that nothing is connected with."""
    for place in list(draft.tokens):
        yield 1
        if draft.takers[place] or draft.putters[place] or place in draft.observed:
            continue
        draft.disconnect(place)
        draft.note("unconnected places")


def redundant_places(draft: Draft) -> Iterator[float]:
    """Remove places that never forbid what another one with the same effects allows."""
    alike: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for place in draft.tokens:
        around = draft.takers[place] | draft.putters[place]
        yield 1 + len(around)
        effects = {
            n: draft.transitions[n].post.get(place, 0)
            - draft.transitions[n].pre.get(place, 0)
            for n in around
        }
        signature = tuple(sorted((n, by) for n, by in effects.items() if by))
        if signature:
            alike.setdefault(signature, []).append(place)
    for places in alike.values():
        kept = list(places)
        for place in places:
            if place in draft.observed:
                continue
            yield len(kept) * (1 + len(draft.takers[place]))
            if any(_is_implied(draft, place, q) for q in kept if q != place):
                kept.remove(place)
                draft.disconnect(place)
                draft.note("redundant places")


def _is_implied(draft: Draft, place: int, other: int) -> bool:
    """Whether a place has enough tokens wherever another one has."""
    more = draft.tokens[place] - draft.tokens[other]
    return all(
        (own := draft.transitions[n].pre)[place] - own.get(other, 0) <= more
        for n in draft.takers[place]
    )


def dominated_transitions(draft: Draft) -> Iterator[float]:
    """Remove transitions that do what another one does whenever they are enabled."""
    alike: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for number, own in draft.transitions.items():
        yield 1 + len(own.pre) + len(own.post)
        alike.setdefault(tuple(sorted(own.effect().items())), []).append(number)
    for numbers in alike.values():
        kept: list[int] = []
        for number in sorted(numbers, key=lambda n: len(draft.transitions[n].steps)):
            yield 1 + len(kept)
            needs = draft.transitions[number].pre
            if any(
                all(needs.get(p, 0) >= w for p, w in draft.transitions[k].pre.items())
                for k in kept
            ):
                draft.remove([number])
                draft.note("dominated transitions")
            else:
                kept.append(number)


def agglomerations(draft: Draft) -> Iterator[float]:
    """Replace a place by sequences of a transition that puts and one that takes.

    After a post-agglomeration what takes the token follows at once, since it needs
    nothing else; after a pre-agglomeration what puts it waits until it is taken, since
    nobody else takes what it needs.
    """
    order = sorted(
        draft.tokens, key=lambda p: (len(draft.takers[p]) * len(draft.putters[p]), p)
    )
    for place in order:
        takers, putters = draft.takers[place], draft.putters[place]
        yield 1 + len(takers) + len(putters)
        if place in draft.observed or not takers or not putters or takers & putters:
            continue
        n_before = len(takers) + len(putters)
        if len(takers) * len(putters) > n_before + _MORE_TRANSITIONS:
            continue
        moves = draft.transitions
        if any(moves[n].pre[place] != 1 for n in takers):
            continue
        if any(moves[n].post[place] != 1 for n in putters):
            continue
        if _can_follow(draft, place):
            _agglomerate(draft, place)
            draft.note("post-agglomerations")
        elif _can_wait(draft, place):
            draft.delayed.append([moves[n].steps for n in sorted(putters)])
            _agglomerate(draft, place)
            draft.note("pre-agglomerations")


def _can_follow(draft: Draft, place: int) -> bool:
    """Whether those that take from a place need nothing else, and nobody sees them."""
    own = [draft.transitions[n] for n in draft.takers[place]]
    tokens = draft.tokens[place]  # they are taken before the run begins
    if tokens and len(own) > 1:
        return False
    if tokens and len(draft.first) + tokens * len(own[0].steps) > _MOST_FIRST:
        return False
    invisible = not any(map(draft.is_visible, draft.takers[place]))
    return invisible and all(len(transition.pre) == 1 for transition in own)


def _can_wait(draft: Draft, place: int) -> bool:
    """Whether those that put into a place do nothing else, and cannot be disabled."""
    if draft.tokens[place]:
        return False
    for number in draft.putters[place]:
        own = draft.transitions[number]
        if len(own.post) > 1 or not own.pre:
            return False
        if any(p in draft.observed or draft.takers[p] != {number} for p in own.pre):
            return False
    return True


def _agglomerate(draft: Draft, place: int) -> None:
    """Put sequences in the place of a place and of the transitions around it."""
    takers = [draft.transitions[n] for n in sorted(draft.takers[place])]
    putters = [draft.transitions[n] for n in sorted(draft.putters[place])]
    for _ in range(draft.tokens[place]):  # one transition takes them, and at once
        draft.first += takers[0].steps
        for target, weight in takers[0].post.items():
            draft.tokens[target] += weight
    draft.remove(draft.takers[place] | draft.putters[place])
    draft.disconnect(place)
    for before in putters:
        for after in takers:
            draft.enter(_joined(before, after, place))


def _joined(before: Sequence, after: Sequence, place: int) -> Sequence:
    """Return the sequence of two transitions that pass a token through a place.

    They pass no other: `before` puts nothing else, or `after` takes nothing else.
    """
    pre = Counter(before.pre) + Counter(after.pre)
    post = Counter(before.post) + Counter(after.post)
    del pre[place], post[place]
    return Sequence(pre, post, before.steps + after.steps)


_CHEAP = (
    dead_transitions,
    constant_places,
    unused_places,
    redundant_places,
    dominated_transitions,
)

ALWAYS = (*_CHEAP, excluded_transitions)
"""Rules that keep all of LTL."""

STUTTERING = (*_CHEAP, agglomerations, excluded_transitions)
"""Rules that keep properties that are stutter-invariant."""


_PHASE = "reducing the net"
_UNIT = 1.0  # microseconds of a unit of a rule's work
_LEADING_BACK = "leading the run back"
_PER_PLACE = 0.02  # microseconds of a step
_NUMBER_BYTES = 16  # in a tuple, and in the array that is made of it
MOST_WORK = 2e6
"""Units of work after which a net is left as it is by then."""

MOST_NODES = 50_000
"""Places and transitions of the largest net that is reduced."""


class Reduction:
    """A net and what rules have made of it.

    Parameters
    ----------
    net : PetriNet
        The net.
    draft : Draft
        What is left of it.

    Attributes
    ----------
    net, reduced : PetriNet
        Before and after.  Nodes that were kept have their ids and names; a transition
        that stands for a sequence has theirs joined by dots.
    places : dict of int to int
        Numbers of places in the reduced net by those in the net.
    applied : dict of str to int
        How often each rule was applied.
    """

    def __init__(self, net: PetriNet, draft: Draft) -> None:
        kept = sorted(draft.tokens)
        self.net, self.applied = net, draft.applied
        self.places = {place: k for k, place in enumerate(kept)}
        self._first, self._delayed = draft.first, draft.delayed
        self._steps = [own.steps for own in draft.transitions.values()]
        ids = _unique(
            (".".join(net.transitions[t].id for t in steps) for steps in self._steps),
            {net.places[p].id for p in kept},
        )
        names = [".".join(net.actions[t] for t in steps) for steps in self._steps]
        self.reduced = PetriNet(
            [_place(net.places[p], draft.tokens[p]) for p in kept],
            [
                Transition(own_id, name, self._moved(own.pre), self._moved(own.post))
                for own_id, name, own in zip(
                    ids, names, draft.transitions.values(), strict=True
                )
            ],
            name=net.name,
            notes=Notes(units=tuple(map(self._part, net.notes.units))),
        )

    def _part(self, unit: Unit) -> Unit:
        """Return a unit of the places that are left."""
        places = [self.places[p] for p in unit.places if p in self.places]
        return unit._replace(places=tuple(places))

    def _moved(self, weights: Mapping[int, int]) -> dict[int, int]:
        return {self.places[place]: weight for place, weight in weights.items()}

    def restored(self, run: Run) -> Job[Run | None]:
        """Return a run of the net from one of the reduced net.

        None if the marking of a place that is gone is another one after the cycle.
        """
        actions = run.actions.tolist()
        stops = -1 in actions  # there its last marking repeats itself
        length = actions.index(-1) if stops else run.length
        trail = _Trail(self.net)
        yield from trail.take(self._first)
        for action in actions[:length]:
            yield from trail.take(self._steps[action])
        if stops:
            if not self.reduced.steps(tuple(run.states[length].tolist())):
                yield from self._end(trail)
            begin = len(trail.actions)
            trail.repeat()
            return (yield from trail.run(begin))
        begin = len(trail.actions)
        for action in actions[length:]:
            yield from trail.take(self._steps[action])
        if trail.states[-1] != trail.states[begin]:
            return None
        return (yield from trail.run(begin))

    def _end(self, trail: _Trail) -> Job[None]:
        """Take the steps that rules have delayed, where the reduced net is dead."""
        for sequences in reversed(self._delayed):
            while any(trail.can_take(steps) for steps in sequences):
                steps = next(own for own in sequences if trail.can_take(own))
                yield from trail.take(steps)


class _Trail:
    """A run in the making."""

    def __init__(self, net: PetriNet) -> None:
        self._net = net
        self.states = [net.initial()]
        self.actions: list[int] = []
        self._ticks = Ticks(_LEADING_BACK, 1.0 + _PER_PLACE * len(net.places))

    def take(self, steps: Iterable[int]) -> Job[None]:
        """Take steps that are enabled."""
        for number in steps:
            (step,) = self._net.steps_by(self.states[-1], number)
            self.states.append(step.state)
            self.actions.append(number)
            if self._ticks.over():
                held = len(self.states) * len(self._net.places)
                self._ticks.memory_bytes = _NUMBER_BYTES * held
                yield self._ticks.progress

    def repeat(self) -> None:
        """Repeat the last marking."""
        self.actions.append(-1)
        self.states.append(self.states[-1])

    def can_take(self, steps: Iterable[int]) -> bool:
        """Whether some steps are enabled, one after the other."""
        state: Valuation = self.states[-1]
        for number in steps:
            step = next(self._net.steps_by(state, number), None)
            if step is None:
                return False
            state = step.state
        return True

    def run(self, length: int) -> Job[Run]:
        """Return the run, whose cycle begins after so many steps."""
        shape = len(self.states), len(self._net.places)
        states = np.empty(shape, dtype=np.int64)
        for k, state in enumerate(self.states):
            states[k] = state
            yield from self._ticks.worked()
        return Run(np.array(self.actions, dtype=np.int32), states, length)


def _place(place: Place, tokens: int) -> Place:
    return Place(place.id, place.name, tokens)


def _unique(texts: Iterable[str], taken: set[str]) -> list[str]:
    """Return texts, each with a number behind it if it is taken."""
    counts: Counter[str] = Counter(taken)
    found = []
    for text in texts:
        own = text
        while counts[own]:
            own = f"{text}.{counts[text]}"
            counts[text] += 1
        counts[own] += 1
        found.append(own)
    return found


def reduced_net(
    net: PetriNet, observed: Collection[int], *, stuttering: bool
) -> Job[Reduction | None]:
    """Return what structural reductions make of a net.

    None if nothing changes, or if the net would have numbers beyond 63 bits.

    Parameters
    ----------
    net : PetriNet
        The net.
    observed : collection of int
        The places that a property looks at.
    stuttering : bool
        Whether letters may be repeated, or left out where they are.
    """
    draft = Draft(net, observed)
    ticks = Ticks(_PHASE, _UNIT)
    for number, own in enumerate(net.transitions):
        draft.enter(Sequence(dict(own.pre), dict(own.post), (number,)))
        yield from ticks.worked(1 + len(own.pre) + len(own.post))
    rules = STUTTERING if stuttering else ALWAYS
    spent, before = 0.0, None
    while before != draft.applied and spent < MOST_WORK:
        before = dict(draft.applied)
        for rule in rules:
            for work in rule(draft):
                spent += work
                yield from ticks.worked(work)
                if spent >= MOST_WORK:
                    break
    return Reduction(net, draft) if draft.applied and _fits(draft) else None


def _fits(draft: Draft) -> bool:
    """Whether tokens and weights are numbers that a net may have."""
    sides = (side for own in draft.transitions.values() for side in own[:2])
    numbers = chain(draft.tokens.values(), *(side.values() for side in sides))
    return max(numbers, default=0) <= MAX_TOKENS

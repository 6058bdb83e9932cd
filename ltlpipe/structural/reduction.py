"""Rules applied until none changes anything, and runs of the reduced net led back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.structural.rules import ALWAYS, STUTTERING, Draft, Sequence
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Notes, Place, Transition
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.structure import Unit

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
            return trail.run(begin)
        begin = len(trail.actions)
        for action in actions[length:]:
            yield from trail.take(self._steps[action])
        return trail.run(begin) if trail.states[-1] == trail.states[begin] else None

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

    def run(self, length: int) -> Run:
        """Return the run, whose cycle begins after so many steps."""
        states = np.array(self.states, dtype=np.int64)
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
    """Return what structural reductions make of a net; None if nothing changes.

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
    return Reduction(net, draft) if draft.applied else None

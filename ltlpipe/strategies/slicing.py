"""Slicing of network counterexamples.

A step that no later one depends on, and that the property does not need to see, can be
left out: what is left is a run of the network.  Two steps depend on each other if some
component takes part in both.  The cycle falls into parts that share no component, each
of which is a cycle of its own.

Which steps the property needs is found by trial: a run's word is searched with the
property's automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.strategies.acceptance import Trials
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.runtime.jobs import Job

_SLICING = "extracting the lasso"

_MOST_WORK = 100_000.0
"""Units of work of all trials: a tenth of a second."""

_PER_STEP = 0.7
"""Units of work of a trial for each step of the run."""

_LONGEST = 20_000
"""Steps of a run that is sliced."""


class _Steps(NamedTuple):
    """Steps of a run, by their places in it."""

    prefix: list[int]
    cycle: list[int]

    def __len__(self) -> int:
        return len(self.prefix) + len(self.cycle)


def sliced(question: NetworkQuestion, run: Run, trace: Trace) -> Job[Run]:
    """Return a run without steps that the violation does not need.

    It is as it was where acceptance of the system or fairness looks at all steps, or
    where a state without successors repeats itself.
    """
    depends = question.system.has_acceptance or question.fairness is not None
    if depends or len(run.actions) > _LONGEST or (run.actions < 0).any():
        return run
    if question.property.is_trivial:
        table = None
    else:
        table = yield from question.automaton(question.given, question.actions, trace)
    return (yield from _Slicer(question, run, table).best())


class _Slicer:
    """Tries which steps of a run a violation needs."""

    def __init__(
        self, question: NetworkQuestion, run: Run, table: PropertyAutomaton | None
    ) -> None:
        network = question.system
        self._run = run
        names = [network.actions[a] for a in run.actions.tolist()]
        self._participants = [frozenset(action.participants) for action in names]
        letters = {n: k for k, n in enumerate(question.actions, start=OTHER + 1)}
        self._letters = [
            OTHER if a.internal else letters.get(a.name, OTHER) for a in names
        ]
        self._trials = Trials(_SLICING, table, _MOST_WORK)

    def best(self) -> Job[Run]:
        """Return the shortest run that has been found."""
        places = range(len(self._run.actions))
        k = self._run.length
        best = _Steps(list(places[:k]), list(places[k:]))
        for cycle in self._cycles(best.cycle):
            needed = [p for p in best.prefix if self._letters[p] != OTHER]
            for kept in ([], needed):
                steps = yield from self._closed(cycle, kept)
                if len(steps) < len(best) and (yield from self._violates(steps)):
                    best = steps
            if self._trials.left <= 0:
                break
        best = yield from self._without_visible(best)
        return self._made(best)

    def _cycles(self, places: list[int]) -> Iterator[list[int]]:
        """Yield the parts of a cycle that share no component, and then the whole."""
        groups: list[tuple[frozenset[int], list[int]]] = []
        for place in places:
            members, own = self._participants[place], [place]
            apart = []
            for others, theirs in groups:
                if members & others:
                    members, own = members | others, own + theirs
                else:
                    apart.append((others, theirs))
            groups = [*apart, (members, own)]
        if len(groups) > 1:
            for _, own in sorted(groups, key=lambda group: len(group[1])):
                yield sorted(own)
        yield places

    def _closed(self, cycle: list[int], needed: Collection[int]) -> Job[_Steps]:
        """Return a cycle with the steps of the prefix that it, or others, depend on."""
        yield from self._trials.spent(_PER_STEP * len(self._letters))
        moving = frozenset[int]().union(*(self._participants[p] for p in cycle))
        prefix = []
        wanted = set(needed)
        for place in range(self._run.length - 1, -1, -1):
            if place in wanted or self._participants[place] & moving:
                moving |= self._participants[place]
                prefix.append(place)
        return _Steps(prefix[::-1], cycle)

    def _without_visible(self, steps: _Steps) -> Job[_Steps]:
        """Return steps of which the property needs to see each that it sees."""
        needed = [p for p in steps.prefix if self._letters[p] != OTHER]
        for place in list(needed):
            if self._trials.left <= 0:
                break
            fewer = [p for p in needed if p != place]
            trial = yield from self._closed(steps.cycle, fewer)
            if len(trial) < len(steps) and (yield from self._violates(trial)):
                steps, needed = trial, fewer
        return steps

    def _violates(self, steps: _Steps) -> Job[bool]:
        """Whether the automaton accepts the word of some steps."""
        letters = [self._letters[p] for p in (*steps.prefix, *steps.cycle)]
        return (yield from self._trials.violates(letters, len(steps.prefix)))

    def _made(self, steps: _Steps) -> Run:
        """Return the run of some steps; who does not move stays where it is."""
        states = [self._run.states[0]]
        places = [*steps.prefix, *steps.cycle]
        for place in places:
            state = states[-1].copy()
            who = list(self._participants[place])
            state[who] = self._run.states[place + 1, who]
            states.append(state)
        return Run(self._run.actions[places], np.array(states), len(steps.prefix))

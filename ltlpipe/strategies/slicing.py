"""Slicing of counterexamples: steps that the violation does not need are left out.

Which steps the property needs is found by trial: a run's word is searched with the
property's automaton, as a system that has one step in each state, a place of the word.

Networks: a step that no later one depends on, and that the property does not need to
see, can be left out: what is left is a run of the network.  Two steps depend on each
other if some component takes part in both.  The cycle falls into parts that share no
component, each of which is a cycle of its own.

Models: parts of the run are left out, large ones first, and with them whatever is not
enabled then.  What is left is kept if it still closes a cycle and violates the
property.

Source for models: A. Zeller and R. Hildebrandt, "Simplifying and Isolating
Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002, Sec. 3.

Differences from the source: steps that are no longer enabled are left out along with a
part, as they would make most trials fail; a part alone is not tried; parts become
smaller after one sweep over the run, and never larger; the prefix comes first, then the
cycle; all trials together have a budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.question.answer import FOUND
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies import instant
from ltlpipe.systems.plain_steps import PlainStep, PlainSteps
from ltlpipe.systems.propositions.letters import Letters
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation

_PHASE = "extracting the lasso"

_OF_NETWORKS, _OF_MODELS = 100_000.0, 200_000.0
"""Units of work of all trials: some tenths of a second."""

_PER_STATE, _PER_STEP, _PER_LETTER = 4.0, 0.7, 2.0
"""Units of work of a trial: for each state of its product, for each step of the run of
a network, and for each proposition of a letter of a model.
"""

_LONGEST = 20_000
"""Steps of a run of a network that is sliced."""

_MOST = (1 << 63) - 1
"""The largest value in a state of a model's run."""

_LARGEST = 4_000_000
"""Values in all states of a model's run that is tried: each takes some ten bytes."""


def least_joined(n_parts: int, events: Iterable[Collection[int]]) -> list[int]:
    """Return the least part that each has to go on with: they share events."""
    joined = list(range(n_parts))
    for event in events:
        first, *others = sorted({joined[part] for part in event})
        if others:
            joined = [first if least in others else least for least in joined]
    return joined


class Trials:
    """Tries whether words are violations, with a budget for all of them.

    `left` is what is left of the units of work; without an automaton each word is one.
    """

    def __init__(self, table: PropertyAutomaton | None, most_work: float) -> None:
        self.left = most_work
        self.table, self._ticks = table, Ticks(_PHASE)

    def spent(self, work: float) -> Job[None]:
        """Count work, and yield if it is time to."""
        self.left -= work
        yield from self._ticks.worked(work)

    def violates(self, letters: Sequence[int], length: int) -> Job[bool]:
        """Whether the automaton accepts letters; the prefix has so many of them."""
        if self.table is None:
            return True
        most = len(letters) * self.table.n_states + 1
        moves = instant.Moves(_Word(letters, length), self.table)
        outcome = yield from instant.search(moves, max_states=most)
        yield from self.spent(_PER_STATE * outcome.states)
        return outcome.status == FOUND


class _Word(PlainSteps):
    """A word as a system with one step in each state, which is a place in it."""

    def __init__(self, letters: Sequence[int], length: int) -> None:
        self._letters, self._length = letters, length

    def initial(self) -> int:
        """Return the first place."""
        return 0

    def each_step(self, state: int, wanted: Any = None) -> Iterator[PlainStep]:
        """Yield the only step from a place."""
        del wanted  # it has no name
        following = state + 1
        if following == len(self._letters):
            following = self._length
        yield PlainStep(state, self._letters[state], 0, following)


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
    table = None
    if not question.property.is_trivial:
        table = yield from question.automaton(question.given, question.actions, trace)
    return (yield from _Slicer(question, run, table).best())


class _Slicer:
    """Tries which steps of a run a violation needs."""

    def __init__(
        self, question: NetworkQuestion, run: Run, table: PropertyAutomaton | None
    ) -> None:
        network = question.system
        self._run, self._n_components = run, len(network.components)
        names = [network.actions[a] for a in run.actions.tolist()]
        self._participants = [frozenset(action.participants) for action in names]
        letters = {n: k for k, n in enumerate(question.actions, start=OTHER + 1)}
        self._letters = [
            OTHER if a.internal else letters.get(a.name, OTHER) for a in names
        ]
        self._trials = Trials(table, _OF_NETWORKS)

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
        first = least_joined(
            self._n_components, [self._participants[p] for p in places]
        )
        groups: dict[int, list[int]] = {}
        for place in places:
            groups.setdefault(first[min(self._participants[place])], []).append(place)
        if len(groups) > 1:
            yield from sorted(groups.values(), key=len)
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


class _Left(NamedTuple):
    """What is left of a run."""

    actions: list[int]
    length: int  # of the prefix
    states: list[Valuation]  # before each step and after the last

    def end(self, *, of_cycle: bool) -> int:
        """Return the place behind the prefix or the cycle."""
        return len(self.actions) if of_cycle else self.length


def thinned(question: ModelQuestion, run: Run, trace: Trace) -> Job[Run]:
    """Return a run of a model without steps that the violation does not need.

    With fairness, which looks at all steps, the run is returned unchanged.
    """
    if question.fairness is not None or run.states.size > _LARGEST:
        return run
    table = None
    if not question.property.is_trivial:
        table = yield from question.automaton(question.given, trace)
    return (yield from _Thinner(question, table).best(run))


class _Thinner:
    """Tries which steps of a run a violation needs."""

    def __init__(
        self, question: ModelQuestion, table: PropertyAutomaton | None
    ) -> None:
        self._system = question.system
        self._letters = Letters(list(question.propositions.values()))
        self._per_step = self._system.step_work
        self._per_letter = _PER_LETTER * (1 + len(question.propositions))
        self._trials = Trials(table, _OF_MODELS)

    def best(self, run: Run) -> Job[Run]:
        """Return the shortest run that has been found."""
        states = list(map(tuple, run.states.tolist()))
        best = given = _Left(run.actions.tolist(), run.length, states)
        best = long = yield from self._with_less(best, of_cycle=False)
        best = yield from self._with_less(best, of_cycle=True)
        if best is not long:  # what only the longer cycle needed is left out
            best = yield from self._with_less(best, of_cycle=False)
        if best is given:
            return run
        actions = np.array(best.actions, dtype=run.actions.dtype)
        return Run(actions, np.array(best.states, dtype=run.states.dtype), best.length)

    def _with_less(self, best: _Left, *, of_cycle: bool) -> Job[_Left]:
        """Leave out parts of the prefix, or of the cycle: all of it, halves, ..."""
        first = best.length if of_cycle else 0
        size = best.end(of_cycle=of_cycle) - first
        if of_cycle:
            size //= 2  # something has to be left
        while size > 0:
            at = first
            while at < (end := best.end(of_cycle=of_cycle)) and self._trials.left > 0:
                fewer = yield from self._without(best, at, min(at + size, end))
                if fewer is None:
                    at += size
                else:
                    best = fewer
            size //= 2
        return best

    def _without(self, steps: _Left, at: int, end: int) -> Job[_Left | None]:
        """Return what is left without some steps, if it violates the property."""
        actions, states = steps.actions[:at], steps.states[: at + 1]
        length = min(steps.length, at)
        for place in range(end, len(steps.actions)):
            if place == steps.length:
                length = len(actions)
            yield from self._trials.spent(self._per_step)
            if self._trials.left <= 0:
                return None
            action = steps.actions[place]
            state = self._after(states[-1], action)
            if state is not None:
                actions.append(action)
                states.append(state)
        if length == len(actions) or states[length] != states[-1]:
            return None
        fewer = _Left(actions, length, states)
        return fewer if (yield from self._violates(fewer)) else None

    def _after(self, state: Valuation, action: int) -> Valuation | None:
        """Return where an action leads; None if not enabled, or beyond 64 bits."""
        if action < 0:
            is_dead = next(self._system.each_step(state), None) is None
            return state if is_dead else None
        for step in self._system.steps_by(state, action):
            if step.action == action:
                return step.state if max(step.state, default=0) <= _MOST else None
        return None

    def _violates(self, steps: _Left) -> Job[bool]:
        """Whether the automaton accepts the word of some steps."""
        if self._trials.table is None:
            return True
        letters = []
        for state, action in zip(steps.states, steps.actions, strict=False):
            yield from self._trials.spent(self._per_letter)
            letters.append(self._letters.of(state, action))
        return (yield from self._trials.violates(letters, steps.length))

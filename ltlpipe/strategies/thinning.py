"""Slicing of counterexamples of models, by trial.

Parts of the run are left out, large ones first, and with them whatever is not enabled
then.  What is left is kept if it still closes a cycle and violates the property.

Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", IEEE Transactions on Software Engineering 28(2), 2002, Sec. 3.

Differences from the source: steps that are no longer enabled are left out along with a
part, as they would make most trials fail; a part alone is not tried; parts become
smaller after one sweep over the run, and never larger; the prefix comes first, then the
cycle; all trials together have a budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.strategies.acceptance import Trials
from ltlpipe.systems.propositions.letters import Letters
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation

_THINNING = "extracting the lasso"

_MOST_WORK = 200_000.0
"""Units of work of all trials: some tenths of a second."""

_PER_LETTER = 2.0
"""Units of work of each proposition of a letter."""

_LARGEST = 4_000_000
"""Values in all states of a run that is tried: each takes some ten bytes."""


class _Steps(NamedTuple):
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
        self._trials = Trials(_THINNING, table, _MOST_WORK)

    def best(self, run: Run) -> Job[Run]:
        """Return the shortest run that has been found."""
        states = list(map(tuple, run.states.tolist()))
        best = given = _Steps(run.actions.tolist(), run.length, states)
        best = long = yield from self._with_less(best, of_cycle=False)
        best = yield from self._with_less(best, of_cycle=True)
        if best is not long:  # what only the longer cycle needed is left out
            best = yield from self._with_less(best, of_cycle=False)
        if best is given:
            return run
        actions = np.array(best.actions, dtype=run.actions.dtype)
        return Run(actions, np.array(best.states, dtype=run.states.dtype), best.length)

    def _with_less(self, best: _Steps, *, of_cycle: bool) -> Job[_Steps]:
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

    def _without(self, steps: _Steps, at: int, end: int) -> Job[_Steps | None]:
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
        fewer = _Steps(actions, length, states)
        return fewer if (yield from self._violates(fewer)) else None

    def _after(self, state: Valuation, action: int) -> Valuation | None:
        """Return where an action leads; None if it is not enabled."""
        if action < 0:
            is_dead = next(self._system.each_step(state), None) is None
            return state if is_dead else None
        for step in self._system.steps_by(state, action):
            if step.action == action:
                return step.state
        return None

    def _violates(self, steps: _Steps) -> Job[bool]:
        """Whether the automaton accepts the word of some steps."""
        if self._trials.table is None:
            return True
        letters = []
        for state, action in zip(steps.states, steps.actions, strict=False):
            yield from self._trials.spent(self._per_letter)
            letters.append(self._letters.of(state, action))
        return (yield from self._trials.violates(letters, steps.length))

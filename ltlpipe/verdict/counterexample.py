"""From the run that a strategy has found to the counterexample of a verdict.

A run that stops where the property is lost is continued; one that cannot be may be a
violation as it is.  Other runs become lassos: they are shortened, written down and
replayed, with ``--shortest`` each that is shorter than those before.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.words import first_bad_prefix
from ltlpipe.question.conditions import INSTANT, WALKS
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, Clock, Limits, StoppedError, run
from ltlpipe.strategies.shortening import (
    LONG,
    PRODUCT,
    SYSTEM,
    Shortened,
    begun,
    continued,
    is_open,
    last_step,
    shortened,
    shortened_by_trial,
    shortened_in_python,
    shortened_prefix,
    tightened,
    tightened_in_python,
)
from ltlpipe.verdict.judgement import judged, judged_prefix, sees_steps
from ltlpipe.verdict.portfolio import run_by
from ltlpipe.verdict.verdict import LASSO_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.lasso import FiniteRun, Lasso

    Way = Callable[[Question, Shortened], Job[Shortened]]

FEW_STATES = 4000
"""Least number of states near the initial one in which a short lasso is searched."""

STATES_PER_STEP = 500
"""The same for each step of the known run, if that is more."""

SOME_STATES = 50_000
"""What the steps of a run can come to: they are stored in a tenth of a second."""

TINY = 250
"""States of a product in which it is found out, unasked, whether a run is shortest."""

OTHERS_WORK = 1e7
"""Units of work in which each other strategy may find a shorter run: ten seconds."""

MANY_STATES = 1_000_000
"""Most such states, however many the search has entered: each takes several times the
memory that it takes in a search.
"""

_REPLAY_SECONDS = 0.2
"""What a replay may take after a limit: a run that was found is not lost."""


class Counterexample:
    """The run of a violation.

    Parameters
    ----------
    question : Question
        What is violated.
    answered : Question
        What the run is about: the question, or that about its unfolded net.
    trace : Trace
        The record of the strategy that has found the run.
    strategies : sequence of Strategy
        Those that may find a shorter one.
    formula : Formula, optional
        Of whose bad prefixes the end is recorded.

    Attributes
    ----------
    lasso : Lasso or None
        The best run that has been replayed.
    finite_run : FiniteRun or None
        The same if that is finite.
    reason : str or None
        Why a violation has neither.
    """

    def __init__(
        self,
        question: Question,
        answered: Question,
        trace: Trace,
        strategies: Sequence[Strategy],
        formula: Formula | None = None,
    ) -> None:
        self._question, self._answered = question, answered
        self._trace, self._strategies = trace, strategies
        self._formula = formula
        self._in_place = False
        self._found: Shortened | None = None  # it need not have been replayed
        self.lasso: Lasso | None = None
        self.finite_run: FiniteRun | None = None
        self.reason: str | None = None

    def job(self, answer: Answer) -> Job[bool]:
        """Write down the run of an answer; return whether it is a violation.

        One that stops where the property is lost need not be.
        """
        found, is_shortest = answer.run, answer.is_shortest
        self._in_place = answer.in_place
        assert found is not None
        if self._question.takes_ends and is_open(found):
            longer = yield from continued(self._answered, found)
            if longer is None:
                return (yield from self._ended(found))
            found, is_shortest = longer, False
        yield from self._shortened(begun(found, of_product=is_shortest))
        return True

    def rescue(self, reason: str, limits: Limits, clock: Clock) -> bool:
        """Replay what was found when a limit was hit; return whether it is known.

        Where a shorter run would have taken too much memory, there may be time left.
        """
        if reason != MEMORY:
            limits, clock = Limits(_REPLAY_SECONDS, limits.memory_mib), Clock()
        if self._found is not None and self.lasso is None:
            with suppress(StoppedError):
                run(self._noted(self._found), limits, clock=clock)
        return self.lasso is not None or self.finite_run is not None

    def _ended(self, found: Run) -> Job[bool]:
        """Return whether a run is a violation without a continuation; record it."""
        question = self._question
        if not question.stutters:
            return False
        unfolded = yield from self._unfolded(found)
        if unfolded is not None:
            found = yield from shortened_prefix(self._answered, unfolded, SOME_STATES)
        actions, states, _ = question.refolded(found, self._answered)
        n_steps = max(last_step(found) - (not sees_steps(question)), 0)
        judging = judged_prefix(question, actions[:n_steps], states[: n_steps + 1])
        try:
            self.finite_run = self._told((yield from judging))
        except UnsupportedError:  # by Spot: an automaton that it cannot complement
            self.reason = LASSO_LIMIT
            return True
        return self.finite_run is not None

    def _shortened(self, found: Shortened) -> Job[None]:
        """Make a run short, and replay it."""
        self._found = found
        unfolded = yield from self._unfolded(found.run)
        if unfolded is not None:
            yield from self._made_short(found._replace(run=unfolded))
        else:
            tried = yield from shortened_by_trial(self._question, found.run)
            yield from self._noted(found._replace(run=tried))
        yield from self._marked()

    def _unfolded(self, found: Run) -> Job[Run | None]:
        """Return a run as one of the system that is searched state by state.

        None if unfolding a net costs too much.
        """
        question = self._question
        if self._answered is not question:
            return found
        price = question.options.shortest
        unfolded = yield from question.unfolded_run(found, force=price)
        if unfolded is not None:
            self._answered = yield from question.unfolded()
        return unfolded

    def _made_short(self, found: Shortened) -> Job[None]:
        self._found = found
        asks = self._question.options.shortest
        if self._trace.plan.strategy != INSTANT:  # which finds short lassos itself
            of_steps = min(STATES_PER_STEP * len(found.run.actions), SOME_STATES)
            entered = self._trace.stats.states or 0
            if self._in_place or self._trace.plan.strategy == WALKS:
                entered = 0  # none of them is stored in a product
            found = yield from shortened(
                self._answered,
                found.run,
                most_states=min(max(entered, of_steps, FEW_STATES), MANY_STATES),
            )
        elif len(found.run.actions) >= LONG and not found.shortest_of:  # but in depth
            found = yield from shortened_in_python(self._answered, found.run)
        self._found = found
        if found.shortest_of == PRODUCT and not asks:
            known = yield from tightened_in_python(self._answered, found, TINY)
            if known.run is found.run:  # another is shown to those who ask for it
                found = known
        yield from self._noted(found)
        if asks:
            yield from self._made_shortest(found)

    def _made_shortest(self, found: Shortened) -> Job[None]:
        """Look for a shortest run, and record each that is shorter than before."""
        won = self._trace.plan.strategy
        others = [partial(_by, s) for s in self._strategies if s.name != won]
        soon = partial(tightened, most_states=MANY_STATES)
        ways: list[Way] = [tightened_in_python, soon, *others, tightened]
        for way in ways:
            if found.shortest_of == SYSTEM:
                break
            better = yield from way(self._answered, found)
            if better is not found:
                found = better
                yield from self._noted(found)

    def _noted(self, found: Shortened) -> Job[None]:
        """Replay a run, and record its lasso."""
        own = self._question.refolded(found.run, self._answered)
        lasso = yield from judged(self._question, own)
        self.lasso = self._told(replace(lasso, shortest_of=found.shortest_of))

    def _told(self, run: Any) -> Any:
        """Return a run, if there is one, with the formula that it violates."""
        if run is None or self._formula is None:
            return run
        return replace(run, formula=self._formula.text)

    def _marked(self) -> Job[None]:
        """Record the end of a bad prefix of a safety formula."""
        formula, lasso = self._formula, self.lasso
        if formula is None or not formula.spot.is_syntactic_safety():
            return
        assert lasso is not None
        assert lasso.spelling is not None
        steps = yield from first_bad_prefix(
            formula,
            lasso.spelling.letters,
            lasso.spelling.steps,
            len(lasso.prefix),
            one_at_a_time=not lasso.has_valuations,
        )
        self.lasso = replace(lasso, bad_prefix=steps)


def _by(strategy: Strategy, question: Question, best: Shortened) -> Job[Shortened]:
    """Look whether another strategy finds a shorter run."""
    if strategy.obstacle(question) is None:
        found = yield from run_by(strategy, question, OTHERS_WORK)
        found = yield from continued(question, found)
        if found is not None:
            other = yield from shortened(question, found, most_states=SOME_STATES)
            if len(other.run.actions) < len(best.run.actions):
                return other
    return best

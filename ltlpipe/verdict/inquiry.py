"""The way of one question to its verdict: portfolio, shortening, replay."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.bad_prefixes import first_bad_prefix
from ltlpipe.question.answer import EMPTY, FOUND, Plan, Statistics
from ltlpipe.question.conditions import DECOUPLING, FACTORING
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, silenced, warn
from ltlpipe.runtime.jobs import (
    INTERRUPTED,
    Clock,
    Limits,
    StoppedError,
    run,
    timed,
)
from ltlpipe.strategies.continuation import continued, is_open, last_step
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.strategies.shortening import (
    PRODUCT,
    SYSTEM,
    Shortened,
    begun,
    shortened,
    shortened_by_trial,
    shortened_prefix,
    tightened,
    tightened_in_python,
)
from ltlpipe.verdict.certification import (
    Certification,
    certified_options,
    certified_strategies,
)
from ltlpipe.verdict.entry import run_by
from ltlpipe.verdict.finite_runs import NOT_LOOKED, looked_for
from ltlpipe.verdict.judgement import (
    as_witness,
    has_actions,
    judged,
    judged_prefix,
    sees_steps,
)
from ltlpipe.verdict.portfolio import PRELUDE, Portfolio
from ltlpipe.verdict.questions import (
    is_unfolded_first,
    question_of,
    with_fair_steps,
    without_fairness,
)
from ltlpipe.verdict.replay import bugs_reported
from ltlpipe.verdict.vacuity import VacuityDetection
from ltlpipe.verdict.verdict import (
    HOLDS,
    LASSO_LIMIT,
    UNKNOWN,
    UNSUPPORTED,
    VIOLATED,
    Vacuity,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.strategies.certified import Certified
    from ltlpipe.strategies.strategy import Strategy
    from ltlpipe.systems.models import System
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.verdict import Lasso

    Way = Callable[[Question, Shortened], Job[Shortened]]


FEW_STATES = 4000
"""Least number of states near the initial one in which a short lasso is searched."""

STATES_PER_STEP = 500
"""The same for each step of the known run, if that is more."""

SOME_STATES = 50_000
"""What the steps of a run can come to: they are stored in a tenth of a second."""

TINY = 1_000
"""States of a product in which it is found out, unasked, whether a run is shortest."""

OTHERS_WORK = 1e7
"""Units of work in which each other strategy may find a shorter run: ten seconds."""

MANY_STATES = 1_000_000
"""Most such states, however many the search has entered: each takes several times the
memory that it takes in a search.
"""


_REPLAY_SECONDS = 0.2
"""What a replay may take after a limit: a run that was found is not lost."""


INSTANT = "instant"
"""The strategy that finds short lassos itself."""


class Inquiry:
    """One question on its way to a verdict.

    `constraint` is an automaton of the only runs that count; `strategies` are the ways
    to an answer that may be tried, and `prelude` is for `Portfolio`.  `files` are those
    from which the system has been read, for a certificate.

    Raises
    ------
    FormulaError, UnsupportedError
        The property does not fit this system.
    """

    def __init__(
        self,
        system: System,
        asked: Property,
        options: Options,
        constraint: Any = None,
        strategies: Sequence[Strategy] = STRATEGIES,
        prelude: float = PRELUDE,
        files: Sequence[str] = (),
    ) -> None:
        self._certified: tuple[Certified, ...] = ()
        if options.certificate is not None:
            self._certified = strategies = certified_strategies(options)
            options = certified_options(options)
        self._files = files
        if constraint is not None and options.translator is not None:
            raise UnsupportedError(
                "--constraint cannot be combined with --translator: Spot translates"
            )
        if options.vacuity and asked.formula is None:
            raise UnsupportedError("--vacuity requires a formula")
        self._system, self._asked, self._options = system, asked, options
        self._constraint = constraint
        self._strategies, self._prelude = strategies, prelude
        self._conducted = partial(Portfolio, strategies=strategies, prelude=prelude)
        self._portfolio: Portfolio | None = None
        self._found: Shortened | None = None  # a run that has not been replayed
        self._violated: Verdict | None = None  # with its lasso
        self._held: Verdict | None = None
        self._uncertified = False  # whether a certificate is being written
        self._vacuity: VacuityDetection | None = (
            None  # started once it is known to hold
        )
        self._lasso_seconds = 0.0  # of making it short, and of its replay
        self._clock = Clock()
        if constraint is None and not is_unfolded_first(system, options):
            self._question = question_of(system, asked, options)
            self._portfolio = self._conducted(self._question)
        else:  # it is known when the job has begun
            known = asked if constraint is None else Property(violations=constraint)
            self._question = without_fairness(system, known, options)
        self._answered = self._question  # that the answer is about

    def verdict(
        self,
        limits: Limits,
        observer: Callable[[Progress], None] | bool | None = None,
    ) -> Verdict:
        """Answer the question within limits."""
        system = " ".join(self._files) or self._system.name
        with bugs_reported(system, self._asked.text, self._options):
            try:
                found = run(self._whole(), limits, clock=self._clock, observer=observer)
            except StoppedError as stopped:
                found = self._stopped(stopped.reason)
            finally:
                self._question.close()
        return self._timed(found)

    def refused(self, error: LtlpipeError) -> Verdict:
        """Return the verdict for one of several questions that is unsupported."""
        found = self._timed(self._made(UNKNOWN, UNSUPPORTED))
        return replace(found, message=str(error))

    def _timed(self, found: Verdict) -> Verdict:
        """Return a verdict with its costs."""
        stats = found.stats.by(self._clock)
        if self._lasso_seconds:
            seconds = (stats.lasso_seconds or 0.0) + self._lasso_seconds
            stats = replace(stats, lasso_seconds=seconds)
        return replace(found, stats=stats)

    def _whole(self) -> Job[Verdict]:
        """Answer the question, and warn if the answer leans on finite runs."""
        found = yield from self._job()
        if found.deadlock is None:
            return found
        deadlock = yield from looked_for(self._question, self._clock.work)
        return replace(found, deadlock=deadlock)

    def _job(self) -> Job[Verdict]:
        if self._portfolio is None:
            yield from self._begin()
            assert self._portfolio is not None
        answer = yield from self._answer()
        if answer.kind == EMPTY:
            self._held = self._made(HOLDS)
            if self._question.ignores_finite_runs and not self._asked.is_trivial:
                self._held = replace(self._held, deadlock=NOT_LOOKED)
            yield from self._certify()
            if self._options.vacuity:
                yield from self._detected()
            return self._with_vacuity(self._held)
        if self._certified:
            known = VIOLATED if answer.kind == FOUND else UNKNOWN
            warn(f"no certificate is written: the verdict is {known}")
        if answer.kind != FOUND:
            return self._made(UNKNOWN, answer.reason)
        if answer.run is None:
            return self._made(VIOLATED, LASSO_LIMIT if answer.reason else None)

        if self._violated is None:  # by a finite run
            found = begun(answer.run, of_product=answer.is_shortest)
            yield from timed(self._shortened(found), self._add_lasso_seconds)
        assert self._violated is not None
        return self._violated

    def _answer(self) -> Job[Answer]:
        """Return the answer of the portfolio; an open run has been continued.

        If it cannot be, and is no violation as it is, the question is asked again, and
        the search goes on where the property is lost.
        """
        assert self._portfolio is not None
        answer = yield from self._portfolio.job()
        self._answered = self._question
        if answer.unfolded:
            self._answered = yield from self._question.unfolded()
        run = answer.run
        if run is None or not self._question.takes_ends or not is_open(run):
            return answer
        closing = continued(self._answered, run)
        lasso = yield from timed(closing, self._add_lasso_seconds)
        if lasso is not None:
            return answer._replace(run=lasso, is_shortest=False)
        yield from timed(self._ended(run), self._add_lasso_seconds)
        if self._violated is not None:
            return answer
        asked = self._question
        asked.close()
        with silenced():
            self._question = question_of(asked.system, asked.property, asked.options)  # type: ignore[attr-defined]
        self._question.takes_ends = False
        self._portfolio = self._conducted(self._question)
        return (yield from self._answer())

    def _ended(self, run: Run) -> Job[None]:
        """Record a violation by a finite run, if it is one."""
        if not self._question.stutters:
            return
        unfolded = yield from self._unfolded(run)
        if unfolded is not None:
            run = yield from shortened_prefix(self._answered, unfolded, SOME_STATES)
        actions, states, _ = self._question.refolded(run, self._answered)
        n_steps = last_step(run) - (not sees_steps(self._question))
        n_steps = max(n_steps, 0)
        judging = judged_prefix(
            self._question, actions[:n_steps], states[: n_steps + 1]
        )
        try:
            found = yield from judging
        except UnsupportedError:  # by Spot: an automaton that it cannot complement
            self._violated = self._made(VIOLATED, LASSO_LIMIT)
            return
        if found is not None:
            self._violated = replace(self._made(VIOLATED), finite_run=found)

    def _begin(self) -> Job[None]:
        """Make the question that takes work: constrained, or about an unfolded net."""
        from ltlpipe.automata.translating import constrained

        asked = self._asked
        if self._constraint is not None:
            violations = yield from constrained(
                asked.formula or asked.violations, self._constraint
            )
            asked = Property(violations=violations)
        system = yield from with_fair_steps(self._system, self._options)
        self._question = self._answered = question_of(system, asked, self._options)
        self._portfolio = self._conducted(self._question)

    def _certify(self) -> Job[None]:
        """Write the certificate of a question that holds, if requested."""
        if not self._certified:
            return
        strategy = next(s for s in self._certified if s.ended is not None)
        self._uncertified = True
        certificate = yield from Certification(
            self._answered, strategy, self._files, self._constraint
        ).job(self._asked)
        self._uncertified = False
        assert self._held is not None
        self._held = replace(self._held, certificate=certificate)

    def _shortened(self, found: Shortened) -> Job[None]:
        """Record a violation, whose run has been shortened.

        With ``options.shortest`` it is noted once more when it is a shortest one.
        """
        self._found = found
        unfolded = yield from self._unfolded(found.run)
        if unfolded is not None:
            self._found = found._replace(run=unfolded)
            yield from self._made_short(self._found)
        else:
            run = yield from shortened_by_trial(self._question, found.run)
            yield from self._noted(found._replace(run=run))
        yield from self._marked()

    def _unfolded(self, run: Run) -> Job[Run | None]:
        """Return a run as one of the system that is searched state by state.

        None if unfolding a net costs too much.
        """
        if self._answered is not self._question:
            return run
        found = yield from self._question.unfolded_run(
            run, at_any_price=self._options.shortest
        )
        if found is not None:
            self._answered = yield from self._question.unfolded()
        return found

    def _made_short(self, found: Shortened) -> Job[None]:
        trace = self._portfolio.trace()  # type: ignore[union-attr]
        if trace.plan.strategy != INSTANT:
            of_steps = min(STATES_PER_STEP * len(found.run.actions), SOME_STATES)
            entered = trace.stats.states or 0
            states = min(max(entered, of_steps, FEW_STATES), MANY_STATES)
            found = yield from shortened(
                self._answered,
                found.run,
                most_states=states,
                wanders=trace.plan.strategy == DECOUPLING
                or FACTORING in trace.plan.reductions,
            )
        self._found = found
        if found.shortest_of == PRODUCT and not self._options.shortest:
            known = yield from tightened_in_python(self._answered, found, TINY)
            if known.run is found.run:  # another is shown to those who ask for it
                found = known
        yield from self._noted(found)
        if self._options.shortest:
            yield from self._made_shortest(found)

    def _made_shortest(self, found: Shortened) -> Job[None]:
        """Look for a shortest run, and record each that is shorter than before."""
        won = self._portfolio.trace().plan.strategy  # type: ignore[union-attr]
        others = [partial(self._by, s) for s in self._strategies if s.name != won]
        soon = partial(tightened, most_states=MANY_STATES)
        ways: list[Way] = [tightened_in_python, soon, *others, tightened]
        for way in ways:
            if found.shortest_of == SYSTEM:
                break
            better = yield from way(self._answered, found)
            if better is not found:
                found = better
                yield from self._noted(found)

    def _by(
        self, strategy: Strategy, question: Question, best: Shortened
    ) -> Job[Shortened]:
        """Look whether another strategy finds a shorter run."""
        if strategy.obstacle(question) is None:
            run = yield from run_by(strategy, question, OTHERS_WORK)
            run = yield from continued(question, run)
            if run is not None:
                found = yield from shortened(question, run, most_states=SOME_STATES)
                if len(found.run.actions) < len(best.run.actions):
                    return found
        return best

    def _marked(self) -> Job[None]:
        """Record the end of a bad prefix of a safety formula."""
        formula, found = self._asked.formula, self._violated
        if formula is None or not formula.spot.is_syntactic_safety():
            return
        assert found is not None
        lasso = found.lasso
        assert lasso is not None
        assert lasso.spelling is not None
        steps = yield from first_bad_prefix(
            formula,
            lasso.spelling.letters,
            lasso.spelling.steps,
            len(lasso.prefix),
            one_at_a_time=not lasso.has_valuations,
        )
        self._violated = replace(found, lasso=replace(lasso, bad_prefix=steps))

    def _add_lasso_seconds(self, seconds: float) -> None:
        self._lasso_seconds += seconds

    def _noted(self, found: Shortened) -> Job[None]:
        own = self._question.refolded(found.run, self._answered)
        lasso = yield from judged(self._question, own)
        lasso = replace(lasso, shortest_of=found.shortest_of)
        self._violated = self._made(VIOLATED, lasso=lasso)

    def _detected(self) -> Job[None]:
        """Find out whether the formula, which holds, does so vacuously."""
        formula, system = self._asked.formula, self._system
        assert formula is not None
        self._vacuity = VacuityDetection(
            formula,
            self._ask,
            partial(as_witness, system, formula, self._options),
            one_at_a_time=has_actions(system),
        )
        yield from self._vacuity.job()

    def _ask(self, formula: Formula) -> Job[Verdict]:
        """Ask the same system in the same way whether another formula holds."""
        options = replace(
            self._options, vacuity=False, shortest=False, certificate=None
        )
        with silenced():
            inquiry = Inquiry(
                self._system,
                Property(formula),
                options,
                self._constraint,
                self._strategies,
                self._prelude,
            )
        try:
            return (yield from inquiry._job())
        finally:
            inquiry._question.close()

    def _with_vacuity(self, held: Verdict, reason: str | None = None) -> Verdict:
        """Return a verdict with its vacuity; warn if that is undecided.

        The reason is the limit that has ended it.
        """
        if not self._options.vacuity:
            return held
        known = Vacuity() if self._vacuity is None else self._vacuity.known
        if known.vacuous is None:
            known = replace(known, reason=known.reason or reason)
            warn(f"whether it holds vacuously was not decided: {known.reason}")
        return replace(held, vacuity=known)

    def _stopped(self, reason: str) -> Verdict:
        """Return the verdict of a question that a limit has ended.

        A verdict is never lost, though its lasso or additional results may be.
        """
        if self._uncertified:
            warn(f"no certificate is written: {reason}")
        if self._held is not None:
            ended = INTERRUPTED if reason == INTERRUPTED else None
            return self._with_vacuity(replace(self._held, reason=ended), reason)
        if self._found is not None and self._violated is None:
            # The limit was hit during the search for a shorter run.
            with suppress(StoppedError):
                run(self._noted(self._found), Limits(timeout=_REPLAY_SECONDS))
        if self._violated is not None:
            ended = INTERRUPTED if reason == INTERRUPTED else None
            return replace(self._violated, reason=ended)
        if self._portfolio is not None and self._portfolio.has_found:
            return self._made(VIOLATED, LASSO_LIMIT)
        return self._made(UNKNOWN, reason)

    def _made(
        self, verdict: str, reason: str | None = None, lasso: Lasso | None = None
    ) -> Verdict:
        formula = self._asked.formula
        plan, stats = Plan(None, None), Statistics()
        if self._portfolio is not None:
            trace = self._portfolio.trace()
            plan, stats = trace.plan.spelled(), trace.stats
        return Verdict(
            verdict=verdict,
            reason=reason,
            system=self._system.name,
            formula=None if formula is None else formula.text,
            formula_id=None if formula is None else formula.identifier,
            plan=plan,
            stats=stats,
            lasso=lasso,
        )

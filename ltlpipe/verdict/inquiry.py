"""The way of one question to its verdict: portfolio, counterexample, certificate.

A system and a property are a question of the kind that the system has (`question_of`).
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, means, rebuilt
from ltlpipe.question.answer import EMPTY, FOUND, Plan, Statistics, Trace
from ltlpipe.question.conditions import LINEAR
from ltlpipe.question.given_options import configuration_of
from ltlpipe.question.options import DEADLOCK_ERROR, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import (
    LtlpipeError,
    RoomError,
    SystemWarning,
    UnsupportedError,
    silenced,
    warn,
)
from ltlpipe.runtime.files import refuse_overwriting
from ltlpipe.runtime.jobs import (
    INTERRUPTED,
    MAX_STATES,
    Clock,
    Limits,
    Shared,
    StoppedError,
    TooMuchWorkError,
    bounded,
    complete,
    guided,
    run,
    timed,
)
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.systems.kinds import is_eca, is_symmetric_net
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.counterexample import Counterexample
from ltlpipe.verdict.deadlocks import (
    NONE,
    NOT_LOOKED,
    ending_run,
    known_runs,
    looked_for,
    refuse_if_lacking,
    watched,
)
from ltlpipe.verdict.finite_runs import (
    cut,
    derivation,
    derived,
    has_final,
    is_derived,
    near,
    remembering,
)
from ltlpipe.verdict.judgement import as_witness, lasso_of, spelt_for
from ltlpipe.verdict.portfolio import PRELUDE, Portfolio
from ltlpipe.verdict.replay import bugs_reported
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

    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Grant, Job, Progress
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.certification import Certified, LinearCertified
    from ltlpipe.verdict.lasso import Lasso
    from ltlpipe.verdict.vacuity import VacuityDetection

_FIRST = "runs that end are looked for first, as --deadlock=error asks"


ENDS_SHARE = 0.5
"""Of the time limit: what the search for runs that end has before the question.

It goes on where the answer leans on it.
"""


@dataclass(eq=False)
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

    system: System
    asked: Property
    options: Options
    constraint: Any = None
    strategies: Sequence[Strategy] = STRATEGIES
    prelude: float = PRELUDE
    files: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Look at options, and begin."""
        self._clock = Clock()
        self._certified: tuple[Certified | LinearCertified, ...] = ()
        if self.options.certificate is not None:
            refuse_overwriting({"--certificate": self.options.certificate}, self.files)
            from ltlpipe.verdict.certification import (
                certified_options,
                certified_strategies,
            )

            self._certified = self.strategies = certified_strategies(self.options)
            self.options = certified_options(self.options)
            asked = self.asked.formula
            if (
                asked is not None
                and asked.dialect.past
                and not means(asked.text, asked.spot)
            ):
                raise UnsupportedError(
                    "--certificate cannot be combined with --past, without which "
                    "the formula is another one, or none"
                )
        self._set_up()

    def _set_up(self) -> None:
        """Make the question, unless that takes work."""
        if isinstance(self.system, Model):
            self.system = self.system.for_question(self.asked.propositions)
        if self.constraint is not None and self.options.translator is not None:
            raise UnsupportedError(
                "--constraint cannot be combined with --translator: Spot translates"
            )
        if self.options.deadlock == DEADLOCK_ERROR and self._certified:
            raise UnsupportedError(
                "--certificate cannot be combined with --deadlock=error: it says "
                "nothing about runs that end"
            )
        if self.options.deadlock == DEADLOCK_ERROR and self.asked.is_trivial:
            raise UnsupportedError(
                "--deadlock=error says that runs that end violate a formula: --empty "
                "asks whether a run is accepting, which is infinite; see deadlocks"
            )
        if self.options.deadlock in (DEADLOCK_ERROR, "stutter") or self.options.finite:
            refuse_if_lacking(self.system)
        if self.options.vacuity and self.asked.formula is None:
            raise UnsupportedError("--vacuity requires a formula")
        self._portfolio: Portfolio | None = None
        self._example: Counterexample | None = None
        self._held: Verdict | None = None
        self._vacuity: VacuityDetection | None = None  # once it is known to hold
        self._ends: Trace | None = None  # of the search for runs that end
        self._ending: Shared[Verdict | None] | None = None  # that search, set aside
        self._aside_bytes = 0.0  # which it holds meanwhile
        self._lasso_seconds: list[float] = []
        self._derived = is_derived(self.asked, self.options)
        # Of some questions the names are looked at here, and a job makes them.
        self._is_known = self._derived or self.constraint is not None
        if self._is_known or is_unfolded_first(self.system, self.options):
            self._question = without_fairness(self.system, self.asked, self.options)
        else:
            self._pose(self.system, self.asked)
        if self.constraint is not None:
            kept = Property(violations=self.constraint, name="constraint")
            without_fairness(self.system, kept, self.options).close()

    def verdict(
        self,
        limits: Limits,
        observer: Callable[[Progress], None] | bool | None = None,
    ) -> Verdict:
        """Answer the question within limits."""
        system = " ".join(self.files) or self.system.name
        given = (limits.timeout, limits.cpu_time)
        seconds = min((limit for limit in given if limit is not None), default=inf)
        self._first_work = seconds * 1e6 * ENDS_SHARE
        with bugs_reported(system, self.asked.text, self.options):
            try:
                found = run(self._roomy(), limits, clock=self._clock, observer=observer)
            except StoppedError as stopped:
                found = self._stopped(stopped.reason, limits)
            finally:
                self._close()
        return self._timed(found)

    def _close(self) -> None:
        """Give up what is held, and what was set aside."""
        self._question.close()
        if self._ending is not None:
            self._ending.close()

    def refused(self, error: LtlpipeError) -> Verdict:
        """Return the verdict for one of several questions that is unsupported."""
        found = self._timed(self._made(UNKNOWN, UNSUPPORTED))
        return replace(found, message=str(error))

    def _timed(self, found: Verdict) -> Verdict:
        """Return a verdict with its costs."""
        stats = found.stats.by(self._clock)
        if self._lasso_seconds:
            seconds = (stats.lasso_seconds or 0.0) + sum(self._lasso_seconds)
            stats = replace(stats, lasso_seconds=seconds)
        return replace(found, stats=stats)

    # --- the question -------------------------------------------------------

    def _pose(
        self,
        system: System,
        asked: Property,
        *,
        takes_ends: bool = True,
        simplifies: bool = True,
    ) -> None:
        """Make the question, and the portfolio that answers it."""
        self._question = question_of(system, asked, self.options)
        about = [derivation(self.system, self.options)] if self._derived else []
        if is_eca(self.system) and self.system.proof is not None:
            about.append(self.system.proof)
        given = self._question.given
        self._question.given = replace(given, reasons=(*given.reasons, *about))
        self._question.takes_ends &= takes_ends
        self._question.simplifies = simplifies
        self._portfolio = Portfolio(
            self._question, self.strategies, prelude=self.prelude
        )

    def _begin(self) -> Job[None]:
        """Make the question that takes work: constrained, or about an unfolded net."""
        about = self.system, self.asked, self.options, self.constraint
        system, asked = yield from searched_for(*about)
        with silenced() if self._is_known else nullcontext():
            self._pose(system, asked)

    # --- the answer ---------------------------------------------------------

    def _roomy(self) -> Job[Verdict]:
        """Answer the question, with more room where the system needs it."""
        while True:
            try:
                return (yield from self._whole())
            except RoomError as error:
                self._close()
                self.system = error.roomier()
                self._set_up()

    def _whole(self) -> Job[Verdict]:
        """Answer the question, and warn if the answer leans on finite runs."""
        if self.options.deadlock == DEADLOCK_ERROR:
            self._ending = Shared(self._ended)
            with suppress(TooMuchWorkError):  # the rest is for the question
                job = guided(self._ending.wait(), self._noting)
                ended = yield from bounded(job, self._first_work)
                self._aside_bytes = 0.0
                if ended is not None and ended.verdict == VIOLATED:
                    return ended
        found = yield from guided(self._job(), self._beside)
        if found.verdict == UNKNOWN and self._ending is not None:
            ended = yield from self._rest_of_ends()
            found = ended if ended is not None and ended.verdict == VIOLATED else found
        if found.verdict == VIOLATED and not self.options.finite:
            yield from self._compared_with_title()
        if self.options.finite and found.verdict == HOLDS:
            yield from self._warned_of_nothing()
        if found.deadlock is None:
            return found
        deadlock = yield from looked_for(self._question, self._clock.work)
        return replace(found, deadlock=deadlock)

    def _noting(self, progress: Progress) -> Job[Grant]:
        self._aside_bytes = progress.memory_bytes
        return (yield progress)

    def _beside(self, progress: Progress) -> Job[Grant]:
        """Count what a search that was set aside holds, too."""
        memory_bytes = progress.memory_bytes + self._aside_bytes
        grant = yield progress._replace(memory_bytes=memory_bytes)
        return grant._replace(memory_bytes=grant.memory_bytes - self._aside_bytes)

    def _rest_of_ends(self) -> Job[Verdict | None]:
        """Return what the search for runs that end finds, with the time that is left.

        None if there is no such run, or none is asked for.
        """
        self._aside_bytes = 0.0  # it counts that itself
        return None if self._ending is None else (yield from self._ending.wait())

    def _compared_with_title(self) -> Job[None]:
        """Note that a formula is false on every word of inputs and outputs in turn.

        Then no program satisfies it, whatever its title promises.
        """
        formula, system = self.asked.formula, self.system
        if formula is None or not formula.title or not is_eca(system):
            return
        negated = rebuilt("Not", [formula.spot])
        always = Property(Formula(f"!({formula.text})", negated))
        words = system.any_run(formula.alphabet or ())
        with silenced():
            other = Inquiry(words, always, Options())
            try:
                found = yield from other._job()
            finally:
                other._question.close()
        if found.verdict == HOLDS:
            warn(
                f"the formula is false on every word of inputs and outputs in turn, so "
                f"no program satisfies it, whatever its title says: {formula.title!r}"
            )

    def _warned_of_nothing(self) -> Job[None]:
        """Warn if no run ends, as far as that is known."""
        known = yield from known_runs(self._question, self._clock.work)
        if known.deadlock == NONE and not has_final(self.system):
            warn(
                "no run of the system ends, so that every formula holds", SystemWarning
            )

    def _ended(self) -> Job[Verdict | None]:
        """Return the verdict about a system with a run that ends; None without one."""
        self._ends = trace = Trace(Plan(None, None, reasons=(_FIRST,)))
        answer, finite_run = yield from ending_run(self.system, trace, self.options)
        if answer.kind == EMPTY:
            return None
        if finite_run is not None:
            about = self.system, self.asked, self.options
            spelling = yield from spelt_for(*about, finite_run)
            finite_run = replace(finite_run, spelling=spelling)
        kind = VIOLATED if answer.kind == FOUND else UNKNOWN
        found = replace(self._made(kind, answer.reason), finite_run=finite_run)
        return replace(found, plan=trace.plan, stats=trace.stats)

    def _job(self) -> Job[Verdict]:
        """Answer the question.

        A run that stops where the property is lost, has no continuation nearby, and is
        no violation as it is, does not count: then the question is asked again, and the
        search goes on there.
        """
        if self._portfolio is None:
            yield from self._begin()
        assert self._portfolio is not None
        portfolio = self._portfolio
        answer = yield from watched(
            portfolio.job(),
            self.system,
            self.options.max_states,
            lambda: portfolio.has_found,
            lambda: portfolio.proves,
        )
        answered = self._question
        if answer.unfolded:
            answered = yield from answered.unfolded()
        if answer.kind == EMPTY:
            return (yield from self._holding(answered))
        if self._certified:
            known = VIOLATED if answer.kind == FOUND else UNKNOWN
            warn(f"no certificate is written: the verdict is {known}")
        if answer.kind != FOUND:
            return self._made(UNKNOWN, answer.reason)
        if answer.run is None:
            return self._made(VIOLATED, LASSO_LIMIT if answer.reason else None)
        if self.options.finite:
            return (yield from timed(self._cut(answer), self._lasso_seconds.append))
        self._example = example = Counterexample(
            self._question,
            answered,
            self._portfolio.trace(),
            self.strategies,
            None if self._derived else self.asked.formula,
        )
        if (yield from timed(example.job(answer), self._lasso_seconds.append)):
            example.lasso = yield from self._refolded(example.lasso)
            if self._derived and example.lasso is not None:
                formula: Any = self.asked.formula
                about = self.system, formula, self.options
                example.lasso = yield from remembering(*about, example.lasso)
            return (yield from self._violated(example))
        asked: Any = self._question
        asked.close()
        self._example = None
        # A simpler formula may be lost sooner than the one that was asked.
        simpler = LINEAR in self._portfolio.trace().plan.reductions
        how: dict[str, bool] = {"takes_ends": simpler, "simplifies": False}
        with silenced():
            self._pose(asked.system, asked.property, **how)
        return (yield from self._job())

    def _cut(self, answer: Answer) -> Job[Verdict]:
        """Return the verdict with the finite run that an answer begins with."""
        formula, run = self.asked.formula, answer.run
        assert formula is not None
        assert run is not None
        run = yield from near(self._question, run, unfolded=answer.unfolded)
        found = yield from cut(self.system, formula, self.options, run)
        return replace(self._made(VIOLATED), finite_run=found)

    def _violated(self, example: Counterexample) -> Job[Verdict]:
        found, lasso = self._made(VIOLATED, example.reason), example.lasso
        lasso = yield from self._refolded(lasso)
        return replace(found, lasso=lasso, finite_run=example.finite_run)

    def _refolded(self, lasso: Lasso | None) -> Job[Lasso | None]:
        """Return a lasso of a net that was unfolded first as one of the net itself."""
        net: Any = self.system
        if lasso is None or lasso.system is net:
            return lasso
        if not is_unfolded_first(net, self.options):
            return lasso
        actions, states = net.refolded(lasso.system, lasso.actions, lasso.states)
        own = yield from lasso_of(net, Run(actions, states, len(lasso.prefix)))
        told = {name: getattr(own, name) for name in _OF_SYSTEM}
        return replace(lasso, **told)

    def _holding(self, answered: Question) -> Job[Verdict]:
        """Return the verdict that it holds, with its certificate and its vacuity.

        Not if a part of the system is missing, or a run may end that must not.
        """
        ended = yield from self._rest_of_ends()
        if ended is not None:
            return ended
        if isinstance(self.system, Network) and self.system.lacks is not None:
            warn(f"no violation was found, but {self.system.lacks}")
            return self._made(UNKNOWN, MAX_STATES)
        self._held = self._made(HOLDS)
        if self._question.ignores_finite_runs and not self.asked.is_trivial:
            self._held = replace(self._held, deadlock=NOT_LOOKED)
        if self._certified:
            strategy = next(s for s in self._certified if s.ended is not None)
            from ltlpipe.verdict.certification import certificate_of

            certificate = yield from certificate_of(
                answered, strategy, self.asked, self.files, self.constraint
            )
            self._held = replace(self._held, certificate=certificate)
        if self.options.vacuity:
            yield from self._detected()
        return self._with_vacuity(self._held)

    # --- vacuity ------------------------------------------------------------

    def _detected(self) -> Job[None]:
        """Find out whether the formula, which holds, does so vacuously."""
        formula, system = self.asked.formula, self.system
        assert formula is not None
        from ltlpipe.verdict.vacuity import VacuityDetection

        self._vacuity = VacuityDetection(
            formula,
            self._ask,
            partial(as_witness, system, formula, self.options),
            one_at_a_time=isinstance(system, Network),
        )
        yield from self._vacuity.job()

    def _ask(self, formula: Formula) -> Job[Verdict]:
        """Ask the same system in the same way whether another formula holds."""
        options = replace(self.options, vacuity=False, shortest=False, certificate=None)
        with silenced():
            other = replace(self, asked=Property(formula), options=options)
        try:
            return (yield from other._job())
        finally:
            other._question.close()

    def _with_vacuity(self, held: Verdict, reason: str | None = None) -> Verdict:
        """Return a verdict with its vacuity; warn if that is undecided.

        The reason is the limit that has ended it.
        """
        if not self.options.vacuity:
            return held
        known = Vacuity() if self._vacuity is None else self._vacuity.known
        if known.vacuous is None:
            known = replace(known, reason=known.reason or reason)
            warn(f"whether it holds vacuously was not decided: {known.reason}")
        return replace(held, vacuity=known)

    # --- verdicts -----------------------------------------------------------

    def _stopped(self, reason: str, limits: Limits) -> Verdict:
        """Return the verdict of a question that a limit has ended.

        A verdict is never lost, though its lasso or additional results may be.
        """
        ended = INTERRUPTED if reason == INTERRUPTED else None
        if self._held is not None:
            if self._certified and self._held.certificate is None:
                warn(f"no certificate is written: {reason}")
            return self._with_vacuity(replace(self._held, reason=ended), reason)
        example = self._example
        if example is not None and example.rescue(reason, limits, self._clock):
            return replace(complete(self._violated(example)), reason=ended)
        if self._ends is not None and self._ends.has_found:
            return self._made(VIOLATED, LASSO_LIMIT)
        if self._portfolio is not None and self._portfolio.has_found:
            return self._made(VIOLATED, LASSO_LIMIT)
        return self._made(UNKNOWN, reason)

    def _made(self, verdict: str, reason: str | None = None) -> Verdict:
        formula = self.asked.formula
        plan, stats = Plan(None, None), Statistics()
        if self._portfolio is not None:
            trace = self._portfolio.trace()
            plan, stats = trace.plan.spelled(), trace.stats
        return Verdict(
            verdict=verdict,
            reason=reason,
            system=self.system.name,
            formula=None if formula is None else formula.text,
            formula_id=None if formula is None else formula.identifier,
            plan=plan,
            stats=stats,
            configuration=configuration_of(self.options.differing()),
            alphabet=None if formula is None else formula.alphabet,
        )


def question_of(system: System, asked: Property, options: Options) -> Question:
    """Return the question as one about a network, a graph of Spot, or a model."""
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.networks.lts import Network

    if isinstance(system, Network):
        from ltlpipe.question.network import NetworkQuestion

        return NetworkQuestion(system, asked, options)
    if isinstance(system, SpotGraph):
        from ltlpipe.question.graph import GraphQuestion

        return GraphQuestion(system, asked, options)
    from ltlpipe.question.model import ModelQuestion

    return ModelQuestion(system.for_question(asked.propositions), asked, options)


def searched_for(
    system: System, asked: Property, options: Options, constraint: Any
) -> Job[tuple[System, Property]]:
    """Return what is searched for: with fair steps, derived, under a constraint."""
    from ltlpipe.automata.translation import constrained

    system = yield from with_fair_steps(system, options)
    if is_derived(asked, options):
        system, asked = yield from derived(system, asked, options)
    if constraint is not None:
        subject = asked.formula or asked.violations
        violations = yield from constrained(subject, constraint)
        asked = Property(violations=violations, declared=asked.alphabet)
    return system, asked


_OF_SYSTEM = ("prefix", "cycle", "actions", "states", "moves", "system")


def without_fairness(system: System, asked: Property, options: Options) -> Question:
    """Return the question about all runs; it looks at no step of the system."""
    return question_of(system, asked, replace(options, fairness=None, fair_sets=()))


def is_unfolded_first(system: System, options: Options) -> bool:
    """Whether a question is about an unfolded net in any case.

    Fairness is to steps, which the unfolded net has.
    """
    return options.fairness is not None and is_symmetric_net(system)


def with_fair_steps(system: System, options: Options) -> Job[System]:
    """Return the system with the steps that ``--fairness`` is about.

    Raises
    ------
    UnsupportedError
        It is a symmetric net that is too large when it is unfolded.
    """
    if is_unfolded_first(system, options):
        net: Any = system
        system = yield from net.unfolding()
    return system

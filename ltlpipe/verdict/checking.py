"""From a system and a property to a verdict: what users call.

The way between the two is `ltlpipe.verdict.portfolio`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import FormulaLike, formula_of
from ltlpipe.logic.generating import quoted
from ltlpipe.question.answer import EMPTY, FOUND, Plan, Statistics
from ltlpipe.question.options import AUTO, OPTIONS, TOGETHER, Options, understood
from ltlpipe.question.property import Property
from ltlpipe.reduction.components.groups import CAP_STATES
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Clock, Limits, StoppedError, run
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.systems.reading import name_of_system, system_job
from ltlpipe.verdict.judgement import judged
from ltlpipe.verdict.portfolio import PRELUDE, Portfolio
from ltlpipe.verdict.verdict import (
    HOLDS,
    LASSO_LIMIT,
    UNKNOWN,
    UNSUPPORTED,
    VIOLATED,
    Verdict,
    not_read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.strategies.strategy import Strategy
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike
    from ltlpipe.verdict.verdict import Lasso


def check(
    system: SystemLike,
    formula: FormulaLike | None = None,
    *,
    violations: Any = None,
    empty: bool = False,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
    emptiness: str = AUTO,
    acceptance: str = AUTO,
    reduce: str = AUTO,
    semantics: str | None = None,
    deadlock: str | None = None,
    seed: int | None = None,
    strict: bool = False,
    lasso: bool = True,
    bitstate: float | None = None,
    visible: str | None = None,
    ample_inner: str = "full",
    cap_states: int = CAP_STATES,
    accepting: str = TOGETHER,
    stack_test: bool = False,
    deterministic: bool = False,
    translator: str | None = None,
    fairness: str | None = None,
    fair_sets: Sequence[str] = (),
    symmetric: Sequence[str] = (),
    constraint: Any = None,
    workers: int = 1,
    cpu_time: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verdict:
    """Decide whether every infinite run of `system` satisfies a property.

    Exactly one of `formula`, `violations` and `empty` says what is asked.

    Parameters
    ----------
    system : Network, Model, or paths
        What `ltlpipe.load` returned, which is not changed, or what it takes.  Reading
        may take as long as the question.
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.  Of a network an atomic proposition names an action, and
        exactly one action happens at each step; of a model it is a comparison, such as
        ``P_1=="CS"``, about the state that a step leaves.  If components have accepting
        states, only runs that visit a state in which all accept infinitely
        often count.
    violations : spot.twa_graph
        An automaton of the runs that shall not be.
    empty : bool
        Ask whether the network, with the acceptance of its components, has no
        accepting run at all.
    timeout : float, optional
        Wall-clock limit in seconds, without the time in which kernels are compiled;
        None means no limit.
    memory : float, optional
        Limit in MiB of all that is held; None means nine tenths of what the machine
        has free.
    max_states : int, optional
        Limit of product states.
    emptiness, acceptance, reduce, semantics, deadlock : str, optional
        As the flags of the command line; see `ltlpipe.question.options.Options`.
    seed : int, optional
        Shuffles the order of transitions.
    strict : bool
        Whether it is an error, not a warning, that a proposition is no action of
        the system, or that `visible` names what neither system nor automaton has.
    lasso : bool
        Whether a violation is followed by extracting and replaying a lasso.
    bitstate : float, optional
        Size in MiB of a bit array in which visited states are noted instead of
        being stored.  States may be missed: "holds" becomes "unknown" for the
        reason "bitstate"; "violated" is as exact as ever.
    visible : str, optional
        The visible actions of `violations`, with commas between; by default all
        that it names.  Ample sets are used only if no others matter to it.
    ample_inner : str
        "full" or "stored": how the red search of se05 finds ample sets again.
    cap_states : int
        States that a composition of components may have while they are reduced.
    accepting : str
        Which runs of a network with several accepting components count: "together",
        those on which all accept in the same state, infinitely often; or "each",
        those on which each accepts infinitely often, no matter when.
    stack_test : bool
        Whether decoupled-ndfs compares its inner states with those on the stack, too
        (Gnad et al. 2021, Lemma 1): violations may be found earlier, at a price that
        grows with the stack.
    deterministic : bool
        Whether the property automaton is to be deterministic (for `acceptance` "tgra",
        "tfla" and "tela").
    translator : str, optional
        A command that prints an automaton in HOA for the formula that stands for
        ``%f`` in it; by default Spot translates.
    fairness : str, optional
        "weak" or "strong": only runs count that are fair to every component, or to
        each of `fair_sets`.  What is enabled again and again (strong), or all the time
        from some point on (weak), must be taken again and again.
    fair_sets : sequence of str
        Sets of actions, each with commas between.
    symmetric : sequence of str
        Classes of components that can be interchanged, each with commas between the
        names; by default they are found.
    constraint : spot.twa_graph, optional
        Only runs that it accepts count; it is moved to the property's side, so that
        what it says of single components does not take the system its symmetry.
    workers : int
        Threads that a search may use.
    cpu_time : float, optional
        Limit in seconds of CPU time, that of worker processes included; None means no
        limit.
    progress : callable, optional
        Called with a `ltlpipe.runtime.jobs.Progress`, ten times a second or more.

    Returns
    -------
    Verdict
        `verdict` is "holds", "violated" or "unknown"; `reason` is the limit
        that was hit, else None.  `lasso` is set iff violated and asked for.

    Raises
    ------
    FormulaError
        `formula` does not parse; or, if strict, a name means nothing.
    UnsupportedError
        The options ask for what cannot be done.

    References
    ----------
    .. [1] S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
       Algorithms", TACAS 2005.
    """
    given = locals()  # the options are parameters by the same names
    if sum((formula is not None, violations is not None, empty)) != 1:
        raise UnsupportedError("expected one of a formula, an automaton, or --empty")
    asked = Property(None if formula is None else formula_of(formula), violations)
    options, limits = understood({name: given[name] for name in OPTIONS})
    try:
        loaded = run(system_job(system), limits, observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason, asked.formula)
    return Inquiry(loaded, asked, options, constraint).verdict(limits, progress)


class Inquiry:
    """One question on its way to a verdict.

    `constraint` is an automaton of the only runs that count; `strategies` are the ways
    to an answer that may be tried, and `prelude` is for `Portfolio`.

    Raises
    ------
    FormulaError, UnsupportedError
        The question cannot be asked of this system.
    """

    def __init__(
        self,
        system: System,
        asked: Property,
        options: Options,
        constraint: Any = None,
        strategies: Sequence[Strategy] = STRATEGIES,
        prelude: float = PRELUDE,
    ) -> None:
        if constraint is not None and options.translator is not None:
            raise UnsupportedError(
                "--constraint takes what Spot translates: no --translator"
            )
        self._system, self._asked, self._options = system, asked, options
        self._constraint = constraint
        self._conducted = partial(Portfolio, strategies=strategies, prelude=prelude)
        self._portfolio: Portfolio | None = None
        self._clock = Clock()
        if constraint is None:
            self._question = question_of(system, asked, options)
            self._portfolio = self._conducted(self._question)
        else:
            self._question = question_of(
                system, Property(violations=constraint), options
            )

    def verdict(
        self,
        limits: Limits,
        observer: Callable[[Progress], None] | None = None,
    ) -> Verdict:
        """Answer the question within limits."""
        try:
            found = run(self._job(), limits, clock=self._clock, observer=observer)
        except StoppedError as stopped:
            found = self._stopped(stopped.reason)
        finally:
            self._question.close()
        return self._timed(found)

    def refused(self, error: UnsupportedError) -> Verdict:
        """Return what to say of one of several questions for which `verdict` raises."""
        found = self._timed(self._made(UNKNOWN, UNSUPPORTED))
        return replace(found, message=str(error))

    def _timed(self, found: Verdict) -> Verdict:
        """Return a verdict with what it has cost."""
        return replace(found, stats=found.stats.by(self._clock))

    def _job(self) -> Job[Verdict]:
        if self._portfolio is None:
            from ltlpipe.automata.translating import constrained

            asked = self._asked
            violations = yield from constrained(
                asked.formula or asked.violations, self._constraint
            )
            allowed = Property(violations=violations)
            self._question = question_of(self._system, allowed, self._options)
            self._portfolio = self._conducted(self._question)
        answer = yield from self._portfolio.job()
        if answer.kind == EMPTY:
            return self._made(HOLDS)
        if answer.kind != FOUND:
            return self._made(UNKNOWN, answer.reason)
        if answer.run is None:
            return self._made(VIOLATED, LASSO_LIMIT if answer.reason else None)

        lasso = yield from judged(self._question, answer.run)
        return self._made(VIOLATED, lasso=lasso)

    def _stopped(self, reason: str) -> Verdict:
        """Return the verdict of a question that a limit has ended.

        A violation that was found is never lost, though its lasso may be.
        """
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
            plan, stats = trace.plan, trace.stats
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


def question_of(system: System, asked: Property, options: Options) -> Question:
    """Return the question as one about a network or about a model."""
    from ltlpipe.systems.lts import Network

    if isinstance(system, Network):
        from ltlpipe.question.network import NetworkQuestion

        return NetworkQuestion(system, asked, options)
    from ltlpipe.question.model import ModelQuestion

    return ModelQuestion(system, asked, options)


def livelock(
    system: SystemLike,
    progress_actions: Sequence[str],
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run makes progress again and again.

    Parameters
    ----------
    system : Network, Model, or paths
        As for `check`.
    progress_actions : sequence of str
        The actions that are progress.
    progress : callable, optional
        As for `check`.
    **options
        The others of `check`, such as `fairness`.

    Returns
    -------
    Verdict
        "violated" if there is a livelock: an infinite run, fair as `fairness` says,
        with finitely many of these actions.

    Raises
    ------
    UnsupportedError
        An action does not exist, or the options ask for what cannot be done.

    References
    ----------
    .. [1] V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
       Rabin and Fin-less automata", STTT 21 (2019), Sec. 4.3.
    """
    from ltlpipe.systems.lts import Network

    given = {name: options[name] for name in OPTIONS if name in options}
    try:
        system = run(system_job(system), understood(given)[1], observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason)
    known = system.action_index if isinstance(system, Network) else system.actions
    for name in progress_actions:
        if name not in known:
            raise UnsupportedError(
                f"no action of the system is called {name!r}, which is to be progress"
            )
    if not progress_actions:
        raise UnsupportedError("name at least one action that is progress")
    said = "{}" if isinstance(system, Network) else 'action=="{}"'
    parts = [quoted(said.format(name)) for name in progress_actions]
    return check(system, f"GF({' | '.join(parts)})", progress=progress, **options)

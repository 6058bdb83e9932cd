"""From a system and a property to a verdict: the public functions.

The way between the two is `ltlpipe.verdict.portfolio`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ltlpipe.automata.graphs import edge_of, is_automaton, is_graph, lasso_automaton
from ltlpipe.automata.hoa import hoa_text, unclaimed
from ltlpipe.logic.formulas import Formula, FormulaLike, formula_of
from ltlpipe.logic.generating import quoted
from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer, Plan, Trace
from ltlpipe.question.given_options import (
    manner_of,
    of_question,
    takes_options,
    understood,
)
from ltlpipe.question.options import CHECK, DEADLOCKS, LIVELOCK
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import (
    AUTOMATON,
    PATH,
    TEXT,
    TRUTH,
    a_kind,
    expect,
    several,
)
from ltlpipe.runtime.errors import (
    InputError,
    RoomError,
    UnsupportedError,
    noting,
    warn,
)
from ltlpipe.runtime.jobs import Clock, StoppedError, run
from ltlpipe.runtime.objects import ByValue, Displayed
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.models import Model
from ltlpipe.systems.reading import files_of, name_of_system, system_job
from ltlpipe.verdict.deadlocks import deadlock_job
from ltlpipe.verdict.inquiry import Inquiry, question_of, searched_for
from ltlpipe.verdict.replay import bugs_reported
from ltlpipe.verdict.verdict import (
    HOLDS,
    LASSO_LIMIT,
    UNKNOWN,
    VIOLATED,
    Verdict,
    not_read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from ltlpipe.question.answer import Statistics
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.search.counting import ProductSize
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike
    from ltlpipe.verdict.lasso import Lasso


_NEAREST = (
    "breadth-first, which finds a shortest path to a nearest deadlock; no reductions, "
    "because they only preserve infinite runs"
)


@takes_options(CHECK)
def check(
    system: SystemLike,
    formula: FormulaLike | None = None,
    *,
    automaton: Any = None,
    empty: bool = False,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run of `system` satisfies a property.

    Exactly one of `formula`, `automaton` and `empty` is given, or none of them for a
    model whose file has its property: a DVE model with a property process.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        A result of `ltlpipe.load`, which is not changed, or an argument for it.
        Reading may take as long as the question.
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.  Of a network an atomic proposition names an action, and
        exactly one action happens at each step; of a model it is a comparison, such as
        ``P_1=="CS"``, about the state that a step leaves; of a graph of Spot it is one
        of the graph's.  If components have accepting states, only runs that visit a
        state in which all accept infinitely often count; of an automaton, only runs
        that it accepts.
    automaton : spot.twa_graph or path
        An automaton, or its HOA file, of the negated property: it accepts the
        violations.
    empty : bool
        Ask whether the system, with the acceptance of its components, or as an
        automaton, has no accepting run at all.
    progress : bool or callable, optional
        Whether a bar is shown: below the cell of a notebook, or on standard error if
        that is a terminal.  By default a notebook shows it after a second.  A callable
        is called with a `ltlpipe.runtime.jobs.Progress`, ten times a second or more.
    **options

    Returns
    -------
    Verdict
        `verdict` is "holds", "violated" or "unknown"; `reason` is the limit
        that was hit, else None.  `lasso` is set iff violated and requested.

    Raises
    ------
    FormulaError
        `formula` does not parse, or a proposition names nothing of the system.
    UnsupportedError
        An option or combination is not supported.

    References
    ----------
    .. [1] S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
       Algorithms", TACAS 2005.
    """
    expect(TRUTH, empty=empty)
    n_given = sum((formula is not None, automaton is not None, empty))
    if n_given > 1:
        raise UnsupportedError(_ONE_QUESTION)
    chosen, limits = understood(options)
    asked = None
    if formula is not None:
        asked = formula_of(formula, dialect=chosen.dialect)
    expect(AUTOMATON.or_none, automaton=automaton)
    read = partial(run, limits=limits, observer=progress)
    with noting() as warned:
        try:
            loaded = read(system_job(system, **manner_of(options)))
            if n_given:
                note_own_property(loaded)
            else:
                automaton = own_property(loaded)
            violations = read(automaton_job(automaton))
            constraint = read(automaton_job(chosen.constraint))
        except StoppedError as stopped:
            return not_read(name_of_system(system), stopped.reason, asked)
        inquiry = Inquiry(
            loaded,
            Property(asked, violations),
            chosen,
            constraint,
            files=files_of(system),
        )
        verdict = inquiry.verdict(limits, progress)
    return replace(verdict, warnings=tuple(warned))


_ONE_QUESTION = "expected one of a formula, --automaton, and --empty"


def own_property(system: System) -> str:
    """Return the property that a model's file has, an automaton in HOA.

    Raises
    ------
    UnsupportedError
        It has none.
    """
    violations = getattr(system, "violations", None)
    if violations is None:
        raise UnsupportedError(_ONE_QUESTION)
    return str(violations)


def note_own_property(system: System) -> None:
    """Warn that the property of a model's file is not what is asked."""
    if getattr(system, "violations", None) is not None:
        warn(
            f"{system.name}: the property process is no part of the system, and is not "
            "what is asked; without a formula it is"
        )


def automaton_job(automaton: Any) -> Job[Any]:
    """Return an automaton; a text is one, or the path of the file of one.

    Alternation is removed, and what is said of it but may not be so.
    """
    if not isinstance(automaton, (str, os.PathLike)):
        if not is_automaton(automaton):
            return automaton
        automaton = unclaimed(automaton)
        if automaton.is_existential():
            return automaton
        automaton = hoa_text(automaton)
    from ltlpipe.automata.given_automata import is_text, parse_job, read_job

    text = os.fspath(automaton)
    if not is_text(text):
        return (yield from read_job(text))
    parsed = yield from parse_job(text, "automaton")
    if len(parsed) != 1:
        message = f"expected one automaton, found {len(parsed)}"
        raise InputError(message, file="automaton")
    return parsed[0]


@takes_options(LIVELOCK)
def livelock(
    system: SystemLike,
    progress_actions: Sequence[str] = (),
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run makes progress again and again.

    Parameters
    ----------
    system : Network, Model, or paths
        As for `check`.
    progress_actions : sequence of str
        The actions that are progress.  A Promela model may have labels ``progress``:
        without actions they count, and a run makes progress while a process is there.
    progress : bool or callable, optional
        As for `check`.
    **options

    Returns
    -------
    Verdict
        "violated" if there is a livelock: an infinite run, fair as `fairness` says,
        with finitely many of these actions.

    Raises
    ------
    UnsupportedError
        An action does not exist, or an option is not supported.

    References
    ----------
    .. [1] V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
       Rabin and Fin-less automata", STTT 21 (2019), Sec. 4.3.
    """
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.networks.lts import Network

    progress_actions = several(TEXT, progress_actions, "progress_actions")
    try:
        reading = system_job(system, **manner_of(options))
        system = run(reading, understood(options)[1], observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason)
    if isinstance(system, SpotGraph):
        raise UnsupportedError(
            "livelock is about actions, and a graph of Spot has none: check a formula "
            "such as GF(progress)"
        )
    own = None if isinstance(system, Network) else system.makes_progress
    if own is not None and not progress_actions:
        return check(system, own, progress=progress, **of_question(options))
    if isinstance(system, Network):
        known: Container[str] = system.action_index
    else:
        known = system.vocabulary.actions
    for name in progress_actions:
        if name not in known:
            raise UnsupportedError(
                f"no action of the system is called {name!r}, which is to be progress"
            )
    if not progress_actions:
        raise UnsupportedError(
            "missing option '--progress': name at least one action that is progress"
        )
    said = str if isinstance(system, Network) else _taking
    parts = [quoted(said(name)) for name in progress_actions]
    formula = f"GF({' | '.join(parts)})"
    return check(system, formula, progress=progress, **of_question(options))


def _taking(action: str) -> str:
    """Return the proposition that a step of a model takes an action."""
    escaped = re.sub(r'["\\]', r"\\\g<0>", action)
    return f'action=="{escaped}"'


@takes_options(DEADLOCKS)
def deadlocks(
    system: SystemLike,
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Find the nearest deadlock: a state without successors.

    Of a Promela model it is an invalid end state: one in which some process is neither
    at its end nor at a label ``end``.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        As for `ltlpipe.check`.
    progress : bool or callable, optional
        As for `ltlpipe.check`.
    **options

    Returns
    -------
    Verdict
        "violated" if there is one: the prefix of the lasso is a shortest path to it,
        the cycle its stuttering step.  "holds" if there is none.
    """
    chosen, limits = understood(options)
    try:
        reading = system_job(system, **manner_of(options))
        system = run(reading, limits, observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason)
    if isinstance(system, Model) and system.ends_validly is not None:
        found = check(
            system, system.ends_validly, progress=progress, **of_question(options)
        )
        return replace(found, formula=None, formula_id=None)
    clock = Clock()
    trace = Trace(Plan(None, None, reasons=(_NEAREST,)))
    lasso = None
    try:
        with bugs_reported(system.name, "deadlocks", chosen):
            job = deadlock_job(system, trace, chosen)
            answer, lasso = run(job, limits, clock=clock, observer=progress)
    except StoppedError as stopped:
        answer = Answer(INCONCLUSIVE, stopped.reason)
        if trace.has_found:
            answer = Answer(FOUND, LASSO_LIMIT)
    verdict = {EMPTY: HOLDS, FOUND: VIOLATED}.get(answer.kind, UNKNOWN)
    stats, plan = trace.stats.by(clock), trace.plan
    return Verdict(verdict, answer.reason, system.name, None, plan, stats, lasso)


Found = TypeVar("Found")


def product_size(
    system: System, formula: Formula | Any | None, **options: Any
) -> ProductSize | None:
    """Return the reachable states and transitions of a product; None after a limit.

    The arguments are those of `check`; instead of a formula there may be an automaton
    of its violations, and without a property the product is the system itself.  The
    transitions with Fin marks are counted as well.
    """
    return _found(system, formula, options, _explored)


def size_job(system: System, options: Options) -> Job[ProductSize | None]:
    """Return the job that counts all states and transitions of a system.

    Its result is None if there are more states than ``--max-states``.
    """
    return _job(system, None, options, _explored)


def chosen_search(
    system: System, formula: Formula | None, **options: Any
) -> str | None:
    """Return the emptiness check that suits a question state by state.

    The arguments are those of `check`.  None if a limit was hit before the automaton
    was known.
    """
    return _found(system, formula, options, _settled)


def _found(
    system: System,
    formula: Formula | Any | None,
    options: dict[str, Any],
    find: Callable[[Question], Job[Found | None]],
) -> Found | None:
    """Return the result of a job about a question; None if a limit was hit."""
    chosen, limits = understood(options)
    try:
        return run(_job(system, formula, chosen, find), limits)
    except StoppedError:
        return None


def _job(
    system: System,
    formula: Formula | Any | None,
    options: Options,
    find: Callable[[Question], Job[Found | None]],
) -> Job[Found | None]:
    while True:
        question = yield from _question(system, formula, options)
        try:
            return (yield from find(question))
        except RoomError as error:
            system = error.roomier()
        finally:
            question.close()


def _question(
    system: System, formula: Formula | Any | None, options: Options
) -> Job[Question]:
    """Return the question, with the automaton of the only runs that count."""
    has_automaton = formula is not None and not isinstance(formula, Formula)
    asked = Property(violations=formula) if has_automaton else Property(formula)
    constraint = yield from automaton_job(options.constraint)
    system, asked = yield from searched_for(system, asked, options, constraint)
    return question_of(system, asked, options)


def _explored(question: Question) -> Job[ProductSize | None]:
    from ltlpipe.search.counting import product_size_of

    question = yield from question.unfolded()
    product = yield from question.product(question.given, Trace(question.given))
    packed = yield from product.packed()
    while packed is not None:
        yield from packed.ready()
        options = question.options
        problem = replace(product.problem(packed), compress=options.compress)
        most = options.max_states
        size = yield from product_size_of(problem, packed.bits, max_states=most)
        if packed.overflowed() is None:
            return size
        packed = yield from packed.widened()
    return None


def _settled(question: Question) -> Job[str | None]:
    """Return the search that is chosen for the automaton."""
    plan = question.given
    product = yield from question.product(plan, Trace(plan))
    return question.settled(plan, product.table).emptiness


_SHOWN = 60
"""Characters of a run that its ``repr`` has."""


class RunStep(NamedTuple):
    """One step of a run of an automaton.

    Parameters
    ----------
    state : int
        The state that it leaves.
    label : str
        The condition of the edge.
    marks : tuple of int
        Its marks.
    """

    state: int
    label: str
    marks: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class AutomatonRun(ByValue):
    """An accepting run of an automaton of Spot: ``prefix cycle cycle ...``.

    Parameters
    ----------
    lasso : Lasso
        The run with one valuation for each step.
    """

    lasso: Lasso

    @property
    def graph(self) -> Any:
        """The automaton."""
        return self.lasso.system.graph  # type: ignore[union-attr]

    @cached_property
    def prefix(self) -> list[RunStep]:
        """The steps before the cycle."""
        return self._steps(0, len(self.lasso.prefix))

    @cached_property
    def cycle(self) -> list[RunStep]:
        """The steps that repeat, at least one."""
        return self._steps(len(self.lasso.prefix), len(self.lasso.actions))

    def _steps(self, first: int, end: int) -> list[RunStep]:
        numbers = self.lasso.actions[first:end].tolist()
        states = self.lasso.states[first:end, 0].tolist()
        return [
            RunStep(state, *edge_of(self.graph, number, state))
            for number, state in zip(numbers, states, strict=True)
        ]

    def __str__(self) -> str:
        """Return the states, those of the cycle in parentheses.

        Examples
        --------
        >>> import spot
        >>> str(is_empty(spot.translate("G F a")).run)
        '(0)'
        """
        states = list(map(str, self.lasso.states[:-1, 0].tolist()))
        first = len(self.lasso.prefix)
        return " ".join([*states[:first], f"({' '.join(states[first:])})"])

    def __repr__(self) -> str:
        return f"<AutomatonRun {_shortened(str(self))}>"

    @property
    def word(self) -> Any:
        """A word that is accepted, a ``spot.twa_word``; see `Lasso.word`."""
        return self.lasso.word

    def as_twa(self) -> Any:
        """Return the run as a ``spot.twa_graph`` in the shape of a lasso."""
        numbers = self.lasso.actions.tolist()
        return lasso_automaton(self.graph, numbers, len(self.lasso.prefix))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 2]} …"


@dataclass(frozen=True, eq=False)
class EmptinessResult(ByValue, Displayed):
    """The result of `ltlpipe.is_empty`.

    Parameters
    ----------
    empty : bool or None
        None if a limit was hit.
    reason : str or None
        Why emptiness or the run is unknown: the limit that was hit.
    run : AutomatonRun or None
        An accepting run, which has been replayed, if there is one.
    plan : Plan
        How it was found out.
    stats : Statistics
        What that has cost.
    """

    empty: bool | None
    reason: str | None
    run: AutomatonRun | None
    plan: Plan = field(repr=False)
    stats: Statistics = field(repr=False)

    def __bool__(self) -> bool:
        """Refuse to be taken for true or false: it may be unknown.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("the answer may be unknown: use .empty, which is None then")


@takes_options(CHECK)
def is_empty(
    automaton: Any,
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> EmptinessResult:
    """Decide whether an automaton of Spot accepts no word, whatever its acceptance.

    An emptiness check that does not take the acceptance of the automaton searches its
    product with an automaton of one state that does, made by Spot.

    Parameters
    ----------
    automaton : spot.twa_graph, path or text
        Or a Kripke structure; or an automaton in HOA, as for `ltlpipe.check`.
    progress : bool or callable, optional
        As for `ltlpipe.check`.
    **options

    Returns
    -------
    EmptinessResult

    Raises
    ------
    UnsupportedError
        It is not an automaton, is alternating, or an option is not supported.

    Examples
    --------
    >>> import spot
    >>> str(is_empty(spot.translate("G F a"), emptiness="tela").run)
    '(0)'
    """
    if PATH.fits(automaton):
        try:
            job = automaton_job(automaton)
            automaton = run(job, understood(options)[1], observer=progress)
        except StoppedError as stopped:
            unread = not_read("automaton", stopped.reason)
            return EmptinessResult(None, unread.reason, None, unread.plan, unread.stats)
    if not is_graph(automaton) and not isinstance(automaton, SpotGraph):
        raise UnsupportedError(
            "automaton: expected a spot.twa_graph, or one in HOA, not "
            f"{a_kind(automaton)}; ltlpipe.automaton translates a formula"
        )
    verdict = check(automaton, empty=True, progress=progress, **options)
    found = None if verdict.lasso is None else AutomatonRun(verdict.lasso)
    empty = None if verdict.verdict == UNKNOWN else verdict.verdict != VIOLATED
    return EmptinessResult(empty, verdict.reason, found, verdict.plan, verdict.stats)

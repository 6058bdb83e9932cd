"""A question: a system, a property, options, and the facts that strategies share.

A fact (an automaton, whether the property is interruptible) is found by a job when a
strategy first asks for it, and kept.  Strategies that wait for the same fact share the
job (`ltlpipe.runtime.jobs.Shared`).

Its plan says which automaton, which reductions and which search are used, and why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ltlpipe.automata.conditions import Shape, has_shape, shape_of
from ltlpipe.automata.letters import universal
from ltlpipe.question.answer import Plan
from ltlpipe.question.conditions import (
    ALPHABET,
    AMPLE,
    AMPLE_SETS,
    AUTO,
    BITSTATE,
    obstacle,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Shared
from ltlpipe.search.catalogue import (
    DECOUPLED,
    POWERSET,
    SEARCHES,
    SHARED,
    takes_any_marks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ltlpipe.automata.conditions import Condition, Fairness
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.plain_steps import PlainSteps
    from ltlpipe.systems.runs import Run

Fact = TypeVar("Fact")


class NotApplicableError(Exception):
    """A strategy discovers during its work that it cannot be used.

    Parameters
    ----------
    reason : str
        The reason.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Product(ABC):
    """The product of a system and an automaton, the input of a search state by state.

    Attributes
    ----------
    question : Question
        About the system, or what takes its place.
    table : PropertyAutomaton
        The automaton of the violations.
    plan : Plan
        With the kind of automaton that this is.
    reductions : tuple of str or None
        Those that have made something smaller; None if nothing could.
    """

    question: Question
    plan: Plan
    reductions: tuple[str, ...] | None
    table: Any

    @abstractmethod
    def packed(self) -> Job[Any]:
        """Return the packed system; None if there is no room for its values."""

    @abstractmethod
    def with_table(self, table: PropertyAutomaton) -> Product:
        """Return the product with another automaton over the same letters."""

    def problem(self, packed: Any) -> Problem:
        """Return the product of the packed system and the automaton."""
        from ltlpipe.search.problem import make_problem

        stutters, fairness = self.question.stutters, self.question.fairness
        return make_problem(packed, self.table, stutter=stutters, fairness=fairness)

    def needed_bytes(self, packed: Any) -> int:
        """Return the bytes of the buffers of `problem`."""
        from ltlpipe.search.problem import buffer_bytes

        return buffer_bytes(packed, self.table)


class Question(ABC):
    """One question about one system.

    Parameters
    ----------
    name : str
        Of the system.
    asked : Property
        The property.
    options : Options
        How it shall be answered.
    system_marks : int
        Acceptance marks that the system brings.
    fairness : Fairness, optional
        The sets that runs have to be fair to.
    delegated : Condition, optional
        A condition that the property's automaton checks, too: the acceptance of a
        system whose marks are part of the letters.

    Raises
    ------
    UnsupportedError
        An option or combination is not supported.

    Attributes
    ----------
    kind : str
        Of the system; see `ltlpipe.question.conditions`.
    given : Plan
        The choices that the options fix.
    generic : bool
        Whether the property's automaton keeps its acceptance, instead of being
        translated to a Büchi automaton for a reduction.
    translated : Formula or None
        That of the property, or one that says the same of the system.
    system_condition : Condition or None
        What has to hold of the system's marks; None is each infinitely often.
    explored : Moves or None
        The states of the system that a search in plain Python has met, and their steps.
    takes_ends : bool
        Whether searches stop where every word is accepted; see `ends`.
    simplifies : bool
        Whether propositions that are constant in the system may be replaced.
    part : str
        What runs are fair to, unless sets are named.
    """

    kind: str
    system_condition: Condition | None = None
    explored: Any = None
    takes_ends: bool = True
    simplifies: bool = True
    part: str = "component"

    def __init__(
        self,
        name: str,
        asked: Property,
        options: Options,
        *,
        system_marks: int = 0,
        fairness: Fairness | None = None,
        delegated: Condition | None = None,
    ) -> None:
        self.name = name
        self.property = asked
        self.translated: Formula | None = asked.formula
        self.options = options
        self.system_marks = system_marks
        self.fairness, self.delegated = fairness, delegated
        has_fin = asked.has_fin or options.translator is not None
        if delegated is not None:
            has_fin |= not has_shape(delegated, Shape.GENERALISED_BUCHI)
        if options.translator is not None and asked.formula is None:
            raise UnsupportedError("--translator requires a formula")
        self.given: Plan = make_plan(
            options,
            has_property=not asked.is_trivial or delegated is not None,
            has_fin=has_fin,
        )
        self.generic = options.deterministic or (
            has_fin and not options.insists_on(AMPLE)
        )
        self._facts: dict[Hashable, Shared[Any]] = {}
        self._facts_of: str | None = None  # of a substitute: what has made its system

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""
        return self.options.stutters

    @property
    def ignores_finite_runs(self) -> bool:
        """Whether runs that end do not count, though ``--deadlock`` can make them."""
        return not self.stutters

    @property
    def accepts_apart(self) -> bool:
        """Whether several components accept, each for itself."""
        return False

    @abstractmethod
    def product(self, plan: Plan, trace: Trace) -> Job[Product]:
        """Return the product with all steps of the system.

        Parameters
        ----------
        plan : Plan
            Which automaton, and which search if that is settled.
        trace : Trace
            Records the automaton.
        """

    @abstractmethod
    def ample_product(self, plan: Plan, trace: Trace) -> Job[tuple[Product, str]]:
        """Return the product with ample sets, and why they may be used.

        Raises
        ------
        NotApplicableError
            They may not.
        """

    def unfolded(self) -> Job[Question]:
        """Return the question about the system that is searched state by state: itself.

        A symmetric net is unfolded for that.

        Raises
        ------
        UnsupportedError
            It is too large to be unfolded.
        """
        yield from ()
        return self

    def unfolded_run(self, run: Run, *, force: bool) -> Job[Run | None]:  # noqa: ARG002
        """Return a run of the system as one of that of `unfolded`.

        None if that is not known yet and costs more than a shorter run is worth, unless
        it shall be made `force`; or if it cannot be made.
        """
        yield from ()
        return run

    def refolded(self, run: Run, unfolded: Question) -> Run:
        """Return a run of the system of `unfolded` as one of this system.

        That question is this one, or the one that `unfolded` has returned.
        """
        assert unfolded is self
        return run

    def obstacle_to_ample(self) -> str | None:
        """Return why ample sets are out of the question, whatever the property."""
        return obstacle(self, AMPLE_SETS)

    def require_ample(self) -> None:
        """Raise NotApplicableError if there is an obstacle to ample sets.

        Every method that returns a product with ample sets calls it.
        """
        hindrance = self.obstacle_to_ample()
        if hindrance is not None:
            raise NotApplicableError(hindrance)

    @abstractmethod
    def plain_steps(
        self, plan: Plan, trace: Trace
    ) -> Job[tuple[PlainSteps, PropertyAutomaton]]:
        """Return the system in plain Python, and the automaton over its letters."""

    @property
    def has_long_rows(self) -> bool:
        """Whether states take so much room that their successors are not all stored."""
        return False

    def stored(self, trace: Trace) -> Job[Answer] | None:  # noqa: ARG002 (of graphs)
        """Return the search of what is stored already; None if there is none."""
        return None

    def fact(
        self,
        key: Hashable,
        make: Callable[[], Job[Fact]],
        *,
        of_property: bool = False,
    ) -> Job[Fact]:
        """Return a fact, computed by the job that `make` returns unless it is known.

        One that is not just `of_property` is about this question's own system.
        """
        if self._facts_of is not None and not of_property:
            key = self._facts_of, key
        shared = self._facts.get(key)
        if shared is None:
            shared = self._facts[key] = Shared(make)
        result: Fact = yield from shared.wait()
        return result

    def table(
        self, plan: Plan, names: list[str], trace: Trace, **more: Any
    ) -> Job[PropertyAutomaton]:
        """Return the automaton of the violations over some names, and record it.

        It is translated once, and not at all without a property; `more` are parameters
        of `ltlpipe.automata.translation.translated`.
        """
        kind = (plan.automaton or "").lower()
        if self.property.is_trivial:
            table = universal()
        else:
            key = "table", kind, *names, *more.values()
            make = partial(self._translated, kind, names, **more)
            found = self.fact(key, make, of_property=True)
            table = yield from trace.timed("translation_seconds", found)
        note_table(trace, table)
        return table

    def _translated(
        self, kind: str, names: list[str], *, over_states: bool = False, **more: Any
    ) -> Job[PropertyAutomaton]:
        from ltlpipe.automata.translation import translated

        options = self.options
        violated = yield from self.violated()
        # Over states an automaton is used unchanged unless an option or a search needs
        # another kind.
        is_free = options.acceptance == AUTO and not options.deterministic
        as_it_is = is_free and kind != "ba" and violated is not self.translated
        table = yield from translated(
            violated,
            None if over_states and as_it_is else kind,
            names,
            over_states=over_states,
            deterministic=options.deterministic,
            **more,
        )
        return table

    def settled(
        self,
        plan: Plan,
        table: PropertyAutomaton,
        reductions: tuple[str, ...] | None = (),
    ) -> Plan:
        """Complete a plan of `make_plan` once the automaton is known.

        Parameters
        ----------
        plan : Plan
            Its choices are kept.
        table : PropertyAutomaton
            What is searched for.
        reductions : tuple of str, optional
            Those that have made something smaller; None if there are no components that
            could be made smaller.

        Raises
        ------
        UnsupportedError
            The automaton does not suit the search that the user names.
        """
        options, fairness = self.options, self.fairness
        marks = self.system_marks - table.system_marks
        conditions = [table.condition, self.system_condition]
        if fairness is not None:
            marks += fairness.n_marks
            conditions.append(fairness.condition)
        has_fin = any(c is not None and c.fin_marks for c in conditions)
        name, reasons = plan.emptiness, list(plan.reasons)
        if name is None:
            choose = _choose_for_fin if has_fin else _choose
            name, why = choose(self, table, marks)
            reasons.insert(0, f"{name}, because {why}")
        else:
            has_any = any(c is not None for c in conditions[:2])
            _refuse_condition(name, options, has_fin=has_fin, has_any=has_any)
            _refuse_unfit(name, options, table, marks)
        kind = kind_of(plan, options, table)
        is_free = kind is not None and options.acceptance == AUTO
        if is_free and (plan.emptiness is None or takes_any_marks(plan.emptiness)):
            why = "one mark on states is all that the automaton needs"
            why = why if kind == "BA" else f"{name} takes it"
            reasons.insert(1, f"{kind}, because {why}")
        if table.system_marks:
            reasons.append(
                "one mark for the property and the acceptance of the system together, "
                f"because {name} supports only one (degeneralised by Spot)"
            )
        if fairness is not None:
            reasons.append(why_fair(self, fairness))
        elif reductions is not None:
            reasons.append(_why_reduced(options, (*plan.reductions, *reductions)))
        if self.delegated is not None:
            reasons.append(
                f"the automaton checks the acceptance of the graph, {self.delegated}, "
                f"because {name} does not support it"
            )
        return replace(
            plan,
            automaton=kind,
            emptiness=name,
            reductions=tuple(dict.fromkeys((*plan.reductions, *(reductions or ())))),
            reasons=tuple(reasons),
            weak=table.weak and not marks,
        )

    def ends(self, table: PropertyAutomaton) -> np.ndarray:
        """Return bool[n_states]: where a search for violations stops; or no entries.

        In these states of the property every word is accepted, and no mark of the
        system counts: a run violates the property iff some continuation counts.  Each
        finite run has one if states without successors repeat themselves.  Else one
        has to be found: that is tried where nothing else is a violation.
        """
        counts = self.stutters or (table.terminal and self.options.lasso)
        has_marks = self.system_marks > 0 or self.fairness is not None
        if (
            self.takes_ends
            and counts
            and not has_marks
            and not self.property.is_trivial
        ):
            return table.universal_states()
        return np.zeros(0, dtype=np.bool_)

    def violated(self) -> Job[Any]:
        """Return the formula that shall hold, or the automaton of its violations."""
        formula, command = self.translated, self.options.translator
        if formula is None or command is None:
            return formula or self.property.violations
        from ltlpipe.automata.given_automata import translate_externally

        automaton = yield from self.fact(
            "external", lambda: translate_externally(formula, command)
        )
        return automaton

    def close(self) -> None:
        """Close the running jobs, and drop the facts; also of questions among these."""
        facts = list(self._facts.values())
        self._facts.clear()  # they refer to this question
        for shared in facts:
            shared.close()
            if isinstance(shared.result, Question):
                shared.result.close()


def note_table(trace: Trace, table: PropertyAutomaton) -> None:
    """Tell a trace the size of the automaton that is searched with."""
    trace.note(automaton_states=table.n_states, acceptance=table.acceptance)


_SECTION = "(Schwoon & Esparza 2005, Sec. 5.3)"

_TAKES_FIN = {"rabin": "tgra", "rabin-parallel": "tgra", "tela": "tela"}
"""The default acceptance for a search that supports Fin."""


def make_plan(options: Options, *, has_property: bool, has_fin: bool = False) -> Plan:
    """Choose the kind of automaton, and the search if the user names it.

    `Question.settled` makes the choices that depend on the automaton.

    Parameters
    ----------
    options : Options
        What the user asks for.
    has_property : bool
        Whether there is a formula or an automaton; otherwise only the system's own
        acceptance counts.
    has_fin : bool
        Whether it is an automaton whose acceptance has Fin, or may turn out to be.

    Raises
    ------
    UnsupportedError
        An option names something that does not exist; the message lists the
        alternatives.
    """
    name: str | None = options.emptiness
    reasons: list[str] = []
    if options.omitting is not None:
        name = BITSTATE
        reasons.append(
            f"{name}, because bits instead of states need a search that keeps bits: "
            f"nested DFS is the best choice for bitstate hashing {_SECTION}"
        )
    elif name == AUTO:
        name = None
    else:
        reasons.append(f"{name}, requested by --emptiness")
    if options.fairness is not None and name is not None and not takes_any_marks(name):
        way_out = "use --emptiness=tela"
        if options.omitting is not None:
            way_out = f"leave out {options.omitting}"
        raise UnsupportedError(
            f"--fairness={options.fairness} needs several marks, but {name} takes one "
            f"on states: {way_out}"
        )
    acceptance = options.acceptance
    if acceptance != AUTO:
        reasons.append(f"{acceptance.upper()}, requested by --acceptance")
    else:
        acceptance = _free_kind(name, generic=has_fin or options.deterministic)
        if acceptance == "ba" and has_property:
            reasons.append(f"BA, because {name} needs it")
    kind = acceptance.upper() if has_property else None
    return Plan(kind, name, reasons=tuple(reasons))


def _free_kind(name: str | None, *, generic: bool) -> str:
    """Return the kind of automaton for a search, where the user names none.

    `generic` prefers one with any acceptance.
    """
    if name is not None and not takes_any_marks(name):
        return "ba"
    if name in _TAKES_FIN:
        return _TAKES_FIN[name]
    if not generic:
        return "tgba"
    if name is None:
        return "tela"
    # Without Fin the condition may be a disjunction, which not every search takes.
    sets = (*DECOUPLED, *POWERSET)
    return "tfla" if name not in sets and SEARCHES[name]().fin_less else "tgba"


def tells_marks(plan: Plan, system_marks: int) -> int:
    """Return how many of the system's marks the property automaton checks.

    All of them if the search takes a single mark: then Spot degeneralises the
    property and the system's acceptance together.
    """
    if plan.automaton is None or plan.emptiness is None:
        return 0
    return 0 if takes_any_marks(plan.emptiness) else system_marks


def for_workers(plan: Plan, options: Options) -> Plan:
    """Return a settled plan with a search that several workers share, if it is free.

    Searches for acceptance with Fin have a form for workers themselves.
    """
    if options.workers == 1 or plan.emptiness in SHARED:
        return plan
    if options.swarm is not None:
        why = f"{options.workers} searches at a time, each by one worker"
        return replace(plan, reasons=(*plan.reasons, why))
    if options.emptiness != AUTO or options.omitting is not None:
        why = f"one worker, because {plan.emptiness} cannot be shared"
        return replace(plan, reasons=(*plan.reasons, why))
    why = (
        f"ufscc, because {options.workers} workers can share its states and partial "
        "SCCs (Bloemen et al. 2016 and 2019)"
    )
    return replace(plan, emptiness="ufscc", reasons=(why, *plan.reasons[1:]))


def kind_of(plan: Plan, options: Options, automaton: PropertyAutomaton) -> str | None:
    """Return the name of an automaton's kind; None if the user chose it."""
    kind = plan.automaton
    if kind is None or options.acceptance != AUTO:
        return kind
    if automaton.is_buchi:
        return "BA"
    return "TGBA" if automaton.condition is None else kind


def _choose_for_fin(
    question: Question,
    table: PropertyAutomaton,
    marks: int,  # noqa: ARG001 (as `_choose`)
) -> tuple[str, str]:
    """Return the search for acceptance with Fin, and the reason."""
    fairness, condition = question.fairness, question.system_condition
    own = condition if condition is not None and condition.fin_marks else None
    if question.options.acceptance == "tgra" and fairness is None and own is None:
        return "rabin", (
            "generalised Rabin pairs are searched one after another, each without its "
            "Fin transitions (Bloemen et al. 2019, Algorithms 1-3)"
        )
    if fairness is not None and fairness.condition.fin_marks:
        what = "strong fairness is a Streett condition"
    elif own is not None:
        what = f"the acceptance of the system, {own}, is {shape_of(own).value}"
    else:
        assert table.condition is not None
        shape = shape_of(table.condition).value
        what = f"the acceptance {table.acceptance} is {shape}"
    return "tela", (
        f"{what}: SCCs are checked against it, and decomposed only where "
        "necessary (Baier et al. 2019)"
    )


def why_fair(question: Question, fairness: Fairness) -> str:
    """Describe fairness in a plan."""
    options = question.options
    n_sets = fairness.n_marks // (2 if options.fairness == "strong" else 1)
    fair_to = "set of actions" if options.fair_sets else question.part
    marks = f"{fairness.n_marks} mark{'s' * (fairness.n_marks != 1)}"
    return (
        f"only runs count that are {options.fairness}ly fair to each "
        f"{fair_to} ({n_sets} of them, {marks}), and no reductions, because "
        "they change which actions are enabled"
    )


def _why_reduced(options: Options, reductions: tuple[str, ...]) -> str:
    if ALPHABET in reductions:
        return (
            f"{ALPHABET}, because there are transitions that no run can take: another "
            "component, or the automaton, never offers their label "
            "(Siegel & Yan 2020, Sec. 6)"
        )
    if options.reduce == "none":
        return "no reductions, requested by --reduce"
    return (
        "nothing trimmed, because components and automaton offer each other all their "
        "labels"
    )


def _choose(
    question: Question, table: PropertyAutomaton, marks: int
) -> tuple[str, str]:
    """Return the search for an automaton beside marks of the system, and the reason."""
    is_weak = table.weak and not marks
    if is_weak and not question.has_long_rows:
        kind = "weak, and even terminal" if table.terminal else "weak"
        return "dfs-weak", (
            f"the automaton is {kind}: a simple DFS keeps two bits per state, visits "
            "each once, and finds a violation with the least exploration "
            f"{_SECTION}"
        )
    if is_weak:
        kind = "rows are long, and their successors stored a few at a time"
    elif question.fairness is not None:
        kind = "fairness adds marks"
    elif marks > 0:
        kind = "the system brings acceptance of its own"
    elif table.condition is not None:
        kind = f"the automaton has no Fin ({table.acceptance})"
    elif table.n_marks > 1:
        kind = f"the automaton is generalised ({table.n_marks} marks)"
    else:
        kind = "the automaton is unrestricted (not weak)"
    return "couvreur99", (
        f"{kind}: an SCC-based search finds a violation with the least exploration "
        f"and supports any number of marks {_SECTION}"
    )


def _refuse_condition(
    name: str, options: Options, *, has_fin: bool, has_any: bool
) -> None:
    """Refuse a search that does not take the condition."""
    if not (has_fin or has_any):
        return
    if name not in (*DECOUPLED, *POWERSET):
        search = SEARCHES[name]()
        if search.emerson_lei or (search.fin_less and not has_fin):
            return
    what = "acceptance with Fin" if has_fin else "a disjunction"
    advice = "--emptiness=tela" if options.omitting is None else "--acceptance=ba"
    raise UnsupportedError(f"{name} does not take {what}: use {advice}")


def _refuse_unfit(
    name: str, options: Options, table: PropertyAutomaton, marks: int
) -> None:
    """Refuse an automaton that the search would answer wrongly, or not at all."""
    advice = "use --emptiness=couvreur99"
    needed = {
        "dfs-weak": ("weak", table.weak),
        "reach-terminal": ("terminal", table.terminal),
    }
    kind, suits = needed.get(name, ("", True))
    if not suits or (kind and marks):
        why = f"that of the violations is not {kind}"
        if marks + table.system_marks > 0:
            why = "the system brings acceptance of its own"
        raise UnsupportedError(f"{name} needs a {kind} automaton, and {why}: {advice}")
    has_one = table.n_marks + marks <= 1 and table.state_based
    if not has_one and not takes_any_marks(name):
        given = f"--acceptance={options.acceptance} gives {table.acceptance}"
        way_out = advice if options.omitting is None else "use --acceptance=ba"
        raise UnsupportedError(
            f"{name} takes one acceptance mark on states, but {given} on transitions: "
            f"{way_out}"
        )


def not_generalised(table: PropertyAutomaton) -> str:
    """Return why searches of sets of states do not take an automaton."""
    return (
        f"its automaton accepts by {table.acceptance} (--acceptance=tgba makes it "
        "generalised Büchi)"
    )

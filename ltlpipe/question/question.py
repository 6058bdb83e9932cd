"""A question: a system, a property, options, and the facts that strategies share.

A fact (an automaton, whether the property is interruptible) is found by a job when a
strategy first asks for it, and kept.  Strategies that wait for the same fact share the
job (`ltlpipe.runtime.jobs.Shared`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ltlpipe.automata.conditions import Shape, has_shape
from ltlpipe.automata.letters import universal
from ltlpipe.question.conditions import AMPLE, AMPLE_SETS, obstacle
from ltlpipe.question.plan import make_plan, settle
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Shared

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ltlpipe.automata.conditions import Condition, Fairness
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.networks.packing import PackedSystem
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


class Product(Protocol):
    """The input of a search state by state."""

    plan: Plan
    reductions: tuple[str, ...] | None

    @property
    def table(self) -> PropertyAutomaton:
        """The automaton of the violations."""

    def packed(self) -> Job[PackedSystem | None]:
        """Return the packed system."""

    def problem(self, packed: Any) -> Problem:
        """Return the product of a packed system and the automaton."""

    def needed_bytes(self, packed: Any) -> int:
        """Return the bytes of the buffers of `problem`."""


class WholeProduct(Product, Protocol):
    """The same with all steps of the system."""

    def with_table(self, table: PropertyAutomaton) -> WholeProduct:
        """Return the product with another automaton over the same letters."""


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
    """

    kind: str
    system_condition: Condition | None = None
    explored: Any = None
    takes_ends: bool = True

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
        self.fairness = fairness
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

    @property
    @abstractmethod
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""

    @property
    def ignores_finite_runs(self) -> bool:
        """Whether runs that end do not count, though ``--deadlock`` can make them."""
        return not self.stutters

    @property
    def accepts_apart(self) -> bool:
        """Whether several components accept, each for itself."""
        return False

    @abstractmethod
    def product(self, plan: Plan, trace: Trace) -> Job[WholeProduct]:
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

    def fact(self, key: Hashable, make: Callable[[], Job[Fact]]) -> Job[Fact]:
        """Return a fact, computed by the job that `make` returns unless it is known."""
        shared = self._facts.get(key)
        if shared is None:
            shared = self._facts[key] = Shared(make)
        result: Fact = yield from shared.wait()
        return result

    def table(
        self,
        key: Hashable,
        make: Callable[[], Job[PropertyAutomaton]],
        trace: Trace,
    ) -> Job[PropertyAutomaton]:
        """Return the automaton of the violations, and record it in a trace.

        `make` is called once for each key, and not at all without a property.
        """
        if self.property.is_trivial:
            table = universal()
        else:
            found = self.fact(("table", key), make)
            table = yield from trace.timed("translation_seconds", found)
        note_table(trace, table)
        return table

    def settled(
        self,
        plan: Plan,
        table: PropertyAutomaton,
        reductions: tuple[str, ...] | None = (),
    ) -> Plan:
        """Complete a plan for an automaton; see `settle`."""
        return settle(
            plan,
            self.options,
            table,
            self.system_marks,
            reductions,
            self.fairness,
            self.system_condition,
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
        from ltlpipe.automata.external import translate_externally

        automaton = yield from self.fact(
            "external", lambda: translate_externally(formula, command)
        )
        return automaton

    def close(self) -> None:
        """Close the running jobs, and drop the facts."""
        for shared in self._facts.values():
            shared.close()
        self._facts.clear()  # they refer to this question


def note_table(trace: Trace, table: PropertyAutomaton) -> None:
    """Tell a trace the size of the automaton that is searched with."""
    trace.note(automaton_states=table.n_states, acceptance=table.acceptance)

"""What all questions have in common: the search that is chosen, its figures, a verdict.

The way of a question about a network is `ltlpipe.verdict.task`, of one about a model
`ltlpipe.verdict.model_task`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.jobs import MIB
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.registers import Reg, Status
from ltlpipe.verdict.limits import drive
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.problem import Problem
    from ltlpipe.verdict.limits import Limits, Progress
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property
    from ltlpipe.verdict.verdict import Lasso, Plan, Statistics

BITSTATE_REASON = "bitstate"
"""Why a search without a violation says nothing: states may have been missed."""


class ProductSize(NamedTuple):
    """How large a product is, as far as it can be reached.

    Parameters
    ----------
    states, transitions : int
        All of them.
    fin_transitions : int or None
        Transitions that carry a mark of which the acceptance condition has a Fin
        term; None if it has none.
    """

    states: int
    transitions: int
    fin_transitions: int | None

    @property
    def fin_share(self) -> float | None:
        """The share of transitions with Fin marks; None without Fin or transitions."""
        if self.fin_transitions is None or not self.transitions:
            return None
        return self.fin_transitions / self.transitions


def explored(
    problem: Problem, limits: Limits, interrupt: Interrupt
) -> ProductSize | None:
    """Return the size of a product, if it was explored within the limits."""
    from ltlpipe.search.exploring import Exploration

    search = Exploration(problem)
    if drive(search, limits, interrupt=interrupt).reason is not None:
        return None
    condition = problem.condition
    has_fin = condition is not None and condition.fin_marks != 0
    return ProductSize(
        states=int(search.registers[Reg.VISITED]),
        transitions=int(search.registers[Reg.TRANSITIONS]),
        fin_transitions=search.fin_transitions if has_fin else None,
    )


class Question(ABC):
    """One question on its way to a verdict.

    Parameters
    ----------
    name : str
        Of the system.
    asked : Property
        What is asked of it.
    options : Options
        How it shall be answered.
    """

    def __init__(self, name: str, asked: Property, options: Options) -> None:
        self.name = name
        self.property = asked
        self.options = options
        self.started = time.monotonic()

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """How the question is answered, as far as it is known."""

    @property
    @abstractmethod
    def stats(self) -> Statistics:
        """What that has cost so far."""

    @abstractmethod
    def _note(self, **figures: Any) -> None:
        """Add to what is known."""

    def _new_search(self, problem: Problem) -> Search:
        if self.options.bitstate is not None:
            from ltlpipe.search.nested.bitstate import BitstateSE05

            return BitstateSE05(problem, self.options.bitstate)
        assert self.plan.emptiness is not None  # since `settle`
        return SEARCHES[self.plan.emptiness]()(problem)

    @property
    def _bits_mib(self) -> float:
        return self.options.bitstate or 0.0

    def _searched(
        self,
        search: Search,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
        overflowed: Callable[[], int | None] | None = None,
    ) -> Verdict | None:
        """Run a search to its end; None for a violation whose lasso is wanted."""
        began = time.monotonic()
        outcome = drive(
            search,
            limits,
            interrupt=interrupt,
            progress=progress,
            overflowed=overflowed,
        )
        self._note_search(search, time.monotonic() - began)
        if outcome.reason is not None:
            return self._verdict(UNKNOWN, outcome.reason)
        if outcome.status == Status.EMPTY:
            if self.options.bitstate is not None:
                return self._verdict(UNKNOWN, BITSTATE_REASON)
            return self._verdict(HOLDS)
        return None if self.options.lasso else self._verdict(VIOLATED)

    def _details(self, search: Search) -> dict[str, int]:  # noqa: ARG002
        """Return what reductions have to say of a search."""
        return {}

    def _note_search(self, search: Search, seconds: float) -> None:
        registers = search.registers
        states = int(registers[Reg.VISITED])
        self._note(
            states=states,
            transitions=int(registers[Reg.TRANSITIONS]),
            max_depth=int(registers[Reg.MAX_DEPTH]),
            memory_mib=search.memory_bytes / MIB,
            bytes_per_state=search.memory_bytes / states if states else None,
            colour_bytes_per_state=search.bytes_per_state,
            search_seconds=seconds,
            details=search.statistics() | self._details(search),
            coverage=search.coverage(),
        )

    def stopped(self, reason: str) -> Verdict:
        """Return the verdict of a question that was given up before it was begun."""
        return self._verdict(UNKNOWN, reason)

    def _verdict(
        self, verdict: str, reason: str | None = None, lasso: Lasso | None = None
    ) -> Verdict:
        formula = self.property.formula
        return Verdict(
            verdict=verdict,
            reason=reason,
            system=self.name,
            formula=None if formula is None else formula.text,
            formula_id=None if formula is None else formula.identifier,
            plan=self.plan,
            stats=replace(self.stats, seconds=time.monotonic() - self.started),
            lasso=lasso,
        )

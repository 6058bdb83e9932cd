"""The way of one question: translation, reductions, search, lasso, replay."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.reduction.alphabet import letters_of
from ltlpipe.reduction.ample import relation_of
from ltlpipe.reduction.decoupling import table_bytes
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MIB, StoppedError
from ltlpipe.search.ample import Inner, ample_bytes
from ltlpipe.search.problem import buffer_bytes, make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems.packing import pack
from ltlpipe.verdict.attempts import (
    FEW_SETS,
    SHORT_SECONDS,
    at_most,
    attempts,
    side_attempts,
)
from ltlpipe.verdict.fairness import check_fairness
from ltlpipe.verdict.lasso import network_lasso
from ltlpipe.verdict.lifting import Lifter
from ltlpipe.verdict.limits import extracted
from ltlpipe.verdict.notes import note_sets_too_many
from ltlpipe.verdict.preparing import Preparation
from ltlpipe.verdict.property import known_actions
from ltlpipe.verdict.question import (
    Question,
    explored,
)
from ltlpipe.verdict.replay import replay_formula, replay_run, replay_word
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.reduction.alphabet import Trimmed
    from ltlpipe.reduction.decoupling import Asked
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.packing import PackedNetwork
    from ltlpipe.verdict.attempts import Attempt
    from ltlpipe.verdict.decoupled import DecoupledRun
    from ltlpipe.verdict.limits import Limits, Progress
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property
    from ltlpipe.verdict.question import ProductSize
    from ltlpipe.verdict.symmetry import AskedOfSets, SymmetricRun
    from ltlpipe.verdict.verdict import Lasso, Plan, Statistics, Verdict


TOO_MUCH = ("max-states", "memory")
"""Reasons why an attempt ends that another one may not have."""


class Task(Question):
    """One question about a network on its way to a verdict.

    Parameters
    ----------
    system : Network
        What is asked; it is not changed.
    asked : Property
        What is asked of it.
    options : Options
        How it shall be answered.

    Raises
    ------
    UnsupportedError
        The options ask for what cannot be done.
    """

    def __init__(self, system: Network, asked: Property, options: Options) -> None:
        if options.visible is not None and asked.violations is None:
            raise UnsupportedError(
                "--visible goes with --automaton; the visible actions of a formula are "
                "those that it names"
            )
        if options.semantics == "state":
            raise UnsupportedError(
                "--semantics state: the states of a network of LTSs have no "
                "propositions; use action"
            )
        super().__init__(system.name, asked, options)
        self.system = system
        self.prepared = Preparation(system, asked, options)
        self._figures: dict[str, Any] = {}  # of the last search

    @property
    def plan(self) -> Plan:
        """How the question is answered, as far as it is known."""
        return self.prepared.plan

    @property
    def stats(self) -> Statistics:
        """What that has cost so far."""
        return replace(self.prepared.stats, **self._figures)

    def _note(self, **figures: Any) -> None:
        """Add to what is known of the search."""
        self._figures.update(figures)

    def run(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Verdict:
        """Answer the question; what the machine cannot give is a limit, too."""
        actions = known_actions(self.system, self.property, self.options)
        prepared = self.prepared
        try:
            of_sets = prepared.symmetric(actions, limits, interrupt)
            if of_sets is None:
                return self._search_states(actions, limits, interrupt, progress)
            if self.options.wants_symmetry:
                run = self._sets(of_sets, limits, interrupt)
                return self._ended(run, limits, interrupt, progress)
            return self._search_sets(of_sets, actions, limits, interrupt, progress)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        except MemoryError:
            return self._verdict(UNKNOWN, "memory")

    def _search_states(
        self,
        actions: list[str],
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        """Answer without symmetry: in short attempts, and then in a whole one."""
        *short, whole = attempts(
            self.options, self.prepared.obstacles, self.prepared.plan.emptiness, limits
        )
        verdict = self._first_answer(actions, short, interrupt, progress)
        return verdict or self._attempt(actions, whole, interrupt, progress)

    def _first_answer(
        self,
        actions: list[str],
        short: Iterable[Attempt],
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict | None:
        """Return what the first attempt says that comes to an end."""
        for attempt in short:
            verdict = self._attempt(actions, attempt, interrupt, progress)
            if verdict.reason not in TOO_MUCH:
                return verdict
            self.prepared.begin_again()
        return None

    def _attempt(
        self,
        actions: list[str],
        attempt: Attempt,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        trimmed = self.prepared.prepare(actions, attempt, interrupt)
        if self.prepared.decoupled is not None:
            asked = self.prepared.decoupled
            return self._search_decoupled(asked, attempt.limits, interrupt, progress)
        return self._search(trimmed, attempt.limits, interrupt, progress)

    def explore(self, limits: Limits, interrupt: Interrupt) -> ProductSize | None:
        """Return the size of the whole product, if it was explored in time."""
        actions = known_actions(self.system, self.property, self.options)
        try:
            trimmed, _ = self.prepared.trimmed(actions, limits, interrupt)
            problem = make_problem(
                self._pack(trimmed),
                trimmed.table,
                stutter=self.options.stutters,
                fairness=self.prepared.fairness,
            )
            return explored(problem, limits, interrupt)
        except (StoppedError, MemoryError):
            return None

    def _search(
        self,
        trimmed: Trimmed,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        automaton, packed = trimmed.table, self._pack(trimmed)
        needed = buffer_bytes(packed, automaton) + self._bits_mib * MIB
        if self.prepared.visible is not None:
            needed += ample_bytes(packed, len(trimmed.network.actions))
        if needed > limits.memory_bytes:
            return self._verdict(UNKNOWN, "memory")
        search = self._new_search(self._problem(packed, trimmed))
        verdict = self._searched(search, limits, interrupt, progress)
        return verdict or self._with_lasso(search, packed, limits, interrupt)

    def _search_decoupled(
        self,
        asked: Asked,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        from ltlpipe.verdict.decoupled import DecoupledRun

        if table_bytes(asked.trimmed.network) > limits.memory_bytes:
            return self._verdict(UNKNOWN, "memory")
        assert self.prepared.plan.emptiness is not None  # since `settle`
        name = self.prepared.plan.emptiness
        run = DecoupledRun(asked, name, self.options, limits, interrupt)
        return self._ended(run, limits, interrupt, progress)

    def _search_sets(
        self,
        asked: AskedOfSets,
        actions: list[str],
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        """Search sets of states, and try other ways before it takes too many."""
        began = time.monotonic()
        try:
            run = self._sets(asked, limits, interrupt)
        except (UnsupportedError, MemoryError, StoppedError) as error:
            if isinstance(error, StoppedError) and error.reason not in TOO_MUCH:
                raise
            self.prepared.begin_again()
            return self._search_states(actions, limits, interrupt, progress)
        few = at_most(FEW_SETS, limits)
        verdict = self._ended(run, few, interrupt, progress)
        plan = self.prepared.plan
        if verdict.reason not in TOO_MUCH:
            return verdict
        self.prepared.begin_again()
        if verdict.reason == "memory":  # where more of it would be needed
            del run
            return self._search_states(actions, limits, interrupt, progress)
        left = limits.without(run.search.memory_bytes).within_seconds(
            max(SHORT_SECONDS, time.monotonic() - began)
        )
        other = self._answer_beside(actions, left, limits, interrupt, progress)
        if other is not None:
            n_sets = int(run.search.registers[Reg.VISITED])
            said = note_sets_too_many(other.plan, asked.symmetry, n_sets)
            return replace(other, plan=said)
        self.prepared.go_back(plan, asked.table)
        return self._ended(run, limits, interrupt, progress)

    def _answer_beside(
        self,
        actions: list[str],
        left: Limits,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict | None:
        """Return what an attempt says while a search of sets waits, if one does.

        `left` are its limits, `limits` those of the whole.
        """
        others = side_attempts(self.options, self.prepared.obstacles, left)
        try:
            found = self._first_answer(actions, others, interrupt, progress)
        except (UnsupportedError, MemoryError):
            return None
        except StoppedError as stopped:
            if stopped.reason == "interrupted" or limits.expired:
                raise
            return None
        if found is not None and found.reason == "timeout" and not limits.expired:
            return None
        return found

    def _sets(
        self, asked: AskedOfSets, limits: Limits, interrupt: Interrupt
    ) -> SymmetricRun:
        from ltlpipe.verdict.symmetry import SymmetricRun

        assert self.prepared.plan.emptiness is not None  # since `settle`
        return SymmetricRun(
            asked, self.prepared.plan.emptiness, self.options, limits, interrupt
        )

    def _ended(
        self,
        run: DecoupledRun | SymmetricRun,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        """Run a search for sets of states to its end."""
        outcome = run.drive(limits, interrupt, progress)
        self._note(**run.statistics())
        if outcome.reason is not None:
            return self._verdict(UNKNOWN, outcome.reason)
        if outcome.status == Status.EMPTY:
            return self._verdict(HOLDS)
        if not self.options.lasso:
            return self._verdict(VIOLATED)
        began = time.monotonic()
        try:
            found = run.lasso(limits, interrupt)
            self._note(**run.statistics())  # memory may be more by now
            lasso = self._lifted(found.actions, found.states, found.length, interrupt)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        return self._replayed(lasso, began)

    def _problem(self, packed: PackedNetwork, trimmed: Trimmed) -> Problem:
        stutters = self.options.stutters
        if self.prepared.visible is None:
            return make_problem(
                packed,
                trimmed.table,
                stutter=stutters,
                fairness=self.prepared.fairness,
            )
        letters = letters_of(trimmed.network, trimmed.actions)
        return make_problem(
            packed,
            trimmed.table,
            stutter=stutters,
            relation=relation_of(trimmed.network, packed),
            visible=np.isin(letters, self.prepared.visible),
            inner=Inner[self.options.ample_inner.upper()],
        )

    def _pack(self, trimmed: Trimmed) -> PackedNetwork:
        return pack(
            trimmed.network,
            letters_of(trimmed.network, trimmed.actions),
            extra_values=trimmed.table.n_states,
            seed=self.options.seed,
        )

    def _details(self, search: Search) -> dict[str, int]:
        """Return what reductions have to say of a search."""
        details = {}
        if self.prepared.visible is not None:
            details["reduced_states"] = int(search.registers[Reg.REDUCED])
        if self.prepared.components is not None:
            details["largest_composition"] = self.prepared.components.largest
        return details

    def _with_lasso(
        self,
        search: Search,
        packed: PackedNetwork,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Verdict:
        began = time.monotonic()
        try:
            lasso = self._extract(search, packed, limits, interrupt)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        used = (search.memory_bytes + search.extraction_bytes) / MIB
        self._note(memory_mib=used)
        return self._replayed(lasso, began)

    def _replayed(self, lasso: Lasso, began: float) -> Verdict:
        """Return the verdict of a lasso, once it has been replayed."""
        replay_run(
            self.system,
            lasso,
            stutters=self.options.stutters,
            together=not self.prepared.obstacles.accepts_apart,
        )
        check_fairness(self.system, lasso, self.options)
        if self.property.formula is not None:
            replay_formula(self.property.formula, lasso, self.system)
        elif self.property.violations is not None:
            replay_word(self.property.violations, lasso, self.system)
        self._note(lasso_seconds=time.monotonic() - began)
        return self._verdict(VIOLATED, lasso=lasso)

    def _extract(
        self,
        search: Search,
        packed: PackedNetwork,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Lasso:
        found = extracted(search, limits, interrupt)
        ids = np.concatenate([found.prefix, found.cycle[1:]])
        states = packed.unpack(search.store.rows[ids])
        actions = np.concatenate([found.prefix_actions, found.cycle_actions])
        return self._lifted(actions, states, len(found.prefix_actions), interrupt)

    def _lifted(
        self, actions: np.ndarray, states: np.ndarray, length: int, interrupt: Interrupt
    ) -> Lasso:
        """Return a run of what was searched as a lasso of the system."""
        if self.prepared.components is not None:
            lifter = Lifter(self.prepared.reduced_from, interrupt)
            groups = self.prepared.components.groups
            actions, states, length = lifter.lift(groups, actions, states[-1], length)
        return network_lasso(self.system, actions, states, length)

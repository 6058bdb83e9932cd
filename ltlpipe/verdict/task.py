"""The way of one question: translation, reductions, search, lasso, replay."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe._errors import UnsupportedError
from ltlpipe.automata.bounded import StoppedError, call_bounded
from ltlpipe.automata.letters import OTHER
from ltlpipe.reduction.alphabet import Trimmed, letters_of, trim_alone, trim_with
from ltlpipe.reduction.ample import relation_of
from ltlpipe.search.ample import Inner, ample_bytes
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import MIB, drive
from ltlpipe.search.emptiness import Interrupted
from ltlpipe.search.product import buffer_bytes, make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems.packing import pack
from ltlpipe.verdict.interruptible import (
    NOT_SIMPLE,
    Decision,
    decide_automaton,
    decide_formula,
    is_simple,
    normalised,
    visible_letters,
)
from ltlpipe.verdict.lasso import shortest_form
from ltlpipe.verdict.lifting import Lifter
from ltlpipe.verdict.plan import (
    ALPHABET,
    AMPLE,
    AMPLE_SEARCHES,
    COMPONENTS,
    Options,
    make_plan,
    note_ample,
    note_components,
    prefer_one_mark,
    settle,
    tells_marks,
)
from ltlpipe.verdict.property import known_actions
from ltlpipe.verdict.replay import replay_formula, replay_run, replay_word
from ltlpipe.verdict.verdict import (
    HOLDS,
    UNKNOWN,
    VIOLATED,
    Lasso,
    Plan,
    Statistics,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.search.driver import Interrupt, Limits, Progress
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.product import Problem
    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.packing import PackedNetwork
    from ltlpipe.verdict.property import Property

SHORT_STATES = 20_000
"""States of a search that comes before components are reduced."""

COMPOSED_BYTES = 1024
"""What a state of a composition takes at most: 64 transitions, and 64 members."""

SMALL_CAP = 10_000
SOME_STATES = 500_000
"""Limits of compositions, and of the search behind them, in a second attempt."""

BITSTATE_REASON = "bitstate"
"""Why a search without a violation says nothing: states may have been missed."""

STUTTER_NAME = "<stutter>"
"""Stands in a lasso for the step in which a deadlocked state repeats itself."""


class Attempt(NamedTuple):
    """One way to an answer, which may end too early.

    Parameters
    ----------
    limits : Limits
        Of translation, reduction and search.
    components : Decision, optional
        Why components are left as they are; None if they are reduced.
    cap_states : int
        States that a composition may have.
    """

    limits: Limits
    components: Decision | None
    cap_states: int = 0


class Task:
    """One question on its way to a verdict.

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
        self.system = system
        self.property = asked
        self.options = options
        self.plan: Plan = make_plan(options, has_property=not asked.is_trivial)
        self.system_marks = int(system.has_acceptance)
        self.visible: list[int] | None = None  # letters, where ample sets are used
        self.components: Reduced | None = None
        self._reduced_from = system  # the network that `components` came from
        self.started = time.monotonic()
        self.stats = Statistics()
        self._decision: Decision | None = None  # of the formula

    def run(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Verdict:
        """Answer the question; what the machine cannot give is a limit, too."""
        actions = known_actions(self.system, self.property, self.options)
        given = self.plan
        *short, whole = self._attempts(limits)
        try:
            for attempt in short:
                verdict = self._attempt(actions, attempt, interrupt, progress)
                if verdict.reason not in ("max-states", "memory"):
                    return verdict
                self.plan, self.visible, self.components = given, None, None
            return self._attempt(actions, whole, interrupt, progress)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        except MemoryError:
            return self._verdict(UNKNOWN, "memory")

    def _attempts(self, limits: Limits) -> Iterator[Attempt]:
        """Yield what is tried, until one attempt comes to an end; the last is whole.

        Most questions are answered before a reduction has begun, and many of the
        others before it has done all that it could.
        """
        obstacle = self._components_obstacle()
        if obstacle is not None:
            yield Attempt(limits, Decision(False, obstacle))
            return
        most = limits.max_states
        if not self.options.insists_on(COMPONENTS):
            few = replace(limits, max_states=min(SHORT_STATES, most or SHORT_STATES))
            yield Attempt(few, Decision(False, "a short search was enough"))
        cap = self.options.cap_states
        if limits.memory_mib is not None:
            cap = min(cap, max(1, int(limits.memory_bytes / COMPOSED_BYTES)))
        if cap > SMALL_CAP:
            some = replace(limits, max_states=min(SOME_STATES, most or SOME_STATES))
            yield Attempt(some, None, SMALL_CAP)
        yield Attempt(limits, None, cap)

    def _attempt(
        self,
        actions: list[str],
        attempt: Attempt,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        trimmed = self._prepare(actions, attempt, interrupt)
        return self._search(trimmed, attempt.limits, interrupt, progress)

    def _prepare(
        self,
        actions: list[str],
        attempt: Attempt,
        interrupt: Interrupt,
    ) -> Trimmed:
        """Return what is searched, and complete the plan.

        The automaton of an interruptible property is brought into normal form,
        so that ample sets can be used.

        Parameters
        ----------
        actions : list of str
            What the property names and the system has.
        attempt : Attempt
            Whether components are reduced, and what may be used.
        interrupt : Interrupt
            May end the work.
        """
        limits, components = attempt.limits, attempt.components
        ample = self._ample_obstacle()
        decision = self._decide(components, ample, limits, interrupt)
        if components is None and decision is not None:
            self._reduce_components(decision, actions, attempt, interrupt)
        unreduced = self.plan
        if decision is None or (ample is None and decision.allowed):
            self.plan = prefer_one_mark(unreduced, self.options)
        trimmed, reductions = self._trimmed(actions, limits, interrupt)
        if decision is None:
            visible = self._visible_letters(trimmed)
            decision = Decision(False, NOT_SIMPLE)
            if is_simple(trimmed.table):
                decision = decide_automaton(trimmed.table, visible, limits, interrupt)
            if components is None:
                names = trimmed.actions
                if decision.allowed:  # the others may be hidden
                    names = [names[letter - OTHER - 1] for letter in visible]
                # The decision is about words that the trimmed network can perform.
                self._reduce_components(
                    decision, names, attempt, interrupt, trimmed.network
                )
                trimmed, reductions = self._trimmed(actions, limits, interrupt)
        if ample is not None:
            decided = Decision(False, ample)
        else:
            decided, trimmed = self._normalised(decision, trimmed)
        if not decided.allowed and self.plan != unreduced:
            self.plan = unreduced
            trimmed, reductions = self._trimmed(actions, limits, interrupt)
        self._note_automaton(trimmed.table)
        plan = settle(
            self.plan, self.options, trimmed.table, self.system_marks, reductions
        )
        if self.options.reduces(COMPONENTS):
            plan = note_components(
                plan, self.options, self.components, components or decision
            )
        self.plan = note_ample(
            plan, self.options, used=decided.allowed, reason=decided.reason
        )
        return trimmed

    def _visible_letters(self, trimmed: Trimmed) -> list[int]:
        return visible_letters(trimmed.actions, self.options.visible_actions)

    def _normalised(
        self, decision: Decision, trimmed: Trimmed
    ) -> tuple[Decision, Trimmed]:
        """Return whether ample sets are used at last, and what they are used with."""
        table = trimmed.table
        if not decision.allowed:
            return decision, trimmed
        if not is_simple(table):
            return Decision(False, NOT_SIMPLE), trimmed
        visible = self._visible_letters(trimmed)
        normal = normalised(table, visible)
        if self.plan.emptiness == "dfs-weak" and not normal.weak:
            return Decision(False, "the automaton's normal form is not weak"), trimmed
        self.visible = visible
        return decision, trimmed._replace(table=normal)

    def _ample_obstacle(self) -> str | None:
        """Return why ample sets are not used, if it is not the property."""
        named = self.plan.emptiness
        if not self.options.reduces(AMPLE):
            return "--reduce does not ask for them"
        if self.options.bitstate is not None:
            return "--bitstate takes all steps"
        if named is not None and named not in AMPLE_SEARCHES:
            return f"{named} takes all steps"
        if self.property.is_trivial or self.system.has_acceptance:
            return "acceptance of the system is about states"
        return None

    def _components_obstacle(self) -> str | None:
        """Return why components stay as they are, if it is not the property."""
        if not self.options.reduces(COMPONENTS):
            return "--reduce does not ask for it"
        if self.options.bitstate is not None:
            return "--bitstate is for systems as they are"
        if self.property.is_trivial or self.system.has_acceptance:
            return "acceptance of the system is about states"
        return None

    def _decide(
        self,
        components: Decision | None,
        ample: str | None,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Decision | None:
        """Decide if the property is interruptible; None if its automaton must tell.

        Nobody wants to know if nothing would be done with it.
        """
        if components is not None and ample is not None:
            return components
        if self.property.formula is None:
            return None
        if self._decision is None:
            formula = self.property.formula
            self._decision = decide_formula(formula, limits, interrupt)
        return self._decision

    def _reduce_components(
        self,
        decision: Decision,
        visible: Sequence[str],
        attempt: Attempt,
        interrupt: Interrupt,
        trimmed: Network | None = None,
    ) -> None:
        """Let reduced components take the place of the system's.

        `trimmed` is what the automaton, if the decision is about one, has left.
        """
        from ltlpipe.reduction.components.merging import shrink_components
        from ltlpipe.reduction.components.sharing import (
            reduced_components,
            trimmed_network,
        )

        def stop_in_time() -> None:
            if interrupt.pressed:
                raise StoppedError("interrupted")
            if attempt.limits.expired:
                raise StoppedError("timeout")

        network = self.system
        if self.options.reduces(ALPHABET):
            network = trimmed_network(network)
        if trimmed is not None and _size(trimmed) < _size(network):
            network = trimmed
        self._reduced_from = network
        if decision.allowed and not self.options.stutters:
            self.components = reduced_components(
                network,
                visible,
                cap_states=attempt.cap_states,
                stopped=stop_in_time,
            )
        else:
            self.components = shrink_components(network, visible)

    def explore(self, limits: Limits, interrupt: Interrupt) -> tuple[int, int] | None:
        """Return the states and transitions of the whole product, if in time."""
        from ltlpipe.search.scc.components import Components

        actions = known_actions(self.system, self.property, self.options)
        try:
            trimmed, _ = self._trimmed(actions, limits, interrupt)
            packed = self._pack(trimmed)
            stutters = self.options.stutters
            search = Components(make_problem(packed, trimmed.table, stutter=stutters))
            outcome = drive(search, limits, interrupt=interrupt)
        except (StoppedError, MemoryError):
            return None
        if outcome.reason is not None:
            return None
        registers = search.registers
        return int(registers[Reg.VISITED]), int(registers[Reg.TRANSITIONS])

    def _search(
        self,
        trimmed: Trimmed,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        automaton, packed = trimmed.table, self._pack(trimmed)
        needed = buffer_bytes(packed, automaton) + self._bits_mib() * MIB
        if self.visible is not None:
            needed += ample_bytes(packed, len(trimmed.network.actions))
        if needed > limits.memory_bytes:
            return self._verdict(UNKNOWN, "memory")
        problem = self._problem(packed, trimmed)
        began = time.monotonic()
        search = self._new_search(problem)
        outcome = drive(search, limits, interrupt=interrupt, progress=progress)
        self._note_search(search, time.monotonic() - began)
        if outcome.reason is not None:
            return self._verdict(UNKNOWN, outcome.reason)
        if outcome.status == Status.EMPTY:
            if self.options.bitstate is not None:
                return self._verdict(UNKNOWN, BITSTATE_REASON)
            return self._verdict(HOLDS)
        if not self.options.lasso:
            return self._verdict(VIOLATED)
        return self._with_lasso(search, packed, interrupt)

    def _problem(self, packed: PackedNetwork, trimmed: Trimmed) -> Problem:
        stutters = self.options.stutters
        if self.visible is None:
            return make_problem(packed, trimmed.table, stutter=stutters)
        letters = letters_of(trimmed.network, trimmed.actions)
        return make_problem(
            packed,
            trimmed.table,
            stutter=stutters,
            relation=relation_of(trimmed.network, packed),
            visible=np.isin(letters, self.visible),
            inner=Inner[self.options.ample_inner.upper()],
        )

    def _new_search(self, problem: Problem) -> Search:
        if self.options.bitstate is not None:
            from ltlpipe.search.nested.bitstate import BitstateSE05

            return BitstateSE05(problem, self.options.bitstate)
        assert self.plan.emptiness is not None  # since `settle`
        return SEARCHES[self.plan.emptiness]()(problem)

    def _bits_mib(self) -> float:
        return self.options.bitstate or 0.0

    def _trimmed(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> tuple[Trimmed, tuple[str, ...]]:
        """Return what is searched, and the reductions that made it smaller."""
        before = self.system if self.components is None else self.components.network
        # Invisible actions of an automaton may be hidden: then they are as any other.
        actions = [name for name in actions if name in before.action_index]
        if not self.options.reduces(ALPHABET):
            table = self._translate(actions, limits, interrupt)
            return Trimmed(before, table, actions), ()
        network, known = trim_alone(before, actions)
        table = self._translate(known, limits, interrupt)
        trimmed = Trimmed(network, table, known)
        if not self.options.stutters:
            trimmed = trim_with(*trimmed)
        self._note_automaton(trimmed.table)
        changed = trimmed.network is not before or trimmed.actions != actions
        return trimmed, (ALPHABET,) if changed else ()

    def _translate(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> PropertyAutomaton:
        acceptance = (self.plan.automaton or "").lower()
        told = tells_marks(self.plan, self.system_marks)
        if self.property.is_trivial:
            automaton, seconds = self.property.automaton(acceptance, actions, told)
        else:
            automaton, seconds = call_bounded(
                lambda: self.property.automaton(acceptance, actions, told),
                deadline=limits.deadline,
                stopped=lambda: interrupt.pressed,
            )
        seconds += self.stats.translation_seconds or 0.0
        self.stats = replace(self.stats, translation_seconds=seconds)
        self._note_automaton(automaton)
        return automaton

    def _note_automaton(self, automaton: PropertyAutomaton) -> None:
        self.stats = replace(
            self.stats,
            automaton_states=automaton.n_states,
            acceptance=automaton.acceptance,
        )

    def _pack(self, trimmed: Trimmed) -> PackedNetwork:
        return pack(
            trimmed.network,
            letters_of(trimmed.network, trimmed.actions),
            extra_values=trimmed.table.n_states,
            seed=self.options.seed,
        )

    def _note_search(self, search: Search, seconds: float) -> None:
        registers = search.registers
        states = int(registers[Reg.VISITED])
        details = search.statistics()
        if self.visible is not None:
            details["reduced_states"] = int(registers[Reg.REDUCED])
        if self.components is not None:
            details["largest_composition"] = self.components.largest
        self.stats = replace(
            self.stats,
            states=states,
            transitions=int(registers[Reg.TRANSITIONS]),
            max_depth=int(registers[Reg.MAX_DEPTH]),
            memory_mib=search.memory_bytes / MIB,
            bytes_per_state=search.memory_bytes / states if states else None,
            colour_bytes_per_state=search.bytes_per_state,
            search_seconds=seconds,
            details=details,
            coverage=search.coverage(),
        )

    def _with_lasso(
        self, search: Search, packed: PackedNetwork, interrupt: Interrupt
    ) -> Verdict:
        began = time.monotonic()
        try:
            lasso = self._extract(search, packed, interrupt)
        except Interrupted as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        used = (search.memory_bytes + search.extraction_bytes) / MIB
        self.stats = replace(self.stats, memory_mib=used)
        replay_run(self.system, lasso, stutters=self.options.stutters)
        if self.property.formula is not None:
            replay_formula(self.property.formula, lasso, self.system)
        elif self.property.violations is not None:
            replay_word(self.property.violations, lasso, self.system)
        self.stats = replace(self.stats, lasso_seconds=time.monotonic() - began)
        return self._verdict(VIOLATED, lasso=lasso)

    def _extract(
        self, search: Search, packed: PackedNetwork, interrupt: Interrupt
    ) -> Lasso:
        found = search.lasso(interrupt)
        ids = np.concatenate([found.prefix, found.cycle[1:]])
        states = packed.unpack(search.store.rows[ids])
        actions = np.concatenate([found.prefix_actions, found.cycle_actions])
        length = len(found.prefix_actions)
        if self.components is not None:
            lifter = Lifter(self._reduced_from, interrupt)
            groups = self.components.groups
            actions, states, length = lifter.lift(groups, actions, states[-1], length)
        k, c = shortest_form(actions, states, length)
        known = [a.name for a in self.system.actions]
        names = [STUTTER_NAME if a < 0 else known[a] for a in actions[: k + c]]
        return Lasso(
            prefix=names[:k],
            cycle=names[k:],
            actions=actions[: k + c],
            states=states[: k + c + 1],
        )

    def _verdict(
        self, verdict: str, reason: str | None = None, lasso: Lasso | None = None
    ) -> Verdict:
        formula = self.property.formula
        return Verdict(
            verdict=verdict,
            reason=reason,
            system=self.system.name,
            formula=None if formula is None else formula.text,
            formula_id=None if formula is None else formula.identifier,
            plan=self.plan,
            stats=replace(self.stats, seconds=time.monotonic() - self.started),
            lasso=lasso,
        )


def _size(network: Network) -> int:
    return sum(component.n_transitions for component in network.components)

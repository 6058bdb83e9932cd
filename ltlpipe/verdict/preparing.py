"""From a question to what is searched: decision, reductions, translation, plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.automata.letters import OTHER
from ltlpipe.reduction.alphabet import Trimmed, trim_alone, trim_with
from ltlpipe.reduction.decoupling import Asked, estimate
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, DECOUPLED_SCC
from ltlpipe.verdict.attempts import Attempt
from ltlpipe.verdict.fairness import fairness_of
from ltlpipe.verdict.interchangeable import symmetry_of
from ltlpipe.verdict.interruptible import (
    NOT_SIMPLE,
    Decision,
    decide_automaton,
    decide_formula,
    is_simple,
    normalised,
    visible_letters,
)
from ltlpipe.verdict.limits import stop_in_time
from ltlpipe.verdict.notes import (
    choose_decoupled,
    choose_symmetric,
    note_ample,
    note_components,
    note_decoupled,
    note_symmetry,
)
from ltlpipe.verdict.obstacles import Obstacles, not_generalised
from ltlpipe.verdict.options import (
    ALPHABET,
    AMPLE,
    AUTO,
    COMPONENTS,
    Options,
)
from ltlpipe.verdict.plan import make_plan, prefer_one_mark, settle, tells_marks
from ltlpipe.verdict.translating import Translation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.limits import Limits
    from ltlpipe.verdict.property import Property
    from ltlpipe.verdict.symmetry import AskedOfSets
    from ltlpipe.verdict.verdict import Plan, Statistics


class Preparation:
    """What is done before a search, once per attempt.

    Parameters
    ----------
    system : Network
        What is asked; it is not changed.
    asked : Property
        What is asked of it.
    options : Options
        How it shall be answered.

    Attributes
    ----------
    plan : Plan
        Complete once `prepare` has returned.
    visible : list of int or None
        Letters of the visible actions, where ample sets are used.
    decoupled : Asked or None
        What is asked of a decoupled search, where it is one.
    components : Reduced or None
        What takes the place of the system's components.
    reduced_from : Network
        What `components` came from.

    Raises
    ------
    UnsupportedError
        The options ask for what cannot be done.
    """

    def __init__(self, system: Network, asked: Property, options: Options) -> None:
        self.system = system
        self.property = asked
        self.options = options
        generic = asked.has_fin or options.translator is not None
        self._given = make_plan(
            options, has_property=not asked.is_trivial, has_fin=generic
        )
        # The property is left as it is, and not made a Büchi automaton for ample sets.
        self._generic = options.deterministic or (
            generic and not options.insists_on(AMPLE)
        )
        self.fairness = fairness_of(system, options)
        self.obstacles = Obstacles(system, asked, options)
        if self.fairness is not None and options.reduce not in (AUTO, "none"):
            raise UnsupportedError(
                f"--reduce {options.reduce} changes what is enabled, on which "
                "--fairness depends: use none"
            )
        self._decision: Decision | None = None  # of the formula
        self.system_marks = int(system.has_acceptance)
        self._translation = Translation(asked, options)
        self.plan: Plan
        self.visible: list[int] | None
        self.decoupled: Asked | None
        self.components: Reduced | None
        self.begin_again()

    @property
    def stats(self) -> Statistics:
        """What translating has cost."""
        return self._translation.stats

    def begin_again(self) -> None:
        """Forget what an attempt has chosen, not what it has found out."""
        self.plan = self._given
        self.visible = None
        self.decoupled = None
        self.components = None
        self.reduced_from = self.system

    def go_back(self, plan: Plan, table: PropertyAutomaton) -> None:
        """Return to a plan that needs nothing but an automaton."""
        self.begin_again()
        self.plan = plan
        self._translation.note(table)

    def prepare(
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
        ample = self.obstacles.to_ample(self.plan.emptiness)
        idle = ample is not None and attempt.coupled is not None
        decision = self._decide(components if idle else None, limits, interrupt)
        if components is None and decision is not None:
            self._reduce_components(decision, actions, attempt, interrupt)
        unreduced = self.plan
        simple = decision is None or (ample is None and decision.allowed)
        if simple and not self._generic:
            self.plan = prefer_one_mark(unreduced, self.options)
        trimmed, reductions = self.trimmed(actions, limits, interrupt)
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
                trimmed, reductions = self.trimmed(actions, limits, interrupt)
        decoupled = self._decoupled(decision, trimmed, attempt)
        if decoupled.allowed:
            self.plan = choose_decoupled(self.plan, self._decoupled_search())
            decided = Decision(False, "decoupled search takes global labels only")
        elif ample is not None:
            decided = Decision(False, ample)
        else:
            decided, trimmed = self._normalised(decision, trimmed)
        allowed = decided.allowed or decoupled.allowed
        if not allowed and self.plan != unreduced:
            self.plan = unreduced
            trimmed, reductions = self.trimmed(actions, limits, interrupt)
        self._translation.note(trimmed.table)
        plan = settle(
            self.plan,
            self.options,
            trimmed.table,
            self.system_marks,
            reductions,
            self.fairness,
        )
        if self.options.reduces(COMPONENTS):
            plan = note_components(
                plan, self.options, self.components, components or decision
            )
        plan = note_decoupled(plan, used=decoupled.allowed, reason=decoupled.reason)
        self.plan = note_ample(
            plan, self.options, used=decided.allowed, reason=decided.reason
        )
        return trimmed

    def symmetric(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> AskedOfSets | None:
        """Return what is asked of the symbolic product, and complete the plan.

        None if the system has no symmetry, or no use can be made of it; then nothing
        is chosen.

        Raises
        ------
        UnsupportedError
            No use can be made of symmetry, although it is asked for.
        """
        if self.obstacles.to_symmetry(self.plan.emptiness) is not None:
            return None
        from ltlpipe.verdict.symmetry import AskedOfSets

        network, decision = self.system, None
        if self.options.insists_on(COMPONENTS):
            decision = self._components_first(actions, limits, interrupt)
            if self.components is not None:
                network = self.components.network
        symmetry = symmetry_of(network, self.options, limits, interrupt)
        if symmetry is None:
            self.obstacles.refuse_symmetry(
                "no two components were found that can be interchanged"
            )
            self.begin_again()
            return None
        self.plan = choose_symmetric(self.plan)
        actions = [name for name in actions if name in network.action_index]
        table = self._translate(actions, limits, interrupt)
        if table.condition is not None:
            self.obstacles.refuse_symmetry(not_generalised(table))
            self.begin_again()
            return None
        plan = settle(self.plan, self.options, table, self.system_marks, None)
        if decision is not None:
            plan = note_components(plan, self.options, self.components, decision)
        self.plan = note_symmetry(plan, symmetry)
        return AskedOfSets(symmetry, table, actions)

    def _components_first(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> Decision:
        """Reduce components, which the user insists on, before symmetry is used."""
        obstacle = self.obstacles.to_components()
        if obstacle is not None:
            return Decision(False, obstacle)
        decision = self._decide(None, limits, interrupt)
        if decision is None:
            reason = "of an automaton it is decided on what its labels leave"
            return Decision(False, reason)
        attempt = Attempt(limits, None, self.options.cap_states)
        self._reduce_components(decision, actions, attempt, interrupt)
        return decision

    def _decoupled(
        self, decision: Decision, trimmed: Trimmed, attempt: Attempt
    ) -> Decision:
        """Decide if the search is a decoupled one, and note what it is asked."""
        if attempt.coupled is not None:
            return Decision(False, attempt.coupled)
        if not decision.allowed:
            self.obstacles.refuse_decoupling(decision.reason)
            return decision
        if trimmed.table.condition is not None:
            reason = not_generalised(trimmed.table)
            self.obstacles.refuse_decoupling(reason)
            return Decision(False, reason)
        visible = self._visible_letters(trimmed)
        names = [trimmed.actions[letter - OTHER - 1] for letter in visible]
        found = estimate(trimmed.network, names)
        if not (found.pays or self.obstacles.must_decouple):
            return Decision(False, str(found))
        if is_simple(trimmed.table) and not self.property.is_trivial:
            trimmed = trimmed._replace(table=normalised(trimmed.table, visible))
        together = not self.obstacles.accepts_apart
        self.decoupled = Asked(trimmed, visible, self.property.is_trivial, together)
        return Decision(True, str(found))

    def _decoupled_search(self) -> str:
        named = self.options.emptiness
        if named in DECOUPLED:
            return named
        return DECOUPLED_NDFS if self.system.has_acceptance else DECOUPLED_SCC

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

    def _decide(
        self, idle: Decision | None, limits: Limits, interrupt: Interrupt
    ) -> Decision | None:
        """Decide if the property is interruptible; None if its automaton must tell.

        Nobody wants to know if nothing would be done with it: then `idle` says so.
        """
        if idle is not None:
            return idle
        if self.property.is_trivial:
            return Decision(True, "nothing but the acceptance of the system counts")
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

        network = self.system
        if self.options.reduces(ALPHABET):
            network = trimmed_network(network)
        if trimmed is not None and _size(trimmed) < _size(network):
            network = trimmed
        self.reduced_from = network
        if decision.allowed and not self.options.stutters:
            self.components = reduced_components(
                network,
                visible,
                cap_states=attempt.cap_states,
                stopped=partial(stop_in_time, attempt.limits, interrupt),
            )
        else:
            self.components = shrink_components(network, visible)

    def _translate(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> PropertyAutomaton:
        told = tells_marks(self.plan, self.system_marks)
        acceptance = self.plan.automaton or ""
        return self._translation.table(acceptance, actions, told, limits, interrupt)

    def trimmed(
        self, actions: list[str], limits: Limits, interrupt: Interrupt
    ) -> tuple[Trimmed, tuple[str, ...]]:
        """Return what is searched, and the reductions that made it smaller."""
        before = self.system if self.components is None else self.components.network
        # Invisible actions of an automaton may be hidden: then they are as any other.
        actions = [name for name in actions if name in before.action_index]
        if not self.options.reduces(ALPHABET) or self.fairness is not None:
            table = self._translate(actions, limits, interrupt)
            return Trimmed(before, table, actions), ()
        network, known = trim_alone(before, actions)
        table = self._translate(known, limits, interrupt)
        trimmed = Trimmed(network, table, known)
        if not self.options.stutters:
            trimmed = trim_with(*trimmed)
        self._translation.note(trimmed.table)
        changed = trimmed.network is not before or trimmed.actions != actions
        return trimmed, (ALPHABET,) if changed else ()


def _size(network: Network) -> int:
    return sum(component.n_transitions for component in network.components)

"""A question about a network: the facts that reductions of networks share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.question.conditions import (
    ALPHABET,
    AUTO,
    EACH,
    NETWORK,
    refuse,
)
from ltlpipe.question.property import (
    NOT_BUCHI,
    Decision,
    decide_automaton,
    decide_formula,
    decision_of,
    fairness_of,
    known_actions,
    normalised,
)
from ltlpipe.question.question import (
    NotApplicableError,
    Product,
    Question,
    note_table,
    tells_marks,
)
from ltlpipe.systems.networks.lts import END
from ltlpipe.systems.plain_steps import NetworkSteps

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.components.alphabet import Trimmed
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.networks.packing import PackedSystem


@dataclass
class NetworkProduct(Product):
    """The product of a network and an automaton."""

    question: NetworkQuestion
    trimmed: Trimmed  # network, automaton, and the actions of each letter
    plan: Plan  # with the kind of automaton that this is
    reductions: tuple[str, ...] | None  # those that have made something smaller
    visible: list[int] | None = None  # letters of visible actions, for ample sets

    @property
    def table(self) -> PropertyAutomaton:
        """The automaton of the violations."""
        return self.trimmed.table

    def with_table(self, table: PropertyAutomaton) -> NetworkProduct:
        """Return the product with another automaton over the same letters."""
        return replace(self, trimmed=self.trimmed._replace(table=table))

    def packed(self) -> Job[PackedSystem]:
        """Return the packed network."""
        from ltlpipe.components.alphabet import letters_of
        from ltlpipe.por.tables import ready_tables
        from ltlpipe.systems.networks.packing import pack_network

        if self.visible is not None and self.question.options.uses_stubborn:
            yield from ready_tables()
        packed = yield from pack_network(
            self.trimmed.network,
            letters_of(self.trimmed.network, self.trimmed.actions),
            extra_values=self.table.n_states,
            seed=self.question.options.seed,
            together=not self.question.accepts_apart,
            repeated=self.question.repeated(self.trimmed.actions),
        )
        return packed

    def problem(self, packed: PackedSystem) -> Problem:
        """Return the product of the packed network and the automaton."""
        from ltlpipe.components.alphabet import letters_of
        from ltlpipe.por.component_sets import Inner
        from ltlpipe.por.tables import enabling_of, relation_of
        from ltlpipe.search.problem import make_problem

        if self.visible is None:
            return super().problem(packed)
        network, options = self.trimmed.network, self.question.options
        letters = letters_of(network, self.trimmed.actions)
        tables_of = enabling_of if options.uses_stubborn else relation_of
        return make_problem(
            packed,
            self.table,
            stutter=self.question.stutters,
            relation=tables_of(network, packed),
            visible=np.isin(letters, self.visible),
            inner=Inner[options.red_ample.upper()],
        )

    def needed_bytes(self, packed: PackedSystem) -> int:
        """Return the bytes of the buffers of `problem`."""
        from ltlpipe.por.component_sets import ample_bytes
        from ltlpipe.por.stubborn_sets import stubborn_bytes

        needed, network = super().needed_bytes(packed), self.trimmed.network
        if self.visible is None:
            return needed
        if self.question.options.uses_stubborn:
            return needed + stubborn_bytes(network, packed)
        return needed + ample_bytes(packed, len(network.actions))


class NetworkQuestion(Question):
    """One question about a network, which is not changed; see `Question`.

    Raises
    ------
    FormulaError
        A proposition is not an action of the network, and `unknown` is "error".
    UnsupportedError
        An option or combination is not supported.
    """

    kind = NETWORK

    def __init__(self, system: Network, asked: Property, options: Options) -> None:
        refuse(self.kind, options, asked)
        super().__init__(
            system.name,
            asked,
            options,
            system_marks=len(_groups(system, options)),
            fairness=fairness_of(system, options),
        )
        self.system = system
        self.actions = known_actions(system, asked, options)
        if options.finite and END not in self.actions:
            self.actions.append(END)

    def about(self, network: Network) -> NetworkQuestion:
        """Return the same question about a network in the place of this one.

        It has the same visible actions, and no acceptance.  A lasso is wanted.  Facts
        are shared: none of them is about components.
        """
        same = object.__new__(NetworkQuestion)
        same.__dict__.update(vars(self))
        same.system, same.explored = network, None
        same.actions = [name for name in self.actions if name in network.action_index]
        same.options = replace(self.options, lasso=True)
        return same

    def ends(self, table: PropertyAutomaton) -> np.ndarray:
        """Return where a search stops; see `Question.ends`.

        Nowhere if some named actions have lost their letters: in the network before
        trimming they may happen, or the replay does not know that they cannot.
        """
        found = super().ends(table)
        return found if table.n_letters > len(self.actions) else found[:0]

    @property
    def end(self) -> str | None:
        """The proposition that holds where finite runs have ended, if they count."""
        return END if self.options.finite else None

    def repeated(self, actions: list[str]) -> int:
        """Return the letter of a state that repeats itself; see `visible_letters`."""
        return OTHER if self.end is None else OTHER + 1 + actions.index(self.end)

    @property
    def accepts_apart(self) -> bool:
        """Whether several components accept, each for itself."""
        return len(_groups(self.system, self.options)) > 1

    def _letters(self, network: Network) -> list[str]:
        """Return the actions that have letters where a network has them.

        Invisible actions of an automaton may be hidden: then they are as any other.
        """
        known, end = network.action_index, self.end
        return [name for name in self.actions if name in known or name == end]

    def automaton(
        self, plan: Plan, actions: list[str], trace: Trace
    ) -> Job[PropertyAutomaton]:
        """Return the automaton of the violations over some actions."""
        told = tells_marks(plan, self.system_marks)
        return self.table(plan, actions, trace, system_marks=told)

    def trimmed(
        self, network: Network, plan: Plan, trace: Trace
    ) -> Job[tuple[Trimmed, tuple[str, ...]]]:
        """Return the network to search, and the reductions applied to it.

        Parameters
        ----------
        network : Network
            That of the question, or a reduced one.
        plan : Plan
            Which automaton.
        trace : Trace
            Records the automaton.
        """
        from ltlpipe.components.alphabet import Trimmed, trim_alone, trim_with

        actions = self._letters(network)
        if not self.options.reduces(ALPHABET) or self.fairness is not None:
            table = yield from self.automaton(plan, actions, trace)
            return Trimmed(network, table, actions), ()
        smaller, known = yield from trim_alone(network, actions)
        table = yield from self.automaton(plan, known, trace)
        trimmed = Trimmed(smaller, table, known)
        if not self.options.stutters:
            trimmed = yield from trim_with(*trimmed)
        note_table(trace, trimmed.table)
        changed = trimmed.network is not network or trimmed.actions != actions
        return trimmed, (ALPHABET,) if changed else ()

    def product(
        self, plan: Plan, trace: Trace, network: Network | None = None
    ) -> Job[NetworkProduct]:
        """Return the product with all steps; `network` may take the system's place."""
        network = self.system if network is None else network
        trimmed, reductions = yield from self.trimmed(network, plan, trace)
        return NetworkProduct(self, trimmed, plan, reductions)

    def ample_product(
        self, plan: Plan, trace: Trace, network: Network | None = None
    ) -> Job[tuple[Product, str]]:
        """Return the product with ample sets, and why they may be used.

        The parameters are those of `product`.

        Raises
        ------
        NotApplicableError
            They may not.
        """
        self.require_ample()
        network = self.system if network is None else network
        decision, product = yield from self.interruptible_product(network, plan, trace)
        if not decision.allowed:
            raise NotApplicableError(decision.reason)
        trimmed = product.trimmed
        if not trimmed.table.is_buchi:
            raise NotApplicableError(NOT_BUCHI)
        visible = self.visible_letters(trimmed)
        normal = normalised(trimmed.table, visible)
        if plan.emptiness == "dfs-weak" and not normal.weak:
            raise NotApplicableError("the automaton's normal form is not weak")
        note_table(trace, normal)
        found = trimmed._replace(table=normal)
        return replace(product, trimmed=found, visible=visible), decision.reason

    def interruptible_product(
        self, network: Network, plan: Plan, trace: Trace
    ) -> Job[tuple[Decision, NetworkProduct]]:
        """Return whether the property is interruptible, and a product that shows it.

        Its automaton is a Büchi automaton unless the user chose the kind, as normal
        forms need it.
        """
        decision = yield from self.decision()
        if decision is None or (decision.allowed and self.obstacle_to_ample() is None):
            plan = self.with_one_mark(plan)
        product = yield from self.product(plan, trace, network)
        if decision is None:
            decision = yield from self._automaton_decision(product.trimmed)
        return decision, product

    def general_decision(self, trace: Trace) -> Job[Decision]:
        """Decide if the property is interruptible, whatever the system can do."""
        from ltlpipe.components.alphabet import Trimmed

        decision = yield from self.decision()
        if decision is None:
            plan, actions = self.with_one_mark(self.given), self._letters(self.system)
            table = yield from self.automaton(plan, actions, trace)
            untrimmed = Trimmed(self.system, table, actions)
            decision = yield from self._automaton_decision(untrimmed)
        return decision

    def _automaton_decision(self, trimmed: Trimmed) -> Job[Decision]:
        if not trimmed.table.is_buchi:
            return Decision(False, NOT_BUCHI)
        visible = self.visible_letters(trimmed)
        return (yield from decide_automaton(trimmed.table, visible))

    def with_one_mark(self, plan: Plan) -> Plan:
        """Request a Büchi automaton, for normal forms, if the kind is free."""
        is_free = self.options.acceptance == AUTO and not self.generic
        if plan.automaton is None or not is_free:
            return plan
        return replace(plan, automaton="BA")

    def decision(self) -> Job[Decision | None]:
        """Decide if the property is interruptible; None if its automaton must tell."""
        if self.property.is_trivial:
            return Decision(True, "nothing but the acceptance of the system counts")
        formula = self.property.formula
        if formula is None:
            return None
        decision = yield from self.fact("decision", lambda: decide_formula(formula))
        return decision

    def erasability(self, product: NetworkProduct | None) -> Job[Decision]:
        """Decide if violations of a property that is not interruptible are erasable.

        `product` is that of the system as it was asked, where its automaton was asked
        whether it is interruptible; None if the property is a formula.
        """
        return (yield from self.fact("erasability", lambda: self._erasable(product)))

    def _erasable(self, product: NetworkProduct | None) -> Job[Decision]:
        from ltlpipe.automata.interrupts import erasable_table
        from ltlpipe.logic.erasable import erasable_formula

        if self.property.formula is not None:
            jobs = [erasable_formula(self.property.formula)]
            return (yield from decision_of(jobs, "formula", "erasable"))
        assert product is not None
        if not product.table.is_buchi:
            return Decision(False, NOT_BUCHI)
        jobs = [erasable_table(product.table, self.visible_letters(product.trimmed))]
        return (yield from decision_of(jobs, "automaton", "erasable"))

    def visible_letters(self, trimmed: Trimmed) -> list[int]:
        """Return the letters of the visible actions; by default of all that are named.

        Letter i + 1 is ``trimmed.actions[i]``.
        """
        chosen = self.options.visible_actions
        return [
            letter
            for letter, name in enumerate(trimmed.actions, start=OTHER + 1)
            if chosen is None or name in chosen
        ]

    def plain_steps(
        self, plan: Plan, trace: Trace
    ) -> Job[tuple[NetworkSteps, PropertyAutomaton]]:
        """Return the network in plain Python, and the automaton over its letters."""
        steps = NetworkSteps(
            self.system,
            self.actions,
            together=not self.accepts_apart,
            fairness=self.fairness,
            repeated=self.repeated(self.actions),
        )
        table = yield from self.automaton(plan, self.actions, trace)
        return steps, table


def _groups(system: Network, options: Options) -> list[tuple[int, ...]]:
    """Return the components that have to accept at the same time, by mark."""
    return system.accepting_groups(together=options.network_acceptance != EACH)


def with_components(question: Question) -> NetworkQuestion | None:
    """Return a question if its system has components, else None."""
    return question if isinstance(question, NetworkQuestion) else None

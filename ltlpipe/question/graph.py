"""A question about a graph of Spot: a Kripke structure, or an automaton as a system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi, marks_in
from ltlpipe.automata.lettering import TELLING, Lettering, violations_text
from ltlpipe.automata.letters import universal
from ltlpipe.logic.formulas import Formula
from ltlpipe.question.answer import EMPTY, FOUND, Answer
from ltlpipe.question.conditions import (
    AUTO,
    AUTOMATON,
    BITSTATE,
    KRIPKE,
    NO_ACTIONS,
    refuse,
)
from ltlpipe.question.property import known_names
from ltlpipe.question.question import NotApplicableError, Product, Question, note_table
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.systems.graph import keys_of, lists_of, pack_graph, transitions_of
from ltlpipe.systems.plain_steps import GraphSteps, TooLargeError
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.scc.stored_graphs import StoredSearch
    from ltlpipe.systems.graph import Keys, SpotGraph, Transitions
    from ltlpipe.systems.networks.packing import PackedSystem


_MOST_READ = 20_000
"""Edges of a graph that an instant search reads."""


class Labelled(NamedTuple):
    """A graph with the letters of one property, and the automaton over them."""

    table: PropertyAutomaton
    steps: Transitions
    keys: Keys
    lettering: Lettering


@dataclass
class GraphProduct(Product):
    """The product of a graph and an automaton."""

    question: GraphQuestion
    labelled: Labelled
    plan: Plan  # with the kind of automaton that this is
    reductions: tuple[str, ...] | None = None

    @property
    def table(self) -> PropertyAutomaton:
        """The automaton of the violations."""
        return self.labelled.table

    def with_table(self, table: PropertyAutomaton) -> GraphProduct:
        """Return the product with another automaton over the same letters."""
        return replace(self, labelled=self.labelled._replace(table=table))

    def packed(self) -> Job[PackedSystem]:
        """Return the packed graph."""
        question = self.question
        return pack_graph(
            question.system,
            self.labelled.steps,
            extra_values=self.table.n_states,
            seed=question.options.seed,
            accepts=question.delegated is None,
        )


class GraphQuestion(Question):
    """One question about a graph of Spot, which is not changed; see `Question`.

    Raises
    ------
    FormulaError
        The graph does not have a proposition, unless ``options.unknown`` allows it.
    UnsupportedError
        An option or combination is not supported.

    Attributes
    ----------
    known : list of str
        The propositions of the property that the graph has.
    delegated : Condition or None
        The graph's acceptance, if the named search does not support it: then letters
        include its marks, and the automaton checks it.
    """

    takes_ends = False  # a graph is finite, and in memory

    def __init__(self, system: SpotGraph, asked: Property, options: Options) -> None:
        self.kind = KRIPKE if system.is_kripke else AUTOMATON
        refuse(self.kind, options)
        if options.stutters:
            _refuse_lost_labels(system)
        delegated = _delegated(system, asked, options)
        super().__init__(
            system.name,
            asked,
            options,
            system_marks=0 if delegated else system.n_marks,
            delegated=delegated,
        )
        self.system = system
        self.system_condition = None if self.delegated else system.condition
        self.known = known_names(system.propositions, asked, options, "proposition")

    @property
    def ignores_finite_runs(self) -> bool:
        """Whether runs that end do not count; automata have infinite words only."""
        return self.system.is_kripke and not self.stutters

    def labelled(self, plan: Plan, trace: Trace) -> Job[Labelled]:
        """Return the graph with letters, and the automaton over them."""
        kind = _kind(plan)
        found = self.fact(("labelled", kind), lambda: self._labelled(kind))
        labelled: Labelled = yield from trace.timed("translation_seconds", found)
        note_table(trace, labelled.table)
        return labelled

    @property
    def found(self) -> Labelled:
        """The results of `labelled`, one per kind of automaton."""
        shared = self._facts["labelled", _kind(self.given)]
        labelled: Labelled | None = shared.result
        assert labelled is not None
        return labelled

    def _labelled(self, kind: str) -> Job[Labelled]:
        system, delegated = self.system, self.delegated
        keys = keys_of(system, with_marks=delegated is not None)
        text = None
        acceptance: str | None = kind
        if not self.property.is_trivial or delegated is not None:
            violated = yield from self.violated()
            # An automaton is used unchanged unless an option or a search needs another
            # kind.
            named = self.given.emptiness is not None or self.options.deterministic
            is_free = self.options.acceptance == AUTO and not named
            if is_free and not isinstance(violated, Formula):
                acceptance = None
            sets = np.unique(keys.marks).tolist()
            text = yield from violations_text(
                violated,
                acceptance,
                condition=None if delegated is None else str(delegated),
                sets=sets,
                deterministic=self.options.deterministic,
            )
        lettering = Lettering(system.graph, text, self.known)
        letters = yield from self._letters(keys, lettering)
        table = universal()
        if text is not None:
            table = yield from lettering.table(acceptance)
        steps = yield from transitions_of(
            system,
            keys,
            letters,
            tells_marks=delegated is not None,
            stutters=self.stutters,
        )
        return Labelled(table, steps, keys, lettering)

    @property
    def _fits_stored(self) -> bool:
        """Whether any run counts that the graph accepts, and its search may be chosen.

        And has no limits of its own.
        """
        options, system = self.options, self.system
        named: tuple[Any, ...] = self.given.emptiness, options.omitting, options.seed
        named += options.max_states, options.spill, self.delegated
        is_free = named == (None,) * len(named) and options.workers == 1
        never = system.accepts_nothing or self.stutters
        return self.property.is_trivial and is_free and not never

    def stored(self, trace: Trace) -> Job[Answer] | None:
        """Return the search of the graph where it is, if that is all that is asked."""
        return self._stored(trace) if self._fits_stored else None

    def _stored(self, trace: Trace) -> Job[Answer]:
        from ltlpipe.search.scc.stored_graphs import StoredSearch

        system, table = self.system, universal()
        plan = self.settled(self.given, table, None)
        name = "tela" if system.condition else "couvreur99"
        trace.plan = replace(plan, emptiness=name)
        note_table(trace, table)
        lists = lists_of(system)
        condition = system.condition or generalised_buchi(system.n_marks)
        condition = condition.renumbered(marks_in(lists.used).__getitem__)
        search = StoredSearch(lists, system.initial, condition)
        found = yield from trace.timed("search_seconds", search.found())
        trace.note(**search.figures())
        if not found:
            return Answer(EMPTY)
        trace.has_found = True
        if not self.options.lasso:
            return Answer(FOUND)
        told = yield from trace.timed("lasso_seconds", self._run(search, trace))
        return Answer(FOUND, run=told, in_place=True)

    def _run(self, search: StoredSearch, trace: Trace) -> Job[Run]:
        """Return the run that a search has found."""
        edges, length = yield from search.run()
        ends = search.lists.dst[edges].astype(np.int32)
        states = np.append(np.int32(self.system.initial), ends)[:, None]
        steps = (yield from self.labelled(self.given, trace)).steps
        of_edge = np.empty(self.system.n_edges, dtype=np.int32)
        of_edge[steps.edge] = np.arange(len(steps.edge), dtype=np.int32)
        return Run(of_edge[np.array(edges) - 1], states, length)

    def _letters(self, keys: Keys, lettering: Lettering) -> Job[list[list[int]]]:
        """Return the letters of each key."""
        if lettering.text is None:
            return [[0]] * len(keys.conditions)
        ticks = Ticks(TELLING, lettering.cost)
        conditions, delegated = self.system.conditions, self.delegated is not None
        found = []
        for place, marks in zip(
            keys.conditions.tolist(), keys.marks.tolist(), strict=True
        ):
            condition = conditions[place]
            if delegated:
                condition = lettering.with_marks(condition, marks)
            found.append(lettering.letters_of(condition))
            yield from ticks.worked()
        return found

    def product(self, plan: Plan, trace: Trace) -> Job[GraphProduct]:
        """Return the product with all steps of the graph."""
        labelled = yield from self.labelled(plan, trace)
        return GraphProduct(self, labelled, plan)

    def ample_product(self, plan: Plan, trace: Trace) -> Job[tuple[Product, str]]:  # noqa: ARG002 (one signature for all)
        """Refuse: there are no steps that could commute."""
        yield from ()
        raise NotApplicableError(NO_ACTIONS)

    def plain_steps(
        self, plan: Plan, trace: Trace
    ) -> Job[tuple[GraphSteps, PropertyAutomaton]]:
        """Return the graph in plain Python, and the automaton over its letters.

        Raises
        ------
        TooLargeError
            Reading it would take longer than searching it where it is.
        """
        if self._fits_stored and self.system.n_edges > _MOST_READ:
            raise TooLargeError
        labelled = yield from self.labelled(plan, trace)
        steps = GraphSteps(self.system, labelled.steps, accepts=self.delegated is None)
        return steps, labelled.table


def _kind(plan: Plan) -> str:
    return (plan.automaton or "").lower()


def _refuse_lost_labels(system: SpotGraph) -> None:
    """Raise UnsupportedError if a state that would repeat itself has no valuation."""
    if system.state_label is None:
        return
    ends = system.dead_ends()
    lost = ends[system.state_label[ends] < 0]
    if len(lost):
        raise UnsupportedError(
            f"--deadlock=stutter: state {lost[0]} of the graph has no edges and no "
            "valuation that it could repeat (Spot reads such states from HOA "
            "without their labels): give it an edge to itself"
        )


def _delegated(
    system: SpotGraph, asked: Property, options: Options
) -> Condition | None:
    """Return the condition of a graph if the search that is named cannot take it."""
    name = BITSTATE if options.omitting is not None else options.emptiness
    if name == AUTO or not system.n_marks:
        return None
    search = SEARCHES[name]()
    condition = system.condition
    if search.generalised:
        if condition is None or search.emerson_lei:
            return None
        if search.fin_less and not condition.fin_marks:
            return None
    elif (
        asked.is_trivial
        and condition is None
        and system.n_marks == 1
        and system.state_based
        and name not in ("dfs-weak", "reach-terminal")
    ):
        return None
    return generalised_buchi(system.n_marks) if condition is None else condition

"""Components composed, hidden and reduced; then a search of what is left.

Where the property is interruptible, components are replaced by what the others, and the
property, can see of them (docs/components.md); where its violations survive erasing, by
their block normal forms (docs/erasable.md); otherwise each by its quotient by strong
bisimilarity.  Compositions are small at first: most networks need no large ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.components.progress import holding
from ltlpipe.question.answer import FOUND, Answer, Trace
from ltlpipe.question.conditions import (
    ALPHABET,
    AMPLE,
    COMPONENTS,
    COMPOSITION,
    PREPARATIONS,
    obstacle,
)
from ltlpipe.question.network import with_components
from ltlpipe.question.question import NotApplicableError, for_workers
from ltlpipe.runtime.jobs import MAX_STATES, MIB, Progress
from ltlpipe.strategies.explicit import ample_plan
from ltlpipe.strategies.shortening import shorter
from ltlpipe.strategies.state_search import (
    answer_of,
    new_search,
    search_once,
    search_states,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.components.groups import Reduced
    from ltlpipe.components.merger import GroupShelf
    from ltlpipe.question.answer import Plan
    from ltlpipe.question.network import NetworkProduct, NetworkQuestion
    from ltlpipe.question.property import Decision
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.state_search import Attempt, Way
    from ltlpipe.systems.networks.lts import Network

COMPOSED_BYTES = 1024
"""What a state of a composition takes at most: 64 transitions, and 64 members."""

BOUNDED_SHARE, MUCH = 2.0, 1e3
"""Share of turns of a search of so many times fewer states, by their bounds."""

FEW_GROUPS = 2
"""Groups of several states of which ample sets leave out less than they cost.

Of two, only hidden steps of one are a set, and few are left.
"""

MANY_COMPONENTS = 16
"""Components of which small compositions are deterministic.

Trimming finds more to take away there, even all that violates the property.
"""

SHORTENED_STATES = 100_000
"""States of what is left that may be stored for a short run."""

SMALL_CAP = 10_000
SOME_STATES = 500_000
"""Limits of compositions, and of the search behind them, at first."""


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    network = with_components(question)
    assert network is not None  # by `obstacle`
    return (yield from job_with(network, trace))


def job_with(
    question: NetworkQuestion, trace: Trace, shelf: GroupShelf | None = None
) -> Job[Answer]:
    """Return the same; with known groups a run has few labels that are not hidden.

    Compositions are small at first.  Where the search behind them comes to its limit,
    it goes on, unless larger ones leave less.
    """
    cap = yield from _largest(question)
    limit = SOME_STATES if cap > SMALL_CAP else None
    composed = yield from reduce_network(question, min(cap, SMALL_CAP), trace, shelf)
    less: Composed | None = None

    def searched(attempt: Attempt) -> Job[Answer]:
        nonlocal less
        own, options = attempt.max_states, question.options
        search = new_search(question, trace.plan, attempt.problem())
        answer = yield from answer_of(attempt, search)
        if answer.reason != MAX_STATES or own == options.max_states:
            return answer
        job = reduce_network(question, cap, Trace(question.given), shelf)
        larger = yield from holding(job, search.memory_bytes)
        if larger.n_states < composed.n_states or options.workers > 1:
            less = larger
            return answer
        on = attempt._replace(max_states=options.max_states)
        return (yield from answer_of(on, search))

    answer = yield from _searched(question, composed, trace, limit, searched, shelf)
    if less is None:
        return answer
    trace.plan = question.given
    return (yield from _searched(question, less, trace, None, search_once, shelf))


def small_first(
    question: NetworkQuestion,
    trace: Trace,
    answer: Callable[[NetworkQuestion, int, int | None, Trace], Job[Answer]],
) -> Job[Answer]:
    """Return the answer with small compositions, or with as large ones as allowed.

    `answer` takes the states that compositions, and the search behind them, may have.
    """
    cap = yield from _largest(question)
    if cap > SMALL_CAP:
        found = yield from answer(question, SMALL_CAP, SOME_STATES, trace)
        if found.reason != MAX_STATES:
            return found
        trace.plan = question.given
    return (yield from answer(question, cap, None, trace))


def _largest(question: NetworkQuestion) -> Job[int]:
    """Return how many states a composition may have, by options and memory."""
    grant = yield Progress("reducing components")
    most = max(1, int(min(grant.memory_bytes, 1 << 50) / COMPOSED_BYTES))
    return min(question.options.max_component_states, most)


def _searched(
    question: NetworkQuestion,
    composed: Composed,
    trace: Trace,
    max_states: int | None,
    way: Way,
    shelf: GroupShelf | None,
) -> Job[Answer]:
    """Search what reduced components leave."""
    trace.share = BOUNDED_SHARE if composed.gain >= MUCH else 1.0
    product, plan = yield from composed_product(question, composed, trace)
    trace.plan = composed.noted(plan)
    job = search_states(question, product, trace, max_states=max_states, way=way)
    answer = yield from job
    if shelf is not None and answer.run is not None:
        run = yield from shorter(product, answer.run, SHORTENED_STATES)
        answer = answer._replace(run=run)
    return (yield from composed.lifted(answer, trace))


class Composed(NamedTuple):
    """Components that were composed and reduced."""

    decision: Decision  # whether the property is interruptible
    reason: str  # why components are reduced as they are
    before: Network  # what was reduced: the question's, trimmed
    reduced: Reduced  # what takes its place

    @property
    def gain(self) -> int:
        """How many times fewer states what is left may have than what was there."""
        return prod(c.n_states for c in self.before.components) // self.n_states

    @property
    def n_states(self) -> int:
        """A bound of the states of what is left."""
        return prod(group.lts.n_states for group in self.reduced.groups)

    def noted(self, plan: Plan) -> Plan:
        """Say in a settled plan how components were reduced."""
        from ltlpipe.components.groups import tree

        groups, largest = self.reduced.groups, self.reduced.largest
        n_before = len(frozenset().union(*(group.members for group in groups)))
        if self.reduced.visible is None:
            said = (
                "bisimilar states of components are one, and no more, because "
                f"{self.reason}"
            )
        else:
            said = (
                f"components, because {self.reason}: {n_before} became {len(groups)}, "
                f"with at most {largest:,} states on the way"
            )
        before = tuple(r for r in plan.reductions if r in PREPARATIONS)
        others = tuple(r for r in plan.reductions if r not in PREPARATIONS)
        return replace(
            plan,
            reductions=(*before, COMPONENTS, *others),
            reasons=(*plan.reasons, said),
            merges=tuple(line for group in groups for line in tree(group)),
        )

    def lifted(self, answer: Answer, trace: Trace) -> Job[Answer]:
        """Return an answer about the network before; its run is one of that."""
        from ltlpipe.strategies.lifting import Lifter

        run = answer.run
        if run is None:
            return answer
        lift = Lifter(self.before).lift(self.reduced.groups, run)
        found = yield from trace.timed("lasso_seconds", lift)
        return Answer(FOUND, run=found)


def composed_if_named(question: Question, trace: Trace) -> Job[Composed | None]:
    """Reduce components if that is named beside another strategy."""
    options, network = question.options, with_components(question)
    if not options.insists_on(COMPONENTS):
        return None
    if network is None:
        raise NotApplicableError(f"--reduce={COMPONENTS}: the system has none")
    hindrance = obstacle(question, COMPOSITION)
    if hindrance is not None:
        raise NotApplicableError(f"--reduce={COMPONENTS}: {hindrance}")
    return (yield from reduce_network(network, options.max_component_states, trace))


def reduce_network(
    question: NetworkQuestion,
    cap: int,
    trace: Trace,
    shelf: GroupShelf | None = None,
) -> Job[Composed]:
    """Compose and reduce the components of a question's network."""
    from ltlpipe.components.alphabet import trim
    from ltlpipe.components.equivalences import SIMULATION
    from ltlpipe.components.merger import reduced_components, shrink_components

    visible, network = question.actions, question.system
    if question.options.reduces(ALPHABET):
        network = yield from trim(network)
    decision = yield from question.decision()
    product = None
    if decision is None:
        # It is about words that the trimmed network can perform.
        decision, product = yield from question.interruptible_product(
            question.system, question.given, trace
        )
        if _size(product.trimmed.network) < _size(network):
            network = product.trimmed.network
    equivalence, reason = yield from _kind(question, decision, product)
    if product is not None:
        visible = product.trimmed.actions
        if equivalence != "strong" or decision.allowed:  # the others may be hidden
            letters = question.visible_letters(product.trimmed)
            visible = [visible[letter - OTHER - 1] for letter in letters]
    if equivalence == "strong":
        reduced = yield from shrink_components(network, visible)
    else:
        many = len(network.components) >= MANY_COMPONENTS and shelf is None
        if equivalence == SIMULATION and many and cap <= SMALL_CAP:
            equivalence = "trace"
        reduced = yield from reduced_components(
            network,
            visible,
            cap_states=cap,
            equivalence=equivalence,
            shared_bytes=question.options.share * MIB,
            shelf=shelf,
            enough=partial(_is_little, question),
        )
    trace.note(details={"largest_composition": reduced.largest})
    return Composed(decision, reason, network, reduced)


def _kind(
    question: NetworkQuestion, decision: Decision, product: NetworkProduct | None
) -> Job[tuple[str, str]]:
    """Return the coarsest equivalence that keeps the verdict, and why."""
    from ltlpipe.components.equivalences import SIMULATION

    if question.stutters:
        return "strong", "--deadlock=stutter is about single states, which others lose"
    if decision.allowed:
        return SIMULATION, decision.reason
    erasable = yield from question.erasability(product)
    if erasable.allowed:
        return "block", erasable.reason
    return "strong", f"{decision.reason}, and {erasable.reason}"


def composed_product(
    question: NetworkQuestion, composed: Composed, trace: Trace
) -> Job[tuple[Product, Plan]]:
    """Return the product of the reduced network, with ample sets where possible."""
    given, network = question.given, composed.reduced.network
    insists = question.options.insists_on(AMPLE)
    try:
        moving = [g for g in composed.reduced.groups if g.lts.n_states > 1]
        if not insists and len(moving) <= FEW_GROUPS:
            raise NotApplicableError("few groups leave nothing out")
        product, reason = yield from question.ample_product(given, trace, network)
    except NotApplicableError as error:
        if insists:
            wanted = f"--reduce asks for ample sets, but {error.reason}"
            raise NotApplicableError(wanted) from error
    else:
        return product, ample_plan(question, product, reason)
    plan = given
    if composed.decision.allowed and question.property.formula is None:
        plan = question.with_one_mark(given)
    product = yield from question.product(plan, trace, network)
    plan = question.settled(product.plan, product.table, product.reductions)
    return product, for_workers(plan, question.options)


def _is_little(question: NetworkQuestion, network: Network, small: int) -> Job[bool]:
    """Whether the property leaves at most so many states of a network, by a bound."""
    trace = Trace(question.given)
    _, found = yield from question.interruptible_product(network, trace.plan, trace)
    bound = 1
    for component in found.trimmed.network.components:
        kept = np.zeros(component.n_states, dtype=np.bool_)
        kept[component.src] = kept[component.dst] = True
        bound *= max(1, int(np.count_nonzero(kept)))
    return bound <= small


def _size(network: Network) -> int:
    return sum(component.n_transitions for component in network.components)

"""Walks guided by the property: for violations, before much is composed or explored.

They never show that a formula holds; docs/walks.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.answer import EMPTY, INCONCLUSIVE, NOT_APPLICABLE, Answer
from ltlpipe.question.options import AUTO, WALKS
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.strategies.state_search import answer_of, ended_problem, search_states

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.packing import PackedSystem

name = WALKS
supersedes: str | None = None
needs_kernels = True
takes_colours = False

SOME_STATES = 100_000
"""States that walks enter in all, beside other strategies."""

MANY_STATES = 10_000_000
"""The same where they are asked for by name."""

SEARCH = "couvreur99"
"""The emptiness check by which walks recognise accepting cycles."""

WITH_FIN = "with Fin in the acceptance the marks of an SCC say nothing of its cycles"


def is_named(options: Options) -> bool:
    """Whether the options ask for it by name, so that it must not be left out."""
    return options.insists_on(WALKS)


def obstacle(question: Question) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    options = question.options
    if not options.reduces(WALKS):
        return "--reduce does not name it"
    if options.emptiness != AUTO:
        return f"{options.emptiness} is requested"
    if any(_has_fin(condition) for condition in _of_system(question)):
        return WITH_FIN
    if options.bitstate is not None or options.compact is not None:
        return "--bitstate and --compact are for a search of the whole product"
    return None


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product = yield from question.product(question.given, trace)
    if _has_fin(product.table.condition):
        raise NotApplicableError(WITH_FIN)
    trace.plan = _plan(question, product)

    most = question.options.max_states
    own = MANY_STATES if is_named(question.options) else SOME_STATES
    answer = yield from search_states(
        question, product, trace, max_states=own, way=_walk
    )
    if answer.kind == EMPTY:
        return _given_up(question, trace, "one of them has seen all there is")
    if answer.reason == MAX_STATES and (most is None or own < most):
        return _given_up(question, trace, None)
    return answer


def _walk(
    question: Question,
    product: Product,
    packed: PackedSystem,
    trace: Trace,
    max_states: int | None,
) -> Job[Answer]:
    """Walk through a product; see `ltlpipe.strategies.state_search.search_once`."""
    from ltlpipe.search.scc.walks import Walks

    seed = question.options.seed or 0
    problem = ended_problem(question, product, packed, trace)
    search = Walks(problem, product.table, seed)
    answer = yield from answer_of(question, search, packed, trace, max_states)
    return answer


def _of_system(question: Question) -> list[Condition | None]:
    """Return the conditions that runs have to satisfy whatever the property."""
    fairness = question.fairness
    return [question.system_condition, None if fairness is None else fairness.condition]


def _has_fin(condition: Condition | None) -> bool:
    """Whether runs have to avoid marks."""
    return condition is not None and condition.fin_marks != 0


def _plan(question: Question, product: Product) -> Plan:
    """Return the settled plan; the search is the one that walks are made of."""
    plan = question.settled(
        replace(product.plan, emptiness=SEARCH), product.table, product.reductions
    )
    why = (
        f"{WALKS}, because a violation may be near in some order of steps: searches "
        "of few states, one after another, are guided by the automaton"
    )
    return replace(plan, reasons=(why, *plan.reasons))


def _given_up(question: Question, trace: Trace, why: str | None) -> Answer:
    """Return the answer of walks that have found nothing, which says nothing."""
    if is_named(question.options):
        return Answer(INCONCLUSIVE, WALKS)
    stats = trace.stats
    said = (
        f"no violation in {stats.states:,} states of {stats.details['walks']:,} walks"
    )
    return Answer(NOT_APPLICABLE, said if why is None else f"{said}: {why}")

"""Walks guided by the property: for violations, before much is composed or explored.

They never show that a formula holds; docs/walks.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.answer import EMPTY, INCONCLUSIVE, NOT_APPLICABLE, Answer
from ltlpipe.question.conditions import WALKS, WITH_FIN
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.strategies.state_search import Attempt, answer_of, search_states

if TYPE_CHECKING:
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job

SOME_STATES = 100_000
"""States that walks enter in all, beside other strategies."""

MANY_STATES = 10_000_000
"""The same where they are asked for by name."""

SEARCH = "couvreur99"
"""The emptiness check by which walks recognise accepting cycles."""


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product = yield from question.product(question.given, trace)
    condition = product.table.condition
    if condition is not None and condition.fin_marks:
        raise NotApplicableError(WITH_FIN)
    trace.plan = _plan(question, product)

    most = question.options.max_states
    own = MANY_STATES if question.options.insists_on(WALKS) else SOME_STATES
    answer = yield from search_states(
        question, product, trace, max_states=own, way=_walk
    )
    if answer.kind == EMPTY:
        return _given_up(question, trace, "one of them has seen all there is")
    if answer.reason == MAX_STATES and (most is None or own < most):
        return _given_up(question, trace, None)
    return answer


def _walk(attempt: Attempt) -> Job[Answer]:
    """Walk through a product."""
    from ltlpipe.search.scc.couvreur99 import Walks

    seed = attempt.question.options.seed or 0
    search = Walks(attempt.problem(), attempt.product.table, seed)
    return (yield from answer_of(attempt, search))


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
    if question.options.insists_on(WALKS):
        return Answer(INCONCLUSIVE, WALKS)
    stats = trace.stats
    said = (
        f"no violation in {stats.states:,} states of {stats.details['walks']:,} walks"
    )
    return Answer(NOT_APPLICABLE, said if why is None else f"{said}: {why}")

"""Search state by state: with all steps of the system, or with ample sets.

Sources for ample sets (steps that commute are taken in one order): S. F. Siegel and
Y. Yan, "Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020, for
networks; docs/models-por.md for models, by tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.conditions import AMPLE
from ltlpipe.question.plan import for_workers
from ltlpipe.strategies.state_search import search_states
from ltlpipe.strategies.swarm import search_by_swarm

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product = yield from question.product(question.given, trace)
    plan = question.settled(product.plan, product.table, product.reductions)
    trace.plan = for_workers(plan, question.options)
    way = None if question.options.swarm is None else search_by_swarm
    answer = yield from search_states(question, product, trace, way=way)
    return answer


def job_with_ample_sets(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product, reason = yield from question.ample_product(question.given, trace)
    trace.plan = ample_plan(question, product, reason)
    answer = yield from search_states(question, product, trace)
    return answer


def ample_plan(question: Question, product: Product, reason: str) -> Plan:
    """Return the settled plan of a search with ample sets."""
    plan = question.settled(product.plan, product.table, product.reductions)
    plan = plan.reduced_by(AMPLE, f"ample sets, because {reason}")
    return for_workers(plan, question.options)

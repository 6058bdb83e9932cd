"""Search of the whole product, state by state, with all steps of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.plan import for_workers
from ltlpipe.strategies.state_search import search_states
from ltlpipe.strategies.swarm import search_by_swarm

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product = yield from question.product(question.given, trace)
    plan = question.settled(product.plan, product.table, product.reductions)
    trace.plan = for_workers(plan, question.options)
    way = None if question.options.swarm is None else search_by_swarm
    answer = yield from search_states(question, product, trace, way=way)
    return answer

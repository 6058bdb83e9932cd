"""Search state by state with ample sets: steps that commute are taken in one order.

Sources: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, for networks; docs/models-por.md for models, by tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.options import AMPLE, AUTOMORPHISMS, COMPONENTS, SYMMETRY
from ltlpipe.question.plan import for_workers
from ltlpipe.strategies.state_search import search_states

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job

name = AMPLE
supersedes: str | None = "explicit"
needs_kernels = True
takes_colours = False


def is_named(options: Options) -> bool:
    """Whether the options ask for it by name, so that it must not be left out."""
    return options.insists_on(AMPLE) and _taken_along(options) is None


def obstacle(question: Question) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    taker = _taken_along(question.options)
    if taker is not None:
        return f"--reduce asks for {taker}, which are searched with ample sets then"
    return question.obstacle_to_ample()


def _taken_along(options: Options) -> str | None:
    """Return the reduction that the user names and that uses ample sets itself."""
    takers = (COMPONENTS, SYMMETRY, AUTOMORPHISMS)
    return next((taker for taker in takers if options.insists_on(taker)), None)


def job(question: Question, trace: Trace) -> Job[Answer]:
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

"""The product of a model and an automaton: its size, and its share of Fin transitions.

The share is that of `ltlpipe.search.exploring`: transitions with a mark of which the
condition has a Fin term.  Products can be too large to be explored, so exploration,
breadth first, ends after so many states; the share is then that of the part explored,
and `whole` is false.  Products without Fin have no share and are not explored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.tasks import significant
from ltlpipe.question.answer import Trace
from ltlpipe.question.given_options import understood
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import StoppedError, run
from ltlpipe.runtime.kernels.compilation import ready_expand_pointer
from ltlpipe.search.driver import advance
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.registers import Reg
from ltlpipe.verdict.inquiry import question_of

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System

Row = dict[str, Any]


def explored(
    system: System, violations: Any, max_states: int, timeout: float, memory: float
) -> Row:
    """Return the columns of a product; missing is None."""
    options, limits = understood(
        {"reduce": "none", "timeout": timeout, "memory": memory}
    )
    question = question_of(system, Property(violations=violations), options)
    row: Row = dict.fromkeys(("states", "transitions", "fin_share", "whole"))
    try:
        run(_exploration(question, max_states, row), limits)
    except StoppedError:
        row["whole"] = False
    finally:
        question.close()
    return row


def _exploration(question: Question, max_states: int, row: Row) -> Job[None]:
    """Fill the columns, as far as the job comes."""
    product = yield from question.product(question.given, Trace(question.given))
    packed = yield from product.packed()
    while packed is not None:
        problem = product.problem(packed)
        if problem.condition is None or not problem.condition.fin_marks:
            return
        yield from ready_expand_pointer(packed.expand)
        search = Exploration(problem)
        try:
            outcome = yield from advance(search, max_states=max_states)
        finally:
            row |= _figures(search)
        if packed.overflowed() is None:
            row["whole"] = outcome.reason is None
            return
        packed = yield from packed.widened()


def _figures(search: Exploration) -> Row:
    transitions = int(search.registers[Reg.TRANSITIONS])
    share = search.fin_transitions / transitions if transitions else None
    return {
        "states": int(search.registers[Reg.VISITED]),
        "transitions": transitions,
        "fin_share": significant(share),
    }

"""A strategy on the factors of a network, and its run on the components themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.answer import Trace
from ltlpipe.question.factored import FactoredQuestion, factored_question
from ltlpipe.question.question import NotApplicableError
from ltlpipe.strategies.slicing import sliced

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.strategy import Strategy
    from ltlpipe.systems.runs import Run


def answered(strategy: Strategy, question: Question, trace: Trace) -> Job[Answer]:
    """Return what a strategy answers; it looks at factors where there are some.

    If it cannot be used on them (symmetry that was not found again, say), it is used
    on the components.
    """
    asked = yield from factored_question(question)
    trace.plan = asked.given
    try:
        answer = yield from strategy.job(asked, trace)
    except NotApplicableError:
        if not isinstance(asked, FactoredQuestion):
            raise
        trace.plan = question.given
        return (yield from strategy.job(question, trace))
    if not isinstance(asked, FactoredQuestion) or answer.run is None:
        return answer
    back = _unfactored(asked, answer.run)
    run = yield from trace.timed("lasso_seconds", back)
    return answer._replace(run=run, is_shortest=False)


def _unfactored(question: FactoredQuestion, run: Run) -> Job[Run]:
    """Return the run of the components, without steps that can be left out.

    Steps are left out first: those of different factors depend less on each other.
    """
    from ltlpipe.components.factors import unfactored

    run = yield from sliced(question, run, Trace(question.given))
    return (yield from unfactored(question.before, question.factored, run))

"""A strategy on the factors of a network, and its run on the components themselves.

Only trimming comes before factoring (``--reduce factoring``); all other reductions and
all strategies with kernels see the factors.  The search in plain Python does not:
factors have as many states together, and it must not wait.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.answer import Trace
from ltlpipe.question.conditions import ALPHABET, EACH, FACTORING
from ltlpipe.question.network import NetworkQuestion, with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.strategies.slicing import sliced

if TYPE_CHECKING:
    from ltlpipe.components.factors import Factored
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.runs import Run

_MEMORY = "that takes too much memory"


class FactoredQuestion(NetworkQuestion):
    """The same question about a network whose components were replaced.

    It shares the facts of the original, none of which is about components.

    Attributes
    ----------
    original : NetworkQuestion
        What was asked.
    before : Network
        Its network, maybe trimmed: the one that was factored.
    factored : Factored
        What has become of it.
    """

    def __init__(
        self, original: NetworkQuestion, before: Network, factored: Factored
    ) -> None:
        # The options are not checked again: warnings have been given already.
        self.__dict__.update(vars(original))
        assert factored.network is not None
        self.original, self.before, self.factored = original, before, factored
        self.system = factored.network
        self.system_marks = len(
            self.system.accepting_groups(together=not self.accepts_apart)
        )
        trimmed = () if before is original.system else (ALPHABET,)
        self.given = replace(
            original.given,
            reductions=(*trimmed, FACTORING),
            reasons=(
                *original.given.reasons,
                f"{FACTORING}, because {factored} (docs/factoring.md)",
            ),
        )


def factored_question(question: Question) -> Job[Question]:
    """Return a question about the factors of a network; itself if there are none.

    If factoring was skipped or forbidden, its plan says so.
    """
    network = with_components(question)
    if network is None or not question.options.reduces(FACTORING):
        return question
    if network.fairness is not None:  # whose plan says that nothing is reduced
        return question
    return (yield from question.fact(FACTORING, lambda: _asked(network)))


def _asked(question: NetworkQuestion) -> Job[NetworkQuestion]:
    from ltlpipe.components.alphabet import trim
    from ltlpipe.components.factors import factored, needed_bytes
    from ltlpipe.components.progress import factoring

    options, before = question.options, question.system
    grant = yield factoring(0)
    if grant.memory_bytes < needed_bytes(before):
        return _with_reason(question, _MEMORY)
    together = options.network_acceptance != EACH
    try:
        if options.reduces(ALPHABET):
            before = yield from trim(before)
        found = yield from factored(before, together=together, shares=options.share > 0)
    except MemoryError:  # which must not end all strategies
        return _with_reason(question, _MEMORY)
    if found.network is not None:
        return FactoredQuestion(question, before, found)
    return _with_reason(question, str(found)) if found.left else question


def _with_reason(question: NetworkQuestion, reason: str) -> NetworkQuestion:
    """Return a question whose plan has the reason why nothing is factored."""
    same = object.__new__(NetworkQuestion)
    same.__dict__.update(vars(question))
    reasons = (*question.given.reasons, f"no {FACTORING}, because {reason}")
    same.given = replace(question.given, reasons=reasons)
    return same


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

"""A question about a symmetric net whose colours are merged.

All strategies that would have the net unfolded are given it; their runs get colours
back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.conditions import STRUCTURAL, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.systems.kinds import is_symmetric_net

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.merging import MergedNet


class MergedQuestion(ModelQuestion):
    """The same question about a net of merged colours."""

    system: MergedNet

    def __init__(self, original: ModelQuestion, net: MergedNet) -> None:
        self.__dict__.update(vars(original.about(net, unknown="error")))
        reason = (
            f"{STRUCTURAL}, because the net does not tell all colours apart: "
            f"{len(net.places)} places and {len(net.transitions)} transitions do the "
            "same (Bilgram et al. 2022; docs/reductions.md)"
        )
        self.given = replace(
            self.given,
            reductions=(*self.given.reductions, STRUCTURAL),
            reasons=(*self.given.reasons, reason),
        )

    def restored(self, answer: Answer) -> Job[Answer]:
        """Return an answer with a run of the symmetric net.

        Raises
        ------
        NotApplicableError
            It takes too long until the run repeats a marking.
        """
        if answer.run is None:
            return answer
        run = yield from self.system.coloured_run(answer.run)
        if run is None:
            raise NotApplicableError("a run of merged colours repeats no marking soon")
        return answer._replace(run=run, is_shortest=False)


def with_places(question: Question) -> Job[Question]:
    """Return a question about a net with a place for each colour, merged or not.

    Raises
    ------
    UnsupportedError
        It is too large.
    """
    merged = yield from with_merged_colours(question)
    return merged or (yield from question.unfolded())


def with_merged_colours(question: Question) -> Job[MergedQuestion | None]:
    """Return a question about merged colours; None if none may be, or can be."""
    if not isinstance(question, ModelQuestion) or obstacle(question, STRUCTURAL):
        return None
    asked = question.whole or question
    return (yield from asked.fact("merged", lambda: _merged(asked)))


def _merged(question: ModelQuestion) -> Job[MergedQuestion | None]:
    net = question.system
    if not is_symmetric_net(net):
        return None
    try:
        merged = yield from net.merging()
        return None if merged is None else MergedQuestion(question, merged)
    except (UnsupportedError, FormulaError):  # it names colours
        return None

"""A question about a symmetric net whose colours are merged.

All strategies that would have the net unfolded are given it; their runs get colours
back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.conditions import STRUCTURAL, obstacle
from ltlpipe.question.model import ModelQuestion, Substitute
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.systems.kinds import is_symmetric_net

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.merging import MergedNet
    from ltlpipe.systems.runs import Run


class MergedQuestion(Substitute):
    """The same question about a net of merged colours."""

    system: MergedNet
    lost = "a run of merged colours repeats no marking soon"

    def __init__(self, original: ModelQuestion, net: MergedNet) -> None:
        reason = (
            f"the net does not tell all colours apart: {len(net.places)} places and "
            f"{len(net.transitions)} transitions do the same (Bilgram et al. 2022; "
            "docs/reductions.md)"
        )
        super().__init__(original.about(net, unknown="error"), STRUCTURAL, reason)

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the symmetric net, if it soon repeats a marking."""
        return self.system.coloured_run(run)


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

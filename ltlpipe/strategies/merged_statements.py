"""A question about a program whose processes pass by what nobody else can see.

Searches state by state are given it; their runs are led back to single statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import STATEMENTS, obstacle
from ltlpipe.question.model import ModelQuestion, Substitute
from ltlpipe.systems.kinds import is_program

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.model import ProgramModel
    from ltlpipe.systems.runs import Run


class MergedStatements(Substitute):
    """The same question about a program with merged statements."""

    system: ProgramModel

    def original_run(self, run: Run) -> Job[Run]:
        """Return a run of the program itself."""
        from ltlpipe.por.statements import run_in_single_moves

        return run_in_single_moves(self.system, run)


def with_merged_statements(question: Question) -> Job[Question]:
    """Return a question about merged statements; itself if none may be, or can be."""
    if not isinstance(question, ModelQuestion) or obstacle(question, STATEMENTS):
        return question
    if not is_program(question.system):
        return question
    asked = question
    return (yield from question.fact(STATEMENTS, lambda: _merged(asked)))


def _merged(question: ModelQuestion) -> Job[ModelQuestion]:
    from ltlpipe.por.statements import passed_places

    groups = yield from question.groups()
    if groups.codes is None:
        return question
    decision = yield from question.stuttering()
    system: Any = question.system
    places = passed_places(system.program, groups.codes)
    if not decision.allowed or not places:
        return question
    reason = (
        f"{decision.reason}, and in {len(places)} places of processes only they know "
        "what happens next (docs/models-por.md)"
    )
    merged = MergedStatements(question, STATEMENTS, reason)
    merged.system = system.passing(places)
    return merged

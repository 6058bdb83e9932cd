"""A question about a net that structural reductions have made smaller.

All strategies but `instant` are given it; their runs are led back to the net itself.
Rules that leave steps out are for properties that are stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Enabled,
    Indexed,
    Taken,
    mentions,
    renumbered,
    variables_in,
)
from ltlpipe.question.conditions import STRUCTURAL, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError
from ltlpipe.systems.nets.net import PetriNet

if TYPE_CHECKING:
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.structural.reduction import Reduction


class SmallerNetQuestion(ModelQuestion):
    """The same question about a reduced net.

    Attributes
    ----------
    reduction : Reduction
        What has become of the net.
    """

    def __init__(self, original: ModelQuestion, reduction: Reduction) -> None:
        # The options are not checked again: warnings have been given already.
        self.__dict__.update(vars(original))
        self._facts = {}
        self.reduction, self.system = reduction, reduction.reduced
        self.propositions = {
            text: renumbered(own, reduction.places)
            for text, own in original.propositions.items()
        }
        told = ", ".join(f"{n} {rule}" for rule, n in reduction.applied.items())
        before, after = reduction.net, reduction.reduced
        reason = (
            f"{STRUCTURAL}, because a net of {len(after.places)} places and "
            f"{len(after.transitions)} transitions, not {len(before.places)} and "
            f"{len(before.transitions)}, does the same: {told} (docs/reductions.md)"
        )
        self.given = replace(
            original.given,
            reductions=(*original.given.reductions, STRUCTURAL),
            reasons=(*original.given.reasons, reason),
        )

    def restored(self, answer: Answer) -> Job[Answer]:
        """Return an answer with a run of the net itself.

        Raises
        ------
        NotApplicableError
            The run repeats no marking of the net.
        """
        if answer.run is None:
            return answer
        run = yield from self.reduction.restored(answer.run)
        if run is None:
            raise NotApplicableError("a run of the reduced net repeats no marking")
        return answer._replace(run=run, is_shortest=False)


def about_smaller_net(question: Question) -> Job[Question]:
    """Return a question about a reduced net; itself if nothing can be reduced."""
    if not isinstance(question, ModelQuestion) or obstacle(question, STRUCTURAL):
        return question
    if not isinstance(question.system, PetriNet):
        return question
    if not all(map(is_of_markings, question.propositions.values())):
        return question
    asked = question
    return (yield from question.fact(STRUCTURAL, lambda: _reduced(asked)))


def _reduced(question: ModelQuestion) -> Job[ModelQuestion]:
    from ltlpipe.structural.reduction import MOST_NODES, reduced_net

    net = question.system
    assert isinstance(net, PetriNet)
    if len(net.places) + len(net.transitions) > MOST_NODES:
        return question
    said = question.propositions.values()
    observed = {place for meaning in said for place in variables_in(meaning)}
    decision = yield from question.stuttering()
    found = yield from reduced_net(net, observed, stuttering=decision.allowed)
    return question if found is None else SmallerNetQuestion(question, found)


def is_of_markings(expression: Expression) -> bool:
    """Whether a bound expression depends on nothing but the marking's numbers."""
    return not mentions(expression, Deadlock, Taken, Indexed, Enabled)

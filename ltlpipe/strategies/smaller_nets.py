"""A question about a net that structural reductions have made smaller.

All strategies but `instant` are given it; their runs are led back to the net itself.
Rules that leave steps out are for properties that are stutter-invariant.
"""

from __future__ import annotations

from contextlib import suppress
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
from ltlpipe.question.model import ModelQuestion, Substitute
from ltlpipe.runtime.jobs import TooMuchWorkError, bounded
from ltlpipe.systems.nets.net import PetriNet

if TYPE_CHECKING:
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.structural.reduction import Reduction
    from ltlpipe.systems.runs import Run


class SmallerNetQuestion(Substitute):
    """The same question about a reduced net.

    Attributes
    ----------
    reduction : Reduction
        What has become of the net.
    """

    lost = "a run of the reduced net repeats no marking"

    def __init__(self, original: ModelQuestion, reduction: Reduction) -> None:
        told = ", ".join(f"{n} {rule}" for rule, n in reduction.applied.items())
        before, after = reduction.net, reduction.reduced
        reason = (
            f"a net of {len(after.places)} places and {len(after.transitions)} "
            f"transitions, not {len(before.places)} and {len(before.transitions)}, "
            f"does the same: {told} (docs/reductions.md)"
        )
        super().__init__(original, STRUCTURAL, reason)
        self._facts = {}
        self.reduction, self.system = reduction, reduction.reduced
        self.propositions = {
            text: renumbered(own, reduction.places)
            for text, own in original.propositions.items()
        }

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the net itself."""
        return self.reduction.restored(run)


_MOST_DECIDING = 500_000
"""Units of work that a net waits for, until it is known what its property can tell."""


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
    stuttering = False
    with suppress(TooMuchWorkError):  # then what is right in any case has to do
        decision = yield from bounded(question.stuttering(), _MOST_DECIDING)
        stuttering = decision.allowed
    found = yield from reduced_net(net, observed, stuttering=stuttering)
    return question if found is None else SmallerNetQuestion(question, found)


def is_of_markings(expression: Expression) -> bool:
    """Whether a bound expression depends on nothing but the marking's numbers."""
    return not mentions(expression, Deadlock, Taken, Indexed, Enabled)

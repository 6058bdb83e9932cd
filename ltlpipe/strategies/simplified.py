"""A question about a net without propositions that are the same in all markings.

Linear programs find them (`ltlpipe.linear.proof`) before other strategies begin.  What
is left of the formula is often smaller, and often stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.logic.folding import with_constants
from ltlpipe.question.conditions import LINEAR, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.strategies.linear import arrays_of, is_too_large, meanings_of
from ltlpipe.systems.nets.net import PetriNet

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job

SECONDS = 1.0
"""CPU time after which no more constants are looked for."""


def simplified(question: Question) -> Job[Question]:
    """Return a question about fewer propositions; itself if none is constant."""
    if not isinstance(question, ModelQuestion) or obstacle(question, LINEAR):
        return question
    if not question.simplifies:
        return question
    if not isinstance(question.system, PetriNet) or question.translated is None:
        return question
    if is_too_large(question.system):
        return question
    asked = question
    return (yield from question.fact(LINEAR, lambda: _simplified(asked)))


def _simplified(question: ModelQuestion) -> Job[ModelQuestion]:
    from ltlpipe.linear.proof import constants

    net, formula, meanings = question.system, question.translated, question.propositions
    assert isinstance(net, PetriNet)
    assert formula is not None
    values = yield from constants(arrays_of(net), meanings_of(meanings), SECONDS)
    if not values:
        return question
    try:
        spot = with_constants(formula.spot, values)
    except UnsupportedError:  # PSL
        return question
    same = object.__new__(type(question))
    same.__dict__.update(vars(question))
    same._facts = {}
    same.translated = fewer = replace(formula, spot=spot)
    same.propositions = {text: meanings[text] for text in fewer.propositions}
    reason = (
        f"{LINEAR}, because by linear programs {len(values)} of {len(meanings)} "
        "propositions are the same in all markings (docs/reductions.md)"
    )
    same.given = replace(
        question.given,
        reductions=(*question.given.reductions, LINEAR),
        reasons=(*question.given.reasons, reason),
    )
    return same

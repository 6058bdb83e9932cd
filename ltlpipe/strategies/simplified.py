"""A question about a net without propositions that are the same in all markings.

Linear programs find them (`ltlpipe.linear.proof`) before other strategies begin.  What
is left of the formula is often smaller, and often stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.folding import with_constants
from ltlpipe.question.conditions import LINEAR, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.strategies.linear import (
    arrays_of,
    is_too_large,
    meanings_of,
    skeleton_of,
)
from ltlpipe.systems.nets.coloured.vocabulary import Coloured
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
    if not question.simplifies or question.translated is None:
        return question
    if not isinstance(question.system, (PetriNet, Coloured)):
        return question
    asked, key = question, (LINEAR, isinstance(question.system, PetriNet))
    return (yield from question.fact(key, lambda: _simplified(asked)))


def _simplified(question: ModelQuestion) -> Job[ModelQuestion]:
    formula, meanings = question.translated, question.propositions
    assert formula is not None
    values = yield from _constants(question)
    if not values:
        return question
    try:
        spot = with_constants(formula.spot, values)
    except UnsupportedError:  # PSL
        return question
    same = object.__new__(type(question))
    same.__dict__.update(vars(question))
    same._facts = {}
    same.whole = None if isinstance(question.system, PetriNet) else question
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


def _constants(question: ModelQuestion) -> Job[dict[str, bool]]:
    """Return the values of constant propositions; those without colours come first."""
    from ltlpipe.linear.proof import constants

    net, left = question.system, dict(question.propositions)
    values: dict[str, bool] = {}
    about: list[tuple[Any, Any]] = []
    if isinstance(net, Coloured):
        bare = yield from skeleton_of(question)
        about += [] if bare is None else [(bare.system, bare.propositions)]
    if isinstance(net, PetriNet) and not is_too_large(net):
        about.append((net, left))
    for known, meanings in about:
        told = meanings_of(
            {text: meanings[text] for text in left if text not in values}
        )
        if told:
            values |= yield from constants(arrays_of(known), told, SECONDS)
    return values

"""A question about a net with a simpler formula.

What linear programs and the first markings say of it (`ltlpipe.linear.knowledge`) is
used before other strategies begin.  What is left of the formula is often
stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.conditions import LINEAR, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded
from ltlpipe.strategies.linear import arrays_of, is_too_large, meanings_of
from ltlpipe.systems.nets.net import PetriNet

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job

SECONDS = 1.0
"""CPU time after which nothing else is tried."""

_WORK = 5e6
"""Microseconds of CPU time after which the formula is left as it is."""


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
    from ltlpipe.linear.knowledge import simpler

    net, formula, meanings = question.system, question.translated, question.propositions
    assert isinstance(net, PetriNet)
    assert formula is not None
    job = simpler(arrays_of(net), formula, meanings_of(meanings), SECONDS)
    try:
        found = yield from bounded(job, _WORK)
    except (TooMuchWorkError, StoppedError, RuntimeError):
        return question
    if found is None:
        return question
    same = object.__new__(type(question))
    same.__dict__.update(vars(question))
    same._facts = {}
    same.translated = fewer = replace(formula, spot=found.spot)
    same.propositions = {text: meanings[text] for text in fewer.propositions}
    n_left, n_before = len(same.propositions), len(meanings)
    reason = (
        f"{LINEAR}, because by linear programs and the first markings a simpler "
        f"formula says the same, about {n_left} instead of {n_before} propositions "
        "(docs/reductions.md)"
    )
    same.given = replace(
        question.given,
        reductions=(*question.given.reductions, LINEAR),
        reasons=(*question.given.reasons, reason),
    )
    return same

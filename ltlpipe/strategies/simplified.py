"""A question about a net with a simpler formula.

What linear programs and the first markings say of it (`ltlpipe.linear.proof`) is
used before other strategies begin.  What is left of the formula is often
stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import LINEAR, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded
from ltlpipe.strategies.linear import (
    arrays_of,
    is_too_large,
    meanings_of,
    skeleton_of,
)
from ltlpipe.systems.nets.coloured.skeleton import Skeleton
from ltlpipe.systems.nets.coloured.vocabulary import Coloured
from ltlpipe.systems.nets.net import PetriNet

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
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
    if not question.simplifies or question.translated is None:
        return question
    if not isinstance(question.system, (PetriNet, Coloured)):
        return question
    asked, key = question, (LINEAR, isinstance(question.system, PetriNet))
    return (yield from question.fact(key, lambda: _simplified(asked)))


def _simplified(question: ModelQuestion) -> Job[ModelQuestion]:
    meanings, found = question.propositions, question.translated
    for net, own in (yield from _nets(question)):
        assert found is not None
        found = (yield from _simpler(net, found, own)) or found
    if found is None or found is question.translated:
        return question
    same = object.__new__(type(question))
    same.__dict__.update(vars(question))
    same._facts = {}
    same.whole = None if isinstance(question.system, PetriNet) else question
    same.translated = fewer = found
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


def _nets(question: ModelQuestion) -> Job[list[tuple[PetriNet, dict[str, Any]]]]:
    """Return nets that tell something of a question; that without colours is first."""
    nets: list[tuple[Any, dict[str, Any]]] = []
    if isinstance(question.system, Coloured):
        bare = yield from skeleton_of(question)
        nets += [] if bare is None else [(bare.system, bare.propositions)]
    net = question.system
    if isinstance(net, PetriNet) and not is_too_large(net):
        nets.append((net, question.propositions))
    return nets


def _simpler(
    net: PetriNet, formula: Formula, meanings: dict[str, Any]
) -> Job[Formula | None]:
    from ltlpipe.linear.proof import simpler

    own = meanings_of({text: meanings[text] for text in formula.propositions})
    steps = not isinstance(net, Skeleton)
    job = simpler(arrays_of(net), formula, own, SECONDS, steps=steps)
    try:
        return (yield from bounded(job, _WORK))
    except (TooMuchWorkError, StoppedError, RuntimeError):
        return None

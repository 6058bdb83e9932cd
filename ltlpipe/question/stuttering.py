"""Whether a question about a model allows ample sets that tables decide.

They keep what stutter-invariant properties can tell (docs/models-por.md): those that
do not change when letters are repeated or repetitions deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.translating import stutter_invariant
from ltlpipe.question.interruptible import Decision, decided

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

_SECONDS = 2.0
"""CPU time for the decision; a property without an answer is not reduced."""

_UNKNOWN = "it is too hard to tell whether the property is stutter-invariant"


class Reduction(NamedTuple):
    """Which steps may be taken before all others, and why, or why none.

    `codes` (int64[n_actions, 3]) is what `Model.pack` takes, None for all steps.
    """

    codes: np.ndarray | None
    reason: str


def decide_reduction(
    model: Model,
    propositions: Iterable[Expression],
    asked: Property,
) -> Job[Reduction]:
    """Decide whether and how a model is reduced for a property."""
    from ltlpipe.reduction.static.groups import find_groups

    groups = yield from find_groups(model, list(propositions))
    if groups.codes is None:
        return Reduction(None, groups.reason)
    decision = yield from decide_stuttering(asked)
    if not decision.allowed:
        return Reduction(None, decision.reason)
    return Reduction(groups.codes, f"{decision.reason}, and {groups.reason}")


def decide_stuttering(asked: Property) -> Job[Decision]:
    """Decide whether a property is stutter-invariant."""
    if asked.is_trivial:
        return Decision(True, "nothing is asked but a run")
    what = "automaton" if asked.formula is None else "formula"
    if asked.formula is not None and (
        asked.formula.spot.is_syntactic_stutter_invariant()
    ):
        return Decision(True, "the formula is stutter-invariant by its syntax")
    job = stutter_invariant(asked.formula or asked.violations)
    answer = yield from decided(job, _SECONDS)
    if answer is None:
        return Decision(False, _UNKNOWN)
    no = "" if answer else "not "
    return Decision(answer, f"the {what} is {no}stutter-invariant")

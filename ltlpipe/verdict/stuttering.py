"""Whether a question about a model allows ample sets that tables decide.

They keep what stutter-invariant properties can tell (docs/models-por.md): those that
do not change when letters are repeated or repetitions deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.stuttering import stutter_invariant
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.finishing import decide
from ltlpipe.verdict.interruptible import Decision
from ltlpipe.verdict.options import AMPLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.search.driver import Interrupt, Limits
    from ltlpipe.systems.models import Model
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property

_SECONDS = 2.0  # of CPU time; a property without an answer is not reduced


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
    options: Options,
    limits: Limits,
    interrupt: Interrupt,
) -> Reduction:
    """Decide whether and how a model is reduced for a property.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed.
    """
    from ltlpipe.reduction.static.groups import find_groups

    if not options.reduces(AMPLE):
        return Reduction(None, "--reduce does not ask for them")
    groups = find_groups(model, list(propositions))
    if groups.codes is None:
        return Reduction(None, groups.reason)
    decision = decide_stuttering(asked, limits, interrupt)
    if not decision.allowed:
        return Reduction(None, decision.reason)
    return Reduction(groups.codes, f"{decision.reason}, and {groups.reason}")


def decide_stuttering(
    asked: Property, limits: Limits, interrupt: Interrupt
) -> Decision:
    """Decide whether a property is stutter-invariant.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed.
    """
    if asked.is_trivial:
        return Decision(True, "nothing is asked but a run")
    what = "automaton" if asked.formula is None else "formula"
    if asked.formula is not None and (
        asked.formula.spot.is_syntactic_stutter_invariant()
    ):
        return Decision(True, "the formula is stutter-invariant by its syntax")
    job = stutter_invariant(asked.formula or asked.violations)
    try:
        answer = decide(job, _SECONDS, limits, interrupt)
    except UnsupportedError:  # more than Spot can do
        answer = None
    if answer is None:
        return Decision(False, _UNKNOWN)
    no = "" if answer else "not "
    return Decision(answer, f"the {what} is {no}stutter-invariant")

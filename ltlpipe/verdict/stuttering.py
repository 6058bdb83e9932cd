"""Whether a question about a model allows ample sets that tables decide.

They keep what stutter-invariant properties can tell (docs/models-por.md): those that
do not change when letters are repeated or repetitions deleted.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.bounded import call_bounded
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.verdict.interruptible import Decision
from ltlpipe.verdict.options import AMPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.systems.models import Model
    from ltlpipe.verdict.limits import Limits
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property

_SECONDS = 2.0  # for the decision; a property without an answer is not reduced

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
    if asked.formula is not None:
        work = partial(_is_invariant_formula, asked.formula.spot)
    else:
        work = partial(_is_invariant_automaton, asked.violations)
    answer = _in_time(work, limits, interrupt)
    if answer is None:
        return Decision(False, _UNKNOWN)
    no = "" if answer else "not "
    return Decision(answer, f"the {what} is {no}stutter-invariant")


def _is_invariant_formula(formula: Any) -> bool:
    import spot

    return bool(spot.is_stutter_invariant(formula))


def _is_invariant_automaton(automaton: Any) -> bool:
    """Whether the language of an automaton is stutter-invariant.

    What its file says of that is not believed.
    """
    import spot

    unlabelled = spot.make_twa_graph(automaton, spot.twa_prop_set.all())
    unlabelled.prop_stutter_invariant(spot.trival_maybe())
    return bool(spot.is_stutter_invariant(unlabelled))


def _in_time(
    work: Callable[[], bool], limits: Limits, interrupt: Interrupt
) -> bool | None:
    """Return what `work` answers, or None if that takes too long."""
    deadline = time.monotonic() + _SECONDS
    if limits.deadline is not None:
        deadline = min(deadline, limits.deadline)
    try:
        return call_bounded(work, deadline=deadline, stopped=lambda: interrupt.pressed)
    except StoppedError:
        if interrupt.pressed or limits.expired:
            raise
        return None
    except (UnsupportedError, RuntimeError):  # more than Spot can do
        return None

"""Where a property stands: Manna & Pnueli's hierarchy, stutter invariance.

Source: Z. Manna and A. Pnueli, "A Hierarchy of Temporal Properties", PODC 1990,
pp. 377-410; Spot decides both.

Differences from the source: what is classified is the set of words of actions,
of which exactly one happens at a time.  Formulas are handed to Spot over the bits of
actions' numbers (`ltlpipe.logic.actions`): numbering is continuous in both
directions and respects repetitions, so the class is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.actions import numbered
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ltlpipe.logic.formulas import Formula

    Answer = TypeVar("Answer")

CLASSES = {
    "B": "bottom",
    "G": "guarantee",
    "S": "safety",
    "O": "obligation",
    "P": "persistence",
    "R": "recurrence",
    "T": "reactivity",
}
"""Manna & Pnueli's classes by Spot's letters; bottom is safety and guarantee."""


def size(formula: Formula) -> int:
    """Return how many operators and propositions a formula has."""
    import spot

    return int(spot.length(formula.spot))


def manna_pnueli(formula: Formula) -> str:
    """Return the smallest class of `CLASSES` that a property of actions is in.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    over_bits = numbered(formula.spot, formula.propositions)
    return CLASSES[_by_spot(lambda: str(spot.mp_class(over_bits)))]


def is_stutter_invariant(formula: Formula) -> bool:
    """Decide whether repeating actions, or deleting repetitions, changes nothing.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    over_bits = numbered(formula.spot, formula.propositions)
    return _by_spot(lambda: bool(spot.is_stutter_invariant(over_bits)))


def _by_spot(work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot classify the formula: {reason}") from error

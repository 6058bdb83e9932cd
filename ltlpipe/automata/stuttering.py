"""Whether repeating letters, or deleting repetitions, changes nothing: Spot decides.

Letters are sets of propositions here; `ltlpipe.logic.hierarchy` decides it for words of
actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.translating import received, subject
from ltlpipe.logic.formulas import Formula
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job


def stutter_invariant(asked: Formula | Any) -> Job[bool]:
    """Decide whether a formula, or the language of an automaton, is stutter-invariant.

    What the file of an automaton says of that is not believed.

    Raises
    ------
    RuntimeError
        It is more than Spot can do.
    """
    answer: bool = yield from workers.call(
        "stutter invariant", phase="deciding stutter invariance", asked=subject(asked)
    )
    return answer


def is_stutter_invariant(asked: dict[str, str]) -> bool:
    """Do the work of `stutter_invariant`."""
    import spot

    given: Any = received(asked)
    if isinstance(given, Formula):
        return bool(spot.is_stutter_invariant(given.spot))
    unlabelled = spot.make_twa_graph(given, spot.twa_prop_set.all())
    unlabelled.prop_stutter_invariant(spot.trival_maybe())
    return bool(spot.is_stutter_invariant(unlabelled))

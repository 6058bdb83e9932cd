"""Whether a question allows ample sets, and the automaton that they need.

Component reduction also needs to know whether the property is erasable
(docs/erasable.md).

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020: ample sets are sound for properties that depend on their
visible actions only, with an automaton in interrupt normal form (Theorem 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltlpipe.automata.interrupts import first_violation, interruptible_table, norm
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job

_SECONDS = 5.0
"""CPU time for the decision; a property without an answer is not reduced."""

NOT_BUCHI = "the automaton has more than one mark on states, or marks on transitions"
"""Why there are no ample sets: normal forms need one mark on states at most."""


@dataclass(frozen=True)
class Decision:
    """Whether ample sets may be used, and why or why not."""

    allowed: bool
    reason: str  # for people

    @classmethod
    def of(cls, answer: bool | None, subject: str, kind: str) -> Decision:
        """Return what `decided` has answered, such as "the formula is", "weak"."""
        if answer is None:
            return cls(False, f"deciding whether the property is {kind} takes too long")
        return cls(answer, f"{subject} {'' if answer else 'not '}{kind}")


def decide_formula(formula: Formula) -> Job[Decision]:
    """Decide whether a formula depends only on the actions that it names."""
    from ltlpipe.logic.classes import syntactic_class
    from ltlpipe.logic.interruptible import interruptible_formula

    try:
        if "intrpt" in syntactic_class(formula.spot):
            return Decision(True, "the formula is interruptible by its syntax")
        answer = yield from decided(interruptible_formula(formula), _SECONDS)
    except UnsupportedError as error:
        return Decision(False, str(error))
    return Decision.of(answer, "the formula is", "interruptible")


def decide_automaton(table: PropertyAutomaton, visible: Sequence[int]) -> Job[Decision]:
    """Decide whether an automaton depends only on its visible letters.

    Raises
    ------
    ValueError
        The automaton is not a Büchi automaton.
    """
    if first_violation(table, visible) is None:  # Prop. 6
        return Decision(True, "the automaton is in interrupt normal form")
    if not table.is_buchi:
        raise ValueError(
            f"{table.acceptance} is not an acceptance with one mark on states"
        )
    answer = yield from decided(interruptible_table(table, visible), _SECONDS)
    return Decision.of(answer, "the automaton is", "interruptible")


def decide_erasable_formula(formula: Formula) -> Job[Decision]:
    """Decide whether violations survive erasing actions outside a formula."""
    from ltlpipe.logic.erasable import erasable_formula

    answer = yield from decided(erasable_formula(formula), _SECONDS)
    return Decision.of(answer, "the formula is", "erasable")


def decide_erasable_automaton(
    table: PropertyAutomaton, visible: Sequence[int]
) -> Job[Decision]:
    """Decide whether the words of an automaton survive erasing invisible letters."""
    from ltlpipe.automata.interrupts import erasable_table

    answer = yield from decided(erasable_table(table, visible), _SECONDS)
    return Decision.of(answer, "the automaton is", "erasable")


def normalised(table: PropertyAutomaton, visible: Sequence[int]) -> PropertyAutomaton:
    """Return a table in interrupt normal form, the same if it is so already."""
    if first_violation(table, visible) is None:
        return table
    return norm(table, visible)


def decided(job: Job[bool], seconds: float) -> Job[bool | None]:
    """Return the decision of a job, or None if it takes too much CPU time or fails."""
    try:
        answer = yield from bounded(job, seconds * 1e6)
        return bool(answer)
    except (TooMuchWorkError, StoppedError, UnsupportedError, RuntimeError):
        return None

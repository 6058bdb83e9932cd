"""Whether a question allows ample sets, and the automaton that they need.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020: ample sets are sound for properties that depend on their
visible actions only, with an automaton in interrupt normal form (Theorem 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltlpipe.automata.interrupts import first_violation, interruptible_table, norm
from ltlpipe.automata.letters import OTHER
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.finishing import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.search.driver import Interrupt, Limits

_SECONDS = 5.0  # of CPU time; a property without an answer is not reduced


_TOO_HARD = "it is too hard to tell whether the property is interruptible"

NOT_SIMPLE = "the automaton has more than one mark on states, or marks on transitions"
"""Why there are no ample sets with an automaton that `is_simple` says no of."""


@dataclass(frozen=True)
class Decision:
    """Whether ample sets may be used, and why or why not.

    Parameters
    ----------
    allowed : bool
        Whether the property is interruptible.
    reason : str
        For people.
    """

    allowed: bool
    reason: str


def decide_formula(formula: Formula, limits: Limits, interrupt: Interrupt) -> Decision:
    """Decide whether only the actions that a formula names matter to it.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed.
    """
    from ltlpipe.logic.classes import syntactic_class
    from ltlpipe.logic.interruptible import interruptible_formula

    try:
        if "intrpt" in syntactic_class(formula.spot):
            return Decision(True, "the formula is interruptible by its syntax")
        answer = decide(interruptible_formula(formula), _SECONDS, limits, interrupt)
    except UnsupportedError as error:
        return Decision(False, str(error))
    if answer is None:
        return Decision(False, _TOO_HARD)
    no = "" if answer else "not "
    return Decision(answer, f"the formula is {no}interruptible")


def decide_automaton(
    table: PropertyAutomaton,
    visible: Sequence[int],
    limits: Limits,
    interrupt: Interrupt,
) -> Decision:
    """Decide whether only its visible letters matter to an automaton.

    Raises
    ------
    StoppedError
        The deadline has passed or `interrupt` was pressed.
    ValueError
        The automaton is not as `is_simple` says.
    """
    if first_violation(table, visible) is None:  # Prop. 6
        return Decision(True, "the automaton is in interrupt normal form")
    if not is_simple(table):
        raise ValueError(f"{table.acceptance} is no acceptance of one mark on states")
    job = interruptible_table(table, visible)
    try:
        answer = decide(job, _SECONDS, limits, interrupt)
    except UnsupportedError:  # more than Spot can do
        answer = None
    if answer is None:
        return Decision(False, _TOO_HARD)
    no = "" if answer else "not "
    return Decision(answer, f"the automaton is {no}interruptible")


def is_simple(table: PropertyAutomaton) -> bool:
    """Whether acceptance is one mark on states at most, as normal forms need it."""
    return table.is_buchi


def normalised(table: PropertyAutomaton, visible: Sequence[int]) -> PropertyAutomaton:
    """Return a table in interrupt normal form, the same if it is so already."""
    if first_violation(table, visible) is None:
        return table
    return norm(table, visible)


def visible_letters(actions: Sequence[str], chosen: Sequence[str] | None) -> list[int]:
    """Return the letters of the visible actions; by default of all that are named.

    Letter i + 1 is ``actions[i]``.
    """
    return [
        letter
        for letter, name in enumerate(actions, start=OTHER + 1)
        if chosen is None or name in chosen
    ]

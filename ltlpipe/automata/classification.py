"""What kind of property a formula is, and what its automata look like.

Automata are those of the formula itself (searches take those of its negation), over
one action at a time.

Source: Z. Manna and A. Pnueli, "A Hierarchy of Temporal Properties", PODC 1990,
pp. 377-410; Spot decides the classes, and stutter invariance.

Differences from the source: what is classified is the set of words of actions,
of which exactly one happens at a time.  Formulas are handed to Spot over the bits of
actions' numbers (`ltlpipe.logic.actions`): numbering is continuous in both
directions and respects repetitions, so the class is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.interrupts import first_violation, norm, to_spot
from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.logic.actions import numbered
from ltlpipe.logic.formulas import Formula
from ltlpipe.logic.spot_graphs import by_spot

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton

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

KINDS = {
    "tgba": ("GeneralizedBuchi",),
    "parity": ("parity", "deterministic"),
    "generic": ("generic",),
}
"""Acceptance conditions, and what Spot is asked for: parity automata are
deterministic, generic ones have whatever acceptance makes them small.
"""

_CLASSIFY = "classify the formula"


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

    return CLASSES[by_spot(lambda: str(spot.mp_class(_over_bits(formula))), _CLASSIFY)]


def is_stutter_invariant(formula: Formula) -> bool:
    """Decide whether repeating actions, or deleting repetitions, changes nothing.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    return by_spot(
        lambda: bool(spot.is_stutter_invariant(_over_bits(formula))), _CLASSIFY
    )


def _over_bits(formula: Formula) -> Any:
    return numbered(formula.spot, formula.propositions)


def n_states(formula: Formula, kind: str) -> int:
    """Return how many states the automaton has that Spot makes, of a kind of `KINDS`.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    wishes = KINDS[kind]
    return by_spot(
        lambda: int(spot.translate(_over_bits(formula), *wishes).num_states())
    )


def buchi(formula: Formula) -> PropertyAutomaton:
    """Return the state-based Büchi automaton of a formula over its own actions.

    Letter 0 is every action that the formula does not name, letter i the i-th of
    its propositions.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    violated_by_it = Formula(formula.text, spot.formula_Not(formula.spot))
    return table_over_actions(violated_by_it, "ba", formula.propositions)


def is_very_weak(table: PropertyAutomaton) -> bool:
    """Whether no cycle of an automaton has more than one state."""
    import spot

    components = spot.scc_info(to_spot(table))
    return all(len(component.states()) == 1 for component in components)


def _visible(table: PropertyAutomaton) -> frozenset[int]:
    return frozenset(range(table.n_letters)) - {OTHER}


def violation_of_normal_form(table: PropertyAutomaton) -> tuple[bool, str]:
    """Return whether an automaton is in interrupt normal form, and what it lacks."""
    found = first_violation(table, _visible(table))
    return found is None, "" if found is None else str(found)


def n_states_of_norm(table: PropertyAutomaton) -> int:
    """Return the number of states of the automaton in normal form."""
    return norm(table, _visible(table)).n_states

"""What the automata of a formula look like, acceptance by acceptance.

All are automata of the formula itself (searches take those of its negation), over
one action at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.interrupts import first_violation, norm
from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.translation import from_formula
from ltlpipe.logic.actions import numbered
from ltlpipe.logic.formulas import Formula
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton

KINDS = {
    "tgba": ("GeneralizedBuchi",),
    "parity": ("parity", "deterministic"),
    "generic": ("generic",),
}
"""Acceptance conditions, and what Spot is asked for: parity automata are
deterministic, generic ones have whatever acceptance makes them small.
"""


def n_states(formula: Formula, kind: str) -> int:
    """Return the number of states of the automaton that Spot makes.

    Parameters
    ----------
    formula : Formula
        LTL over actions.
    kind : str
        A key of `KINDS`.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    over_bits = numbered(formula.spot, formula.propositions)
    try:
        return int(spot.translate(over_bits, *KINDS[kind]).num_states())
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot build the automaton: {reason}") from error


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
    return from_formula(violated_by_it, "ba", formula.propositions)


def is_very_weak(table: PropertyAutomaton) -> bool:
    """Whether no cycle of an automaton has more than one state."""
    followers: list[set[int]] = [set() for _ in range(table.n_states)]
    for state in range(table.n_states):
        first = table.first_edge[state * table.n_letters]
        end = table.first_edge[(state + 1) * table.n_letters]
        followers[state] = set(table.edge_dst[first:end].tolist()) - {state}
    waiting = [0] * table.n_states  # predecessors that have not been taken out
    for targets in followers:
        for target in targets:
            waiting[target] += 1
    free = [state for state, count in enumerate(waiting) if count == 0]
    for state in free:  # grows while it is read
        for target in followers[state]:
            waiting[target] -= 1
            if waiting[target] == 0:
                free.append(target)
    return len(free) == table.n_states


def visible_letters(table: PropertyAutomaton) -> frozenset[int]:
    """Return the letters of actions that the formula names."""
    return frozenset(range(table.n_letters)) - {OTHER}


def violation_of_normal_form(table: PropertyAutomaton) -> tuple[bool, str]:
    """Return whether an automaton is in interrupt normal form, and what it lacks."""
    found = first_violation(table, visible_letters(table))
    return found is None, "" if found is None else str(found)


def n_states_of_norm(table: PropertyAutomaton) -> int:
    """Return the number of states of the automaton in normal form."""
    return norm(table, visible_letters(table)).n_states

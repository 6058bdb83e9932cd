"""What kind of property of finite words a formula is, and its automata's sizes.

Words are of actions, of which exactly one happens at a time.  A property of finite
words is one of *safety* if each beginning of a word that has it has it, too, of
*guarantee* if each continuation has; these are the classes of Manna and Pnueli that
carry over.  Both are read off the deterministic automaton.

Source: G. De Giacomo and M. Y. Vardi, "Linear Temporal Logic and Linear Dynamic Logic
on Finite Traces", IJCAI 2013, pp. 854-860; Spot translates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.actions import numbered, refuse_psl
from ltlpipe.logic.spot_graphs import by_spot

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula

_ALIVE = "<alive>"
_BUCHI = ("Buchi", "SBAcc")


def _rewritten(formula: Formula) -> Any:
    """Return Spot's formula of infinite words, over the bits of actions' numbers."""
    import spot

    refuse_psl(formula.spot)
    return spot.from_ltlf(numbered(formula.spot, formula.propositions), _ALIVE)


def n_states(formula: Formula, *, deterministic: bool) -> int:
    """Return how many states Spot's automaton of the finite words has.

    Raises
    ------
    UnsupportedError
        Spot gives up, or the formula is PSL.
    """
    return int(_automaton(formula, deterministic=deterministic).num_states())


def _automaton(formula: Formula, *, deterministic: bool) -> Any:
    import spot

    wish = "deterministic" if deterministic else "small"
    translated = by_spot(lambda: spot.translate(_rewritten(formula), wish, *_BUCHI))
    return spot.to_finite(translated, _ALIVE)


def is_stutter_invariant(formula: Formula) -> bool:
    """Decide whether repeating actions, or deleting repetitions, changes nothing.

    Raises
    ------
    UnsupportedError
        Spot gives up, or the formula is PSL.
    """
    import spot

    rewritten = _rewritten(formula)
    return by_spot(
        lambda: bool(spot.is_stutter_invariant(rewritten)), "classify the formula"
    )


def hierarchy(formula: Formula) -> str | None:
    """Return "safety", "guarantee", "bottom" for both, or None for neither.

    Raises
    ------
    UnsupportedError
        Spot gives up, or the formula is PSL.
    """
    automaton = _automaton(formula, deterministic=True)
    import buddy  # which Spot brings

    accepting = [automaton.state_is_accepting(s) for s in range(automaton.num_states())]
    hopeful = _leading_to(automaton, accepting)
    safety = guarantee = True
    for state in range(automaton.num_states()):
        left = buddy.bddtrue
        for edge in automaton.out(state):
            left -= edge.cond
            if accepting[state] and not accepting[edge.dst]:
                guarantee = False
            if not accepting[edge.dst] and hopeful[edge.dst]:
                safety = False
        if accepting[state] and left != buddy.bddfalse:
            guarantee = False
    if safety and guarantee:
        return "bottom"
    return "safety" if safety else "guarantee" if guarantee else None


def _leading_to(automaton: Any, goal: list[bool]) -> list[bool]:
    """Return which states lead to a goal, in no step or more."""
    found = list(goal)
    while True:
        more = [
            known or any(found[edge.dst] for edge in automaton.out(state))
            for state, known in enumerate(found)
        ]
        if more == found:
            return found
        found = more

"""Automata of the words that violate formulas with a past, or of finite words.

A formula with past operators is violated by the words whose history variables
(`ltlpipe.logic.history`) satisfy its negation: an automaton over both is projected to
the propositions of the word.

A finite word becomes an infinite one: a proposition says which steps belong to it, and
what follows does not matter.  Spot's ``from_ltlf`` rewrites formulas so.  Of a system
with actions the word ends at the first *end*, an action that no other step has.  Of a
system with states the last letter is that of a state in which a run may end, be it a
deadlock or not; that the word ends there is guessed, by projection, too.

Source: G. De Giacomo and M. Y. Vardi, "Linear Temporal Logic and Linear Dynamic Logic
on Finite Traces", IJCAI 2013, pp. 854-860, Sec. 2 (the proposition for the end).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.translating import PHASE
from ltlpipe.logic.actions import refuse_psl
from ltlpipe.logic.history import explained
from ltlpipe.logic.spot_graphs import by_spot
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job

_ALIVE = "<alive>"
_FIN_LESS = ("GeneralizedBuchi",)


def of_infinite_words(formula: Formula) -> Job[Any]:
    """Return the automaton of the infinite words that violate a formula with a past."""
    import spot

    negated = spot.formula_Not(formula.spot)
    violated = spot.formula_And([negated, explained(formula.history)])
    return (yield from projected(violated, [each.name for each in formula.history]))


def of_actions(formula: Formula, end: str) -> Job[Any]:
    """Return the automaton of the finite words of actions that violate a formula.

    They are followed by `end` for ever.
    """
    import spot

    over = spot.formula_ap(end)
    meaning = spot.relabeling_map()
    meaning[spot.formula_ap(_ALIVE)] = spot.formula_Not(over)
    violated = spot.relabel_apply(_of_the_living(formula), meaning)
    return (yield from projected(violated, [each.name for each in formula.history]))


def of_states(
    formula: Formula, ends: Sequence[str], dead: str, steps: Collection[str]
) -> Job[Any]:
    """Return the automaton of the words of states that violate a formula.

    Parameters
    ----------
    formula : Formula
        Of finite words.
    ends : sequence of str
        Propositions; the word ends where one of them holds, and any letters follow.
    dead : str
        The proposition that holds where it has to end.
    steps : collection of str
        Propositions about the step that leaves a state: after the last letter there is
        none.
    """
    import spot

    alive = spot.formula_ap(_ALIVE)
    goes_on = spot.formula_And([alive, spot.formula_X(alive)])
    is_last = spot.formula_And([alive, spot.formula_X(spot.formula_Not(alive))])
    may_end = spot.formula_Or([spot.formula_ap(name) for name in ends])
    has_to_end = spot.formula_ap(dead)
    meaning = spot.relabeling_map()
    for name in steps:
        own = spot.formula_ap(name)
        meaning[own] = spot.formula_And([own, spot.formula_X(alive)])
    violated = spot.formula_And(
        [
            spot.relabel_apply(_of_the_living(formula), meaning),
            spot.formula_G(spot.formula_Implies(is_last, may_end)),
            spot.formula_G(spot.formula_Implies(goes_on, spot.formula_Not(has_to_end))),
        ]
    )
    forgotten = [_ALIVE, *(each.name for each in formula.history)]
    return (yield from projected(violated, forgotten))


def _of_the_living(formula: Formula) -> Any:
    """Return Spot's formula of the infinite words of which a part violates one."""
    import spot

    refuse_psl(formula.spot)
    if _ALIVE in formula.propositions:
        message = f"something in the formula is called {_ALIVE!r}"
        raise UnsupportedError(f"--semantics=finite: {message}")
    negated = spot.formula_Not(formula.spot)
    both = spot.formula_And([negated, explained(formula.history)])
    return spot.from_ltlf(both, _ALIVE)


@remote(PHASE)
def projected(formula: Any, forgotten: Sequence[str]) -> Any:
    """Return the automaton of a formula without the propositions to be forgotten.

    It accepts a word iff some values of them make it one of the formula.
    """
    import spot

    automaton = by_spot(lambda: spot.translate(formula, *_FIN_LESS))
    if not forgotten:
        return automaton
    exists = spot.remove_ap()
    for name in forgotten:
        exists.add_ap(spot.formula_ap(name).to_str())
    found = exists.strip(automaton)
    return by_spot(lambda: found.postprocess(*_FIN_LESS))

"""Classification of formulas as properties, and the sizes of their automata.

Automata are those of the formula itself (searches take those of its negation), over
one action at a time.

Source: Z. Manna and A. Pnueli, "A Hierarchy of Temporal Properties", PODC 1990,
pp. 377-410; Spot decides the classes, and stutter invariance.

Differences from the source: what is classified is the set of words of actions,
of which exactly one happens at a time.  Formulas are handed to Spot over the bits of
actions' numbers (`ltlpipe.logic.actions`): numbering is continuous in both
directions and respects repetitions, so the class is the same.

A property of finite words of actions is one of *safety* if each beginning of a word
that has it has it, too, of *guarantee* if each continuation has; these are the classes
that carry over.  Both are read off the deterministic automaton.

Source: G. De Giacomo and M. Y. Vardi, "Linear Temporal Logic and Linear Dynamic Logic
on Finite Traces", IJCAI 2013, pp. 854-860; Spot translates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.interrupts import first_violation, norm, to_spot
from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.translation import table_over_actions, translate
from ltlpipe.logic.actions import names_in, numbered, refuse_psl
from ltlpipe.logic.formulas import Formula
from ltlpipe.logic.interruptible import automata_of
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


def subject(formula: Formula, *, one_at_a_time: bool) -> Any:
    """Return what Spot is asked about: valuations of bits, or of propositions.

    With `one_at_a_time` exactly one of the propositions, which are actions, holds at
    each step, or an action that the formula does not name happens.
    """
    if not one_at_a_time:
        return formula.spot
    return _over_bits(formula.spot)


@lru_cache(maxsize=1)
def _over_bits(formula: Any) -> Any:
    return numbered(formula, names_in([formula]))


def size(formula: Any) -> int:
    """Return how many operators and propositions a formula of Spot has."""
    import spot

    return int(spot.length(formula))


def manna_pnueli(formula: Any) -> str:
    """Return the smallest class of `CLASSES` that a formula of Spot is in.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    return CLASSES[by_spot(lambda: str(spot.mp_class(formula)), _CLASSIFY)]


def bound(
    formula: Any, *, weak: bool | None = None, terminal: bool | None = None
) -> str | None:
    """Return a class that a formula of Spot is in, without translating it.

    The syntax tells some, and so does a Büchi automaton that is weak or terminal:
    nondeterministic weak ones accept persistence properties, terminal ones guarantees
    (I. Černá & R. Pelánek, "Relating Hierarchy of Temporal Properties to Model
    Checking", MFCS 2003).  None if that shows nothing.
    """
    guarantee = formula.is_syntactic_guarantee() or bool(terminal)
    safety = formula.is_syntactic_safety()
    recurrence = formula.is_syntactic_recurrence()
    persistence = formula.is_syntactic_persistence() or bool(weak)
    found = {
        "bottom": guarantee and safety,
        "guarantee": guarantee,
        "safety": safety,
        "obligation": formula.is_syntactic_obligation() or (recurrence and persistence),
        "persistence": persistence,
        "recurrence": recurrence,
    }
    return next((name for name, is_in in found.items() if is_in), None)


def is_stutter_invariant(formula: Any) -> bool:
    """Decide whether repeating letters, or deleting repetitions, changes nothing.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    if formula.is_syntactic_stutter_invariant():
        return True

    def decided() -> bool:
        both = automata_of(formula)
        return both is None or bool(spot.is_stutter_invariant(*both))

    return by_spot(decided, _CLASSIFY)


def n_states(formula: Any, kind: str) -> int:
    """Return how many states the automaton has that Spot makes, of a kind of `KINDS`.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    wishes = KINDS[kind]
    return by_spot(lambda: int(spot.translate(formula, *wishes).num_states()))


def buchi_over_states(formula: Any) -> dict[str, int | bool]:
    """Return size and shape of the Büchi automaton of a formula over valuations.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    automaton = translate(Formula(str(formula), formula), "ba")
    return {
        "ba_states": int(automaton.num_states()),
        "weak": bool(spot.is_inherently_weak_automaton(automaton)),
        "terminal": bool(spot.is_terminal_automaton(automaton)),
        "very_weak": bool(spot.is_very_weak_automaton(automaton)),
    }


@lru_cache(maxsize=1)
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


_ALIVE = "<alive>"
_BUCHI = ("Buchi", "SBAcc")


def _rewritten(formula: Formula) -> Any:
    """Return Spot's formula of infinite words, over the bits of actions' numbers."""
    import spot

    refuse_psl(formula.spot)
    return spot.from_ltlf(numbered(formula.spot, formula.propositions), _ALIVE)


def finite_states(formula: Formula, *, deterministic: bool) -> int:
    """Return how many states Spot's automaton of the finite words has.

    Raises
    ------
    UnsupportedError
        Spot gives up, or the formula is PSL.
    """
    return int(_finite_automaton(formula, deterministic=deterministic).num_states())


def _finite_automaton(formula: Formula, *, deterministic: bool) -> Any:
    import spot

    wish = "deterministic" if deterministic else "small"
    translated = by_spot(lambda: spot.translate(_rewritten(formula), wish, *_BUCHI))
    return spot.to_finite(translated, _ALIVE)


def is_finite_stutter_invariant(formula: Formula) -> bool:
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


def finite_hierarchy(formula: Formula) -> str | None:
    """Return "safety", "guarantee", "bottom" for both, or None for neither.

    Raises
    ------
    UnsupportedError
        Spot gives up, or the formula is PSL.
    """
    automaton = _finite_automaton(formula, deterministic=True)
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

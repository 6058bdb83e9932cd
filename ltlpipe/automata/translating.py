"""Jobs for calls of Spot in worker processes, around `ltlpipe.automata.translation`.

Formulas travel as text, automata of Spot in HOA, tables as arrays.

Source of constraints: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi
Automata using Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4.  A system
that is symmetric but for some rules is described as a symmetric one and an automaton of
the runs that the rules allow.  The violations of a property are then those words that
the automaton accepts, too: their product takes the place of the property's automaton,
and the system keeps its symmetry.  Difference from the source: the constraint is given,
not computed from the system.

Formulas with a past, or of finite words, have automata of infinite words, too.  A
formula with past operators is violated by the words whose history variables
(`ltlpipe.logic.history`) satisfy its negation: an automaton over both is projected to
the propositions of the word.

A finite word becomes an infinite one: a proposition says which steps belong to it, and
what follows does not matter.  Spot's ``from_ltlf`` rewrites formulas so.  Of a system
with actions the word ends at the first *end*, an action that no other step has.  Of a
system with states the last letter is that of a state in which a run may end, be it a
deadlock or not; that the word ends there is guessed, by projection, too.

Source of finite words: G. De Giacomo and M. Y. Vardi, "Linear Temporal Logic and Linear
Dynamic Logic on Finite Traces", IJCAI 2013, pp. 854-860, Sec. 2 (the proposition for
the end).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.graphs import dictionary_of
from ltlpipe.automata.hoa import hoa_text, parse_again
from ltlpipe.logic.actions import refuse_psl
from ltlpipe.logic.formulas import Formula, FormulaLike, formula_of
from ltlpipe.logic.history import explained
from ltlpipe.logic.spot_graphs import by_spot, relabelled
from ltlpipe.runtime.arguments import TEXT, TRUTH, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job

PHASE = "translating"


@remote(PHASE)
def translated(
    violated: Formula | Any,
    acceptance: str | None,
    names: Sequence[str],
    *,
    over_states: bool = False,
    system_marks: int = 0,
    deterministic: bool = False,
) -> PropertyAutomaton:
    """Return the table of the words that violate a property.

    A formula shall hold, or an automaton accepts the words that shall not be.
    Parameters and errors are those of `table_over_actions` in
    `ltlpipe.automata.translation`, or, if words are of valuations of states,
    `table_over_states`.  `names` are actions, or propositions.
    """
    from ltlpipe.automata import translation

    if over_states:
        return translation.table_over_states(
            violated, acceptance, names, deterministic=deterministic
        )
    assert acceptance is not None
    return translation.table_over_actions(
        violated,
        acceptance,
        names,
        system_marks=system_marks,
        deterministic=deterministic,
    )


def automaton(
    formula: FormulaLike,
    *,
    acceptance: str = "ba",
    negate: bool = False,
    deterministic: bool = False,
) -> Any:
    """Translate a formula into an automaton of Spot.

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.
    acceptance : str
        "ba", "tgba", "tgra", "tfla" or "tela", as in `ltlpipe.check`.
    negate : bool
        Whether it is to accept the words that violate the formula, as `violations` of
        `ltlpipe.check` does.
    deterministic : bool
        Whether it is to be deterministic (for "tgra", "tfla" and "tela").

    Returns
    -------
    spot.twa_graph
        It shares the BDD dictionary of ``spot.translate``.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        There is no such acceptance, or none of it that is deterministic.

    Examples
    --------
    >>> automaton("GF a", acceptance="tgba").num_states()
    1
    """
    expect(TEXT, acceptance=acceptance)
    expect(TRUTH, negate=negate, deterministic=deterministic)
    job = automaton_text(
        formula_of(formula), acceptance, negate=negate, deterministic=deterministic
    )
    return parse_again(complete(job), dictionary_of())


@remote(PHASE)
def automaton_text(
    formula: Formula,
    acceptance: str,
    *,
    negate: bool = False,
    deterministic: bool = False,
) -> str:
    """Return the automaton of a formula, or of its negation, in HOA.

    Raises
    ------
    UnsupportedError
        There is no such acceptance, or none of it that is deterministic.
    """
    from ltlpipe.automata.translation import translate

    automaton = translate(
        formula, acceptance, negate=negate, deterministic=deterministic
    )
    return str(automaton.to_str("hoa"))


def constrained(violations: Formula | Any | None, constraint: Any) -> Job[Any]:
    """Return the Spot automaton of the violations that a constraint allows.

    `violations` is a formula that shall hold, or an automaton of the words that shall
    not be; None is all words.  The constraint, an automaton, accepts the words that
    count; what it has no transition for is not allowed.

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks, or Spot gives up.
    """
    if violations is None:
        return constraint
    given = violations if isinstance(violations, Formula) else hoa_text(violations)
    return (yield from _product(given, hoa_text(constraint)))


@remote("constraining")
def _product(violations: Formula | str, constraint: str) -> Any:
    """Return the product of two automata, the first that of a formula or in HOA."""
    import spot

    from ltlpipe.automata import translation

    if isinstance(violations, Formula):  # both with the same dictionary of BDDs
        first = translation.translate(violations, "tgba", negate=True)
    else:
        first = spot.automaton(violations)
    second = spot.automaton(constraint)
    return by_spot(lambda: spot.product(first, second))


@remote("deciding stutter invariance")
def stutter_invariant(asked: Formula | Any) -> bool:
    """Decide whether repeating letters, or deleting repetitions, changes nothing.

    Letters are sets of propositions; `ltlpipe.automata.classification` decides it for
    words of actions.
    What the file of an automaton says of that is not believed.

    Raises
    ------
    RuntimeError
        It is more than Spot can do.
    """
    import spot

    if isinstance(asked, Formula):
        return bool(spot.is_stutter_invariant(asked.spot))
    unlabelled = spot.make_twa_graph(asked, spot.twa_prop_set.all())
    unlabelled.prop_stutter_invariant(spot.trival_maybe())
    return bool(spot.is_stutter_invariant(unlabelled))


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

    alive = spot.formula_Not(spot.formula_ap(end))
    violated = relabelled(_of_the_living(formula), {_ALIVE: alive})
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
    more = spot.formula_X(alive)
    meaning = {s: spot.formula_And([spot.formula_ap(s), more]) for s in steps}
    violated = spot.formula_And(
        [
            relabelled(_of_the_living(formula), meaning),
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

"""From formulas and HOA automata to property tables, through Spot.

A translation can take minutes and cannot be stopped from within: jobs have it done in a
worker process.  Formulas travel as text, automata of Spot in HOA, tables as arrays.

Letters say that exactly one action happens at a time.  A formula is translated
over the bits of the action's number (`ltlpipe.logic.actions`).  From an
automaton over actions, what no such word can take is cut out before the table
is made, and Spot simplifies what is left.

Source of the kinds of acceptance: V. Bloemen, A. Duret-Lutz and J. van de Pol,
"Model checking with generalized Rabin and Fin-less automata", STTT 21 (2019),
pp. 307-324.

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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import from_clauses, normal_form
from ltlpipe.automata.fin_removal import (
    condition_of,
    fin_less,
    generalised_rabin,
    marks_of,
    without_fin,
)
from ltlpipe.automata.graphs import dictionary_of
from ltlpipe.automata.hoa import hoa_text, parse_again
from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.structure import Draft, draft_of, table_of
from ltlpipe.logic.actions import bit_names, numbered, refuse_psl
from ltlpipe.logic.formulas import Formula, FormulaLike, formula_of
from ltlpipe.logic.history import explained
from ltlpipe.logic.spot_graphs import by_spot, relabelled, valuation
from ltlpipe.runtime.arguments import TEXT, TRUTH, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from ltlpipe.automata.letters import PropertyAutomaton

    Answer = TypeVar("Answer")
    from collections.abc import Collection, Mapping

    from ltlpipe.automata.structure import Cell
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
    if over_states:
        return table_over_states(
            violated, acceptance, names, deterministic=deterministic
        )
    assert acceptance is not None
    return table_over_actions(
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

    if isinstance(violations, Formula):  # both with the same dictionary of BDDs
        first = translate(violations, "tgba", negate=True)
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


def draft_over(
    automaton: Any, letters: Sequence[set[str]], system_marks: int = 0
) -> Draft:
    """Return the transitions of an automaton, each label evaluated at each letter."""
    import buddy

    cubes = [valuation(automaton, letter) for letter in letters]
    cells: list[Cell] = [[] for _ in range(automaton.num_states() * len(letters))]
    for edge in automaton.edges():
        marks = marks_of(edge)
        for i, cube in enumerate(cubes):
            if edge.cond & cube != buddy.bddfalse:
                cells[edge.src * len(letters) + i].append((edge.dst, marks))
    return Draft(
        cells,
        len(letters),
        automaton.get_init_state_number(),
        automaton.num_sets(),
        condition_of(automaton),
        system_marks,
    )


def table_over_sets(automaton: Any, propositions: Sequence[str]) -> PropertyAutomaton:
    """Return the table over all sets of propositions, bit k of a letter for the k-th.

    A state tells few of them apart: those that satisfy the same of its labels are one
    letter until the structure of the automaton is known.
    """
    numbers = np.arange(1 << len(propositions))
    bits = {automaton.register_ap(p): k for k, p in enumerate(propositions)}
    classes, by_state = [], []
    for state in range(automaton.num_states()):
        edges = list(automaton.out(state))
        held = [_holding(edge.cond, numbers, bits) for edge in edges]
        own = np.zeros(len(numbers), dtype=np.int64)
        for told in np.packbits(np.array([numbers >= 0, *held]), axis=0):
            both = own << 8 | told
            _, first, own = np.unique(both, return_index=True, return_inverse=True)
        classes.append(own)
        taken = [[e for e, at in zip(edges, held, strict=True) if at[k]] for k in first]
        by_state.append([[(e.dst, marks_of(e)) for e in some] for some in taken])
    n_classes = max(map(len, by_state))
    cells = [c for own in by_state for c in own + own[:1] * (n_classes - len(own))]
    draft = draft_over(automaton, [])._replace(cells=cells, n_letters=n_classes)
    table = table_of(draft)
    rows = np.concatenate([own + k * n_classes for k, own in enumerate(classes)])
    counts = np.diff(table.first_edge)[rows]
    first = np.cumsum([0, *counts], dtype=np.int32)
    edge = np.repeat(table.first_edge[rows] - first[:-1], counts) + np.arange(first[-1])
    found = {"edge_dst": table.edge_dst[edge], "edge_marks": table.edge_marks[edge]}
    return replace(table, n_letters=len(numbers), first_edge=first, **found)


def _holding(label: Any, numbers: np.ndarray, bits: Mapping[int, int]) -> np.ndarray:
    """Return the sets of propositions, as bits, that satisfy a label: bool[n]."""
    import buddy

    known = {buddy.bddtrue.id(): numbers >= 0, buddy.bddfalse.id(): numbers < 0}

    def holding(node: Any) -> np.ndarray:
        if node.id() not in known:
            low, high = holding(buddy.bdd_low(node)), holding(buddy.bdd_high(node))
            holds = numbers >> bits[buddy.bdd_var(node)] & 1
            known[node.id()] = np.where(holds, high, low)
        return known[node.id()]

    return holding(label)


ACCEPTANCES = {
    # Without SBAcc, 'Buchi' can put marks on transitions (Spot 2.13).
    "ba": ("Buchi", "SBAcc"),
    "tgba": ("GeneralizedBuchi",),
    "tgra": ("Generic",),
    "tfla": ("Generic",),
    "tela": ("Generic",),
}
"""The kinds of property automata, and what Spot is asked for.

From its automaton of any acceptance we make generalised Rabin pairs (tgra), remove
Fin (tfla), or take it as it is (tela).
"""

_DETERMINISTIC = ("tgra", "tfla", "tela")

# Reverse simulation of state-based Büchi automata, which Spot 2.13 uses by
# default, can lose words: `a | (Fb R Xa)` and two or three of 10,000 random
# formulas.  Direct simulation alone does not (see docs/decisions.md).
_SAFE = "ba-simul=1"

# Deterministic generic automata of nested ^ and <-> with an operand in common can be
# wrong in Spot 2.13: `a xor (a xor GFa)` becomes `a xor GFa`.  Written with the other
# connectives they are right, and no larger (see docs/decisions.md).
_MISTRANSLATED = "^e"


def spot_version() -> str:
    """Return the version of Spot that translates."""
    import spot

    return str(spot.version())


def translate(
    formula: Formula,
    acceptance: str,
    *,
    negate: bool = False,
    deterministic: bool = False,
) -> Any:
    """Translate a formula, or its negation, to a Spot automaton.

    Generalised Rabin pairs have one Fin set each, as in the paper.  `acceptance` is a
    key of `ACCEPTANCES`; `negate` says whether the automaton accepts the violations.

    Raises
    ------
    UnsupportedError
        Spot gives up, for instance over more than 32 acceptance sets, or there are
        too many Rabin pairs.
    """
    import spot

    subject = spot.formula_Not(formula.spot) if negate else formula.spot
    translated = _translated(subject, _wishes(acceptance, deterministic))
    rewrite = {"tgra": generalised_rabin, "tfla": fin_less}.get(acceptance)
    return translated if rewrite is None else rewrite(translated)


def _wishes(acceptance: str, deterministic: bool) -> tuple[str, ...]:
    """Return what Spot is asked for."""
    if acceptance not in ACCEPTANCES:
        raise UnsupportedError(
            f"--acceptance={acceptance}: expected one of {', '.join(ACCEPTANCES)}"
        )
    if not deterministic:
        return ACCEPTANCES[acceptance]
    if acceptance not in _DETERMINISTIC:
        raise UnsupportedError(
            f"not every property has a deterministic automaton of kind {acceptance}: "
            f"use {', '.join(_DETERMINISTIC)}"
        )
    return (*ACCEPTANCES[acceptance], "Deterministic")


def _translated(formula: Any, wishes: Sequence[str]) -> Any:
    import spot

    if "Generic" in wishes:
        formula = spot.unabbreviate(formula, _MISTRANSLATED)
    return by_spot(lambda: spot.translate(formula, *wishes, xargs=_SAFE))


def table_over_actions(
    violated: Formula | Any,
    acceptance: str,
    actions: Sequence[str],
    *,
    system_marks: int = 0,
    deterministic: bool = False,
) -> PropertyAutomaton:
    """Return the table of the words of actions that violate a property.

    Parameters
    ----------
    violated : Formula or spot.twa_graph
        A formula that shall hold, or the words that shall not be.  Propositions name
        actions.
    acceptance : str
        A key of `ACCEPTANCES`.
    actions : sequence of str
        The propositions that are actions of the system; letter i + 1 is
        ``actions[i]``.  The others never hold.
    system_marks : int
        Marks of the system that the automaton shall see to, too: it accepts the
        words in which each occurs infinitely often besides.  This is how one
        mark does for a property and a system with acceptance (Schwoon & Esparza
        2005, Sec. 5.2: degeneralisation).
    deterministic : bool
        Whether to ask Spot for a deterministic automaton.  Removing Fin makes it
        nondeterministic again.

    Raises
    ------
    UnsupportedError
        Spot gives up, there are too many Rabin pairs or marks, or automata of this
        kind are not deterministic in general.
    """
    import spot

    wishes = _wishes(acceptance, deterministic)
    # No action is called so: names of actions have no line break.
    marks = [f"mark\n{number}" for number in range(system_marks)]
    if isinstance(violated, Formula):
        bits = bit_names(len(actions))
        numbers = [
            {bit for i, bit in enumerate(bits) if number >> i & 1}
            for number in range(len(actions) + 1)
        ]
        letters = _with_marks(numbers, marks)
        # In this order: Spot sorts operands by when they have been made.
        violations = spot.formula_Not(numbered(violated.spot, actions))
        both = spot.formula_And([violations, _recurrence(marks)])
        automaton = _translated(both, wishes)
    else:
        letters = _with_marks([set(), *({name} for name in actions)], marks)
        automaton = violated
        if system_marks:
            recurrence = spot.translate(
                _recurrence(marks), "GeneralizedBuchi", dict=violated.get_dict()
            )
            automaton = by_spot(lambda: spot.product(violated, recurrence))
        automaton = by_spot(lambda: _restrict(automaton, letters, wishes))
    return table_over(automaton, letters, acceptance, system_marks)


def table_over_states(
    violated: Formula | Any,
    acceptance: str | None,
    propositions: Sequence[str],
    *,
    deterministic: bool = False,
) -> PropertyAutomaton:
    """Return the table of the words over sets of propositions that violate a property.

    It is a formula that shall hold, or a Spot automaton of the words that shall not be:
    with `acceptance` None this is taken as it is, state by state; else Spot makes it
    one of that kind, and simplifies it.  Letter i is the set of the propositions
    ``propositions[k]`` for all bits k of i.  Errors are those of `table_over_actions`.
    """
    automaton = violations_of(violated, acceptance, deterministic=deterministic)
    table = table_over_sets(automaton, propositions)
    return _of_acceptance(automaton, table, acceptance or "tela")


def violations_of(
    violated: Formula | Any, acceptance: str | None, *, deterministic: bool = False
) -> Any:
    """Return Spot's automaton of the violations, of what Spot is asked for by a kind.

    With None an automaton is returned as it is.
    """
    import spot

    if acceptance is None:
        return violated
    wishes = _wishes(acceptance, deterministic)
    if isinstance(violated, Formula):
        return _translated(spot.formula_Not(violated.spot), wishes)
    return by_spot(lambda: violated.postprocess(*wishes, xargs=_SAFE))


def _recurrence(names: Sequence[str]) -> Any:
    """Return the formula that each proposition holds again and again."""
    import spot

    again = [spot.formula_G(spot.formula_F(spot.formula_ap(name))) for name in names]
    return spot.formula_And(again)


def _with_marks(letters: Sequence[set[str]], names: Sequence[str]) -> list[set[str]]:
    """Return the letters with every set of marks, the marks in the lowest bits."""
    return [
        letter | {name for bit, name in enumerate(names) if marks >> bit & 1}
        for letter in letters
        for marks in range(1 << len(names))
    ]


def _restrict(
    automaton: Any, letters: Sequence[set[str]], wishes: Sequence[str]
) -> Any:
    """Cut every label down to the letters, and simplify."""
    import buddy
    import spot

    possible = buddy.bddfalse
    for letter in letters:
        possible |= valuation(automaton, letter)
    # What else Spot knew of the automaton, completeness for one, may be gone.
    only_state_based = spot.twa_prop_set(True, *[False] * 5)
    restricted = spot.make_twa_graph(automaton, only_state_based)
    for edge in restricted.edges():
        edge.cond &= possible
    restricted.merge_edges()
    restricted.purge_dead_states()
    return restricted.postprocess(*wishes, xargs=_SAFE)


def table_over(
    automaton: Any,
    letters: Sequence[set[str]],
    acceptance: str,
    system_marks: int = 0,
) -> PropertyAutomaton:
    """Evaluate every label at every letter."""
    table = table_of(draft_over(automaton, letters, system_marks))
    return _of_acceptance(automaton, table, acceptance)


def _of_acceptance(
    automaton: Any, table: PropertyAutomaton, acceptance: str
) -> PropertyAutomaton:
    """Return the table of an automaton as one of the acceptance that was asked for."""
    if acceptance in ("ba", "tgba") and not (
        automaton.acc().is_generalized_buchi() or automaton.acc().is_f()
    ):
        raise AssertionError(f"Spot returned {automaton.acc()} for {acceptance}")
    if acceptance == "ba" and not table.is_buchi:
        raise AssertionError("Spot returned no state-based Büchi acceptance")
    if acceptance == "tfla":
        return without_fin(table)
    return _in_pairs(table) if acceptance == "tgra" else table


def _in_pairs(table: PropertyAutomaton) -> PropertyAutomaton:
    """Return a table whose condition is in disjunctive normal form."""
    if table.condition is None:
        return table
    condition = from_clauses(normal_form(table.condition))
    return table_of(draft_of(table)._replace(condition=condition))


assert OTHER == 0  # letters begin with the one in which nothing holds

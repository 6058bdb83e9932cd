"""From formulas and HOA automata to property tables, through Spot.

A translation can take minutes and cannot be stopped from within, so it runs in
a process of its own (`ltlpipe.automata.bounded`) whenever it has to end in time.

Letters say that exactly one action happens at a time.  A formula is translated
over the bits of the action's number (`ltlpipe.logic.actions`).  From an
automaton over actions, what no such word can take is cut out before the table
is made, and Spot simplifies what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe._errors import UnsupportedError
from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.structure import table_of
from ltlpipe.logic.actions import bit_names, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.automata.structure import Cell
    from ltlpipe.logic.formulas import Formula

ACCEPTANCES = {
    # Without SBAcc, 'Buchi' can put marks on transitions (Spot 2.13).
    "ba": ("Buchi", "SBAcc"),
    "tgba": ("GeneralizedBuchi",),
}
"""The kinds of property automata, and what Spot is asked for."""

# Reverse simulation of state-based Büchi automata, which Spot 2.13 uses by
# default, can lose words: `a | (Fb R Xa)` and two or three of 10,000 random
# formulas.  Direct simulation alone does not (see docs/decisions.md).
_SAFE = "ba-simul=1"


def spot_version() -> str:
    """Return the version of Spot that translates."""
    import spot

    return str(spot.version())


def translate(formula: Formula, acceptance: str, *, negate: bool = False) -> Any:
    """Translate a formula, or its negation, to a Spot automaton.

    Parameters
    ----------
    formula : Formula
        LTL.
    acceptance : str
        A key of `ACCEPTANCES`.
    negate : bool
        Whether the automaton accepts the violations.

    Raises
    ------
    UnsupportedError
        Spot gives up, for instance over more than 32 acceptance sets.
    """
    import spot

    subject = spot.formula_Not(formula.spot) if negate else formula.spot
    return _translated(subject, acceptance)


def _translated(formula: Any, acceptance: str) -> Any:
    import spot

    return _by_spot(
        lambda: spot.translate(formula, *ACCEPTANCES[acceptance], xargs=_SAFE)
    )


def from_formula(
    formula: Formula,
    acceptance: str,
    actions: Sequence[str],
    *,
    system_marks: int = 0,
) -> PropertyAutomaton:
    """Return the table of the words that violate `formula`.

    Parameters
    ----------
    formula : Formula
        Its propositions name actions.
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
    """
    import spot

    names = _mark_names(system_marks)
    violations = spot.formula_And(
        [spot.formula_Not(numbered(formula.spot, actions)), _recurrence(names)]
    )
    bits = bit_names(len(actions))
    letters = [
        {bit for i, bit in enumerate(bits) if number >> i & 1}
        for number in range(len(actions) + 1)
    ]
    translated = _translated(violations, acceptance)
    return _table(translated, _with_marks(letters, names), acceptance, system_marks)


def from_automaton(
    automaton: Any,
    acceptance: str,
    actions: Sequence[str],
    *,
    system_marks: int = 0,
) -> PropertyAutomaton:
    """Return the table of a Spot automaton over actions (see `from_formula`)."""
    import spot

    names = _mark_names(system_marks)
    letters = _with_marks([set(), *({name} for name in actions)], names)
    if system_marks:
        recurrence = spot.translate(
            _recurrence(names), "GeneralizedBuchi", dict=automaton.get_dict()
        )
        automaton = _by_spot(lambda: spot.product(automaton, recurrence))
    restricted = _by_spot(lambda: _restrict(automaton, letters, acceptance))
    return _table(restricted, letters, acceptance, system_marks)


def _mark_names(system_marks: int) -> list[str]:
    """Return the propositions that say which marks a step of the system has.

    No action is called so: names of actions have no line break.
    """
    return [f"mark\n{number}" for number in range(system_marks)]


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


def _by_spot(work: Any) -> Any:
    """Run `work`, with what Spot raises turned into an error of ours."""
    try:
        return work()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot build the automaton: {reason}") from error


def _cubes(automaton: Any, letters: Sequence[set[str]]) -> list[Any]:
    """Return the assignment of all propositions for each letter, as a BDD.

    A letter is the set of the propositions that hold.
    """
    import buddy

    variables = {
        p.ap_name(): automaton.register_ap(p.ap_name()) for p in automaton.ap()
    }
    cubes = []
    for holding in letters:
        cube = buddy.bddtrue
        for name, variable in variables.items():
            literal = buddy.bdd_ithvar if name in holding else buddy.bdd_nithvar
            cube &= literal(variable)
        cubes.append(cube)
    return cubes


def _restrict(automaton: Any, letters: Sequence[set[str]], acceptance: str) -> Any:
    """Cut every label down to the letters, and simplify."""
    import buddy
    import spot

    possible = buddy.bddfalse
    for cube in _cubes(automaton, letters):
        possible |= cube
    # What else Spot knew of the automaton, completeness for one, may be gone.
    only_state_based = spot.twa_prop_set(True, *[False] * 5)
    restricted = spot.make_twa_graph(automaton, only_state_based)
    for edge in restricted.edges():
        edge.cond &= possible
    restricted.merge_edges()
    restricted.purge_dead_states()
    return restricted.postprocess(*ACCEPTANCES[acceptance], xargs=_SAFE)


def _table(
    automaton: Any,
    letters: Sequence[set[str]],
    acceptance: str,
    system_marks: int = 0,
) -> PropertyAutomaton:
    """Evaluate every label at every letter."""
    condition = automaton.acc()
    if not condition.is_generalized_buchi() and not condition.is_f():
        raise AssertionError(f"Spot returned {condition} for {acceptance}")
    n_marks = 0 if condition.is_f() else condition.num_sets()
    initial = automaton.get_init_state_number()
    table = table_of(
        _cells(automaton, letters),
        n_letters=len(letters),
        initial=initial,
        n_marks=n_marks,
        system_marks=system_marks,
    )
    if acceptance == "ba" and not (table.state_based and table.n_marks <= 1):
        raise AssertionError("Spot returned no state-based Büchi acceptance")
    return table


def _cells(automaton: Any, letters: Sequence[set[str]]) -> list[Cell]:
    """Return the transitions by state and letter, none if nothing is accepted."""
    import buddy

    cubes = _cubes(automaton, letters)
    cells: list[Cell] = [[] for _ in range(automaton.num_states() * len(letters))]
    for edge in automaton.edges() if not automaton.acc().is_f() else ():
        marks = sum(1 << mark for mark in edge.acc.sets())
        for i, cube in enumerate(cubes):
            if edge.cond & cube != buddy.bddfalse:
                cells[edge.src * len(letters) + i].append((edge.dst, marks))
    return cells


assert OTHER == 0  # letters begin with the one in which nothing holds

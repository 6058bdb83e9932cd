"""What a worker process does with Spot: jobs around `ltlpipe.automata.translation`.

Formulas travel as text, automata of Spot in HOA, tables as arrays.

Source of constraints: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi
Automata using Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4.  A system
that is symmetric but for some rules is described as a symmetric one and an automaton of
the runs that the rules allow.  The violations of a property are then those words that
the automaton accepts, too: their product takes the place of the property's automaton,
and the system keeps its symmetry.  Difference from the source: the constraint is given,
not computed from the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.graphs import dictionary_of
from ltlpipe.automata.hoa import parse_again, parse_automata
from ltlpipe.automata.letters import decode, encode
from ltlpipe.logic.formulas import (
    Formula,
    FormulaLike,
    formula_of,
    from_spot_text,
    spot_text,
)
from ltlpipe.runtime import workers
from ltlpipe.runtime.arguments import TEXT, TRUTH, expect
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job

PHASE = "translating"


def subject(given: Formula | Any) -> dict[str, str]:
    """Return a formula or an automaton of Spot as it travels."""
    if isinstance(given, Formula):
        return {"formula": spot_text(given.spot)}
    return {"automaton": hoa_text(given)}


def received(subject: dict[str, str]) -> Formula | Any:
    """Return the formula or the automaton that `subject` was given."""
    if "formula" in subject:
        return Formula(subject["formula"], from_spot_text(subject["formula"]))
    return parse_automata(subject["automaton"], "automaton")[0]


def hoa_text(automaton: Any) -> str:
    """Return an automaton of Spot in HOA, with all that is known of it."""
    return str(automaton.to_str("hoa", "1.1")) + "\n"


def translated(
    violated: Formula | Any,
    acceptance: str | None,
    names: Sequence[str],
    *,
    over_states: bool = False,
    system_marks: int = 0,
    deterministic: bool = False,
) -> Job[PropertyAutomaton]:
    """Return the table of the words that violate a property.

    A formula shall hold, or an automaton accepts the words that shall not be.
    Parameters and errors are those of `ltlpipe.automata.translation.from_formula`, or,
    if words are of valuations of states, `from_formula_over_states`; an automaton over
    states with `acceptance` None is taken as it is.  `names` are actions, or
    propositions.
    """
    table = yield from workers.call(
        "translate",
        phase=PHASE,
        violated=subject(violated),
        acceptance=acceptance,
        names=list(names),
        over_states=over_states,
        system_marks=system_marks,
        deterministic=deterministic,
    )
    return decode(table)


def translate_subject(
    violated: dict[str, str],
    names: list[str],
    *,
    over_states: bool,
    acceptance: Any,
    deterministic: bool,
    system_marks: int,
) -> dict[str, Any]:
    """Do the work of `translated`."""
    from ltlpipe.automata import translation

    given: Any = received(violated)
    of_formula = isinstance(given, Formula)
    if over_states:
        over: Any = (
            translation.from_formula_over_states
            if of_formula
            else translation.from_automaton_over_states
        )
        return encode(over(given, acceptance, names, deterministic=deterministic))
    make: Any = translation.from_formula if of_formula else translation.from_automaton
    table = make(
        given,
        acceptance,
        names,
        system_marks=system_marks,
        deterministic=deterministic,
    )
    return encode(table)


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


def automaton_text(
    formula: Formula,
    acceptance: str,
    *,
    negate: bool = False,
    deterministic: bool = False,
) -> Job[str]:
    """Return the automaton of a formula, or of its negation, in HOA.

    Raises
    ------
    UnsupportedError
        There is no such acceptance, or none of it that is deterministic.
    """
    text: str = yield from workers.call(
        "automaton text",
        phase=PHASE,
        formula=spot_text(formula.spot),
        acceptance=acceptance,
        negate=negate,
        deterministic=deterministic,
    )
    return text


def write_automaton(
    formula: str, acceptance: str, *, negate: bool, deterministic: bool
) -> str:
    """Do the work of `automaton_text`."""
    from ltlpipe.automata.translation import translate

    automaton = translate(
        Formula(formula, from_spot_text(formula)),
        acceptance,
        negate=negate,
        deterministic=deterministic,
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
    text = yield from workers.call(
        "constrain",
        phase="constraining",
        violations=subject(violations),
        constraint=hoa_text(constraint),
    )
    return parse_automata(text, "constraint")[0]


def product_text(violations: dict[str, str], constraint: str) -> str:
    """Return the product of two automata, the first that of a formula, in HOA."""
    import spot

    from ltlpipe.automata import translation

    if "automaton" in violations:  # both with the same dictionary of BDDs
        first = spot.automaton(violations["automaton"])
    else:
        first = translation.translate(received(violations), "tgba", negate=True)
    second = spot.automaton(constraint)
    return hoa_text(translation.by_spot(lambda: spot.product(first, second)))


def stutter_invariant(asked: Formula | Any) -> Job[bool]:
    """Decide whether repeating letters, or deleting repetitions, changes nothing.

    Letters are sets of propositions; `ltlpipe.automata.classification` decides it for
    words of actions.
    What the file of an automaton says of that is not believed.

    Raises
    ------
    RuntimeError
        It is more than Spot can do.
    """
    answer: bool = yield from workers.call(
        "stutter invariant", phase="deciding stutter invariance", asked=subject(asked)
    )
    return answer


def is_stutter_invariant(asked: dict[str, str]) -> bool:
    """Do the work of `stutter_invariant`."""
    import spot

    given: Any = received(asked)
    if isinstance(given, Formula):
        return bool(spot.is_stutter_invariant(given.spot))
    unlabelled = spot.make_twa_graph(given, spot.twa_prop_set.all())
    unlabelled.prop_stutter_invariant(spot.trival_maybe())
    return bool(spot.is_stutter_invariant(unlabelled))

"""Translations in a worker process: jobs around `ltlpipe.automata.translation`.

Formulas travel as text, automata of Spot in HOA, tables as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_automata
from ltlpipe.automata.letters import decode, encode
from ltlpipe.logic.formulas import Formula, heard, told
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job

PHASE = "translating"


def subject(given: Formula | Any) -> dict[str, str]:
    """Return a formula or an automaton of Spot as it travels."""
    if isinstance(given, Formula):
        return {"formula": told(given.spot)}
    return {"automaton": hoa_text(given)}


def received(subject: dict[str, str]) -> Formula | Any:
    """Return the formula or the automaton that `subject` was given."""
    if "formula" in subject:
        return Formula(subject["formula"], heard(subject["formula"]))
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

    Parameters
    ----------
    violated : Formula or spot.twa_graph
        A formula that shall hold, or an automaton of the words that shall not be.
    acceptance : str, optional
        A key of `ltlpipe.automata.translation.ACCEPTANCES`.  None, for an automaton
        over states, is as it is.
    names : sequence of str
        The actions that letters stand for, from letter 1 on; over states, the
        propositions of which letters are sets.
    over_states : bool
        Whether words are of valuations of states.
    system_marks : int
        Marks of the system that the automaton sees to as well; only of actions.
    deterministic : bool
        Whether to ask Spot for a deterministic automaton.

    Raises
    ------
    UnsupportedError, StoppedError
        As in `ltlpipe.automata.translation.from_formula`, or the job is stopped.
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


def automaton_text(
    formula: Formula,
    acceptance: str,
    *,
    negate: bool = False,
    deterministic: bool = False,
) -> Job[str]:
    """Return the automaton of a formula, or of its negation, in HOA."""
    text: str = yield from workers.call(
        "automaton text",
        phase=PHASE,
        formula=told(formula.spot),
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
        Formula(formula, heard(formula)),
        acceptance,
        negate=negate,
        deterministic=deterministic,
    )
    return str(automaton.to_str("hoa"))

"""The product of a system and the violations of a property, as an automaton of Spot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import marks_in
from ltlpipe.automata.graphs import is_automaton, vocabulary
from ltlpipe.logic.formulas import FormulaLike, formula_of
from ltlpipe.logic.readings import AUTOMATON
from ltlpipe.logic.spot_graphs import automaton_of, valuation
from ltlpipe.question.answer import Trace
from ltlpipe.question.conditions import AUTO
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.options import DEADLOCK_ERROR, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import WHOLE, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies.instant import Moves, goal_of
from ltlpipe.systems.networks.lts import refuse_if_lacking
from ltlpipe.systems.plain_steps import TooLargeError
from ltlpipe.systems.reading import system_of
from ltlpipe.systems.spot_output import MAX_STATES, explored
from ltlpipe.verdict.checking import automaton_job
from ltlpipe.verdict.inquiry import question_of
from ltlpipe.verdict.recorded import walker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.question.question import Question
    from ltlpipe.systems.reading import SystemLike


def product(
    system: SystemLike,
    formula: FormulaLike | Any,
    *,
    max_states: int = MAX_STATES,
    acceptance: str = AUTO,
    deadlock: str | None = None,
    unknown: str = "error",
) -> Any:
    """Return the product of a system and the automaton of the violations.

    It is explored in plain Python; `ltlpipe.check` does not need it.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        As for `ltlpipe.check`.
    formula : str, Formula, spot.formula, spot.twa_graph or path object
        What shall hold; or an automaton of the runs that shall not be, the text of one,
        or its file.
    max_states : int
        The most states that it may have.
    acceptance : str
        The kind of property automaton, as for `ltlpipe.check`.
    deadlock : str, optional
        "ignore" or "stutter", as for `ltlpipe.check`.
    unknown : str
        "never" allows propositions that name nothing, as for `ltlpipe.check`.

    Returns
    -------
    spot.twa_graph
        The words that violate the property; labels are over its propositions, and those
        of a graph.  It accepts if both do: marks of the property come first.  States
        are called by those of the system and of the automaton.

    Raises
    ------
    UnsupportedError
        It has more states, or more than 32 marks.
    FormulaError
        The formula does not parse.

    Examples
    --------
    >>> from ltlpipe import LTS, Network
    >>> ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    >>> product(ring, "G(a -> F b)").is_empty()
    True
    """
    expect(WHOLE, max_states=max_states)
    if is_automaton(formula) or _is_automaton_elsewhere(formula):
        asked = Property(violations=complete(automaton_job(formula)))
    else:
        asked = Property(formula_of(formula))
    options = Options(acceptance=acceptance, deadlock=deadlock, unknown=unknown)
    if options.deadlock == DEADLOCK_ERROR:
        raise UnsupportedError(
            "--deadlock=error: a product has infinite runs only; see deadlocks()"
        )
    given = system_of(system)
    refuse_if_lacking(given, "a product")
    question = question_of(given, asked, options)
    try:
        return _product(question, max_states)
    finally:
        question.close()


def _is_automaton_elsewhere(given: Any) -> bool:
    """Whether something is a file, or the text of an automaton."""
    if isinstance(given, str):
        return AUTOMATON.match(given) is not None
    return isinstance(given, os.PathLike)


def _product(question: Question, max_states: int) -> Any:
    try:
        trace = Trace(question.given)
        system, table = complete(question.plain_steps(question.given, trace))
    except TooLargeError:
        raise UnsupportedError("the system is too large for plain Python") from None
    label_of, known = _labels(question)
    moves = Moves(system, table, stutter=question.stutters)

    def steps(state: tuple[int, int]) -> Iterator[tuple[Any, tuple[int, int]]]:
        number, at = state
        for letter, own, action, target in moves.steps(number):
            ends = moves.states[number], action, moves.states[target]
            label = label_of(*ends, letter)
            for dst, marks in moves.edges(at * table.n_letters + letter):
                yield (target, dst), (label, marks | own)

    start = moves.first(), table.initial
    states, edges = explored(start, steps, max_states, "the product")
    made = automaton_of(
        len(states),
        ((src, dst, of, marks_in(marks)) for src, dst, (of, marks) in edges),
        like=known,
        n_marks=table.n_marks + system.n_marks,
        acceptance=str(goal_of(table, system)),
        names=[_name_of(moves.states[number], at) for number, at in states],
    )
    made.merge_edges()
    return made


def _name_of(local: Any, at: int) -> str:
    parts = local if isinstance(local, tuple) else (local,)
    return f"{','.join(map(str, parts))}|{at}"


def _labels(
    question: Question,
) -> tuple[Callable[[Any, int, Any, int], Any], Any]:
    """Return the function for the label of a step out of a state, and a vocabulary."""
    propositions = question.property.propositions
    known: dict[Any, Any] = {}
    if isinstance(question, GraphQuestion):
        system, found = question.system, question.found
        both = vocabulary(propositions, system.graph)

        def of_edge(_: Any, action: int, target: Any, letter: int) -> Any:
            edge = int(found.steps.edge[action])
            labels, at = system.label, edge
            if edge < 0:
                assert system.state_label is not None
                labels, at = system.state_label, target
            key = int(labels[at]), letter
            if key not in known:
                own = found.lettering.class_of(letter)
                known[key] = system.conditions[key[0]] & own
            return known[key]

        return of_edge, both
    plain = vocabulary(propositions)
    walker = walker_of(question)

    def of_step(state: Any, action: int, target: Any, _: int) -> Any:
        names = walker.along(state, action, target).holds
        if names not in known:
            known[names] = valuation(plain, names)
        return known[names]

    return of_step, plain

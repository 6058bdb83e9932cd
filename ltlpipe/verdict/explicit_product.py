"""The product of a system and the violations of a property, as an automaton of Spot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.graphs import AutomatonWriter, is_automaton
from ltlpipe.logic.formulas import FormulaLike, formula_of
from ltlpipe.question.answer import Trace
from ltlpipe.question.conditions import AUTO
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import WHOLE, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies.instant_search import goal_of
from ltlpipe.systems.plain_steps import TooLargeError
from ltlpipe.systems.reading import system_of
from ltlpipe.systems.spot_output import MAX_STATES, explored
from ltlpipe.verdict.questions import question_of
from ltlpipe.verdict.walkers import walker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.question.question import Question
    from ltlpipe.systems.plain_steps import PlainStep
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
    formula : str, Formula, spot.formula or spot.twa_graph
        What shall hold; or an automaton of the runs that shall not be.
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
    if is_automaton(formula):
        asked = Property(violations=formula)
    else:
        asked = Property(formula_of(formula))
    options = Options(acceptance=acceptance, deadlock=deadlock, unknown=unknown)
    question = question_of(system_of(system), asked, options)
    try:
        return _product(question, max_states)
    finally:
        question.close()


def _product(question: Question, max_states: int) -> Any:
    try:
        trace = Trace(question.given)
        system, table = complete(question.plain_steps(question.given, trace))
    except TooLargeError:
        raise UnsupportedError("the system is too large for plain Python") from None
    first, dst, marks = (
        column.tolist()
        for column in (table.first_edge, table.edge_dst, table.edge_marks)
    )
    label_of, writer = _labels(question)

    def steps(state: tuple[Any, int]) -> Iterator[tuple[Any, tuple[Any, int]]]:
        known: list[PlainStep] = system.steps(state[0])
        if not known and question.stutters:
            known = [system.repeated(state[0])]
        for step in known:
            cell = state[1] * table.n_letters + step.letter
            label = label_of(state[0], step)
            for edge in range(first[cell], first[cell + 1]):
                carried = marks[edge] | step.marks << table.n_marks
                yield (step.state, dst[edge]), (label, carried)

    start = system.initial(), table.initial
    found = explored(start, steps, max_states, "the product")
    made = writer.finished(
        ((src, dst, *about) for src, dst, about in found.edges),
        [_name_of(state) for state in found.states],
        goal_of(table, system),
        table.n_marks + system.n_marks,
    )
    made.merge_edges()
    return made


def _name_of(state: tuple[Any, int]) -> str:
    local = state[0]
    parts = local if isinstance(local, tuple) else (local,)
    return f"{','.join(map(str, parts))}|{state[1]}"


def _labels(
    question: Question,
) -> tuple[Callable[[Any, PlainStep], Any], AutomatonWriter]:
    """Return the function for the label of a step out of a state, and its writer."""
    propositions = question.property.propositions
    known: dict[Any, Any] = {}
    if isinstance(question, GraphQuestion):
        system, found = question.system, question.found
        writer = AutomatonWriter(propositions, system.graph)

        def of_edge(_: Any, step: PlainStep) -> Any:
            edge = int(found.steps.edge[step.action])
            place = int(system.label[edge]) if edge >= 0 else -1
            if edge < 0:
                assert system.state_label is not None
                state: Any = step.state
                place = int(system.state_label[state])
            key = place, step.letter
            if key not in known:
                own = found.lettering.class_of(step.letter)
                known[key] = system.conditions[place] & own
            return known[key]

        return of_edge, writer
    writer = AutomatonWriter(propositions)
    walker = walker_of(question)

    def of_step(state: Any, step: PlainStep) -> Any:
        names = walker.along(state, step.action, step.state).holds
        if names not in known:
            known[names] = writer.label(names)
        return known[names]

    return of_step, writer

"""The product in plain Python: for questions too small to load, or compile, kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer
from ltlpipe.question.conditions import INSTANT
from ltlpipe.question.plan import kind_of, why_fair
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.strategies import instant_search
from ltlpipe.strategies.instant_search import Moves
from ltlpipe.systems.plain_steps import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.instant_search import InstantOutcome
    from ltlpipe.systems.plain_steps import PlainSteps

MOST_STATES = 3_000
"""States of the product that are searched: about a tenth of a second."""


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    try:
        system, table = yield from question.plain_steps(question.given, trace)
    except TooLargeError:
        raise NotApplicableError("the system is too large for plain Python") from None
    plan = question.given
    trace.plan = _noted(question, kind_of(plan, question.options, table))
    limit = question.options.max_states
    most = MOST_STATES if limit is None else min(limit, MOST_STATES)
    question.explored = moves = Moves(system, table, stutter=question.stutters)
    search = search_of(question, system, table, (), most, moves)
    outcome = yield from trace.timed("search_seconds", search)
    trace.note(
        states=outcome.states,
        transitions=outcome.transitions,
        max_depth=outcome.max_depth,
    )
    if outcome.status == instant_search.TOO_MANY:
        if most == limit:
            return Answer(INCONCLUSIVE, MAX_STATES)
        raise NotApplicableError(f"more than {most:,} states")
    if outcome.status == instant_search.EMPTY:
        return Answer(EMPTY)
    trace.has_found = True
    if not question.options.lasso:
        return Answer(FOUND)
    return Answer(FOUND, run=outcome.run, is_shortest=outcome.is_shortest)


def search_of(
    question: Question,
    system: PlainSteps,
    table: PropertyAutomaton,
    starts: Sequence[int],
    most_states: int,
    moves: Moves | None = None,
) -> Job[InstantOutcome]:
    """Return the search of a question's product; see `instant_search.search`."""
    return instant_search.search(
        system,
        table,
        stutter=question.stutters,
        max_states=most_states,
        starts=starts,
        moves=moves,
        ends=question.ends(table) if question.stutters and not starts else None,
    )


def _noted(question: Question, kind: str | None) -> Plan:
    why = (
        f"{INSTANT}, because a small product is searched in plain Python, without "
        "kernels"
    )
    reasons = [why, *question.given.reasons]
    if question.fairness is not None:
        reasons.append(why_fair(question.options, question.fairness))
    return replace(question.given, automaton=kind, reasons=tuple(reasons))

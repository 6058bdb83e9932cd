"""Symmetry: sets of markings of symmetric nets; orbits of networks and other models.

Colours of a symmetric net that can be exchanged make markings alike, of which sets are
searched; where there are none, orbits of the unfolded net, if symmetry is asked for by
name.  Networks and models are searched by `ltlpipe.strategies.automorphisms`; if
nobody asks for it, only networks in which three components or more seem to be alike.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6; docs/symmetry.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import SYMMETRY
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError, not_generalised
from ltlpipe.runtime.errors import ReplayError, UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.search.catalogue import AEC_CLOSED, POWERSET, TEC
from ltlpipe.strategies import automorphisms
from ltlpipe.strategies.state_search import OVERFLOW, ends_of, searched
from ltlpipe.systems.nets.coloured.symmetric import MOST_CELLS, SymmetricNet

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours import ColourGroup, Layout
    from ltlpipe.symmetry.sets.tables import Made
    from ltlpipe.systems.runs import Run

WORTH_IT = 3
"""Members of a class from which on symmetry is used unasked."""

_SHOWN = 5  # names of a class

_LOST = (
    "tec instead, because a set was replaced by parts that its representative does not "
    "tell to be in it"
)


_WHY = (
    "sets of states include each other: it stops at what a set on its stack includes, "
    "lets sets be as large as the property lets them, and goes on as iec where that "
    "can deceive it (Baarir & Duret-Lutz 2006, Secs. 3 and 4; docs/symmetry.md)"
)


class _LostRunError(Exception):
    """A run of sets is lost, since inclusions of its sets are not found again."""


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    if isinstance(question, ModelQuestion) and question.system.has_colours:
        return _job_of_sets(question, trace)
    least = 1 if question.options.wants_symmetry else WORTH_IT
    return automorphisms.job_of_orbits(question, trace, SYMMETRY, least)


def _job_of_sets(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question about a symmetric net."""
    from ltlpipe.symmetry.colours import group_of_colours, layout_of

    net = question.system
    if not isinstance(net, SymmetricNet):
        raise NotApplicableError(_too_many(net))
    group = yield from group_of_colours(net.coloured)
    if group.is_trivial:
        if question.options.wants_symmetry and question.given.emptiness not in POWERSET:
            return (yield from _job_of_unfolded(question, trace))
        why = "; ".join(group.refused) or "each sort has one colour"
        raise NotApplicableError(f"no colours can be exchanged ({why})")
    largest = max((len(colours) for _, colours in group.classes), default=0)
    if largest < WORTH_IT and not question.options.wants_symmetry:
        yield from _refuse_few(question)
    table = yield from question.automaton(question.given, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    chosen = question.given.searched_by(AEC_CLOSED, _WHY)
    plan = question.settled(chosen, table, None)
    trace.plan = _noted(plan, group)
    layout = yield from layout_of(net, group)
    emptiness = trace.plan.emptiness
    assert emptiness is not None  # since it is settled
    while True:
        try:
            search = _search(question, layout, table, emptiness, trace)
            answer, made = yield from search
        except _LostRunError:
            emptiness, trace.has_found = TEC, False
            reasons = (*trace.plan.reasons, _LOST)
            trace.plan = replace(trace.plan, emptiness=TEC, reasons=reasons)
            continue
        if answer.reason != OVERFLOW or not layout.widened(made.noted()):
            return answer


def _job_of_unfolded(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Return the job that searches the orbits of the unfolded net."""
    unfolded = yield from question.unfolded()
    answer = yield from automorphisms.job_of_orbits(unfolded, trace, SYMMETRY, 1)
    if answer.run is None:
        return answer
    return answer._replace(run=question.refolded(answer.run, unfolded))


def _too_many(net: Any) -> str:
    """Say that a symmetric net has been unfolded since it has too many cells."""
    from ltlpipe.systems.nets.coloured.cells import Cells

    n_cells = Cells(net.coloured).first[-1]
    return (
        f"the places of the net have {n_cells:,} tuples of colours, "
        f"the limit is {MOST_CELLS:,}"
    )


def _refuse_few(question: ModelQuestion) -> Job[None]:
    """Leave a net in which little can be exchanged to others, if they can take it.

    Raises
    ------
    NotApplicableError
        They can.
    """
    try:
        yield from question.unfolded()
    except UnsupportedError:
        return
    raise NotApplicableError("too few colours can be exchanged")


def _search(
    question: ModelQuestion,
    layout: Layout,
    table: PropertyAutomaton,
    emptiness: str,
    trace: Trace,
) -> Job[tuple[Answer, Made]]:
    """Search the symbolic product with fields of some widths."""
    from ltlpipe.search.driver import advance
    from ltlpipe.symmetry.sets.powerset_search import PowersetSearch
    from ltlpipe.symmetry.sets.runs import NetSteps, SetRuns, run_through
    from ltlpipe.symmetry.sets.tables import symbolic_product

    propositions = list(question.propositions.values())
    stutter = question.stutters
    ends = ends_of(question, table, trace).nonzero()[0].tolist()
    made = yield from symbolic_product(
        layout,
        propositions,
        table,
        stutter=stutter,
        closes=emptiness == AEC_CLOSED,
        ends=ends,
    )
    yield from made.automaton.ready()
    search = PowersetSearch(made.automaton, emptiness)

    def extraction() -> Job[Run]:
        steps = NetSteps(
            layout.net, propositions, table, made, stutter=stutter, ends=ends
        )
        try:
            sets = yield from SetRuns(search).accepting()
            return (yield from run_through(steps, search, sets))
        except ReplayError as error:
            if not made.approximate:
                raise
            if emptiness != TEC:
                raise _LostRunError from error
            # The violation is there; its markings are not recognised in their sets.
            raise StoppedError(MEMORY) from error

    advancing = advance(
        search,
        max_states=question.options.max_states,
        overflowed=lambda: next(iter(made.noted()), None),
    )
    answer = yield from searched(question.options, search, trace, extraction, advancing)
    if made.approximate:
        details = trace.stats.details | {"approximate_markings": made.approximate}
        trace.note(details=details)
    return answer, made


def _noted(plan: Plan, group: ColourGroup) -> Plan:
    """Say in a settled plan which colours are exchanged."""
    parts = []
    for names in group.names():
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"... {names[-1]} ({len(names)})"]
        parts.append(f"{', '.join(names)} can be exchanged")
    kept = "".join(f"; {why}" for why in group.refused)
    return plan.reduced_by(
        SYMMETRY,
        f"{SYMMETRY}, because colours {'; '.join(parts)} (Chiola et al. 1993; Baarir & "
        f"Duret-Lutz 2006, Sec. 6){kept}",
    )

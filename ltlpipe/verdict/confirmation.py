"""Lassos given by names only: whether the system has them as violations.

A result table, and the JSON of `check`, name the actions of a lasso.  Runs of the
system with these names are enumerated from the initial state, and each is checked by
the independent replay (`ltlpipe.verdict.judgement`), with the requested acceptance and
fairness, and by Spot.  So a lasso that is confirmed is one, whatever has found its
steps.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.question.given_options import RUN_OPTIONS
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, UnsupportedError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.judgement import judged, judged_prefix
from ltlpipe.verdict.lasso import BAD_PREFIX
from ltlpipe.verdict.questions import question_of, with_fair_steps
from ltlpipe.verdict.recorded import RunFinder, UndecidedError, walker_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.lasso import Lasso
    from ltlpipe.verdict.recorded import Record

MOST_RUNS = 100
"""Runs of the same names that are replayed until one is a violation."""


def run_options(given: Mapping[str, Any]) -> Options:
    """Return the options of a question, of which those about runs alone are taken.

    So nothing named by a file is executed: it may name a translator.
    """
    known = {each.name for each in fields(Options)} & set(RUN_OPTIONS)
    return Options(**{name: given[name] for name in known & set(given)})


def confirmed(
    system: System,
    asked: Property,
    told: Record,
    options: Options,
    constraint: Any = None,
) -> Job[Lasso]:
    """Replay a recorded lasso.

    Parameters
    ----------
    system : Network or Model
        The system with the run.
    asked : Property
        The violated property.
    told : Record
        Its steps.
    options : Options
        Those of `run_options`.
    constraint : spot.twa_graph, optional
        Only runs that it accepts count.

    Raises
    ------
    ReplayError
        The system has no such run, or it is not a violation.
    UndecidedError
        There are too many such runs.
    FormulaError, UnsupportedError
        The property does not fit this system.
    """
    if not isinstance(system, (Network, Model)):
        raise UnsupportedError(
            "the actions of a lasso do not determine a run of a graph of Spot"
        )
    if told.kind not in (None, BAD_PREFIX) or (told.kind is None) != told.has_cycle:
        raise ReplayError("the lasso has no cycle, and is no bad prefix")
    system = yield from with_fair_steps(system, options)
    with silenced():
        questions = [question_of(system, asked, options)]
        if constraint is not None:
            kept = Property(violations=constraint)
            questions.append(question_of(system, kept, options))
    walker = walker_of(questions[0])
    finder = RunFinder(walker, told, stutters=questions[0].stutters)
    failed: ReplayError | None = None
    n_runs = 0
    try:
        for found in finder.runs():
            if isinstance(found, Progress):
                yield found
                continue
            n_runs += 1
            if n_runs > MOST_RUNS:
                raise UndecidedError(f"more than {MOST_RUNS} runs have these names")
            rows = [walker.initial(), *(taken.state for _, taken in found)]
            actions = np.array([taken.action for _, taken in found], dtype=np.int32)
            way = Run(actions, walker.array(rows), told.first)
            try:
                return (yield from _replayed(questions, way, told))
            except ReplayError as error:
                failed = failed or error
    finally:
        for question in questions:
            question.close()
    if failed is None and (k := finder.missing) is not None:
        failed = ReplayError(
            f"step {k + 1}, {told.names[k]!r}, is not a step of the system there"
        )
    raise failed or ReplayError("the cycle does not close")


def _replayed(questions: Sequence[Question], run: Run, told: Record) -> Job[Lasso]:
    """Replay a run for each of some questions; a finite one for the only question."""
    if told.kind is None:
        lassos = []
        for question in questions:
            lassos.append((yield from judged(question, run)))
        return lassos[0]
    if len(questions) > 1:
        raise UndecidedError("a finite run under a constraint is not judged")
    found = yield from judged_prefix(questions[0], run.actions, run.states)
    if found is None:
        raise ReplayError("some continuation of the finite run may be no violation")
    return found

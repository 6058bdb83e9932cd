"""Infinite continuations of a finite run after which a violation is certain.

A search that stops where the property is lost (`ltlpipe.question.question.Question`)
ends its run with steps that only repeat the last state.  From there on every word
violates the property, so that any cycle of the system nearby completes the violation:
it is looked for in plain Python, breadth first and then in depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.strategies import instant_search
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import TooLargeError, plain_steps_of
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job

MOST_STATES = 2_000
"""States of the system near the end of the run: some hundredths of a second."""

_WORK = 200_000.0
"""Microseconds that their steps may take together, roughly; large nets have fewer."""

_LEAST_STATES = 20


def is_open(run: Run) -> bool:
    """Whether a run only repeats its last state, which need not be a deadlock."""
    return bool((run.actions[run.length :] < 0).all())


def last_step(run: Run) -> int:
    """Return the number of steps of an open run up to the last that moves."""
    moving = np.flatnonzero(run.actions >= 0)
    return int(moving[-1]) + 1 if len(moving) else 0


def continued(question: Question, run: Run | None) -> Job[Run | None]:
    """Return an open run with an infinite continuation; None if none is near.

    A deadlock repeats itself if the question says so.  Other runs are as they were.
    """
    if run is None or not is_open(run):
        return run
    system: Any = question.system  # type: ignore[attr-defined]
    try:
        steps: Any = plain_steps_of(system, limited=not isinstance(system, Network))
    except TooLargeError:
        return None
    n_steps = last_step(run)
    last = tuple(run.states[n_steps].tolist())
    steps.initial = lambda: last
    outcome = yield from instant_search.search(
        steps,
        universal(),
        stutter=question.stutters,
        max_states=int(min(MOST_STATES, max(_WORK / steps.cost, _LEAST_STATES))),
    )
    found = outcome.run
    if found is None:
        return None
    return Run(
        np.concatenate([run.actions[:n_steps], found.actions]),
        np.concatenate([run.states[: n_steps + 1], found.states[1:]]),
        n_steps + found.length,
    )

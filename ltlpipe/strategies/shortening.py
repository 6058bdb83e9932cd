"""Shorter runs: the product is stored breadth first, and its shortest lasso taken.

Whatever strategy has found a violation, its run bounds how deep a shorter one can lie.
The part of the product that near is often small, although the search was not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.question.answer import Run, Trace
from ltlpipe.question.runs import compressed
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.strategies import explicit
from ltlpipe.strategies.state_search import OVERFLOW, run_of

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.search.shortest.recording import Recording
    from ltlpipe.systems.packing import PackedSystem

_FIRST_STOP = 8  # levels after which a lasso is looked for first

_PER_STATE = 30.0
"""Units of work, for each state that may be stored, of looking for a lasso there."""


class Shortened(NamedTuple):
    """A run, and whether it goes with a shortest lasso of the product."""

    run: Run
    is_shortest: bool


def shortened(
    question: Question, run: Run, *, most_states: float = math.inf
) -> Job[Shortened]:
    """Look for a shorter violation in what is near the initial state.

    Parameters
    ----------
    question : Question
        What has been answered.
    run : Run
        A violation.
    most_states : float
        States of the product to store; with inf the result is a shortest lasso, unless
        memory does not suffice.
    """
    run = compressed(run)
    best = Shortened(run, len(run.actions) == 1)
    if best.is_shortest or explicit.obstacle_of_acceptance(question) is not None:
        return best
    trace = Trace(question.given)  # its figures are not those of the search
    try:
        product = yield from question.product(question.given, trace)
        packed = yield from product.packed()
        while packed is not None:
            found = yield from _within(
                product.problem(packed), packed, best, most_states
            )
            if found is not None:
                return found
            packed = yield from packed.widened()
    except UnsupportedError:  # tables too large, say: no strategy but another could
        pass
    return best


def _within(
    problem: Problem, packed: PackedSystem, best: Shortened, most_states: float
) -> Job[Shortened | None]:
    """Look for a shorter run in a packed product; None if its rows are too narrow."""
    from ltlpipe.runtime.kernels.compilation import ready_expand_pointer
    from ltlpipe.search.driver import EXTRACTING, advance
    from ltlpipe.search.shortest.lassos import shortest_in
    from ltlpipe.search.shortest.recording import Recording

    yield from ready_expand_pointer(packed.expand)
    recording = Recording(problem)
    stop = _FIRST_STOP
    while True:
        bound = len(best.run.actions)
        recording.stop_at(most_levels=bound - 1, next_stop=stop)
        outcome = yield from advance(
            recording,
            max_states=None if most_states == math.inf else int(most_states),
            overflowed=packed.overflowed,
            phase=EXTRACTING,
        )
        if outcome.reason == OVERFLOW:
            return None
        lasso, complete = yield from shortest_in(
            recording, bound, most_work=_PER_STATE * most_states
        )
        if lasso is not None:
            run = compressed(run_of(lasso, recording, packed))
            best = Shortened(run, False)
        if complete and _is_deep_enough(recording, len(best.run.actions)):
            return best._replace(is_shortest=True)
        if outcome.reason is not None or recording.has_ended or not complete:
            return best
        stop *= 2


def _is_deep_enough(recording: Recording, length: int) -> bool:
    """Whether all lassos that are shorter lie in what has been stored."""
    return recording.is_complete or recording.n_levels >= length - 1

"""Walks through a place/transition net, one successor at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.linear.constraints import is_exact
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.jobs import (
    MAX_STATES,
    MEMORY,
    Progress,
    StoppedError,
    TooMuchWorkError,
    bounded,
)
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.linear import SECONDS, arrays_of, is_too_large
from ltlpipe.strategies.state_search import ends_of, searched
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Outcome
    from ltlpipe.search.net_walks import NetWalks

UNPLANNED = 20_000
"""Steps of walks before plans are made."""

_MOST_PLANS = 32
_PLANNING = 2_000_000.0  # units of work

MOST_TOKENS = 1 << 24
"""Of a place initially, or of an arc: sums of walks fit into 64 bits."""


def can_walk(question: Question) -> bool:
    """Whether a question is about a net, and judges markings by linear inequalities."""
    if not isinstance(question, ModelQuestion) or question.fairness is not None:
        return False
    net = question.system
    if not isinstance(net, PetriNet):
        return False
    largest = max(
        max(net.initial(), default=0),
        int(net.pre.weight.max(initial=0)),
        int(net.post.weight.max(initial=0)),
    )
    return largest < MOST_TOKENS and all(map(is_exact, question.propositions.values()))


def walk_net(
    question: Question, product: Product, trace: Trace, most: int, work: float
) -> Job[Answer]:
    """Walk through the net of a question, by so many steps and units of work."""
    from ltlpipe.search.driver import advance
    from ltlpipe.search.net_walks import NetWalks
    from ltlpipe.strategies.net_goals import tables_of

    assert isinstance(question, ModelQuestion)
    net, table = question.system, product.table
    assert isinstance(net, PetriNet)
    propositions = list(question.propositions.values())
    seed = question.options.seed or 0
    job = tables_of(net, propositions, table, seed)
    frame, goals, rows = yield from job
    ends = ends_of(question, table, trace)
    walks = NetWalks(frame, table, goals, ends, stutters=question.stutters, seed=seed)
    limit = question.options.max_states
    most = most if limit is None else min(most, limit)

    def advancing() -> Job[Outcome]:
        outcome = yield from advance(walks, max_states=min(most, UNPLANNED))
        left = int(min(most, work / walks.work_per_step))
        if outcome.reason == MAX_STATES and left > UNPLANNED:
            yield from _plan(walks, net, rows)
            outcome = yield from advance(walks, max_states=left)
        return outcome

    return (
        yield from searched(
            question.options, walks, trace, lambda: _run_of(walks), advancing()
        )
    )


def _plan(walks: NetWalks, net: PetriNet, goals: list[list[Constraint]]) -> Job[None]:
    """Make plans for the first goals."""
    from ltlpipe.linear.proof import plans

    if is_too_large(net):
        return
    job = plans(arrays_of(net), goals[:_MOST_PLANS], SECONDS)
    with suppress(TooMuchWorkError, StoppedError, RuntimeError):
        walks.goals = walks.goals.planned((yield from bounded(job, _PLANNING)))


def _run_of(walks: NetWalks) -> Job[Run]:
    """Return the run that walks have found."""
    actions, length = walks.run()
    frame = walks.frame
    states = np.empty((len(actions) + 1, len(frame.initial)), dtype=np.int64)
    grant = yield Progress(
        "extracting", memory_bytes=walks.memory_bytes + states.nbytes
    )
    if walks.memory_bytes + states.nbytes > grant.memory_bytes:
        raise StoppedError(MEMORY)
    ticks = Ticks("extracting", 0.001)
    states[0] = frame.initial
    for step, action in enumerate(actions.tolist()):
        states[step + 1] = states[step]
        if action >= 0:
            own = slice(frame.change_first[action], frame.change_first[action + 1])
            states[step + 1, frame.change_place[own]] += frame.change[own]
        yield from ticks.worked(len(frame.initial) + 1000)
    return Run(actions, states, length)

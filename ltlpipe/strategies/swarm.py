"""Several searches over bits, each with hash functions and orders of its own.

What one of them takes for visited, another one enters.  They run one after the other,
so that the bits of one are held at a time; the first violation ends them all.

Source: G. Holzmann, R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE
37(6), 2011.

How much they have seen together is told by a sample of states, the same for all: those
with a small hash.  What none has seen is estimated from the states that one or two have
seen (A. Chao, "Estimating the population size for capture-recapture data with unequal
catchability", Biometrics 43, 1987), or from the estimate of each, whichever is more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.question.answer import FOUND, INCONCLUSIVE, Answer
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.strategies.state_search import BITSTATE_REASON, answer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.question.answer import Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.nested.bitstate import BitstateSE05
    from ltlpipe.systems.packing import PackedSystem


@dataclass(frozen=True)
class Member:
    """What one search has seen."""

    states: int  # visited
    transitions: int
    coverage: float | None  # the estimated share of the reachable states
    omitted: float  # states met and taken for visited, probably
    sample: np.ndarray  # uint64[n], hashes of visited states up to `most`
    most: int


@dataclass(frozen=True)
class Joint:
    """What several searches have seen together, as far as that can be estimated."""

    states: int  # about so many
    coverage: float | None  # the share of the reachable states


def member_of(search: BitstateSE05) -> Member:
    """Return what a search has seen."""
    return Member(
        states=search.n_visited,
        transitions=search.n_transitions,
        coverage=search.coverage(),
        omitted=search.expected_omissions(),
        sample=search.sampled_states(),
        most=search.sample_bound,
    )


def together(members: Sequence[Member]) -> Joint:
    """Estimate what searches of one product have seen together."""
    most = min(member.most for member in members)
    samples = [member.sample[member.sample <= most] for member in members]
    _, times = np.unique(np.concatenate(samples), return_counts=True)
    largest = max(member.states for member in members)
    n_sampled = sum(map(len, samples))
    if n_sampled == 0:
        return Joint(largest, None)
    scale = sum(member.states for member in members) / n_sampled
    states = max(largest, round(scale * len(times)))
    shares = [member.coverage for member in members]
    known = [share for share in shares if share is not None]
    if len(known) < len(members):
        return Joint(states, None)
    totals = [m.states / share for m, share in zip(members, known, strict=True)]
    once, twice = int(np.sum(times == 1)), int(np.sum(times == 2))
    unseen = once * (once - 1) / (2 * (twice + 1)) * (len(members) - 1) / len(members)
    recaptured = len(times) / (len(times) + unseen)
    return Joint(states, min(1.0, recaptured, states / float(np.mean(totals))))


def search_by_swarm(
    question: Question,
    product: Product,
    packed: PackedSystem,
    trace: Trace,
    max_states: int | None,
) -> Job[Answer]:
    """Search a product by as many searches over bits as the question asks for.

    With a limit of states each of them may enter so many.
    """
    from ltlpipe.search.nested.bitstate import BitstateSE05

    options = question.options
    assert options.bitstate is not None  # since `Options`
    members: list[Member] = []
    reasons = set()
    for number in range(options.swarm or 1):
        problem = product.problem(packed)
        search = BitstateSE05(problem, options.bitstate, variant_of(question, number))
        answer = yield from answer_of(question, search, packed, trace, max_states)
        members.append(member_of(search))
        _note(trace, members)
        reasons.add(answer.reason)
        if answer.kind == FOUND or answer.reason not in (BITSTATE_REASON, MAX_STATES):
            return answer
    return Answer(
        INCONCLUSIVE, MAX_STATES if MAX_STATES in reasons else BITSTATE_REASON
    )


def variant_of(question: Question, number: int) -> int:
    """Return which variant the search of a number is; 0 without a seed is the usual."""
    return number + ((question.options.seed or 0) << 16)


def _note(trace: Trace, members: Sequence[Member]) -> None:
    """Tell a trace what searches have seen together."""
    joint = together(members)
    runs: list[dict[str, Any]] = [
        {"states": m.states, "omitted": m.omitted, "coverage": m.coverage}
        for m in members
    ]
    trace.note(
        states=joint.states,
        transitions=sum(member.transitions for member in members),
        coverage=joint.coverage,
        details=trace.stats.details | {"swarm": runs},
    )

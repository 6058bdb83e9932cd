"""A violation by components near the property, while all others stay where they are.

Those that take part in visible actions are *near*, and so are, ring by ring, those that
share an action with them.  Where actions in common with the others are left out, a run
of the near components is one of the network, in which the others do nothing.  So what
such a run violates is violated.  A network of few components has far fewer states, and
where it has no violation, one ring more may have one.

The converse of `ltlpipe.strategies.subset`, where the others do what they like, and
what holds is shown.  docs/components.md, "Few components alone", has the argument.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.merger import GroupShelf
from ltlpipe.question.answer import EMPTY, FOUND, Answer, Trace
from ltlpipe.question.conditions import AUTO, ISOLATED
from ltlpipe.question.network import with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import TooMuchWorkError, bounded
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.components import MANY_COMPONENTS, reduce_network
from ltlpipe.strategies.explicit import walk
from ltlpipe.strategies.state_search import search_states
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.components import Composed
    from ltlpipe.systems.networks.lts import LTS

CAP = 1_000
"""States that a composition of near components may have."""

FIRST_WORK, FIRST_STATES, GROWTH = 1_000_000.0, 30_000, 3
"""Units of work about each ring at first, and states of walks; how both grow."""

_LOOKING = "looking for a run of few components"
_ENTRY_WORK = 0.05  # units, of a transition that is looked at


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    network = with_components(question)
    assert network is not None  # by `obstacle`
    if network.property.formula is None:
        raise NotApplicableError("an automaton may depend on what trimming has left")
    system = network.system
    few = len(system.components) < MANY_COMPONENTS
    if few and not question.options.insists_on(ISOLATED):
        raise NotApplicableError("few components are soon composed")
    left = [_Ring(network, near) for near in rings(system, network.actions)]
    if len(left) < 2:
        raise NotApplicableError("all that matters is near the property")
    turn, limited = 0, None
    while left:
        for ring in list(left):
            with suppress(TooMuchWorkError):
                found = yield from ring.asked(turn, trace)
                if found.kind == FOUND or (found.kind == EMPTY and ring.is_all):
                    return found
                if found.kind != EMPTY:  # a limit was hit
                    limited = found
                left.remove(ring)
        turn += 1
    if limited is not None:
        return limited
    raise NotApplicableError("no few components alone violate the property")


class _Ring:
    """Components near the property, without the others."""

    def __init__(self, question: NetworkQuestion, near: Sequence[int]) -> None:
        self._question, self._near = question, near
        self._shelf = GroupShelf()  # of what is composed again in the next turn
        self.is_all = len(near) == len(question.system.components)

    def asked(self, turn: int, trace: Trace) -> Job[Answer]:
        """Return the answer about these components, with more work in later turns.

        Raises
        ------
        TooMuchWorkError
            There is none by then.
        """
        system, near = self._question.system, self._near
        part = yield from isolated(system, near)
        asked = self._question.about(part)
        own = Trace(asked.given)
        search = bounded(self._searched(asked, turn, own), FIRST_WORK * GROWTH**turn)
        try:
            composed, found = yield from search
        finally:
            trace.stats = own.stats
        trace.plan = own.plan.reduced_by(ISOLATED, _said(system, near))
        trace.note(details=own.stats.details | {"isolated": len(near)})
        trace.has_found = found.kind == FOUND
        found = yield from composed.lifted(found, trace)
        if found.run is None:
            return found
        return Answer(FOUND, run=of_whole(system, part, near, found.run))

    def _searched(
        self, question: NetworkQuestion, turn: int, trace: Trace
    ) -> Job[tuple[Composed, Answer]]:
        """Compose components; walk through what is left, then search it."""
        composed = yield from reduce_network(question, CAP, trace, self._shelf)
        reduced, given = composed.reduced.network, question.given
        product = yield from question.product(given, trace, reduced)
        plan = question.settled(given, product.table, product.reductions)
        settled = composed.noted(plan)
        condition = product.table.condition
        if question.options.emptiness == AUTO and not (
            condition is not None and condition.fin_marks
        ):
            trace.plan = replace(settled, emptiness="couvreur99")
            way, most = partial(walk, turn=turn), FIRST_STATES * GROWTH**turn
            job = search_states(question, product, trace, max_states=most, way=way)
            answer = yield from job
            if answer.kind == FOUND:
                return composed, answer
        trace.plan = settled
        answer = yield from search_states(question, product, trace)
        return composed, answer


def rings(network: Network, visible: Collection[str]) -> Iterator[list[int]]:
    """Yield more and more components, as numbers in order.

    First those that take part in visible actions, then all that share an action with
    them, and so on.
    """
    meetings = [set(a.participants) for a in network.actions]
    index = network.action_index
    named = (network.actions[index[name]] for name in visible if name in index)
    near = {number for action in named for number in action.participants}
    before: set[int] = set()
    while near != before:
        yield sorted(near)
        before = near
        near = near.union(*(who for who in meetings if not who.isdisjoint(near)))


def isolated(network: Network, near: Collection[int]) -> Job[Network]:
    """Return some components without the actions in common with others."""
    outside = {
        action.name
        for action in network.actions
        if not action.internal and not set(near).issuperset(action.participants)
    }
    ticks, parts = Ticks(_LOOKING, _ENTRY_WORK), []
    for number in near:
        lts = network.components[number]
        parts.append(without(lts, outside))
        if ticks.over(lts.n_transitions):
            yield ticks.progress
    return Network(parts, network.name)


def without(lts: LTS, labels: Collection[str]) -> LTS:
    """Return a component without some labels that are not internal."""
    gone = set(labels) - lts.internal
    kept = np.array([label not in gone for label in lts.labels], dtype=np.bool_)
    number = (np.cumsum(kept) - 1).astype(np.int32)
    stays = kept[lts.label]
    return replace(
        lts,
        labels=tuple(label for label in lts.labels if label not in gone),
        src=lts.src[stays],
        label=number[lts.label[stays]],
        dst=lts.dst[stays],
    )


def of_whole(network: Network, part: Network, near: Sequence[int], run: Run) -> Run:
    """Return a run of some components as one of the network: the others do nothing."""
    number = {(a.name, a.participants): k for k, a in enumerate(network.actions)}
    known = [
        number[a.name, tuple(near[i] for i in a.participants)] for a in part.actions
    ]
    states = np.repeat(
        np.array([[c.initial for c in network.components]], dtype=run.states.dtype),
        len(run.states),
        axis=0,
    )
    states[:, list(near)] = run.states
    return Run(np.array(known, dtype=np.int32)[run.actions], states, run.length)


def _said(network: Network, near: Collection[int]) -> str:
    """Say which components were enough."""
    names = [network.components[i].name or str(i + 1) for i in near]
    n = len(network.components)
    return (
        f"{len(near)} of {n} components ({', '.join(names)}) while the others stay "
        "where they are, because their runs alone are runs of the network"
    )

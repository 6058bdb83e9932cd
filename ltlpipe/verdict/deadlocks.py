"""Reachable deadlocks: states without successors.

A verdict may lean on it that finite runs do not count.  With ``--deadlock ignore`` a
run that ends in a state without successors violates nothing.  Where a formula holds,
the system is looked at as it is, whatever the search has left out: is a deadlock
reachable, is there any infinite run?

All looks at a system cost a tenth of the work of the questions about it at most.  They
go breadth first, so that a first deadlock is a nearest one, and then depth first, for
those that are far away.  What is known of a system is kept for the next questions.

Nets without bounds are noticed meanwhile: see `watched`.
"""

from __future__ import annotations

import sys
from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.question.answer import (
    FOUND,
    INCONCLUSIVE,
    Answer,
    Trace,
)
from ltlpipe.runtime.errors import SystemWarning, UnsupportedError, warn
from ltlpipe.runtime.jobs import (
    Progress,
    StoppedError,
    TooMuchWorkError,
    bounded,
    guided,
)
from ltlpipe.runtime.names import quoted_name
from ltlpipe.runtime.objects import Beside
from ltlpipe.strategies.instant import Moves
from ltlpipe.strategies.instant_graph import sccs
from ltlpipe.strategies.state_search import OVERFLOW, run_of, searched
from ltlpipe.strategies.substitutes import with_merged_colours
from ltlpipe.systems.graph import SpotGraph, pack_graph, unlabelled
from ltlpipe.systems.kinds import is_net, is_symmetric_net
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import TooLargeError, plain_steps_of
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.judgement import lasso_of
from ltlpipe.verdict.lasso import MAXIMAL, FiniteRun
from ltlpipe.verdict.replay import run_replayed
from ltlpipe.verdict.verdict import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Grant, Job
    from ltlpipe.search.exploring import DeadlockSearch
    from ltlpipe.systems.models import System
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.verdict.lasso import Lasso


def deadlock_job(
    system: System, trace: Trace, options: Options, *, compiles: bool = True
) -> Job[tuple[Answer, Lasso | None]]:
    """Search for a deadlock; return the answer, and the way to it, replayed.

    It is inconclusive if the search is not compiled, and it `compiles` nothing.

    Raises
    ------
    UnsupportedError
        A part of the system is missing.
    """
    refuse_if_lacking(system)
    from ltlpipe.runtime.kernels.compilation import is_compiled
    from ltlpipe.search.driver import advance
    from ltlpipe.search.exploring import DeadlockSearch
    from ltlpipe.search.problem import buffer_bytes, make_problem

    trace.plan = replace(trace.plan, emptiness=DeadlockSearch.name)
    net: Any = system
    if isinstance(system, Model):
        net = yield from system.unfolding()
    table, answer = universal(), Answer(INCONCLUSIVE, OVERFLOW)
    packed = yield from _packed(net, options.seed)
    while packed is not None and answer.reason == OVERFLOW:
        yield Progress("searching", memory_bytes=buffer_bytes(packed, table))
        yield from packed.ready()
        search = DeadlockSearch(make_problem(packed, table))
        kernel, arguments = search.kernel_call(1)
        if not compiles and not is_compiled(kernel, *arguments):
            break
        limit, overflowed = options.max_states, packed.overflowed
        advancing = advance(search, max_states=limit, overflowed=overflowed)
        way = partial(_run_to, search, packed)
        found = searched(options, search, trace, way, advancing)
        answer = yield from watched(found, net, limit, partial(_has_found, trace))
        if answer.reason == OVERFLOW:
            packed = yield from packed.widened()
    if answer.run is None:
        return answer, None
    actions, states, length = answer.run
    if net is not system:  # it has been unfolded
        actions, states = system.refolded(net, actions, states)  # type: ignore[union-attr]
    lasso = yield from lasso_of(system, Run(actions, states, length))
    replay = run_replayed(system, lasso, stutters=True, accepting=False)
    yield from trace.timed("lasso_seconds", replay)
    return answer, lasso


def _has_found(trace: Trace) -> bool:
    return trace.has_found


def refuse_if_lacking(system: System) -> None:
    """Refuse to look for deadlocks where the rest of a system is missing."""
    if isinstance(system, Network) and system.lacks is not None:
        raise UnsupportedError(
            f"{system.name}: runs that end are not told from those that go on where "
            f"nothing is known: {system.lacks}"
        )


def _packed(system: System, seed: int | None) -> Job[PackedSystem | None]:
    if isinstance(system, SpotGraph):
        steps = unlabelled(system)
        return (yield from pack_graph(system, steps, seed=seed, accepts=False))
    if isinstance(system, Network):
        from ltlpipe.systems.networks.packing import pack_network

        letters = np.zeros(len(system.actions), dtype=np.int32)
        return (yield from pack_network(system, letters, seed=seed))
    return (yield from system.packing([], seed=seed))


def _run_to(search: DeadlockSearch, packed: Any) -> Job[Run]:
    return (yield from run_of((yield from search.lasso()), search, packed))


def ending_run(
    system: System, trace: Trace, options: Options
) -> Job[tuple[Answer, FiniteRun | None]]:
    """Look for a run that ends, as ``--deadlock error`` asks.

    Returns the answer, and the run to a nearest deadlock: of kind "maximal".
    """
    known = _KNOWN.of(system)
    answer, lasso = known.ending
    lacks_run = answer.kind == FOUND and options.lasso and lasso is None
    if answer.kind == INCONCLUSIVE or lacks_run:
        answer, lasso = yield from deadlock_job(system, trace, options)
        kept = None if lasso is None else replace(lasso, system=None)  # no circle
        known.ending = answer, kept
    if lasso is None or not options.lasso:
        return answer, None
    k = len(lasso.prefix)
    run = FiniteRun(  # of its own: what is known stays as it is
        deepcopy(lasso.prefix),
        [],
        lasso.actions[:k].copy(),
        lasso.states[: k + 1].copy(),
        None if lasso.moves is None else lasso.moves[:k],
        system=system,
        kind=MAXIMAL,
    )
    return answer, run


REACHABLE, NONE, NOT_LOOKED = "reachable", "none", "not looked for"

SHARE = 0.05
"""The share of the work of all questions about a system that a look at it may take.

Each has twice as much as the one before, so that they take a tenth together.
"""

LEAST, MOST = 4_000.0, 2e6
"""Units of work of the first look, if its share is less; and of any look."""

OF_KERNELS = 5e4
"""Units of work of a look for which it is worth loading a compiled search."""

MOST_BYTES = 64 << 20

_PASSED = 1.0  # units of work of a state whose steps are known

_SHOWN = 20  # steps of the run to a deadlock


class FiniteRuns(NamedTuple):
    """What is known of the runs of a system that end."""

    deadlock: str = NOT_LOOKED
    endless: bool = True  # whether there is an infinite run, as far as that is known
    way: tuple[str, ...] = ()  # the actions of a run to a deadlock

    @property
    def warning(self) -> str | None:
        """What to tell people where a formula holds."""
        if self.deadlock != REACHABLE:
            return None
        found = "there is no infinite run, so that every formula holds"
        if self.endless:
            way = " ".join(map(quoted_name, self.way[:_SHOWN]))
            cut = f" ... ({len(self.way)} steps)" if len(self.way) > _SHOWN else ""
            found = "a deadlock is reachable" + (f", after {way}{cut}" if way else "")
        return f"finite runs do not count: {found}; --deadlock=stutter counts them"


_NOTHING = FiniteRuns()


@dataclass
class _Known:
    """What is known of a system, and at what cost."""

    runs: FiniteRuns = _NOTHING
    work: float = 0.0  # units that all questions have cost
    latest: float = 0.0  # units that the latest look was allowed
    ending: tuple[Answer, Lasso | None] = (Answer(INCONCLUSIVE), None)  # `ending_run`

    def allowance(self) -> float:
        """Return the work of a look that begins now; 0 if there should be none."""
        allowed = min(max(self.work * SHARE, LEAST), MOST)
        is_known = self.runs.deadlock != NOT_LOOKED
        return 0.0 if is_known or allowed < 2 * self.latest else allowed


_KNOWN: Beside[_Known] = Beside(_Known)


def looked_for(question: Question, work: float) -> Job[str]:
    """Return what is known of deadlocks where a formula holds, and warn of one.

    `work` is what the question has cost.
    """
    runs = yield from known_runs(question, work)
    if runs.warning is not None:
        warn(runs.warning, SystemWarning)
    return runs.deadlock


def known_runs(question: Question, work: float) -> Job[FiniteRuns]:
    """Return what is known of the runs of a system that end; look, if that is due."""
    merged = yield from with_merged_colours(question)
    if merged is not None:
        runs = yield from _known_runs(merged, work)
        return runs._replace(way=())  # its names are those of some colours
    system = question.system  # type: ignore[attr-defined]
    if is_symmetric_net(system) and not (system.is_unfolded or system.is_small):
        return _NOTHING  # it is searched as it is
    return (yield from _known_runs((yield from question.unfolded()), work))


def _known_runs(question: Question, work: float) -> Job[FiniteRuns]:
    """Do what `known_runs` does for a system that is searched state by state."""
    known = _KNOWN.of(question.system)  # type: ignore[attr-defined]
    known.work += work
    if allowed := known.allowance():
        known.latest = allowed
        has_kernels = allowed >= OF_KERNELS and "numba" in sys.modules
        look = _searched if has_kernels else _walked
        known.runs = yield from look(question, allowed)
    return known.runs


def _searched(question: Question, allowed: float) -> Job[FiniteRuns]:
    """Look with the compiled search for deadlocks, unless it has to be compiled."""
    system: Any = question.system  # type: ignore[attr-defined]
    options = replace(question.options, max_states=None, lasso=True)
    trace = Trace(question.given)
    job = deadlock_job(system, trace, options, compiles=False)
    try:
        answer, lasso = yield from bounded(job, allowed)
    except (TooMuchWorkError, UnsupportedError):
        return FiniteRuns(REACHABLE if trace.has_found else NOT_LOOKED)
    except StoppedError as stopped:
        if stopped.reason != UNBOUNDED:
            raise
        return _NOTHING
    if answer.kind == INCONCLUSIVE:
        return (yield from _walked(question, allowed))
    if lasso is None:
        return FiniteRuns(NONE)
    return FiniteRuns(REACHABLE, way=tuple(lasso.prefix_actions))


def _walked(question: Question, allowed: float) -> Job[FiniteRuns]:
    """Look in plain Python, beginning with what a search of that kind has met."""
    system: Any = question.system  # type: ignore[attr-defined]
    try:
        known = None if question.stutters else question.explored
        moves = known or Moves(plain_steps_of(system), universal())
        walk = yield from _walk(moves, allowed / 2, dives=False)
        if walk.dead is None and not walk.is_complete:
            walk = yield from _walk(moves, allowed / 2, dives=True)
    except TooLargeError:
        return _NOTHING
    state = walk.dead
    if state is None:
        return FiniteRuns(NONE if walk.is_complete else NOT_LOOKED)
    endless = True
    if walk.is_complete:
        edges = {s: [(e[3], 0, e[2]) for e in moves.steps(s)] for s in walk.parents}
        endless = bool((yield from sccs(edges, edges.keys(), 0, moves.meter)))
    way = []
    while walk.parents[state][0] != state:
        before, action = walk.parents[state]
        if isinstance(system, SpotGraph):
            name = f"{moves.states[before]}->{moves.states[state]}"
        else:
            name = getattr(system.actions[action], "name", system.actions[action])
        way.append(name)
        state = before
    return FiniteRuns(REACHABLE, endless, tuple(way[::-1]))


class _Walk(NamedTuple):
    """What a walk through the states of a system has met."""

    parents: dict[int, tuple[int, int]]  # of each state the one before, and the action
    dead: int | None  # the first deadlock
    is_complete: bool


def _walk(moves: Moves, work: float, *, dives: bool) -> Job[_Walk]:
    """Walk breadth first, or dive, with so many units of work."""
    meter, first = moves.meter, moves.first()
    parents, waiting = {first: (first, -1)}, deque([first])
    dead = None
    while waiting and work > 0 and meter.memory_bytes < MOST_BYTES:
        before = meter.work
        number = waiting.pop() if dives else waiting.popleft()
        steps = moves.steps(number)
        if not steps and dead is None:
            dead = number
        for _, _, action, target in steps:
            if target not in parents:
                parents[target] = number, action
                waiting.append(target)
        # Twice: units of the compiled searches are shorter.
        work -= _PASSED + 2 * (meter.work - before)
        if meter.work > meter.limit:
            yield from meter.report()
    return _Walk(parents, dead, not waiting)


Result = TypeVar("Result")

PATIENCE = 2e6
"""Units of work of a search after its net is known to be unbounded."""

PROOF_PATIENCE = 1e7
"""The same where a proof that stores no states is at work beside it."""

_FIRST, _LEAST, _MOST = 100_000.0, 30_000.0, 1e6  # units before and of a look
_SHARE = 0.05  # of the work so far, of a look
_SOON = 20_000  # moves of a symmetric net that is unfolded for this


class _Growth:
    """What is known of a net."""

    growth: str | None = None  # what to tell people of a run that can be repeated
    looks: int = 0


_GROWTH: Beside[_Growth] = Beside(_Growth)


def watched(
    job: Job[Result],
    system: Any,
    max_states: int | None,
    has_found: Callable[[], bool] = lambda: False,
    proves: Callable[[], bool] = lambda: False,
) -> Job[Result]:
    """Advance the search of a system; end it if that is a net that is unbounded.

    Parameters
    ----------
    job : Job
        It is closed, whatever happens.
    system : Model, Network or SpotGraph
        What is searched.
    max_states : int, optional
        Where the search ends anyway.
    has_found : callable, optional
        Whether there is a violation, whose run is being extracted.
    proves : callable, optional
        Whether a proof is at work that stores no states: it may end all the same.

    Raises
    ------
    StoppedError
        It has ended so.
    """
    if max_states is not None or not (is_net(system) or is_symmetric_net(system)):
        return (yield from job)
    known = _GROWTH.of(system)
    work, due, left = 0.0, _FIRST, PATIENCE

    def turn(progress: Progress) -> Job[Grant]:
        nonlocal work, due, left
        # Translating is no search: it ends, and how soon depends on the machine.
        done = 0.0 if progress.waits else progress.work
        work += done
        if known.growth is None and work >= due:
            allowed = min(max(_SHARE * work, _LEAST), _MOST)
            yield from _look(system, known, allowed)
            due = 2 * work
        elif known.growth is not None:
            left -= done
            least = PATIENCE - PROOF_PATIENCE if proves() else 0.0
            if left <= least and not has_found():
                warn(known.growth, SystemWarning)
                raise StoppedError(UNBOUNDED)
        return (yield progress)

    return (yield from guided(job, turn))


def _look(system: Any, known: _Growth, work: float) -> Job[None]:
    """Walk through a net, otherwise than before."""
    if is_symmetric_net(system):
        if not (system.is_unfolded or system.n_actions <= _SOON):
            return
        try:
            net: Any = yield from system.unfolding()
        except UnsupportedError:
            return
    else:
        net = system
    yield from net.prepared()
    if None not in net.bounds.tokens:
        return
    from ltlpipe.systems.nets.growth import growth_of

    known.looks += 1
    found = yield from growth_of(net, work, seed=known.looks)
    known.growth = None if found is None else found.told(net)

"""Reachable deadlocks: states without successors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.question.answer import Plan, Trace
from ltlpipe.question.given_options import manner_of, takes_options, understood
from ltlpipe.question.option import DEADLOCKS
from ltlpipe.runtime.jobs import Clock, Progress, StoppedError, run
from ltlpipe.runtime.objects import Beside
from ltlpipe.strategies.state_search import note_search, run_of
from ltlpipe.systems.graph import SpotGraph, pack_graph, unlabelled
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.reading import name_of_system, system_job
from ltlpipe.verdict.judgement import lasso_of
from ltlpipe.verdict.lasso import MAXIMAL, FiniteRun, Lasso
from ltlpipe.verdict.replay import bugs_reported, run_replayed
from ltlpipe.verdict.verdict import (
    HOLDS,
    LASSO_LIMIT,
    UNKNOWN,
    VIOLATED,
    Verdict,
    not_read,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import DeadlockSearch
    from ltlpipe.systems.models import System
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.systems.reading import SystemLike

_REASON = (
    "breadth-first, which finds a shortest path to a nearest deadlock; no reductions, "
    "because they only preserve infinite runs"
)


@takes_options(DEADLOCKS)
def deadlocks(
    system: SystemLike,
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Find the nearest deadlock: a state without successors.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        As for `ltlpipe.check`.
    progress : bool or callable, optional
        As for `ltlpipe.check`.
    **options

    Returns
    -------
    Verdict
        "violated" if there is one: the prefix of the lasso is a shortest path to it,
        the cycle its stuttering step.  "holds" if there is none.
    """
    chosen, limits = understood(options)
    try:
        reading = system_job(system, **manner_of(options))
        system = run(reading, limits, observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason)
    clock = Clock()
    trace = Trace(Plan(None, None, reasons=(_REASON,)))
    lasso = None
    try:
        with bugs_reported(system.name, "deadlocks", chosen):
            verdict, reason, lasso = run(
                deadlock_job(system, trace, chosen),
                limits,
                clock=clock,
                observer=progress,
            )
    except StoppedError as stopped:
        verdict, reason = UNKNOWN, stopped.reason
        if trace.has_found:
            verdict, reason = VIOLATED, LASSO_LIMIT
    stats = trace.stats.by(clock)
    return Verdict(verdict, reason, system.name, None, trace.plan, stats, lasso)


def deadlock_job(
    system: System, trace: Trace, options: Options, *, compiles: bool = True
) -> Job[tuple[str, str | None, Lasso | None]]:
    """Search for a deadlock; return verdict, reason and lasso.

    The verdict is "unknown" if the search is not compiled, and it `compiles` nothing.
    """
    from ltlpipe.runtime.kernels.compilation import is_compiled, ready_expand_pointer
    from ltlpipe.search.driver import OVERFLOW, advance
    from ltlpipe.search.exploring import DeadlockSearch
    from ltlpipe.search.problem import buffer_bytes, make_problem
    from ltlpipe.search.registers import Status

    trace.plan = replace(trace.plan, emptiness=DeadlockSearch.name)
    if isinstance(system, Model):
        system = yield from system.unfolding()
    table = universal()
    packed = yield from _packed(system, options.seed)
    while packed is not None:
        yield Progress("searching", memory_bytes=buffer_bytes(packed, table))
        yield from ready_expand_pointer(packed.expand)
        search = DeadlockSearch(make_problem(packed, table))
        kernel, arguments = search.kernel_call(1)
        if not compiles and not is_compiled(kernel, *arguments):
            break
        overflowed = packed.overflowed
        advancing = advance(
            search, max_states=options.max_states, overflowed=overflowed
        )
        try:
            outcome = yield from trace.timed("search_seconds", advancing)
        finally:
            note_search(trace, search)
        if outcome.reason == OVERFLOW:
            packed = yield from packed.widened()
            continue
        if outcome.reason is not None:
            return UNKNOWN, outcome.reason, None
        if outcome.status == Status.EMPTY:
            return HOLDS, None, None
        trace.has_found = True
        if not options.lasso:
            return VIOLATED, None, None
        way = _way(system, search, packed)
        lasso = yield from trace.timed("lasso_seconds", way)
        return VIOLATED, None, lasso
    return UNKNOWN, OVERFLOW, None


class _Found(NamedTuple):
    """What is known of the deadlocks of a system."""

    verdict: str = UNKNOWN
    reason: str | None = None
    lasso: Lasso | None = None


class _Known:
    """What has been found about one system, for the next formula."""

    found = _Found()


_KNOWN: Beside[_Known] = Beside(_Known)


def ending_run(
    system: System, trace: Trace, options: Options
) -> Job[tuple[str, str | None, FiniteRun | None]]:
    """Look for a run that ends, as ``--deadlock error`` asks.

    Returns verdict, reason, and the run to a nearest deadlock: of kind "maximal".
    """
    if isinstance(system, Model):
        system = yield from system.unfolding()
    known = _KNOWN.of(system)
    verdict, reason, lasso = known.found
    is_known = verdict == HOLDS or lasso is not None
    if not is_known:
        verdict, reason, lasso = yield from deadlock_job(system, trace, options)
        kept = None if lasso is None else replace(lasso, system=None)  # no circle
        known.found = _Found(verdict, reason, kept)
    if lasso is None or not options.lasso:
        return verdict, reason, None
    k = len(lasso.prefix)
    run = FiniteRun(
        lasso.prefix,
        [],
        lasso.actions[:k],
        lasso.states[: k + 1],
        None if lasso.moves is None else lasso.moves[:k],
        system=system,
        kind=MAXIMAL,
    )
    return verdict, reason, run


def _packed(system: System, seed: int | None) -> Job[PackedSystem | None]:
    if isinstance(system, SpotGraph):
        steps = unlabelled(system)
        return (yield from pack_graph(system, steps, seed=seed, accepts=False))
    if isinstance(system, Network):
        from ltlpipe.systems.networks.packing import pack_network

        letters = np.zeros(len(system.actions), dtype=np.int32)
        return (yield from pack_network(system, letters, seed=seed))
    return (yield from system.packing([], seed=seed))


def _way(system: System, search: DeadlockSearch, packed: Any) -> Job[Lasso]:
    """Return the way to the deadlock, replayed."""
    lasso = lasso_of(system, run_of((yield from search.lasso()), search, packed))
    yield from run_replayed(system, lasso, stutters=True, accepting=False)
    return lasso

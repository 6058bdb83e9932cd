"""Finite runs: a verdict may lean on it that they do not count.

With ``--deadlock ignore`` a run that ends in a state without successors violates
nothing.  Where a formula holds, the system is looked at as it is, whatever the search
has left out: is a deadlock reachable, is there any infinite run?

The look costs a tenth of the work of the questions about a system at most, and has an
answer, a deadlock that is met, or none.  It goes breadth first, so that a first deadlock
is a nearest one, and then depth first, for those that are far away.  What is known of
a system is kept for the next questions.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.letters import universal
from ltlpipe.question.answer import Trace
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.identity_cache import Beside
from ltlpipe.runtime.jobs import TooMuchWorkError, bounded
from ltlpipe.runtime.names import quoted_name
from ltlpipe.strategies.instant_graph import PER_EDGE, sccs
from ltlpipe.strategies.instant_search import Moves
from ltlpipe.systems.graph import SpotGraph, unlabelled
from ltlpipe.systems.lts import Network
from ltlpipe.systems.views import GraphView, ModelView, NetworkView, TooLargeError
from ltlpipe.verdict.deadlocks import deadlock_job
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.instant_graph import Edge
    from ltlpipe.systems.models import System

REACHABLE, NONE, NOT_LOOKED = "reachable", "none", "not looked for"

SHARE = 0.1
"""The share of the work of all questions that the looks at a system may take."""

LEAST, MOST, MOST_WALKED = 1_000.0, 1e7, 2e6
"""Units of work of the first look, if a tenth is less; of any; of one without kernels.
"""

OF_KERNELS = 1e5
"""Units of work of a look for which it is worth loading a compiled search."""

MOST_BYTES = 64 << 20

_PASSED = 1.0  # units of work of a state whose steps are known

_SHOWN = 20  # steps of the run to a deadlock


class FiniteRuns(NamedTuple):
    """What is known of the runs of a system that end."""

    deadlock: str = NOT_LOOKED
    endless: bool | None = None  # whether there is an infinite run
    way: tuple[str, ...] = ()  # the actions of a run to a deadlock

    @property
    def warning(self) -> str | None:
        """What to tell people where a formula holds."""
        if self.deadlock != REACHABLE:
            return None
        if self.endless is False:
            found = "there is no infinite run, so that every formula holds"
        else:
            found = "a deadlock is reachable"
            if self.way:
                found += f", after {' '.join(map(quoted_name, self.way[:_SHOWN]))}"
            if len(self.way) > _SHOWN:
                found += f" ... ({len(self.way)} steps)"
        return f"finite runs do not count: {found}; --deadlock=stutter counts them"


@dataclass
class _Known:
    """What is known of a system, and at what cost."""

    runs: FiniteRuns = FiniteRuns()
    earned: float = 0.0  # units of work of all questions
    spent: float = 0.0  # of all looks
    latest: float = 0.0  # that the latest look was allowed

    @property
    def is_final(self) -> bool:
        return self.runs.deadlock != NOT_LOOKED

    def allowance(self) -> float:
        """Return the work of a look that begins now; 0 if it should not."""
        allowed = min(max(self.earned * SHARE - self.spent, 0.0), MOST)
        if not self.latest:
            return max(allowed, LEAST)
        return allowed if allowed >= 2 * self.latest else 0.0


_KNOWN: Beside[_Known] = Beside(_Known)


def finite_runs(question: Question, work: float) -> Job[FiniteRuns]:
    """Return what is known of a question's system, after a look if there is time.

    `work` is what the question has cost.
    """
    system: Any = question.system  # type: ignore[attr-defined]
    if not getattr(system, "is_unfolded", True):  # a symmetric net, searched as it is
        return FiniteRuns()
    question = yield from question.unfolded()
    system = question.system  # type: ignore[attr-defined]
    known = _KNOWN.of(system)
    known.earned += work
    allowed = 0.0 if known.is_final else known.allowance()
    if not allowed:
        return known.runs
    known.latest = allowed
    known.spent += allowed
    if allowed >= OF_KERNELS and "numba" in sys.modules:
        known.runs = yield from _searched(question, allowed)
    else:
        known.runs = yield from _walked(question, allowed)
    return known.runs


def _searched(question: Question, allowed: float) -> Job[FiniteRuns]:
    """Look with the compiled search for deadlocks, unless it has to be compiled."""
    system: Any = question.system  # type: ignore[attr-defined]
    options = replace(question.options, max_states=None, lasso=True)
    trace = Trace(question.given)
    job = deadlock_job(system, trace, options, compiles=False)
    try:
        verdict, _, lasso = yield from bounded(job, allowed)
    except (TooMuchWorkError, UnsupportedError):
        return FiniteRuns(REACHABLE if trace.has_found else NOT_LOOKED)
    if verdict == UNKNOWN:
        return (yield from _walked(question, min(allowed, MOST_WALKED)))
    if lasso is None:
        return FiniteRuns(NONE, endless=True)
    return FiniteRuns(REACHABLE, way=tuple(lasso.prefix_actions))


def _walked(question: Question, allowed: float) -> Job[FiniteRuns]:
    """Look in plain Python, from what a search of that kind has met."""
    system: Any = question.system  # type: ignore[attr-defined]
    moves = question.explored
    if moves is None:
        view = _view(system, allowed)
        if view is None:
            return FiniteRuns()
        moves = Moves(view, universal())
    for dives in (False, True):
        walk = _Walk(moves, dives=dives)
        yield from walk.job(allowed / 2)
        if walk.dead is not None:
            way = tuple(_name(system, moves, step) for step in walk.way())
            return FiniteRuns(REACHABLE, walk.is_endless, way)
        if walk.is_complete:
            return FiniteRuns(NONE, endless=True)
    return FiniteRuns()


def _name(system: System, moves: Moves, step: tuple[int, int, int]) -> str:
    """Return the action of a step between two states; of a graph these."""
    if isinstance(system, SpotGraph):
        return f"{moves.states[step[0]]}->{moves.states[step[1]]}"
    action = system.actions[step[2]]
    return action if isinstance(action, str) else action.name


def _view(
    system: System, allowed: float
) -> NetworkView | ModelView | GraphView | None:
    """Return a system in plain Python; None if that costs too much."""
    try:
        if isinstance(system, SpotGraph):
            return GraphView(system, unlabelled(system))
        if not isinstance(system, Network):
            return ModelView(system, [])
        if sum(c.n_transitions for c in system.components) > 10 * allowed:
            return None
        return NetworkView(system)
    except TooLargeError:
        return None


class _Walk:
    """A walk through the states of a system, breadth first, or one that dives.

    It ends where a deadlock has been met and a cycle, too.
    """

    def __init__(self, moves: Moves, *, dives: bool) -> None:
        self._moves, self._dives = moves, dives
        first = moves.first()
        self._parents: dict[int, tuple[int, int, int]] = {first: (first, -1, 0)}
        self._waiting = deque([first])
        self._graph: dict[int, list[Edge]] = {}
        self.dead: int | None = None  # the first deadlock
        self.is_endless: bool | None = None
        self.is_complete = False
        self.work = 0.0

    def job(self, work: float) -> Job[None]:
        """Walk, with so many units of work."""
        waiting, meter = self._waiting, self._moves.meter
        while waiting and (self.dead is None or not self.is_endless):
            if self.work > work or meter.memory_bytes > MOST_BYTES:
                return
            before = meter.work
            number = waiting.pop() if self._dives else waiting.popleft()
            try:
                self._pass(number)
            except TooLargeError:
                return
            # Twice: units of the compiled searches are shorter.
            self.work += _PASSED + 2 * (meter.work - before)
            if meter.work > meter.limit:
                yield from meter.report()
        self.is_complete = not waiting
        if self.is_complete and not self.is_endless:
            cycles = yield from sccs(self._graph, self._graph.keys(), 0, meter)
            self.is_endless = bool(cycles)

    def _pass(self, number: int) -> None:
        """Look at the steps of a state."""
        parents = self._parents
        depth = parents[number][2] + 1
        steps = self._moves.steps(number)
        if not steps and self.dead is None:
            self.dead = number
        self._graph[number] = [(target, 0, action) for _, _, action, target in steps]
        for _, _, action, target in steps:
            if target not in parents:
                parents[target] = number, action, depth
                self._waiting.append(target)
            elif not self.is_endless and parents[target][2] < depth:
                self.is_endless = self._is_above(target, number) or None

    def _is_above(self, state: int, below: int) -> bool:
        """Whether the walk to one state has passed another."""
        depth = self._parents[state][2]
        while self._parents[below][2] > depth:
            below = self._parents[below][0]
            self._moves.meter.work += PER_EDGE
        return state == below

    def way(self) -> list[tuple[int, int, int]]:
        """Return the steps to the deadlock: states before and after, and actions."""
        assert self.dead is not None
        way, state = [], self.dead
        while self._parents[state][2]:
            before, action, _ = self._parents[state]
            way.append((before, state, action))
            state = before
        return way[::-1]

"""Accepting runs from the labels that a decoupled search followed.

A decoupled search tells a *global trace*: labels of the prefix, and labels that can be
repeated for ever.  Every component is led along it for itself, by a shortest run with
internal steps in between, and the runs are merged at the global labels.

One turn of the cycle leads a component from a local state to one of several; some of
its states come back to themselves after some turns.  The lasso goes round as often as
brings all components back (`rounds`).  Where that is enough, both parts of the trace
are replaced by shortest ones to the composed state that the cycle begins with
(`shortest_trace`).

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 4.3, last paragraphs,
and the proof of Lemma 1.

Differences from the source: no predecessors are stored; what they tell is on the
stacks of a depth-first search.  What its proof of Lemma 1 finds by walking back from
member to member is found for each component alone.

Cost: per component the number of its transitions times the length of the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.decoupled.local_runs import LocalSteps
from ltlpipe.search.decoupled.rounds import rounds
from ltlpipe.search.decoupled.shortest_trace import shortest_trace
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import total_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.tables import DecoupledNetwork
    from ltlpipe.systems.lts import Network


class GlobalTrace(NamedTuple):
    """What a decoupled search has found.

    Parameters
    ----------
    prefix, cycle : list of int
        Actions of the network; -1 - j where acceptor j was taken.  Without a cycle
        some component goes on alone, by internal steps.
    middle : uint64[W]
        The decoupled state between them.
    returns : bool
        Whether any way from there back to the same state is accepted.
    """

    prefix: list[int]
    cycle: list[int]
    middle: np.ndarray
    returns: bool


class NetworkLasso(NamedTuple):
    """An accepting run of a network.

    Parameters
    ----------
    actions : int32[k + c]
        The actions of prefix and cycle.
    states : int32[k + c + 1, n]
        The local states before each of them and after the last.
    length : int
        k, the length of the prefix.
    """

    actions: np.ndarray
    states: np.ndarray
    length: int


class _Run:
    """A run of the network that grows at its end."""

    def __init__(
        self,
        network: Network,
        steps: Sequence[LocalSteps],
        most: float,
    ) -> None:
        self.most = most  # steps
        self.steps = steps
        self.states = [[c.initial for c in network.components]]
        self.actions: list[int] = []
        self._ticks = Ticks(EXTRACTING, 1 + len(steps) / 10)

    def move(self, action: int, moved: dict[int, int]) -> None:
        """Take one step, which moves some components."""
        self.make_sure_of(1)
        state = list(self.states[-1])
        for i, local in moved.items():
            state[i] = local
        self.states.append(state)
        self.actions.append(action)

    def make_sure_of(self, n_steps: int) -> None:
        """Raise `StoppedError` if the run may not have so many steps more."""
        if len(self.actions) + n_steps > self.most:
            raise StoppedError(MEMORY)

    def follow(self, goal: Sequence[int], trace: Sequence[int]) -> Job[None]:
        """Lead every component to its goal along the same global labels."""
        self.make_sure_of(sum(action >= 0 for action in trace))
        parts = []
        for steps, src, dst in zip(self.steps, self.states[-1], goal, strict=True):
            parts.append((yield from steps.along(src, dst, trace)))
        for k in range(len(trace) + 1):
            if self._ticks.over():
                yield self._ticks.progress
            together = {}
            for i, part in enumerate(parts):
                own = part[k]
                if k < len(trace):
                    together[i] = own.pop()[1]
                for action, local in own:
                    self.move(action, {i: local})
                    if self._ticks.over():
                        yield self._ticks.progress
            if k < len(trace) and trace[k] >= 0:
                self.move(trace[k], together)

    def lasso(self, length: int) -> NetworkLasso:
        """Return the run as a lasso whose prefix has this length."""
        return NetworkLasso(
            np.array(self.actions, dtype=np.int32),
            np.array(self.states, dtype=np.int32),
            length,
        )


def lasso(
    network: Network, trace: GlobalTrace, decoupled: DecoupledNetwork
) -> Job[NetworkLasso]:
    """Return an accepting run with a global trace, or a shorter one.

    Parameters
    ----------
    network : Network
        The one that was searched.
    trace : GlobalTrace
        What the search has found.
    decoupled : DecoupledNetwork
        Its tables.

    Raises
    ------
    StoppedError
        The run is longer than `most_steps` allows.
    RuntimeError
        There is no such run: a bug.
    """
    n = len(network.components)
    grant = yield Progress(EXTRACTING, memory_bytes=total_bytes(decoupled.tables))
    groups = list(enumerate(decoupled.acceptors))
    steps = []
    for i in range(n):
        held = frozenset(-1 - j for j, group in groups if i in group)
        own = LocalSteps(network, i, decoupled.shared, held)
        yield from own.read()
        steps.append(own)
    run = _Run(network, steps, most_steps(grant.memory_bytes, n))
    reached = decoupled.unpack(trace.middle)
    watching = [min(states) for states in reached[n:]]  # of the monitor
    if not trace.cycle:
        goal, alone, cycle = yield from _waiting(steps, reached)
        prefix = yield from _shorter(decoupled, trace.prefix, [*goal, *watching])
        yield from run.follow(goal, prefix)
        length = len(run.actions)
        for action, local in cycle:
            run.move(action, {alone: local})
        return run.lasso(length)
    orbits = []  # without a monitor components accept where it begins
    for own, states in zip(steps, reached, strict=False):
        accepting = n == len(reached)
        orbits.append((yield from own.orbit(states, trace.cycle, accepting=accepting)))
    before = max(len(orbit.way) for orbit in orbits)
    goal = [orbit.at(before) for orbit in orbits]
    members = [*goal, *watching]
    prefix = trace.prefix + before * trace.cycle
    prefix = yield from _shorter(decoupled, prefix, members)
    yield from run.follow(goal, prefix)
    length = len(run.actions)
    if trace.returns:
        closed = decoupled.pack(members, closed=True)
        back = yield from shortest_trace(decoupled, closed, members)
        if back is not None:
            yield from run.follow(goal, back)
            return run.lasso(length)
    turns = yield from rounds(decoupled, steps, orbits, trace.cycle, watching)
    run.make_sure_of(sum(turn.n_actions for turn in turns))
    for labels, n_times, moving in turns:
        for turn in range(before, before + n_times):
            for i in moving:
                goal[i] = orbits[i].at(turn + 1)
            yield from run.follow(goal, labels)
    return run.lasso(length)


def _shorter(
    decoupled: DecoupledNetwork, prefix: list[int], members: Sequence[int]
) -> Job[list[int]]:
    """Return a shortest global trace to a composed state, or the one that is known."""
    goal = decoupled.pack(members)
    if not (goal & ~decoupled.initial).any():
        return []
    found = yield from shortest_trace(decoupled, decoupled.initial, members)
    return prefix if found is None else found


def _waiting(
    steps: Sequence[LocalSteps], reached: Sequence[frozenset[int]]
) -> Job[tuple[list[int], int, list[tuple[int, int]]]]:
    """Return where components wait while one goes on alone, which one does, and how.

    All of them accept (CheckLocalAccept).
    """
    accepting = [
        sorted(s.accepting & states) for s, states in zip(steps, reached, strict=False)
    ]
    for i, own in enumerate(steps):
        for state in accepting[i]:
            cycle = yield from own.internal_cycle(state)
            if cycle:
                goal = [states[0] for states in accepting]
                goal[i] = state
                return goal, i, cycle
    raise RuntimeError("the search reported a run that is not there")

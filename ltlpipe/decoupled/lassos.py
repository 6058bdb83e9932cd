"""Accepting runs from the labels that a decoupled search followed.

A decoupled search tells a *global trace*: labels of the prefix, and labels that can be
repeated for ever.  Every component is led along it for itself, by a shortest run with
internal steps in between, and the runs are merged at the global labels.

One turn of the cycle leads a component from a local state to one of several; some of
its states come back to themselves after some turns.  The lasso goes round as often as
brings all components back.  Where that is enough, both parts of the trace
are replaced by shortest ones to the composed state that the cycle begins with.  Whether
a composed state can be reached does not depend on references: a breadth-first search
with dominance pruning finds a shortest global trace to it (Theorem 1 and
docs/decoupled.md, Lemma 2).

In lockstep all come back after the least common multiple of their numbers of turns, a
product if these are coprime.  Components that share no label of the cycle need no
lockstep: one *group* after the other goes round as often as its own components need,
while the others stay where they are; so the numbers add up.  Groups without which the
run is accepted stay where they are for ever.  Whether a run is accepted depends on the
monitor, which has seen the labels in another order; so it is run on the new one.
Without a monitor a run is accepted if all components accept again and again, as they do
where a turn begins.  If no order that has fewer turns is accepted, the components go
round in lockstep.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 4.3, last paragraphs,
and the proof of Lemma 1.

Differences from the source: no predecessors are stored; what they tell is on the
stacks of a depth-first search.  What its proof of Lemma 1 finds by walking back from
member to member is found for each component alone.

Cost: per component the number of its transitions times the length of the trace; per
group the length of the cycle times the number of its turns, for each state of the
monitor that it gets to.  For a shortest trace that of `dominance`, and 8 bytes per
state; states are in the order of their distance: the visited ones are the queue.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    is_enabled,
    write_successor,
)
from ltlpipe.decoupled.dominance import add_row, find_dominating, has_room
from ltlpipe.decoupled.local_runs import LocalSteps
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING, advance
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.decoupled.composition import DecoupledNetwork
    from ltlpipe.decoupled.local_runs import Orbit
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network


_MOST_LABELS = 1_000_000
"""Labels that a monitor is asked about."""

MOST_STATES = 100_000
"""States of a search for a shorter trace, before the longer one is taken."""

Watched = frozenset[tuple[int, int]]
"""States of a monitor with the marks that it has seen on the way."""


class GlobalTrace(NamedTuple):
    """What a decoupled search has found: actions of the network, -1 - j for acceptor j.

    Without a cycle some component goes on alone, by internal steps.
    """

    prefix: list[int]
    cycle: list[int]
    middle: np.ndarray  # uint64[W], the decoupled state between prefix and cycle
    returns: bool  # whether any way from there back to it is accepted


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

    def lasso(self, length: int) -> Run:
        """Return the run as a lasso whose prefix has this length."""
        return Run(
            np.array(self.actions, dtype=np.int32),
            np.array(self.states, dtype=np.int32),
            length,
        )


def lasso(
    network: Network, trace: GlobalTrace, decoupled: DecoupledNetwork
) -> Job[Run]:
    """Return an accepting run of a network with a global trace, or a shorter one.

    Raises `StoppedError` if it is longer than `most_steps` allows, and ReplayError if
    there is no such run: a bug.
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
    raise ReplayError("the search reported a run that is not there")


class Round(NamedTuple):
    """Turns of some components while the others stay where they are."""

    labels: list[int]  # of one turn
    n_times: int  # turns
    moving: list[int]  # the components

    @property
    def n_actions(self) -> int:
        """Global labels that are actions, of all turns."""
        return self.n_times * sum(label >= 0 for label in self.labels)


def rounds(
    decoupled: DecoupledNetwork,
    steps: Sequence[LocalSteps],
    orbits: Sequence[Orbit],
    cycle: list[int],
    watching: Sequence[int],
) -> Job[list[Round]]:
    """Return turns, as few as are known, after which all components are back.

    `orbits` are how each component goes round, `cycle` the labels of a turn, and
    `watching` is the state of the monitor, if there is one.
    """
    everyone = list(range(len(orbits)))
    lockstep = Round(cycle, _n_turns(orbits, everyone), everyone)
    acceptor = [] if watching else [-1]  # where a turn begins, all components accept
    groups = _groups(steps, [label for label in cycle if label not in acceptor])
    apart = [
        Round(
            [label for label in cycle if label in labels or label in acceptor],
            _n_turns(orbits, group),
            group,
        )
        for group, labels in groups
    ]
    order = sorted(apart, key=lambda one: one.n_actions)
    n_labels = sum(len(one.labels) * one.n_times for one in apart)
    if lockstep.n_times == 1 or n_labels > _MOST_LABELS:
        return [lockstep]
    judge = _Judge(decoupled, watching)
    for one in order:
        if one.n_actions and (yield from judge.accepts([one])):
            return [one]
    if sum(one.n_actions for one in order) >= lockstep.n_actions:
        return [lockstep]
    for chosen in (order, order[::-1], apart):
        if (yield from judge.accepts(chosen)):
            return (yield from _without_idle(chosen, judge))
    return [lockstep]


def _without_idle(chosen: Sequence[Round], judge: _Judge) -> Job[list[Round]]:
    """Leave out groups that are not needed, the longest ones first."""
    left = list(chosen)
    for one in sorted(chosen, key=lambda one: -one.n_actions):
        fewer = [other for other in left if other is not one]
        if any(other.n_actions for other in fewer) and (
            yield from judge.accepts(fewer)
        ):
            left = fewer
    return left


def _n_turns(orbits: Sequence[Orbit], components: Iterable[int]) -> int:
    """Return the turns after which components are back at the same time."""
    return math.lcm(*(len(orbits[i].round) for i in components))


def _groups(
    steps: Sequence[LocalSteps], cycle: Iterable[int]
) -> list[tuple[list[int], set[int]]]:
    """Return the components that labels tie together, and these labels.

    Components without any label are in no group.
    """
    groups: list[tuple[list[int], set[int]]] = []
    used = set(cycle)
    for i, own in enumerate(steps):
        labels = used & own.alphabet
        if not labels:
            continue
        apart, members = [], [i]
        for group in groups:
            if group[1] & labels:
                members += group[0]
                labels |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (sorted(members), labels)]
    return groups


class _Judge:
    """Tells which turns a monitor accepts if they are repeated for ever.

    `watching` is its state before each repetition; without one everything is accepted.
    """

    def __init__(self, decoupled: DecoupledNetwork, watching: Sequence[int]) -> None:
        self._decoupled = decoupled
        self._watching = watching
        self._full = (1 << decoupled.n_marks) - 1
        self._moves: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._ticks = Ticks(EXTRACTING)

    def accepts(self, turns: Sequence[Round]) -> Job[bool]:
        """Return whether the monitor can come back with all marks."""
        if not self._watching:
            return True
        (start,) = self._watching
        current: Watched = frozenset([(start, 0)])
        for one in turns:
            current = yield from self._after(one, current)
        return (start, self._full) in current

    def _after(self, one: Round, current: Watched) -> Job[Watched]:
        """Return where the monitor is after some turns."""
        for _ in range(one.n_times):
            before = current
            for label in one.labels:
                current = frozenset(
                    (dst, seen | marks)
                    for state, seen in current
                    for dst, marks in self._from(state, label)
                )
                if self._ticks.over(1 + len(current)):
                    yield self._ticks.progress
            if current == before:
                break
        return current

    def _from(self, state: int, label: int) -> list[tuple[int, int]]:
        """Return where a label takes the monitor, with the marks on the way."""
        if (state, label) not in self._moves:
            self._moves[state, label] = self._decoupled.watched(state, label)
        return self._moves[state, label]


class Origins(NamedTuple):
    """Where n visited states come from."""

    parent: np.ndarray  # int32[n], a visited state
    label: np.ndarray  # int32[n], the label that leads from there


@njit
def breadth_step(tables, registers, visited, origins, goal, fresh, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited : Visited, and origins : Origins, are changed in place, and `registers`;
    goal : uint64[1, n_words]; fresh : uint64[1, n_words], room for a row.
    ``registers[Reg.DEPTH]`` is the state that is expanded and ``registers[Reg.TOP]``
    its next label; after FOUND the last one that was taken.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows, places = visited.store.rows, tables.places
    while budget > 0:
        src = registers[Reg.DEPTH]
        label = registers[Reg.TOP]
        if src == visited.registers[Reg.STORED]:
            return Status.EMPTY
        if not has_room(visited):
            return Status.GROW
        if label == n_labels:
            registers[Reg.DEPTH] = src + 1
            registers[Reg.TOP] = 0
            continue
        budget -= 1
        registers[Reg.EXPANSIONS] += 1
        if is_enabled(tables, places, rows, src, label):
            write_successor(tables, places, registers, rows, src, label, fresh)
            reached = True
            for w in range(goal.shape[1]):
                reached &= goal[0, w] & ~fresh[0, w] == 0
            if reached:
                return Status.FOUND
            if find_dominating(visited, fresh, 0) < 0:
                if at_limit(registers):
                    return Status.LIMIT
                registers[Reg.VISITED] += 1
                state = add_row(visited, fresh, 0)
                origins.parent[state] = src
                origins.label[state] = label
        registers[Reg.TOP] = label + 1
    return Status.RUNNING


class Breadth(DecoupledSearch):
    """The search from one row to another (uint64[n_words]), by one label or more."""

    def __init__(
        self, network: DecoupledNetwork, start: np.ndarray, goal: np.ndarray
    ) -> None:
        super().__init__(network, start)
        n_rows = self.visited.arrays.store.rows.shape[0]
        parent, label = (np.zeros(n_rows, dtype=np.int32) for _ in range(2))
        self.origins = Origins(parent, label)
        self.goal = goal[np.newaxis].copy()
        self.fresh = np.zeros_like(self.goal)

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        tables, visited = self.network.tables, self.visited.arrays
        rows = self.goal, self.fresh
        return breadth_step, (
            tables,
            self.registers,
            visited,
            self.origins,
            *rows,
            budget,
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        return total_bytes(self.origins) + self.visited.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from self.visited.grow(limit_bytes - self.memory_bytes)
        for array in self.origins:
            array.resize(self.visited.arrays.store.rows.shape[0], refcheck=False)

    def labels(self) -> list[int]:
        """Return the labels on the way to the goal; after FOUND."""
        way = [int(self.registers[Reg.TOP])]
        state = int(self.registers[Reg.DEPTH])
        while state > 0:
            way.append(int(self.origins.label[state]))
            state = int(self.origins.parent[state])
        return way[::-1]


def shortest_trace(
    network: DecoupledNetwork,
    start: np.ndarray,
    members: Sequence[int],
) -> Job[list[int] | None]:
    """Return a shortest global trace from a row to a composed state, as actions.

    `members` are a local state of each component, and of the monitor if there is one;
    -1 - j stands for acceptor j.  None if `MOST_STATES` or memory were not enough.
    """
    search = Breadth(network, start, network.pack(members))
    outcome = yield from advance(
        search,
        max_states=MOST_STATES,
        phase=EXTRACTING,
        held_bytes=total_bytes(network.tables),
    )
    if outcome.status != Status.FOUND:
        return None
    return [int(action) for action in network.labels[search.labels()]]

"""Accepting runs from the labels that a decoupled search followed.

A decoupled search tells a *global trace*: labels of the prefix, and labels that can be
repeated for ever.  Every component is led along it for itself, by a shortest run with
internal steps in between, put before the next label that it takes part in, and the runs
are merged at the global labels.

One turn of the cycle leads a component from a local state to one of several; some of
its states come back to themselves after some turns: an `Orbit`.  The lasso goes round
as often as brings all components back.  Where that is enough, both parts of the trace
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
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    is_enabled,
    write_successor,
)
from ltlpipe.decoupled.dominance import add_row, find_dominating, has_room
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
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

Leaving = dict[int, list[tuple[int, int]]]
"""The actions of each state with the states behind them."""

Came = dict[int, "tuple[int, int] | None"]
"""Where states are come to from, and by which action; None where a search begins."""


class LocalSteps:
    """The transitions of component `i` of a network.

    `shared` are the actions that are global labels; `held` the acceptors, as negative
    numbers, that ask for this component to accept.
    """

    def __init__(
        self,
        network: Network,
        i: int,
        shared: frozenset[int],
        held: frozenset[int],
    ) -> None:
        self._ticks = Ticks(EXTRACTING)
        self._component = component = network.components[i]
        self._shared = shared
        self._index = index = dict(
            zip(component.labels, network.label_actions[i], strict=True)
        )
        # Of the states that are declared there may be far more than are entered.
        ends = component.src.tolist(), component.dst.tolist()
        flags = component.accepting
        self._all = frozenset([component.initial, *ends[0], *ends[1]])
        self.accepting = frozenset(s for s in self._all if flags is None or flags[s])
        self.internal: Leaving = {}
        self.alphabet = shared & {index[label] for label in component.labels} | held
        self._held = held
        self._targets: dict[tuple[int, int], list[int]] = {}
        self._sources: Leaving = {}
        self._images: dict[tuple[frozenset[int], int], frozenset[int]] = {}

    def read(self) -> Job[None]:
        """Read the transitions; before anything else is asked."""
        for src, label, dst in self._component.transitions():
            action = self._index[label]
            if action in self._shared:
                self._targets.setdefault((src, action), []).append(dst)
            else:
                self.internal.setdefault(src, []).append((action, dst))
                self._sources.setdefault(dst, []).append((action, src))
            yield from self._ticks.worked()

    def after(self, state: int, action: int) -> list[int]:
        """Return where a label of the trace leads from a local state."""
        if action not in self.alphabet:
            return [state]
        if action in self._held:
            return [state] if state in self.accepting else []
        return self._targets.get((state, action), [])

    def reached(
        self, states: Iterable[int], trace: Sequence[int]
    ) -> Job[frozenset[int]]:
        """Return the local states reached along global labels."""
        current = yield from self._closed(states)
        for action in trace:
            yield from self._ticks.worked(0.1)
            if action not in self.alphabet:
                continue
            key = current, action
            if key not in self._images:
                self._images[key] = yield from self._closed(
                    {dst for state in current for dst in self.after(state, action)}
                )
            current = self._images[key]
        return current

    def _breadth_first(
        self, starts: Iterable[int], leaving: Leaving, goal: int | None = None
    ) -> Job[Came]:
        """Return how states are come to, up to a goal."""
        came: Came = dict.fromkeys(starts)
        frontier = list(came)
        for state in frontier:  # grows while it is read
            if goal in came:
                break
            yield from self._ticks.worked(0.5)
            for action, after in leaving.get(state, ()):
                if after not in came:
                    came[after] = (state, action)
                    frontier.append(after)
        return came

    def _closed(self, states: Iterable[int]) -> Job[frozenset[int]]:
        """Return what is reached by internal steps."""
        return frozenset((yield from self._breadth_first(states, self.internal)))

    def along(
        self, src: int, dst: int, trace: Sequence[int]
    ) -> Job[list[list[tuple[int, int]]]]:
        """Return a run from src to dst along global labels.

        Per label, and once more at the end, the steps (action, local state) before
        it, as few as there can be between the states chosen; the label's own step is
        the last of its list.
        """
        own = [k for k, action in enumerate(trace) if action in self.alphabet]
        arrivals = [{src: src}]  # by own label: where it leads to, and where from
        for k in own:
            before = yield from self._closed(arrivals[-1])
            yield from self._ticks.worked(len(before))
            arrivals.append(
                {
                    after: s
                    for s in sorted(before, reverse=True)
                    for after in self.after(s, trace[k])
                }
            )
        way = yield from self._chosen(arrivals, dst)
        parts: list[list[tuple[int, int]]] = []
        segments = iter(way)
        arrived, left = next(segments)
        for action in trace:
            yield from self._ticks.worked(0.5)
            if action in self.alphabet:
                steps = yield from self._internal_way(arrived, left)
                arrived, left = next(segments)
                parts.append([*steps, (action, arrived)])
            else:
                parts.append([(action, arrived)])
        parts.append((yield from self._internal_way(arrived, left)))
        return parts

    def _chosen(
        self, arrivals: Sequence[dict[int, int]], dst: int
    ) -> Job[list[tuple[int, int]]]:
        """Return where to arrive by each label, and from where to take the next."""
        way: list[tuple[int, int]] = []
        for origins in reversed(arrivals):
            reaching = yield from self._breadth_first([dst], self._sources)
            start = next((s for s in origins if s in reaching), None)
            if start is None:
                raise ReplayError("the search reported a run that is not there")
            way.append((start, dst))
            dst = origins[start]
        return way[::-1]

    def _internal_way(self, src: int, dst: int) -> Job[list[tuple[int, int]]]:
        """Return the fewest internal steps (action, local state) from src to dst."""
        came = yield from self._breadth_first([src], self.internal, dst)
        return _way_to(dst, came)[1:]

    def internal_cycle(self, state: int) -> Job[list[tuple[int, int]]]:
        """Return internal steps (action, local state) from a state back to it."""
        reaching = yield from self._breadth_first([state], self._sources)
        for action, dst in self.internal.get(state, ()):
            if dst in reaching:
                way = yield from self._internal_way(dst, state)
                return [(action, dst), *way]
        return []

    def orbit(
        self, starts: frozenset[int], trace: Sequence[int], *, accepting: bool
    ) -> Job[Orbit]:
        """Return a shortest way of turns, along the trace, that comes back.

        With `accepting`, each turn begins in an accepting state.
        """
        allowed = self.accepting if accepting else self._all
        turns: Leaving = {}
        came: Came = dict.fromkeys(sorted(starts & allowed))
        frontier = list(came)
        for state in frontier:  # grows while it is read
            reached = yield from self.reached([state], trace)
            turns[state] = [(0, after) for after in sorted(allowed & reached)]
            yield from self._ticks.worked(len(turns[state]))
            if state in starts and (0, state) in turns[state]:
                return Orbit([], [state])
            for _, after in turns[state]:
                if after not in came:
                    came[after] = (state, 0)
                    frontier.append(after)
        best: list[int] = []
        for start in frontier:
            behind = [after for _, after in turns[start]]
            ways = yield from self._breadth_first(behind, turns, start)
            if start in ways:
                found = [start, *(state for _, state in _way_to(start, ways)[:-1])]
                best = min(best or found, found, key=len)
        if not best:
            raise ReplayError("the search reported a run that is not there")
        return Orbit([state for _, state in _way_to(best[0], came)[:-1]], best)


def _way_to(state: int, came: Came) -> list[tuple[int, int]]:
    """Return the actions on the way to a state, with the states behind them.

    The first state is where the way begins, behind no action (-1).
    """
    way: list[tuple[int, int]] = []
    before = came[state]
    while before is not None:
        way.append((before[1], state))
        state = before[0]
        before = came[state]
    return [(-1, state), *way[::-1]]


class Orbit(NamedTuple):
    """Local states of one component before each turn of the cycle."""

    way: list[int]
    round: list[int]

    def at(self, turn: int) -> int:
        """Return the local state before a turn."""
        if turn < len(self.way):
            return self.way[turn]
        return self.round[(turn - len(self.way)) % len(self.round)]


_MOST_LABELS = 1_000_000
"""Labels that a monitor is asked about."""

MOST_STATES = 100_000
"""States of a search for a shorter trace, before the longer one is taken."""


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
            yield from self._ticks.worked()
            together = {}
            for i, part in enumerate(parts):
                own = part[k]
                if k < len(trace):
                    together[i] = own.pop()[1]
                for action, local in own:
                    self.move(action, {i: local})
                    yield from self._ticks.worked()
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
        self._watching = watching
        self._full = (1 << decoupled.n_marks) - 1
        self._moves = cache(decoupled.watched)
        self._ticks = Ticks(EXTRACTING)

    def accepts(self, turns: Sequence[Round]) -> Job[bool]:
        """Return whether the monitor can come back with all marks."""
        if not self._watching:
            return True
        (start,) = self._watching
        current = frozenset([(start, 0)])  # states, with the marks seen on the way
        for one in turns:
            for _ in range(one.n_times):
                before = current
                for label in one.labels:
                    current = frozenset(
                        (dst, seen | marks)
                        for state, seen in current
                        for dst, marks in self._moves(state, label)
                    )
                    yield from self._ticks.worked(1 + len(current))
                if current == before:
                    break
        return (start, self._full) in current


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

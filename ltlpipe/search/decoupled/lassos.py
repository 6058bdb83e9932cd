"""Accepting runs from the labels that a decoupled search followed.

The stacks of the search are its global trace.  Every component is led along it for
itself, by a shortest run with internal steps in between, and the runs are merged at
the global labels.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 4.3, last paragraphs,
and the proof of Lemma 1.

Differences from the source: no predecessors are stored; what they tell is on the
stacks of a depth-first search.

Cost: per component the number of its transitions times the length of the trace.  After
the test of Lemma 1 the cycle can go round as often as the least common multiple of the
components' own rounds says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.search.decoupled.decoupled_ndfs import Closing
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.search.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.systems.lts import Network


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


class _Steps:
    """The transitions of one component, by state: [(action, dst)]."""

    def __init__(self, network: Network, i: int) -> None:
        component = network.components[i]
        index = {
            a.name: k for k, a in enumerate(network.actions) if i in a.participants
        }
        self.internal: dict[int, list[tuple[int, int]]] = {}
        self.shared: dict[tuple[int, int], list[int]] = {}
        self.alphabet: set[int] = set()
        for src, label, dst in component.transitions():
            action = index[label]
            if len(network.actions[action].participants) > 1:
                self.shared.setdefault((src, action), []).append(dst)
            else:
                self.internal.setdefault(src, []).append((action, dst))
        self.alphabet = {index[label] for label in component.labels}

    def along(
        self, src: int, dst: int, trace: Sequence[int]
    ) -> list[list[tuple[int, int]]] | None:
        """Return a shortest run from src to dst along global labels, or None.

        Per label, and once more at the end, the steps (action, local state) before
        it; the label's own step is the last of its list.
        """
        goal = (len(trace), dst)
        came: dict[tuple[int, int], tuple[tuple[int, int], int] | None]
        came = {(0, src): None}
        frontier = [(0, src)]
        for position, state in frontier:  # grows while it is read
            if goal in came:
                break
            places = [(a, (position, d)) for a, d in self.internal.get(state, ())]
            if position < len(trace):
                action = trace[position]
                targets = [state]
                if action in self.alphabet:
                    targets = self.shared.get((state, action), [])
                places += [(action, (position + 1, d)) for d in targets]
            for action, place in places:
                if place not in came:
                    came[place] = ((position, state), action)
                    frontier.append(place)
        if goal not in came:
            return None
        parts: list[list[tuple[int, int]]] = [[] for _ in range(len(trace) + 1)]
        place = goal
        while (step := came[place]) is not None:
            before, action = step
            parts[before[0]].append((action, place[1]))
            place = before
        return [part[::-1] for part in parts]


class _Run:
    """A run of the network that grows at its end."""

    def __init__(self, network: Network) -> None:
        self.steps = [_Steps(network, i) for i in range(len(network.components))]
        self.states = [[c.initial for c in network.components]]
        self.actions: list[int] = []

    def move(self, action: int, moved: dict[int, int]) -> None:
        """Take one step, which moves some components."""
        state = list(self.states[-1])
        for i, local in moved.items():
            state[i] = local
        self.states.append(state)
        self.actions.append(action)

    def follow(self, goal: Sequence[int], trace: Sequence[int]) -> None:
        """Lead every component to its goal along the same global labels."""
        parts = []
        for steps, src, dst in zip(self.steps, self.states[-1], goal, strict=True):
            part = steps.along(src, dst, trace)
            if part is None:
                raise RuntimeError("the search reported a run that is not there")
            parts.append(part)
        for k in range(len(trace) + 1):
            together = {}
            for i, part in enumerate(parts):
                own = part[k]
                if k < len(trace):
                    together[i] = own.pop()[1]
                for action, local in own:
                    self.move(action, {i: local})
            if k < len(trace):
                self.move(trace[k], together)

    def lasso(self, length: int) -> NetworkLasso:
        """Return the run as a lasso whose prefix has this length."""
        return NetworkLasso(
            np.array(self.actions, dtype=np.int32),
            np.array(self.states, dtype=np.int32),
            length,
        )


def lasso(network: Network, search: DecoupledNDFS) -> NetworkLasso:
    """Return the accepting run that a search of `network` has found."""
    closing = Closing(search.registers[Reg.CLOSING])
    if closing == Closing.LOCAL:
        return _within_a_state(network, search)
    if closing == Closing.REFERENCES:
        return _through_references(network, search)
    return _over_the_stack(network, search)


def _path_state(search: DecoupledNDFS, place: int) -> tuple[frozenset[int], ...]:
    """Return the decoupled state at a place of the outer stack."""
    state = search.path.states[place]
    return search.network.unpack(search.visited.arrays.store.rows[state])


def _accepting(search: DecoupledNDFS) -> list[list[int]]:
    """Return, per component, the accepting local states of the last outer state."""
    last = _path_state(search, int(search.registers[Reg.DEPTH]) - 1)
    accepting = search.network.unpack(search.network.tables.accepting)
    return [sorted(s & a) for s, a in zip(last, accepting, strict=True)]


def _within_a_state(network: Network, search: DecoupledNDFS) -> NetworkLasso:
    """Lead one component round its internal cycle (CheckLocalAccept)."""
    goal = [states[0] for states in _accepting(search)]
    last = _path_state(search, int(search.registers[Reg.DEPTH]) - 1)
    looping = search.network.unpack(search.network.tables.looping)
    i = next(k for k, states in enumerate(looping) if states & last[k])
    goal[i] = min(looping[i] & last[i])
    run = _Run(network)
    run.follow(goal, search.trace())
    length = len(run.actions)
    for action, dst in run.steps[i].internal[goal[i]]:
        part = run.steps[i].along(dst, goal[i], [])
        if part is not None:
            run.move(action, {i: dst})
            for back, local in part[0]:
                run.move(back, {i: local})
            return run.lasso(length)
    raise RuntimeError("the search reported a run that is not there")


def _through_references(network: Network, search: DecoupledNDFS) -> NetworkLasso:
    """Lead every component from a reference back to it (Lemma 2)."""
    trace = search.inner_trace()
    run = _Run(network)
    start = [
        next(s for s in states if steps.along(s, s, trace) is not None)
        for steps, states in zip(run.steps, _accepting(search), strict=True)
    ]
    run.follow(start, search.trace())
    length = len(run.actions)
    run.follow(start, trace)
    return run.lasso(length)


def _over_the_stack(network: Network, search: DecoupledNDFS) -> NetworkLasso:
    """Walk back from a member of the stack until one comes again (Lemma 1)."""
    place = int(search.registers[Reg.RED_BASE])
    outer, trace = search.trace(), search.inner_trace()
    run = _Run(network)
    back = [
        {
            local: _origin(steps, (first, middle, [local]), (outer[place:], trace))
            for local in first
        }
        for steps, first, middle in zip(
            run.steps,
            (sorted(s) for s in _path_state(search, place)),
            _accepting(search),
            strict=True,
        )
    ]
    state = tuple(min(locals_) for locals_ in back)
    walk = [state]
    middles: list[list[int]] = []
    while True:
        origins = [part[local] for part, local in zip(back, state, strict=True)]
        middles.append([middle for _, middle in origins])
        state = tuple(first for first, _ in origins)
        if state in walk:
            break
        walk.append(state)
    turn = walk.index(state)
    run.follow(state, outer[:place])
    length = len(run.actions)
    for middle, end in zip(middles[turn:][::-1], walk[turn:][::-1], strict=True):
        run.follow(middle, outer[place:])
        run.follow(end, trace)
    return run.lasso(length)


def _origin(
    steps: _Steps,
    stages: tuple[list[int], list[int], list[int]],
    traces: tuple[list[int], list[int]],
) -> tuple[int, int]:
    """Return states of the first two stages on a way to the last one."""
    firsts, middles, (last,) = stages
    for middle in middles:
        if steps.along(middle, last, traces[1]) is None:
            continue
        for first in firsts:
            if steps.along(first, middle, traces[0]) is not None:
                return first, middle
    raise RuntimeError("the search reported a run that is not there")

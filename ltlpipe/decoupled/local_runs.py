"""What one component does along a sequence of global labels.

Internal steps are put before the next label that the component takes part in.  One turn
of a cycle of labels leads from a local state to one of several; an `Orbit` is a way of
turns that comes back.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 4.3, last paragraphs.

Cost: per run the number of the component's transitions times the length of the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

    Leaving = Mapping[int, Sequence[tuple[int, int]]]


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
        self._index = index = {
            a.name: k for k, a in enumerate(network.actions) if i in a.participants
        }
        flags = component.accepting
        self.initial = component.initial
        self.n_states = component.n_states
        self.accepting = frozenset(
            s for s in range(component.n_states) if flags is None or flags[s]
        )
        self.internal: dict[int, list[tuple[int, int]]] = {}
        self.alphabet = shared & {index[label] for label in component.labels} | held
        self._held = held
        self._targets: dict[tuple[int, int], list[int]] = {}
        self._sources: dict[int, list[tuple[int, int]]] = {}
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
            if self._ticks.over():
                yield self._ticks.progress

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
            if self._ticks.over(0.1):
                yield self._ticks.progress
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
    ) -> Job[dict[int, tuple[int, int] | None]]:
        """Return where states are come to from, and by which action, up to a goal.

        `leaving` has the actions of each state with the states behind them.
        """
        came: dict[int, tuple[int, int] | None] = dict.fromkeys(starts)
        frontier = list(came)
        for state in frontier:  # grows while it is read
            if goal in came:
                break
            if self._ticks.over(0.5):
                yield self._ticks.progress
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
            if self._ticks.over(len(before)):
                yield self._ticks.progress
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
            if self._ticks.over(0.5):
                yield self._ticks.progress
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
        way: list[tuple[int, int]] = []
        before = came[dst]
        while before is not None:
            way.append((before[1], dst))
            dst = before[0]
            before = came[dst]
        return way[::-1]

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
        allowed = self.accepting if accepting else frozenset(range(self.n_states))
        turns: dict[int, frozenset[int]] = {}
        for state in sorted(starts & allowed):
            turns[state] = allowed & (yield from self.reached([state], trace))
        for state in turns:
            if state in turns[state]:
                return Orbit([], [state])
        came: dict[int, int | None] = dict.fromkeys(turns)
        frontier = list(turns)
        for state in frontier:  # grows while it is read
            if state not in turns:
                turns[state] = allowed & (yield from self.reached([state], trace))
            for after in sorted(turns[state]):
                if after not in came:
                    came[after] = state
                    frontier.append(after)
            if self._ticks.over(len(turns[state])):
                yield self._ticks.progress
        best: list[int] = []
        leaving = {src: [(0, dst) for dst in sorted(turns[src])] for src in turns}
        for state in frontier:
            found = yield from self._shortest_round(leaving, state)
            if found and (not best or len(found) < len(best)):
                best = found
        if not best:
            raise ReplayError("the search reported a run that is not there")
        way: list[int] = []
        before = came[best[0]]
        while before is not None:
            way.append(before)
            before = came[before]
        return Orbit(way[::-1], best)

    def _shortest_round(self, leaving: Leaving, start: int) -> Job[list[int]]:
        """Return the states of a shortest cycle of turns through `start`, or none."""
        starts = [state for _, state in leaving[start]]
        came = yield from self._breadth_first(starts, leaving, start)
        if start not in came:
            return []
        cycle = []
        before = came[start]
        while before is not None:
            cycle.append(before[0])
            before = came[before[0]]
        return [start, *cycle[::-1]]


class Orbit(NamedTuple):
    """Local states of one component before each turn of the cycle."""

    way: list[int]
    round: list[int]

    def at(self, turn: int) -> int:
        """Return the local state before a turn."""
        if turn < len(self.way):
            return self.way[turn]
        return self.round[(turn - len(self.way)) % len(self.round)]

"""Short lassos in the graph that an instant search has built, in plain Python.

A first lasso enters the accepting SCC by a shortest way and collects the marks one by
one.  From every state of an SCC that may be accepting, in order of its distance, a
breadth-first search over pairs (state, marks seen) looks for a cycle that makes a
shorter one, as `ltlpipe.search.shortest_lassos` does with kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.conditions import Op
from ltlpipe.strategies.instant_graph import (
    PER_EDGE,
    PER_STATE,
    Part,
    marks_inside,
    sccs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.instant_graph import Edge, Graph, Meter

_PER_PAIR = 1.0
"""Units of work for a transition that a search for a cycle looks at, measured."""

_LEAST_WORK = 2_000.0
"""Units of work that a shorter lasso may always take."""

Path = list["Edge"]


def shorter_lasso(
    graph: Graph,
    goal: Condition,
    part: Part,
    depths: Sequence[int],
    meter: Meter,
) -> Job[tuple[Path, Path, bool]]:
    """Return the transitions of a short accepting run.

    Parameters
    ----------
    graph : Graph
        What has been explored.
    goal : Condition
        The acceptance.
    part : Part
        An accepting SCC.
    depths : sequence of int
        The distance of each state from the initial one, from 1 on.
    meter : Meter
        Is told what it takes: at most about what has been done before.

    Returns
    -------
    prefix, cycle : list of Edge
    complete : bool
        Whether no shorter run is in what has been explored.
    """
    prefix, cycle = yield from lasso_in(graph, part, meter)
    most_work = max(_LEAST_WORK, PER_STATE * len(depths) + PER_EDGE * graph.n_edges)
    best, start = len(prefix) + len(cycle), -1
    cycles = _Cycles(graph, goal, meter, most_work)
    for state in (yield from _promising(graph, goal, depths, meter)):
        longest = best - depths[state]  # longer cycles are not worth it
        if longest <= 0 or cycles.work <= 0:
            break
        found = yield from cycles.through(state, longest)
        if found is not None:
            best, start, cycle = depths[state] - 1 + len(found), state, found
    shown = yield from _with_prefix(graph, start, prefix, cycle, meter)
    return *shown, cycles.work > 0


def _with_prefix(
    graph: Graph, start: int, prefix: Path, cycle: Path, meter: Meter
) -> Job[tuple[Path, Path]]:
    """Return a cycle with a shortest way to where it begins, if that has changed."""
    if 0 <= start < graph.n_initial:
        return [], cycle
    if start >= 0:
        anywhere, initial = (
            Part(range(len(graph.followers)), 0, 0),
            range(graph.n_initial),
        )
        prefix = yield from _hop(
            graph, anywhere, initial, lambda dst, _: dst == start, meter
        )
    return prefix, cycle


def _promising(
    graph: Graph, goal: Condition, depths: Sequence[int], meter: Meter
) -> Job[list[int]]:
    """Return the states of SCCs that may be accepting, the nearest first."""
    chosen: list[int] = []
    followers = graph.followers
    for component in (yield from sccs(followers, range(len(followers)), 0, meter)):
        marks = yield from marks_inside(graph, frozenset(component), 0, meter)
        if goal.within(marks).op != Op.FALSE:
            chosen += component
    return sorted(chosen, key=depths.__getitem__)


class _Cycles:
    """Looks for accepting cycles, while there is `work` left to do it."""

    def __init__(
        self, graph: Graph, goal: Condition, meter: Meter, work: float
    ) -> None:
        self.work = work
        self._followers, self._goal, self._meter = graph.followers, goal, meter

    def through(self, start: int, longest: int) -> Job[Path | None]:
        """Return an accepting cycle through a state, of at most so many steps."""
        relevant, meter = self._goal.marks, self._meter
        came: dict[tuple[int, int], tuple[tuple[int, int], Edge]] = {}
        level = [(start, 0)]
        for _ in range(longest):
            following = []
            for pair in level:
                state, seen = pair
                edges = self._followers[state]
                for edge in edges:
                    dst, marks, _ = edge
                    now = seen | marks & relevant
                    if dst == start and self._goal.satisfied_by(now):
                        return _traced(came, pair, (start, 0), edge)
                    target = (dst, now)
                    if target not in came and target != (start, 0):
                        came[target] = (pair, edge)
                        following.append(target)
                spent = PER_STATE + _PER_PAIR * len(edges)
                self.work -= spent
                meter.work += spent
                if self.work <= 0:
                    return None
                if meter.work > meter.limit:
                    yield from meter.report()
            level = following
        return None


def _traced(
    came: dict[tuple[int, int], tuple[tuple[int, int], Edge]],
    pair: tuple[int, int],
    first: tuple[int, int],
    edge: Edge,
) -> Path:
    """Return the path to a pair and one transition more."""
    path = [edge]
    while pair != first:
        pair, edge = came[pair]
        path.append(edge)
    return path[::-1]


def lasso_in(
    graph: Graph, part: Part, meter: Meter
) -> Job[tuple[list[Edge], list[Edge]]]:
    """Return the transitions of an accepting run that ends in a part.

    The prefix is a shortest one to the part.  From there each next step goes the
    shortest way to a mark that is still missing, and in the end back.
    """
    everything, initial = range(len(graph.followers)), range(graph.n_initial)
    prefix: list[Edge] = []
    start = at = next((state for state in initial if state in part.states), -1)
    if start < 0:
        anywhere = Part(everything, 0, 0)
        prefix = yield from _hop(
            graph, anywhere, initial, lambda dst, _: dst in part.states, meter
        )
        start = at = prefix[-1][0]
    missing = part.needed
    cycle: list[Edge] = []
    while missing or at != start or not cycle:

        def arrives(dst: int, marks: int, missing: int = missing) -> bool:
            return marks & missing != 0 if missing else dst == start

        for edge in (yield from _hop(graph, part, [at], arrives, meter)):
            at, marks, _ = edge
            missing &= ~marks
            cycle.append(edge)
    return prefix, cycle


def _hop(
    graph: Graph,
    part: Part,
    starts: Sequence[int],
    arrives: Callable[[int, int], bool],
    meter: Meter,
) -> Job[list[Edge]]:
    """Return a shortest path inside a part; `arrives` looks at its last transition."""
    inside, avoided, _ = part
    came: dict[int, tuple[int, Edge]] = {}
    queue = list(starts)
    for state in queue:  # grows while it is read
        for edge in graph.followers[state]:
            dst, marks, _ = edge
            if marks & avoided or dst not in inside:
                continue
            if arrives(dst, marks):
                path = [edge]
                while state not in starts:
                    state, edge = came[state]
                    path.append(edge)
                return path[::-1]
            if dst not in came and dst not in starts:
                came[dst] = (state, edge)
                queue.append(dst)
        meter.work += PER_STATE + PER_EDGE * len(graph.followers[state])
        if meter.work > meter.limit:
            yield from meter.report()
    raise AssertionError("an SCC has a path to each of its transitions")

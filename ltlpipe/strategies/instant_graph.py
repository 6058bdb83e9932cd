"""The graph that an instant search builds, and what its accepting cycles are.

The first states are the initial ones, most often one.  Everything is plain Python;
nothing is recursive but along the nesting of a condition and the Fin marks that it has,
at most 32.

Source: C. Baier, F. Blahoudek, A. Duret-Lutz, J. Klein, D. Müller and J. Strejček,
"Generic Emptiness Check for Fun and Profit", ATVA 2019, LNCS 11781, pp. 445-461,
Fig. 4, on the SCCs of R. Tarjan, "Depth-First Search and Linear Graph Algorithms",
SIAM J. Comput. 1(2) (1972), pp. 146-160.

Differences from the source: a disjunction is taken apart wherever it is the whole
condition, also where no part of it is a single Fin; the Fin mark whose value is fixed
is taken from a conjunct that the SCC does not satisfy.

Short lassos: a first one enters the accepting SCC by a shortest way and collects the
marks one by one.  From every state of an SCC that may be accepting, in order of its
distance, a breadth-first search over pairs (state, marks seen) looks for a cycle that
makes a shorter one, as `ltlpipe.search.shortest_lassos` does with kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import Op, marks_in
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job

Edge = tuple[int, int, int]
"""A transition: the number of the state it leads to, its marks as bits, its action."""

SLICE = 1_000
"""Units of work between two looks at the limits."""

# Units of work, measured.
PER_STATE, PER_EDGE = 1.8, 0.3

_DONE = 1 << 62  # number of a state whose SCC is known: lower than none


class Meter:
    """What a search has done since it last yielded, and what it holds."""

    def __init__(self) -> None:
        self.work = 0.0  # units of about a microsecond
        self.memory_bytes = 0.0  # an estimate
        self.limit = float(SLICE)  # units after which to yield
        self.states = self.depth = 0  # for `Progress`

    def report(self, *, gives_way: bool = False) -> Job[None]:
        """Yield what was done; raise StoppedError if memory does not suffice."""
        grant = yield Progress(
            "searching",
            work=self.work,
            memory_bytes=self.memory_bytes,
            states=self.states,
            depth=self.depth,
            gives_way=gives_way,
        )
        self.work = 0.0
        self.limit = min(SLICE, grant.work)
        if self.memory_bytes > grant.memory_bytes:
            raise StoppedError(MEMORY)


class Graph:
    """A part of a product, as far as it has been explored.

    Product states that were not expanded have no followers.
    """

    def __init__(self) -> None:
        self.states: list[Hashable] = []  # of the system, by product state
        self.followers: list[list[Edge]] = []  # transitions of each product state
        self.n_initial = 0  # states 0, 1, ... are
        self.marks = 0  # those of all transitions, as bits
        self.n_edges = 0


class Part(NamedTuple):
    """An SCC all of whose transitions that are not avoided make an accepting cycle."""

    states: frozenset[int] | range
    avoided: int  # marks, as bits
    needed: int  # marks of which a cycle has to see each, as bits


def accepting_part(graph: Graph, goal: Condition, meter: Meter) -> Job[Part | None]:
    """Return an SCC with a cycle that satisfies a condition; None if there is none."""
    if goal.within(graph.marks).op == Op.FALSE:
        return None
    return (yield from _part_within(graph, range(len(graph.followers)), 0, goal, meter))


def _part_within(
    graph: Graph,
    states: range | frozenset[int],
    avoided: int,
    goal: Condition,
    meter: Meter,
) -> Job[Part | None]:
    """Look for a cycle among some states, without the avoided marks."""
    components = yield from sccs(graph.followers, states, avoided, meter)
    for component in sorted(components, key=min):
        inside = frozenset(component)
        marks = yield from marks_inside(graph, inside, avoided, meter)
        found = yield from _judged(graph, Part(inside, avoided, marks), goal, meter)
        if found is not None:
            return found
    return None


def marks_inside(
    graph: Graph, states: frozenset[int], avoided: int, meter: Meter
) -> Job[int]:
    """Return the marks of the transitions among some states, as bits.

    Transitions with marks of `avoided` do not count.
    """
    marks = 0
    for state in states:
        for dst, some, _ in graph.followers[state]:
            if dst in states and not some & avoided:
                marks |= some
        meter.work += PER_EDGE * len(graph.followers[state])
        if meter.work > meter.limit:
            yield from meter.report()
    return marks


def _judged(
    graph: Graph, part: Part, goal: Condition, meter: Meter
) -> Job[Part | None]:
    """Look for an accepting cycle in an SCC; `part.needed` are the marks inside."""
    inside, avoided, marks = part
    goal = goal.within(marks)
    meter.work += 2 + n_leaves(goal)
    if meter.work > meter.limit:
        yield from meter.report()
    if goal.satisfied_by(marks):
        return part._replace(needed=_needed(goal, marks))
    if goal.op == Op.OR:
        for alternative in goal.parts:
            found = yield from _judged(graph, part, alternative, meter)
            if found is not None:
                return found
        return None
    parts = goal.parts if goal.op == Op.AND else (goal,)
    unsatisfied = [some for some in parts if not some.satisfied_by(marks)]
    fins = 0
    for some in unsatisfied:
        fins |= some.fin_marks if some.op == Op.FIN else 0
    if fins:
        return (yield from _part_within(graph, inside, avoided | fins, goal, meter))
    mark = next(iter(marks_in(unsatisfied[0].fin_marks)), None)
    if mark is None:
        return None
    found = yield from _part_within(graph, inside, avoided | 1 << mark, goal, meter)
    if found is not None:
        return found
    return (yield from _judged(graph, part, goal.with_fin(mark, False), meter))


def n_leaves(goal: Condition) -> int:
    """Return how many Inf and Fin a condition has."""
    return sum(map(n_leaves, goal.parts)) if goal.parts else 1


def _needed(goal: Condition, marks: int) -> int:
    """Return few marks that suffice for a condition that some marks satisfy."""
    if goal.op == Op.INF:
        return 1 << goal.mark
    if goal.op == Op.OR:
        known = [_needed(p, marks) for p in goal.parts if p.satisfied_by(marks)]
        return min(known, key=int.bit_count)
    needed = 0
    for part in goal.parts:
        needed |= _needed(part, marks)
    return needed


def sccs(
    followers: Sequence[list[Edge]] | Mapping[int, list[Edge]],
    states: Collection[int],
    avoided: int,
    meter: Meter,
) -> Job[list[list[int]]]:
    """Return the SCCs that have a transition inside, among some states.

    Transitions with marks of `avoided` do not count.
    """
    found: list[list[int]] = []
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []  # states whose SCC is not known
    calls = []
    for root in states:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        path.append(root)
        calls.append((root, iter(followers[root])))
        while calls:
            state, edges = calls[-1]
            for dst, marks, _ in edges:
                if marks & avoided or dst not in states:
                    continue
                if dst not in number:
                    number[dst] = low[dst] = len(number)
                    path.append(dst)
                    calls.append((dst, iter(followers[dst])))
                    break
                if number[dst] < low[state]:
                    low[state] = number[dst]
            else:
                calls.pop()
                if calls:
                    parent = calls[-1][0]
                    low[parent] = min(low[parent], low[state])
                if low[state] == number[state]:
                    component = [path.pop()]
                    while component[-1] != state:
                        component.append(path.pop())
                    number.update(dict.fromkeys(component, _DONE))
                    if len(component) > 1 or _loops(followers[state], state, avoided):
                        found.append(component)
                meter.work += PER_STATE + PER_EDGE * len(followers[state])
                if meter.work > meter.limit:
                    yield from meter.report()
    return found


def _loops(edges: Sequence[Edge], state: int, avoided: int) -> bool:
    return any(dst == state and not marks & avoided for dst, marks, _ in edges)


_PER_PAIR = 1.0
"""Units of work for a transition that a search for a cycle looks at, measured."""

_LEAST_WORK = 2_000.0
"""Units of work that a shorter lasso may always take."""

Path = list["Edge"]
_Arrives = Callable[[int, int], bool]


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
    ways = Paths(graph, meter)
    prefix, cycle = yield from ways.lasso_in(part)
    best, start = len(prefix) + len(cycle), -1
    most_work = PER_STATE * len(depths) + PER_EDGE * graph.n_edges
    ways.left = max(_LEAST_WORK, most_work)
    for state in (yield from _promising(graph, goal, depths, meter)):
        longest = best - depths[state]  # longer cycles are not worth it
        if longest <= 0 or ways.left <= 0:
            break
        found = yield from ways.cycle(state, goal, longest)
        if found is not None:
            best, start, cycle = depths[state] - 1 + len(found), state, found
    complete, ways.left = ways.left > 0, math.inf
    if start >= 0:
        prefix = yield from ways.to({start})
    return prefix, cycle, complete


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


class Paths:
    """Shortest paths in a graph, found breadth first while there is work `left`."""

    def __init__(self, graph: Graph, meter: Meter) -> None:
        self.left = math.inf
        self._graph, self._meter = graph, meter
        self._initial = range(graph.n_initial)

    def to(self, states: Collection[int]) -> Job[Path]:
        """Return a path from an initial state to one of some states."""
        if not set(self._initial).isdisjoint(states):
            return []
        return (yield from self._hop(self._initial, lambda dst, _: dst in states))

    def cycle(self, start: int, goal: Condition, longest: int) -> Job[Path | None]:
        """Return an accepting cycle through a state, of at most so many steps."""

        def arrives(dst: int, seen: int) -> bool:
            return dst == start and goal.satisfied_by(seen)

        return self._found([start], arrives, longest, relevant=goal.marks)

    def lasso_in(self, part: Part) -> Job[tuple[Path, Path]]:
        """Return the transitions of an accepting run that ends in a part.

        The prefix is a shortest one to the part.  From there each next step goes the
        shortest way to a mark that is still missing, and in the end back.
        """
        prefix = yield from self.to(part.states)
        inside = (state for state in self._initial if state in part.states)
        start = at = prefix[-1][0] if prefix else next(inside)
        missing = part.needed
        cycle: Path = []
        while missing or at != start or not cycle:

            def arrives(dst: int, marks: int, missing: int = missing) -> bool:
                return marks & missing != 0 if missing else dst == start

            for edge in (yield from self._hop([at], arrives, part)):
                at, marks, _ = edge
                missing &= ~marks
                cycle.append(edge)
        return prefix, cycle

    def _hop(
        self, starts: Sequence[int], arrives: _Arrives, part: Part | None = None
    ) -> Job[Path]:
        """Return a shortest path, which exists; `arrives` looks at its last step."""
        found = yield from self._found(starts, arrives, part=part)
        assert found is not None  # an SCC has a path to each of its transitions
        return found

    def _found(
        self,
        starts: Sequence[int],
        arrives: _Arrives,
        longest: float = math.inf,
        *,
        relevant: int = 0,
        part: Part | None = None,
    ) -> Job[Path | None]:
        """Return a shortest path inside a part, of at most so many steps.

        It `arrives` at a state with the marks of its last step, and those of `relevant`
        that it has seen before.
        """
        followers, meter = self._graph.followers, self._meter
        inside, avoided, _ = part or Part(range(len(followers)), 0, 0)
        per_edge = _PER_PAIR if relevant else PER_EDGE
        level = [(state, 0) for state in starts]
        came: dict[tuple[int, int], tuple[tuple[int, int], Edge] | None]
        came = dict.fromkeys(level)
        while level and longest > 0:
            following = []
            for pair in level:
                edges = followers[pair[0]]
                for edge in edges:
                    dst, marks, _ = edge
                    if marks & avoided or dst not in inside:
                        continue
                    seen = pair[1] | marks
                    if arrives(dst, seen):
                        path, before = [edge], came[pair]
                        while before is not None:
                            path.append(before[1])
                            before = came[before[0]]
                        return path[::-1]
                    target = (dst, seen & relevant)
                    if target not in came:
                        came[target] = (pair, edge)
                        following.append(target)
                spent = PER_STATE + per_edge * len(edges)
                self.left -= spent
                meter.work += spent
                if self.left <= 0:
                    return None
                if meter.work > meter.limit:
                    yield from meter.report()
            level, longest = following, longest - 1
        return None

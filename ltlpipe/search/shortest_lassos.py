"""A shortest lasso of a graph: for each start, a shortest accepting cycle through it.

A breadth-first search over pairs (state, marks seen) finds a shortest accepting cycle
through a state.  Lower bounds keep it small:

* Every accepting cycle has a transition with each *necessary* mark, one that all
  accepting sets of marks have.  How far the nearest such transition is, ahead of a
  state and behind it, is known for all states from two breadth-first searches per
  mark.  With the distance from the initial state that bounds each lasso whose cycle
  begins in the state: states are tried in this order, until none can be better.
* A pair is left out if the nearest transition with a missing mark is too far.
* So is one from which the start is too far: those distances are found backwards from
  each start, as far as a better cycle can reach.

A cycle begins best where it is nearest to the initial state.  So it is looked for among
states that are no nearer than its start; and its last transition comes from one of
them, at depth d, say, so that the lasso has at least d + 1 steps.

Sources: P. Gastin and P. Moro, "Minimal Counterexample Generation for SPIN", SPIN 2007,
LNCS 4595, pp. 24-38 (one mark); H. Hansen and A. Kervinen, "Minimal Counterexamples in
O(n log n) Memory and O(n^2) Time", ACSD 2006, pp. 131-142.

Differences from the sources: any acceptance condition, by the set of marks that a cycle
has seen; the bounds, the order that comes from them, and where a cycle begins.

Cost: 12 bytes for each pair of a state and a set of marks, 4 for each transition and
each state and necessary mark, 32 for each state; for each start at most one look at
every transition, and one more per set of marks.

The shortest accepting lasso in a product that is stored with its transitions.

A lasso has a length: the steps of its prefix and of its cycle together.  Of the SCCs
that may be accepting, and are near enough, a graph is made, in which
`ltlpipe.search.shortest_lassos` looks for the cycle; a shortest way there is stored.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import marks_in
from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import ProductLasso
from ltlpipe.search.exploring import Breadth
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import Recording

PAIR_BYTES = 12
"""For each pair of a state and a set of marks."""

EDGE_WORK = 0.01
"""Microseconds for a look at a transition."""

_SORT_WORK = 0.1  # microseconds for a transition that is sorted
_BUDGET = 1 << 21  # transitions that one call looks at
_FAR = 1 << 30  # no way leads there


class Graph(NamedTuple):
    """The part of a product in which accepting cycles lie: n states, m transitions."""

    depths: np.ndarray  # int32[n], distances from the initial state
    first: np.ndarray  # int64[n + 1]
    dst: np.ndarray  # int32[m]
    seen: np.ndarray  # int32[m], marks as bits of `accepts`
    accepts: np.ndarray  # bool[2^k], whether a cycle with these marks is accepting

    @property
    def n_pairs(self) -> int:
        """States times sets of marks."""
        return len(self.depths) * len(self.accepts)

    @property
    def necessary(self) -> np.ndarray:
        """The marks of all accepting sets, as numbers of bits, int32."""
        sets = np.flatnonzero(self.accepts)
        common = int(np.bitwise_and.reduce(sets)) if len(sets) else 0
        bits = [k for k in range(len(self.accepts).bit_length()) if common >> k & 1]
        return np.array(bits, dtype=np.int32)

    @property
    def needed_bytes(self) -> int:
        """What `shortest_cycle` allocates."""
        per_state = 40 + 12 * len(self.necessary)
        return (
            PAIR_BYTES * self.n_pairs
            + per_state * len(self.depths)
            + 20 * len(self.dst)
        )


class Backwards(NamedTuple):
    """The transitions of a graph by their targets."""

    first: np.ndarray  # int64[n + 1]
    src: np.ndarray  # int32[m]


class Bounds(NamedTuple):
    """Lower bounds of what accepting cycles take: k necessary marks."""

    bits: np.ndarray  # int32[k], the marks
    ahead: np.ndarray  # int32[k, n], least steps until a transition has the mark
    order: np.ndarray  # int32[n], the states in which a cycle may begin, best first
    least: np.ndarray  # int64[n], no lasso whose cycle begins in order[i] is shorter


class Room(NamedTuple):
    """Arrays of the search for a cycle."""

    home: np.ndarray  # int32[n], distance to the start, -1 if too far or not among them
    homes: np.ndarray  # int32[n], the states that are near enough
    came: np.ndarray  # int32[n * 2^k], the pair before each pair; -1 not met
    by: np.ndarray  # int32[n * 2^k], the transition between
    queue: np.ndarray  # int32[n * 2^k], pairs that have been met
    cycle: np.ndarray  # int32[c], the transitions of the best; c >= the first bound


class Place(IntEnum):
    """Places in the registers of `cycle_step`."""

    START = 0  # place of the start in `order`
    STAGE = 1  # of what is done for it: a `Stage`
    HOMES = 2  # states whose distance to it is known
    HEAD = 3  # of the queue
    TAIL = 4
    LEVEL_END = 5  # end of the pairs that are `STEPS` steps away
    STEPS = 6
    BEST = 7  # length of the best lasso; none is wanted that is as long
    BEST_STATE = 8  # where its cycle begins, -1 if there is none
    BEST_LENGTH = 9  # of the cycle


class Stage(IntEnum):
    """What is done for a start."""

    BEGIN = 0
    HOME = 1  # distances to it
    AWAY = 2  # a cycle through it


class Cycle(NamedTuple):
    """What `shortest_cycle` has found."""

    state: int  # where it begins
    transitions: np.ndarray  # int32[c]


def shortest_cycle(
    graph: Graph, bound: int, most_work: float, progress: Progress
) -> Job[tuple[Cycle | None, bool]]:
    """Look for the cycle of a shortest lasso.

    Parameters
    ----------
    graph : Graph
        Where to look.
    bound : int
        A lasso is looked for that has fewer steps than that.
    most_work : float
        Units of work after which the best so far has to do.
    progress : Progress
        What to say between two calls of a kernel, but for the work.

    Returns
    -------
    cycle : Cycle or None
        None if there is none.
    complete : bool
        Whether there is no better one.
    """
    backwards = _reversed(graph)
    yield progress._replace(work=len(graph.dst) * _SORT_WORK)
    bounds = yield from _bounds(graph, backwards, bound, progress)
    n = len(graph.depths)
    room = Room(
        home=np.full(n, -1, dtype=np.int32),
        homes=np.zeros(n, dtype=np.int32),
        came=np.full(graph.n_pairs, -1, dtype=np.int32),
        by=np.zeros(graph.n_pairs, dtype=np.int32),
        queue=np.zeros(graph.n_pairs, dtype=np.int32),
        cycle=np.zeros(bound, dtype=np.int32),
    )
    at = np.zeros(len(Place), dtype=np.int64)
    at[Place.BEST], at[Place.BEST_STATE] = bound, -1
    yield progress._replace(work=len(graph.dst) * 2 * EDGE_WORK)
    work, complete = 0.0, False
    while work <= most_work and not complete:
        status = yield from called(
            cycle_step, graph, backwards, bounds, room, at, _BUDGET
        )
        complete = status == Status.EMPTY
        work += _BUDGET * EDGE_WORK
        if not complete:
            yield progress._replace(work=_BUDGET * EDGE_WORK)
    if at[Place.BEST_STATE] < 0:
        return None, complete
    found = room.cycle[: at[Place.BEST_LENGTH]]
    return Cycle(int(at[Place.BEST_STATE]), found), complete


def _reversed(graph: Graph) -> Backwards:
    """Return the transitions by their targets."""
    n = len(graph.depths)
    src = np.repeat(np.arange(n, dtype=np.int32), np.diff(graph.first))
    first = np.concatenate([[0], np.cumsum(np.bincount(graph.dst, minlength=n))])
    return Backwards(first, src[np.argsort(graph.dst, kind="stable")])


def _bounds(
    graph: Graph, backwards: Backwards, bound: int, progress: Progress
) -> Job[Bounds]:
    """Return what no accepting cycle can be shorter than."""
    bits, n = graph.necessary, len(graph.depths)
    ahead = np.full((len(bits), n), _FAR, dtype=np.int32)
    longest = np.ones(n, dtype=np.int64)  # of the least lengths for one mark
    src = np.repeat(np.arange(n, dtype=np.int32), np.diff(graph.first))
    for k, bit in enumerate(bits.tolist()):
        marked = (graph.seen >> bit & 1).astype(np.bool_)
        behind = np.full(n, _FAR, dtype=np.int32)
        for distance, sources, way in (
            (ahead[k], src[marked], (backwards.first, backwards.src)),
            (behind, graph.dst[marked], (graph.first, graph.dst)),
        ):
            is_source = np.zeros(n, dtype=np.bool_)
            is_source[sources] = True
            yield from _spread(distance, np.flatnonzero(is_source), way, progress)
        with_mark = ahead[k].astype(np.int64) + behind - 1
        np.maximum(longest, with_mark, out=longest)
    least = np.maximum(graph.depths + longest, _least_returns(graph, src))
    order = np.flatnonzero(least < bound)
    order = order[np.argsort(least[order], kind="stable")]
    return Bounds(bits, ahead, order.astype(np.int32), least[order])


def _least_returns(graph: Graph, src: np.ndarray) -> np.ndarray:
    """Return the least steps of a lasso whose cycle begins, and is nearest to the
    initial state, in each state: `_FAR` where no transition leads back, int32[n].
    """
    depths = graph.depths
    least = np.full(len(depths), _FAR, dtype=np.int32)
    back = np.flatnonzero(depths[src] >= depths[graph.dst])
    np.minimum.at(least, graph.dst[back], depths[src[back]] + 1)
    return least


def _spread(
    distance: np.ndarray,
    sources: np.ndarray,
    way: tuple[np.ndarray, np.ndarray],
    progress: Progress,
) -> Job[None]:
    """Write distances from states, which are 1 themselves, along transitions."""
    queue = np.empty(len(distance), dtype=np.int32)
    queue[: len(sources)] = sources
    distance[sources] = 1
    ends = np.array([0, len(sources)], dtype=np.int64)
    while True:
        status = yield from called(spread_step, *way, distance, queue, ends, _BUDGET)
        yield progress._replace(work=min(_BUDGET, len(way[1])) * EDGE_WORK)
        if status == Status.EMPTY:
            return


@njit
def spread_step(first, dst, distance, queue, ends, budget):
    """Go on with a breadth-first search; RUNNING after `budget` transitions, or EMPTY.

    distance : int32[n]
        Of states that have not been met `_FAR`.
    queue : int32[n], ends : int64[2]
        States that have been met; ends are those of the queue.
    """
    while ends[0] < ends[1]:
        if budget <= 0:
            return Status.RUNNING
        state = queue[ends[0]]
        for edge in range(first[state], first[state + 1]):
            target = dst[edge]
            if distance[target] == _FAR:
                distance[target] = distance[state] + 1
                queue[ends[1]] = target
                ends[1] += 1
        budget -= 1 + first[state + 1] - first[state]
        ends[0] += 1
    return Status.EMPTY


@njit
def cycle_step(graph, backwards, bounds, room, at, budget):
    """Look for shorter lassos; return RUNNING after `budget` transitions, else EMPTY.

    `at` are registers, see `Place`.
    """
    while at[Place.START] < bounds.order.shape[0]:
        start = bounds.order[at[Place.START]]
        if bounds.least[at[Place.START]] >= at[Place.BEST]:
            return Status.EMPTY  # so are all behind it
        longest = at[Place.BEST] - 1 - graph.depths[start]
        if at[Place.STAGE] == Stage.BEGIN:
            room.homes[0] = start
            room.home[start] = 0
            at[Place.HEAD], at[Place.TAIL] = 0, 1
            at[Place.STAGE] = Stage.HOME
        if at[Place.STAGE] == Stage.HOME:
            budget = go_backwards(graph, backwards, room, at, longest, budget)
            if budget <= 0:
                return Status.RUNNING
            begin_away(graph, room, at, start)
        budget = go_away(graph, bounds, room, at, start, longest, budget)
        if budget <= 0:
            return Status.RUNNING
        forget(room, at)
        at[Place.STAGE] = Stage.BEGIN
        at[Place.START] += 1
    return Status.EMPTY


@inlined
def go_backwards(graph, backwards, room, at, longest, budget):
    """Write distances to the start, from states that are no nearer to the initial one.

    Return the budget that is left, <= 0 to go on.
    """
    nearest = graph.depths[room.homes[0]]
    while at[Place.HEAD] < at[Place.TAIL]:
        if budget <= 0:
            break
        state = room.homes[at[Place.HEAD]]
        if room.home[state] + 1 >= longest:  # with a step from the start: too long
            break
        for edge in range(backwards.first[state], backwards.first[state + 1]):
            src = backwards.src[edge]
            if room.home[src] < 0 and graph.depths[src] >= nearest:
                room.home[src] = room.home[state] + 1
                room.homes[at[Place.TAIL]] = src
                at[Place.TAIL] += 1
        budget -= 1 + backwards.first[state + 1] - backwards.first[state]
        at[Place.HEAD] += 1
    return budget


@inlined
def begin_away(graph, room, at, start):
    """Begin the search for a cycle, without any mark seen."""
    pair = start * graph.accepts.shape[0]
    room.queue[0] = room.came[pair] = pair
    at[Place.HOMES] = at[Place.TAIL]
    at[Place.HEAD] = at[Place.STEPS] = 0
    at[Place.TAIL] = at[Place.LEVEL_END] = 1
    at[Place.STAGE] = Stage.AWAY


@inlined
def go_away(graph, bounds, room, at, start, longest, budget):
    """Look for a cycle; return the budget that is left, <= 0 to go on."""
    n_sets = graph.accepts.shape[0]
    while at[Place.HEAD] < at[Place.TAIL]:
        if at[Place.HEAD] == at[Place.LEVEL_END]:
            at[Place.STEPS] += 1
            at[Place.LEVEL_END] = at[Place.TAIL]
        if at[Place.STEPS] >= longest or budget <= 0:
            break
        pair = room.queue[at[Place.HEAD]]
        src, marks = pair // n_sets, pair % n_sets
        left = longest - at[Place.STEPS] - 1
        for edge in range(graph.first[src], graph.first[src + 1]):
            state, now = graph.dst[edge], marks | graph.seen[edge]
            if state == start and graph.accepts[now]:
                note_cycle(room, at, pair, edge)
                at[Place.BEST] = graph.depths[start] + at[Place.BEST_LENGTH]
                at[Place.BEST_STATE] = start
                return budget
            if room.came[state * n_sets + now] < 0 and is_near(
                bounds, room, state, now, left
            ):
                room.came[state * n_sets + now] = pair
                room.by[state * n_sets + now] = edge
                room.queue[at[Place.TAIL]] = state * n_sets + now
                at[Place.TAIL] += 1
        budget -= 1 + graph.first[src + 1] - graph.first[src]
        at[Place.HEAD] += 1
    return budget


@inlined
def is_near(bounds, room, state, marks, left):
    """Whether the start, and each necessary mark that is missing, may be in reach."""
    if room.home[state] < 0 or room.home[state] > left:
        return False
    for k in range(bounds.bits.shape[0]):
        if marks >> bounds.bits[k] & 1 == 0 and bounds.ahead[k, state] > left:
            return False
    return True


@inlined
def note_cycle(room, at, pair, edge):
    """Write the cycle that a transition closes, from the pair that it leaves back."""
    length = at[Place.STEPS] + 1
    room.cycle[length - 1] = edge
    for k in range(length - 2, -1, -1):
        room.cycle[k] = room.by[pair]
        pair = room.came[pair]
    at[Place.BEST_LENGTH] = length


@inlined
def forget(room, at):
    """Make the arrays ready for the next start."""
    for k in range(at[Place.HOMES]):
        room.home[room.homes[k]] = -1
    for k in range(at[Place.TAIL]):
        room.came[room.queue[k]] = -1


MOST_MARKS = 12
"""Marks of a condition for which sets of them are enumerated."""

_PER_EDGE = 40  # bytes, while SCCs are looked for


class Stored(NamedTuple):
    """The SCCs of what is stored that may be accepting."""

    graph: Graph
    states: np.ndarray  # int32[n], their ids in the store, ascending
    edges: np.ndarray  # int64[m], places of the transitions in the recording


def shortest_in(
    recording: Recording, bound: int, *, most_work: float = np.inf
) -> Job[tuple[ProductLasso | None, bool]]:
    """Look for a shortest accepting lasso of fewer than `bound` steps.

    Parameters
    ----------
    recording : Recording
        What has been stored; states that have not been expanded have no successors.
    bound : int
        The length of the best lasso that is known.
    most_work : float
        Units of work after which the best so far has to do.

    Returns
    -------
    lasso : ProductLasso or None
        None if there is none, or the marks and states are too many.
    complete : bool
        Whether no shorter one is in what has been stored.
    """
    condition = recording.problem.acceptance
    marks = marks_in(condition.marks)
    if len(marks) > MOST_MARKS:
        return None, False
    n_edges = recording.n_transitions
    held = recording.memory_bytes
    yield Progress(
        EXTRACTING, memory_bytes=held + _PER_EDGE * n_edges + 20 * recording.n_stored
    )
    found = yield from _stored(recording, condition, marks, bound)
    graph = found.graph
    if len(found.states) == 0:
        return None, True
    held += graph.needed_bytes
    progress = Progress(EXTRACTING, memory_bytes=held)
    grant = yield progress._replace(work=n_edges * 5 * EDGE_WORK)
    if graph.n_pairs > np.iinfo(np.int32).max or held > grant.memory_bytes:
        return None, False
    cycle, complete = yield from shortest_cycle(graph, bound, most_work, progress)
    if cycle is None:
        return None, complete
    state = int(found.states[cycle.state])
    return _lasso(recording, state, found.edges[cycle.transitions]), complete


def _stored(
    recording: Recording, condition: Condition, marks: list[int], bound: int
) -> Job[Stored]:
    """Return the SCCs that may be accepting, near enough to the initial state."""
    arrays, registers = recording.arrays, recording.registers
    n, n_expanded = recording.n_stored, int(registers[Reg.VISITED])
    m = recording.n_transitions
    first = np.full(n + 1, m, dtype=np.int64)
    first[0], first[1 : n_expanded + 1] = 0, arrays.ends[:n_expanded]
    held = recording.memory_bytes + _PER_EDGE * m
    progress = Progress(EXTRACTING, memory_bytes=held)
    scc, count = yield from sccs_of(first, arrays.dst[:m], progress)
    array_work = progress._replace(work=m * EDGE_WORK)
    yield array_work
    src = np.repeat(np.arange(n, dtype=np.int32), np.diff(first))
    inside = scc[src] == scc[arrays.dst[:m]]
    yield array_work
    seen = _renumbered(arrays.marks[:m], marks)
    yield array_work
    accepts = _accepted(condition, marks)
    may_accept = _promising(scc[src[inside]], seen[inside], accepts, count)
    depths = (
        np.searchsorted(
            arrays.levels[: registers[Breadth.N_LEVELS]], np.arange(n), side="right"
        )
        - 1
    )
    depths[n_expanded:] = bound  # no transition leaves them
    chosen = np.flatnonzero(may_accept[scc] & (depths < bound - 1))
    yield array_work
    place = np.full(n, -1, dtype=np.int32)
    place[chosen] = np.arange(len(chosen))
    kept = np.flatnonzero(inside & (place[src] >= 0) & (place[arrays.dst[:m]] >= 0))
    counts = np.bincount(place[src[kept]], minlength=len(chosen))
    graph = Graph(
        depths=depths[chosen].astype(np.int32),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        dst=place[arrays.dst[kept]],
        seen=seen[kept],
        accepts=accepts,
    )
    return Stored(graph, chosen.astype(np.int32), kept)


def _renumbered(edge_marks: np.ndarray, marks: list[int]) -> np.ndarray:
    """Return the marks of transitions as bits 0, 1, ... for `marks`."""
    seen = np.zeros(len(edge_marks), dtype=np.int32)
    for bit, mark in enumerate(marks):
        seen |= ((edge_marks >> np.uint32(mark)) & np.uint32(1)).astype(np.int32) << bit
    return seen


def _accepted(condition: Condition, marks: list[int]) -> np.ndarray:
    """Return whether each set of marks, bits 0, 1, ..., satisfies a condition."""
    sets = [0]
    for mark in marks:
        sets += [chosen | 1 << mark for chosen in sets]
    return np.array([condition.satisfied_by(chosen) for chosen in sets])


def _promising(
    scc: np.ndarray, seen: np.ndarray, accepts: np.ndarray, count: int
) -> np.ndarray:
    """Return bool[count]: SCCs with a transition whose marks allow an accepting cycle.

    A set of marks does if one of its subsets accepts.
    """
    n_sets = len(accepts)
    allows = accepts.copy()
    for bit in range(n_sets.bit_length() - 1):
        sets = np.flatnonzero(np.arange(n_sets) >> bit & 1)
        allows[sets] |= allows[sets ^ (1 << bit)]
    together = np.zeros(count, dtype=np.int32)
    np.bitwise_or.at(together, scc, seen)
    has_any = np.zeros(count, dtype=np.bool_)
    has_any[scc] = True
    return np.asarray(has_any & allows[together])


def _lasso(recording: Recording, state: int, edges: np.ndarray) -> ProductLasso:
    """Return the lasso with a shortest prefix to a state and a cycle from there."""
    arrays = recording.arrays
    prefix = [state]
    while prefix[-1] >= recording.n_initial:
        prefix.append(int(arrays.parent[prefix[-1]]))
    prefix.reverse()
    steps = [_edge_between(recording, src, dst) for src, dst in pairwise(prefix)]
    return ProductLasso(
        prefix=np.array(prefix, dtype=np.int32),
        cycle=np.concatenate([[state], arrays.dst[edges]]).astype(np.int32),
        prefix_actions=arrays.actions[np.array(steps, dtype=np.int64)],
        cycle_actions=arrays.actions[edges],
    )


def _edge_between(recording: Recording, src: int, dst: int) -> int:
    """Return the first recorded transition between two states."""
    arrays = recording.arrays
    begin = int(arrays.ends[src - 1]) if src else 0
    leads = arrays.dst[begin : arrays.ends[src]] == dst
    return begin + int(np.flatnonzero(leads)[0])

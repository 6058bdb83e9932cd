"""The shortest accepting lasso in a product that is stored with its transitions.

A lasso has a length: the steps of its prefix and of its cycle together.  For each state
of an SCC that may be accepting, in order of its distance from the initial state, a
breadth-first search over pairs (state, marks seen) looks for a shortest accepting cycle
through it, no longer than what would make a shorter lasso than the best so far.

Sources: P. Gastin and P. Moro, "Minimal Counterexample Generation for SPIN", SPIN 2007,
LNCS 4595, pp. 24-38 (one mark); H. Hansen and A. Kervinen, "Minimal Counterexamples in
O(n log n) Memory and O(n^2) Time", ACSD 2006, pp. 131-142.

Differences from the sources: any acceptance condition, by the set of marks that a cycle
has seen; states in order of their distance, so that the search ends where no shorter
lasso is possible; all in a product that is explored as far as the bound demands.

Cost: 12 bytes for each pair of a state, of an SCC that may be accepting, and a set of
marks; at most one look at every transition of such an SCC per state and set.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Op, generalised_buchi, marks_in
from ltlpipe.reduction.equivalence.silent_sccs import sccs_of
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import ProductLasso
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.search.shortest.recording import Recording

PAIR_BYTES = 12
"""Of the search for a cycle, for each pair of a state and a set of marks."""

MOST_MARKS = 12
"""Marks of a condition for which sets of them are enumerated."""

_EDGE_WORK = 0.01  # microseconds for a look at a transition
_BUDGET = 1 << 21  # transitions that one call looks at
_PER_EDGE = 40  # bytes, while SCCs are looked for


class Graph(NamedTuple):
    """The part of a product in which accepting cycles lie: n states, m transitions."""

    states: np.ndarray  # int32[n], their ids in the store, ascending
    depths: np.ndarray  # int32[n], distances from the initial state
    first: np.ndarray  # int64[n + 1]
    dst: np.ndarray  # int32[m], places in `states`
    seen: np.ndarray  # int32[m], marks as bits of `accepts`
    edges: np.ndarray  # int64[m], places in the recording
    accepts: np.ndarray  # bool[2^k], whether a cycle with these marks is accepting


class Place(IntEnum):
    """Places in the registers of `cycle_step`."""

    STATE = 0  # the state through which a cycle is looked for
    HEAD = 1  # of the queue
    TAIL = 2
    LEVEL_END = 3  # end of the pairs that are `STEPS` steps away
    STEPS = 4
    BEST = 5  # length of the best lasso; none is wanted that is as long
    BEST_STATE = 6  # where its cycle begins, -1 if there is none
    BEST_LENGTH = 7  # of the cycle


@njit
def cycle_step(first, dst, seen, depths, accepts, came, by, queue, cycle, at, budget):
    """Look for shorter lassos; return RUNNING after `budget` transitions, else EMPTY.

    came, by int32[n * 2^k]
        The pair before each pair, -1 where not yet met, and the transition between.
    queue : int32[n * 2^k]
        Room for the pairs that have been met.
    cycle : int32[c]
        The transitions of the best cycle; c >= the first bound.
    at : int64[...]
        Registers; see `Place`.
    """
    n_sets = accepts.shape[0]
    n = depths.shape[0]
    while at[Place.STATE] < n:
        state = at[Place.STATE]
        left = at[Place.BEST] - 1 - depths[state]  # the longest cycle that is worth it
        if left <= 0:
            return Status.EMPTY  # all others are farther away
        if at[Place.TAIL] == 0:
            queue[0] = state * n_sets
            came[state * n_sets] = state * n_sets
            at[Place.HEAD] = at[Place.STEPS] = 0
            at[Place.TAIL] = at[Place.LEVEL_END] = 1
        closed = False
        while at[Place.HEAD] < at[Place.TAIL] and not closed:
            if at[Place.HEAD] == at[Place.LEVEL_END]:
                at[Place.STEPS] += 1
                at[Place.LEVEL_END] = at[Place.TAIL]
            if at[Place.STEPS] >= left:
                break
            if budget <= 0:
                return Status.RUNNING
            pair = queue[at[Place.HEAD]]
            src, marks = pair // n_sets, pair % n_sets
            for edge in range(first[src], first[src + 1]):
                now = marks | seen[edge]
                target = dst[edge] * n_sets + now
                if dst[edge] == state and accepts[now]:
                    note_cycle(came, by, pair, edge, cycle, at)
                    at[Place.BEST] = depths[state] + at[Place.BEST_LENGTH]
                    closed = True
                    break
                if came[target] < 0:
                    came[target] = pair
                    by[target] = edge
                    queue[at[Place.TAIL]] = target
                    at[Place.TAIL] += 1
            budget -= 1 + first[src + 1] - first[src]
            at[Place.HEAD] += 1
        for k in range(at[Place.TAIL]):
            came[queue[k]] = -1
        at[Place.TAIL] = 0
        at[Place.STATE] += 1
    return Status.EMPTY


@inlined
def note_cycle(came, by, pair, edge, cycle, at):
    """Write the cycle that a transition closes, from the pair that it leaves back."""
    length = at[Place.STEPS] + 1
    cycle[length - 1] = edge
    for k in range(length - 2, -1, -1):
        cycle[k] = by[pair]
        pair = came[pair]
    at[Place.BEST_STATE] = at[Place.STATE]
    at[Place.BEST_LENGTH] = length


def condition_of(problem: Problem) -> Condition:
    """Return the acceptance of a product as a condition."""
    return problem.condition or generalised_buchi(problem.n_marks)


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
    condition = condition_of(recording.problem)
    marks = marks_in(condition.marks)
    if len(marks) > MOST_MARKS:
        return None, False
    n_edges = int(recording.registers[Reg.N_EDGES])
    held = recording.memory_bytes
    yield Progress(
        EXTRACTING, memory_bytes=held + _PER_EDGE * n_edges + 20 * recording.n_stored
    )
    graph = yield from _graph(recording, condition, marks, bound)
    needed = PAIR_BYTES * len(graph.states) * len(graph.accepts)
    if len(graph.states) == 0:
        return None, True
    grant = yield Progress(
        EXTRACTING, work=n_edges * 5 * _EDGE_WORK, memory_bytes=held + needed
    )
    too_many = len(graph.states) * len(graph.accepts) > np.iinfo(np.int32).max
    if too_many or held + needed > grant.memory_bytes:
        return None, False
    at, cycle, complete = yield from _cycle(graph, bound, most_work, held + needed)
    if at[Place.BEST_STATE] < 0:
        return None, complete
    edges = graph.edges[cycle[: at[Place.BEST_LENGTH]]]
    state = int(graph.states[at[Place.BEST_STATE]])
    return _lasso(recording, state, edges), complete


def _cycle(
    graph: Graph, bound: int, most_work: float, held_bytes: float
) -> Job[tuple[np.ndarray, np.ndarray, bool]]:
    """Return the registers, the best cycle, and whether the search came to its end."""
    n_pairs = len(graph.states) * len(graph.accepts)
    at = np.zeros(len(Place), dtype=np.int64)
    at[Place.BEST], at[Place.BEST_STATE] = bound, -1
    cycle = np.zeros(bound, dtype=np.int32)
    came = np.full(n_pairs, -1, dtype=np.int32)
    by = np.zeros(n_pairs, dtype=np.int32)
    queue = np.zeros(n_pairs, dtype=np.int32)
    work = 0.0
    while True:
        status = yield from called(
            cycle_step,
            *(graph.first, graph.dst, graph.seen, graph.depths, graph.accepts),
            *(came, by, queue, cycle, at, _BUDGET),
        )
        if status == Status.EMPTY:
            return at, cycle, True
        work += _BUDGET * _EDGE_WORK
        if work > most_work:
            return at, cycle, False
        yield Progress(EXTRACTING, work=_BUDGET * _EDGE_WORK, memory_bytes=held_bytes)


def _graph(
    recording: Recording, condition: Condition, marks: list[int], bound: int
) -> Job[Graph]:
    """Return the SCCs that may be accepting, near enough to the initial state."""
    arrays, registers = recording.arrays, recording.registers
    n, n_expanded = recording.n_stored, int(registers[Reg.VISITED])
    m = int(registers[Reg.N_EDGES])
    first = np.full(n + 1, m, dtype=np.int64)
    first[:n_expanded] = arrays.first[:n_expanded]
    held = recording.memory_bytes + _PER_EDGE * m
    progress = Progress(EXTRACTING, memory_bytes=held)
    scc, count = yield from sccs_of(first, arrays.dst[:m], progress)
    array_work = progress._replace(work=m * _EDGE_WORK)
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
            arrays.levels[: registers[Reg.N_LEVELS]], np.arange(n), side="right"
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
    return Graph(
        states=chosen.astype(np.int32),
        depths=depths[chosen].astype(np.int32),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        dst=place[arrays.dst[kept]],
        seen=seen[kept],
        edges=kept,
        accepts=accepts,
    )


def _renumbered(edge_marks: np.ndarray, marks: list[int]) -> np.ndarray:
    """Return the marks of transitions as bits 0, 1, ... for `marks`."""
    seen = np.zeros(len(edge_marks), dtype=np.int32)
    for bit, mark in enumerate(marks):
        seen |= ((edge_marks >> np.uint32(mark)) & np.uint32(1)).astype(np.int32) << bit
    return seen


def _accepted(condition: Condition, marks: list[int]) -> np.ndarray:
    """Return whether each set of marks, bits 0, 1, ..., satisfies a condition."""
    sets = np.arange(1 << len(marks))
    if not condition.parts:
        if condition.op in (Op.TRUE, Op.FALSE):
            return np.full(len(sets), condition.op == Op.TRUE)
        has = (sets >> marks.index(condition.mark) & 1).astype(np.bool_)
        return has if condition.op == Op.INF else ~has
    join = np.logical_and if condition.op == Op.AND else np.logical_or
    parts = [_accepted(part, marks) for part in condition.parts]
    return np.asarray(join.reduce(parts))


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
    while prefix[-1] != 0:
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
    begin = int(arrays.first[src])
    last = src + 1 == recording.registers[Reg.VISITED]
    end = int(recording.registers[Reg.N_EDGES] if last else arrays.first[src + 1])
    return begin + int(np.flatnonzero(arrays.dst[begin:end] == dst)[0])

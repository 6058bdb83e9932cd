"""The shortest accepting lasso in a product that is stored with its transitions.

A lasso has a length: the steps of its prefix and of its cycle together.  Of the SCCs
that may be accepting, and are near enough, a graph is made, in which
`ltlpipe.search.shortest.cycles` looks for the cycle; a shortest way there is stored.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Op, generalised_buchi, marks_in
from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.runtime.jobs import Progress
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import ProductLasso
from ltlpipe.search.registers import Reg
from ltlpipe.search.shortest.cycles import EDGE_WORK, Graph, shortest_cycle
from ltlpipe.search.shortest.recording import Breadth

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.search.shortest.recording import Recording

MOST_MARKS = 12
"""Marks of a condition for which sets of them are enumerated."""

_PER_EDGE = 40  # bytes, while SCCs are looked for


class Stored(NamedTuple):
    """The SCCs of what is stored that may be accepting."""

    graph: Graph
    states: np.ndarray  # int32[n], their ids in the store, ascending
    edges: np.ndarray  # int64[m], places of the transitions in the recording


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

"""The edges and states of a graph of Spot, read directly from memory.

Spot's Python interface takes microseconds for each access.  Spot keeps edges, and
states of Kripke structures, in one array each.  How its entries are laid out is found
out from graphs that are made for that, once per process, and what has been read is
compared with what the interface says, here and there; if anything differs, the
interface is used (`docs/decisions.md` has the times).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.fin_removal import marks_of
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job

READING = "reading"

_SAMPLES = 64  # edges or states of a graph that are read in both ways
_WORD = 4  # bytes of an entry's parts
_EDGE = 4.0  # microseconds to read one through the interface


def is_kripke(graph: Any) -> bool:
    """Whether a graph of Spot has its conditions on states."""
    import spot

    return isinstance(graph, spot.kripke_graph)


class Edges(NamedTuple):
    """Columns of edges as Spot has them; of Kripke structures without the last two."""

    src: np.ndarray  # int32[m]
    dst: np.ndarray  # int32[m]
    number: np.ndarray  # int32[m]
    condition: np.ndarray  # int32[m], the number of a BDD
    marks: np.ndarray  # uint32[m]


def all_edges(graph: Any) -> Job[Edges]:
    """Return all edges of a graph."""
    yield Progress(READING)
    found = _edges_in_memory(graph)
    if found is None:
        found = yield from edges_by_interface(graph)
    return found


def edges_by_interface(graph: Any) -> Job[Edges]:
    """Return all edges of a graph, read one by one."""
    ticks = Ticks(READING, _EDGE)
    rows: list[tuple[int, ...]] = []
    kripke = is_kripke(graph)
    for edge in graph.edges():
        number = graph.edge_number(edge) if not kripke else len(rows) + 1
        more = (0, 0) if kripke else (edge.cond.id(), marks_of(edge))
        rows.append((edge.src, edge.dst, number, *more))
        if ticks.over():
            yield ticks.progress
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    src, dst, number, condition = table[:, :4].T.astype(np.int32)
    return Edges(src, dst, number, condition, table[:, 4].astype(np.uint32))


def _edges_in_memory(graph: Any) -> Edges | None:
    """Return the edges as they lie in memory; None if that cannot be trusted."""
    kripke, n_edges = is_kripke(graph), graph.num_edges()
    layout = _edge_layout(kripke)
    if layout is None:
        return None
    if n_edges == 0:
        none = np.zeros(0, dtype=np.int32)
        return Edges(none, none, none, none, none.astype(np.uint32))
    first = graph.edge_storage(1)
    # Edges that were erased lead to themselves in the list of their source.  As many as
    # have been met are still to come behind those that are not erased.
    n_read = n_live = 0
    while n_live < n_edges:
        n_read += n_edges - n_live
        table = _memory(int(first.this), n_read, layout.width)
        live = table[:, layout.column["next"]] != np.arange(1, n_read + 1)
        n_live = int(np.count_nonzero(live))
    table = table[live]

    def column(name: str) -> np.ndarray:
        if name not in layout.column:
            return np.zeros(n_edges, dtype=np.uint32)
        entries: np.ndarray = table[:, layout.column[name]].copy()
        return entries

    number = np.flatnonzero(live).astype(np.int32) + 1
    edges = Edges(
        column("src").view(np.int32),
        column("dst").view(np.int32),
        number,
        column("condition").view(np.int32),
        column("marks"),
    )
    for k in _samples(n_edges):
        if _edge_of(graph.edge_storage(int(number[k]))) != tuple(
            int(edges[i][k]) for i in ((0, 1) if kripke else (0, 1, 3, 4))
        ):
            return None
    ends = np.concatenate([edges.src, edges.dst])
    fits = ends.min() >= 0 and ends.max() < graph.num_states()
    return edges if fits else None


def _edge_of(edge: Any) -> tuple[int, ...]:
    """Return what the interface says of an edge."""
    if hasattr(edge, "cond"):
        return edge.src, edge.dst, edge.cond.id(), marks_of(edge)
    return edge.src, edge.dst


def state_conditions(graph: Any) -> Job[np.ndarray]:
    """Return the numbers of the BDDs of a Kripke structure's states, int32[n]."""
    layout, n_states = _state_layout(), graph.num_states()
    if layout is not None:
        first = graph.state_from_number(0)
        table = _memory(int(first.this), n_states, layout.width)
        found = table[:, layout.column["condition"]].copy().view(np.int32)
        if all(
            state_condition(graph, state).id() == found[state]
            for state in _samples(n_states)
        ):
            return found
    ticks = Ticks(READING, _EDGE)
    found = np.zeros(n_states, dtype=np.int32)
    for state in range(n_states):
        found[state] = state_condition(graph, state).id()
        if ticks.over():
            yield ticks.progress
    return found


def state_condition(graph: Any, state: Any) -> Any:
    """Return the condition of a state of a Kripke structure."""
    return graph.state_condition(graph.state_from_number(int(state)))


def _samples(n: int) -> Iterator[int]:
    """Return some numbers below n, the first and the last among them."""
    return iter(np.unique(np.linspace(0, n - 1, _SAMPLES).astype(int)).tolist())


# --- where Spot keeps what ---------------------------------------------------


class _Layout(NamedTuple):
    """Which parts of the entries of one of Spot's arrays hold what."""

    width: int  # parts of an entry
    column: dict[str, int]


def _memory(address: int, n: int, width: int) -> np.ndarray:
    """Return n entries of an array of Spot, uint32[n, width]; it is not copied."""
    kind = ctypes.c_uint32 * (n * width)
    return np.ctypeslib.as_array(kind.from_address(address)).reshape(n, width)


def _layout_of(addresses: Sequence[int], known: dict[str, list[int]]) -> _Layout | None:
    """Find the columns of neighbouring entries; None if there is any doubt."""
    stride = addresses[1] - addresses[0]
    n = len(addresses)
    even = all(a == addresses[0] + k * stride for k, a in enumerate(addresses))
    if not even or stride <= 0 or stride % _WORD or stride > 16 * _WORD:
        return None
    table = _memory(addresses[0], n, stride // _WORD).tolist()
    column = {}
    for name, values in known.items():
        places = [
            place
            for place in range(stride // _WORD)
            if [row[place] for row in table] == values
        ]
        if len(places) != 1:
            return None
        column[name] = places[0]
    return _Layout(stride // _WORD, column)


@cache
def _edge_layout(kripke: bool) -> _Layout | None:
    """Find out how a graph's edges lie in memory, by one that is known."""
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    made = spot.make_kripke_graph if kripke else spot.make_twa_graph
    graph = made(spot.make_bdd_dict())
    a, b = (buddy.bdd_ithvar(graph.register_ap(name)) for name in "ab")
    conditions, marks = [a, a & b, buddy.bddtrue, b], [[0, 31], [3], [], [17]]
    src, dst = [5, 5, 6, 5], [7, 9, 8, 6]
    if kripke:
        for _ in range(10):
            graph.new_state(buddy.bddtrue)
        for one, other in zip(src, dst, strict=True):
            graph.new_edge(one, other)
    else:
        graph.set_generalized_buchi(32)
        graph.new_states(10)
        for edge in zip(src, dst, conditions, marks, strict=True):
            graph.new_edge(*edge)
    known = {"src": src, "dst": dst, "next": [2, 4, 0, 0]}
    if not kripke:
        known["condition"] = [c.id() for c in conditions]
        known["marks"] = [sum(1 << mark for mark in some) for some in marks]
    edges = [graph.edge_storage(number) for number in range(1, 5)]
    return _layout_of([int(edge.this) for edge in edges], known)


@cache
def _state_layout() -> _Layout | None:
    """Find out how the states of a Kripke structure lie in memory."""
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    graph = spot.make_kripke_graph(spot.make_bdd_dict())
    a, b = (buddy.bdd_ithvar(graph.register_ap(name)) for name in "ab")
    conditions = [b, a & b, a, buddy.bdd_not(a)]
    for condition in conditions:
        graph.new_state(condition)
    states = [graph.state_from_number(state) for state in range(4)]
    known = {"condition": [c.id() for c in conditions]}
    return _layout_of([int(state.this) for state in states], known)

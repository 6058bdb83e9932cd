"""Graphs of Spot: read into arrays, followed step by step, and made.

Conditions are BDDs.  Edges that have the same one, by its number, share it here, and
one object is kept for each: numbers of BDDs stay what they are as long as the graph
lives.

Edges and states are read directly from memory: Spot's Python interface takes
microseconds for each access.  Spot keeps edges, and states of Kripke structures, in one
array each.  Where the first and the last entry lie, and what some of them hold, is
compared with what the interface says; if anything differs from the layout of Spot 2.13,
the interface is used (`docs/decisions.md` has the times).

Graphs that are made here for users share a graph's BDD dictionary, or Spot's own, that
of ``spot.translate``, so that Spot can combine them with others.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import (
    FALSE,
    Condition,
    Shape,
    generalised_buchi,
    has_shape,
    marks_in,
)
from ltlpipe.automata.fin_removal import condition_of, marks_of
from ltlpipe.automata.hoa import parse_again
from ltlpipe.automata.structure import decided
from ltlpipe.logic.spot_graphs import automaton_of, valuation
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ltlpipe.runtime.jobs import Job


def is_graph(given: Any) -> bool:
    """Whether something is a graph of Spot; Spot is not imported to find out."""
    spot: Any = sys.modules.get("spot")
    return spot is not None and isinstance(given, (spot.twa_graph, spot.kripke_graph))


def is_automaton(given: Any) -> bool:
    """Whether something is a graph of Spot with its conditions on edges."""
    return is_graph(given) and not is_kripke(given)


def propositions_of(graph: Any) -> tuple[str, ...]:
    """Return the names of a graph's propositions, in its order."""
    return tuple(p.ap_name() for p in graph.ap())


class Columns(NamedTuple):
    """Edges of a graph, and conditions; see ``SpotGraph``."""

    src: np.ndarray
    dst: np.ndarray
    number: np.ndarray
    label: np.ndarray
    marks: np.ndarray
    conditions: list[Any]
    state_label: np.ndarray | None


class Lists(NamedTuple):
    """The edges of each state of an automaton as a list; m edges, counted from 1."""

    src: np.ndarray  # uint32[m + 1], as the next four
    dst: np.ndarray
    condition: np.ndarray  # the number of a BDD
    marks: np.ndarray  # those of `used` count
    following: np.ndarray  # the next edge of the same state, or 0
    first: np.ndarray  # uint32[n], the first edge of each state, or 0
    used: int


def graph_arrays(graph: Any) -> Job[dict[str, Any]]:
    """Read a graph: return the fields of a ``SpotGraph`` that are its own.

    Edges whose condition is false are left out.  Marks that the acceptance condition
    does not depend on are gone, the others renumbered.

    Raises
    ------
    UnsupportedError
        It has no states, or is alternating.
    """
    n_states = graph.num_states()
    if n_states == 0:
        raise UnsupportedError("the graph has no states")
    if not is_kripke(graph) and not graph.is_existential():
        raise UnsupportedError(
            "the graph is alternating; Spot's 'remove_alternation' makes it "
            "nondeterministic"
        )
    yield Progress(READING)
    found = _left_in_memory(graph)
    if found is None:
        found = yield from _read_at_once(graph)
    initial = graph.get_init_state_number()
    return {"n_states": n_states, "initial": initial, **found}


def _left_in_memory(graph: Any) -> dict[str, Any] | None:
    """Return fields of a graph whose edges are copied when they are asked for.

    None if some of its edges do not count, or marks have to be renumbered.
    """
    if is_kripke(graph) or _edge_table(graph) is None:
        return None
    lists = _lists_of(graph)
    if lists is None or not _all_count(graph, lists):
        return None
    n_edges, condition = graph.num_edges(), condition_of(graph)
    left = decided(condition, _extremes(lists.marks[1:], condition.marks))

    def again() -> Lists:
        """Return where the edges are now."""
        found = _lists_of(graph)
        if found is None or len(found.marks) != n_edges + 1:
            raise UnsupportedError("the graph has been changed since it was read")
        return found._replace(used=left.marks)

    def read() -> Columns:
        number = np.arange(1, n_edges + 1, dtype=np.int32)
        src, dst, condition, marks = (column[1:].copy() for column in again()[:4])
        label, conditions = _labels(graph, condition.view(np.int32), number)
        ends = src.view(np.int32), dst.view(np.int32)
        marks = _moved(marks, left.marks)
        return Columns(*ends, number, label, marks, conditions, None)

    return {"n_edges": n_edges, "read": read, "lists": again, **_accepting(left)}


def _extremes(marks: np.ndarray, telling: int) -> set[int]:
    """Return sets that have together, and in common, what all sets of marks have.

    As far as the marks go that are `telling`, as bits.  Mostly the first sets suffice.
    """
    for sets in (marks[:_PREFIX], marks):
        some = int(np.bitwise_or.reduce(sets))
        every = int(np.bitwise_and.reduce(sets))
        if not every & telling and not telling & ~some:
            break
    return {some, every}


def _lists_of(graph: Any) -> Lists | None:
    """Return the lists of edges of an automaton as they lie in memory.

    None if that is not the layout of Spot 2.13.
    """
    columns, n_edges = _COLUMNS[False], graph.num_edges()
    n_states = graph.num_states()
    ends = [int(graph.state_from_number(k).this) for k in (0, n_states - 1)]
    states = _memory(ends, n_states, _AUTOMATON_STATE_PARTS)
    ends = [int(graph.edge_storage(number).this) for number in (1, n_edges)]
    if states is None or _memory(ends, n_edges, len(columns)) is None:
        return None
    table = _entries(ends[0] - len(columns) * _WORD, n_edges + 1, len(columns))
    names = ("src", "dst", "cond", "acc", "next_succ")
    of_edges = (table[:, columns.index(name)] for name in names)
    return Lists._make([*of_edges, states[:, _FIRST_EDGE], 0])


def _all_count(graph: Any, lists: Lists) -> bool:
    """Whether lists are what the interface says, and no edge is erased or false."""
    # As many edges as were erased lie behind those that were read.
    highest = max(int(lists.following[1:].max()), int(lists.first.max()))
    if highest >= len(lists.marks) or not lists.condition[1:].all():
        return False
    edges = ((s, next(iter(graph.out(s)), None)) for s in _samples(len(lists.first)))
    return all(
        lists.first[state] == (0 if edge is None else graph.edge_number(edge))
        for state, edge in edges
    )


def _read_at_once(graph: Any) -> Job[dict[str, Any]]:
    """Return fields of a graph that is copied."""
    edges = yield from all_edges(graph)
    state_label = None
    if is_kripke(graph):
        of_states = yield from state_conditions(graph)
        where, label = _first_of_each(of_states)
        conditions = [state_condition(graph, state) for state in where]
        state_label, conditions = _without_false(label, conditions)
        label = state_label[edges.src]
    else:
        label, conditions = _labels(graph, edges.condition, edges.number)
        label, conditions = _without_false(label, conditions)
    kept: Any = label >= 0
    if kept.all():
        kept = slice(None)  # nothing is copied
    marks, acceptance = _acceptance(graph, edges.marks[kept])
    ends = edges.src[kept], edges.dst[kept], edges.number[kept]
    columns = Columns(*ends, label[kept], marks, conditions, state_label)
    told = {"n_edges": len(marks), "read": lambda: columns, "lists": None}
    return told | acceptance


def _labels(
    graph: Any, condition: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, list[Any]]:
    """Return the conditions of edges as places, and the different ones."""
    import buddy

    where, label = _first_of_each(condition)
    # An edge's condition is a reference into Spot's array: it is copied.
    true = buddy.bddtrue
    numbers = number[where].tolist()
    return label, [graph.edge_storage(number).cond & true for number in numbers]


def _first_of_each(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each different value is first, and their places by entry."""
    # Numbers of BDDs are small: counting is much faster than sorting.
    first = np.full(int(values.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[values[::-1]] = np.arange(len(values) - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    place = np.zeros(len(first), dtype=np.int32)
    place[present] = np.arange(len(present))
    return first[present], place[values]


def _without_false(
    label: np.ndarray, conditions: list[Any]
) -> tuple[np.ndarray, list[Any]]:
    """Leave out the condition that is false; its number becomes -1."""
    import buddy

    false = [k for k, c in enumerate(conditions) if c == buddy.bddfalse]
    if not false:
        return label, conditions
    place = np.arange(len(conditions), dtype=np.int32)
    place[false[0] :] -= 1
    place[false[0]] = -1
    return place[label], [c for k, c in enumerate(conditions) if k != false[0]]


def _acceptance(graph: Any, marks: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the marks that count, and the fields that are about acceptance."""
    sets = _extremes(marks, -1) if len(marks) else set()
    left = decided(condition_of(graph), sets)
    return _moved(marks, left.marks), _accepting(left)


def _moved(marks: np.ndarray, used: int) -> np.ndarray:
    """Return sets without marks that are not used, the others numbered from 0."""
    if not used & (used + 1):
        return marks & np.uint32(used)
    moved = np.zeros_like(marks)
    for i, mark in enumerate(marks_in(used)):
        moved |= (marks >> np.uint32(mark) & np.uint32(1)) << np.uint32(i)
    return moved


def _accepting(left: Condition) -> dict[str, Any]:
    """Return the fields that are about acceptance; `FALSE` cannot hold."""
    never = left == FALSE
    places = {mark: i for i, mark in enumerate(marks_in(left.marks))}
    left = left.renumbered(places.__getitem__)
    usual = not never and has_shape(left, Shape.GENERALISED_BUCHI)
    return {
        "n_marks": len(places),
        "condition": None if usual or never else left,
        "accepts_nothing": never,
    }


READING = "reading"

_SAMPLES = 24  # edges or states of a graph that are read in both ways
_PREFIX = 1_000  # edges that mostly have all marks
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
        yield from ticks.worked()
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    src, dst, number, condition = table[:, :4].T.astype(np.int32)
    return Edges(src, dst, number, condition, table[:, 4].astype(np.uint32))


def _edges_in_memory(graph: Any) -> Edges | None:
    """Return the edges as they lie in memory; None if that cannot be trusted."""
    columns, n_edges = _COLUMNS[is_kripke(graph)], graph.num_edges()
    if n_edges == 0:
        none = np.zeros(0, dtype=np.int32)
        return Edges(none, none, none, none, none.astype(np.uint32))
    table = _edge_table(graph)
    if table is None:
        return None
    # Edges that were erased lead to themselves in the list of their source.  As many as
    # have been met are still to come behind those that are not erased.
    n_read = n_edges
    while True:
        live = table[:, columns.index("next_succ")] != np.arange(1, n_read + 1)
        n_live = int(np.count_nonzero(live))
        if n_live == n_edges:
            break
        n_read += n_edges - n_live
        table = _entries(table.ctypes.data, n_read, len(columns))
    rows: Any = slice(None) if n_read == n_edges else live
    none = np.zeros(n_edges, dtype=np.uint32)
    src, dst, condition, marks = (
        table[:, columns.index(name)][rows].copy() if name in columns else none
        for name in ("src", "dst", "cond", "acc")
    )
    number = np.flatnonzero(live).astype(np.int32) + 1
    src, dst, condition = (part.view(np.int32) for part in (src, dst, condition))
    return Edges(src, dst, number, condition, marks)


def _edge_table(graph: Any) -> np.ndarray | None:
    """Return as many edges as a graph has as they lie in memory, uint32[m, k].

    Some may have been erased, with others behind.  None if that cannot be trusted, or
    there are none.
    """
    columns, n_edges = _COLUMNS[is_kripke(graph)], graph.num_edges()
    if n_edges == 0:
        return None
    ends = [int(graph.edge_storage(number).this) for number in (1, n_edges)]
    table = _memory(ends, n_edges, len(columns))
    if table is None or any(
        table[k].tolist() != _parts_of(graph.edge_storage(k + 1), columns)
        for k in _samples(n_edges)
    ):
        return None
    return table


def _parts_of(edge: Any, columns: Sequence[str]) -> list[int]:
    """Return what the interface says of an edge."""
    told = {column: getattr(edge, column) for column in columns}
    if "cond" in told:
        told |= {"cond": edge.cond.id(), "acc": marks_of(edge)}
    return list(told.values())


def state_conditions(graph: Any) -> Job[np.ndarray]:
    """Return the numbers of the BDDs of a Kripke structure's states, int32[n]."""
    n_states = graph.num_states()
    ends = [int(graph.state_from_number(k).this) for k in (0, n_states - 1)]
    table = _memory(ends, n_states, _STATE_PARTS)
    if table is not None:
        found = table[:, _STATE_CONDITION].copy().view(np.int32)
        if all(state_condition(graph, k).id() == found[k] for k in _samples(n_states)):
            return found
    ticks = Ticks(READING, _EDGE)
    found = np.zeros(n_states, dtype=np.int32)
    for state in range(n_states):
        found[state] = state_condition(graph, state).id()
        yield from ticks.worked()
    return found


def state_condition(graph: Any, state: Any) -> Any:
    """Return the condition of a state of a Kripke structure."""
    return graph.state_condition(graph.state_from_number(int(state)))


def _samples(n: int) -> Iterator[int]:
    """Return some numbers below n, the first and the last among them."""
    return iter(np.unique(np.linspace(0, n - 1, _SAMPLES).astype(int)).tolist())


_COLUMNS = {
    False: ("cond", "acc", "dst", "next_succ", "src"),
    True: ("dst", "next_succ", "src"),
}
"""Parts of 32 bits of the edges of automata, and of Kripke structures (True)."""

_AUTOMATON_STATE_PARTS, _FIRST_EDGE = 4, 2
"""Parts of a state of an automaton, and which one is the number of its first edge."""

_STATE_PARTS, _STATE_CONDITION = 6, 2
"""Parts of a state of a Kripke structure, and which one is the number of a BDD."""


def _memory(ends: Sequence[int], n: int, width: int) -> np.ndarray | None:
    """Return the n entries between two addresses; None if they are no array of Spot."""
    if ends[1] - ends[0] != (n - 1) * width * _WORD:
        return None
    return _entries(ends[0], n, width)


def _entries(address: int, n: int, width: int) -> np.ndarray:
    """Return n entries of an array of Spot, uint32[n, width]; it is not copied."""
    kind = ctypes.c_uint32 * (n * width)
    return np.ctypeslib.as_array(kind.from_address(address)).reshape(n, width)


class Stepper:
    """Enumerates the steps of a graph through Spot's interface alone."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._kripke = is_kripke(graph)
        self._cubes: dict[frozenset[str], Any] = {}

    def edge_of_step(
        self, number: int, src: int, dst: int, holding: frozenset[str]
    ) -> Any:
        """Return an edge of the graph; None if there is no such step.

        Its number counts for automata only: no two edges of a Kripke structure differ
        in anything else.  In the step exactly the propositions `holding` hold.
        """
        kripke = self._kripke
        for edge in self._graph.out(src):
            if edge.dst == dst and (kripke or self._graph.edge_number(edge) == number):
                condition = self._of_state(src) if kripke else edge.cond
                return edge if self._allows(condition, holding) else None
        return None

    def marks_of(self, edge: Any) -> int:
        """Return the marks of an edge, as bits."""
        return 0 if self._kripke else marks_of(edge)

    def repeats(self, state: int, holding: frozenset[str]) -> bool:
        """Whether a state has no edge, and so may repeat itself with a valuation."""
        if any(True for _ in self._graph.out(state)):
            return False
        return not self._kripke or self._allows(self._of_state(state), holding)

    def accepts(self, marks: int) -> bool:
        """Whether a run is accepted that sees exactly these marks infinitely often."""
        import spot

        return bool(self._graph.acc().accepting(spot.mark_t(marks_in(marks))))

    def _of_state(self, state: int) -> Any:
        return state_condition(self._graph, state)

    def _allows(self, condition: Any, holding: frozenset[str]) -> bool:
        import buddy

        cube = self._cubes.get(holding)
        if cube is None:
            cube = self._cubes[holding] = valuation(self._graph, holding)
        return bool(condition & cube != buddy.bddfalse)


def edge_of(graph: Any, number: int, src: int) -> tuple[str, tuple[int, ...]]:
    """Return the condition of an edge of a graph, as text, and its marks.

    A Kripke structure's are those of the source.
    """
    import spot

    if is_kripke(graph):
        condition, marks = state_condition(graph, src), 0
    else:
        edge = graph.edge_storage(number)
        condition, marks = edge.cond, marks_of(edge)
    text = spot.bdd_format_formula(graph.get_dict(), condition)
    return str(text), tuple(marks_in(marks))


def lasso_automaton(graph: Any, numbers: Sequence[int], start: int) -> Any:
    """Return a run of an automaton as one in the shape of a lasso.

    It has a state for each of the edges, given by their numbers; the last leads to the
    state `start`.
    """
    edges, names = [], []
    for k, number in enumerate(numbers):
        edge = graph.edge_storage(number)
        label = edge.cond if not is_kripke(graph) else state_condition(graph, edge.src)
        marks = [] if is_kripke(graph) else marks_in(marks_of(edge))
        edges.append((k, k + 1 if k + 1 < len(numbers) else start, label, marks))
        names.append(str(edge.src))
    made = automaton_of(len(numbers), edges, like=graph, names=names)
    made.copy_acceptance_of(graph)
    return made


def vocabulary(propositions: Sequence[str], graph: Any = None) -> Any:
    """Return an empty automaton over some propositions, and those of a graph.

    Its dictionary is that of the graph, else Spot's own.
    """
    import spot

    made = spot.make_twa_graph(dictionary_of(graph))
    if graph is not None:
        made.copy_ap_of(graph)
    for proposition in propositions:
        made.register_ap(proposition)
    return made


def kripke_structure(
    propositions: Sequence[str],
    holding: Sequence[Collection[str]],
    edges: Iterable[tuple[int, int]],
    names: Sequence[str],
) -> Any:
    """Return a ``spot.kripke_graph``; its initial state is 0.

    `holding` has the propositions that hold in each state, `names` what it is called.
    """
    import spot

    graph = spot.make_kripke_graph(dictionary_of())
    for proposition in propositions:
        graph.register_ap(proposition)
    label = cache(partial(valuation, graph))
    for some in holding:
        graph.new_state(label(frozenset(some)))
    graph.set_init_state(0)
    for src, dst in edges:
        graph.new_edge(src, dst)
    graph.set_state_names(list(names))
    return graph


def dictionary_of(graph: Any = None) -> Any:
    """Return the BDD dictionary of a graph, or the one that Spot uses by itself."""
    import spot

    return (spot.translate("1") if graph is None else graph).get_dict()


def encoded_graph(arrays: Any) -> dict[str, Any]:
    """Return a graph as plain data, from the arrays that were read from it."""
    # The conditions travel as the labels of an automaton with one edge for each.
    edges = [(0, k, label) for k, label in enumerate(arrays.conditions, start=1)]
    carrier = automaton_of(len(edges) + 1, edges, like=arrays.graph)
    acceptance = arrays.condition or generalised_buchi(arrays.n_marks)
    columns = ("n_states", "initial", "src", "dst", "label", "marks", "state_label")
    return {column: getattr(arrays, column) for column in columns} | {
        "conditions": str(carrier.to_str("hoa")) + "\n",
        "acceptance": "f" if arrays.accepts_nothing else str(acceptance),
        "n_marks": arrays.n_marks,
        "name": arrays.graph.get_name() or "",
    }


def decoded_graph(told: dict[str, Any], number: np.ndarray | None = None) -> Any:
    """Return a graph of Spot that `encoded_graph` has been given.

    Its states have the same numbers.  Edges are numbered from 1, or have the numbers
    int32[m]; edges whose condition is false then have those left out.
    """
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    carrier = parse_again(told["conditions"], spot.make_bdd_dict())
    conditions = {edge.dst - 1: edge.cond for edge in carrier.out(0)}
    state_label = told["state_label"]
    dead = 0 if state_label is None else int(state_label.argmin())
    ends = [*zip(told["src"].tolist(), told["dst"].tolist(), strict=True), (dead, dead)]
    places = np.arange(len(ends) - 1)
    if number is not None:
        places = np.full(number.max(initial=0), -1)  # the last one, which is false
        places[number - 1] = np.arange(len(number))
    if state_label is not None:
        graph = spot.make_kripke_graph(carrier.get_dict())
        graph.copy_ap_of(carrier)
        for label in state_label.tolist():
            graph.new_state(conditions.get(label, buddy.bddfalse))
        for place in places.tolist():
            graph.new_edge(*ends[place])
    else:
        labels, marks = [*told["label"].tolist(), -1], [*told["marks"].tolist(), 0]
        edges = (
            (*ends[k], conditions.get(labels[k], buddy.bddfalse), marks_in(marks[k]))
            for k in places.tolist()
        )
        graph = automaton_of(
            told["n_states"],
            edges,
            like=carrier,
            n_marks=told["n_marks"],
            acceptance=told["acceptance"],
        )
    graph.set_init_state(told["initial"])
    if told["name"]:
        graph.set_name(told["name"])
    return graph

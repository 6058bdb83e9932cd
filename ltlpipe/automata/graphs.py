"""Graphs of Spot as arrays: `spot.kripke_graph` and `spot.twa_graph`.

Conditions are BDDs.  Edges that have the same one, by its number, share it here, and
one object is kept for each: numbers of BDDs stay what they are as long as the graph
lives.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import (
    FALSE,
    Condition,
    Shape,
    has_shape,
    marks_in,
)
from ltlpipe.automata.fin_removal import condition_of
from ltlpipe.automata.graph_memory import (
    all_edges,
    is_kripke,
    state_condition,
    state_conditions,
)
from ltlpipe.automata.structure import decided
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job


class GraphArrays(NamedTuple):
    """A graph with n states, m edges and k different conditions."""

    n_states: int
    initial: int
    src: np.ndarray  # int32[m]
    dst: np.ndarray  # int32[m]
    number: np.ndarray  # int32[m], what Spot calls the edge
    label: np.ndarray  # int32[m], the number of its condition
    marks: np.ndarray  # uint32[m], as bits
    conditions: list[Any]  # k BDDs, none of them false
    state_label: np.ndarray | None  # int32[n], of Kripke structures; -1 is false
    n_marks: int
    condition: Condition | None  # over them; None is each infinitely often
    accepts_nothing: bool  # whatever the marks


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


def graph_arrays(graph: Any) -> Job[GraphArrays]:
    """Read a graph.

    Edges whose condition is false are left out.  Marks that the acceptance condition
    does not depend on are gone, the others renumbered.

    Raises
    ------
    UnsupportedError
        It has no states, or is alternating.
    """
    import buddy

    n_states = graph.num_states()
    if n_states == 0:
        raise UnsupportedError("the graph has no states")
    if not is_kripke(graph) and not graph.is_existential():
        raise UnsupportedError(
            "the graph is alternating; Spot's 'remove_alternation' makes it "
            "nondeterministic"
        )
    edges = yield from all_edges(graph)
    state_label = None
    if is_kripke(graph):
        of_states = yield from state_conditions(graph)
        where, label = _first_of_each(of_states)
        conditions = [state_condition(graph, state) for state in where]
        state_label, conditions = _without_false(label, conditions)
        label = state_label[edges.src]
    else:
        where, label = _first_of_each(edges.condition)
        numbers = edges.number[where].tolist()
        # An edge's condition is a reference into Spot's array: it is copied.
        true = buddy.bddtrue
        conditions = [graph.edge_storage(number).cond & true for number in numbers]
        label, conditions = _without_false(label, conditions)
    kept = label >= 0
    marks, n_marks, condition = _acceptance(graph, edges.marks[kept])
    never = condition == FALSE
    return GraphArrays(
        n_states,
        graph.get_init_state_number(),
        edges.src[kept],
        edges.dst[kept],
        edges.number[kept],
        label[kept],
        marks,
        conditions,
        state_label,
        n_marks,
        None if never else condition,
        never,
    )


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


def _acceptance(
    graph: Any, marks: np.ndarray
) -> tuple[np.ndarray, int, Condition | None]:
    """Return the marks that count, how many these are, and the condition.

    A condition that cannot hold is `FALSE`.
    """
    left = decided(condition_of(graph), set(np.unique(marks).tolist()))
    used = marks_in(left.marks)
    moved = np.zeros_like(marks)
    for i, mark in enumerate(used):
        moved |= (marks >> np.uint32(mark) & np.uint32(1)) << np.uint32(i)
    left = left.renumbered({mark: i for i, mark in enumerate(used)}.__getitem__)
    usual = left != FALSE and has_shape(left, Shape.GENERALISED_BUCHI)
    return moved, len(used), None if usual else left

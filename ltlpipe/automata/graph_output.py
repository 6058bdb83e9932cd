"""Graphs of Spot that are made here: for users, and out of plain data.

Those for users share a graph's BDD dictionary, or Spot's own, that of
``spot.translate``, so that Spot can combine them with others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi, marks_in
from ltlpipe.automata.hoa import parse_again

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ltlpipe.automata.conditions import Condition


class AutomatonWriter:
    """Makes a ``spot.twa_graph``.

    Parameters
    ----------
    propositions : sequence of str
        What labels are over.
    graph : spot.twa_graph or spot.kripke_graph, optional
        Whose dictionary and propositions it has, too.
    """

    def __init__(self, propositions: Sequence[str], graph: Any = None) -> None:
        import spot

        self.graph = spot.make_twa_graph(dictionary_of(graph))
        if graph is not None:
            self.graph.copy_ap_of(graph)
        self._variables = {p: self.graph.register_ap(p) for p in propositions}

    def label(self, holding: Collection[str]) -> Any:
        """Return the label of the valuation in which exactly some propositions hold."""
        return _cube(self._variables, holding)

    def finished(
        self,
        edges: Iterable[tuple[int, int, Any, int]],
        names: Sequence[str],
        condition: Condition,
        n_marks: int,
    ) -> Any:
        """Return the automaton with these edges: source, target, label and marks.

        It has a state for each name, the first one initial; `condition` is over
        `n_marks` marks.
        """
        import spot

        graph = self.graph
        graph.set_acceptance(n_marks, spot.acc_code(str(condition)))
        graph.new_states(len(names))
        graph.set_init_state(0)
        sets: dict[int, list[int]] = {}
        for src, dst, label, marks in edges:
            if marks not in sets:
                sets[marks] = marks_in(marks)
            graph.new_edge(src, dst, label, sets[marks])
        graph.set_state_names(list(names))
        return graph


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
    variables = {p: graph.register_ap(p) for p in propositions}
    labels: dict[frozenset[str], Any] = {}
    for some in map(frozenset, holding):
        if some not in labels:
            labels[some] = _cube(variables, some)
        graph.new_state(labels[some])
    graph.set_init_state(0)
    for src, dst in edges:
        graph.new_edge(src, dst)
    graph.set_state_names(list(names))
    return graph


def dictionary_of(graph: Any = None) -> Any:
    """Return the BDD dictionary of a graph, or the one that Spot uses by itself."""
    import spot

    return (spot.translate("1") if graph is None else graph).get_dict()


def _cube(variables: dict[str, int], holding: Collection[str]) -> Any:
    import buddy

    cube = buddy.bddtrue
    # Built from below, each step costs the same.
    for name, variable in sorted(variables.items(), key=lambda item: -item[1]):
        literal = buddy.bdd_ithvar if name in holding else buddy.bdd_nithvar
        cube = literal(variable) & cube
    return cube


def encoded_graph(arrays: Any, graph: Any) -> dict[str, Any]:
    """Return a graph as plain data, from the arrays that were read from it."""
    import spot

    # The conditions travel as the labels of an automaton with one edge for each.
    carrier = spot.make_twa_graph(graph.get_dict())
    carrier.copy_ap_of(graph)
    carrier.new_states(len(arrays.conditions) + 1)
    for k, condition in enumerate(arrays.conditions):
        carrier.new_edge(0, k + 1, condition)
    acceptance = arrays.condition or generalised_buchi(arrays.n_marks)
    columns = ("n_states", "initial", "src", "dst", "label", "marks", "state_label")
    return {column: getattr(arrays, column) for column in columns} | {
        "conditions": str(carrier.to_str("hoa")) + "\n",
        "acceptance": "f" if arrays.accepts_nothing else str(acceptance),
        "n_marks": arrays.n_marks,
        "name": graph.get_name() or "",
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
        graph = spot.make_twa_graph(carrier.get_dict())
        graph.copy_ap_of(carrier)
        graph.set_acceptance(told["n_marks"], spot.acc_code(told["acceptance"]))
        graph.new_states(told["n_states"])
        labels, marks = [*told["label"].tolist(), -1], [*told["marks"].tolist(), 0]
        for place in places.tolist():
            condition = conditions.get(labels[place], buddy.bddfalse)
            graph.new_edge(*ends[place], condition, marks_in(marks[place]))
    graph.set_init_state(told["initial"])
    if told["name"]:
        graph.set_name(told["name"])
    return graph

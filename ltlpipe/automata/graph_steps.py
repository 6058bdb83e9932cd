"""Steps of a graph of Spot, as Spot's interface says them: for replays and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import marks_in
from ltlpipe.automata.fin_removal import marks_of
from ltlpipe.automata.graph_memory import is_kripke, state_condition

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


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


def valuation(graph: Any, holding: Collection[str]) -> Any:
    """Return the BDD of the valuation of a graph's propositions in which some hold."""
    import buddy

    cube = buddy.bddtrue
    for proposition in graph.ap():
        holds = proposition.ap_name() in holding
        literal = buddy.bdd_ithvar if holds else buddy.bdd_nithvar
        cube &= literal(graph.register_ap(proposition))
    return cube


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
    import spot

    made = spot.make_twa_graph(graph.get_dict())
    made.copy_ap_of(graph)
    made.copy_acceptance_of(graph)
    made.new_states(len(numbers))
    made.set_init_state(0)
    names = []
    for k, number in enumerate(numbers):
        edge = graph.edge_storage(number)
        label = edge.cond if not is_kripke(graph) else state_condition(graph, edge.src)
        marks = [] if is_kripke(graph) else marks_in(marks_of(edge))
        made.new_edge(k, k + 1 if k + 1 < len(numbers) else start, label, marks)
        names.append(str(edge.src))
    made.set_state_names(names)
    return made

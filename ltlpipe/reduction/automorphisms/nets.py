"""The automorphisms of a place/transition net that leave propositions as they are.

They take places to places with as many tokens, and transitions to transitions that take
and put as much.  The graph has a vertex for each place, two for each transition (what
it takes, what it puts), and one for each arc whose weight is not 1.

Source: K. Schmidt, "How to Calculate Symmetries of Petri Nets", Acta Informatica 36,
2000, pp. 545-590.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.reduction.automorphisms.expressions import draw_propositions
from ltlpipe.reduction.automorphisms.graph import PHASE, ColouredGraph
from ltlpipe.reduction.automorphisms.group import Space, grouped
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.reduction.automorphisms.group import Group
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.pnml.structure import Net


def group_of_net(net: Net, propositions: Sequence[Expression]) -> Job[Group]:
    """Return the group of a net and of bound propositions; it moves places."""
    ticks = Ticks(PHASE)
    graph = ColouredGraph()
    places = []
    for tokens in net.initial():
        places.append(graph.add(("place", tokens)))
        if ticks.over():
            yield ticks.progress
    transitions = []
    for transition in net.transitions:
        taken = graph.add("takes")
        put = graph.add("puts", taken)
        transitions.append(taken)
        _draw_arcs(graph, taken, transition.pre, places)
        _draw_arcs(graph, put, transition.post, places)
        if ticks.over(1 + len(transition.pre) + len(transition.post)):
            yield ticks.progress
    draw_propositions(graph, propositions, places, transitions)
    generators = yield from graph.automorphisms(len(places))
    return (yield from grouped(Space(len(places)), generators))


def _draw_arcs(
    graph: ColouredGraph, vertex: int, arcs: Mapping[int, int], places: list[int]
) -> None:
    for place, weight in arcs.items():
        if weight == 1:
            graph.join(vertex, places[place])
        else:
            graph.add(("weight", weight), vertex, places[place])

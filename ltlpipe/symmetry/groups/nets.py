"""The automorphisms of a place/transition net that leave a property as it is.

They take places to places and transitions to transitions that take and put as much.
The initial marking may be taken to another one: a run of the quotient that begins in
its orbit is one that begins in it.  The graph has a vertex for each place, two for each
transition (what it takes, what it puts), and one for each arc whose weight is not 1.

Source: K. Schmidt, "How to Calculate Symmetries of Petri Nets", Acta Informatica 36,
2000, pp. 545-590.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.expressions import draw_propositions, group_of
from ltlpipe.symmetry.groups.graph import PHASE, ColouredGraph
from ltlpipe.symmetry.groups.group import Space

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.expressions import Propositions
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.nets.structure import Net


def group_of_net(net: Net, propositions: Propositions) -> Job[Group]:
    """Return the group of a net and a property; it moves places."""
    space = Space(len(net.places))
    draw = partial(_drawn, net, propositions)
    return group_of(space, propositions, draw, moves_initial=True)


def _drawn(
    net: Net, propositions: Propositions, *, fixed: bool, keeps_initial: bool
) -> Job[ColouredGraph]:
    """Return the graph of a net and a property."""
    ticks = Ticks(PHASE)
    graph = ColouredGraph()
    places = []
    for tokens in net.initial():
        places.append(graph.add(("place", tokens if keeps_initial else None)))
        if ticks.over():
            yield ticks.progress
    first = propositions.add_points(graph, fixed=fixed)
    transitions = []
    for transition in net.transitions:
        taken = graph.add("takes")
        put = graph.add("puts", taken)
        transitions.append(taken)
        _draw_arcs(graph, taken, transition.pre, places)
        _draw_arcs(graph, put, transition.post, places)
        if ticks.over(1 + len(transition.pre) + len(transition.post)):
            yield ticks.progress
    draw_propositions(graph, propositions, first, places, transitions)
    return graph


def _draw_arcs(
    graph: ColouredGraph, vertex: int, arcs: Mapping[int, int], places: list[int]
) -> None:
    for place, weight in arcs.items():
        if weight == 1:
            graph.join(vertex, places[place])
        else:
            graph.add(("weight", weight), vertex, places[place])

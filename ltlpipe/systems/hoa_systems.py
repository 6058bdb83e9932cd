"""What a file in HOA is as a system: components of a network, or one graph of Spot.

By default propositions are labels, of which one holds at each step.  With
``--semantics state`` they hold together: the file is one Kripke structure if its labels
are on states, else one automaton, of any acceptance, whose runs are words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.graphs import decoded_graph
from ltlpipe.automata.hoa import hoa_text
from ltlpipe.automata.kripke_files import parse_graph
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.graph import SpotGraph, graph_job, graph_system, graph_to_data
from ltlpipe.systems.networks.hoa import read_hoa
from ltlpipe.systems.plain import components_of, plain_components

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.plain import Plain

_GRAPH = "graph"


def parse_plain(
    text: str, file: str, *, alphabet: str = "used", semantics: str | None = None
) -> Plain:
    """Return what a text holds as plain data: components, or one graph of Spot."""
    is_declared = alphabet == "declared"
    if semantics != "state":
        return plain_components(read_hoa(text, file, declared=is_declared))
    if is_declared:
        raise UnsupportedError(
            "--alphabet=declared is about components, and with --semantics=state the "
            "file is one graph with propositions"
        )
    graph, looped = parse_graph(text, file)
    system = graph_system(graph)
    if looped:
        system = _without_edges_of(system, looped)
    return {_GRAPH: graph_to_data(system)}


def _without_edges_of(system: SpotGraph, states: frozenset[int]) -> SpotGraph:
    kept = ~np.isin(system.src, list(states))
    columns = ("src", "dst", "number", "label", "marks")
    return replace(system, **{name: getattr(system, name)[kept] for name in columns})


def write_graph(system: SpotGraph) -> str:
    """Write a Kripke structure or an automaton, as Spot has it.

    Raises
    ------
    UnsupportedError
        A state of a Kripke structure has no edges: its label would not be read.
    """
    if system.state_label is not None:
        for state in system.dead_ends().tolist():
            if system.state_label[state] >= 0:
                raise UnsupportedError(
                    f"state {state} has no edges, and Spot reads no label of such a "
                    "state in HOA: give it an edge to itself"
                )
    return hoa_text(system.graph)


def build(plain: Plain, _file: str) -> Job[list[LTS] | SpotGraph]:
    """Return the job that makes components or a graph of plain data."""
    if isinstance(plain, dict):
        return (yield from graph_job(decoded_graph(plain[_GRAPH])))
    return (yield from components_of(plain))

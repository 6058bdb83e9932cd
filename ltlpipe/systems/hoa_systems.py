"""What a file in HOA is as a system: components of a network, or one graph of Spot.

By default propositions are labels, of which one holds at each step.  With
``--semantics state`` they hold together: the file is one Kripke structure if its labels
are on states, else one automaton, of any acceptance, whose runs are words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.given_automata import label_text, parse_graph
from ltlpipe.automata.graphs import decoded_graph
from ltlpipe.automata.hoa import hoa_text
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.graph import SpotGraph, graph_job, graph_system, graph_to_data
from ltlpipe.systems.networks.hoa import read_hoa
from ltlpipe.systems.plain import components_of, plain_components

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.plain import Plain

_GRAPH = "graph"
_FALSE_LABEL = re.compile(r"^State: \[f\] ([0-9]+)", re.MULTILINE)


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

    Spot writes a false label for a state without edges, which is put right.
    """
    text, labels = hoa_text(system.graph), system.state_label
    if labels is None:
        return text
    ends = set(system.dead_ends()[labels[system.dead_ends()] >= 0].tolist())

    def put_right(written: re.Match[str]) -> str:
        state = int(written[1])
        if state not in ends:
            return written[0]
        condition = system.conditions[int(labels[state])]
        return f"State: [{label_text(system.graph, condition)}] {state}"

    return _FALSE_LABEL.sub(put_right, text)


def build(plain: Plain, _file: str) -> Job[list[LTS] | SpotGraph]:
    """Return the job that makes components or a graph of plain data."""
    if isinstance(plain, dict):
        return (yield from graph_job(decoded_graph(plain[_GRAPH])))
    return (yield from components_of(plain))

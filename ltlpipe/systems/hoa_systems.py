"""Systems in HOA: components of a network, or one graph of Spot.

By default propositions are labels, of which one holds at each step.  With
``--semantics state`` they hold together: the file is one Kripke structure if its labels
are on states and it has no acceptance, else one automaton, of any acceptance, whose
runs are words.

Networks of Büchi automata in Hanoi omega-automata files (``.hoa``).

A file with several automata is a network, each automaton a component.  Its
atomic propositions are labels, of which exactly one holds at each step: an
edge is one transition for every proposition that satisfies its label when it
holds alone, so ``[0|1]`` is two transitions and ``[t]`` one per proposition.
The alphabet is the propositions that some edge uses, in the order of ``AP:``; or all of
them, where the caller asks for the alphabet that is declared.

Acceptance is ``Inf(0)`` on states, or ``t`` for a component without acceptance.

Source: the composition of nondeterministic Büchi automata of D. Gnad,
J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking omega-Regular
Properties with Decoupled Search", CAV 2021, Def. 2; the format is read in
`ltlpipe.automata.hoa`.

Differences from the source: the alphabet, unless it is the declared one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.given_automata import label_text, parse_graph
from ltlpipe.automata.graphs import decoded_graph
from ltlpipe.automata.hoa import hoa_text, read_buchi
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import quoted
from ltlpipe.systems.graph import SpotGraph, graph_job, graph_system, graph_to_data
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.plain import components_of, plain_components

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
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
    edges = system.read()
    kept = ~np.isin(edges.src, list(states))
    names = ("src", "dst", "number", "label", "marks")
    left = edges._replace(**{name: getattr(edges, name)[kept] for name in names})
    count = int(np.count_nonzero(kept))
    return replace(system, n_edges=count, read=lambda: left, lists=None)


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


_SPELT_OUT = 64  # labels of a component up to which each names all others


def read_hoa(text: str, file: str, *, declared: bool = False) -> list[LTS]:
    """Read the components of a network from HOA text.

    There is one per automaton; states are numbered as in the file.  If `declared`, the
    alphabet is all of ``AP:``, and a label without an edge blocks an action.

    Raises
    ------
    InputError
        `text` is not HOA, ends early, or has an edge that no proposition
        satisfies alone; names file and line.
    UnsupportedError
        Several initial states, alternation, or another acceptance.
    """
    return [LTS(**fields) for fields in read_buchi(text, file, declared=declared)]


def write_hoa(components: Sequence[LTS]) -> str:
    """Write components as HOA, one automaton each.

    Every state lists its transitions together, so reading gives them back
    sorted by source, otherwise in the order they had.  Internal labels become
    ordinary ones (`ltlpipe.systems.writing` renames them apart before).
    """
    return "".join(line + "\n" for lts in components for line in _lines(lts))


def _lines(lts: LTS) -> Iterator[str]:
    yield "HOA: v1"
    if lts.name:
        yield f"name: {quoted(lts.name)}"
    yield f"States: {lts.n_states}"
    yield f"Start: {lts.initial}"
    yield " ".join([f"AP: {len(lts.labels)}", *map(quoted, lts.labels)])
    if lts.accepting is None:
        yield "acc-name: all"
        yield "Acceptance: 0 t"
    else:
        yield "acc-name: Buchi"
        yield "Acceptance: 1 Inf(0)"
    yield "properties: trans-labels explicit-labels state-acc"
    yield "--BODY--"
    yield from _body(lts)
    yield "--END--"


def _body(lts: LTS) -> Iterator[str]:
    n = len(lts.labels)
    # Each label says which others do not hold, too, unless that would fill pages:
    # readers know that exactly one proposition holds.
    one_hot = [str(a) for a in range(n)]
    if n <= _SPELT_OUT:
        one_hot = [
            "&".join(f"{'' if a == b else '!'}{b}" for b in range(n)) for a in range(n)
        ]
    edges: list[list[str]] = [[] for _ in range(lts.n_states)]
    columns = (lts.src.tolist(), lts.label.tolist(), lts.dst.tolist())
    for src, label, dst in zip(*columns, strict=True):
        edges[src].append(f"[{one_hot[label]}] {dst}")
    for state, lines in enumerate(edges):
        known = lts.state_name(state)
        name = "" if known == str(state) else f" {quoted(known)}"
        marked = lts.accepting is not None and lts.accepting[state]
        yield f"State: {state}{name} {{0}}" if marked else f"State: {state}{name}"
        yield from lines

"""Graphs of Spot in tasks: here, in other processes, and in a store."""

from __future__ import annotations

from functools import cache

import pytest

import ltlpipe
from ltlpipe.batch.task_sources import as_tasks
from ltlpipe.batch.tasks import system_digest
from ltlpipe.runtime.wire import packed, unpacked
from ltlpipe.systems.graph import graph_from_data, graph_to_data
from tests.spot_graphs import ACCEPTANCES, random_automaton, random_kripke

FORMULAS = ["1 | GF p", "G(p | 1) -> 0", "F G p | G F !p"]


def graphs():
    """Some whose propositions have p."""
    found = [random_kripke(seed) for seed in range(40)]
    found += [random_automaton(seed, kind) for seed, kind in enumerate(ACCEPTANCES)]
    return [g for g in found if "p" in {p.ap_name() for p in g.ap()}][:8]


PAIRS = [(graph, formula) for graph in graphs() for formula in FORMULAS]


@cache
def expected_verdicts():
    return [ltlpipe.check(*pair).verdict for pair in PAIRS]


@pytest.mark.parametrize("jobs", [None, 2], ids=["here", "processes"])
def test_pairs(jobs):
    assert {"holds", "violated"} == set(expected_verdicts())
    table = ltlpipe.solve(PAIRS, jobs=jobs)
    assert table["verdict"].tolist() == expected_verdicts()
    assert table["reason"].isna().all()


def test_results_are_kept(tmp_path):
    """A graph with the same contents is the same task."""
    store = tmp_path / "run.sqlite"
    first = ltlpipe.solve(PAIRS[:6], store=store)
    again = ltlpipe.solve(
        [(graph, f) for graph in graphs() for f in FORMULAS][:6], store=store
    )
    assert first["verdict"].tolist() == expected_verdicts()[:6]
    assert again["started_at"].tolist() == first["started_at"].tolist()


def test_a_graph_is_read_once():
    """However many formulas are asked about it."""
    first, second, *_ = as_tasks(PAIRS)
    assert first.system is second.system
    assert isinstance(first.system, ltlpipe.SpotGraph)
    assert system_digest(first.system).startswith("graph:")


def test_graphs_as_bytes():
    """States keep their numbers."""
    for task in as_tasks(PAIRS)[:: len(FORMULAS)]:
        system = task.system
        copy = graph_from_data(unpacked(packed(graph_to_data(system))))
        assert copy.src.tolist() == system.src.tolist()
        assert (copy.name, copy.propositions) == (system.name, system.propositions)
        assert system_digest(copy) == system_digest(system)


def test_comparing():
    """Every search gives the same verdict."""
    graph = PAIRS[0][0]
    names = ["se05", "couvreur99", "tela"]
    table = ltlpipe.compare(graph, FORMULAS, emptiness=names)
    assert table["emptiness"].tolist() == names * len(FORMULAS)
    expected = [
        verdict for verdict in expected_verdicts()[: len(FORMULAS)] for _ in names
    ]
    assert table["verdict"].tolist() == expected

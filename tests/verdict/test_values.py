"""Results compare and hash by their values, also after pickling."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from ltlpipe import LTS, Network, check, deadlocks, is_empty
from ltlpipe.runtime.jobs import complete
from ltlpipe.verdict.replay import run_replayed
from tests.example_counts import examples
from tests.spot_graphs import ACCEPTANCES, random_automaton, random_kripke

EXAMPLES = Path(__file__).parents[2] / "examples"
NETWORK = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0), (0, "c", 0)])])
DVE = ltlpipe.load(EXAMPLES / "dve" / "peterson.dve")
NET = ltlpipe.load(EXAMPLES / "pnml" / "token-ring-5.pnml")


def kripke():
    """A Kripke structure with an accepting run."""
    return next(g for g in map(random_kripke, range(99)) if not is_empty(g).empty)


RESULTS = {
    "network": lambda: check(NETWORK, "G a"),
    "holds": lambda: check(NETWORK, "G(a | b | c)", vacuity=True),
    "witness": lambda: check(NETWORK, "G(a -> X b)", vacuity=True),
    "search": lambda: check(NETWORK, "GF a", emptiness="se05"),
    "DVE": lambda: check(DVE, 'G !"P_0.critical"'),
    "net": lambda: check(NET, 'G !"critical0==1"'),
    "graph": lambda: check(spot.translate("GFa & GFb"), "G a"),
    "Kripke structure": lambda: check(kripke(), "false"),
    "empty": lambda: is_empty(spot.translate("GFa & FGb")),
    "deadlock": lambda: deadlocks(Network([LTS.from_transitions([(0, "a", 1)])])),
}


def parts(result):
    """A result and what it is made of."""
    yield result
    for name in ("stats", "plan", "lasso", "run", "vacuity", "witness"):
        part = getattr(result, name, None)
        if part is not None:
            yield from parts(part)


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("used", [False, True])
def test_results_compare_by_value(kind, used):
    """Also those whose steps and words have been looked at, which are kept."""
    result = RESULTS[kind]()
    for part in parts(result):
        if used:
            str(getattr(part, "steps", "")), str(getattr(part, "word", ""))
        for twin in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert twin == part
            assert {twin: 1}[part] == 1
            assert repr(twin) == repr(part)
            for name in ("word", "steps", "cycle"):
                theirs = getattr(twin, name, None)
                assert str(theirs) == str(getattr(part, name, None))


def test_what_differs_is_not_equal():
    """Lassos by their steps, verdicts by their formulas, and nothing by its kind."""
    first, second = (check(NETWORK, f) for f in ("G a", "X X a"))
    assert first != second
    assert first.lasso != second.lasso
    assert first.lasso != first
    assert first != first.formula
    assert first != replace(first, formula="G b")


@settings(max_examples=examples(100))
@given(st.integers(0, 1 << 30), st.sampled_from([*ACCEPTANCES, "kripke"]))
def test_runs_of_graphs_travel_with_their_graph(seed, kind):
    """Edges keep the numbers that a lasso names, those left out included."""
    graph = random_kripke(seed) if kind == "kripke" else random_automaton(seed, kind)
    result = is_empty(graph)
    twin = pickle.loads(pickle.dumps(result))
    assert twin == result
    if result.run is not None:
        lasso = twin.run.lasso
        complete(run_replayed(lasso.system, lasso, stutters=False))
        states = [step.state for step in [*result.run.prefix, *result.run.cycle]]
        assert states == [step.state for step in [*twin.run.prefix, *twin.run.cycle]]

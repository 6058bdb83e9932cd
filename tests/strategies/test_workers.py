"""Questions with several workers, as users ask them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import dining, token_ring
from ltlpipe import LTS, LtlpipeWarning, Network, check, load
from ltlpipe.families.networks import philosophers
from tests.example_counts import examples
from tests.hypothesis_strategies import networks, recurrent_formulas

EXAMPLES = Path(__file__).parents[2] / "examples"


def verdicts(system, formula, workers, **options):
    """Those of one worker, and of several with a search that they share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        one = check(system, formula, emptiness="couvreur99", unknown="never", **options)
        several = check(
            system,
            formula,
            emptiness="ufscc",
            workers=workers,
            unknown="never",
            **options,
        )
    assert several.stats.details["workers"] == workers
    if one.verdict == "holds":
        assert one.stats.states == several.stats.states
    return one.verdict, several.verdict


@given(
    networks(max_components=3, max_states=4),
    recurrent_formulas(),
    st.sampled_from([1, 2, 3, 8]),
    st.sampled_from(["ignore", "stutter"]),
)
@settings(max_examples=examples(60))
def test_networks(network, formula, workers, deadlock):
    one, several = verdicts(network, formula, workers, deadlock=deadlock)
    assert one == several


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize(
    ("system", "formula", "expected"),
    [
        (EXAMPLES / "dve" / "peterson.dve", 'GF P_0=="critical"', "violated"),
        (EXAMPLES / "dve" / "peterson.dve", "G !(P_0.critical & P_1.critical)", None),
        (dining(4), "G(left0>=1 -> F(eat0>=1))", "violated"),
        (token_ring(4), "GF(token1>=1)", "holds"),
    ],
)
def test_models(system, formula, expected, workers):
    one, several = verdicts(
        load(system) if isinstance(system, Path) else system, formula, workers
    )
    assert one == several
    assert expected in (None, one)


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("formula", ["GF think1 -> GF eat1", "FG !eat1"])
def test_rabin(formula, workers):
    """Shared by several workers, it comes to the verdict of one."""
    network = philosophers(3)
    options = {"emptiness": "rabin", "acceptance": "tgra", "reduce": "none"}
    one = check(network, formula, unknown="never", **options)
    several = check(network, formula, unknown="never", workers=workers, **options)
    assert several.stats.details["workers"] == workers
    assert "workers" not in one.stats.details
    assert one.verdict == several.verdict


def test_automatic_choice():
    """Several workers get a search that they can share, where nothing is reduced."""
    network = philosophers(4)
    one = check(network, "GF eat0 -> GF eat1", reduce="none", unknown="never")
    several = check(
        network, "GF eat0 -> GF eat1", reduce="none", unknown="never", workers=2
    )
    assert one.plan.emptiness != "ufscc" == several.plan.emptiness
    assert "2 workers can share" in several.plan.reasons[0]
    assert one.verdict == several.verdict


def test_one_worker_and_why():
    found = check(
        philosophers(4), "G !eat0", unknown="never", workers=2, emptiness="se05"
    )
    assert "one worker, because se05 cannot be shared" in found.plan.reasons


@pytest.mark.parametrize("workers", [2, 4])
def test_ample_sets_are_shared(workers):
    """As many states are reduced as by one worker with a stack, more or less."""
    network = Network(
        LTS.from_transitions([(0, f"u{k}", 1), (1, f"d{k}", 2), (2, f"e{k}", 2)])
        for k in range(7)
    )
    found = check(network, "GF u0 -> GF d0", reduce="ample", workers=workers)
    assert found.plan.emptiness == "ufscc"
    assert found.plan.reductions == ("ample",)
    assert found.verdict == "holds"
    whole = check(network, "GF u0 -> GF d0", reduce="none")
    assert found.stats.states < 0.7 * whole.stats.states


def test_each_worker_is_accounted_for():
    found = check(token_ring(4), "GF(token1>=1)", emptiness="ufscc", workers=3)
    details = found.stats.details
    assert sum(details["states_of_workers"]) == found.stats.states
    assert sum(details["expansions_of_workers"]) == details["expansions"]


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("fairness", ["weak", "strong"])
def test_fairness(fairness, workers):
    """Acceptance with Fin is taken apart by all workers together."""
    network = philosophers(3)
    options = {"fairness": fairness, "emptiness": "tela", "unknown": "never"}
    one = check(network, "GF eat0", **options)
    several = check(network, "GF eat0", workers=workers, **options)
    assert one.verdict == several.verdict
    assert several.stats.details["workers"] == workers


@pytest.mark.parametrize("workers", [1, 2])
def test_the_pairs_of_rabin(workers):
    """Each has a search of its own, as many at a time as there are workers."""
    network = philosophers(4)
    several = check(
        network, empty=True, emptiness="rabin-parallel", workers=workers, reduce="none"
    )
    one = check(network, empty=True, emptiness="rabin", reduce="none")
    assert several.verdict == one.verdict

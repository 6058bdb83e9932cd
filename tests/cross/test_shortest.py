"""What is called shortest is: no lasso of the system that violates has fewer steps.

Random systems of every kind, by brute force (`tests.shortest_violations`); once in
plain Python, once by kernels.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from contextlib import nullcontext
from unittest.mock import patch

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LtlpipeWarning, check
from ltlpipe.logic.formulas import parse
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.strategies import shortening
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import dve_atoms, explored, net_atoms
from tests.cross.test_models import random_formula as model_formula
from tests.cross.test_spot_graphs import known
from tests.example_counts import at_least, examples
from tests.hypothesis_strategies import (
    formulas,
    networks,
    petri_nets,
    recurrent_formulas,
)
from tests.portfolio_settings import searching_at_once
from tests.shortest_violations import (
    graph_system,
    model_system,
    network_system,
    shorter_violation,
)
from tests.spot_graphs import (
    ACCEPTANCES,
    random_automaton,
    random_formula,
    random_kripke,
)
from tests.systems.programs.random_models import models

SEEDS = st.integers(0, 1 << 30)
NETWORKS = networks(max_components=3, max_states=4, internal=["d"])
BUCHI = networks(max_components=3, max_states=4, acceptance=True)
FORMULAS = formulas() | recurrent_formulas()
AGAIN = ["G(a -> G(b -> G b))", "!F(a & F(b & F(a & F b)))", "FGb | GFb & FGa"]

said: Counter[str | None] = Counter()
"""How often what was said of violations."""


def by_kernels():
    """A context in which nothing is done in plain Python."""
    return patch.object(shortening, "_SMALL", 1)


def asserted(system, formula, oracle, *, kernels=False, **options):
    """Nothing is called shortest that is not; count what is said."""
    with (
        warnings.catch_warnings(),
        searching_at_once(1) if kernels else nullcontext(),
        by_kernels() if kernels else nullcontext(),
    ):
        warnings.simplefilter("ignore", LtlpipeWarning)
        found = check(system, formula, shortest=True, unknown="never", **options)
    if found.lasso is None:
        return
    lasso = found.lasso
    length = len(lasso.prefix) + len(lasso.cycle)
    shorter = shorter_violation(oracle(), formula_of(formula), length)
    assert not (lasso.shortest and shorter), (formula, length)
    assert lasso.shortest == (lasso.shortest_of == "system")
    if shorter is not None:
        said[lasso.shortest_of] += 1


def formula_of(formula):
    return (
        parse(formula).spot
        if isinstance(formula, str)
        else getattr(formula, "spot", formula)
    )


def assert_network(network, text, deadlock, *, kernels, **options):
    together = options.get("network_acceptance") != "each"
    asserted(
        network,
        text,
        lambda: network_system(
            network, stutter=deadlock == "stutter", together=together
        ),
        kernels=kernels,
        deadlock=deadlock,
        **options,
    )


def assert_model(model, formula, stutter, *, kernels=False):
    graph = explored(model)
    if graph is None:
        return
    meanings = bound_propositions(model, Property(formula))

    def holding(state, action, dead):
        return frozenset(
            name
            for name, meaning in meanings.items()
            if evaluate(meaning, state, action=action, dead=dead)
        )

    deadlock = "stutter" if stutter else "ignore"
    asserted(
        model,
        formula,
        lambda: model_system(graph, holding, stutter=stutter),
        kernels=kernels,
        deadlock=deadlock,
    )


def assert_graph(graph, seed, *, kernels):
    formula = known(random_formula(seed + 1, size=6), graph)
    names = sorted(p.ap_name() for p in spot.atomic_prop_collect(formula) or [])
    asserted(graph, formula, lambda: graph_system(graph, names), kernels=kernels)


DEADLOCKS = st.sampled_from(["ignore", "stutter"])
TOGETHER = st.sampled_from(["together", "each"])
OF_NETWORKS = (NETWORKS, FORMULAS | st.sampled_from(AGAIN), DEADLOCKS, st.booleans())
OF_BUCHI = (BUCHI, FORMULAS, TOGETHER, st.booleans())


def assert_buchi(network, text, acceptance, kernels):
    options = {"network_acceptance": acceptance}
    assert_network(network, text, "ignore", kernels=kernels, **options)


def assert_net(net, seed, stutter, kernels):
    rng = random.Random(seed)
    formula = model_formula(rng, net_atoms(rng, net))
    assert_model(net, formula, stutter, kernels=kernels)


def assert_dve_model(text, seed, stutter):
    rng = random.Random(seed)
    model = read_dve_model(text, "random.dve")
    assert_model(model, model_formula(rng, dve_atoms(rng, model)), stutter)


@given(*OF_NETWORKS)
@settings(max_examples=examples(150))
def test_networks(network, text, deadlock, kernels):
    assert_network(network, text, deadlock, kernels=kernels)


@given(*OF_BUCHI)
@settings(max_examples=examples(60))
def test_components_that_accept(network, text, acceptance, kernels):
    assert_buchi(network, text, acceptance, kernels)


@given(petri_nets(max_places=4), SEEDS, st.booleans(), st.booleans())
@settings(max_examples=examples(60))
def test_nets(net, seed, stutter, kernels):
    assert_net(net, seed, stutter, kernels)


@given(models(), SEEDS, st.booleans())
@settings(max_examples=examples(30))
def test_dve_models(text, seed, stutter):
    assert_dve_model(text, seed, stutter)


@given(SEEDS, st.booleans())
@settings(max_examples=examples(60))
def test_kripke_structures(seed, kernels):
    assert_graph(random_kripke(seed, max_states=4), seed, kernels=kernels)


@given(SEEDS, st.sampled_from([*ACCEPTANCES]), st.booleans())
@settings(max_examples=examples(60))
def test_automata(seed, kind, kernels):
    assert_graph(random_automaton(seed, kind, max_states=4), seed, kernels=kernels)


@pytest.mark.slow
@given(*OF_NETWORKS)
@settings(max_examples=examples(3000))
def test_networks_by_the_thousand(network, text, deadlock, kernels):
    assert_network(network, text, deadlock, kernels=kernels)


@pytest.mark.slow
@given(*OF_BUCHI)
@settings(max_examples=examples(2000))
def test_components_that_accept_by_the_thousand(network, text, acceptance, kernels):
    assert_buchi(network, text, acceptance, kernels)


@pytest.mark.slow
@given(petri_nets(max_places=4), SEEDS, st.booleans(), st.booleans())
@settings(max_examples=examples(2000))
def test_nets_by_the_thousand(net, seed, stutter, kernels):
    assert_net(net, seed, stutter, kernels)


@pytest.mark.slow
@given(models(), SEEDS, st.booleans())
@settings(max_examples=examples(1000))
def test_dve_models_by_the_thousand(text, seed, stutter):
    assert_dve_model(text, seed, stutter)


@pytest.mark.slow
@given(SEEDS, st.sampled_from([*ACCEPTANCES]), st.booleans())
@settings(max_examples=examples(2000))
def test_graphs_by_the_thousand(seed, kind, kernels):
    assert_graph(random_automaton(seed, kind, max_states=4), seed, kernels=kernels)
    assert_graph(random_kripke(seed, max_states=4), seed, kernels=kernels)


@pytest.mark.last("the others count")
def test_most_are_called_shortest():
    """The tests before have counted."""
    assert said["system"] >= at_least(100)
    assert said["system"] >= 9 * (said["product"] + said[None])

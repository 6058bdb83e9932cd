"""Quotients by groups of every kind against the plain product.

Every violation is replayed within the check, step by step.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter

import pytest

from ltlpipe import Network, UnsupportedError
from tests.cross.test_agreement import ask
from tests.cross.test_models import dve_atoms, net_atoms, random_formula
from tests.example_counts import at_least, examples
from tests.symmetry.groups import random_systems as systems

SEARCHES = ("couvreur99", "se05", "gmz04", "rabin", "tela", "auto")
REDUCTIONS = (
    *["automorphisms"] * 3,
    *["automorphisms,ample"] * 2,
    "automorphisms,components",
    "automorphisms,components,ample",
)
"""Of networks; what is named beside is combined with the orbits."""

WITH_AMPLE = ("couvreur99", "se05", "auto")
LIMIT = 20_000
"""States: some nets are unbounded."""


def model_question(rng, make, atoms_of):
    """A model and a formula over what all members have, or over some of them."""
    model = make(rng)
    of = systems.common_atoms if rng.random() < 0.8 else atoms_of
    return model, random_formula(rng, rng.sample(of(rng, model), 2))


def network_question(rng):
    """A network and a formula over some events."""
    network = systems.network(rng)
    names = [action.name for action in network.actions]
    chosen = [rng.sample(names, min(len(names), rng.randint(1, 4))) for _ in range(2)]
    return network, random_formula(rng, ["(" + " | ".join(own) + ")" for own in chosen])


def kind_of(seed):
    """What the system is."""
    return "dve" if seed % 10 == 9 else ("network", "net")[seed % 2]


def question(seed):
    """A system of each kind in turn, a formula and options."""
    rng = random.Random(seed)
    options = {}
    kind = kind_of(seed)
    if kind == "network":
        system, formula = network_question(rng)
        options["deadlock"] = rng.choice(["ignore", "stutter"])
        options["reduce"] = rng.choice(REDUCTIONS)
    elif kind == "net":
        system, formula = model_question(rng, systems.net, net_atoms)
    else:
        system, formula = model_question(rng, systems.dve_model, dve_atoms)
    ample = "ample" in options.get("reduce", "")
    return system, formula, rng.choice(WITH_AMPLE if ample else SEARCHES), options


def assert_agree(seed, counts):
    """Orbits have the verdict of the plain product, and one state more at most."""
    system, formula, search, options = question(seed)
    kind = kind_of(seed)
    limits = {"max_states": LIMIT, "emptiness": search}
    reduce = options.get("reduce", "automorphisms")
    deadlock = {k: options[k] for k in options if k == "deadlock"}
    plain = ask(system, formula, reduce="none", **deadlock, **limits)
    try:
        found = ask(system, formula, **{**options, "reduce": reduce}, **limits)
    except UnsupportedError:
        if reduce != "automorphisms":
            return  # the property is not interruptible, or components accept
        raise
    if "unknown" in (plain.verdict, found.verdict):
        assert kind == "net", seed  # an unbounded one
        return
    assert found.verdict == plain.verdict, (seed, formula)
    counts[kind, found.verdict] += 1
    assert found.plan.strategy == "automorphisms", seed
    counts[reduce] += 1
    reasons = " ".join(found.plan.reasons)
    counts[kind, "moved"] += "changes nothing" not in reasons
    if found.verdict == "violated":
        assert found.lasso or found.finite_run  # replayed, either way
        counts["long"] += found.lasso is not None and len(found.lasso.cycle) > 1
    elif found.plan.emptiness == plain.plan.emptiness and "components" not in reduce:
        # The initial state stands for itself, and its orbit may be met again.
        assert found.stats.states <= plain.stats.states + 1, (seed, formula)
        counts["fewer"] += found.stats.states < plain.stats.states


def test_some():
    """Three hundred questions."""
    counts = Counter()
    for seed in range(examples(300, quick=20)):
        assert_agree(seed, counts)

    for kind in ("network", "net", "dve"):
        assert min(counts[kind, "holds"], counts[kind, "violated"]) >= at_least(5)
        assert counts[kind, "moved"] >= at_least(5)
    assert min(counts[reduce] for reduce in REDUCTIONS) >= at_least(2)
    assert counts["fewer"] >= at_least(2)
    assert counts["long"] >= at_least(30)


@pytest.mark.parametrize("options", [{}, {"emptiness": "gmz04"}])
def test_ample_sets_of_orbits_are_refused_as_ample_sets_are(options):
    """Where acceptance is about states, or a search takes all steps.

    A search of orbits did not look at that, and found a cycle in which no component
    accepts (question 10160).
    """
    system, formula, _, _ = question(10_160)
    assert system.has_acceptance
    if options:
        plain = [dataclasses.replace(c, accepting=None) for c in system.components]
        system = Network(tuple(plain))

    for reduce in ("ample", "automorphisms,ample"):
        with pytest.raises(UnsupportedError, match=r"about states|takes all steps"):
            ask(system, formula, reduce=reduce, **options)


def assert_instances_agree(seed, counts):
    """Orbits of a model of instances of a proctype have the plain verdict."""
    rng = random.Random(seed)
    model = systems.promela_model(rng)
    atoms = systems.promela_atoms(rng, model)
    formula = random_formula(rng, rng.sample(atoms, 2))
    search = {"emptiness": rng.choice(SEARCHES)}  # no limit: the models are finite
    plain = ask(model, formula, reduce="none", **search)
    found = ask(model, formula, reduce="automorphisms", **search)
    assert found.verdict == plain.verdict, (seed, formula)
    counts[found.verdict] += 1
    counts["moved"] += "changes nothing" not in " ".join(found.plan.reasons)
    if found.verdict == "holds" and found.plan.emptiness == plain.plan.emptiness:
        assert found.stats.states <= plain.stats.states + 1, (seed, formula)
        counts["fewer"] += found.stats.states < plain.stats.states


def test_instances_of_a_proctype():
    """Buffers, rendezvous, atomic, d_step, timeout; some tell them apart."""
    counts = Counter()
    for seed in range(examples(60)):
        assert_instances_agree(seed, counts)

    assert min(counts["holds"], counts["violated"], counts["moved"]) >= at_least(5)
    assert counts["fewer"] >= at_least(2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_instances_of_a_proctype_many(part):
    """2,000 models in ten parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_instances_agree(seed, counts)

    assert counts["moved"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_many(part):
    """5,000 questions in 25 parts."""
    counts = Counter()
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        assert_agree(seed, counts)

    assert counts["long"] > 3

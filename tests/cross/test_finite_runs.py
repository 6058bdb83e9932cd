"""Finite runs that violate a property, against Spot and brute force.

Most systems here are so small that every run can be continued to a lasso; the batteries
forbid that, so that each violation that can be one is a finite run.
"""

from __future__ import annotations

import random
import warnings
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, LtlpipeWarning, Network, UnsupportedError, check
from ltlpipe.logic.formulas import parse
from ltlpipe.question import model as model_module
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import silenced
from ltlpipe.search.catalogue import POWERSET
from ltlpipe.strategies import shortening
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Sort,
    Sum,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import (
    WAYS,
    dve_atoms,
    explored,
    net_atoms,
    random_formula,
    spot_verdict,
)
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks, petri_nets
from tests.oracles import spot_verdict as spot_verdict_of_network
from tests.portfolio_settings import all_playing, few_walks, searching_at_once
from tests.symmetry.groups.random_networks import personal_formula, random_symmetric
from tests.systems.programs.random_models import models

NETWORK_WAYS = [
    {},
    {"reduce": "none"},
    {"reduce": "ample"},
    {"reduce": "components"},
    {"reduce": "automorphisms"},
    {"reduce": "walks"},
    {"emptiness": "dfs-weak"},
    {"emptiness": "reach-terminal"},
    {"emptiness": "couvreur99"},
    {"emptiness": "se05"},
    {"emptiness": "tela", "acceptance": "tela"},
]


def net(tokens, *transitions):
    """Places p0, p1, ... and transitions t0, t1, ... with these arcs."""
    places = [Place(f"p{i}", f"p{i}", n) for i, n in enumerate(tokens)]
    return PetriNet(
        places, [Transition(f"t{i}", f"t{i}", *t) for i, t in enumerate(transitions)]
    )


SOURCE = net((0, 0), ({}, {0: 1}))

MANY = " && ".join(f"p0>={k}" for k in range(1, 11))
"""More comparisons than may each be a bit of a letter."""


@contextmanager
def hardly_continued():
    """Let runs be continued only to where they are deadlocked, or stay.

    Boolean parts of small formulas are folded.
    """
    folding = patch.object(model_module, "MOST_NAMED", 1)
    with patch.object(shortening, "MOST_STATES", 1), folding:
        yield


def is_bad(formula, letters, *, one_at_a_time):
    """Whether no infinite word satisfies a formula and begins with these letters.

    The letters are sets of propositions.
    """
    import spot

    names = [p.ap_name() for p in spot.atomic_prop_collect(formula)]
    aps = {name: spot.formula_ap(name) for name in names}
    parts = [formula]
    for k, letter in enumerate(letters):
        fixed = [p if n in letter else spot.formula_Not(p) for n, p in aps.items()]
        now = spot.formula_And(fixed)
        for _ in range(k):
            now = spot.formula_X(now)
        parts.append(now)
    if one_at_a_time:
        pairs = [(a, b) for a in aps.values() for b in aps.values() if str(a) < str(b)]
        parts += [
            spot.formula_G(spot.formula_Not(spot.formula_And([a, b]))) for a, b in pairs
        ]
    return spot.translate(spot.formula_And(parts), "any", "low").is_empty()


def assert_violates(model, formula, run):
    """A finite run is one of the model, and a bad prefix with its last state."""
    meanings = bound_propositions(model, Property(formula))
    states = [tuple(state) for state in run.states.tolist()]
    assert states[0] == tuple(model.initial())
    letters = []
    for k, action in enumerate(run.actions.tolist()):
        if action < 0:
            assert not model.steps(states[k])
            assert states[k] == states[k + 1]
        else:
            taken = [(s.action, tuple(s.state)) for s in model.steps(states[k])]
            assert (action, states[k + 1]) in taken
        letters.append(held(meanings, states[k], action))
    if run.spelling is not None and len(run.spelling.steps) > len(letters):
        steps = model.steps(states[-1])
        letters.append(held(meanings, states[-1], steps[0].action if steps else -1))
    assert is_bad(formula.spot, letters, one_at_a_time=False)


def held(meanings, state, action):
    dead = action < 0
    return {
        name
        for name, meaning in meanings.items()
        if evaluate(meaning, state, action=None if dead else action, dead=dead)
    }


def assert_network_violates(network, formula, run):
    """A finite run is one of the network, and a bad prefix."""
    state, letters = [c.initial for c in network.components], []
    numbers = run.actions.tolist()
    for k, (name, number) in enumerate(zip(run.prefix, numbers, strict=True)):
        internal = number >= 0 and network.actions[number].internal
        after = run.states[k + 1].tolist()
        for i, component in enumerate(network.components):
            takes = name in set(component.labels) - component.internal
            if internal:
                takes = network.actions[number].participants == (i,)
            step = state[i], name, after[i]
            assert step in component.transitions() if takes else state[i] == after[i]
        state = after
        letters.append(set() if internal else {name})
    assert is_bad(formula.spot, letters, one_at_a_time=True)


def ask(system, formula, **options):
    """A verdict, or None if the options cannot be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LtlpipeWarning)
            return check(system, formula, unknown="never", **options)
    except UnsupportedError:
        return None


def assert_models_agree(model, formula, stutters):
    """Every way gives the verdict of brute force, and real bad prefixes."""
    graph = explored(model)
    assume(graph is not None)
    expected = spot_verdict(model, graph, formula, stutters)
    deadlock = "stutter" if stutters else "ignore"
    ways = [*WAYS, {"emptiness": "reach-terminal"}, {"reduce": "walks"}]
    for way in ways:
        with hardly_continued(), searching_at_once(1), few_walks():
            found = ask(model, formula, deadlock=deadlock, **way)
        assert_finite(model, formula, stutters, found, expected)
    with hardly_continued(), all_playing():
        found = ask(model, formula, deadlock=deadlock)
    assert_finite(model, formula, stutters, found, expected)
    with hardly_continued(), searching_at_once(3):  # and gives up
        found = ask(model, formula, deadlock=deadlock)
    assert_finite(model, formula, stutters, found, expected)


def assert_finite(model, formula, stutters, found, expected):
    if found is None or found.reason == "walks":
        return
    assert found.verdict == expected, (formula.text, found.plan.strategy)
    run = found.finite_run
    assert (found.lasso is None) == (expected == "holds" or run is not None)
    if run is not None:
        assert stutters
        assert expected == "violated"
        assert_violates(model, formula, run)


def safety_formula(rng, atoms):
    """A formula most of whose violations are bad prefixes."""
    a, b, c = (rng.choice(atoms) for _ in range(3))
    shapes = ("G({a})", "G(({a}) -> X({b}))", "({a}) W ({b})", "X({a})", "{a}")
    shapes = (*shapes, "G({a} | {b})", "G({a}) & GF({b})", "G(({a}) | X X ({b} & {c}))")
    return parse(rng.choice(shapes).format(a=a, b=b, c=c))


def any_formula(rng, atoms):
    kind = random_formula if rng.random() < 0.2 else safety_formula
    return kind(rng, atoms)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(petri_nets(max_places=3), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(30))
def test_nets(net, seed, stutters):
    rng = random.Random(seed)
    assert_models_agree(net, any_formula(rng, net_atoms(rng, net)), stutters)


@pytest.mark.slow
@given(petri_nets(), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(3000))
def test_nets_by_the_thousand(net, seed, stutters):
    rng = random.Random(seed)
    assert_models_agree(net, any_formula(rng, net_atoms(rng, net)), stutters)


@pytest.mark.slow
@given(models(), st.integers(0, 1 << 30), st.booleans())
@settings(max_examples=examples(150))
def test_dve_models_by_the_hundred(text, seed, stutters):
    rng = random.Random(seed)
    model = read_dve_model(text, "random.dve")
    for _ in range(10):
        assert_models_agree(model, any_formula(rng, dve_atoms(rng, model)), stutters)


def assert_networks_agree(network, formula, deadlock, ways=NETWORK_WAYS):
    stutters = deadlock == "stutter"
    expected = spot_verdict_of_network(network, formula.spot, stutter=stutters)
    for way in ways:
        with hardly_continued(), searching_at_once(1):
            found = ask(network, formula, deadlock=deadlock, **way)
        if found is None or found.reason == "walks":
            continue
        assert found.verdict == expected, (formula.text, way)
        run = found.finite_run
        assert (found.lasso is None) == (expected == "holds" or run is not None)
        if run is not None:
            assert stutters
            assert_network_violates(network, formula, run)


SAFETY = formulas(max_leaves=5).map(lambda f: parse(f"G !({f}) | X G ({f})"))
DEADLOCKS = st.sampled_from(["ignore", "stutter", "stutter"])


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(networks(max_components=3), SAFETY, DEADLOCKS)
@settings(max_examples=examples(60))
def test_networks(network, formula, deadlock):
    assert_networks_agree(network, formula, deadlock)


@pytest.mark.slow
@given(networks(max_components=3, internal=["d"]), SAFETY, DEADLOCKS)
@settings(max_examples=examples(2000))
def test_networks_by_the_thousand(network, formula, deadlock):
    assert_networks_agree(network, formula, deadlock)


def assert_orbits_agree(seed):
    """Searches of orbits stop where the property is lost, too."""
    rng = random.Random(seed)
    network = random_symmetric(rng, n_clients=3, most_states=3, accepting=False)
    text = personal_formula(rng, network)
    formula = parse(f"G !({text}) | X ({text})")
    names = ("auto", "dfs-weak", "couvreur99", "se05")
    ways = [{"reduce": "symmetry", "emptiness": name} for name in names]
    deadlock = rng.choice(["ignore", "stutter", "stutter"])
    assert_networks_agree(network, formula, deadlock, ways)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_orbits():
    for seed in range(examples(30)):
        assert_orbits_agree(seed)


@pytest.mark.slow
def test_orbits_by_the_hundred():
    for seed in range(30, 30 + examples(400)):
        assert_orbits_agree(seed)


@pytest.mark.parametrize(
    "way",
    [
        {},
        {"reduce": "none"},
        {"reduce": "walks"},
        {"emptiness": "dfs-weak"},
        {"emptiness": "reach-terminal"},
        {"emptiness": "se05"},
        {"emptiness": "couvreur99"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("formula", "n_steps"),
    [
        ("G(1<=p1)", 0),
        ("G(p0<=5)", 6),
        ("G(p0<=5 || p1>=1)", 6),
        ('G !(action=="t0")', 1),
        ("false", 0),
        (f"G !({MANY})", 10),
    ],
)
def test_unbounded_nets_lose_no_violation(way, formula, n_steps):
    """No marking comes again: what was found had been reported as unknown."""
    found = check(SOURCE, formula, timeout=60, **way)

    assert (found.verdict, found.reason, found.lasso) == ("violated", None, None)
    assert found.finite_run.kind == "bad-prefix"
    assert len(found.finite_run.steps) == n_steps
    assert found.stats.states <= 3000
    assert_violates(SOURCE, parse(formula), found.finite_run)


def test_what_is_no_safety_formula_is_lost_as_well():
    found = check(SOURCE, "G(p0<=5) && G F (p0==0)")

    assert found.verdict == "violated"
    assert len(found.finite_run.actions) == 6


def test_a_long_way_to_the_next_cycle():
    """It is not waited for, and reported only if it is near."""
    way = [(i, "step", i + 1) for i in range(1, 20_000)]
    long = Network([LTS.from_transitions([(0, "bad", 1), *way])])
    asked = {"deadlock": "stutter", "emptiness": "reach-terminal"}

    found = check(long, "G !bad", **asked)
    assert found.finite_run.prefix == ["bad"]
    assert found.stats.states <= 3
    assert check(long, "G !bad").verdict == "holds"
    near = check(long, "G !(X X G step)", deadlock="stutter")
    assert near.verdict == "holds"


@pytest.mark.parametrize("emptiness", ["dfs-weak", "auto"])
def test_without_deadlocks_that_count_a_cycle_is_looked_for_nearby(emptiness):
    """The search itself would follow the transition that always adds a token."""
    found = check(
        net((0, 1, 0), ({}, {0: 1}), ({1: 1}, {2: 1}), ({2: 1}, {1: 1})),
        "G(p0<=2)",
        deadlock="ignore",
        emptiness=emptiness,
        timeout=60,
    )

    assert found.verdict == "violated"
    assert found.lasso.cycle_actions in (["t1", "t2"], ["t2", "t1"])


def test_a_bad_prefix_without_an_infinite_continuation_is_none():
    ends = net((1, 0, 1, 0), ({0: 1}, {1: 1}), ({2: 1}, {3: 1}), ({3: 1}, {2: 1}))
    stops = net((1, 0), ({0: 1}, {1: 1}))

    assert check(stops, "G(p1==0)", deadlock="ignore").verdict == "holds"
    assert check(ends, "G(p1==0)", deadlock="ignore").verdict == "violated"


def test_fair_runs_and_marks_of_the_system_are_infinite():
    """A continuation has to be fair, or accepting: none is taken for granted."""
    with silenced():  # the net is unbounded
        fair = check(SOURCE, "G(p0<=5)", fairness="weak", fair_sets="t0", timeout=1)
    assert fair.finite_run is None

    accepting = LTS.from_transitions([(0, "bad", 1)], accepting={0})
    marked = Network([accepting])
    assert check(marked, "G !bad", deadlock="stutter").verdict == "holds"


def coloured_source(n):
    """A transition puts a token of any of n colours, again and again."""
    names = tuple(map(str, range(1, n + 1)))
    sort = Sort("c", "c", ENUMERATION, tuple(f"c{name}" for name in names), names)
    token = Sum((Tokens(1, (Bound(0, 0, n),)),))
    return SymmetricNet(
        ColouredNet(
            "source",
            (sort,),
            (Variable("x", "x", 0),),
            (ColouredPlace("p", "p", (0,), EMPTY),),
            (ColouredTransition("t", "t", TRUE, (), ((0, token),)),),
        )
    )


@pytest.mark.parametrize("emptiness", POWERSET)
def test_colours(emptiness):
    """Sets of markings of a net that grows do not come again, either."""
    net = coloured_source(3)
    found = check(net, "G(p<=4)", emptiness=emptiness, reduce="symmetry", timeout=60)

    assert (found.verdict, found.lasso) == ("violated", None)
    assert len(found.finite_run.actions) == 5
    assert_violates(net, parse("G(p<=4)"), found.finite_run)

"""Runs that end do not count: a verdict that leans on that has a warning."""

import warnings

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import coloured_dining, dining
from ltlpipe import LTS, LtlpipeWarning, Network, check, deadlocks
from ltlpipe.systems.nets.writing import save_pnml
from ltlpipe.verdict import deadlocks as finite_runs
from tests.example_counts import examples

CRASH = [(0, "req", 1), (1, "ack", 0), (0, "req", 2), (2, "crash", 3)]
"""A server that may crash."""

ENDS = [(0, "a", 1), (1, "b", 2)]
"""A system without an infinite run."""

RING = [(0, "a", 1), (1, "b", 0)]


def network(*components):
    """Return the network of components, each a list of transitions."""
    return Network([LTS.from_transitions(c) for c in components])


def asked(system, formula, **options):
    """Return the verdict and its warnings, which Python is given, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LtlpipeWarning)
        verdict = check(system, formula, **options)
    assert [str(w.message) for w in caught] == list(verdict.warnings)
    return verdict


def counter(n_components, n_states):
    """Return components that count for themselves, and then all stop."""
    return network(
        *([(s, f"c{i}", s + 1) for s in range(n_states)] for i in range(n_components))
    )


# --- what is said -------------------------------------------------------------


def test_a_reachable_deadlock_is_said_with_the_run_to_it():
    """The formula holds of all infinite runs, and a finite one has no ack."""
    verdict = asked(network(CRASH), "G(req -> F ack)")

    assert verdict.verdict == "holds"
    (warning,) = verdict.warnings
    assert warning == (
        "finite runs do not count: a deadlock is reachable, after req crash; "
        "deadlock='stutter' counts them"
    )
    assert verdict.deadlock == "reachable"


@pytest.mark.parametrize("formula", ["G F a", "!G F a", "false"])
def test_a_system_without_infinite_runs_satisfies_everything(formula):
    """A formula and its negation both hold: that is said."""
    verdict = asked(network(ENDS), formula)

    assert verdict.verdict == "holds"
    (warning,) = verdict.warnings
    assert warning.startswith("finite runs do not count: there is no infinite run")


def test_nothing_is_said_where_nothing_ends():
    """All runs of a ring are infinite."""
    verdict = asked(network(RING), "G F a")

    assert (verdict.warnings, verdict.deadlock) == ((), "none")


@pytest.mark.parametrize(
    ("formula", "options"),
    [("G F a", {"deadlock": "stutter"}), ("G !req", {}), (None, {"empty": True})],
    ids=["they count", "violated by an infinite run", "no property"],
)
def test_nothing_is_said_where_the_answer_does_not_lean_on_it(formula, options):
    """Finite runs count, or do not matter to the verdict."""
    system = network(ENDS if formula != "G !req" else CRASH)
    verdict = asked(system, formula, **options)

    assert (verdict.warnings, verdict.deadlock) == ((), None)


def test_long_runs_are_cut():
    """A warning is one line."""
    verdict = asked(
        network([(s, f"c{s}", s + 1) for s in range(50)] + [(9, "d", 0)]), "true"
    )

    assert "after c0 c1 c2 " in verdict.warnings[0]
    assert "... (50 steps)" in verdict.warnings[0]


# --- systems of every kind ----------------------------------------------------


def test_models_whose_finite_runs_are_not_to_count(tmp_path):
    """Models let deadlocks repeat themselves unless they are asked not to."""
    path = tmp_path / "model.dve"
    path.write_text(
        "byte x = 0; process P { state s; init s;"
        " trans s -> s { guard x < 3; effect x = x + 1; }; } system async;"
    )

    assert asked(str(path), "F x==3").warnings == ()
    verdict = asked(str(path), "G x==0", deadlock="ignore")
    assert "no infinite run" in verdict.warnings[0]


@pytest.mark.parametrize("family", [dining, coloured_dining])
def test_nets_whose_finite_runs_are_not_to_count(family, tmp_path):
    """Dining philosophers can stop, also those of a symmetric net."""
    path = tmp_path / "net.pnml"
    save_pnml(family(3), path)
    verdict = asked(str(path), "true", deadlock="ignore")

    assert "a deadlock is reachable, after " in verdict.warnings[0]


def test_kripke_structures_but_no_automata():
    """A state without successors ends a run of a Kripke structure.

    An automaton has only infinite words, and no option would make others count.
    """
    kripke = spot.make_kripke_graph(spot.make_bdd_dict())
    p = kripke.register_ap("p")
    import buddy

    first, second = (
        kripke.new_state(buddy.bdd_ithvar(p)),
        kripke.new_state(buddy.bddtrue),
    )
    kripke.new_edge(first, first)
    kripke.new_edge(first, second)
    kripke.set_init_state(first)

    assert "a deadlock is reachable" in asked(kripke, "G p").warnings[0]
    automaton = spot.translate("p & X G !p")
    assert asked(automaton, "p").warnings == ()


# --- whichever strategy answers -----------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reduce": "none", "emptiness": "se05"},
        {"emptiness": "couvreur99"},
        {"fairness": "weak"},
    ],
    ids=["automatic", "se05", "couvreur99", "fair"],
)
def test_whichever_strategy_answers(options):
    """The system is looked at as it is, not as it is searched."""
    verdict = asked(network(CRASH, [(0, "ack", 0)]), "G(req -> F ack)", **options)

    assert verdict.verdict == "holds"
    assert "a deadlock is reachable, after req crash" in verdict.warnings[0]


def test_a_property_that_does_not_look_at_what_ends():
    """The automaton rejects before the deadlock: the look goes on alone."""
    chain = [(s, f"c{s}", s + 1) for s in range(100)]
    verdict = asked(network([*chain, (0, "a", 0)]), "a | c0")

    assert verdict.deadlock == "reachable"


@pytest.mark.parametrize(
    ("components", "deadlock"),
    [([CRASH], "reachable"), ([RING], "none")],
    ids=["deadlock", "none"],
)
def test_the_compiled_search(components, deadlock, monkeypatch):
    """It takes over where questions are long, unless it would have to be compiled."""
    deadlocks(network(RING))  # has it compiled
    monkeypatch.setattr(finite_runs, "LEAST", finite_runs.OF_KERNELS)
    monkeypatch.setattr(finite_runs, "_walked", None)
    verdict = asked(network(*components), "true")

    assert verdict.deadlock == deadlock
    assert ("after req crash" in "".join(verdict.warnings)) == (deadlock != "none")


# --- how much of it -----------------------------------------------------------


def test_what_was_not_looked_for_is_no_warning():
    """A large system is not explored for a question that costs nothing."""
    verdict = asked(counter(12, 9), "true")

    assert (verdict.warnings, verdict.deadlock) == ((), "not looked for")


def test_systems_are_looked_at_once(monkeypatch):
    """Not once for each formula."""
    looks = []
    walk = finite_runs._walk
    monkeypatch.setattr(
        finite_runs, "_walk", lambda *a, **k: looks.append(1) or walk(*a, **k)
    )
    system = network(CRASH)
    said = [asked(system, f).warnings for f in ("G(req -> F ack)", "true", "!G crash")]

    assert len(looks) == 1
    assert said[0]
    assert said == said[:1] * 3


@st.composite
def systems(draw):
    """Draw components over few actions."""
    states = st.integers(min_value=0, max_value=3)
    steps = st.tuples(states, st.sampled_from("abc"), states)
    some = st.lists(steps, min_size=1, max_size=6, unique=True)
    return [[(0, "a", 1), *draw(some)] for _ in range(draw(st.integers(1, 3)))]


def explored(system):
    """Return the steps of all reachable states, by an independent way."""
    graph = system.to_spot(max_states=1000)
    return {s: [e.dst for e in graph.out(s)] for s in range(graph.num_states())}


def has_cycle(steps):
    """Whether a graph has a cycle: none of its states can be taken away."""
    left = dict(steps)
    while gone := [s for s, followers in left.items() if not left.keys() & followers]:
        for state in gone:
            del left[state]
    return bool(left)


@settings(max_examples=examples(60))
@given(systems())
def test_agrees_with_all_reachable_states(components):
    """What is said of small systems is what all their states say."""
    assert_agrees(components)


@pytest.mark.slow
@settings(max_examples=examples(3000))
@given(systems())
def test_agrees_with_all_reachable_states_of_many(components):
    """As above, thousands of times."""
    assert_agrees(components)


def assert_agrees(components):
    """Compare what is said with what an exploration of its own finds."""
    system = network(*components)
    steps = explored(system)
    verdict = asked(system, "true")

    ends = not all(steps.values())
    assert verdict.deadlock == ("reachable" if ends else "none")
    endless = "there is no infinite run" not in "".join(verdict.warnings)
    assert endless == has_cycle(steps)
    assert bool(verdict.warnings) == ends

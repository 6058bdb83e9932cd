"""The steps of simulations are those of searches; runs can be walked along."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spot
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ltlpipe
from benchmarks.families.nets import token_ring
from ltlpipe import LTS, LassoStep, LtlpipeWarning, Move, Network, Simulation, check
from ltlpipe.automata.graphs import state_condition
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.simulation.simulation import MOST_ENABLED
from ltlpipe.verdict.checking import product_size
from tests.example_counts import examples
from tests.hypothesis_strategies import (
    LETTERS,
    formulas,
    named_networks,
    networks,
    petri_nets,
)
from tests.spot_graphs import random_automaton, random_kripke

EXAMPLES = Path(__file__).parents[2] / "examples"
PETERSON = EXAMPLES / "dve" / "peterson.dve"
BIT = EXAMPLES / "dve" / "alternating_bit.dve"
MUTEX = EXAMPLES / "problems" / "mutex" / "system.dot"
UNFAIR = "G(ask_l -> F enter_l)"

CLIENT = LTS.from_transitions([(0, "ask", 1), (1, "get", 0)], name="client")
CLIENT = replace(CLIENT, state_names=("idle", "waiting"))
SERVER = LTS.from_transitions(
    [(0, "ask", 1), (1, "get", 0), (1, "nap", 1), (1, "die", 2)], n_states=3
)
OFFICE = Network([CLIENT, SERVER], "office")
MANY = Network(
    [
        LTS.from_transitions([(0, "go", k) for k in range(20)], name=f"p{i}")
        for i in range(9)
    ]
)
"""A state with 20^9 steps."""


KINDS = {
    "kripke": random_kripke,
    **{
        kind: partial(random_automaton, kind=kind)
        for kind in ("all", "Buchi", "Rabin", "generalized-co-Buchi")
    },
}
"""Random graphs of Spot, by a seed."""


def successors(simulation):
    """The enabled steps with the states they lead to."""
    found = set()
    for k, step in enumerate(simulation.enabled):
        after = simulation.step(k).state
        simulation.undo()
        found.add((step.action, step.holds, tuple(after.items())))
    return found


def explored(simulation, most):
    """All states that can be reached, each with its successors."""
    found = {}
    simulation.goto(0)

    def visit():
        place = tuple(simulation.state.items())
        if place in found or len(found) >= most:
            return
        found[place] = successors(simulation)
        for k in range(len(simulation.enabled)):
            simulation.step(k)
            visit()
            simulation.undo()

    visit()
    return found


def of_spot(network):
    """The same of what `Network.to_spot` makes, with the numbers of states."""
    graph = network.to_spot()
    names = graph.get_state_names()
    actions = {
        p.ap_name(): spot.buddy.bdd_ithvar(graph.register_ap(p)) for p in graph.ap()
    }
    found = {}
    for state in range(graph.num_states()):
        steps = set()
        for edge in graph.out(state):
            named = [
                name
                for name, variable in actions.items()
                if edge.cond & variable == edge.cond
            ]
            steps.add((*named, names[edge.dst]) if named else ("", names[edge.dst]))
        found[names[state]] = steps
    return found


@given(networks(max_components=3, max_states=4, internal=("d",)))
@settings(max_examples=examples(150), deadline=None)
def test_steps_of_networks(network):
    """Those of the explicit graph, state by state; internal actions have no name."""
    internal = {a.name for a in network.actions if a.internal}
    assume(not internal & {a.name for a in network.actions if not a.internal})
    found = explored(Simulation(network), 200)
    assume(len(found) < 200)

    told = {}
    for state, steps in found.items():
        key = ",".join(local for _, local in state)
        told[key] = {
            (
                "" if action in internal else action,
                ",".join(local for _, local in after),
            )
            for action, _, after in steps
        }
    assert told == of_spot(network)


@given(networks(max_components=3, max_states=4))
@settings(max_examples=examples(60), deadline=None)
def test_as_many_states_as_the_kernels_find(network):
    """Of the product with nothing."""
    found = explored(Simulation(network), 200)
    assume(len(found) < 200)

    size = product_size(network, None)

    assert len(found) == size.states
    assert all(len(steps) <= size.transitions for steps in found.values())


@given(petri_nets(max_places=4, max_transitions=4), st.sampled_from(["p0>=1", "p0==0"]))
@settings(max_examples=examples(100), deadline=None)
def test_steps_of_nets(net, proposition):
    """Those of the Kripke structure, with what holds before each."""
    assume(net.variables)
    simulation = Simulation(net, f"G({proposition})", deadlock="ignore")
    found = explored(simulation, 40)
    assume(len(found) < 40)

    graph = net.to_spot([proposition], stutters=False)
    names = graph.get_state_names()
    expected = {
        names[k]: {names[edge.dst] for edge in graph.out(k)}
        for k in range(graph.num_states())
    }
    told = {
        _name(state): {_name(after) for *_, after in steps}
        for state, steps in found.items()
    }
    assert told == expected
    for state, steps in found.items():
        holds = (dict(state)["p0"] >= 1) == (proposition == "p0>=1")
        assert all(bool(held) == holds for _, held, _ in steps)


def _name(state):
    return ", ".join(f"{name}={value}" for name, value in state)


@pytest.mark.parametrize(
    "path",
    [
        PETERSON,
        pytest.param(
            BIT, marks=pytest.mark.thorough("seconds, while smaller ones stay")
        ),
    ],
)
def test_as_many_states_of_a_model(path):
    """Those that the search finds that looks for deadlocks."""
    simulation = Simulation(path)
    seen, queue = {}, [()]
    for way in queue:
        simulation.goto(0)
        for k in way:
            simulation.step(k)
        state = tuple(simulation.state.items())
        if state not in seen:
            seen[state] = successors(simulation)
            queue += [(*way, k) for k in range(len(simulation.enabled))]
    result = ltlpipe.deadlocks(path)
    assert (result.verdict, result.stats.states) == ("holds", len(seen))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_graphs(kind, seed):
    """Those of the product with everything; each way in which the formula's hold."""
    graph = KINDS[kind](seed)
    system = ltlpipe.load(graph)
    product = ltlpipe.product(system, "0") if not system.accepts_nothing else None
    found = explored(Simulation(system), 100)
    if product is not None:
        names = product.get_state_names()
        expected = {
            names[k].split("|")[0]: {names[e.dst].split("|")[0] for e in product.out(k)}
            for k in range(product.num_states())
        }
        told = {
            state[0][1]: {after[0][1] for *_, after in steps}
            for state, steps in found.items()
        }
        assert told == expected

    known = [p.ap_name() for p in graph.ap()][:2]
    if known:
        _assert_letters(graph, system, known)


def _assert_letters(graph, system, known):
    """Each edge is there once for each valuation of some propositions it allows."""
    names = " & ".join(f"F {name}" for name in known)
    found = explored(Simulation(system, names), 100)
    for ((_, state),), steps in found.items():
        expected = set()
        for edge in graph.out(int(state)):
            condition = (
                state_condition(graph, int(state)) if system.is_kripke else edge.cond
            )
            for mask in range(1 << len(known)):
                cube = spot.buddy.bddtrue
                holding = []
                for k, name in enumerate(known):
                    variable = graph.register_ap(name)
                    literal = spot.buddy.bdd_nithvar
                    if mask >> k & 1:
                        literal = spot.buddy.bdd_ithvar
                        holding.append(name)
                    cube &= literal(variable)
                if cube & condition != spot.buddy.bddfalse:
                    expected.add((tuple(sorted(holding)), str(edge.dst)))
        told = {(tuple(sorted(held)), after[0][1]) for _, held, after in steps}
        assert told == expected


def assert_walked(system, verdict, lasso, **options):
    """A counterexample can be walked along twice; all that is told agrees."""
    simulation = Simulation(system, verdict.formula, lasso=lasso, **options)
    own = verdict.lasso
    k, c = len(own.prefix), len(own.cycle)
    assert simulation.lasso_length == (k, c)
    left = verdict.residuals()
    states = [simulation.state]
    for number, step in enumerate(own.steps):
        expected = simulation.next_on_lasso
        assert (expected.action, expected.holds) == (step.action, step.holds)
        assert expected in simulation.enabled
        if not isinstance(system, ltlpipe.SpotGraph):
            assert expected.moves == step.moves
        if left:
            assert simulation.residual == left[number]
        simulation.follow()
        assert simulation.on_lasso
        states.append(simulation.state)
    assert states[-1] == states[k]
    if left:
        assert simulation.residual == left[-1]
    simulation.follow(c)
    assert simulation.state == states[k]
    if own.bad_prefix is not None:
        assert simulation.lasso_bad_prefix == own.bad_prefix
    if simulation.bad_prefix is not None:
        assert simulation.bad_prefix == simulation.lasso_bad_prefix
    return simulation


def violated(system, text, **options):
    """A verdict with a lasso, or no test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        verdict = check(system, text, unknown="never", **options)
    assume(verdict.lasso is not None)
    return verdict


def walked_in_every_form(system, verdict, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        for form in (verdict, verdict.lasso, json.loads(json.dumps(verdict.to_dict()))):
            assert_walked(system, verdict, form, unknown="never", **options)


MORE = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)


@given(
    networks(max_components=3, max_states=4, acceptance=True, internal=("d",)),
    formulas(),
    st.sampled_from(["ignore", "stutter"]),
)
@MORE
def test_counterexamples_of_networks(network, text, deadlock):
    """Whatever form they come in; nondeterminism and internal actions included."""
    verdict = violated(network, text, deadlock=deadlock)
    walked_in_every_form(network, verdict, deadlock=deadlock)


@given(named_networks(max_components=3, max_states=4, labels=LETTERS), formulas())
@MORE
def test_counterexamples_with_names(network, text):
    """Hostile ones, and the same name for several states."""
    walked_in_every_form(network, violated(network, text))


@given(petri_nets(), st.sampled_from(["G p0>=1", "F G p0==0", "G(p0>=1 -> X p0>=2)"]))
@MORE
def test_counterexamples_of_nets(net, text):
    """Deadlocks repeat themselves."""
    assume(net.variables)
    walked_in_every_form(net, violated(net, text, max_states=200))


@pytest.mark.parametrize("text", ["G !P_0.critical", "G(P_0.asking -> X P_0.waiting)"])
def test_counterexamples_of_a_model(text):
    """States of processes by name, elements of arrays."""
    system = ltlpipe.load(PETERSON)
    walked_in_every_form(system, check(system, text))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", KINDS)
def test_counterexamples_of_graphs(kind, seed):
    """Their letters are those of the lasso."""
    system = ltlpipe.load(KINDS[kind](seed))
    names = system.propositions
    text = f"G({names[0]} -> X {names[-1]})" if names else "0"
    verdict = check(system, text)
    if verdict.lasso is not None:
        for form in (verdict, json.loads(json.dumps(verdict.to_dict()))):
            assert_walked(system, verdict, form)


def test_a_way_to_a_deadlock():
    """Its last state repeats itself, whatever is the default."""
    found = ltlpipe.deadlocks(OFFICE)
    for form in (found, found.to_dict()):
        simulation = Simulation(OFFICE, lasso=form)
        simulation.follow(5)
        assert simulation.is_deadlock
        assert [step.action for step in simulation.enabled] == ["<stutter>"]
    graph = ltlpipe.load(random_kripke(3))
    found = ltlpipe.deadlocks(graph)
    if found.lasso is not None:
        Simulation(graph, lasso=found).follow(len(found.lasso.actions) + 1)


def test_a_run_step_by_step():
    """States by name, who moves, what holds, and what is left."""
    simulation = Simulation(OFFICE, "G(ask -> X get)")
    assert simulation.state == {"client": "idle", "component 2": "0"}
    (ask,) = simulation.enabled
    moves = (Move("client", "idle", "waiting"), Move("component 2", "0", "1"))
    assert ask == LassoStep("ask", moves, ("ask",))
    assert simulation.step(ask).state == {"client": "waiting", "component 2": "1"}
    assert str(simulation.residual) == "get & G(ask -> Xget)"
    assert [step.action for step in simulation.enabled] == ["get", "nap", "die"]
    assert simulation.step("nap").bad_prefix == 2
    assert simulation.residual.is_ff()
    assert simulation.step(0).bad_prefix == 2
    assert [step.action for step in simulation.history] == ["ask", "nap", "get"]
    assert simulation.undo(2).bad_prefix is None
    assert (simulation.n_steps, simulation.n_undone) == (1, 2)
    assert [step.action for step in simulation.undone(9)] == ["nap", "get"]
    assert simulation.redo(2).n_steps == 3
    assert simulation.goto(0).n_undone == 3
    assert simulation.goto(3).state == {"client": "idle", "component 2": "0"}


def test_numbers_and_names_that_are_none():
    """Said as such; nothing has changed."""
    lts = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="one")
    simulation = Simulation(Network([lts]), lasso=check(Network([lts]), "G a"))
    for change in (simulation.random, simulation.follow, simulation.undo):
        with pytest.raises(UnsupportedError, match="-2 steps cannot be"):
            change(-2)
    with pytest.raises(UnsupportedError, match="there is no component '1'"):
        simulation.goto({1: 1})
    assert simulation.n_steps == 0


def test_the_same_step_keeps_what_was_undone():
    """Another one does not."""
    simulation = Simulation(OFFICE)
    simulation.step("ask").step("nap").step("get").undo(2)
    assert simulation.step("nap").n_undone == 1
    assert simulation.undo().step("get").n_undone == 0


def test_bad_prefixes_beyond_safety_formulas():
    """What can only be lost, whatever else is asked for; and one action at a time."""
    simulation = Simulation(OFFICE, "GF get & G !nap")
    assert simulation.step("ask").bad_prefix is None
    assert simulation.step("nap").bad_prefix == 2
    assert Simulation(OFFICE, "F(ask & get)").step("ask").bad_prefix == 1


def test_deadlocks():
    """A state without successors, that repeats itself if runs shall be infinite."""
    simulation = Simulation(OFFICE).step("ask").step("die")
    assert simulation.is_deadlock
    assert simulation.enabled == []
    simulation = Simulation(OFFICE, "F get", deadlock="stutter").step("ask").step("die")
    assert simulation.is_deadlock
    assert simulation.enabled == [LassoStep("<stutter>", (), ())]
    state = simulation.state
    assert simulation.step("<stutter>").state == state
    assert str(simulation.residual) == "Fget"


def test_random_walks():
    """The seed decides them; they end in deadlocks."""
    walks = [Simulation(token_ring(3), seed=7) for _ in range(2)]
    assert [walk.random(50) for walk in walks] == [50, 50]
    assert walks[0].history == walks[1].history
    again = Simulation(token_ring(3))
    again.random(50, seed=7)
    assert again.history == walks[0].history
    again.goto(0).random(50, seed=8)
    assert again.history != walks[0].history
    office = Simulation(OFFICE, seed=1)
    n_steps = office.random(10_000)
    assert n_steps == office.n_steps < 10_000
    assert office.is_deadlock


def test_going_to_a_state():
    """The nearest one from here, by a shortest way."""
    simulation = Simulation(OFFICE)
    simulation.goto({"component 2": 2})
    assert [step.action for step in simulation.history] == ["ask", "die"]
    assert simulation.goto({"client": "waiting"}).n_steps == 2
    with pytest.raises(UnsupportedError, match="no such state can be reached"):
        simulation.goto({"client": "idle"})
    with pytest.raises(UnsupportedError, match="no component 'clint'; did you mean"):
        simulation.goto({"clint": "idle"})
    ring = Simulation(token_ring(4)).goto({"token2": 1, "wait0": 1})
    assert ring.n_steps == 3


def test_leaving_a_lasso_and_coming_back():
    """What comes next on it is known only while the run is that of the lasso."""
    verdict = check(MUTEX, UNFAIR)
    simulation = Simulation(MUTEX, lasso=verdict)
    assert simulation.formula == verdict.formula
    simulation.follow(2)
    assert [s.action for s in simulation.lasso_ahead(3)] == [
        "enter_r",
        "leave_r",
        "ask_r",
    ]
    simulation.step("enter_l")
    assert (simulation.on_lasso, simulation.n_on_lasso) == (False, 2)
    assert simulation.next_on_lasso is None
    assert simulation.lasso_ahead(3) == []
    with pytest.raises(UnsupportedError, match="left the lasso after step 2: 'rejoin'"):
        simulation.follow()
    assert simulation.rejoin().n_steps == 2
    assert simulation.follow(30).on_lasso
    with pytest.raises(UnsupportedError, match="no lasso to follow: add one with"):
        Simulation(MUTEX).follow()
    with pytest.raises(UnsupportedError, match="no lasso to follow"):
        Simulation(MUTEX).rejoin()


def test_lasso_of_the_system_itself_is_no_matter_of_names():
    """Its actions and states are known; from a file, its names could be many runs."""
    middle = range(1, 1_500)
    there = [(0, "go", k) for k in middle] + [(k, "go", 1_500) for k in middle]
    fan = LTS.from_transitions([*there, (1_500, "back", 0)], name="fan")
    system = Network([replace(fan, state_names=("alike",) * 1_501)])
    verdict = check(system, "!F back")
    simulation = Simulation(system, lasso=verdict).follow(3)
    assert (simulation.on_lasso, simulation.lasso_length) == (True, (0, 3))
    assert [step.action for step in simulation.history] == ["go", "go", "back"]
    with pytest.raises(InputError, match="'go', could be too many steps"):
        Simulation(system, lasso=verdict.to_dict())


@pytest.mark.parametrize("system", [MUTEX, PETERSON, random_kripke(4)])
def test_saved_runs_can_be_read_again(system, tmp_path):
    """By the same class, and as the lasso of `check --json`."""
    loaded = ltlpipe.load(system)
    walk = Simulation(loaded, seed=3)
    n_steps = walk.random(20)
    walk.save(tmp_path / "run.json")
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["lasso"]["cycle"] == []
    assert len(record["lasso"]["prefix"]) == len(record["lasso"]["steps"]) == n_steps

    again = Simulation(loaded, lasso=tmp_path / "run.json")
    assert again.lasso_length == (n_steps, 0)
    assert again.follow(n_steps).history == walk.history
    assert again.state == walk.state
    if n_steps == 20:
        with pytest.raises(UnsupportedError, match="the lasso ends here, after 20"):
            again.follow()


def test_choosing_a_lasso_of_a_file(tmp_path):
    """The first one, that of the formula, or the only one."""
    file = tmp_path / "result.json"
    texts = ["G !ask", "G(ask -> X get)", "1"]
    records = [check(OFFICE, text).to_dict() for text in texts]
    file.write_text("".join(json.dumps(record) + "\n\n" for record in records))

    assert Simulation(OFFICE, lasso=file).formula == texts[0]
    simulation = Simulation(OFFICE, "G (ask->Xget)", lasso=str(file))
    assert simulation.lasso_bad_prefix == 2
    with pytest.raises(
        InputError, match=r"no lasso for F die; there is one for G !ask"
    ):
        Simulation(OFFICE, "F die", lasso=file)
    file.write_text(json.dumps(records[0], indent=1))
    assert Simulation(OFFICE, "F die", lasso=file).lasso_length is not None
    assert Simulation(OFFICE, lasso=records[0]["lasso"]).formula is None


BROKEN = {
    "": "no lasso",
    "{": "no JSON",
    "[1]": "no JSON object",
    '{"verdict": "holds"}': "no key 'lasso'",
    '{"lasso": null}': "no lasso",
    '{"lasso": 3}': "'lasso' is not a JSON object",
    '{"lasso": {"prefix": 3, "cycle": []}}': "are lists",
    '{"lasso": {"prefix": [3], "cycle": []}}': "are actions, or valuations",
    '{"lasso": {"prefix": ["ask"], "cycle": [], "steps": []}}': "as many steps",
    '{"formula": 3, "lasso": {"prefix": [], "cycle": []}}': "'formula' is not a text",
    '{"lasso": {"prefix": ["nope"], "cycle": []}}': "step 1 of the lasso, 'nope'",
    '{"lasso": {"prefix": [], "cycle": ["ask"]}}': "the cycle of the lasso does not",
    '{"lasso": {"prefix": ["ask", "ask"], "cycle": []}}': "step 2 of the lasso, 'ask'",
    '{"lasso": {"prefix": [{"x": 1}], "cycle": []}}': "step 1 of the lasso is not a",
    "[" * 100_000: "no JSON",
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_files_that_hold_no_lasso(text, tmp_path):
    """The message has the file, and what is wrong."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=BROKEN[text]) as caught:
        Simulation(OFFICE, lasso=tmp_path / "x.json")
    assert "x.json" in str(caught.value)


def test_what_cannot_be_asked_for():
    """As for `check`: unknown names, options of other systems, and verdicts without."""
    with pytest.raises(FormulaError, match="no action of the system is called 'gets'"):
        Simulation(OFFICE, "F gets")
    with pytest.warns(LtlpipeWarning, match="never true"):
        Simulation(OFFICE, "F gets", unknown="never")
    with pytest.raises(UnsupportedError, match="semantics='state'"):
        Simulation(OFFICE, semantics="state")
    with pytest.raises(UnsupportedError, match="PSL"):
        Simulation(OFFICE, "{ask;get}!")
    with pytest.raises(UnsupportedError, match="the verdict 'holds' has none"):
        Simulation(OFFICE, lasso=check(OFFICE, "1"))
    with pytest.raises(TypeError, match="lasso: expected a lasso, a verdict"):
        Simulation(OFFICE, lasso=3)
    with pytest.raises(TypeError, match="seed: expected a whole number"):
        Simulation(OFFICE, seed="x")
    simulation = Simulation(OFFICE)
    for call, message in {
        (lambda: simulation.step(1)): "no enabled step with the index 1: there is one",
        (lambda: simulation.step("asks")): "'asks'; did you mean ask",
        (lambda: simulation.undo()): "1 steps cannot be undone: there are 0",
        (lambda: simulation.redo()): "0 have been undone",
        (lambda: simulation.goto(1)): "no state after 1 steps: the run has 0",
    }.items():
        with pytest.raises(UnsupportedError, match=message):
            call()
    again = LTS.from_transitions([(0, "a", 0), (0, "a", 1)])
    with pytest.raises(UnsupportedError, match="several enabled steps are called 'a'"):
        Simulation(Network([again])).step("a")


def test_states_with_very_many_steps():
    """The first ones are listed, at once; a filter finds others."""
    simulation = Simulation(MANY)
    assert len(simulation.enabled) == MOST_ENABLED
    assert simulation.has_more
    simulation.random(3)
    again = Simulation(MANY, lasso=simulation.to_dict())  # of which it lists no others
    assert again.follow(simulation.n_steps).state == simulation.state
    crowd = [(0, f"go{k}", 1) for k in range(1000)]
    crowd = Simulation(Network([LTS.from_transitions(crowd)]))
    assert crowd.has_more
    crowd.name_filter = "GO99"
    assert {step.action for step in crowd.enabled} == {
        "go99",
        *(f"go99{k}" for k in range(10)),
    }
    assert not crowd.has_more
    assert crowd.step("go777").n_steps == 1


def test_components_of_any_size():
    """A simulation has no use for the limits of searches in plain Python."""
    n = 60_000
    large = LTS.from_transitions([(k, "a", (k + 1) % n) for k in range(n)])
    assert Simulation(Network([large])).random(5) == 5


def test_names_that_clash():
    """Every component has a name of its own, whatever they are called."""
    names = ["x", "x", "x 1", ""]
    parts = [LTS.from_transitions([(0, "a", 0)], name=name) for name in names]
    assert len(Simulation(Network(parts)).state) == 4


def test_accepting_components():
    """Those that are Büchi automata and accept here."""
    part = LTS.from_transitions([(0, "a", 1), (1, "a", 0)], accepting=[1], name="b")
    simulation = Simulation(Network([part, CLIENT]))
    assert simulation.accepting == ()
    assert simulation.step("a").accepting == ("b",)


def test_repr():
    """Where the run has got to, abbreviated."""
    simulation = Simulation(OFFICE).step("ask")
    assert repr(simulation) == (
        "<Simulation of office after 1 step: client=waiting component 2=1>"
    )
    assert repr(Simulation(token_ring(9))).endswith(" ...>")


@pytest.mark.slow
@given(
    networks(max_components=3, max_states=5, acceptance=True, internal=("c", "d")),
    formulas(max_leaves=9),
    st.sampled_from(["ignore", "stutter"]),
)
@settings(
    max_examples=examples(2000),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
def test_counterexamples_by_the_thousand(network, text, deadlock):
    """The same as above, more often."""
    walked_in_every_form(
        network, violated(network, text, deadlock=deadlock), deadlock=deadlock
    )


def test_formula_of_a_lasso_is_parsed_as_it_was_given():
    """Its text stays what it was."""
    verdict = check(OFFICE, "G ! ask")
    assert Simulation(OFFICE, lasso=verdict).formula == verdict.formula
    assert Simulation(OFFICE, lasso=verdict).residual == parse("G !ask").spot


def test_seeds_of_numpy():
    """As all whole numbers are taken; Python's generator takes its own only."""
    ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    assert Simulation(ring, seed=np.int64(3)).random(2, seed=np.int64(1)) == 2

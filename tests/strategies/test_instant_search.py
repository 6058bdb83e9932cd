"""The search in plain Python: known answers, the kernels, Spot, and true lassos."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.automata.conditions import fairness_to, fin, inf, parse_condition
from ltlpipe.automata.letters import OTHER, PropertyAutomaton, universal
from ltlpipe.automata.structure import Draft
from ltlpipe.automata.structure import table_of as made_table
from ltlpipe.automata.translation import table_over_actions, table_over_states
from ltlpipe.components.alphabet import letters_of
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Grant, Limits, StoppedError, complete, run
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from ltlpipe.strategies.instant import (
    EMPTY,
    FOUND,
    TOO_MANY,
    Moves,
    search,
)
from ltlpipe.systems.plain_steps import (
    MAX_STEPS,
    MAX_TRANSITIONS,
    MAX_VALUES,
    ModelSteps,
    NetworkSteps,
    TooLargeError,
)
from ltlpipe.systems.programs.model import DveModel, read_dve_model
from ltlpipe.verdict.judgement import lasso_of as written
from ltlpipe.verdict.replay import (
    run_replayed,
    spelling_of_actions,
    spelling_of_states,
    word_replayed,
)
from tests.complete_searches import drive, replay_run
from tests.cross.test_models import (
    dve_atoms,
    explored,
    net_atoms,
    random_formula,
    spot_verdict,
)
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks, petri_nets, tela_tables
from tests.oracles import (
    accepting_run_exists,
    accepts,
    actions_of_components,
    compose,
    each_component_accepts,
    is_fair,
)
from tests.packed import pack
from tests.search.explicit_automata import (
    ONE_STEP,
    automata,
    replay,
    table_of,
)
from tests.search.explicit_automata import run as run_kernel
from tests.search.test_emerson_lei import conditioned, random_automaton
from tests.systems.programs.random_models import models

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=3, internal=["d"], acceptance=True)
TABLES = st.one_of(tela_tables(), tela_tables(condition=st.none(), n_marks=2))
NAMED = ["a", "b", "c"]


def network(*components, **options):
    """A network of components given by their transitions."""
    return Network([LTS.from_transitions(c, **options) for c in components])


def found(system, table=None, *, stutter=False, max_states=5000, **limits):
    """The outcome for a view and a table."""
    return run(
        search(
            Moves(system, universal() if table is None else table, stutter=stutter),
            max_states=max_states,
        ),
        **limits,
    )


def judge(formula, lasso, system):
    """Refuse the word of a run unless it violates a formula."""
    spelling = spelling_of_actions(lasso, system, formula.propositions)
    complete(word_replayed(formula, spelling, len(lasso.prefix)))


def violation(system, text, *, stutter=False, acceptance="ba", **limits):
    """The outcome for a network and a formula, and the lasso that is its run."""
    formula = parse(text)
    names = [name for name in formula.propositions if name in system.action_index]
    table = table_over_actions(formula, acceptance, names)
    outcome = found(NetworkSteps(system, names), table, stutter=stutter, **limits)
    if outcome.run is not None:
        lasso = lasso_of(system, outcome)
        replay_run(system, lasso, stutters=stutter)
        judge(formula, lasso, system)
    return outcome


def lasso_of(system, outcome):
    """The lasso as verdicts have it, in its shortest form."""
    actions, states, length = outcome.run
    assert len(states) == len(actions) + 1
    assert np.array_equal(states[length], states[-1])
    return complete(written(system, outcome.run))


# Known answers


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_ring(n):
    """One cycle, which is all of it."""
    steps = [(i, f"a{i}", (i + 1) % n) for i in range(n)]
    outcome = violation(network(steps), "G !a0")
    assert outcome.status == FOUND
    lasso = lasso_of(network(steps), outcome)
    assert (lasso.prefix, lasso.cycle) == ([], [f"a{i}" for i in range(n)])
    assert violation(network(steps), "GF a0").status == EMPTY


def without_acceptance(system):
    """The network with all of its runs."""
    return Network([replace(part, accepting=None) for part in system.components])


def test_figures():
    """The states and transitions of a product with an automaton of one state."""
    system = philosophers(3)
    table = never()
    outcome = found(NetworkSteps(system), table)
    states, edges = compose(system)
    assert outcome[:3] == (EMPTY, len(states), len(edges))
    # The longest way to a state is known from breadth-first levels of the oracle.
    depth = {0: 1}
    for src, _, dst in edges:
        depth.setdefault(dst, depth[src] + 1)
    assert outcome.max_depth == max(depth.values())


def never(n_letters=1):
    """An automaton that follows every run and accepts none."""
    return PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=n_letters,
        first_edge=np.arange(n_letters + 1, dtype=np.int32),
        edge_dst=np.zeros(n_letters, dtype=np.int32),
        edge_marks=np.zeros(n_letters, dtype=np.uint32),
        n_marks=1,
        state_based=True,
    )


def test_deadlocks():
    """A bad prefix that can only end is none under ``ignore``."""
    system = network([(0, "a", 0), (0, "bad", 1)])
    assert violation(system, "G !bad").status == EMPTY
    outcome = violation(system, "G !bad", stutter=True)
    lasso = lasso_of(system, outcome)
    assert (lasso.prefix, lasso.cycle) == (["bad"], ["<stutter>"])
    # The step of a deadlock is no action: it has the letter of all others.
    assert violation(system, "G (a | bad)", stutter=True).status == FOUND
    assert violation(system, "G (a | bad)").status == EMPTY


def test_actions_without_a_name_have_one_letter():
    """Whatever the formula does not name, and internal labels of any name."""
    system = network([(0, "a", 1), (1, "x", 2), (2, "y", 0)])
    assert violation(system, "G (a | X (!a & X !a))").status == FOUND
    assert violation(system, "G (a -> X (!a & X !a))").status == EMPTY
    internal = network([(0, "a", 0)], [(0, "a", 0)], internal=["a"])
    assert internal.action_index == {}
    assert violation(internal, "G !a").status == EMPTY
    assert [s.action for s in NetworkSteps(internal).steps((0, 0))] == [0, 1]
    assert NetworkSteps(internal).steps((0, 0))[0].letter == OTHER


def test_three_components_choose_independently():
    """A shared label gives the cartesian product of the targets."""
    part = [(0, "s", 1), (0, "s", 2)]
    system = network(part, part, [*part, (0, "s", 0)])
    states, edges = compose(system)
    outcome = found(NetworkSteps(system), never())
    assert (outcome.states, outcome.transitions) == (len(states), len(edges))
    assert outcome.states == 1 + 2 * 2 * 3
    steps = NetworkSteps(system, ["s"]).steps((0, 0, 0))
    assert sorted(step.state for step in steps) == sorted(
        states[dst] for src, _, dst in edges if src == 0
    )
    assert {step.letter for step in steps} == {1}


def test_labels_of_unreachable_transitions_synchronise():
    """A label that a component has only where it never comes is blocked."""
    system = network([(0, "a", 0), (0, "b", 0)], [(0, "b", 0), (1, "a", 1)])
    assert violation(system, "G !a").status == EMPTY


def test_a_component_that_shares_nothing_matters():
    """It can run for ever alone, while the rest stands still."""
    worker = [(0, "a", 1), (1, "b", 0)]
    assert violation(network(worker), "GF b").status == EMPTY
    assert violation(network(worker, [(0, "idle", 0)]), "GF b").status == FOUND


def test_components_accept_together_or_each():
    """Two that alternate never accept in the same state."""
    one = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], accepting=[0])
    other = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], accepting=[1])
    system = Network([one, other])
    assert found(NetworkSteps(system)).status == EMPTY
    assert found(NetworkSteps(system, together=False)).status == FOUND
    assert found(NetworkSteps(Network([one, one]))).status == FOUND


def test_marks_are_those_of_the_source():
    """A deadlock that accepts is on a cycle only if it stutters."""
    system = network([(0, "a", 1)], accepting=[1])
    assert NetworkSteps(system).steps((0,))[0].marks == 0
    assert NetworkSteps(system).repeated((1,)).marks == 1
    assert found(NetworkSteps(system)).status == EMPTY
    assert found(NetworkSteps(system), stutter=True).status == FOUND


def test_a_violation_near_the_start_is_found_without_the_rest():
    """Six philosophers have 10,053 states."""
    system = without_acceptance(philosophers(6))
    name = system.actions[0].name
    outcome = violation(system, f"G !{name}")
    assert outcome.status == FOUND
    assert outcome.states < 3000
    # Nobody can do it twice in a row.
    text = f"G ({name} -> X !{name})"
    assert violation(system, text)[:2] == (TOO_MANY, 5000)


def test_a_violation_far_away_is_found_by_a_dive():
    """Each of eight clocks needs twenty steps to come round."""
    clock = [[(k, f"t{i}", (k + 1) % 20) for k in range(20)] for i in range(8)]
    clock[-1][-1] = (19, "strike", 0)
    system = network(*clock)
    outcome = violation(system, "G !strike", max_states=3000)
    assert outcome.status == FOUND
    assert outcome.states <= 3000
    far = violation(system, "G !strike", max_states=50)
    assert far[:2] == (TOO_MANY, 50)


@pytest.mark.parametrize("missing", [0, 1])
def test_max_states_may_be_reached(missing):
    """As many states as there are is enough."""
    system = philosophers(3)
    n = len(compose(system)[0])
    outcome = found(NetworkSteps(system), never(), max_states=n - missing)
    assert outcome[:2] == ((EMPTY, n), (TOO_MANY, n - 1))[missing]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_shortest_run_is_promised_where_steps_are_missing(most):
    """The last state that fits has a step to the third one, by which 4 are enough."""
    steps = [(0, "b", 2), (1, "c", 0), *[(2, name, 2) for name in "cabd"], (2, "a", 1)]
    text = "!(GF a & GF b & GF c & GF d)"
    outcome = violation(network(steps), text, acceptance="tgba", max_states=most)
    if outcome.status == FOUND:
        assert outcome.is_shortest == (len(outcome.run.actions) == 4)


def test_a_cycle_sees_every_mark_it_needs():
    """One of each half of a wheel, and none of what is to be avoided."""
    rows = [(0, 0, 1), (1, 1, 0), (0, 0, 2), (2, 2, 0), (0, 4, 0)]
    for text, expected in [
        ("Inf(0)&Inf(1)&Fin(2)", 4),
        ("Inf(0)&Inf(1)&Inf(2)", 5),
        ("Fin(0)&Fin(1)", 1),
        ("(Inf(0)&Inf(1))|Inf(2)", 1),
        ("Fin(0)&Fin(1)&Fin(2)", None),
    ]:
        cells = [[(d, m) for s, m, d in rows if s == q] for q in range(3)]
        table = PropertyAutomaton(
            n_states=3,
            initial=0,
            n_letters=1,
            first_edge=np.cumsum([0, *map(len, cells)]).astype(np.int32),
            edge_dst=np.array([d for c in cells for d, _ in c], dtype=np.int32),
            edge_marks=np.array([m for c in cells for _, m in c], dtype=np.uint32),
            n_marks=3,
            state_based=False,
            condition=parse_condition(text),
        )
        outcome = found(NetworkSteps(ONE_STEP), table)
        run = outcome.run
        length = None if run is None else len(run.actions) - run.length
        assert length == expected, text


def test_what_is_too_large():
    """Long components and states with too many successors."""
    n = MAX_TRANSITIONS + 1
    ends = np.zeros(n, dtype=np.int32)
    with pytest.raises(TooLargeError):
        NetworkSteps(Network([LTS(1, 0, ("a",), ends, ends, ends)]))
    wide = [[(0, "s", k) for k in range(20)] for _ in range(4)]
    assert found(NetworkSteps(network(*wide)), never()).status == TOO_MANY


@pytest.mark.parametrize(
    ("transitions", "elements"),
    [(25, 1), (12, 1500)],
    ids=["steps", "values"],
)
def test_steps_of_a_model_that_are_too_many(transitions, elements):
    """No more are listed than there may be, nor are the names of all actions."""
    moves = ", ".join(f"s -> s {{ effect v = {i}; }}" for i in range(transitions))
    process = f"{{ byte v; state s; init s; trans {moves}; }}"
    processes = " ".join(f"process {name} {process}" for name in "PQR")
    text = f"byte t[{elements}]; {processes} system sync;"
    model = read_dve_model(text, "model.dve")
    listed = []

    def each_step(state):
        for step in DveModel.each_step_of_search(model, state):
            listed.append(step.action)
            yield step

    view = ModelSteps(model, [])
    name = "each_step_of_search"
    with patch.object(model, name, each_step), pytest.raises(TooLargeError):
        view.steps(model.initial())
    assert found(view, never()).status == TOO_MANY
    assert len(listed) == 1 + min(MAX_STEPS, MAX_VALUES // len(model.variables))
    assert "actions" not in vars(model)


def test_more_than_32_marks():
    """Refused as by the kernels."""
    fairness = fairness_to([{0}] * 32, 1, strong=False)
    with pytest.raises(UnsupportedError, match="32"):
        found(NetworkSteps(ONE_STEP, fairness=fairness), never())


def test_letters_that_tell_marks_take_no_condition():
    """They are the property's to see to."""
    fairness = fairness_to([{0}], 1, strong=True)
    table = made_table(
        Draft([[(0, 1)]] * 2, n_letters=2, initial=0, n_marks=1, system_marks=1)
    )
    with pytest.raises(ValueError, match="letters"):
        found(NetworkSteps(ONE_STEP, fairness=fairness), table)


# Against the kernels


def kernel_finds(system, names, table, *, stutter=False, fairness=None):
    """Whether the kernel that takes every condition finds a run."""
    letters = letters_of(system, names)
    packed = pack(system, letters, extra_values=table.n_states)
    problem = make_problem(packed, table, stutter=stutter, fairness=fairness)
    outcome = drive(SEARCHES["tela"]()(problem))
    return outcome.status == Status.FOUND


def assert_agrees(system, table, *, stutter, fairness=None):
    """The kernel's answer; a lasso is a run that the table accepts."""
    names = [name for name in NAMED if name in system.action_index]
    expected = kernel_finds(system, names, table, stutter=stutter, fairness=fairness)
    view = NetworkSteps(system, names, fairness=fairness)
    outcome = found(view, table, stutter=stutter)
    assert outcome.status == (FOUND if expected else EMPTY)
    if not expected:
        return None
    lasso = lasso_of(system, outcome)
    replay_run(system, lasso, stutters=stutter)
    letters = letters_of(system, names).tolist()
    word = [OTHER if a < 0 else letters[a] for a in lasso.actions.tolist()]
    k = len(lasso.prefix)
    assert accepts(table, word[:k], word[k:])
    return lasso


@given(st.one_of(SMALL, ACCEPTING), TABLES, st.booleans())
@settings(max_examples=examples(300))
def test_networks_and_tables(system, table, stutter):
    """Any condition, with and without accepting components."""
    assert_agrees(system, table, stutter=stutter)


@pytest.mark.slow
@given(st.one_of(SMALL, ACCEPTING), TABLES, st.booleans())
@settings(max_examples=examples(5000))
def test_networks_and_tables_by_the_thousand(system, table, stutter):
    assert_agrees(system, table, stutter=stutter)


def assert_agrees_on_fairness(system, table, data):
    """Of components or of any sets of actions."""
    sets = actions_of_components(system)
    n_actions = len(system.actions)
    if n_actions and data.draw(st.booleans()):
        some = st.sets(st.integers(0, n_actions - 1))
        sets = data.draw(st.lists(some, max_size=3))
    kind = data.draw(st.sampled_from(["weak", "strong"]))
    fairness = fairness_to(sets, n_actions, strong=kind == "strong")
    stutter = data.draw(st.booleans())
    lasso = assert_agrees(system, table, stutter=stutter, fairness=fairness)
    assert lasso is None or is_fair(system, lasso, kind, sets)


@given(st.one_of(SMALL, ACCEPTING), TABLES, st.data())
@settings(max_examples=examples(200))
def test_fairness(system, table, data):
    """Marks of the property, of the system and of fairness in a row."""
    assert_agrees_on_fairness(system, table, data)


@pytest.mark.slow
@given(st.one_of(SMALL, ACCEPTING), TABLES, st.data())
@settings(max_examples=examples(3000))
def test_fairness_by_the_thousand(system, table, data):
    assert_agrees_on_fairness(system, table, data)


@given(ACCEPTING, formulas(max_leaves=4), st.booleans())
@settings(max_examples=examples(60))
def test_letters_that_tell_marks(system, text, stutter):
    """One mark does for the property and the system."""
    formula = parse(text)
    names = [name for name in formula.propositions if name in system.action_index]
    marks = int(system.has_acceptance)
    table = table_over_actions(formula, "ba", names, system_marks=marks)
    expected = kernel_finds(system, names, table, stutter=stutter)
    outcome = found(NetworkSteps(system, names), table, stutter=stutter)
    assert outcome.status == (FOUND if expected else EMPTY)
    if expected:
        lasso = lasso_of(system, outcome)
        replay_run(system, lasso, stutters=stutter)
        judge(formula, lasso, system)
    apart = violation(system, text, acceptance="tgba", stutter=stutter)
    assert apart.status == outcome.status


@given(ACCEPTING)
@settings(max_examples=examples(100))
def test_emptiness_of_networks(system):
    """By the definitions, of runs that accept together and each for itself."""
    for together, oracle in [
        (True, accepting_run_exists),
        (False, each_component_accepts),
    ]:
        outcome = found(NetworkSteps(system, together=together))
        assert (outcome.status == FOUND) == oracle(system)
        if outcome.run is not None:
            replay_run(system, lasso_of(system, outcome), together=together)


def assert_explicit(automaton):
    """An automaton alone: the naive answer, and its lasso."""
    outcome = found(NetworkSteps(ONE_STEP), table_of(automaton))
    assert (outcome.status == FOUND) == automaton.has_accepting_cycle()


@given(st.one_of(automata(), conditioned()))
@settings(max_examples=examples(200))
def test_automata(automaton):
    """Conditions like Rabin's, Streett's and any others."""
    assert_explicit(automaton)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_automata_by_the_thousand(seed):
    rng = random.Random(seed)
    for _ in range(2000):
        automaton = random_automaton(rng, max_states=30, max_marks=8)
        expected = run_kernel("tela", automaton).status == Status.FOUND
        outcome = found(NetworkSteps(ONE_STEP), table_of(automaton))
        assert (outcome.status == FOUND) == expected


@given(conditioned())
@settings(max_examples=examples(100))
def test_cycles_of_automata(automaton):
    """Read as a system whose actions are transitions, the lasso is replayed."""
    rows = [(s, f"{k}", d) for k, (s, _, d) in enumerate(automaton.transitions)]
    system = Network([LTS.from_transitions(rows, n_states=automaton.n_states)])
    n = len(rows)
    table = PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=n + 1,
        first_edge=np.arange(n + 2, dtype=np.int32),
        edge_dst=np.zeros(n + 1, dtype=np.int32),
        edge_marks=np.array(
            [0, *(m for _, m, _ in automaton.transitions)], dtype=np.uint32
        ),
        n_marks=automaton.n_marks,
        state_based=False,
        condition=automaton.condition,
    )
    outcome = found(NetworkSteps(system, [name for _, name, _ in rows]), table)
    assert (outcome.status == FOUND) == automaton.has_accepting_cycle()
    if outcome.run is not None:
        k, states = outcome.run.length, outcome.run.states[:, 0].tolist()
        replay(automaton, tuple(states[: k + 1]), tuple(states[k:]))


# Models


def assert_model_agrees(model, formula, *, stutter):
    """Spot's verdict on the explicit product, and a lasso that is replayed."""
    graph = explored(model)
    if graph is None:
        return
    expected = spot_verdict(model, graph, formula, stutter)
    asked = Property(formula)
    meanings = bound_propositions(model, asked)
    table = table_over_states(formula, "ba", list(meanings))
    view = ModelSteps(model, list(meanings.values()))
    outcome = found(view, table, stutter=stutter, max_states=10**6)
    assert outcome.status == (FOUND if expected == "violated" else EMPTY)
    if outcome.run is not None:
        lasso = lasso_of(model, outcome)
        complete(run_replayed(model, lasso, stutters=stutter))
        spelling = complete(spelling_of_states(meanings, lasso))
        complete(word_replayed(asked.formula, spelling, len(lasso.prefix)))


SEED = st.integers(0, 1 << 30)


@given(petri_nets(max_places=4), SEED, st.booleans())
@settings(max_examples=examples(100))
def test_nets(net, seed, stutter):
    rng = random.Random(seed)
    formula = random_formula(rng, net_atoms(rng, net))
    assert_model_agrees(net, formula, stutter=stutter)


@given(models(), SEED, st.booleans())
@settings(max_examples=examples(40))
def test_dve_models(text, seed, stutter):
    rng = random.Random(seed)
    model = read_dve_model(text, "random.dve")
    formula = random_formula(rng, dve_atoms(rng, model))
    assert_model_agrees(model, formula, stutter=stutter)


@pytest.mark.slow
@given(st.one_of(petri_nets(), models()), SEED, st.booleans())
@settings(max_examples=examples(3000))
def test_models_by_the_thousand(model, seed, stutter):
    rng = random.Random(seed)
    atoms = net_atoms
    if isinstance(model, str):
        model, atoms = read_dve_model(model, "random.dve"), dve_atoms
    assert_model_agrees(model, random_formula(rng, atoms(rng, model)), stutter=stutter)


@given(petri_nets(max_places=3), st.booleans(), st.booleans(), st.data())
@settings(max_examples=examples(60))
def test_fairness_of_nets(net, strong, stutter, data):
    """As that of a network with the same graph, whose actions are the transitions."""
    graph = explored(net)
    if graph is None or not net.actions:
        return
    rows = [(s, f"{a}", d) for s, out in enumerate(graph[1]) for a, d in out]
    system = Network([LTS.from_transitions(rows, n_states=len(graph[0]))])
    n = len(net.actions)
    sets = data.draw(st.lists(st.sets(st.integers(0, n - 1)), min_size=1, max_size=3))
    fairness = fairness_to(sets, n, strong=strong)
    index = system.action_index
    same = [{index[f"{a}"] for a in some if f"{a}" in index} for some in sets]
    twin = fairness_to(same, len(system.actions), strong=strong)
    outcome = found(ModelSteps(net, [], fairness=fairness), stutter=stutter)
    expected = kernel_finds(system, [], universal(), stutter=stutter, fairness=twin)
    assert (outcome.status == FOUND) == expected


# The job


def advanced(job, grant):
    """All that a job says, and its result."""
    said = []
    try:
        said.append(next(job))
        while True:
            said.append(job.send(grant))
    except StopIteration as end:
        return said, end.value


@given(st.one_of(SMALL, ACCEPTING), TABLES, st.sampled_from([0, 1, 7.5, 300]))
@settings(max_examples=examples(60))
def test_where_a_job_is_cut_changes_nothing(system, table, work):
    view = NetworkSteps(system, [n for n in NAMED if n in system.action_index])
    _, expected = advanced(search(Moves(view, table)), Grant())
    job = search(Moves(view, table))
    _, outcome = advanced(job, Grant(work=work))
    assert as_lists(outcome) == as_lists(expected)


def as_lists(outcome):
    """The outcome with its run as lists, which can be compared."""
    if outcome.run is None:
        return outcome
    actions, states, length = outcome.run
    return outcome._replace(run=(actions.tolist(), states.tolist(), length))


def test_a_large_search_yields():
    """Turns are short, whatever is being done; its figures grow."""
    table = made_table(
        Draft(
            [[(0, 1), (0, 2)]],
            n_letters=1,
            initial=0,
            n_marks=2,
            condition=(inf(0) & fin(1)) | (inf(1) & fin(0)),
        )
    )
    assert table.condition is not None
    for some in (never(), table):
        view = NetworkSteps(without_acceptance(philosophers(6)))
        said, outcome = advanced(search(Moves(view, some), max_states=10**5), Grant())
        assert outcome.status == (EMPTY if some.condition is None else FOUND)
        assert len(said) > (2 if some.condition is None else 0)
        assert max(progress.work for progress in said) < 11_000
        assert {progress.phase for progress in said} == {"searching"}
        for values in zip(*[(p.states, p.memory_bytes) for p in said], strict=True):
            assert list(values) == sorted(values)
        assert said[-1].states <= outcome.states


def test_memory_does_not_suffice():
    with pytest.raises(StoppedError, match="memory"):
        found(
            NetworkSteps(philosophers(7)),
            never(),
            max_states=10**6,
            limits=Limits(memory_mib=1),
        )


PROGRAM = """
import sys
from ltlpipe.automata.letters import universal
from ltlpipe.runtime.jobs import run
from ltlpipe.strategies.instant import Moves, search
from ltlpipe.systems.plain_steps import ModelSteps, NetworkSteps
from ltlpipe.systems.programs.model import DveModel, read_dve_model
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition

dve = "process P { state q; init q; trans q -> q {}; } system async;"
net = PetriNet([Place("p", "p", 1)], [Transition("t", "t", {0: 1}, {0: 1})])
views = [
    NetworkSteps(Network([LTS.from_transitions([(0, "a", 0)])])),
    ModelSteps(net, []),
    ModelSteps(read_dve_model(dve, "loop.dve"), []),
]
for view in views:
    outcome = run(search(Moves(view, universal())))
    assert outcome.status == "found", outcome
print(sorted({"numba", "llvmlite", "spot"} & set(sys.modules)))
"""


def test_numba_is_not_imported():
    """Neither by the search nor by what it sees of systems."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "[]\n"


FAR = """
import sys
from ltlpipe import load, parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.verdict.inquiry import Inquiry

asked = Property(parse('F G "x != 100"'))
instant = tuple(s for s in STRATEGIES if s.name == "instant")
verdict = Inquiry(load("m.pml"), asked, Options(), strategies=instant).verdict(Limits())
lasso = verdict.lasso
print(verdict.verdict, len(lasso.prefix), len(lasso.cycle), "numba" in sys.modules)
"""


MERGED = """
import sys
from ltlpipe import load, parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.verdict.inquiry import Inquiry

instant = tuple(s for s in STRATEGIES if s.name == "instant")
for text in sys.argv[1:]:
    asked = Property(parse(text))
    inquiry = Inquiry(load("m.pml"), asked, Options(), strategies=instant)
    verdict = inquiry.verdict(Limits())
    steps = len(verdict.lasso.prefix) if verdict.lasso else 0
    is_small = verdict.stats.states < 1000
    print(verdict.verdict, is_small, *verdict.plan.reductions, steps > 40)
print("numba" in sys.modules)
"""


def test_statements_are_merged_without_kernels(tmp_path):
    """Of 22,811 states a few hundred are left; the run has all statements."""
    steps = "x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; x = 7; x = 8; x = 9"
    (tmp_path / "m.pml").write_text(
        "byte done; active [4] proctype P() { byte x; "
        f"{steps}; done++; if :: x == 9 && done == 4 -> done = 7 :: else fi }}"
    )
    command = [sys.executable, "-c", MERGED, 'G "done != 9"', 'G "done != 7"']
    options = {"capture_output": True, "text": True, "check": False, "cwd": tmp_path}
    done = subprocess.run(command, **options)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "holds True variables statements False",
        "violated True variables statements True",
        "False",
    ]


def test_runs_found_in_depth_become_short(tmp_path):
    """Without kernels, too: 200 statements of `y` are left out."""
    (tmp_path / "m.pml").write_text(
        "byte x, y; active proctype P() { do :: x < 100 -> x++ :: x == 100 -> skip "
        ":: y < 200 -> y++ od }"
    )
    command = [sys.executable, "-c", FAR]
    options = {"capture_output": True, "text": True, "check": False, "cwd": tmp_path}
    done = subprocess.run(command, **options)
    assert (done.stdout, done.stderr) == ("violated 200 2 False\n", "")

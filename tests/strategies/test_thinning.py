"""Steps of a model's run that a violation does not need are left out."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe.families.networks import coloured_client_server
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from ltlpipe.question.answer import Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.strategies import instant, shortening, slicing, thinning
from ltlpipe.strategies.shortening import ended_soon, shortened_by_trial
from ltlpipe.strategies.slicing import Trials, blocks_of
from ltlpipe.strategies.thinning import thinned, thinned_network
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.structure import Place, SpecialTransition, Transition
from ltlpipe.systems.plain_steps import NetworkSteps
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.inquiry import question_of
from tests.automata.test_tight import Word as Spelled
from tests.automata.test_tight import automaton
from tests.cross.test_agreement import ask
from tests.cross.test_models import dve_atoms, net_atoms, random_formula
from tests.example_counts import at_least, examples
from tests.symmetry.groups import random_systems as systems

LIMIT = 20_000
"""States: some nets are unbounded."""


def workers_and_a_fault(n):
    """N workers that are busy and rest, and one that fails and tries again."""
    places, transitions = [], []

    def place(name, tokens):
        places.append(Place(name, name, tokens))
        return len(places) - 1

    def transition(name, source, target):
        transitions.append(Transition(name, name, {source: 1}, {target: 1}))

    for i in range(n):
        rests, works = place(f"rests{i}", 1), place(f"works{i}", 0)
        transition(f"begin{i}", rests, works)
        transition(f"end{i}", works, rests)
    ready, runs, fails = place("ready", 1), place("runs", 0), place("failed", 0)
    transition("start", ready, runs)
    transition("fail", runs, fails)
    transition("again", fails, fails)
    return PetriNet(places, transitions)


def run_of(net, prefix, cycle):
    """The run of a net that takes some transitions."""
    state = net.initial()
    states, numbers = [state], []
    for name in (*prefix, *cycle):
        number = net.actions.index(name)
        (step,) = net.steps_by(state, number)
        state = step.state
        numbers.append(number)
        states.append(state)
    return Run(np.array(numbers, dtype=np.int32), np.array(states), len(prefix))


def question_about(model, text):
    return question_of(model, Property(parse(text)), Options())


def names_of(net, found):
    names = [net.actions[a] for a in found.actions.tolist()]
    return names[: found.length], names[found.length :]


def long_run(rng, net, n, steps):
    """Workers begin and end at random, while the fault goes its way."""
    due = sorted(rng.sample(range(steps), 2))
    works = [False] * n
    prefix = []
    for k in range(steps):
        if k in due:
            prefix.append("start" if k == due[0] else "fail")
            continue
        i = rng.randrange(n)
        prefix.append(f"{'end' if works[i] else 'begin'}{i}")
        works[i] = not works[i]
    i = rng.randrange(n)
    round_ = [f"end{i}", f"begin{i}"] if works[i] else [f"begin{i}", f"end{i}"]
    return run_of(net, prefix, [*round_, "again"])


@pytest.mark.parametrize("seed", range(5))
def test_what_others_do_is_left_out(seed):
    """Whatever the order in which they did it."""
    net = workers_and_a_fault(8)
    given = long_run(random.Random(seed), net, 8, 300)
    question = question_about(net, "G(failed == 0)")

    found = complete(thinned(question, given, Trace(question.given)))

    prefix, cycle = names_of(net, found)
    assert prefix == ["start", "fail"]
    assert len(cycle) == 1 or (len(cycle) == 2 and "again" not in cycle)


def test_what_the_property_needs_to_see_stays():
    """The fault counts only behind a step of the second worker."""
    net = workers_and_a_fault(3)
    given = long_run(random.Random(1), net, 3, 60)
    question = question_about(net, '!F(action=="begin1" & F(failed == 1))')

    found = complete(thinned(question, given, Trace(question.given)))

    prefix, cycle = names_of(net, found)
    assert sorted([*prefix, *cycle]) == ["begin1", "fail", "start"] or (
        prefix == ["begin1", "start", "fail"] and len(cycle) == 1
    )


def test_a_repetition_needs_a_deadlock():
    """A run that ends in one may not stop before."""
    net = PetriNet(
        [Place(f"p{k}", f"p{k}", k == 0) for k in range(3)],
        [Transition(f"t{k}", f"t{k}", {k: 1}, {k + 1: 1}) for k in range(2)],
    )
    given = run_of(net, ["t0", "t1"], [])
    given = Run(np.append(given.actions, -1), given.states[[0, 1, 2, 2]], 2)
    question = question_about(net, "G F (p0 == 1)")

    found = complete(thinned(question, given, Trace(question.given)))

    assert names_of(net, found)[0] == ["t0", "t1"]
    assert found.actions.tolist()[-1] == -1


def test_few_steps_are_taken(monkeypatch):
    """The trials end where they have taken long enough; what was found counts."""
    net = workers_and_a_fault(8)
    given = long_run(random.Random(3), net, 8, 300)
    question = question_about(net, "G(failed == 0)")
    monkeypatch.setattr(thinning, "_OF_NETS", 600.0)

    found = complete(thinned(question, given, Trace(question.given)))

    assert 3 < len(found.actions) < len(given.actions)


def test_it_yields():
    """Many times, each after some milliseconds; no step of this run can be left out."""
    n = 1_200
    net = PetriNet(
        [Place(f"p{k}", f"p{k}", k == 0) for k in range(n)],
        [Transition(f"t{k}", f"t{k}", {k: 1}, {(k + 1) % n: 1}) for k in range(n)],
    )
    given = run_of(net, [f"t{k}" for k in range(n)], [f"t{k}" for k in range(n)])
    question = question_about(net, "G F (p1 == 2)")
    reports = []

    run(shortened_by_trial(question, given), observer=reports.append)

    assert len(reports) > 5


def wandering(rng, steps, state, most):
    """A run from a state to one that has been there, or None if it ends."""
    states, actions, places = [state], [], {}
    while states[-1] not in places or len(actions) < most // 2:
        places[states[-1]] = len(actions)
        after = list(steps(states[-1]))
        if not after or len(actions) == most:
            return None
        action, state = rng.choice(after)
        actions.append(action)
        states.append(state)
    return Run(np.array(actions), np.array(states), places[states[-1]])


def extended_net(rng):
    """A random net some of whose transitions have limits, or empty places."""
    plain = systems.net(rng)
    n = len(plain.places)
    transitions = []
    for own in plain.transitions:
        limits = {p: rng.randint(0, 2) for p in rng.sample(range(n), rng.randint(0, 2))}
        resets = frozenset(rng.sample(range(n), rng.choice([0, 0, 1])))
        adds = {
            p: own.post.get(p, 0) - (0 if p in resets else own.pre.get(p, 0))
            for p in sorted({*own.pre, *own.post})
        }
        adds = {p: added for p, added in adds.items() if added}
        transitions.append(
            SpecialTransition(own.id, own.name, own.pre, limits, resets, adds)
        )
    return ExtendedNet(plain.places, transitions)


def assert_kernel_agrees(rng, model):
    """A kernel leaves out what the model itself says is not enabled."""
    given = wandering(rng, model.each_step, model.initial(), 60)
    if given is None:
        return False
    question = question_about(model, "false")
    table = complete(question.automaton(question.given, Trace(question.given)))
    replay = complete(thinning._of_net(question, given))
    fast = thinning._KernelThinner(replay, table)
    slow = thinning._ModelThinner(question, table)
    steps = thinning._Steps(np.arange(len(given.actions)), given.length)
    rows = list(map(tuple, given.states.tolist()))
    left = thinning._Left(given.actions.tolist(), given.length, rows)
    for _ in range(20):
        at = rng.randrange(len(left.actions))
        end = rng.randint(at + 1, len(left.actions))
        fewer = complete(fast._without(steps, at, end))
        expected = complete(slow._without(left, at, end))
        assert (fewer is None) == (expected is None)
        if fewer is not None:
            found = complete(replay.again(fewer.places, fewer.length))
            assert found.actions.tolist() == expected.actions
            assert list(map(tuple, found.states.tolist())) == expected.states
            assert found.length == expected.length
    return True


def test_the_kernel_takes_steps_as_the_net_does():
    """Nets with all kinds of arcs."""
    counts = Counter()
    for seed in range(examples(200)):
        rng = random.Random(seed)
        model = rng.choice([systems.net, extended_net])(rng)
        counts[type(model).__name__, assert_kernel_agrees(rng, model)] += 1

    assert counts["PetriNet", True] >= at_least(20)
    assert counts["ExtendedNet", True] >= at_least(20)


@pytest.mark.slow
def test_the_kernel_takes_steps_as_the_net_does_by_the_thousand():
    """Other seeds."""
    for seed in range(10_000, 10_000 + examples(3000)):
        rng = random.Random(seed)
        assert_kernel_agrees(rng, rng.choice([systems.net, extended_net])(rng))


def assert_thin_runs_of_networks_are_right(rng):
    """What is left is a run of the network that violates the property."""
    network = systems.network(rng)
    steps = NetworkSteps(network, limited=False)
    given = wandering(
        rng,
        lambda state: [(s.action, s.state) for s in steps.each_step(state)],
        steps.initial(),
        60,
    )
    if given is None:
        return None
    names = [network.actions[a].name for a in given.actions.tolist()]
    prefix, cycle = tuple(names[: given.length]), tuple(names[given.length :])
    formula = random_formula(rng, sorted(set(names))).text
    if satisfies(parse(formula).spot, Word(prefix, cycle)):
        formula = f"!({formula})"
    question = question_about(network, formula)

    thin = complete(thinned_network(question, given, Trace(question.given)))
    soon = complete(ended_soon(question, given))

    for found in (thin, soon):
        names = [network.actions[a].name for a in found.actions.tolist()]
        word = Word(tuple(names[: found.length]), tuple(names[found.length :]))
        assert not satisfies(parse(formula).spot, word)
        rows = list(map(tuple, found.states.tolist()))
        assert rows[0] == steps.initial()
        assert rows[found.length] == rows[-1]
        for before, action, after in zip(
            rows[:-1], found.actions.tolist(), rows[1:], strict=True
        ):
            known = [(s.action, s.state) for s in steps.each_step(before)]
            assert (action, after) in known
        assert len(found.actions) <= len(given.actions)
    return [len(found.actions) < len(given.actions) for found in (thin, soon)]


def test_runs_of_random_networks():
    """Their steps are transitions between local states."""
    found = [
        assert_thin_runs_of_networks_are_right(random.Random(seed))
        for seed in range(examples(200))
    ]

    for shorter in zip(*filter(None, found), strict=True):
        assert sum(shorter) >= at_least(30)


@pytest.mark.slow
def test_runs_of_random_networks_by_the_thousand():
    """Other seeds."""
    for seed in range(10_000, 10_000 + examples(3000)):
        assert_thin_runs_of_networks_are_right(random.Random(seed))


def assert_trials_know_the_words(rng):
    """Lassos of letters are accepted as a search of their products says."""
    table = automaton(rng)
    trials = Trials(table, 1e9)
    for _ in range(10):
        letters = [rng.randrange(table.n_letters) for _ in range(rng.randint(1, 9))]
        k = rng.randrange(len(letters))
        moves = instant.Moves(Spelled(letters, k), table)
        known = complete(instant.search(moves))
        found = complete(
            trials.violates(blocks_of(letters[:k]), blocks_of(letters[k:]))
        )
        assert found == (known.status == "found")


def test_words_of_random_automata():
    """Of any acceptance."""
    for seed in range(examples(200)):
        assert_trials_know_the_words(random.Random(seed))


@pytest.mark.slow
def test_words_of_random_automata_by_the_thousand():
    """Other seeds."""
    for seed in range(10_000, 10_000 + examples(3000)):
        assert_trials_know_the_words(random.Random(seed))


def test_too_many_paths_are_no_violation(monkeypatch):
    """Nothing is claimed where an automaton is too large to find out."""
    monkeypatch.setattr(slicing, "_MOST_PATHS", 0)
    question = question_about(workers_and_a_fault(1), "G(failed == 0)")
    table = complete(question.automaton(question.given, Trace(question.given)))
    trials = Trials(table, 1e9)

    assert not complete(trials.violates([], [(1, 1)]))
    assert trials.left == 0


def assert_shorter_runs_are_right(model, formula, counts):
    """A search that wanders finds a run; `check` replays what is left of it."""
    asked = {"emptiness": "se05", "reduce": "none", "max_states": LIMIT, "seed": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortening, "_in_product", lambda product, best, _: ready(best))
        patch.setattr(shortening, "_SHORT", 2)
        patch.setattr(shortening, "LONG", 2)
        found = ask(model, formula, **asked)
        patch.setattr(thinning, "_OF_NETS", 0.0)
        patch.setattr(thinning, "_OF_MODELS", 0.0)
        patch.setattr(shortening, "_SHORT", math.inf)
        long = ask(model, formula, **asked)
    assert found.verdict == long.verdict
    counts[found.verdict] += 1
    if found.verdict == "violated":
        lengths = [len(v.lasso.prefix) + len(v.lasso.cycle) for v in (found, long)]
        assert lengths[0] <= lengths[1]
        counts["shorter"] += lengths[0] < lengths[1]
        counts["dead"] += bool((found.lasso.actions < 0).any())


def ready(result):
    """A job that is over."""
    yield from ()
    return result


def test_runs_of_random_nets():
    """They end in deadlocks or not."""
    counts = Counter()
    for seed in range(examples(150)):
        rng = random.Random(seed)
        model = systems.net(rng)
        formula = random_formula(rng, net_atoms(rng, model))
        assert_shorter_runs_are_right(model, formula, counts)

    assert counts["shorter"] >= at_least(20)
    assert counts["dead"] >= at_least(5)


@pytest.mark.thorough("each model is compiled, which takes seconds")
def test_runs_of_random_dve_models():
    """Their processes have variables."""
    counts = Counter()
    for seed in range(examples(10)):
        rng = random.Random(seed)
        model = systems.dve_model(rng)
        for _ in range(5):
            formula = random_formula(rng, dve_atoms(rng, model))
            assert_shorter_runs_are_right(model, formula, counts)

    assert counts["violated"] >= at_least(10)


@pytest.mark.parametrize("seed", range(3))
def test_runs_in_colours(seed):
    """A symmetric net need not be unfolded for it."""
    net = SymmetricNet(coloured_client_server(4, 1))
    rng = random.Random(seed)
    places: dict[tuple[int, ...], int] = {}
    states, actions = [net.initial()], []
    while states[-1] not in places or len(states) < 100:
        places[states[-1]] = len(actions)
        step = rng.choice(list(net.each_step(states[-1])))
        states.append(step.state)
        actions.append(step.action)
    given = Run(np.array(actions), np.array(states), places[states[-1]])
    question = question_about(net, "false")

    found = complete(thinned(question, given, Trace(question.given)))

    assert not net.is_unfolded
    assert len(found.actions) < len(given.actions)
    rows = [tuple(row) for row in found.states.tolist()]
    assert rows[0] == net.initial()
    assert rows[found.length] == rows[-1]
    for before, action, after in zip(
        rows[:-1], found.actions.tolist(), rows[1:], strict=True
    ):
        assert (action, after) in list(net.steps_by(before, action))


def test_wide_states_of_a_model_are_looked_at_with_pauses():
    """They are told of as they become numbers of Python."""
    n = 2_000
    loop = f"trans a -> a {{ guard x < {n}; effect x = x + 1; }};"
    text = f"int x; int v[500]; process P {{ state a; init a; {loop} }} system async;"
    model = read_dve_model(text, "m.dve")
    states = np.tile(np.array(model.initial(), dtype=np.int64), (n + 2, 1))
    states[:-1, model.variables.index("x")] = range(n + 1)
    states[-1] = states[-2]
    actions = np.array([*[0] * n, -1], dtype=np.int32)
    question = question_about(model, f"G(x < {n})")
    job = thinned(question, Run(actions, states, n), Trace(question.given))
    said = []
    run(job, observer=said.append)
    assert max(each.memory_bytes for each in said) > 40 * states.size / 2

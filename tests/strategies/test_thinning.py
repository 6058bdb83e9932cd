"""Steps of a model's run that a violation does not need are left out."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe.families.networks import coloured_client_server
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.strategies import shortening, slicing
from ltlpipe.strategies.shortening import shortened_by_trial
from ltlpipe.strategies.slicing import thinned
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.inquiry import question_of
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
    monkeypatch.setattr(slicing, "_OF_MODELS", 15_000.0)

    found = complete(thinned(question, given, Trace(question.given)))

    assert 3 < len(found.actions) < len(given.actions)


def test_it_yields():
    """Many times, each after some milliseconds."""
    net = workers_and_a_fault(8)
    given = long_run(random.Random(3), net, 8, 3000)
    question = question_about(net, "G(failed == 0)")
    reports = []

    run(shortened_by_trial(question, given), observer=reports.append)

    assert len(reports) > 5


def assert_shorter_runs_are_right(model, formula, counts):
    """A search that wanders finds a run; `check` replays what is left of it."""
    asked = {"emptiness": "se05", "reduce": "none", "max_states": LIMIT, "seed": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortening, "_in_product", lambda product, best, _: ready(best))
        found = ask(model, formula, **asked)
        patch.setattr(slicing, "_OF_MODELS", 0.0)
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

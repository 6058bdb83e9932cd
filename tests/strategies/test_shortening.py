"""Runs become shorter, and stay violations: each verdict is replayed by `check`."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import token_ring
from ltlpipe import LTS, LtlpipeWarning, Network, UnsupportedError, check
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from ltlpipe.question.answer import Plan, Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.search.exploring import Recording
from ltlpipe.search.shortest_lassos import shortest_in
from ltlpipe.strategies.shortening import shortened, taken_by
from ltlpipe.strategies.slicing import sliced
from ltlpipe.systems.runs import Run
from ltlpipe.verdict import counterexample
from ltlpipe.verdict.inquiry import question_of
from tests.complete_searches import drive
from tests.example_counts import examples
from tests.families.test_rers_networks import successors
from tests.hypothesis_strategies import formulas, networks, recurrent_formulas
from tests.portfolio_settings import ALONE, searching_at_once

SMALL = networks(max_components=3, max_states=4, internal=["d"])

BUSY = [(0, "work", 1), (1, "rest", 0)]
IDLE = [(0, "walk", 1), (1, "sit", 2), (2, "sleep", 3), (3, "wake", 0)]
FAULTY = [(0, "start", 1), (1, "fail", 2), (2, "again", 2)]


def length_of(verdict):
    return len(verdict.lasso.prefix) + len(verdict.lasso.cycle)


def shortest_length(network, formula, **options):
    """Steps of a shortest lasso of the product that explicit search explores."""
    options = Options(reduce="none", unknown="never", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        question = question_of(network, Property(formula), options)
    try:
        product = complete(question.product(question.given, Trace(question.given)))
        packed = complete(product.packed())
        recording = Recording(product.problem(packed))
        recording.stop_at(10_000, 0)
        drive(recording)
        lasso, _ = complete(shortest_in(recording, 10_000))
    finally:
        question.close()
    return len(lasso.prefix_actions) + len(lasso.cycle_actions)


def assert_shortest(network, text, deadlock):
    """With every strategy alone, and with all of them."""
    formula = parse(text)
    asked = {"deadlock": deadlock, "unknown": "never"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        plain = check(network, formula, **asked)
        if plain.verdict != "violated":
            return
        least = shortest_length(network, formula, deadlock=deadlock)
        for options in ALONE.values():
            try:
                with searching_at_once(1000 if "seed" in options else 1):
                    found = check(network, formula, shortest=True, **options, **asked)
            except UnsupportedError:
                continue
            assert found.lasso.shortest, options
            assert length_of(found) <= least
    event(f"{min(least, 6)} steps")


@given(SMALL, formulas() | recurrent_formulas(), st.sampled_from(["ignore", "stutter"]))
@settings(max_examples=examples(60))
def test_shortest_by_every_strategy(network, text, deadlock):
    """What is said to be shortest is no longer than a shortest lasso."""
    assert_shortest(network, text, deadlock)


@pytest.mark.slow
@given(SMALL, formulas() | recurrent_formulas(), st.sampled_from(["ignore", "stutter"]))
@settings(max_examples=examples(2000))
def test_shortest_by_every_strategy_by_the_thousand(network, text, deadlock):
    """The same, more often."""
    assert_shortest(network, text, deadlock)


def question_about(network, text, **options):
    return question_of(network, Property(parse(text)), Options(**options))


def run_of_words(network, prefix, cycle):
    """The run of a network whose components are deterministic, by its actions."""
    state = [component.initial for component in network.components]
    states, numbers = [list(state)], []
    for name in (*prefix, *cycle):
        number = network.action_index[name]
        numbers.append(number)
        for i in network.actions[number].participants:
            rows = network.components[i].transitions()
            state[i] = next(d for s, a, d in rows if (s, a) == (state[i], name))
        states.append(list(state))
    return Run(np.array(numbers, dtype=np.int32), np.array(states), len(prefix))


def names_of(network, found):
    names = [network.actions[a].name for a in found.actions.tolist()]
    return names[: found.length], names[found.length :]


def test_steps_that_nobody_needs():
    """Components that have nothing to do with the violation stand still."""
    network = Network([LTS.from_transitions(t) for t in (BUSY, IDLE, FAULTY)])
    words = "work walk sit start rest sleep work fail wake rest"
    prefix = words.split()
    cycle = ["work", "walk", "again", "sit", "rest", "sleep", "wake"]
    question = question_about(network, "G !fail")
    found = run(sliced(question, run_of_words(network, prefix, cycle), no_trace()))
    assert names_of(network, found) == (["start", "fail"], ["again"])


def test_steps_that_the_property_needs():
    """Those that it sees are tried, too; those of the others go."""
    network = Network([LTS.from_transitions(t) for t in (BUSY, IDLE, FAULTY)])
    prefix = ["walk", "work", "sit", "start", "rest", "fail", "work"]
    question = question_about(network, "G(work -> G !fail) | G !again")
    given_run = run_of_words(network, prefix, ["again"])
    found = run(sliced(question, given_run, no_trace()))
    assert names_of(network, found) == (["work", "start", "fail"], ["again"])


def test_loops_of_the_prefix():
    """A shortest run does not come back to a state that it has left."""
    network = Network([LTS.from_transitions(t) for t in (BUSY, FAULTY)])
    prefix = ["work", "rest", "work", "rest", "work", "start", "fail"]
    question = question_about(network, "G(work -> G !fail)")
    best = run(shortened(question, run_of_words(network, prefix, ["rest", "work"])))
    assert best.shortest_of == "product"
    assert sorted(names_of(network, best.run)[0]) == ["fail", "start", "work"]
    assert names_of(network, best.run)[1] == ["again"]


def test_one_state_of_the_property():
    """A shortest lasso of the product is one of the system."""
    network = Network([LTS.from_transitions(t) for t in (BUSY, FAULTY)])
    given_run = run_of_words(network, ["work", "rest"], ["work", "rest"] * 2)
    best = run(shortened(question_about(network, "F fail"), given_run))
    assert best.shortest_of == "system"
    assert names_of(network, best.run) == ([], ["work", "rest"])


def no_trace():
    return Trace(Plan(None, None))


def test_short_cycles_take_the_place_of_long_ones():
    """Whoever can go round faster does."""
    network = Network([LTS.from_transitions(t) for t in (IDLE, FAULTY)])
    prefix = ["start", "fail"]
    found = run_of_words(network, prefix, ["walk", "sit", "sleep", "wake"])
    loops = run(taken_by(network, found)).components[1].transitions()
    assert (2, "again", 2) in loops
    question = question_about(network, "G !fail")
    best = run(shortened(question, found, most_states=50))
    assert names_of(network, best.run) == (prefix, ["again"])


def test_runs_of_sets_that_wander():
    """One component alone may go another way, where there is too much nearby."""
    others = [
        LTS.from_transitions([(0, f"go{k}", 1), (1, f"come{k}", 0)]) for k in range(15)
    ]
    wandering = [f"w{k}" for k in range(8)]
    way = [(k and k + 10, w, k + 11) for k, w in enumerate(wandering)]
    near = [(0, "s0", 1), (1, "s1", 2), (2, "s2", 3), (3, "s3", 4), (4, "fail", 5)]
    faulty = LTS.from_transitions([*near, *way, (18, "fail", 5), (5, "again", 5)])
    network = Network([faulty, *others])
    found = run_of_words(network, [*wandering, "fail"], ["again"])
    question = question_about(network, "G !fail")
    best = run(shortened(question, found, most_states=50))
    assert names_of(network, best.run) == (["s0", "s1", "s2", "s3", "fail"], ["again"])


def test_what_two_do_together():
    """One component alone finds no other way; with the one that it meets it does."""
    left = [(0, "a", 1), (1, "b", 2), (2, "c", 3), (3, "fail", 4), (4, "again", 4)]
    right = [(0, "a", 1), (1, "b", 2), (2, "c", 3)]
    short = [(0, "now", 3)]
    others = [[(0, f"go{k}", 1), (1, f"come{k}", 0)] for k in range(15)]
    network = Network(
        [LTS.from_transitions(t) for t in (left + short, right + short, *others)]
    )
    question = question_about(network, "G !fail")
    found = run_of_words(network, ["a", "b", "c", "fail"], ["again"])
    best = run(shortened(question, found, most_states=20))
    assert names_of(network, best.run) == (["now", "fail"], ["again"])


@pytest.mark.parametrize(
    "options",
    [{"deadlock": "stutter"}, {"fairness": "weak", "fair_sets": ("done",)}],
    ids=["deadlocks", "fairness"],
)
def test_what_a_part_of_a_network_cannot_tell(options):
    """A part stops, or never offers what it lacks, where the network does "done"."""
    n = 12
    ring = [(k, f"s{k}", (k + 1) % n) for k in range(n)]
    way = [(0, "x", n)]
    if "fairness" in options:
        way += [(n, "done", n), (n, "z", n)]
    done = LTS.from_transitions([(0, "done", 0)])
    chains = [
        LTS.from_transitions([(k, f"c{i}", k + 1) for k in range(n)]) for i in range(6)
    ]
    network = Network([LTS.from_transitions([*ring, *way]), done, done, *chains])
    found = run_of_words(network, [], [f"s{k}" for k in range(n)])
    question = question_about(network, "F done", **options)
    best = run(shortened(question, found, most_states=50)).run
    assert names_of(network, best) == ([], [f"s{k}" for k in range(n)])


def planned_run(network, cycle):
    """The run with these actions from the initial state back to it, by trial."""
    initial = tuple(c.initial for c in network.components)
    before = [{initial: None}]
    for action in cycle:
        reached = {}
        for state in before[-1]:
            for after in successors(network, state, action):
                reached.setdefault(after, state)
        before.append(reached)
    states = [initial]
    for reached in reversed(before[1:]):
        states.append(reached[states[-1]])
    numbers = np.array([network.action_index[n] for n in cycle], dtype=np.int32)
    return Run(numbers, np.array(states[::-1]), 0)


@pytest.mark.parametrize("seed", range(8))
def test_runs_made_shorter(seed):
    """A planned run is made a shorter one of the network, and stays a violation."""
    network, cycle = rers_network(3, style="chain", seed=seed)
    known = planned_run(network, cycle)
    names = random.Random(seed).sample(sorted(set(cycle)), 2)
    formula = parse("G({} -> ({} M !{}))".format(*names, names[1]))
    assert not satisfies(formula.spot, Word((), cycle))
    question = question_about(network, formula.text)
    best = run(shortened(question, known, most_states=500)).run
    assert len(best.actions) <= len(cycle)
    prefix, cycle = names_of(network, best)
    assert not satisfies(formula.spot, Word(tuple(prefix), tuple(cycle)))
    states = {tuple(c.initial for c in network.components)}
    for action in prefix:
        states = set().union(*(successors(network, s, action) for s in states))
    starts = states
    for action in cycle:
        states = set().union(*(successors(network, s, action) for s in states))
    assert starts & states


def test_limits_leave_what_was_found(monkeypatch):
    """A search for a shorter lasso that is stopped costs no verdict."""

    def endless(*_):
        raise counterexample.StoppedError("timeout")
        yield

    monkeypatch.setattr(counterexample, "tightened_in_python", endless)
    network = Network([LTS.from_transitions(FAULTY)])
    verdict = check(network, "G !fail", shortest=True, seed=1)
    assert (verdict.verdict, verdict.reason) == ("violated", None)
    assert not verdict.lasso.shortest
    assert verdict.lasso.shortest_of == "product"
    assert length_of(verdict) == 3


def test_runs_of_models():
    """Of a net, too."""
    net = token_ring(4)
    for formula in ("G(token0>=1)", "!GF(token1>=1)"):
        verdict = check(net, formula, shortest=True, seed=1)
        assert verdict.lasso.shortest
        assert check(net, formula).lasso.shortest
        assert length_of(check(net, formula)) == length_of(verdict)


@pytest.mark.parametrize("reason", ["timeout", "memory", "interrupted"])
def test_limits_in_the_middle_of_shortening(reason, monkeypatch):
    """The run that was found is replayed, and not lost."""

    def stopped(*_, **__):
        raise counterexample.StoppedError(reason)
        yield

    monkeypatch.setattr(counterexample, "shortened", stopped)
    network = Network([LTS.from_transitions(FAULTY)])
    verdict = check(network, "G !fail", seed=1)
    assert verdict.verdict == "violated"
    assert verdict.reason == (reason if reason == "interrupted" else None)
    assert length_of(verdict) == 3


ANY_ORDER = [(0, "a", 0), (0, "b", 0)]


def test_what_is_said_without_asking(monkeypatch):
    """The shortest lasso of the product is shown, and not called a shortest run."""
    network = Network([LTS.from_transitions(ANY_ORDER)])
    text = "!F(a & F(b & F(a & F b)))"
    plain = check(network, text)
    asked = check(network, text, shortest=True)
    assert (length_of(plain), plain.lasso.to_dict()["shortest"]) == (5, "product")
    assert (length_of(asked), asked.lasso.to_dict()["shortest"]) == (2, True)
    monkeypatch.setattr(counterexample, "TINY", 1)
    near = check(network, "G F a")
    assert (length_of(near), near.lasso.to_dict()["shortest"]) == (1, True)

"""Structural reductions against brute force on small nets."""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
import spot
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import EMPTY, Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.strategies import linear
from ltlpipe.strategies.linear import simplified
from ltlpipe.strategies.substitutes import about_smaller_net
from ltlpipe.structural.reduction import reduced_net
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.inquiry import question_of
from tests.cross.test_models import explored, spot_verdict
from tests.example_counts import at_least, examples
from tests.hypothesis_strategies import petri_nets
from tests.portfolio_settings import searching_at_once
from tests.random_nets import net_of, random_net

SEEDS = st.integers(0, 1 << 30)


def formulas_about(rng, seen, n):
    """Formulas without X over few propositions, and some of any kind."""
    names = {"a": f"({rng.choice(seen)} >= 1)", "b": f"({rng.choice(seen)} == 0)"}
    seed = rng.randrange(1 << 30)
    for found in spot.randltl(["a", "b"], n, seed=seed, tree_size=(4, 12)):
        text = str(spot.str_psl(found, True))
        if rng.random() < 0.7:
            text = text.replace("X", "G")
        yield parse(re.sub(r"\b[ab]\b", lambda name: names[name[0]], text))


def assert_same(net, rng, applied, n=8):
    graph = explored(net)
    if graph is None:
        return
    seen = rng.sample(net.variables, min(len(net.variables), rng.choice([1, 1, 2])))
    observed = [net.variables.index(name) for name in seen]
    smaller = {}
    for stuttering in (True, False):
        found = complete(reduced_net(net, observed, stuttering=stuttering))
        if found is not None:
            applied.update(found.applied.keys())
            smaller[stuttering] = found, explored(found.reduced)
    for formula in formulas_about(rng, seen, n):
        stuttering = bool(spot.is_stutter_invariant(formula.spot))
        if stuttering not in smaller:
            continue
        found, reduced = smaller[stuttering]
        assert reduced is not None
        for stutters in (True, False):
            expected = spot_verdict(net, graph, formula, stutters)
            told = spot_verdict(found.reduced, reduced, formula, stutters)
            assert told == expected, (formula.text, stutters, found.applied)
            if rng.random() < 0.5 / n:
                assert_checked(net, formula, stutters, expected, rng)


def assert_checked(net, formula, stutters, expected, rng):
    """From end to end: a lasso is replayed in the net itself."""
    deadlock = "stutter" if stutters else "ignore"
    reduce = rng.choice(["structural", "linear,structural", "auto"])
    with searching_at_once(1):
        verdict = check(net, formula, reduce=reduce, deadlock=deadlock)
    assert verdict.verdict == expected


RULES = {
    "dead transitions",
    "constant places",
    "unconnected places",
    "redundant places",
    "dominated transitions",
    "post-agglomerations",
    "pre-agglomerations",
}


def test_reduced_nets_violate_the_same():
    """All rules, with X and without, both ways of deadlocks; lassos replay."""
    applied = Counter()
    for seed in range(examples(400)):
        rng = random.Random(seed)
        assert_same(random_net(rng), rng, applied)
    assert applied.keys() == RULES or not at_least(1)


@given(petri_nets(), SEEDS)
@settings(max_examples=examples(200))
def test_nets_with_any_arcs(net, seed):
    """Weights, self-loops, transitions that take or put nothing."""
    assume(net.places)
    assert_same(net, random.Random(seed), Counter())


@pytest.mark.slow
def test_reduced_nets_violate_the_same_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(8000)):
        rng = random.Random(seed)
        assert_same(random_net(rng), rng, Counter())


CHAIN = net_of(
    [1, 0, 0, 0],
    ({0: 1}, {1: 1}),
    ({1: 1}, {2: 1}),
    ({2: 1}, {3: 1}),
    ({3: 1}, {0: 1}),
)


def test_a_chain_becomes_one_transition():
    """Only the observed place is left, and the way back has all four steps."""
    found = complete(reduced_net(CHAIN, [0], stuttering=True))
    assert len(found.reduced.places) <= 2
    with searching_at_once(1):
        verdict = check(CHAIN, "FG(p0 == 0)", reduce="structural")
    assert verdict.verdict == "violated"
    assert sorted(verdict.lasso.cycle_actions) == ["t0", "t1", "t2", "t3"]


@pytest.mark.parametrize("reduce", ["linear", "linear,structural"])
def test_linear_programs_are_about_what_is_left(reduce):
    """Of the reduced net where that is allowed."""
    question = question_of(CHAIN, Property(parse("G(p0 <= 1)")), Options(reduce=reduce))
    trace = Trace(question.given)
    assert complete(linear.job(question, trace)).kind == EMPTY
    has_rules = "structural" in trace.plan.reductions
    assert has_rules == ("structural" in reduce)


def test_with_next_a_chain_is_left_alone():
    """What X counts stays."""
    assert complete(reduced_net(CHAIN, [0], stuttering=False)) is None


def test_delayed_steps_are_taken_at_the_end():
    """h may wait for f, which never comes; in the net's deadlock it has been taken."""
    net = net_of(
        [1, 0, 0, 1],
        ({0: 1}, {1: 1}),  # h
        ({1: 1, 2: 1}, {2: 1}),  # f, which lacks a token of p2
        ({2: 1}, {2: 2}),
        ({3: 1}, {}),
    )
    with searching_at_once(1):
        verdict = check(net, "G(p3 == 1)", reduce="structural")
    assert verdict.verdict == "violated"


def test_what_others_take_cannot_wait():
    """h and t compete for p0; after h and w nothing is left to be done."""
    net = net_of(
        [1, 0, 1, 0, 0],
        ({0: 1}, {1: 1}),  # h
        ({1: 1, 2: 1}, {3: 1}),  # f
        ({0: 1}, {4: 1}),  # t
        ({2: 1}, {}),  # w
    )
    with searching_at_once(1):
        verdict = check(net, "F(p3 >= 1 || p4 >= 1)", reduce="structural")
    assert verdict.verdict == "violated"


def test_what_puts_elsewhere_cannot_wait():
    """h brings a token to p2 as well, whether f ever follows or not."""
    net = net_of(
        [1, 0, 0, 1, 0, 0],
        ({0: 1}, {1: 1, 2: 1}),  # h
        ({1: 1, 3: 1}, {4: 1}),  # f
        ({2: 1}, {5: 1}),
        ({3: 1}, {}),
    )
    with searching_at_once(1):
        verdict = check(net, "G(p5 == 0 || p4 >= 1)", reduce="structural")
    assert verdict.verdict == "violated"


def test_tokens_may_go_either_way():
    """The first token of p0 may be taken by either of two transitions."""
    net = net_of(
        [1, 0, 0, 0, 0],
        ({0: 1}, {1: 1}),
        ({0: 1}, {2: 1}),
        ({1: 1}, {3: 1}),
        ({2: 1}, {4: 1}),
        ({4: 1}, {0: 1}),
    )
    for formula in ("G(p4 == 0)", "G(p3 == 0)"):
        with searching_at_once(1):
            verdict = check(net, formula, reduce="structural")
        assert verdict.verdict == "violated"


def test_many_tokens_stay():
    """A billion tokens were moved on one by one, before the search."""
    net = net_of([10**9, 0, 1], ({0: 1}, {1: 1}), ({2: 1}, {0: 1, 2: 1}), ({1: 1}, {}))
    found = complete(reduced_net(net, [2], stuttering=True))
    assert found.applied["post-agglomerations"] == 1
    assert found._first == []


@pytest.mark.parametrize("tokens", [10**4, 10**9])
def test_delayed_steps_are_watched(tokens):
    """h is taken as often as there are tokens, where the run ends, or to a limit."""
    net = net_of(
        [tokens, 0, 1, 1],
        ({0: 1}, {1: 1}),  # h
        ({1: 1, 2: 1}, {2: 1}),  # f, which nothing enables after w
        ({2: 1}, {}),  # w
        ({3: 1}, {}),
    )
    reduction = complete(reduced_net(net, [3], stuttering=True))
    assert reduction.applied == {"pre-agglomerations": 1}
    states, actions = [reduction.reduced.initial()], []
    for name in ("t2", "t3"):
        actions.append(reduction.reduced.actions.index(name))
        (step,) = reduction.reduced.steps_by(states[-1], actions[-1])
        states.append(step.state)
    run = Run(np.array([*actions, -1]), np.array([*states, states[-1]]), 2)
    job = reduction.restored(run)
    if tokens > 10**6:
        assert next(job).memory_bytes > 0
        job.close()
    else:
        assert complete(job).length == tokens + 2


def test_questions_about_reduced_nets_are_closed():
    """What they began, such as a translation in a worker, went on behind the answer."""
    question = question_of(CHAIN, Property(parse("FG(p0 == 0)")), Options())
    smaller = complete(about_smaller_net(complete(simplified(question))))
    assert smaller is not question
    closed = []

    def translating():
        with closing(SimpleNamespace(close=lambda: closed.append(smaller))):
            while True:
                yield Progress()

    job = smaller.fact("table", translating)
    next(job)
    job.close()
    assert not closed
    question.close()
    assert closed

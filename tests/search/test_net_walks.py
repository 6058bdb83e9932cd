"""Walks through nets against brute force, and what they keep up to date."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe import check
from ltlpipe.linear.proof import plans
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete
from ltlpipe.search.net_firing import At
from ltlpipe.search.net_walks import NetWalks
from ltlpipe.search.registers import Status
from ltlpipe.strategies import explicit
from ltlpipe.strategies.linear import arrays_of
from ltlpipe.strategies.net_walks import cubes, tables_of
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.inquiry import question_of
from tests.complete_searches import Limits, drive
from tests.cross.test_models import explored, spot_verdict
from tests.example_counts import examples
from tests.invariants import assert_consistent
from tests.kernel_modes import INTERPRETED, checked, compiled, output
from tests.random_nets import net_of, random_net
from tests.structural.test_reduction import formulas_about


def walks_of(net, text, seed=0):
    """Walks for a formula about a net, and what its propositions mean."""
    question = question_of(net, Property(parse(text)), Options())
    product = complete(question.product(question.given, Trace(question.given)))
    meanings = list(question.propositions.values())
    frame, goals, _ = complete(tables_of(net, meanings, product.table, seed))
    no_ends = np.zeros(0, dtype=np.bool_)
    walks = NetWalks(frame, product.table, goals, no_ends, stutters=True, seed=seed)
    return walks, meanings


def some_formula(net, rng):
    """A formula of sums and comparisons of places."""
    a, b, c = (rng.choice(net.variables) for _ in range(3))
    parts = [f"({a} + {b} <= {c})", f"(2*{a} == {b})", f"({c} < 2 || {a} >= 1)"]
    rng.shuffle(parts)
    return f"G({parts[0]} -> F({parts[1]} && !{parts[2]})) | F G {parts[2]}"


def test_what_is_kept_is_what_the_marking_says():
    """Enabled transitions, inequalities and the letter, after each few steps."""
    back = 0
    for seed in range(examples(60)):
        rng = random.Random(seed)
        net = random_net(rng)
        walks, meanings = walks_of(net, some_formula(net, rng), seed)
        for _ in range(40):
            if walks.step(rng.randint(1, 7)) != Status.RUNNING:
                break
            assert_consistent(walks)
            marking = walks.walk.marking.tolist()
            told = [bool(evaluate(meaning, marking)) for meaning in meanings]
            letter = int(walks.walk.at[At.LETTER])
            assert [bool(letter >> k & 1) for k in range(len(told))] == told
            back += int(walks.walk.at[At.STUCK] > 0)
    assert back > 20  # steps have been taken back, too


def assert_finds_the_same(seed, outcomes):
    rng = random.Random(seed)
    net = random_net(rng)
    graph = explored(net)
    if graph is None:
        return
    seen = rng.sample(net.variables, min(len(net.variables), 2))
    for formula in formulas_about(rng, seen, 2):
        stutters = rng.random() < 0.5
        expected = spot_verdict(net, graph, formula, stutters)
        deadlock = "stutter" if stutters else "ignore"
        verdict = check(net, formula, reduce="walks", deadlock=deadlock, seed=seed)
        found = verdict.verdict == "violated"
        assert found == (expected == "violated"), (seed, formula.text, stutters)
        outcomes[expected] += 1


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(explicit, "MANY_STATES", 20_000)


@pytest.mark.usefixtures("few_steps")
def test_they_find_what_there_is():
    """In small nets all violations, with lassos that replay, and no others."""
    outcomes = Counter()
    for seed in range(examples(60)):
        assert_finds_the_same(seed, outcomes)
    assert examples(60) < 60 or min(outcomes.values()) > 30


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_they_find_what_there_is_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(3000)):
        assert_finds_the_same(seed, Counter())


def test_where_a_call_stops_changes_nothing():
    """Steps are those of walks that are not interrupted."""
    for seed in range(20):
        net = random_net(random.Random(seed))
        text = some_formula(net, random.Random(seed))
        whole, pieces = (walks_of(net, text, seed)[0] for _ in range(2))
        drive(whole, Limits(max_states=500))
        drive(pieces, Limits(max_states=500), max_budget=3)
        assert whole.registers.tolist() == pieces.registers.tolist()
        assert whole.run()[0].tolist() == pieces.run()[0].tolist()


def test_markings_that_look_the_same_are_compared():
    """Where all have the same hash, what is found is a cycle still."""
    for seed in range(20):
        net = random_net(random.Random(seed))
        walks, _ = walks_of(net, "G(p0 <= 1) | GF(p0 >= 1)", seed)
        walks.frame.hashes[:] = 0
        walks.frame.hash_change[:] = 0
        if drive(walks, Limits(max_states=500)).status == Status.FOUND:
            actions, length = walks.run()
            change = np.zeros(len(net.places), dtype=np.int64)
            for action in actions[length:].tolist():
                for place, by in net.transitions[action].differences().items():
                    change[place] += by
            assert not change.any() or (actions[length:] < 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_cubes_have_the_letters_and_no_others(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        letters = rng.random(2**n) < rng.choice([0.2, 0.5, 0.9])
        found = np.zeros_like(letters)
        known = cubes(letters)
        for cube in known:
            own = [all((k >> bit & 1) == v for bit, v in cube) for k in range(2**n)]
            assert letters[own].all()
            found |= own
        assert (found == letters).all() or len(known) == 8


def tables(n):
    """Independent loops of two steps, and one that has to be left at once."""
    moves = [({2 * k: 1}, {2 * k + 1: 1}) for k in range(n)]
    moves += [({2 * k + 1: 1}, {2 * k: 1}) for k in range(n)]
    return net_of([1, 0] * n, *moves)


def test_states_of_many_places_take_little():
    """No successor is stored: 3,000 are enabled, of 6,000 places each."""
    walks, _ = walks_of(tables(3000), "G F(p1 >= 1)")
    assert drive(walks).status == Status.FOUND
    assert walks.memory_bytes < 8 << 20


def test_violations_are_far():
    """5,000 tokens have to be moved one by one, and two steps lead back."""
    net = net_of(
        [5000, 0, 0],
        ({0: 1}, {1: 1}),
        ({1: 1}, {0: 1}),
        ({1: 1}, {2: 1}),
        ({2: 1}, {0: 1}),
    )
    verdict = check(net, "G(p2 < 5000)", reduce="walks")
    assert verdict.verdict == "violated"
    assert verdict.stats.states < 1_000_000


def hidden(n, n_decoys):
    """A chain of n steps, each of which can be taken back, among many loops."""
    moves = [({k: 1}, {k + 1: 1}) for k in range(n)]
    moves += [({k + 1: 1}, {k: 1}) for k in range(n)]
    decoys = range(n + 1, n + 1 + 2 * n_decoys, 2)
    moves += [
        move for k in decoys for move in (({k: 1}, {k + 1: 1}), ({k + 1: 1}, {k: 1}))
    ]
    return net_of([1, *[0] * n, *[1, 0] * n_decoys], *moves)


def test_plans_lead_where_nothing_shows_the_way():
    """The solution of the state equation has the steps of the chain, and no others."""
    net, n = hidden(60, 20), 60
    walks, rows = walks_of(net, f"G(p{n} < 1)")[0], [[["row", [[n, -1]], 1]]]
    (plan,) = complete(plans(arrays_of(net), rows, 10.0))
    assert sorted(zip(*plan, strict=True)) == [(k, 1) for k in range(n)]
    walks.goals = walks.goals.planned([plan] * len(walks.goals.marks))
    assert drive(walks, Limits(max_states=600)).status == Status.FOUND
    without = walks_of(net, f"G(p{n} < 1)")[0]
    assert drive(without, Limits(max_states=20_000)).status == Status.RUNNING


def test_what_cannot_be_reached_has_no_plan():
    """Nor is there one for a net whose marking does not change."""
    rows = [["row", [[1, -1]], 3]]  # three tokens where two are all there is
    for net in (net_of([2, 0], ({0: 1}, {1: 1})), net_of([0, 0])):
        assert complete(plans(arrays_of(net), [rows], 10.0)) == [[[], []]]


PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from benchmarks.families.nets import dining, token_ring
from ltlpipe import check
from ltlpipe.strategies import explicit, net_walks

explicit.MANY_STATES, net_walks.UNPLANNED = 1_000, 300
questions = [
    (dining(4), "G(left0>=1 -> F(eat0>=1))"),
    (dining(3), "G(eat0 + eat1 + left2 <= 1) | GF(fork0 >= 1)"),
    (token_ring(3), "GF(token1>=1) -> GF(critical0>=1)"),
]
for net, text in questions:
    for seed in (1, 2):
        v = check(net, text, reduce="walks", seed=seed)
        print(text, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_kernels_run_interpreted_and_checked():
    """As plain Python, and with the bounds of arrays looked at, they do the same."""
    assert "violated" in compiled(PROGRAM)
    assert output(PROGRAM, **INTERPRETED) == compiled(PROGRAM)
    assert output(PROGRAM, **checked()) == compiled(PROGRAM)

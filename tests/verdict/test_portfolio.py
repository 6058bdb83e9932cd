"""The portfolio: who takes turns, and how long, changes no verdict; nobody traps it."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import wait

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchmarks.cases import CASES, large_component, linear
from benchmarks.families.client_server import client_server
from benchmarks.families.nets import token_ring
from ltlpipe import LtlpipeWarning, UnsupportedError, check
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer, Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import Clock, Grant, Limits, Progress, StoppedError, run
from ltlpipe.strategies import instant
from ltlpipe.strategies.registry import BY_NAME, STRATEGIES
from ltlpipe.strategies.shortening import continued
from ltlpipe.strategies.subset import FEW_SHARE
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.verdict import portfolio as conducting
from ltlpipe.verdict.inquiry import question_of
from ltlpipe.verdict.judgement import judged
from ltlpipe.verdict.portfolio import FIRST_TURN, MOST_OPEN, WAITED, Portfolio
from tests.cross.test_agreement import ask, visible_word
from tests.cross.test_models import net_atoms, random_formula
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks, petri_nets
from tests.oracles import satisfies, spot_verdict
from tests.portfolio_settings import ALONE, searching_at_once, turns
from tests.runtime.worker_operations import these_operations

SMALL = networks(max_components=4, max_states=4, internal=["d"])
RING = Network(
    [
        LTS.from_transitions([(0, "a", 1), (1, "b", 0)]),
        LTS.from_transitions([(0, "b", 1), (1, "c", 0)]),
    ]
)
BOTH = st.sampled_from([instant.MOST_STATES, 1])
"""How many states `instant` searches: enough; or too few, so that the others play."""


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """While kernels are being compiled others go on, whatever grants say."""
    for system, a, b in (RING, "a", "b"), (token_ring(3), "token0>=1", "token1>=1"):
        for text in (f"F({a})", f"GF({a})", f"!(GF({a}) & GF({b}))", f"X({a})"):
            for options in ALONE.values():
                with suppress(UnsupportedError), searching_at_once(1):
                    check(system, text, **options)


def driven(job, grants):
    """Return what a job returns that is given these grants."""
    try:
        progress = next(job)
        while True:
            if progress.waits:
                wait(progress.waits, 1.0)
            progress = job.send(next(grants))
    except StopIteration as end:
        return end.value
    finally:
        job.close()


def unbounded():
    """Grants of a question that is alone."""
    return itertools.repeat(Grant())


def small_grants(seed):
    """Grants of some units of work, now and then of many."""
    rng = random.Random(seed)
    while True:
        yield Grant(work=rng.choice([1, 7, 100, 3000, 10**6]) * rng.random())


def outcome(system, formula, grants, options=None, strategies=STRATEGIES):
    """Everything that does not depend on the clock: who answered, and what."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        question = question_of(
            system, Property(formula), options or Options(unknown="never")
        )
    portfolio = Portfolio(question, strategies)
    try:
        answer = driven(portfolio.job(), grants)
        if answer.run is not None:  # it is replayed, unless nothing continues it
            whole = run(continued(question, answer.run))
            if whole is not None:
                run(judged(question, whole))
    finally:
        question.close()
    trace = portfolio.trace()
    steps = None
    if answer.run is not None:
        steps = answer.run.actions.tolist(), answer.run.length
    stats = trace.stats
    return (
        answer.kind,
        answer.reason,
        steps,
        trace.plan,
        [(tried.strategy, tried.outcome) for tried in portfolio.tried()],
        (stats.states, stats.transitions, stats.max_depth, stats.automaton_states),
    )


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile what the strategies need: who waits for kernels loses its turn."""
    for reduce in ("none", "ample", "components", "decoupled"):
        for formula in ("G(a -> F b)", "G !c"):
            ask(RING, formula=formula, reduce=reduce, seed=1)
            ask(RING, formula=formula, reduce=reduce, seed=1, acceptance="ba")
    net = token_ring(3)
    for formula in ("G(wait0>=1 -> F(critical0>=1))", "G(critical0<=1)", "F(wait1>=2)"):
        for asked in ({"reduce": "none"}, {"reduce": "ample"}, {"acceptance": "ba"}):
            check(net, formula, seed=1, **asked)


# How much work is granted changes nothing


def assert_grants_do_not_matter(system, formula, seed, most_states):
    options = Options(max_states=20_000, unknown="never")  # nets need not be bounded
    with searching_at_once(most_states):
        expected = outcome(system, formula, unbounded(), options)
        assert outcome(system, formula, small_grants(seed), options) == expected
    event(f"{expected[0]} by {expected[3].strategy}")


@given(SMALL, formulas(), st.integers(0, 10**6), BOTH)
@settings(max_examples=examples(150))
def test_grants_do_not_matter(network, formula, seed, most_states):
    """Verdict, lasso and counts are those of a question that is never interrupted."""
    assert_grants_do_not_matter(network, parse(formula), seed, most_states)


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=10), st.integers(0, 10**6), BOTH)
@settings(max_examples=examples(3000))
def test_grants_do_not_matter_by_the_thousand(network, formula, seed, most_states):
    """The same, more often."""
    assert_grants_do_not_matter(network, parse(formula), seed, most_states)


def random_question(net, seed):
    """A formula about a Petri net."""
    rng = random.Random(seed)
    return random_formula(rng, net_atoms(rng, net))


@given(petri_nets(), st.integers(0, 10**6), BOTH)
@settings(max_examples=examples(50))
def test_grants_do_not_matter_to_models(net, seed, most_states):
    """Of state-based models, too."""
    formula = random_question(net, seed)
    assert_grants_do_not_matter(net, formula, seed, most_states)


# Nor does how long turns are


TURNS = st.tuples(
    st.sampled_from([1.0, 30.0, 1000.0, FIRST_TURN]),
    st.sampled_from([1.05, 1.6, 10.0]),
    st.sampled_from([50.0, 2000.0, 2e6]),
)


def assert_turns_do_not_matter(network, formula, lengths, most_states, **options):
    expected = spot_verdict(network, formula.spot, stutter=False)
    with turns(*lengths), searching_at_once(most_states):
        verdict = ask(network, formula=formula, **options)
    assert verdict.verdict == expected, verdict.plan.tried
    event(f"{expected} by {verdict.plan.strategy}")
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


@given(SMALL, formulas(), TURNS, BOTH)
@settings(max_examples=examples(250))
def test_turns_do_not_matter(network, formula, lengths, most_states):
    """Whoever answers, it is Spot's verdict, and lassos violate the formula."""
    assert_turns_do_not_matter(network, parse(formula), lengths, most_states)


@pytest.mark.slow
@given(SMALL, formulas(max_leaves=10), TURNS, BOTH)
@settings(max_examples=examples(5000))
def test_turns_do_not_matter_by_the_thousand(network, formula, lengths, most_states):
    """The same, more often."""
    assert_turns_do_not_matter(network, parse(formula), lengths, most_states)


@pytest.mark.parametrize("first", [1.0, 300.0])
@pytest.mark.parametrize(
    ("formula", "expected"),
    [("G(grant1 -> (!grant2 W release1))", None), ("G !commit2", "violated")],
)
def test_turns_do_not_matter_to_larger_systems(formula, expected, first):
    """All strategies begin, and some are set aside."""
    system = client_server(4)
    expected = expected or check(system, formula, reduce="none", seed=1).verdict
    with turns(first, 1.3, 5000.0), searching_at_once(1):
        verdict = check(system, formula)
    assert verdict.verdict == expected
    assert sum(t.outcome != "not tried" for t in verdict.plan.tried) >= MOST_OPEN


# Strategies that fail, or never end


class Played:
    """A strategy that does what a test tells it."""

    supersedes = None
    share = 1.0
    is_extra = False

    def __init__(self, name, play, *, named=False, needs_kernels=True):
        self.name, self._play, self._named = name, play, named
        self.needs_kernels = needs_kernels
        self.takes_colours = False
        self.begun = self.pieces = 0
        self.work = 0.0
        self.closed = 0

    def is_named(self, _):
        return self._named

    def obstacle(self, _):
        return None

    def job(self, question, trace):
        self.begun += 1
        played = self._play(question, trace)
        grant = None
        try:
            while True:
                progress = next(played) if grant is None else played.send(grant)
                self.pieces += 1
                self.work += progress.work
                grant = yield progress
        except StopIteration as end:
            return end.value
        finally:
            self.closed += 1


def raising(error, pieces=3):
    """Some work, then an error."""

    def play(_question, _trace):
        for _ in range(pieces):
            yield Progress("searching", work=10.0)
        raise error

    return play


def endless(_question, _trace):
    while True:
        yield Progress("searching", work=1000.0)


def answering(pieces, work=1000.0, kind=EMPTY):
    """That many pieces of work, then an answer."""

    def play(_question, _trace):
        for _ in range(pieces):
            yield Progress("searching", work=work)
        return Answer(kind)

    return play


def asked(*strategies, formula="G !a", **options):
    """A portfolio of these strategies."""
    question = question_of(RING, Property(parse(formula)), Options(**options))
    return Portfolio(question, strategies)


def outcomes(portfolio):
    return [(tried.strategy, tried.outcome) for tried in portfolio.tried()]


ERRORS = [
    UnsupportedError("too large"),
    NotApplicableError("too odd"),
    StoppedError("memory"),
    StoppedError("max-states"),
    MemoryError(),
]


@pytest.mark.parametrize("pieces", [0, 3])
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_one_that_fails_takes_nothing_with_it(error, pieces):
    """Another answers."""
    failing = Played("failing", raising(error, pieces))
    portfolio = asked(failing, BY_NAME["explicit"])
    assert run(portfolio.job()).kind == FOUND
    assert outcomes(portfolio) == [("failing", "dropped out"), ("explicit", "answered")]
    assert failing.begun == failing.closed == 1
    assert portfolio.trace().plan.strategy == "explicit"


@pytest.mark.parametrize("name", ["ample", "symmetry", "decoupled", "components"])
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_real_one_that_fails(name, error, monkeypatch):
    """The strategies of the package drop out in the same way."""
    strategy = BY_NAME[name]
    monkeypatch.setattr(strategy, "job", Played(name, raising(error)).job)
    monkeypatch.setattr(strategy, "obstacle", lambda _: None)
    portfolio = asked(strategy, BY_NAME["explicit"])
    assert run(portfolio.job()).kind == FOUND
    assert outcomes(portfolio)[0] == (name, "dropped out")


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), "memory"), (StoppedError("max-states"), "max-states")],
)
def test_where_all_fail_the_limit_is_said(error, reason):
    portfolio = asked(*(Played(f"s{k}", raising(error)) for k in range(5)))
    answer = run(portfolio.job())
    assert (answer.kind, answer.reason) == (INCONCLUSIVE, reason)


def test_where_none_can_be_used_the_error_is_said():
    failing = Played("failing", raising(NotApplicableError("too odd")))
    large = Played("large", raising(UnsupportedError("tables too large")))
    with pytest.raises(UnsupportedError, match="tables too large"):
        run(asked(failing, large).job())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnsupportedError("tables too large"), "tables too large"),
        (NotApplicableError("it is odd"), "failing cannot be used: it is odd"),
    ],
)
def test_one_that_is_asked_for_by_name_must_not_fail(error, message):
    """The user learns why; nobody else answers instead."""
    failing = Played("failing", raising(error), named=True)
    with pytest.raises(UnsupportedError, match=message):
        run(asked(failing, Played("other", endless)).job())


@pytest.mark.parametrize("n", [1, 2, MOST_OPEN, MOST_OPEN + 2])
def test_one_that_never_ends_is_no_trap(n):
    """However many do: what comes after them gets its chance."""
    others = [Played(f"endless{k}", endless) for k in range(n)]
    last = Played("last", answering(500))
    portfolio = asked(*others, last)
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "last"
    assert all(played.closed == played.begun for played in others)
    # It is not waited for longer than others have had, by a factor.
    spent = sum(played.work for played in others)
    assert spent < 8 * n * max(last.work, conducting.PATIENCE)


def test_whoever_makes_room_goes_on_later():
    """Where nobody ends for long, each has turns again, and nothing is done twice."""
    first = Played("explicit", endless)
    others = [Played(f"endless{k}", endless) for k in range(MOST_OPEN)]
    slow = Played("slow", answering(20_000))
    portfolio = asked(first, slow, *others)
    assert run(portfolio.job()).kind == EMPTY
    assert [played.begun for played in (first, slow, *others)] == [1] * 6
    assert slow.work == 20_000 * 1000.0
    assert all(played.work > slow.work / 2 for played in others)
    assert all(played.closed == 1 for played in (first, slow, *others))
    outcomes = [tried.strategy for tried in portfolio.trace().plan.tried]
    assert len(outcomes) == len(set(outcomes))


def test_whoever_makes_room_and_has_a_worker_begins_again():
    """The worker would go on unseen."""
    ready, end = os.pipe()
    os.write(end, b".")

    def waiting(_question, _trace):
        while True:
            yield Progress("translating", work=1000.0, waits=(ready,))

    others = [Played(f"endless{k}", waiting) for k in range(MOST_OPEN)]
    slow = Played("slow", answering(3_000))
    portfolio = asked(*others, slow)
    assert run(portfolio.job()).kind == EMPTY
    assert any(played.begun > 1 for played in others)
    assert all(played.closed == played.begun for played in others)
    os.close(ready)
    os.close(end)


def test_who_needs_no_kernels_goes_on_while_all_others_wait_for_workers():
    ready, end = os.pipe()
    os.write(end, b".")

    def waiting(_question, _trace):
        while True:
            yield Progress("translating", work=1000.0, waits=(ready,))

    others = [Played(f"waits{k}", waiting) for k in range(2)]
    small = Played("small", answering(60), needs_kernels=False)
    portfolio = asked(small, *others)
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "small"
    os.close(ready)
    os.close(end)


def test_others_go_on_while_a_worker_is_at_work():
    """And the strategy has another turn as soon as the worker has answered."""
    ready, end = os.pipe()

    def proving(_question, _trace):
        while not wait((ready,), 0):
            yield Progress("proving", work=WAITED / 3, waits=(ready,))
        return Answer(EMPTY)

    def searching(_question, _trace):
        os.write(end, b".")
        yield from endless(_question, _trace)

    proves, last = Played("proves", proving), Played("last", endless)
    portfolio = asked(proves, Played("searches", searching), last)
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "proves"
    assert proves.pieces == 3
    assert last.pieces == 0
    os.close(ready)
    os.close(end)


def test_others_do_not_begin_while_a_worker_has_little_to_do():
    ready, end = os.pipe()
    os.write(end, b".")

    def proving(_question, _trace):
        for _ in range(9):
            yield Progress("proving", work=WAITED / 10, waits=(ready,))
        return Answer(EMPTY)

    other = Played("other", endless)
    assert run(asked(Played("proves", proving), other).job()).kind == EMPTY
    assert other.pieces == 0
    os.close(ready)
    os.close(end)


def test_a_worker_has_no_more_time_than_the_thread_beside_it():
    """It pauses while others have their turns."""

    def proving(_question, _trace):
        yield from workers.call("spin", subject=None, seconds=60.0)
        return Answer(EMPTY)

    def searching(_question, _trace):
        for _ in range(40):
            time.sleep(0.05)  # the thread is not at work, but a worker could be
            yield Progress("searching", work=20_000.0)
        return Answer(EMPTY)

    clock = Clock()
    strategies = Played("proves", proving), Played("searches", searching)
    with these_operations():
        assert run(asked(*strategies).job(), clock=clock).kind == EMPTY
    assert clock.cpu_seconds < 2.0


def test_whoever_makes_room_keeps_no_memory_that_others_need():
    def large(_question, _trace):
        while True:
            yield Progress("searching", work=1000.0, memory_bytes=700.0)

    def growing(_question, _trace):
        for k in range(2_000):
            yield Progress("searching", work=1000.0, memory_bytes=0.3 * k)
        return Answer(EMPTY)

    others = [Played(f"large{k}", large) for k in range(MOST_OPEN)]
    last = Played("last", growing)
    portfolio = asked(*others, last)
    job, held, answer = portfolio.job(), [], None
    progress = next(job)
    while answer is None:
        held.append(progress.memory_bytes)
        try:
            progress = job.send(Grant(3000.0))
        except StopIteration as end:
            answer = end.value
    assert answer.kind == EMPTY
    assert max(held) <= 3000.0
    assert any("memory" in (t.reason or "") for t in portfolio.trace().plan.tried)
    assert all(played.closed == played.begun for played in (*others, last))


def of_share(name, play, share, *, is_extra=False):
    played = Played(name, play)
    played.share, played.is_extra = share, is_extra
    return played


def sharing(share, play):
    """The same, with such a share of turns that it asks for itself."""

    def shared(question, trace):
        trace.share = share
        return (yield from play(question, trace))

    return shared


@pytest.mark.parametrize("pieces", [50, 700, 4000])
def test_few_components_have_most_of_the_work(pieces):
    """Beside all that can be open they cost 1.5 times their work, and a round."""
    shares = {name: BY_NAME[name].share for name in BY_NAME}
    few = answering(pieces)
    spent = []
    for _ in range(2):
        played = [
            of_share("ample", endless, shares["ample"]),
            of_share("walks", endless, shares["walks"]),
            of_share("subset", sharing(FEW_SHARE, few), shares["subset"]),
            of_share("components", endless, shares["components"]),
            of_share("isolated", endless, shares["isolated"], is_extra=True),
        ]
        portfolio = asked(*played)
        assert run(portfolio.job()).kind == EMPTY
        assert portfolio.trace().plan.strategy == "subset"
        spent.append([one.work for one in played])
        others = sum(one.share for one in played) - shares["subset"]
        assert sum(spent[-1]) <= 1.5 * pieces * 1000 + others * FIRST_TURN
    assert spent[0] == spent[1]


def test_a_share_that_falls_ends_the_turn():
    """A long turn is not gone on with by one that has lost its reason."""

    def play(_question, trace):
        trace.share = 1000.0
        yield Progress("searching", work=1000.0)
        trace.share = 0.01
        return (yield from answering(30)(_question, trace))

    other = Played("other", endless)
    assert run(asked(Played("falls", play), other).job()).kind == EMPTY
    assert other.work > 20 * FIRST_TURN


def compiling(pieces):
    """That many looks at a kernel that is being compiled, then an answer."""

    def play(_question, _trace):
        reading, writing = os.pipe()
        os.write(writing, b".")
        try:
            for _ in range(pieces):
                yield Progress("compiling", waits=(reading,), compiling=True)
        finally:
            os.close(reading)
            os.close(writing)
        return Answer(EMPTY)

    return play


def test_plain_python_comes_first():
    """What it does not answer at once it leaves to the others."""
    plain = Played("plain", answering(1000, 100.0), needs_kernels=False)
    portfolio = asked(plain, Played("kernels", answering(500)))
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "kernels"
    assert plain.pieces == conducting.PRELUDE / 100


def test_plain_python_goes_on_while_kernels_are_compiled():
    """Nothing else can."""
    plain = Played("plain", answering(1000, 100.0), needs_kernels=False)
    portfolio = asked(plain, Played("a", compiling(110)), Played("b", compiling(110)))
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "plain"


def test_who_waits_for_kernels_finds_no_long_turns():
    """Others go on meanwhile; then it has what it has missed, before they have more."""

    def late(question, trace):
        for _ in range(3):
            yield from compiling(40)(question, trace)
            yield Progress("searching", work=1000.0)
        return (yield from answering(2000)(question, trace))

    others = [Played(name, endless) for name in ("one", "other")]
    waiting = Played("late", late)
    portfolio = asked(*others, waiting)
    assert run(portfolio.job()).kind == EMPTY
    assert portfolio.trace().plan.strategy == "late"
    spent = [played.work for played in others]
    assert min(spent) > 3 * 40 * FIRST_TURN / 2
    assert max(spent) < 3 * 40 * FIRST_TURN * 1.2


def test_plain_python_is_left_at_the_end():
    """Where all others drop out."""
    plain = Played("plain", answering(1000, 100.0), needs_kernels=False)
    failing = Played("failing", raising(UnsupportedError("too large")))
    portfolio = asked(plain, failing)
    assert run(portfolio.job()).kind == EMPTY
    assert outcomes(portfolio) == [("failing", "dropped out"), ("plain", "answered")]


def finding(pieces, granted=None):
    """That many pieces of work for the run of a violation, and then no memory."""

    def play(_question, trace):
        yield Progress("searching", work=10.0)
        trace.has_found = True
        for _ in range(pieces):
            grant = yield Progress("extracting", work=1000.0)
            if granted is not None:
                granted.append(grant.work)
        raise StoppedError("memory")

    return play


def test_a_found_violation_has_turns_in_a_row():
    """Its run is extracted, while others wait; and it is never lost."""
    granted = []
    other = Played("other", endless)
    portfolio = asked(Played("finding", finding(60, granted)), other)
    answer = run(portfolio.job())
    assert (answer.kind, answer.reason, answer.run) == (FOUND, "memory", None)
    assert portfolio.has_found
    assert other.pieces == 0
    assert min(granted) > 0


def test_a_found_violation_is_no_trap():
    """Others may have a run of one sooner."""
    found = Played("finding", finding(10**6))
    other = Played("other", answering(500, kind=FOUND))
    portfolio = asked(found, other)
    assert run(portfolio.job()).kind == FOUND
    assert portfolio.trace().plan.strategy == "other"
    assert found.work < 10 * other.work


def test_a_found_violation_makes_no_room():
    """However long its run takes, and whoever waits."""
    found = Played("finding", finding(10**4))
    others = [Played(f"other {k}", endless) for k in range(4)]
    first, *rest = others
    assert run(asked(first, found, *rest).job()).kind == FOUND
    assert all(other.begun for other in others)
    assert found.begun == 1


def test_a_found_violation_is_not_superseded():
    """What would do better has nothing yet."""

    def searching(_question, trace):
        trace.plan = replace(trace.plan, emptiness="se05")
        yield from endless(_question, trace)

    found = Played("finding", finding(200))
    better = Played("better", searching)
    better.supersedes = "finding"
    assert run(asked(found, better).job()).kind == FOUND
    assert better.pieces
    assert found.begun == 1


def test_a_violation_is_not_lost_for_lack_of_memory():
    """What its run takes may be more than there is."""

    def finding(_question, trace):
        trace.has_found = True
        while True:
            yield Progress("extracting", work=1000.0, memory_bytes=200.0)

    for others in ((), (Played("other", endless),)):
        portfolio = asked(Played("finding", finding), *others)
        answer = driven(portfolio.job(), itertools.repeat(Grant(memory_bytes=100.0)))
        assert (answer.kind, answer.reason) == (FOUND, "memory")


# What waits keeps its work


def test_what_waits_keeps_its_work():
    """Each is begun once, and no piece is done twice."""
    sizes = {"a": 2500, "b": 1500, "c": 2000}
    played = [Played(name, answering(size)) for name, size in sizes.items()]
    portfolio = asked(*played)
    assert run(portfolio.job()).kind == EMPTY
    assert [p.begun for p in played] == [1, 1, 1]
    assert portfolio.trace().plan.strategy == "b"
    assert played[1].pieces == 1500
    # The others have done about as much, give or take a turn.
    for other in (played[0], played[2]):
        assert 1500 / conducting.GROWTH**2 < other.pieces <= 2500


def test_turns_become_longer():
    """There are few changes, however long it takes."""
    order = []

    def noting(name):
        def play(_question, _trace):
            for _ in range(5000):
                order.append(name)
                yield Progress("searching", work=1000.0)
            return Answer(EMPTY)

        return play

    run(asked(*(Played(name, noting(name)) for name in "ab")).job())
    lengths = [len(list(group)) for _, group in itertools.groupby(order)]
    assert lengths[0] == FIRST_TURN / 1000
    assert len(lengths) < 40
    assert all(b >= a for a, b in itertools.pairwise(lengths[:-1]))


def test_who_knows_what_is_left_has_longer_turns():
    """A strategy may ask for a larger share when it knows more."""
    shared, other = [], []

    def sharing(_question, trace):
        for number in range(900):
            shared.append(len(other))
            trace.share = 1.0 if number < 300 else 3.0
            yield Progress("searching", work=1000.0)
        return Answer(EMPTY)

    def alone(_question, _trace):
        while True:
            other.append(0)
            yield Progress("searching", work=1000.0)

    run(asked(Played("a", sharing), Played("b", alone)).job())
    assert 150 < shared[300] <= 300 * conducting.GROWTH
    assert shared[-1] - shared[300] < 400


def test_two_wait_for_the_same_kernel():
    """There is one descriptor, which is waited for once."""
    reading, writing = os.pipe()

    def waiting(_question, _trace):
        for _ in range(3):
            yield Progress("compiling", waits=(reading,), compiling=True)
        return Answer(EMPTY)

    try:
        strategies = (Played(name, waiting) for name in "ab")
        assert run(asked(*strategies).job()).kind == EMPTY
    finally:
        os.close(reading)
        os.close(writing)


# Memory


def growing(most, step=10.0, kind=EMPTY):
    """A strategy that holds more and more, up to `most`, and then answers."""

    def play(_question, _trace):
        held = 0.0
        while held < most:
            held += step
            grant = yield Progress("searching", work=50_000.0, memory_bytes=held)
            if held > grant.memory_bytes:
                raise StoppedError("memory")
        return Answer(kind)

    return play


def test_at_the_limit_the_largest_is_set_aside():
    """The other has what that held; what was set aside begins again, alone."""
    small = Played("small", growing(60, kind=INCONCLUSIVE))
    large = Played("large", growing(90, step=30))
    portfolio = asked(small, large)
    limits = Limits(memory_mib=100 / (1 << 20))
    assert run(portfolio.job(), limits).kind == EMPTY
    assert outcomes(portfolio) == [
        ("large", "set aside"),
        ("small", "dropped out"),
        ("large", "answered"),
    ]
    assert large.begun == large.closed == 2


def test_what_runs_out_of_its_share_begins_again():
    """A quarter is its own; for more it has to be alone."""
    first = Played("first", growing(90))
    others = [Played(f"s{k}", raising(NotApplicableError("no"), 50)) for k in range(2)]
    portfolio = asked(first, *others)
    assert run(portfolio.job(), Limits(memory_mib=100 / (1 << 20))).kind == EMPTY
    assert portfolio.trace().plan.strategy == "first"


def test_alone_it_may_hold_all():
    """More than all is too much."""
    limits = Limits(memory_mib=100 / (1 << 20))
    assert run(asked(Played("one", growing(100))).job(), limits).kind == EMPTY
    answer = run(asked(Played("one", growing(110))).job(), limits)
    assert (answer.kind, answer.reason) == (INCONCLUSIVE, "memory")


def test_shares_are_kept():
    """Several together never hold more than the limit, and none less than a quarter."""
    held, granted = {}, []

    def noting(name, most):
        def play(_question, _trace):
            for size in range(10, most, 10):
                held[name] = float(size)
                grant = yield Progress("searching", 50_000.0, held[name])
                granted.append(grant.memory_bytes)
                if size > grant.memory_bytes:
                    break
            held[name] = 0.0
            raise StoppedError("memory")

        return play

    names = "abcde"
    seen = []
    strategies = [Played(name, noting(name, 130)) for name in names]
    answer = run(
        asked(*strategies).job(),
        Limits(memory_mib=120 / (1 << 20)),
        observer=lambda progress: seen.append(progress.memory_bytes),
    )
    assert (answer.kind, answer.reason) == (INCONCLUSIVE, "memory")
    assert max(seen) <= 120
    assert min(granted) >= 120 / (MOST_OPEN + 1)
    assert max(granted) == 120


@pytest.mark.parametrize("memory", [0.5, 1.0, 2.0, 8.0])
def test_memory_of_real_strategies(memory):
    """What is held stays below the limit; little memory never makes a wrong verdict."""
    with turns(300.0, 1.3, 5000.0):
        verdict = check(philosophers(7), "GF eat0 -> GF eat1", memory=memory)
    assert verdict.verdict in ("holds", "unknown")
    assert verdict.stats.memory_mib <= memory
    if verdict.verdict == "unknown":
        assert verdict.reason == "memory"


# The same each time


def told(verdict):
    """What must be the same each time."""
    lasso = verdict.lasso and (verdict.lasso.prefix, verdict.lasso.cycle)
    stats = verdict.stats
    counts = stats.states, stats.transitions, stats.max_depth
    tried = [(t.strategy, t.outcome, t.reason) for t in verdict.plan.tried]
    return verdict.verdict, verdict.plan, tried, lasso, counts


QUESTIONS = [
    (philosophers(4), "GF eat0 -> GF eat1"),
    (client_server(5), "G(grant1 -> (!grant2 W (release1 | commit1 | abort1)))"),
    (client_server(6), "!(GF commit1 & GF abort2)"),
    (linear(3000).system, linear(3000).formula),
]


@contextmanager
def busy_core():
    """Let another process burn a core."""
    burning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        burning.kill()
        burning.wait()


@pytest.mark.parametrize(("system", "formula"), QUESTIONS, ids=lambda q: str(q)[:20])
def test_the_same_each_time(system, formula):
    """Plan, lasso and counts are the same, and on a busy machine, too."""
    check(system, formula)  # whatever has to be compiled is
    expected = told(check(system, formula))
    assert told(check(system, formula)) == expected
    with busy_core():
        assert told(check(system, formula)) == expected


# Questions on which one way is good and the others are not


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_good_ways_are_found(make):
    """Each has a verdict within seconds; compiling is not counted."""
    case = make()
    asked = {"formula": case.formula} if case.formula else {"empty": True}
    verdict = check(case.system, timeout=60, **asked)
    assert verdict.verdict == case.verdict, verdict.plan.tried


def test_small_nets_are_searched_before_linear_programs_are_solved(monkeypatch):
    """Unless it takes longer than a turn, or a reduction is named."""
    formula = "G(critical0 >= 1 -> F(wait0 >= 1))"
    made_simpler = []
    about_less = conducting._about_less

    def noted(strategy, question):
        made_simpler.extend([strategy.name] * strategy.needs_kernels)
        return (yield from about_less(strategy, question))

    monkeypatch.setattr(conducting, "_about_less", noted)
    monkeypatch.setattr(instant, "MOST_STATES", 5)
    net = token_ring(4)
    expected = check(net, formula, emptiness="se05", reduce="none").verdict
    made_simpler.clear()
    assert check(net, formula).verdict == expected
    assert made_simpler == []
    monkeypatch.setattr(conducting, "FIRST_TURN", 1.0)
    assert check(net, formula).verdict == expected
    assert made_simpler != []
    made_simpler.clear()
    monkeypatch.undo()
    monkeypatch.setattr(conducting, "_about_less", noted)
    check(net, formula, reduce="structural")
    assert "explicit" in made_simpler


@pytest.mark.parametrize("kind", [EMPTY, INCONCLUSIVE])
def test_a_first_turn_that_shows_nothing_is_no_answer(kind):
    """What hits a limit may be within it once the question is simpler."""
    question = question_of(token_ring(3), Property(), Options())

    def job(question, trace):
        yield Progress()
        return Answer(kind)

    strategy = replace(BY_NAME["explicit"], job=job)
    trace = Trace(question.given)
    found = run(conducting._searched_first(strategy, question, trace))
    assert found == (Answer(EMPTY) if kind == EMPTY else None)


@pytest.mark.slow
def test_a_large_component_ends_in_time():
    """Its reduction takes long, in steps that are short."""
    case = large_component()
    verdict = check(case.system, case.formula, reduce="components", timeout=1)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")
    assert verdict.stats.seconds < 1 * 1.1 + 0.3 + BUSY_SECONDS


BUSY_SECONDS = 1.0
"""What a busy machine may add."""

"""Several workers on one product: verdicts, states and SCCs are those of one."""

from __future__ import annotations

import gc
import random
import threading
import time

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.automata.letters import universal
from ltlpipe.runtime import jobs
from ltlpipe.runtime.kernels import atomics
from ltlpipe.runtime.kernels.jit import INTERPRETED
from ltlpipe.search import emptiness
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared import search as shared_search
from ltlpipe.search.shared.cndfs import CNDFS
from ltlpipe.search.shared.rounds import SharedRabin, SharedTela
from ltlpipe.search.shared.ufscc import UFSCC
from ltlpipe.search.store import Worker
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.invariants import assert_consistent
from tests.kernel_modes import INTERPRETED as AS_PYTHON
from tests.kernel_modes import output
from tests.packed import pack
from tests.processes import wait_until
from tests.search.explicit_automata import (
    automata,
    closure,
    explicit,
    problem_of,
    replay,
)
from tests.search.test_emerson_lei import conditioned

WORKERS = st.sampled_from([1, 2, 3, 8])


@pytest.fixture(autouse=True)
def tiny_tables(monkeypatch):
    """All arrays have room for next to nothing, and grow all the time."""
    monkeypatch.setattr(shared_search, "FIRST_ENTRIES", 2)
    monkeypatch.setattr(emptiness, "FIRST_ENTRIES", 2)
    monkeypatch.setattr(shared_search, "CHUNK", 4)


def checked(search):
    """Have the invariants of a search checked after each step."""
    step = search.step

    def step_and_check(budget):
        status = step(budget)
        assert_consistent(search)
        return status

    search.step = step_and_check
    return search


def all_sccs(automaton, avoided):
    """How many states and SCCs can be reached, those without a transition included.

    Transitions with marks of `avoided` lead to SCCs, but not inside them.
    """
    reached = closure(automaton.followers())[0] | {0}
    after = closure(automaton.followers(avoided))
    components = {
        frozenset({s} | {t for t in after[s] if s in after[t]}) for s in reached
    }
    return len(reached), len(components)


def assert_right(automaton, workers, budget=None, seed=0, kind=UFSCC):
    """A search agrees with transitive closures, and its lasso is a run.

    Returns how many expansions were for nothing, if all had to be searched.
    """
    search = checked(kind(problem_of(automaton), workers=workers, seed=seed))
    outcome = drive(search, Limits(), max_budget=budget)
    assert (outcome.status == Status.FOUND) == automaton.has_accepting_cycle()
    if outcome.status == Status.FOUND:
        lasso = jobs.run(search.lasso())
        names = search.store.rows[:, 0].astype(int)
        replay(
            automaton, *(tuple(names[p].tolist()) for p in (lasso.prefix, lasso.cycle))
        )
        return None
    counts = search.statistics()
    if 0 in (counts.get("searches"), counts.get("passes")):  # there is no pair
        return 0
    registers = search.registers
    if kind is SharedTela:
        assert registers[Reg.VISITED] == search.visited().sum()
        assert registers[Reg.VISITED] == all_sccs(automaton, 0)[0]
        return None
    avoided = 0 if kind is CNDFS else int(search.arrays.avoided[0])
    n_states, n_sccs = all_sccs(automaton, avoided)
    assert registers[Reg.VISITED] == search.visited().sum() == n_states
    assert kind is CNDFS or registers[Worker.N_SCCS] == n_sccs
    return search.n_steps - registers[Reg.VISITED]


ANY = automata() | conditioned(max_marks=5).filter(
    lambda automaton: not automaton.condition.fin_marks
)


@given(ANY, WORKERS, st.sampled_from([None, 1, 3, 17]), st.integers(0, 99))
@settings(max_examples=examples(20 if INTERPRETED else 300))
def test_random_automata(automaton, workers, budget, seed):
    """Whatever their number, and wherever they are stopped."""
    again = assert_right(automaton, workers, budget, seed)
    if again is not None:
        event(f"{min(again, 3)} states expanded again")


@pytest.mark.slow
@given(ANY, WORKERS, st.sampled_from([None, 1, 3, 17]), st.integers(0, 10**6))
@settings(max_examples=examples(20_000))
def test_random_automata_by_the_thousand(automaton, workers, budget, seed):
    """The same, more often."""
    assert_right(automaton, workers, budget, seed)


@given(conditioned(max_marks=5), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(20 if INTERPRETED else 300))
def test_generalised_rabin(automaton, workers, budget):
    """Any condition, its pairs one after the other."""
    assert_right(automaton, workers, budget, kind=SharedRabin)


@pytest.mark.slow
@given(conditioned(max_marks=6), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(10_000))
def test_generalised_rabin_by_the_thousand(automaton, workers, budget):
    """The same, more often."""
    assert_right(automaton, workers, budget, kind=SharedRabin)


@given(conditioned(max_marks=5), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(20 if INTERPRETED else 300))
def test_any_condition(automaton, workers, budget):
    """SCCs that may have accepting cycles are taken apart."""
    assert_right(automaton, workers, budget, kind=SharedTela)


@given(conditioned(max_marks=4), st.sampled_from([1, 3]))
@settings(max_examples=examples(20 if INTERPRETED else 100))
def test_marks_that_come_too_late(automaton, workers):
    """Another worker may join marks after the set has been found to accept."""
    search = SharedTela(problem_of(automaton), workers=workers)
    if drive(search, Limits()).status != Status.FOUND:
        return
    root = jobs.run(search.roots())[search.registers[Reg.CLOSING]]
    search.arrays.words[root, 1] |= np.uint64(0xFFFFFFFF << 32)
    lasso = jobs.run(search.lasso())
    names = search.store.rows[:, 0].astype(int)
    runs = (tuple(names[part].tolist()) for part in (lasso.prefix, lasso.cycle))
    replay(automaton, *runs)


@pytest.mark.slow
@given(conditioned(max_marks=6), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(10_000))
def test_any_condition_by_the_thousand(automaton, workers, budget):
    """The same, more often."""
    assert_right(automaton, workers, budget, kind=SharedTela)


@given(automata(state_based=True), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(20 if INTERPRETED else 300))
def test_nested_searches(automaton, workers, budget):
    """One mark on states at most."""
    if automaton.is_state_based:
        assert_right(automaton, workers, budget, kind=CNDFS)


@pytest.mark.slow
@given(automata(state_based=True), WORKERS, st.sampled_from([None, 1, 3, 17]))
@settings(max_examples=examples(10_000))
def test_nested_searches_by_the_thousand(automaton, workers, budget):
    """The same, more often."""
    if automaton.is_state_based:
        assert_right(automaton, workers, budget, kind=CNDFS)


def large(rng, n):
    """A random automaton of n states, denser or sparser."""
    rows = [
        (rng.randrange(n), rng.randrange(n)) for _ in range(int(n * rng.uniform(1, 3)))
    ]
    near = [(k, min(n - 1, k + 1)) for k in range(n - 1)]
    return explicit(
        n, [*near, *rows], {rng.randrange(n)} if rng.random() < 0.3 else (), weak=False
    )


def stressed(seconds, seed, workers=8):
    """Search large random automata with more workers than cores; how many."""
    rng = random.Random(seed)
    end, done = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        automaton, kind = (
            large(rng, rng.choice([50, 200, 400])),
            (UFSCC, CNDFS)[done % 2],
        )
        assert_right(automaton, workers, None, done, kind)
        done += 1
    return done


@pytest.mark.thorough("starts, watches or kills other processes")
def test_more_workers_than_cores():
    """For a second."""
    assert stressed(1.0, seed=1) > 0


@pytest.mark.slow
def test_stress():
    """For ten minutes."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    assert stressed(600.0, seed) > 0


YIELDING = """
import random, sys, time, warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe.runtime.kernels import atomics
from tests.search.shared import test_workers

rng = random.Random(7)
sys.setswitchinterval(1e-5)
atomics.between = lambda: rng.random() < 0.2 and time.sleep(0)
test_workers.shared_search.FIRST_ENTRIES, test_workers.shared_search.CHUNK = 2, 4
test_workers.emptiness.FIRST_ENTRIES = 2
for seed in range(60):
    automaton = test_workers.large(rng, rng.choice([3, 6, 12]))
    for kind in test_workers.UFSCC, test_workers.CNDFS:
        budget = rng.choice([None, 2])
        test_workers.assert_right(automaton, rng.choice([2, 3]), budget, seed, kind)
print("right")
"""


@pytest.mark.thorough("starts, watches or kills other processes")
def test_threads_switch_anywhere():
    """Interpreted, another worker may go on between any two atomic operations."""
    assert output(YIELDING, **AS_PYTHON) == "right\n"


def cube(n):
    """A problem of 2**n states, all in one SCC."""
    flips = [LTS.from_transitions([(0, f"u{k}", 1), (1, f"d{k}", 0)]) for k in range(n)]
    network = Network(flips)
    letters = np.zeros(len(network.actions), dtype=np.int32)
    return make_problem(pack(network, letters, extra_values=1), universal())


def test_limits_of_states_are_overshot_by_less_than_the_workers():
    for limit in (1, 100, 2_000):
        search = UFSCC(chain(5_000), workers=3)
        outcome = drive(search, Limits(max_states=limit))
        assert outcome.reason == "max-states"
        assert limit <= search.registers[Reg.VISITED] < limit + 3
        drive(search, Limits())  # it can go on
        assert search.registers[Reg.VISITED] == 5_000


def chain(n):
    """A problem of n states in a row."""
    edges = [(k, k + 1) for k in range(n - 1)]
    automaton = explicit(n, edges, (), weak=True)
    return problem_of(automaton)


def test_one_worker_does_the_same_each_time():
    runs = []
    for seed in (1, 2):
        search = UFSCC(cube(8), seed=seed)
        assert drive(search).status == Status.FOUND
        lasso = jobs.run(search.lasso())
        runs.append((search.n_steps, lasso.cycle.tolist(), search.statistics()))
    assert runs[0] == runs[1]


def test_workers_go_different_ways():
    search = UFSCC(chain(3_000), workers=3)
    assert drive(search).status == Status.EMPTY
    assert len({int(own[Worker.SHUFFLE]) for own in search._owns}) == 3


def test_a_worker_that_fails_ends_the_search():
    """With what it has raised, and nobody goes on."""
    search = UFSCC(chain(100), workers=3)
    kernel = search.kernel

    class Failing:
        def __getattr__(self, name):
            return getattr(kernel, name)

        def __call__(self, *arguments):
            if arguments[4].own[Worker.NUMBER] == 2:
                raise ZeroDivisionError("on purpose")
            return kernel(*arguments)

    search.kernel = Failing()
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        drive(search)


def test_threads_end_with_the_search():
    before = set(threading.enumerate())
    search = UFSCC(chain(100), workers=4)
    drive(search)
    del search
    gc.collect()
    wait_until(lambda: set(threading.enumerate()) <= before)


@pytest.mark.parametrize("workers", [0, 32])
def test_numbers_of_workers(workers):
    with pytest.raises(ValueError, match="1 to 31 are possible"):
        UFSCC(chain(2), workers=workers)


def test_nothing_is_between_when_compiled():
    """Only interpreted operations let others go on."""
    assert INTERPRETED or not hasattr(atomics, "between")


def test_small_products_by_one_worker(monkeypatch):
    """Others join when there are many states."""
    problem = chain(3_000)
    told = []
    for alone in (1 << 16, 100):
        monkeypatch.setattr(UFSCC, "alone", alone)
        search = UFSCC(problem, workers=2)
        assert drive(search, Limits()).status == Status.EMPTY
        told.append(search.statistics())
    assert told[0]["states_of_workers"] == [3000, 0]
    assert told[1]["states_of_workers"][0] >= 100
    assert sum(told[1]["states_of_workers"]) == 3000

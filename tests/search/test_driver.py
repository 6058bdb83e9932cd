"""Limits, growth and interruption."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from ltlpipe import Network, UnsupportedError
from ltlpipe.automata.letters import universal
from ltlpipe.families.networks import philosophers
from ltlpipe.runtime import memory
from ltlpipe.runtime.jobs import MIB, Grant, interruptible, run
from ltlpipe.search import driver
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import Outcome, Resumable, advance
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.packed import pack
from tests.processes import SOON
from tests.search.explicit_automata import (
    LOOKS_TWICE,
    NAMES,
    WEAK_ONLY,
    Explicit,
    problem_of,
)


def search_of(name, n):
    """A search over philosophers, none of whose runs is accepting.

    For searches that take only weak automata that is the property's doing.
    """
    network = philosophers(n)
    automaton = universal()
    if name in WEAK_ONLY:
        parts = [replace(part, accepting=None) for part in network.components]
        network = Network(parts, name=network.name)
        automaton = replace(automaton, n_marks=1)  # and no transition has it
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    return SEARCHES[name]()(make_problem(packed, automaton))


@pytest.mark.parametrize("name", NAMES)
def test_a_search_goes_on_after_a_limit(name):
    """After max-states the same search can be driven to its end."""
    search = search_of(name, 6)
    outcome = drive(search, Limits(max_states=1000))
    assert (outcome.status, outcome.reason) == (Status.RUNNING, "max-states")
    assert search.registers[Reg.VISITED] == 1000

    assert drive(search, Limits()).status == Status.EMPTY
    assert search.registers[Reg.VISITED] == 10_053


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("memory_mib", [0.5, 2, 7])
def test_memory_stays_below_the_limit(name, memory_mib):
    """The search ends before its arrays exceed the limit, and near it."""
    search = search_of(name, 9)
    outcome = drive(search, Limits(memory_mib=memory_mib))

    assert outcome.reason == "memory"
    assert memory_mib / 2 < search.memory_bytes / MIB <= memory_mib


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_below_the_first_arrays(name):
    """No memory at all is a limit like any other."""
    assert drive(search_of(name, 3), Limits(memory_mib=0.001)).reason == "memory"


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("name", NAMES)
def test_timeout_is_kept(name):
    """A search of millions of states ends soon after its deadline."""
    search = search_of(name, 3)
    drive(search, Limits())  # compiled now
    search = search_of(name, 11)
    started = time.monotonic()
    outcome = drive(search, Limits(timeout=0.3))

    assert outcome.reason == "timeout"
    assert 0.3 <= time.monotonic() - started < SOON


def advanced(search, grants):
    """The outcome of a search that is given these grants, one after the other.

    Says also what the job has said.
    """
    job = advance(search)
    said = [next(job)]
    try:
        while True:
            said.append(job.send(next(grants)))
    except StopIteration as end:
        return end.value, said


def figures(search):
    """What a search has counted, and its lasso if it has one; the limit apart."""
    registers = search.registers.tolist()
    del registers[Reg.MAX_STATES]
    return registers, search.statistics(), search.n_stored


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_random_grants_change_nothing(name, seed):
    """Counts are those of a search that is never stopped, and no grant is overrun."""
    whole = search_of(name, 5)
    outcome, _ = advanced(whole, itertools.repeat(Grant()))
    assert outcome.status == Status.EMPTY
    rng = random.Random(seed)
    given = []

    def grants():
        while True:
            given.append(rng.choice([0, 1, 7, 300.5, 5000]))
            yield Grant(work=given[-1])

    cut = search_of(name, 5)
    outcome, said = advanced(cut, grants())
    assert outcome == Outcome(Status.EMPTY)
    assert figures(cut) == figures(whole)
    assert len(said) > 5
    for grant, progress in zip(given, said[1:], strict=False):
        assert progress.phase == "searching"
        assert 0 <= progress.work <= max(grant, cut.unit_work)
    # A call that is given too little for a step takes one, or counts as one; the last
    # one is not told of.
    more = sum(p.work for p in said) - cut.n_steps * cut.unit_work
    assert -max(given[-1], cut.unit_work) <= more <= len(said) * cut.unit_work
    states = [progress.states for progress in said]
    assert states == sorted(states)
    assert said[-1].memory_bytes <= cut.memory_bytes


@pytest.mark.parametrize("name", ["se05", "couvreur99", "tauriainen03", "tela"])
def test_random_grants_lead_to_the_same_lasso(name):
    """Wherever the search and the extraction are stopped."""
    whole = SEARCHES[name]()(problem_with_a_lasso())
    assert drive(whole).status == Status.FOUND
    expected = run(whole.lasso())
    rng = random.Random(name)

    def grants():
        while True:
            yield Grant(work=rng.choice([1, 40, 900]))

    cut = SEARCHES[name]()(problem_with_a_lasso())
    outcome, _ = advanced(cut, grants())
    assert outcome.status == Status.FOUND
    found = run(cut.lasso())
    for field in ("prefix", "cycle", "prefix_actions", "cycle_actions"):
        assert getattr(found, field).tolist() == getattr(expected, field).tolist()


def problem_with_a_lasso():
    """A ring with shortcuts, in which one state of three thousand accepts."""
    n = 3000
    ring = [(s, int(s == n - 1), (s + 1) % n) for s in range(n)]
    shortcuts = [(s, 0, (s * 7 + 3) % n) for s in range(n - 1)]
    return problem_of(Explicit(n, 1, (*ring, *shortcuts), True))


class Early(Resumable):
    """A search with a clock of its own, some of whose calls end after ten steps."""

    memory_bytes = 0
    seconds = 0.0
    longest = 0.0

    def __init__(self, length, early):
        super().__init__()
        self.length = length
        self.early = early  # whether the call that begins after so many steps is one

    def kernel_call(self, budget):
        return None, ()

    def _grow(self, limit_bytes):
        raise AssertionError

    def step(self, budget):
        done = min(budget, 10) if self.early(self.n_steps) else budget
        self.registers[Reg.EXPANSIONS] += done
        took = 1e-6 + done * 5e-7
        self.seconds += took
        self.longest = max(self.longest, took)
        return Status.EMPTY if self.n_steps > self.length else Status.RUNNING


@pytest.mark.parametrize(
    ("length", "early"),
    [(20_000_000, lambda n: n % 1_000_000 < 400), (100_000, lambda _: True)],
    ids=["now and then", "always"],
)
def test_calls_that_return_early_say_little(length, early, monkeypatch):
    """However many there are, the next whole call takes no longer than others."""
    search = Early(length, early)
    monkeypatch.setattr(driver, "ready", lambda *_: iter(()))
    monkeypatch.setattr(driver.time, "monotonic", lambda: search.seconds)
    outcome, _ = advanced(search, itertools.repeat(Grant()))
    assert outcome == Outcome(Status.EMPTY)
    assert search.longest < 0.11


@pytest.mark.parametrize("name", NAMES)
def test_a_grant_of_memory_that_shrinks(name):
    """It is respected at once, and the search can go on with more."""
    search = search_of(name, 8)
    job = advance(search)
    next(job)
    for _ in range(4):
        held = job.send(Grant(work=4000)).memory_bytes
    with pytest.raises(StopIteration) as ended:
        job.send(Grant(memory_bytes=held - 1))
    assert ended.value.value == Outcome(Status.RUNNING, "memory")
    assert drive(search).status == Status.EMPTY


def test_a_pressed_interrupt_ends_the_search():
    """Ctrl-C ends it between two calls of the kernel."""
    search = search_of("se05", 5)

    def press(_states, _depth):
        os.kill(os.getpid(), signal.SIGINT)

    assert drive(search, progress=press).reason == "interrupted"
    assert search.registers[Reg.EXPANSIONS] == 0


def test_ctrl_c_is_a_flag_once_and_an_exception_twice():
    """The handler of before is back after the block."""
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as interrupt:
        assert not interrupt.pressed
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.pressed
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_signals_alone():
    """Python allows signal handlers in the main thread only."""
    seen = []

    def work():
        with interruptible() as interrupt:
            seen.append(interrupt.pressed)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


@pytest.mark.thorough("searches a million states with each")
@pytest.mark.parametrize("name", NAMES)
def test_bytes_per_state_are_as_stated(name):
    """All arrays, room to grow included, stay below 40 bytes per state.

    Nine philosophers and nine forks, a million states.  The
    stack Current holds all of them, which costs thirteen bytes more; so do sets that
    workers share.
    """
    search = search_of(name, 9)
    drive(search, Limits())

    assert search.registers[Reg.VISITED] == 1_008_099
    assert search.registers[Reg.TRANSITIONS] == 7_358_274 * (1 + (name in LOOKS_TWICE))
    allowed = 40 + 13 * (name in ("tarjan72", "gv04")) + 32 * (name == "ufscc")
    assert search.memory_bytes / 1_008_099 < allowed


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_of_exactly_enough_states(name):
    """A complete search of n states needs no more than a limit of n."""
    assert drive(search_of(name, 4), Limits(max_states=465)).status == Status.EMPTY
    assert drive(search_of(name, 4), Limits(max_states=464)).reason == "max-states"


@pytest.mark.parametrize(
    ("limit", "value"),
    [("timeout", -1.0), ("timeout", float("nan")), ("memory_mib", float("nan"))],
)
def test_limits_that_are_none(limit, value):
    """Negative or no numbers at all."""
    with pytest.raises(UnsupportedError, match="expected 0 or more"):
        Limits(**{limit: value})


def test_files_in_memory_are_free(tmp_path, monkeypatch):
    """What a control group only uses to cache files counts as free."""
    group = tmp_path / "here"
    group.mkdir()
    (group / "memory.max").write_text("8589934592\n")
    (group / "memory.current").write_text("8588886016\n")
    (group / "memory.stat").write_text("anon 1000\ninactive_file 4294967296\n")
    assert 4096 * 1024 <= memory._free_in(group) < 4100 * 1024
    (group / "memory.max").write_text("max\n")
    assert memory._free_in(group) is None

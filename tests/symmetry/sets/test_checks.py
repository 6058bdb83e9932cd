"""The four checks against a reference in Python and the underlying automaton."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search import emptiness
from ltlpipe.search.registers import Reg, Status
from ltlpipe.symmetry.sets import powerset_search
from ltlpipe.symmetry.sets.powerset_search import FEW_INSIDE, KINDS, PowersetSearch
from ltlpipe.symmetry.sets.runs import FRONT_BYTES, SetRuns
from tests.complete_searches import Limits, drive
from tests.example_counts import at_least, examples
from tests.invariants import assert_consistent
from tests.symmetry.sets.explicit import explicit_powerset, states_of
from tests.symmetry.sets.reference import Reference, random_sets
from tests.symmetry.sets.test_explicit import explicit

COUNTED = (
    Reg.VISITED,
    Reg.TRANSITIONS,
    Reg.DOMINATED,
    Reg.REPLACED,
    Reg.PARTS,
    Reg.MAX_DEPTH,
    Reg.STORED,
)


def within(memory_bytes, job):
    """The result of a job that may hold so many bytes."""
    return jobs.run(job, Limits(memory_mib=memory_bytes / jobs.MIB))


def run(automaton, name):
    """Drive a search to its end; return whether it has found a cycle, and itself."""
    search = PowersetSearch(automaton, name)
    outcome = drive(search, Limits())
    assert outcome.reason is None
    assert outcome.status in (Status.FOUND, Status.EMPTY)
    assert_consistent(search)
    return outcome.status == Status.FOUND, search


def run_in_steps(automaton, name):
    """The same, entry by entry, the invariants checked after each."""
    search = PowersetSearch(automaton, name)
    while True:
        status = search.step(1)
        assert_consistent(search)
        if status == Status.GROW:
            list(search.grow(float("inf")))
        elif status != Status.RUNNING:
            return status == Status.FOUND, search


def run_in_little_room(automaton, name):
    """The same, with arrays that have to grow all the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emptiness, "FIRST_ENTRIES", 4)
        patch.setattr(powerset_search, "_FIRST_RESULTS", 2)
        return run(automaton, name)


def counted(search):
    """What a search has counted, and which sets it knows in what order."""
    rows = search.store.rows[: search.n_stored]
    return search.registers[list(COUNTED)].tolist(), rows.tolist()


def assert_real(sets, search):
    """The run of sets that was found is one, and accepting."""
    found = jobs.run(SetRuns(search).accepting())
    rows = search.store.rows
    prefix = [states_of(row) for row in rows[found.prefix]]
    cycle = [states_of(row) for row in rows[found.cycle]]

    assert prefix[0] in sets.initial
    assert prefix[-1] == cycle[0] == cycle[-1]
    assert len(cycle) > 1
    for states, told in (
        (prefix, found.prefix_marks.tolist()),
        (cycle, found.cycle_marks.tolist()),
    ):
        for before, marks, after in zip(states[:-1], told, states[1:], strict=True):
            reached = sets.successors(before)
            assert any(m == marks and after <= s for m, s in reached)
    seen = int(np.bitwise_or.reduce(found.cycle_marks))
    assert seen == (1 << sets.plain.n_marks) - 1


def reachable(sets):
    """All sets that the initial ones reach."""
    found = set(sets.initial)
    waiting = list(found)
    while waiting:
        new = {after for _, after in sets.successors(waiting.pop())} - found
        found |= new
        waiting += new
    return found


def check(seed, counts, **shape):
    """All checks of one random automaton."""
    sets = random_sets(random.Random(seed), **shape)
    automaton = explicit(sets)
    expected = sets.plain.has_accepting_run()
    n_reachable = len(reachable(sets))
    for name in KINDS:
        reference = Reference(sets, name)
        told = reference.finds()
        assert told == expected or (name == "aec" and told and reference.replaced)
        found, search = run(automaton, name)
        assert found == expected, (seed, name)
        for again in (run_in_steps, run_in_little_room):
            other_found, other = again(automaton, name)
            assert other_found == found, (seed, name)
            assert counted(other) == counted(search), (seed, name)
        if found:
            assert_real(sets, search)
        for turn in (1, 3):  # successors come in turns, in another order
            other_found, other = run(explicit(sets, turn=turn), name)
            assert other_found == found, (seed, name)
            if found:
                assert_real(sets, other)
        visited = int(search.registers[Reg.VISITED])
        if not found and name in ("tec", "nsiec"):
            assert visited <= n_reachable
            assert visited == n_reachable or name == "nsiec"
        counts[name, found] += 1
        counts[name, "left out"] += search.registers[Reg.DOMINATED] > 0
        counts[name, "replaced"] += search.registers[Reg.REPLACED] > 0
        counts[name, "parts"] += search.registers[Reg.PARTS] > 0
        counts[name, "began again"] += search.inside_states is not None
        counts[name, "realised"] += search.statistics().get("realised", 0)


def test_agree_with_the_underlying_automaton():
    """300 random automata: all that the checks tell apart happens among them."""
    counts = Counter()
    for seed in range(examples(300, quick=15)):
        check(seed, counts)

    for name in KINDS:
        assert min(counts[name, True], counts[name, False]) >= at_least(50)
    for name in ("nsiec", "iec", "aec"):
        assert counts[name, "left out"] >= at_least(10)
    assert counts["iec", "replaced"] >= at_least(15)
    assert counts["iec", "parts"] >= at_least(10)
    assert counts["aec", "replaced"] >= at_least(15)
    assert counts["aec", "began again"] >= at_least(5)
    assert counts["aec", "realised"] >= at_least(5)


def test_growing_keeps_the_order_of_sets():
    """Of several sets that are comparable the one visited last counts, as ever."""
    check(2683, Counter(), most_states=16, most_marks=3)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_agree_on_many(part):
    """6,000 more, half of them larger."""
    for k in range(1000):
        shape = {"most_states": 16, "most_marks": 3} if part % 2 else {}
        check(10_000 + 1000 * part + k, Counter(), **shape)


@pytest.mark.parametrize("name", KINDS)
def test_arrays_grow_in_the_middle_of_a_search(name):
    """A path of 2,000 sets with a cycle at its end outgrows every array."""
    n = 2000
    path = [(s, 0, s + 1) for s in range(n - 1)]
    groups = [{s} for s in range(n)]
    empty = explicit_powerset(n, path, [{0}], groups, n_marks=1)
    closed = explicit_powerset(n, [*path, (n - 1, 1, n - 2)], [{0}], groups, n_marks=1)

    found, search = run(empty, name)
    assert not found
    assert search.registers[Reg.VISITED] == search.registers[Reg.MAX_DEPTH] == n
    found, search = run(closed, name)
    assert found
    sets = jobs.run(SetRuns(search).accepting())
    assert len(sets.prefix) + len(sets.cycle) == n + 2


@pytest.mark.parametrize("name", KINDS)
def test_budgets_count_successors(name):
    """A set with 200 successors takes many calls, of so many at most and one turn.

    It was expanded in one call, whatever the budget: a call took seconds.
    """
    n, turn, budget = 200, 8, 16
    fan = [(0, 0, s) for s in range(1, n + 1)]
    groups = [{s} for s in range(n + 1)]
    for steps, found in ((fan, False), ([*fan, (n, 1, n)], True)):
        automaton = explicit_powerset(n + 1, steps, [{0}], groups, n_marks=1, turn=turn)
        search = PowersetSearch(automaton, name)
        status, most = Status.RUNNING, 0
        while status in (Status.RUNNING, Status.GROW):
            before = int(search.registers[Reg.TRANSITIONS])
            status = search.step(budget)
            assert_consistent(search)
            most = max(most, int(search.registers[Reg.TRANSITIONS]) - before)
            if status == Status.GROW:
                list(search.grow(float("inf")))
        assert (status == Status.FOUND) == found
        assert turn <= most <= budget + turn
        assert search.registers[Reg.TRANSITIONS] == len(steps)
        assert len(search.arrays.ids) == powerset_search._FIRST_RESULTS


def closed_path(n):
    """A search that has found the cycle at the end of a path of sets."""
    path = [(s, 0, s + 1) for s in range(n - 1)]
    groups = [{s} for s in range(n)]
    sets = explicit_powerset(n, [*path, (n - 1, 1, n - 2)], [{0}], groups, n_marks=1)
    found, search = run(sets, "iec")
    assert found
    return search


def test_a_run_within_a_limit_of_memory():
    """The arrays that are needed to look for it count, of active sets alone."""
    n = 2000
    search = closed_path(n)
    enough = search.memory_bytes + FRONT_BYTES * n

    runs = SetRuns(search)
    assert len(within(enough, runs.accepting()).prefix) > 1
    assert runs.extraction_bytes == FRONT_BYTES * n
    with pytest.raises(StoppedError) as stopped:
        within(enough - 1, SetRuns(search).accepting())
    assert stopped.value.reason == "memory"


@pytest.mark.parametrize("name", KINDS)
def test_an_answer_stays(name):
    """A search that is driven on after FOUND says so again, and its run is there."""
    for seed in range(examples(40)):
        sets = random_sets(random.Random(seed))
        found, search = run(explicit(sets), name)
        if not found:
            continue
        before = counted(search)
        with pytest.raises(StoppedError):
            within(0, SetRuns(search).accepting())
        assert drive(search, Limits()).status == Status.FOUND
        assert counted(search) == before
        assert_real(sets, search)


def test_results_that_outgrow_their_room_during_extraction():
    """They get more, within the limit of memory."""
    automaton = explicit_powerset(
        4,
        [(0, 0, 1), (0, 0, 2), (0, 0, 3), (3, 1, 0)],
        [{0}],
        [{s} for s in range(4)],
        n_marks=1,
    )
    for spare, fits in ((1 << 20, True), (0, False)):
        found, search = run(automaton, "iec")
        assert found
        little = {
            name: getattr(search.arrays, name)[:1].copy()
            for name in ("out_rows", "out_marks", "ids", "hashes")
        }
        search.arrays = search.arrays._replace(**little)
        count = int(search.registers[Reg.COUNT])
        memory = search.memory_bytes + FRONT_BYTES * count + spare
        runs = SetRuns(search)
        if fits:
            assert len(within(memory, runs.accepting()).cycle) == 3
            assert len(search.arrays.ids) >= 3
        else:
            with pytest.raises(StoppedError) as stopped:
                within(memory, runs.accepting())
            assert stopped.value.reason == "memory"


@pytest.mark.parametrize("n", [10, 700, 1000, 3000])
def test_aec_begins_again_exactly(n):
    """A path of n sets whose last one the first one includes, with nothing behind it.

    aec takes the first one for the last and closes a cycle that is not there; inside of
    its sets there is none among those that may be visited again, nor is there one for
    iec, which visits them all.
    """
    automaton = explicit_powerset(
        n + 1,
        [(s, 0, s + 1) for s in range(n)],
        [{0, n}],
        [{0, n}, *({s} for s in range(1, n))],
        n_marks=0,
    )

    found, search = run(automaton, "aec")

    assert not found
    assert search.approximate_states == n
    assert search.inside_states == (n if n >= FEW_INSIDE else n + 1)
    assert search.registers[Reg.VISITED] == 2 * n + 1 + search.inside_states


def test_an_alarm_is_realised_inside_its_sets():
    """A state that goes round: a larger set stands in for it, and it goes round, too.

    The sets are {0, 1} and {0}, and 1 leads nowhere.
    """
    automaton = explicit_powerset(2, [(0, 1, 0)], [{0, 1}], [{0}, {0, 1}], n_marks=1)

    found, search = run(automaton, "aec")

    assert found
    assert search.statistics()["realised"] == 1
    assert search.inside_states is None
    assert search.registers[Reg.VISITED] == search.approximate_states + 2

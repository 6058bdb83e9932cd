"""Counts of states, and the sets of rows that they keep."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.automata.conditions import fin, inf
from ltlpipe.automata.letters import universal
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search import counting
from ltlpipe.search.cells import (
    add,
    least_of,
    mixed_at,
    moved,
    new_cells,
    place_of,
    room_of,
    shape_of,
    unmixed,
)
from ltlpipe.search.counting import Count, Counting
from ltlpipe.search.exploring import BATCH, Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.product import Setting
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems import fields
from ltlpipe.verdict.checking import product_size
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import conditions, networks
from tests.oracles import compose
from tests.packed import pack
from tests.search.explicit_automata import Explicit, automata, problem_of
from tests.search.test_exploring import reachable


@njit
def add_rows(cells, rows, added):
    """Add rows, and note what `add` says of each."""
    shape = shape_of(cells)
    for i in range(rows.shape[0]):
        bucket, remainder = place_of(shape, rows[i])
        added[i] = add(shape, cells.words, bucket, remainder)


@njit
def rebuilt_rows(cells, rows, found):
    """Make rows of the places to which they belong."""
    shape = shape_of(cells)
    for i in range(rows.shape[0]):
        bucket, remainder = place_of(shape, rows[i])
        found[i] = unmixed(shape, mixed_at(shape, least_of(shape, bucket), remainder))


def added_to(cells, rows):
    """Return what `add` says of each row."""
    added = np.zeros(len(rows), dtype=np.int64)
    add_rows(cells, rows, added)
    return added


@given(
    st.integers(1, 64),
    st.integers(1, 3_000),
    st.sampled_from([0.2, 0.9]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=examples(60))
def test_sets_of_rows(bits, n, share, seed):
    """Of whatever width: each row is new once, and known when the set has grown."""
    random = np.random.default_rng(seed)
    most = (1 << bits) - 1
    rows = random.integers(0, most, n, np.uint64, endpoint=True)
    near = (rows[0] + np.arange(n, dtype=np.uint64)) & np.uint64(most)
    rows = np.where(random.random(n) < share, rows, near)  # many follow each other
    cells = new_cells(bits, n)
    assert room_of(cells) >= n

    found = np.zeros_like(rows)
    rebuilt_rows(cells, rows, found)
    assert (found == rows).all()

    seen: set[int] = set()
    for row, added in zip(rows.tolist(), added_to(cells, rows).tolist(), strict=True):
        assert added == (row not in seen)
        seen.add(row)
    for wider in (bits, 64):
        larger = new_cells(wider, 2 * n)
        assert all(moved(cells, larger))
        assert not added_to(larger, rows).any()
        assert np.count_nonzero(larger.words) >= len(seen)
    others = random.integers(0, most, 50, np.uint64, endpoint=True)
    there = [row in seen for row in others.tolist()]
    first = np.unique(others, return_index=True)[1]
    added = added_to(cells, others)
    assert all(added[k] != there[k] for k in first if added[k] >= 0)


@njit
def call_packed(root):
    return counting.packed(root)


@njit
def call_unpacked(word):
    return counting.unpacked(word)


def test_a_full_set_says_so():
    """Rows without end: none is lost, none is stored in another's place."""
    cells = new_cells(40, 100)
    rows = np.arange(5_000, dtype=np.uint64)
    added = added_to(cells, rows)
    assert set(added.tolist()) == {1, -1}
    again = added_to(cells, rows[added == 1])
    assert not again.any()


@given(automata(max_states=12, max_marks=4), st.data(), st.sampled_from([None, 1, 3]))
@settings(max_examples=examples(200))
def test_counts(automaton, data, budget):
    """States, transitions and those with Fin marks, wherever a step stops.

    Also where rows have more bits than was said.
    """
    marks = max(automaton.n_marks, 1)
    condition = data.draw(conditions(marks)) if automaton.n_marks else None
    automaton = Explicit(
        automaton.n_states,
        automaton.n_marks,
        automaton.transitions,
        condition=condition,
    )
    count = Count(problem_of(automaton), data.draw(st.sampled_from([1, 40, 64])))

    outcome = drive(count, Limits(), max_budget=budget)

    states = reachable(automaton)
    there = [t for t in automaton.transitions if t[0] in states]
    bits = 0 if condition is None else condition.fin_marks
    assert outcome.status == Status.EMPTY
    assert count.registers[Reg.VISITED] == len(states) == count.registers[Reg.STORED]
    assert count.registers[Reg.TRANSITIONS] == len(there)
    assert count.fin_transitions == sum(t[1] & bits != 0 for t in there)


@given(automata(max_states=12), st.none() | st.integers(1, 9))
@settings(max_examples=examples(100))
def test_rows_of_several_words(automaton, budget):
    """As trees: as many states as with numbers, wherever a step stops."""
    with mock.patch.object(fields, "_WORD_BITS", 2):
        problem = problem_of(automaton, periods=(2, 3, 2, 3))
    assert len(problem.initial) >= 3
    count, exploration = Count(problem, 64), Exploration(problem)
    drive(count, Limits(), max_budget=budget)
    drive(exploration, Limits())
    for register in (Reg.STORED, Reg.VISITED, Reg.TRANSITIONS):
        assert count.registers[register] == exploration.registers[register]


def test_trees_of_many_parts_grow():
    """The set, the parts and their slots are made larger; memory is counted."""
    with mock.patch.object(fields, "_WORD_BITS", 10):
        plain = product_size(philosophers(7), None, reduce="none")
        trees = product_size(philosophers(7), None, reduce="none", compress=True)
    assert trees == plain
    options = {"reduce": "none", "compress": True, "memory": 0.2}
    with mock.patch.object(fields, "_WORD_BITS", 10):
        assert product_size(philosophers(7), None, **options) is None


def test_there_are_no_more_parts_than_numbers(monkeypatch):
    """The count ends; it does not go on with numbers that mean two parts."""
    monkeypatch.setattr(counting, "MAX_STATES", 5_000)
    with mock.patch.object(fields, "_WORD_BITS", 10):
        options = {"reduce": "none", "compress": True}
        assert product_size(philosophers(7), None, **options) is None


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(200))
def test_packed_roots(left, right):
    """None is lost, and pairs of numbers below 2^24 have 48 bits."""
    root = np.uint64(left << 32 | right)
    word = np.uint64(call_packed(root))
    assert call_unpacked(word) == root
    assert int(word).bit_length() <= 48 or max(left, right) >= 2**24


@pytest.mark.parametrize("width", [1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH, 9_000])
def test_as_many_successors_as_a_batch(width):
    """There is room for a state's successors behind those of others, and they wait."""
    ways = range(1, width + 1)
    rows = [(0, 0, i) for i in ways] + [(i, 0, j) for i in ways for j in (i, width + i)]
    count = Count(problem_of(Explicit(2 * width + 1, 0, tuple(rows))), 64)
    drive(count, Limits())
    found = count.registers[Reg.STORED], count.registers[Reg.TRANSITIONS]
    assert found == (2 * width + 1, 3 * width)


def test_a_set_that_is_full_before_its_time(monkeypatch):
    """A batch goes on where it stopped: no state is lost or counted twice."""
    monkeypatch.setattr(counting, "new_cells", lambda b, n: new_cells(b, n // 5))
    monkeypatch.setattr(counting, "room_of", lambda cells: 5 * room_of(cells))
    n = 20_000
    rows = [(i, 0, j) for i in range(n) for j in (2 * i % n, (3 * i + 1) % n)]
    line = [(i, 0, (i + 1) % n) for i in range(n)]
    count = Count(problem_of(Explicit(n, 0, (*rows, *line))), 40)
    fulls = []
    monkeypatch.setattr(
        count,
        "_grow",
        lambda limit, grow=count._grow: (
            fulls.append(count.registers[Counting.IS_FULL]) or grow(limit)
        ),
    )
    drive(count, Limits())
    assert any(fulls)
    found = count.registers[Reg.STORED], count.registers[Reg.TRANSITIONS]
    assert found == (n, 3 * n)


def test_a_larger_set_that_is_too_full_grows_further(monkeypatch):
    """Rows may lie so badly that a larger set has no bucket for one: one more is."""
    sizes = []

    def crowded(cells, new):
        sizes.append(room_of(new))
        assert len(sizes) < 10, "the same size again and again"
        return iter([False]) if sizes[-1] == sizes[0] else moved(cells, new)

    monkeypatch.setattr(counting, "moved", crowded)
    n = 5_000
    count = Count(
        problem_of(Explicit(n, 0, tuple((i, 0, -~i % n) for i in range(n)))), 40
    )
    assert drive(count, Limits()).status == Status.EMPTY
    assert count.registers[Reg.STORED] == n
    assert len(sizes) > 1


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_states=10), "max-states"),
        (Limits(timeout=0.0), "timeout"),
        (Limits(memory_mib=0.01), "memory"),
    ],
    ids=["max-states", "timeout", "memory"],
)
def test_limits(limits, reason):
    """Half a count is none."""
    line = tuple((i, 0, i + 1) for i in range(2_000))
    count = Count(problem_of(Explicit(2_001, 0, line, known_weak=True)), 64)
    assert drive(count, limits).reason == reason


@given(
    networks(max_components=3, max_states=5, max_transitions=12),
    st.booleans(),
    st.integers(1, 9),
)
@settings(max_examples=examples(200))
def test_systems_without_a_property(network, counts, budget):
    """Steps that are those of the product where they are written; deadlocks stutter."""
    letters = np.zeros(len(network.actions), dtype=np.int32)
    packed = pack(network, letters)
    problem = make_problem(packed, universal(), stutter=True)
    search = Count(problem, packed.bits) if counts else Exploration(problem)
    assert search.problem.product.settings[Setting.ALONE]

    drive(search, Limits(), max_budget=budget)

    states, edges = compose(network)
    left = {src for src, _, _ in edges}
    registers = search.registers
    assert registers[Reg.STORED] == registers[Reg.VISITED] == len(states)
    assert registers[Reg.TRANSITIONS] == len(set(edges)) + len(states) - len(left)


def test_a_large_system():
    """Arrays grow; the numbers are those of a complete search."""
    network = philosophers(7)
    size = product_size(network, None, acceptance="auto", reduce="none")
    stats = check(network, empty=True, emptiness="couvreur99", reduce="none").stats
    assert size[:2] == (stats.states, stats.transitions)
    assert size.fin_share is None


def test_the_share_of_a_product():
    """Fin of a step that is taken now and then: as many transitions as it has."""
    network = philosophers(3)
    size = product_size(network, parse("GF eat0"), acceptance="tgra", reduce="none")
    whole = product_size(network, None, acceptance="auto", reduce="none")
    assert 0 < size.fin_transitions < size.transitions
    assert size.fin_share == size.fin_transitions / size.transitions
    assert size[:2] == whole[:2]  # the automaton has one state
    one = {"max_states": 1, "reduce": "none"}
    assert product_size(network, None, acceptance="auto", **one) is None


def test_a_mark_in_inf_alone_is_not_counted():
    """Nor is a transition with two Fin marks counted twice."""
    rows = ((0, 0b001, 1), (1, 0b110, 0), (1, 0b111, 1), (0, 0, 0))
    condition = inf(0) & fin(1) & fin(2)
    count = Count(problem_of(Explicit(2, 3, rows, condition=condition)), 64)
    drive(count, Limits())
    assert count.fin_transitions == 2

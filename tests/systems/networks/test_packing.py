"""The packed network and its successor function against naive composition."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.families.networks import philosophers
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.kernels.jit import expand_pointer, njit
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks import packing_tables
from ltlpipe.systems.networks.packing import (
    pack_network,
    reachable_states,
    relabelled,
)
from ltlpipe.systems.networks.packing_kernels import Select
from tests.hypothesis_strategies import networks
from tests.oracles import compose, is_accepting
from tests.packed import pack


@njit
def call(expand, ints, words, row, select, rows, letters, actions, marks):
    """Call a successor function as kernels do."""
    return expand(ints, words, row, select, rows, letters, actions, marks)


def steps(packed, row, select=Select.ALL):
    """The successors of a row as (action, letter, row, marks)."""
    k, n_words = packed.max_successors, packed.initial.shape[0]
    rows = np.zeros((k, n_words), dtype=np.uint64)
    letters, actions = np.zeros(k, dtype=np.int32), np.zeros(k, dtype=np.int32)
    marks = np.zeros(k, dtype=np.uint32)
    count = call(
        expand_pointer(packed.expand),
        packed.ints,
        packed.words,
        row,
        int(select),
        rows,
        letters,
        actions,
        marks,
    )
    assert count <= k
    return [(actions[i], letters[i], rows[i], marks[i]) for i in range(count)]


def explore(network, packed):
    """All transitions that the successor function gives, as local states."""
    found = Counter()
    seen = {packed.initial.tobytes()}
    waiting = [packed.initial]
    while waiting:
        row = waiting.pop()
        (src,) = packed.unpack(row[None]).tolist()
        for action, letter, target, marks in steps(packed, row):
            (dst,) = packed.unpack(target[None]).tolist()
            found[tuple(src), int(action), tuple(dst)] += 1
            assert letter == action % 3
            accepts = network.has_acceptance and is_accepting(network, src)
            assert marks == int(accepts)
            if target.tobytes() not in seen:
                seen.add(target.tobytes())
                waiting.append(target)
    return found


def letters_of(network):
    return np.arange(len(network.actions), dtype=np.int32) % 3


def expected(network):
    """Each transition of the naive composition once."""
    states, edges = compose(network)
    return Counter({(states[s], a, states[d]): 1 for s, a, d in edges})


@given(networks(internal=["a"], acceptance=True))
def test_successors_are_those_of_the_composition(network):
    """Every transition, once, with its letter and the marks of its source."""
    assert explore(network, pack(network, letters_of(network))) == expected(network)


@given(networks(acceptance=True), st.integers(0, 5))
def test_wide_actions_and_shuffled_tables_change_nothing(network, seed):
    """Multiplying out on the fly gives what the joint moves give."""
    with (
        mock.patch.object(packing_tables, "MAX_MOVES", 1),
        mock.patch.object(packing_tables, "_BLOW_UP", 0),
    ):
        packed = pack(network, letters_of(network), seed=seed)
    assert explore(network, packed) == expected(network)


@given(networks(acceptance=True), st.booleans())
def test_other_letters_for_what_is_packed(network, wide):
    """They give what the network gives that is packed with them."""
    most = 1 if wide else packing_tables.MAX_MOVES
    with (
        mock.patch.object(packing_tables, "MAX_MOVES", most),
        mock.patch.object(packing_tables, "_BLOW_UP", 0 if wide else 1),
    ):
        letters = letters_of(network)
        packed, other = pack(network, letters), pack(network, letters[::-1].copy())
    again = relabelled(packed, letters[::-1].copy())
    np.testing.assert_array_equal(again.ints, other.ints)
    np.testing.assert_array_equal(again.words, other.words)
    assert explore(network, packed) == expected(network)  # it has not changed


@given(networks(max_components=3, max_states=4), st.integers(1, 2**40))
def test_the_callers_field_is_copied(network, extra_values):
    """Bits of `extra` travel to every successor unchanged, whatever the layout."""
    packed = pack(network, letters_of(network), extra_values=extra_values)
    extra = packed.extra
    assert extra.mask >= extra_values - 1
    bits = np.uint64(extra.mask << extra.shift)
    row = packed.initial.copy()
    assert row[extra.word] & bits == 0
    row[extra.word] |= bits
    for _, _, target, _ in steps(packed, row):
        assert target[extra.word] & bits == bits
        target[extra.word] &= ~bits
        assert packed.unpack(target[None]).shape == (1, len(network.components))


def test_many_components_take_several_words():
    """Thirty components of eight states need 90 bits, so two words."""
    ring = [(s, f"x{s}", (s + 1) % 8) for s in range(8)]
    components = [
        LTS.from_transitions([(s, f"{a}.{i}", d) for s, a, d in ring])
        for i in range(29)
    ] + [LTS.from_transitions([(0, "x0.28", 1), (1, "x1.0", 0)])]
    packed = pack(Network(components), np.zeros(8 * 29, dtype=np.int32))
    assert packed.initial.shape == (2,)
    row = packed.initial
    # Component 28 shares x0.28 with the last one; x1.0 waits for component 0.
    assert len(steps(packed, row)) == 29
    after = next(t for a, _, t, _ in steps(packed, row) if a == 0)
    assert packed.unpack(after[None])[0].tolist() == [1] + [0] * 29


def test_wide_labels_give_the_cartesian_product():
    """Three components with 20 choices each on a label: 8,000 joint steps."""
    fan = LTS.from_transitions([(0, "go", d) for d in range(20)])
    network = Network([fan, fan, fan])
    packed = pack(network, np.zeros(1, dtype=np.int32))
    targets = {
        tuple(packed.unpack(t[None])[0]) for _, _, t, _ in steps(packed, packed.initial)
    }
    assert targets == {
        (x, y, z) for x in range(20) for y in range(20) for z in range(20)
    }


def test_one_action_of_all_of_many_components():
    """They have few joint moves, although they are more than an array has axes."""
    n = 70
    twice = [(0, "all", 0), (0, "all", 1), (1, "all", 0)]
    rows = [twice, *[[(0, "all", 1), (1, f"back {k}", 0)] for k in range(n - 1)]]
    network = Network([LTS.from_transitions(own) for own in rows])
    packed = pack(network, letters_of(network))
    found = [
        packed.unpack(row[None]).tolist()
        for _, _, row, _ in steps(packed, packed.initial)
    ]
    assert sorted(found) == [[[k] + [1] * (n - 1)] for k in (0, 1)]


def test_too_many_successors_are_refused_by_name():
    """A label with 30**5 joint steps cannot be searched; the error names it."""
    fan = LTS.from_transitions([(0, "burst", d) for d in range(30)])
    with pytest.raises(UnsupportedError, match=r"24300000 .* 'burst' of 5 components"):
        pack(Network([fan] * 5), np.zeros(1, dtype=np.int32))


def test_stutter_repeats_the_state():
    """`Select.STUTTER` gives one step to the state itself with its marks."""
    network = philosophers(3)
    packed = pack(network, np.ones(len(network.actions), dtype=np.int32))
    ((action, letter, row, marks),) = steps(packed, packed.initial, Select.STUTTER)
    assert (action, letter, marks) == (-1, 0, 0)
    assert (row == packed.initial).all()


def test_unreachable_local_states_take_no_bits():
    """Three states of which two are reachable fit one bit; names stay."""
    component = LTS.from_transitions([(2, "a", 0), (0, "b", 2), (1, "c", 1)], initial=2)
    packed = pack(Network([component]), np.zeros(3, dtype=np.int32))
    assert packed.fields[0].bits == 1
    assert packed.unpack(packed.initial[None]).tolist() == [[2]]


def test_sparse_states_cost_nothing():
    """Two billion states of which all but two have no transition."""
    component = LTS.from_transitions([(7, "a", 9)], initial=7, n_states=2**31 - 1)
    tracemalloc.start()
    try:
        packed = pack(Network([component]), np.zeros(1, dtype=np.int32))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert packed.local_states[0].tolist() == [7, 9]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_memory_is_announced_before_it_is_taken():
    """A job that may not have the tables is stopped before they are there."""
    network = philosophers(400)
    letters = np.zeros(len(network.actions), dtype=np.int32)
    job = pack_network(network, letters)
    tracemalloc.start()
    try:
        announced = next(p.memory_bytes for p in job if p.memory_bytes)
        before = tracemalloc.get_traced_memory()[1]
        words = complete(job).words
        after = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words.nbytes <= announced <= 4 * words.nbytes
    assert after - before >= words.nbytes


def test_memory_of_wide_actions_is_announced_before_it_is_taken():
    """Each of them has an entry for each state of each participant."""
    n, n_labels = 20_000, 60
    names = [f"a{k}" for k in range(n_labels)]
    src = np.arange(n, dtype=np.int32)
    numbers = (src % n_labels).astype(np.int32)
    one = LTS(n, 0, tuple(names), src, numbers, np.roll(src, -1))
    network = Network([one, one])
    letters = np.zeros(n_labels, dtype=np.int32)
    for lts in network.components:
        complete(reachable_states(lts, Ticks("", 1.0)))
    tracemalloc.start()
    try:
        job = pack_network(network, letters)
        announced = max(p.memory_bytes for p in job)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * announced
    finally:
        tracemalloc.stop()


def test_huge_alphabets_keep_their_transitions():
    """Many states times many labels exceed 64 bits; nothing is taken for equal."""
    n_states, n_labels = 1 << 23, (1 << 18) + 1
    states = np.arange(n_states, dtype=np.int32)
    ends = np.array([0, n_labels - 1], dtype=np.int32)
    component = LTS(
        n_states=n_states,
        initial=0,
        labels=tuple(f"l{k}" for k in range(n_labels)),
        src=np.concatenate([0 * ends, states[:-1]]),
        label=np.concatenate([ends, np.ones_like(states[1:])]),
        dst=np.concatenate([np.ones_like(ends), states[1:]]),
    )
    steps = complete(
        packing_tables._steps_by_label(component, states, Ticks("testing"))
    )
    assert steps["l0"].src.tolist() == steps[f"l{n_labels - 1}"].src.tolist() == [0]
    assert len(steps["l1"].src) == n_states - 1


ROWS = st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 9))


@given(st.lists(ROWS, min_size=1, max_size=40), st.sampled_from([10, 10_000]))
def test_steps_by_label(rows, n_states):
    """Each transition of reachable states, once, in order; of few and many states."""
    component = LTS.from_transitions(rows, n_states=n_states)
    states = complete(reachable_states(component, Ticks("testing")))
    job = packing_tables._steps_by_label(component, states, Ticks("testing"))
    found = complete(job)
    place = {state: k for k, state in enumerate(states.tolist())}
    for name in component.labels:
        own = [
            (place[s], place[t])
            for s, label, t in component.transitions()
            if label == name and s in place
        ]
        steps = zip(found[name].src.tolist(), found[name].dst.tolist(), strict=True)
        assert list(steps) == list(dict.fromkeys(own))

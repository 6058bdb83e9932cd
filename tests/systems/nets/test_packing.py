"""The packed net and its successor function against the interpreter."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.automata.letters import universal
from ltlpipe.logic.propositions.syntax import Deadlock, Taken
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.runtime.kernels.jit import expand_pointer, njit
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg
from ltlpipe.systems.nets import structure
from ltlpipe.systems.nets.invariants import place_bounds
from ltlpipe.systems.nets.kernels import Header, exceeds, lacks
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.packing import MAX_BITS, Widths, pack_net
from ltlpipe.systems.nets.structure import MAX_TOKENS, Bounds, Place, Transition
from ltlpipe.systems.networks.packing_kernels import Select
from ltlpipe.systems.propositions.letters import evaluate
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import petri_nets
from tests.oracles import reachable_markings


@njit
def call(expand, ints, words, row, select, rows, letters, actions, marks):
    """Call a successor function as kernels do."""
    return expand(ints, words, row, select, rows, letters, actions, marks)


def steps(packed, row, select=Select.ALL):
    """The successors of a row as (action, letter, row)."""
    k, n_words = packed.max_successors, packed.initial.shape[0]
    rows = np.zeros((k, n_words), dtype=np.uint64)
    letters, actions = np.zeros(k, dtype=np.int32), np.zeros(k, dtype=np.int32)
    marks = np.ones(k, dtype=np.uint32)
    expand = expand_pointer(packed.expand)
    tables = packed.ints, packed.words
    count = call(expand, *tables, row, int(select), rows, letters, actions, marks)
    assert count <= k
    assert not marks[:count].any()
    return [(int(actions[i]), int(letters[i]), rows[i]) for i in range(count)]


def marking(packed, row):
    return tuple(packed.unpack(row[None])[0].tolist())


def compare(net, packed, row):
    """Whether the steps of a row are the interpreter's; if not, a place is noted."""
    actions, rows = [], [packed.initial]
    for action, _, target in steps(packed, row):
        actions.append(action)
        rows.append(target)
    markings = map(tuple, packed.unpack(np.array(rows))[1:].tolist())
    found = sorted(zip(actions, markings, strict=True))
    expected = sorted(net.steps(marking(packed, row)))
    if packed.overflowed() is None:
        assert found == expected
        return True
    # What is left is right, what is missing passes the field that is noted.
    assert set(found) < set(expected)
    return False


def explored(net, packed, limit):
    """Compare everywhere, wider fields where needed; the first `limit` markings."""
    assert marking(packed, packed.initial) == net.initial()
    seen = {packed.initial.tobytes()}
    waiting = [packed.initial]
    for row in waiting:
        if not compare(net, packed, row):
            place = packed.overflowed()
            wider = complete(packed.widened())
            assert wider.fields[place].bits > packed.fields[place].bits
            assert wider.overflowed() is None
            return explored(net, wider, limit)
        for _, _, target in steps(packed, row):
            if target.tobytes() not in seen and len(seen) < limit:
                seen.add(target.tobytes())
                waiting.append(target)
    return {marking(packed, row) for row in waiting}


@given(petri_nets(max_weight=3), st.none() | st.integers(0, 5))
@settings(max_examples=examples(300))
def test_all_successors_of_small_nets(net, seed):
    """Bounded nets completely, whatever the order; the others to some extent."""
    limit = 60
    found = explored(net, net.pack((), seed=seed), limit)
    expected = reachable_markings(net, limit + 1)
    if len(expected) <= limit:
        assert found == set(expected)
    else:
        assert len(found) == limit


@given(petri_nets(max_weight=3))
@settings(max_examples=examples(100))
def test_without_bounds_all_fields_are_checked(net):
    """Nothing depends on what invariants are found."""
    net.bounds = Bounds([None] * len(net.places), np.full(len(net.places), 0.5))
    packed = net.pack(())
    assert packed.widths.proven == (False,) * len(net.places)
    explored(net, packed, 60)


@given(petri_nets(max_weight=3), st.none() | st.integers(0, 5), st.integers(1, 30))
@settings(max_examples=examples(100))
def test_tables_are_the_same_wherever_pieces_end(net, seed, turn):
    """They are made for some arcs at a time."""
    whole = net.pack((), seed=seed)
    with mock.patch.object(structure, "TURN", turn):
        pieces = complete(pack_net(net, seed=seed))
        assert complete(place_bounds(net)).tokens == net.bounds.tokens
    assert np.array_equal(whole.ints, pieces.ints)
    assert np.array_equal(whole.words, pieces.words)


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("n_places", [3, 10_000])
def test_packing_a_large_net_yields(n_places):
    """No more than 50 ms of work lie between two yields, wider places or not."""
    net = PetriNet(
        [Place(f"p{k}", f"p{k}") for k in range(n_places)],
        [
            Transition(f"t{k}", f"t{k}", {k % n_places: 1}, {(7 * k + 1) % n_places: 2})
            for k in range(50_000)
        ],
    )
    packed = yielding(net.packing(()), least=5)
    packed.ints[Header.OVERFLOW] = 1
    packed.words[:] = np.uint64(2**64 - 1)
    assert yielding(packed.widened(), least=5) is not None


def yielding(job, least):
    """The result of a job that tells of its work in so many parts, at least."""
    said = []
    result = run(job, observer=said.append)
    assert len(said) >= least
    assert max(progress.work for progress in said) <= 50_000
    return result


@pytest.mark.slow
@given(
    petri_nets(max_places=70, max_transitions=40, max_weight=5, max_tokens=9),
    st.none() | st.integers(0, 5),
)
@settings(max_examples=examples(2000))
def test_all_successors_of_larger_nets(net, seed):
    """Rows of several words."""
    explored(net, net.pack((), seed=seed), 40)


def random_net(rng, n_places, n_transitions, most):
    """A net of many words that moves tokens about."""
    transitions = []
    for k in range(n_transitions):
        sides = []
        for size in rng.integers(1, 4, size=2).tolist():
            places = rng.permutation(n_places)[:size].tolist()
            weights = rng.integers(1, most, size=size).tolist()
            sides.append(dict(zip(places, weights, strict=True)))
        transitions.append(Transition(f"t{k}", f"t{k}", *sides))
    tokens = rng.integers(0, most, size=n_places).tolist()
    return PetriNet(
        [Place(f"p{k}", f"p{k}", m) for k, m in enumerate(tokens)], transitions
    )


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("most", [2, 9], ids=["ones", "weights"])
def test_walks_in_a_large_net(most):
    """500 places and 5,000 transitions, as large as nets are to be."""
    rng = np.random.default_rng(most)
    net = random_net(rng, 500, 5000, most)
    bits = tuple(16 for _ in net.places)
    widths = Widths(bits, (False,) * 500)
    packed = complete(pack_net(net, widths=widths))
    assert packed.initial.shape == (125,)
    row = packed.initial
    for _ in range(40):
        assert compare(net, packed, row)
        found = steps(packed, row)
        row = found[int(rng.integers(len(found)))][2].copy()


@given(petri_nets(max_transitions=4), st.data(), st.integers(1, 1 << 20))
@settings(max_examples=examples(200))
def test_letters_are_the_propositions_of_the_source(net, data, extra_values):
    """Those of the state, of the transition that fires, of a deadlock; nothing else."""
    texts = ["deadlock || 1<=0", *(f"fireable({t})" for t in net.actions)]
    if net.places:
        texts += ["p0<=1", "2<=" + "+".join(net.variables)]
    propositions = [net.meaning(text) for text in texts]
    propositions += [
        Deadlock(),
        *(Taken(frozenset({t})) for t in range(len(net.transitions))),
    ]
    packed = net.pack(propositions, extra_values=extra_values)
    bits = np.uint64(packed.extra.mask << packed.extra.shift)
    state = data.draw(st.sampled_from(reachable_markings(net, 20)))
    row = packed.initial.copy()
    fields = zip(packed.fields, state, strict=True)
    if any(tokens > place.mask for place, tokens in fields):
        return
    row[:] = 0
    for place, tokens in zip(packed.fields, state, strict=True):
        row[place.word] |= np.uint64(tokens << place.shift)
    row[packed.extra.word] |= bits
    found = steps(packed, row)
    dead = not net.steps(state)
    if dead:
        found = steps(packed, row, Select.STUTTER)
        assert (len(found), found[0][0], found[0][2].tolist()) == (1, -1, row.tolist())
    for action, letter, target in found:
        assert target[packed.extra.word] & bits == bits
        values = [evaluate(p, state, action=action, dead=dead) for p in propositions]
        assert letter == sum(1 << k for k, value in enumerate(values) if value)


def test_too_many_propositions():
    net = PetriNet([Place("p", "p")], [])
    p = net.meaning("p<=1")
    with pytest.raises(UnsupportedError, match="propositions"):
        net.pack([p] * 40)


def maker(put=1, tokens=0):
    """A place that gets ever more tokens."""
    return PetriNet(
        [Place("p", "p", tokens), Place("q", "q", 1)],
        [Transition("t", "t", {}, {0: put})],
    )


def test_fields_are_widened_up_to_63_bits():
    packed = maker().pack(())
    widths = []
    while packed is not None:
        field = packed.fields[0]
        widths.append(field.bits)
        full = packed.initial.copy()
        full[field.word] |= np.uint64(field.mask << field.shift)
        assert packed.overflowed() is None
        assert steps(packed, full - np.uint64(1 << field.shift)) != []
        assert packed.overflowed() is None
        assert steps(packed, full) == []
        assert packed.overflowed() == 0
        assert packed.fields[1].bits == 1
        packed = complete(packed.widened())
    assert widths == [1, 2, 4, 8, 16, 32, 48, 56, 60, 62, MAX_BITS]


def test_the_largest_numbers():
    """A marking and a weight of 63 bits: one step, and then no more."""
    packed = maker(put=1, tokens=MAX_TOKENS - 1).pack(())
    ((_, _, row),) = steps(packed, packed.initial)
    assert marking(packed, row) == (MAX_TOKENS, 1)
    assert steps(packed, row) == []
    assert packed.overflowed() == 0
    assert complete(packed.widened()) is None
    packed = maker(put=MAX_TOKENS).pack(())
    ((_, _, row),) = steps(packed, packed.initial)
    assert marking(packed, row) == (MAX_TOKENS, 1)


def test_what_takes_more_than_fits_is_not_enabled_until_it_does():
    """The field of p has one bit at first; t takes five tokens."""
    net = PetriNet(
        [Place("p", "p"), Place("q", "q")],
        [Transition("make", "make", {}, {0: 1}), Transition("t", "t", {0: 5}, {1: 1})],
    )
    found = explored(net, net.pack(()), 30)
    assert (0, 1) in found
    assert (6, 0) in found


def test_fields_are_as_wide_as_invariants_say():
    """Seven tokens that move need three bits in each place, and no tests."""
    net = PetriNet(
        [Place("p", "p", 7), Place("q", "q")],
        [Transition("t", "t", {0: 1}, {1: 1}), Transition("u", "u", {1: 2}, {0: 2})],
    )
    packed = net.pack(())
    assert [place.bits for place in packed.fields] == [3, 3]
    assert packed.widths.proven == (True, True)
    assert len(explored(net, packed, 100)) == 8


def test_restarts_are_few():
    """Forty places that overflow one after the other."""
    n = 40
    net = PetriNet(
        [Place(f"p{k}", f"p{k}") for k in range(n)],
        [Transition(f"t{k}", f"t{k}", {}, {k: 1}) for k in range(n)],
    )
    word = [k // 3 for k in range(3 * n)]
    packed = net.pack(())
    restarts = 0
    while True:
        row = packed.initial
        for action in word:
            targets = {a: target.copy() for a, _, target in steps(packed, row)}
            if action not in targets:
                break
            row = targets[action]
        if packed.overflowed() is None:
            break
        packed = complete(packed.widened())
        restarts += 1
    assert marking(packed, row) == (3,) * n
    assert restarts < 6


def test_complete_exploration():
    """Seven tokens in five places of a ring: 330 markings, however they are found."""
    net = PetriNet(
        [Place(f"p{k}", f"p{k}", 7 * (k == 0)) for k in range(5)],
        [Transition(f"t{k}", f"t{k}", {k: 1}, {(k + 1) % 5: 1}) for k in range(5)],
    )
    for seed in (None, 0, 1):
        packed = net.pack((), seed=seed)
        search = Exploration(make_problem(packed, universal(), stutter=True))
        drive(search, Limits())
        assert search.registers[Reg.VISITED] == 330
        assert packed.overflowed() is None


@njit
def lacking(held, needed, tops):
    return lacks(held, needed, tops)


@njit
def exceeding(held, put, tops):
    return exceeds(held, put, tops)


@given(st.lists(st.integers(1, 9), max_size=12), st.data())
def test_all_fields_of_a_word_at_once(widths, data):
    """Comparison and overflow of each field, for fields of any width."""
    shift = tops = first = second = less = beyond = 0
    for width in widths:
        if shift + width > 64:
            break
        a, b = (data.draw(st.integers(0, (1 << width) - 1)) for _ in range(2))
        top = 1 << shift + width - 1
        tops |= top
        first |= a << shift
        second |= b << shift
        less |= top * (a < b)
        beyond |= top * (a + b >= 1 << width)
        shift += width
    words = np.uint64(first), np.uint64(second), np.uint64(tops)
    assert int(lacking(*words)) == less
    assert int(exceeding(*words)) == beyond

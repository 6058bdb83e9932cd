"""Composing, merging and sharing against brute force.

The theorems that are tested here are proved in docs/components.md.
"""

from __future__ import annotations

import gc
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.components import unplanned
from ltlpipe import LTS, Network
from ltlpipe.components import alphabet, composition, merger, reduce
from ltlpipe.components.composition import TooManyPairsError
from ltlpipe.components.equivalences import SIMULATION
from ltlpipe.components.groups import Reduced
from ltlpipe.components.merger import Limit, Merger, components_of
from ltlpipe.question.property import Decision
from ltlpipe.runtime.jobs import Grant, Progress, run
from ltlpipe.strategies.components import Composed
from tests import oracles
from tests.components.test_equivalence import observations
from tests.example_counts import examples
from tests.hypothesis_strategies import lts
from tests.kernel_modes import INTERPRETED, checked, compiled, output

DEPTH = 5

#: Names of internal labels that others observe, or that quotients like to use.
LABELS = st.sampled_from(["a", "b", "c", "i", "tau"])


@st.composite
def components(draw, max_states=4):
    """A component of which any label may be internal, whatever others do with it."""
    internal = draw(st.sets(LABELS, max_size=2))
    return draw(lts(max_states=max_states, labels=LABELS, internal=internal))


NETWORKS = st.lists(components(max_states=3), min_size=2, max_size=4).map(Network)
VISIBLE = st.sets(LABELS, max_size=3)


def whole(network):
    """The composition, by the oracle; all internal labels are "<silent>"."""
    _, edges = oracles.compose(network)
    actions = network.actions
    rows = [
        (s, "<silent>" if actions[a].internal else actions[a].name, d)
        for s, a, d in edges
    ]
    return LTS.from_transitions(rows, initial=0, internal=["<silent>"])


def seen(component):
    """Its observable labels."""
    return set(component.labels) - component.internal


def expected_alphabet(network, members, visible):
    """Labels of some components that are visible or that others have, too."""
    inside = set().union(*(seen(network.components[k]) for k in members))
    outside = set(visible).union(
        *(seen(c) for k, c in enumerate(network.components) if k not in members)
    )
    return inside & outside


def assert_same_pair(group, network, visible):
    """A group has the traces and divergences of what its members do together."""
    members = sorted(group.members)
    alphabet = expected_alphabet(network, members, visible)
    alone = whole(Network([network.components[k] for k in members]))
    hidden = seen(alone) - alphabet
    assert group.alphabet == alphabet
    assert observations(group.lts, (), DEPTH) == observations(alone, hidden, DEPTH)


def by_name(component):
    """The same with its labels sorted, and numbered anew by `trace`."""
    observable = sorted(seen(component))
    labels = (*observable, *sorted(component.internal))
    place = np.array([labels.index(name) for name in component.labels], dtype=np.int32)
    return reduce(
        replace(component, labels=labels, label=place[component.label], name="")
    )


def merger_of(network, visible, **limits):
    made = Merger(network, visible, Limit(**limits))
    run(made.begin(components_of(network)))
    return made


def compose(left, right, **options):
    return run(composition.compose(left, right, **options))


def reduce_components(*args, **options):
    return run(merger.reduce_components(*args, **options))


def reduced_components(network, visible, cap_states):
    job = merger.reduced_components(network, visible, cap_states=cap_states)
    return run(job)


def trimmed_network(network):
    return run(alphabet.trim(network))


# --- composing ---------------------------------------------------------------


def composed_pairs(left, right):
    """Return `compose`, and the pair of states behind each of its states."""
    called = composition.called
    latest = []

    def keep(function, *arguments):
        if function is composition.compose_step:
            latest[:] = arguments[2:4]
        return (yield from called(function, *arguments))

    with patch.object(composition, "called", keep):
        both = compose(left, right)
    pairs, registers = latest
    n_pairs = int(registers[composition.Reg.PAIRS])
    ends = pairs.left[:n_pairs].tolist(), pairs.right[:n_pairs].tolist()
    return both, list(zip(*ends, strict=True))


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(components(), components())
def test_the_composition_is_that_of_the_definition(left, right):
    """The same states, and the same transitions as often."""
    network = Network([left, right])
    states, edges = oracles.compose(network)
    both, pairs = composed_pairs(left, right)
    assert len(set(pairs)) == both.n_states
    assert set(pairs) == set(states)
    names = [None if a.internal else a.name for a in network.actions]
    assert Counter((states[s], names[a], states[d]) for s, a, d in edges) == Counter(
        (pairs[s], None if a in both.internal else a, pairs[d])
        for s, a, d in both.transitions()
    )
    assert seen(both) == seen(left) | seen(right)
    assert len(both.internal) == any(name is None for _, name, _ in named(edges, names))


def named(edges, names):
    return [(src, names[action], dst) for src, action, dst in edges]


@given(components(), components())
def test_room_and_budget_change_nothing(left, right):
    """Where a step of `compose` stops, and how little room there is."""
    expected = compose(left, right)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_BUDGET", "_FIRST_PAIRS", "_FIRST_STEPS"):
            patched.setattr(composition, name, 1)
        assert compose(left, right) == expected


@given(components(), components())
def test_as_many_pairs_as_allowed(left, right):
    """The limit is met exactly, and nothing is written beyond twice as much."""
    n_states = compose(left, right).n_states
    assert compose(left, right, cap=n_states).n_states == n_states
    with pytest.raises(TooManyPairsError, match=f"more than {n_states - 1} states"):
        compose(left, right, cap=n_states - 1)


def test_as_many_transitions_as_allowed(monkeypatch):
    """Few pairs with many transitions are too many as well."""
    monkeypatch.setattr(composition, "_MEAN_DEGREE", 2)
    dense = LTS.from_transitions([(0, f"x{k}", 0) for k in range(5)])
    alone = LTS.from_transitions([], n_states=1)
    assert compose(dense, alone, cap=3).n_transitions == 5
    with pytest.raises(TooManyPairsError):
        compose(dense, alone, cap=2)


def test_long_compositions_yield(monkeypatch):
    """After so many pairs, with what they take; where does not matter."""
    ring = [(k, "a", (k + 1) % 100) for k in range(100)]
    one, other = (
        LTS.from_transitions([(s, name, d) for s, _, d in ring]) for name in "ab"
    )
    monkeypatch.setattr(composition, "_BUDGET", 1000)
    seen = []
    run(composition.compose(one, other), observer=seen.append)
    assert len(seen) > 10
    assert max(progress.memory_bytes for progress in seen) > 10_000 * (12 + 2 * 12)


# --- hiding and reducing -----------------------------------------------------


@given(
    components(), components(), st.sets(LABELS), st.sampled_from(["trace", "branching"])
)
def test_traces_and_divergences_of_two(left, right, hidden, equivalence):
    """`compose` and then `reduce` against the composition by the oracle."""
    both = reduce(compose(left, right), hidden, equivalence)
    expected = observations(whole(Network([left, right])), hidden, DEPTH)
    assert observations(both, (), DEPTH) == expected


@given(
    NETWORKS,
    VISIBLE,
    st.sampled_from(["trace", SIMULATION, "branching", "strong"]),
    st.sampled_from([1, 2, 4, 1000]),
    st.randoms(use_true_random=False),
)
@settings(max_examples=examples(150))
def test_groups_in_any_order(network, visible, equivalence, cap, random):
    """Every group on the way has the pair of its members, also the fallen back."""
    merging = merger_of(network, visible, equivalence=equivalence, cap_states=cap)
    groups = list(merging.single)
    for group in groups:
        assert_same_pair(group, network, visible)
    while len(groups) > 1:
        one, other = random.sample(groups, 2)
        merged = run(merging.composed(one, other, 1000))
        assert merged.members == one.members | other.members
        assert merged.parts == (one, other)
        assert_same_pair(merged, network, visible)
        groups = [g for g in groups if g not in (one, other)] + [merged]


@given(NETWORKS, VISIBLE)
def test_groups_do_not_depend_on_their_parts(network, visible):
    """`trace` is canonical: whichever order, the same LTS up to the order of labels."""
    results = []
    for order in permutations(range(len(network.components))):
        merging = merger_of(network, visible)
        group, *others = (merging.single[k] for k in order)
        for other in others:
            group = run(merging.composed(group, other, 10_000))
        assume(group.equivalence == "trace")
        results.append(by_name(group.lts))
    assert all(result == results[0] for result in results)


@given(NETWORKS, VISIBLE, st.sampled_from([1, 3, 1000]))
def test_reduced_networks(network, visible, cap):
    """The network of all groups has the pair of the whole; groups are disjoint."""
    reduced = reduce_components(network, visible, Limit(cap, small=0))
    members = [k for group in reduced.groups for k in sorted(group.members)]
    assert sorted(members) == list(range(len(network.components)))
    hidden = {"a", "b", "c", "i", "tau"} - visible
    assert observations(whole(reduced.network), hidden, DEPTH) == observations(
        whole(network), hidden, DEPTH
    )
    assert max(g.n_states for g in reduced.groups) <= max(
        cap, *(c.n_states for c in network.components)
    )


@given(NETWORKS, VISIBLE, st.integers(1, 3))
def test_groups_of_the_first_components_serve_networks_of_more(network, visible, n):
    """Their labels are hidden in the smaller network, but not in the larger one."""
    limit = Limit(1000, small=0, equivalence=SIMULATION)
    shelf = merger.GroupShelf()
    shelf.limit(1 << 20)
    for some in (Network(network.components[:n]), network):
        job = merger.reduce_components(some, visible, limit, shelf=shelf)
        reduced = run(job)
        hidden = {"a", "b", "c", "i", "tau"} - visible
        assert observations(whole(reduced.network), hidden, DEPTH) == observations(
            whole(some), hidden, DEPTH
        )


@given(NETWORKS, VISIBLE)
def test_bisimilar_components(network, visible):
    """`shrink_components` keeps letters step by step, by component."""
    reduced = run(merger.shrink_components(network, visible))
    states, edges = oracles.compose(network)
    fewer, less = oracles.compose(reduced.network)
    assert len(fewer) <= len(states)
    assert len(less) <= len(edges)
    letters = [
        Counter(
            a.name
            for a in n.actions
            if not a.internal and (a.name in visible or len(a.participants) > 1)
        )
        for n in (network, reduced.network)
    ]
    assert letters[0] == letters[1]


def test_a_group_that_is_too_large():
    """Failures are remembered up to their limit, and a larger one tries again."""
    network = Network(
        [LTS.from_transitions([(0, name, 1), (1, name, 2)]) for name in "ab"]
    )
    merging = merger_of(network, ["a", "b"])
    one, other = merging.single
    assert run(merging.composed(one, other, 8)) is None
    with patch.object(merger, "compose", side_effect=AssertionError):
        assert run(merging.composed(one, other, 7)) is None
    group = run(merging.composed(one, other, 9))
    assert (group.n_states, merging.largest) == (9, 9)
    assert run(merging.composed(one, other, 1)) is group


def test_branching_where_the_deterministic_form_is_too_large():
    """The n-th last label was "a": 2**n subsets, but few states."""
    chain = [(k, label, k + 1) for k in range(1, 6) for label in "ab"]
    rows = [(0, "a", 0), (0, "b", 0), (0, "a", 1), *chain, (6, "c", 6)]
    network = Network([LTS.from_transitions(rows)])
    for cap, equivalence in ((10, "branching"), (100, "trace")):
        reduced = reduce_components(network, "abc", Limit(cap))
        assert [g.equivalence for g in reduced.groups] == [equivalence]


# --- sharing -----------------------------------------------------------------


def three_rings():
    """Components that are small for any visible actions."""
    return Network(
        [
            LTS.from_transitions([(0, x, 1), (1, y, 0)])
            for x, y in combinations(["a", "b", "c"], 2)
        ]
    )


def test_the_second_call_gives_the_same_object():
    """For the same network, visible actions and limit, in any order."""
    network = three_rings()
    first = reduced_components(network, ["a", "b"], cap_states=100)
    assert reduced_components(network, {"b", "a"}, cap_states=100) is first
    assert reduced_components(network, ["b", "a"], cap_states=9) is not first
    assert reduced_components(network, ["a"], cap_states=100) is not first
    other = three_rings()
    assert reduced_components(other, ["a", "b"], cap_states=100) is not first


def test_a_higher_limit_goes_on_from_a_lower_one():
    """And keeps what that has found, where nothing better is."""
    network = unplanned(12, 18, 5)
    names = sorted(network.action_index)[:3]
    low = reduced_components(network, names, cap_states=2)
    high = reduced_components(network, names, cap_states=1000)
    afresh = reduce_components(network, names, merger.Limit(1000))
    counts = [merger.n_composed(result.groups) for result in (low, high, afresh)]
    assert low.cap_states == 2
    assert counts[1] < counts[0]
    assert counts[1] <= 100 * counts[2]
    again = reduce_components(network, names, merger.Limit(2), known=high)
    assert again.groups == high.groups


def test_merging_ends_where_the_user_has_enough():
    """With what was found by then, which the next question does not take for all."""
    network = unplanned(12, 18, 5)
    names, asked = sorted(network.action_index)[:3], []

    def enough(smaller, small):
        yield Progress()
        asked.append((smaller.components, small))
        return len(asked) == 2

    with patch.object(merger, "ASKED_AFTER", 0):
        job = merger.reduced_components(network, names, cap_states=9, enough=enough)
        early = run(job)
    assert asked[1] == (early.network.components, merger.SMALL)
    assert early.cap_states == 0
    late = reduced_components(network, names, cap_states=9)
    afresh = reduce_components(network, names, Limit(9))
    counts = [merger.n_composed(result.groups) for result in (early, late, afresh)]
    assert counts[0] > counts[1] == counts[2]


def test_trimmed_networks_are_shared():
    """The same object each time; a network with nothing to trim is its own."""
    network = Network([LTS.from_transitions([(0, "a", 0), (1, "b", 1)])])
    trimmed = trimmed_network(network)
    assert trimmed.components[0].transitions() == [(0, "a", 0)]
    assert trimmed_network(network) is trimmed
    whole_one = three_rings()
    assert trimmed_network(whole_one) is whole_one


@given(st.integers(0, 8))
def test_trimming_that_is_closed_leaves_nothing(n):
    """The next job trims anew."""
    network = Network([LTS.from_transitions([(0, "a", 0), (1, "b", 1)])])
    ended = cut(alphabet.trim(network), n)
    assert (not alphabet._known.of(network)) == (ended == n)
    assert trimmed_network(network).components[0].transitions() == [(0, "a", 0)]


def test_what_is_kept_goes_with_its_network():
    """No shelf keeps a network alive, neither its own nor the trimmed one."""
    gc.collect()
    before = set(merger._kept), set(alphabet._known)
    for rows in ([(0, "a", 0)], [(0, "a", 0), (1, "b", 1)]):
        network = Network([LTS.from_transitions(rows)])
        trimmed = trimmed_network(network)
        reduced_components(trimmed, ["a"], cap_states=100)
        assert set(merger._kept) > before[0]
        assert set(alphabet._known) > before[1]
        del network, trimmed
        gc.collect()
        assert (set(merger._kept), set(alphabet._known)) == before


def cut(job, n):
    """Advance a job to its n-th progress and close it; how many there were, if less."""
    grant = None
    for k in range(n):
        try:
            assert isinstance(job.send(grant), Progress)
            grant = Grant()
        except StopIteration:
            return k
    job.close()
    return n


@given(st.integers(0, 400))
def test_a_reduction_that_is_closed_leaves_nothing(n):
    """The next question begins anew and has the same answer, wherever it ends."""
    network = unplanned(6, 7, 3)
    names = sorted(network.action_index)[:2]
    ended = cut(merger.reduced_components(network, names, cap_states=500), n)
    assert len(merger._kept.of(network).latest) == (ended < n)
    result = reduced_components(network, names, cap_states=500)
    expected = reduce_components(network, names, Limit(500))
    assert [g.lts for g in result.groups] == [g.lts for g in expected.groups]
    assert [g.members for g in result.groups] == [g.members for g in expected.groups]
    assert (result.largest, result.visible) == (expected.largest, frozenset(names))


@given(NETWORKS, VISIBLE, st.integers(0, 60))
def test_closed_mergers_know_whole_groups_only(network, visible, n):
    """What a composition was closed in the middle of is composed again."""
    assume(len(network.components) > 1)
    merging = merger_of(network, visible)
    one, other, *_ = merging.single
    cut(merging.composed(one, other, 1000), n)
    group = run(merging.composed(one, other, 1000))
    assert_same_pair(group, network, visible)
    assert group.lts == run(merger_of(network, visible).composed(one, other, 1000)).lts


def test_what_is_held_is_said():
    """The bytes of groups count while others are composed."""
    network = unplanned(8, 9, 5)
    progress = []
    names = sorted(network.action_index)[:2]
    run(merger.reduce_components(network, names), observer=progress.append)
    assert {p.phase for p in progress} - {"loading kernels"} == {"reducing components"}
    assert min(p.memory_bytes for p in progress[len(progress) // 2 :]) > 0
    assert sum(p.work for p in progress) > 400


# --- interpreted and checked -------------------------------------------------

PROGRAM = """
import random, warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import LTS, Network
from ltlpipe.components.composition import compose
from ltlpipe.components.merger import Limit, reduce_components
from ltlpipe.runtime.jobs import run
source = random.Random(7)

def component(size):
    rows = [
        (state % size, source.choice("aabbxxyz"), source.randrange(size))
        for state in range(2 * size)
    ]
    return LTS.from_transitions(rows, n_states=size, internal=["z"])

for size in (1, 2, 5, 20):
    for _ in range(6):
        both = run(compose(component(size), component(size)))
        print(both.labels, both.transitions())
        network = Network([component(min(size, 5)) for _ in range(4)])
        for cap in (3, 1000):
            reduced = run(reduce_components(network, "a", Limit(cap, small=0)))
            for group in reduced.groups:
                print(sorted(group.members), group.equivalence, group.n_states)
                print(group.lts.labels, group.lts.transitions())
"""


@pytest.mark.thorough("compiles the kernels once more, with checked bounds")
def test_interpreted_and_checked_kernels_do_the_same():
    """`NUMBA_DISABLE_JIT=1`, and bounds checked in code compiled anew."""
    expected = compiled(PROGRAM)
    assert output(PROGRAM, **INTERPRETED) == expected
    assert output(PROGRAM, **checked()) == expected


def test_two_components_with_thousands_of_labels():
    """No float holds what so many hidden labels are expected to divide states by."""
    n = 1800
    one, other = (
        LTS.from_transitions([(j % k, f"l{j}", (j + 1) % k) for j in range(n)])
        for k in (4, 6)
    )
    names = one.labels
    for visible in (names[:1], names):  # hidden ones, and an alphabet, of so many
        job = merger.reduce_components(Network([one, other]), visible, Limit(small=0))
        with patch.object(merger, "SEARCHED", 0):
            (group,) = run(job).groups
        assert group.members == {0, 1}


def test_how_many_times_smaller_a_large_network_became():
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])] * 2000)
    reduced = Reduced(network, components_of(network)[:1], 2)
    decision = Decision(allowed=True, reason="")
    assert Composed(decision, "", network, reduced).gain == 2**1999

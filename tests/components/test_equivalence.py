"""Equivalence reductions against traces, divergences and naive refinement."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, UnsupportedError
from ltlpipe.components import (
    TooLargeError,
    determinise,
    equivalences,
    reduce,
    refinement,
    simulation,
    transition_arrays,
)
from ltlpipe.components.equivalences import EQUIVALENCES, SIMULATION, least
from ltlpipe.runtime.jobs import run
from tests.example_counts import examples
from tests.hypothesis_strategies import lts
from tests.kernel_modes import INTERPRETED, checked, compiled, output

#: Few states and many steps: cycles, choices, and subsets worth the name.
COMPONENTS = lts(max_states=7, max_transitions=16, internal=["d"])
HIDDEN = st.sets(st.sampled_from(["a", "b", "nowhere"]))
NAMES = pytest.mark.parametrize("equivalence", EQUIVALENCES)


class Naive:
    """Moves of a component by state: visible label or None, and target."""

    def __init__(self, component, hidden):
        silent = set(hidden) | component.internal
        self.initial = component.initial
        self.states = range(component.n_states)
        self.moves = [[] for _ in self.states]
        for src, label, dst in component.transitions():
            self.moves[src].append((None if label in silent else label, dst))
        # n rounds: what is left has silent steps without end.
        live = set(self.states)
        for _ in self.states:
            live = {
                s
                for s in live
                if any(a is None and t in live for a, t in self.moves[s])
            }
        self.divergent = live
        self.known = {}

    def closure(self, states):
        """What is reached silently."""
        found = set(states)
        todo = list(found)
        while todo:
            for label, dst in self.moves[todo.pop()]:
                if label is None and dst not in found:
                    found.add(dst)
                    todo.append(dst)
        return frozenset(found)

    def start(self):
        return self.closure({self.initial})

    def after(self, states, label):
        if (states, label) not in self.known:
            targets = {t for s in states for a, t in self.moves[s] if a == label}
            self.known[states, label] = self.closure(targets)
        return self.known[states, label]

    def offered(self, states):
        if states not in self.known:
            labels = {a for s in states for a, _ in self.moves[s]}
            self.known[states] = labels - {None}
        return self.known[states]

    def diverges(self, states):
        return not states.isdisjoint(self.divergent)


def observations(component, hidden, depth=6):
    """The words up to a length, and those after which it can run silently for ever."""
    naive = Naive(component, hidden)
    words = {(): naive.start()}
    layer = dict(words)
    for _ in range(depth):
        layer = {
            (*word, label): naive.after(states, label)
            for word, states in layer.items()
            for label in naive.offered(states)
        }
        words |= layer
    return set(words), {w for w, states in words.items() if naive.diverges(states)}


def classes_of(component, signature, start):
    """Refine the reachable states by signatures until nothing changes."""
    reached = reachable(component)
    block = {s: start(s) for s in reached}
    while True:
        finer = {s: (block[s], signature(s, block)) for s in reached}
        if len(set(finer.values())) == len(set(block.values())):
            return block
        numbers = {key: k for k, key in enumerate(set(finer.values()))}
        block = {s: numbers[finer[s]] for s in reached}


def reachable(component):
    found = {component.initial}
    for _ in range(component.n_states):
        found |= {t for s, _, t in component.transitions() if s in found}
    return found


def strong_classes(component, hidden=()):
    """Strong bisimilarity, by the definition."""
    silent = (set(hidden) & set(component.labels)) and set(hidden) | component.internal
    flags = component.accepting

    def signature(state, block):
        return frozenset(
            (None if a in silent else a, block[t])
            for s, a, t in component.transitions()
            if s == state
        )

    return classes_of(
        component, signature, lambda s: bool(flags is not None and flags[s])
    )


def branching_classes(component, hidden):
    """Branching bisimilarity with explicit divergence, by signatures.

    Divergence inside a block: silent steps without end that never leave it.
    """
    naive = Naive(component, hidden)

    def inert(state, block):
        found = {state}
        for _ in naive.states:
            found |= {
                t
                for s in found
                for a, t in naive.moves[s]
                if a is None and block[t] == block[state]
            }
        return found

    def stays_for_ever(state, block):
        live = inert(state, block)
        for _ in naive.states:
            live = {
                s
                for s in live
                if any(a is None and t in live for a, t in naive.moves[s])
            }
        return bool(live)

    def signature(state, block):
        return (
            stays_for_ever(state, block),
            frozenset(
                (a, block[t])
                for s in inert(state, block)
                for a, t in naive.moves[s]
                if a is not None or block[t] != block[state]
            ),
        )

    return classes_of(component, signature, lambda _: 0)


def least_deterministic(component, hidden):
    """Count the subsets that some word tells apart, by pairs."""
    naive = Naive(component, hidden)
    found = [naive.start()]
    for states in found:
        for label in naive.offered(states):
            if (target := naive.after(states, label)) not in found:
                found.append(target)
    apart = {
        (x, y)
        for x in found
        for y in found
        if naive.offered(x) != naive.offered(y)
        or naive.diverges(x) != naive.diverges(y)
    }
    while True:
        more = {
            (x, y)
            for x in found
            for y in found
            if any(
                (naive.after(x, a), naive.after(y, a)) in apart
                for a in naive.offered(x)
            )
        } | apart
        if more == apart:
            break
        apart = more
    return sum(
        all((x, y) in apart for y in found[:i]) for i, x in enumerate(found)
    ), len(found)


def check_everything(component, hidden):
    """What each equivalence promises, on one component."""
    results = {name: reduce(component, hidden, name) for name in EQUIVALENCES}
    visible = [a for a in component.labels if a not in hidden | component.internal]
    expected = observations(component, hidden)
    for name, result in results.items():
        apart = name == "strong" and hidden.isdisjoint(component.labels)
        assert [a for a in result.labels if a not in result.internal] == visible
        assert len(result.internal) <= 1
        assert apart or set(result.internal) <= {a for _, a, _ in result.transitions()}
        assert observations(result, ()) == expected
        assert result.initial == 0
        assert reachable(result) == set(range(result.n_states))
        assert reduce(result, hidden, name) == result
        assert reduce(result, hidden, "trace") == results["trace"]
        assert {c.dtype for c in (result.src, result.label, result.dst)} == {
            np.dtype(np.int32)
        }
    for name in ("branching", "strong"):
        assert results[name].n_states <= component.n_states
        assert results[name].n_transitions <= component.n_transitions
    strong = strong_classes(component, hidden)
    assert results["strong"].n_states == len(set(strong.values()))
    branching = branching_classes(component, hidden)
    assert results["branching"].n_states == len(set(branching.values()))
    least, n_subsets = least_deterministic(component, hidden)
    assert results["trace"].n_states == least
    assert reduce(component, hidden, cap=n_subsets) == results["trace"]
    check_simulation(component, hidden, results)


def check_simulation(component, hidden, results):
    """Simulation keeps the pair, which `trace` determines, and makes nothing larger."""
    small, name = run(least(component, hidden))
    assert name == "trace" or small.n_states < results["trace"].n_states
    with patch.object(equivalences, "determinise", side_effect=TooLargeError):
        similar, name = run(least(component, hidden))
    assert name in ("trace", SIMULATION)  # if it was deterministic already
    for result in (small, similar):
        assert reduce(result) == results["trace"]
        assert reachable(result) == set(range(result.n_states))
    assert similar.n_states <= results["branching"].n_states


@given(COMPONENTS, HIDDEN)
@settings(max_examples=examples(150))
def test_against_the_definitions(component, hidden):
    """Words, divergences, classes and sizes, counted naively."""
    check_everything(component, hidden)


@pytest.mark.slow
@given(lts(max_states=10, max_transitions=30, internal=["d"]), HIDDEN)
@settings(max_examples=examples(4_000))
def test_against_the_definitions_at_length(component, hidden):
    """Words, divergences, classes and sizes, counted naively."""
    check_everything(component, hidden)


@given(lts(max_states=7, max_transitions=14, internal=["d"], acceptance=True), HIDDEN)
@settings(max_examples=examples(300))
def test_strong_keeps_accepting_states_apart(component, hidden):
    """The classes are those of the definition, and so are the flags."""
    result = reduce(component, hidden, "strong")

    classes = strong_classes(component, hidden)
    assert result.n_states == len(set(classes.values()))
    assert (result.accepting is None) == (component.accepting is None)
    if component.accepting is not None:
        kept = {(classes[s], bool(component.accepting[s])) for s in classes}
        assert sorted(flag for _, flag in kept) == sorted(result.accepting.tolist())
    assert reduce(result, hidden, "strong") == result


@given(COMPONENTS, HIDDEN, st.randoms(use_true_random=False))
def test_the_order_of_states_and_transitions_does_not_matter(component, hidden, random):
    """`trace` is canonical: isomorphic components become identical."""
    names = list(range(component.n_states))
    random.shuffle(names)
    places = np.array(names, dtype=np.int32)
    order = list(range(component.n_transitions))
    random.shuffle(order)
    shuffled = replace(
        component,
        initial=int(places[component.initial]),
        src=places[component.src][order],
        label=component.label[order],
        dst=places[component.dst][order],
    )
    assert reduce(shuffled, hidden) == reduce(component, hidden)


@given(COMPONENTS, HIDDEN)
def test_where_a_step_stops_changes_nothing(component, hidden):
    """With as little room and budget as can be, the results are the same."""
    expected = [reduce(component, hidden, name) for name in EQUIVALENCES]
    similar = run(least(component, hidden))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement, "_BUDGET", 1)
        patch.setattr(determinise, "_BUDGET", 1)
        patch.setattr(simulation, "_BUDGET", 1)
        patch.setattr(determinise, "_first_room", lambda *_: (1, 1, 1))
        assert [reduce(component, hidden, name) for name in EQUIVALENCES] == expected
        assert run(least(component, hidden)) == similar


def test_simulation_where_the_deterministic_form_is_larger():
    """What is larger by a power stays, with the states that others exceed left out."""
    component = hard_to_determinise(6)
    again = [
        (s + (s > 0) * 9, a, d + (d > 0) * 9) for s, a, d in component.transitions()
    ]
    doubled = LTS.from_transitions(
        [*component.transitions(), *again[: len(again) // 2]]
    )
    small, name = run(least(doubled, ()))
    assert (small.n_states, name) == (component.n_states, SIMULATION)
    assert reduce(small) == reduce(component)


def test_a_textbook_example():
    """Choosing early or late is the same for words, not for bisimulations.

    R. Milner, "Communication and Concurrency", 1989, Sec. 4.1: a vending machine.
    """
    late = LTS.from_transitions([(0, "coin", 1), (1, "tea", 0), (1, "coffee", 0)])
    early = LTS.from_transitions(
        [(0, "coin", 1), (0, "coin", 2), (1, "tea", 0), (2, "coffee", 0)]
    )
    assert reduce(early) == reduce(late) == late
    for equivalence in ("branching", "strong"):
        assert reduce(early, equivalence=equivalence).n_states == 3


@NAMES
def test_one_state_without_transitions(equivalence):
    """It is its own quotient, even without labels."""
    alone = LTS.from_transitions([], n_states=1)
    assert reduce(alone, {"a"}, equivalence) == alone


@NAMES
def test_a_silent_loop_stays(equivalence):
    """One state that can run silently for ever, however that was written."""
    loop = LTS.from_transitions([(0, "i", 0)], internal=["i"])
    ring = LTS.from_transitions([(0, "x", 1), (1, "y", 2), (2, "x", 0)])
    two = LTS.from_transitions([(0, "x", 1), (1, "x", 1)])

    for component in (loop, ring, two):
        assert reduce(component, {"x", "y"}, equivalence) == loop


def test_divergence_reached_silently():
    """After "a" it can run for ever or stop: two states, but one marked subset."""
    component = LTS.from_transitions(
        [(0, "a", 1), (1, "x", 2), (2, "x", 3), (3, "x", 2), (1, "b", 0)]
    )
    trace = reduce(component, {"x"})
    assert trace.transitions() == [(0, "a", 1), (1, "b", 0), (1, "i", 1)]
    branching = reduce(component, {"x"}, "branching")
    assert branching.transitions() == [
        (0, "a", 1),
        (1, "b", 0),
        (1, "i", 2),
        (2, "i", 2),
    ]


@NAMES
def test_unreachable_states_and_unused_labels(equivalence):
    """The states go, all labels stay and keep their order."""
    component = LTS.from_transitions(
        [(3, "c", 0), (1, "b", 1), (2, "a", 3)], initial=1, n_states=9
    )
    result = reduce(component, equivalence=equivalence)

    assert result.labels == ("c", "b", "a")
    assert result.transitions() == [(0, "b", 0)]
    assert result.n_states == 1


@NAMES
def test_states_that_no_transition_names_take_no_room(equivalence):
    """A component may declare two thousand million of them."""
    component = LTS.from_transitions([(0, "a", 10**9)], initial=0, n_states=2 * 10**9)
    expected = LTS.from_transitions([(0, "a", 1)])
    if equivalence != "strong":
        assert reduce(component, equivalence=equivalence) == expected


def test_names_of_the_internal_label():
    """A free one; "i" and "tau" can be visible labels, too."""
    steps = [(0, "x", 1), (1, "x", 0), (0, "i", 1), (1, "tau", 0), (0, "i_2", 1)]
    component = LTS.from_transitions(steps)
    for equivalence in EQUIVALENCES:
        result = reduce(component, {"x"}, equivalence)
        assert result.labels == ("i", "tau", "i_2", "i_3")
        assert result.internal == {"i_3"}


def test_strong_without_hidden_labels_tells_internal_ones_apart():
    """Not so as soon as a label is hidden."""
    component = LTS.from_transitions(
        [(0, "i", 1), (0, "tau", 1), (1, "a", 0), (1, "b", 0)], internal=["i", "tau"]
    )
    assert reduce(component, (), "strong") == component
    assert reduce(component, {"nowhere"}, "strong") == component
    assert reduce(component, {"a"}, "strong").transitions() == [
        (0, "i", 1),
        (1, "b", 0),
        (1, "i", 0),
    ]


def hard_to_determinise(n):
    """The n-th last label was "a": 2**n subsets."""
    chain = [(k, label, k + 1) for k in range(1, n) for label in "ab"]
    rows = [(0, "a", 0), (0, "b", 0), (0, "a", 1), *chain]
    return LTS.from_transitions([*rows, (n, "c", n)])


def test_cap():
    """As many subsets as allowed, or an error that says what to do."""
    component = hard_to_determinise(6)
    assert reduce(component, cap=65).n_states == 65  # and one after "c"
    with pytest.raises(TooLargeError, match="more than 64 states"):
        reduce(component, cap=64)
    deterministic = LTS.from_transitions([(0, "a", 1), (1, "b", 2)])
    assert reduce(deterministic, cap=1) == deterministic


def test_members_are_capped(monkeypatch):
    """Subsets can be few and large: what they take together is limited, too."""
    component = hard_to_determinise(12)
    assert reduce(component, cap=5000).n_states == 4097
    monkeypatch.setattr(determinise, "MAX_MEMBERS", 500)
    with pytest.raises(TooLargeError, match="states, sets of"):
        reduce(component)
    monkeypatch.undo()
    monkeypatch.setattr(determinise, "_MEAN_SIZE", 2)
    with pytest.raises(TooLargeError, match="states, sets of"):
        reduce(component, cap=5000)


def test_refusals():
    """Accepting states but with strong equivalence, and unknown equivalences."""
    component = LTS.from_transitions([(0, "a", 0)], accepting=[0])
    for equivalence in ("trace", "block", "branching"):
        with pytest.raises(UnsupportedError, match="use strong equivalence"):
            reduce(component, equivalence=equivalence)
    assert reduce(component, equivalence="strong") == component
    expected = "expected trace, block, branching, strong"
    with pytest.raises(UnsupportedError, match=expected):
        reduce(component, equivalence="weak")


@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_steps_that_do_not_fit_into_a_word(n, n_labels, random):
    """Sorted by columns they are the same."""
    rows = np.array(
        [[random.randrange(k) for k in (n, n_labels, n)] for _ in range(9)]
    ).T
    narrow = run(transition_arrays.sort_steps(n, n_labels, *rows))
    wide = run(transition_arrays.sort_steps(1 << 31, n_labels + 2, *rows))
    expected = sorted(set(zip(*rows.tolist(), strict=True)))
    for columns in (narrow, wide):
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


def test_long_chains_take_no_time():
    """A hundred thousand rounds of refinement, each of which moves one state."""
    n = 100_000
    src = np.arange(n - 1, dtype=np.int32)
    chain = LTS(n, 0, ("a",), src, np.zeros(n - 1, dtype=np.int32), src + 1)
    for equivalence in EQUIVALENCES:
        assert reduce(chain, equivalence=equivalence) == chain
    assert reduce(chain, {"a"}).n_states == 1


PROGRAM = """
import random, warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import LTS
from ltlpipe.components import TooLargeError, reduce
from ltlpipe.components.equivalences import least
from ltlpipe.runtime.jobs import complete
source = random.Random(7)
for size in (1, 5, 9, 30):
    for _ in range(12):
        component = LTS.from_transitions(
            [
                (state % size, source.choice("aabbxxy"), source.randrange(size))
                for state in range(2 * size)
            ],
            n_states=size,
        )
        for name in ("trace", "block", "branching", "strong"):
            print(name, reduce(component, {"x", "y"}, name).transitions())
        print(complete(least(component, {"x", "y"}))[0].transitions())
"""


@pytest.mark.thorough("compiles the kernels once more, with checked bounds")
def test_interpreted_and_checked_kernels_do_the_same():
    """`NUMBA_DISABLE_JIT=1`, and bounds checked in code compiled anew."""
    expected = compiled(PROGRAM)
    assert output(PROGRAM, **INTERPRETED) == expected
    assert output(PROGRAM, **checked()) == expected

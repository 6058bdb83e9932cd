"""Factors against composition and bisimilarity in plain Python."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, load
from ltlpipe.components import factors, finest_split
from ltlpipe.families.networks import philosophers
from ltlpipe.runtime.jobs import run
from tests.components.factoring.products import (
    are_bisimilar,
    composed,
    random_near_product,
    random_product,
)
from tests.example_counts import examples
from tests.hypothesis_strategies import lts
from tests.oracles import compose

DEFAULT_EXAMPLES = 300
SLOW_EXAMPLES = 10_000

BENCHMARKS = os.environ.get("LTLPIPE_BENCHMARKS")

GRID = [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 3)]


def factored(component, *others, together=True):
    return run(factors.factored(Network([component, *others]), together=together))


def network_of(component, **how):
    """The factors of one component, or the component itself."""
    return factored(component, **how).network or Network([component])


def rank(component, **how):
    """How many factors there are, none if bisimilarity leaves a single state."""
    found = network_of(component, **how)
    if len(found.components) > 1:
        return len(found.components)
    return int(not _is_one_state(component, *compose(found)))


def _is_one_state(component, reached, edges):
    """Whether all reached states offer the same, and accept alike."""
    offers = [frozenset(a for s, a, _ in edges if s == k) for k in range(len(reached))]
    flags = component.accepting
    accepts = {flags is None or bool(flags[s]) for (s,) in reached}
    return len(set(offers)) == len(accepts) == 1


def assert_sound(component, **how):
    """The factors are bisimilar to the component and keep its alphabet apart."""
    found = network_of(component, **how)
    assert are_bisimilar(found, Network([component]))
    labels = [label for c in found.components for label in c.labels]
    assert sorted(labels) == sorted(component.labels)
    assert frozenset().union(*(c.internal for c in found.components)) == (
        component.internal
    )
    assert found.has_acceptance == (component.accepting is not None)
    if len(found.components) > 1:
        assert all(c.n_states > 1 for c in found.components)


def random_component(seed):
    """A product, or almost: with internal labels, or with acceptance."""
    rng = random.Random(seed)
    how = rng.choice([{}, {"internal": ["b", "d"]}, {"acceptance": True}])
    if rng.random() < 0.5:
        return random_product(rng, **how).component
    return random_near_product(rng, **how)


COMPONENTS = st.integers(0, 10**9).map(random_component) | lts(
    max_states=6, max_transitions=14, acceptance=True, internal=["d"]
)


@given(COMPONENTS, st.booleans())
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_factors_are_bisimilar(component, together):
    """Nondeterminism, unreachable states, blocking labels, acceptance."""
    assert_sound(component, together=together)


@pytest.mark.slow
@given(COMPONENTS, st.booleans())
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_factors_are_bisimilar_by_the_thousand(component, together):
    """The same, many times."""
    assert_sound(component, together=together)


def assert_finest(product):
    """A product has the factors of its factors (docs/factoring.md, Theorem 3).

    Where a factor can never accept again, nobody can tell what the others accept.
    """
    if all(map(can_always_accept, product.factors)):
        assert rank(product.component) == sum(map(rank, product.factors))


def can_always_accept(component):
    """Whether an accepting state can be reached from every state that is reached."""
    states, edges = compose(Network([component]))
    flags = component.accepting
    good = {k for k, (s,) in enumerate(states) if flags is None or flags[s]}
    while more := {s for s, _, d in edges if d in good} - good:
        good |= more
    return len(good) == len(states)


PRODUCTS = st.tuples(st.integers(0, 10**9), st.booleans()).map(
    lambda drawn: random_product(random.Random(drawn[0]), acceptance=drawn[1])
)


@given(PRODUCTS)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_no_factor_is_missed(product):
    """k factors that are not products themselves give k."""
    assert_finest(product)


@pytest.mark.slow
@given(PRODUCTS)
@settings(max_examples=examples(SLOW_EXAMPLES))
def test_no_factor_is_missed_by_the_thousand(product):
    """The same, many times."""
    assert_finest(product)


def restricted(component, labels):
    """A component with the steps of some labels only."""
    return LTS.from_transitions(
        [step for step in component.transitions() if step[1] in labels],
        initial=component.initial,
        n_states=component.n_states,
    )


def exact_sets(component):
    """The sets of labels by which the component splits, from the definition."""
    alone = Network([component])
    for size in range(1, len(component.labels)):
        for labels in combinations(component.labels, size):
            rest = set(component.labels) - set(labels)
            parts = [restricted(component, labels), restricted(component, rest)]
            if are_bisimilar(Network(parts), alone):
                yield set(labels)


@given(
    st.integers(0, 10**9).map(
        lambda seed: random_near_product(random.Random(seed), max_factors=2)
    )
    | lts(max_states=6, max_transitions=12)
)
@settings(max_examples=examples(DEFAULT_EXAMPLES))
def test_finest_by_definition(component):
    """Whatever set of labels splits the component is a union of factors' labels."""
    component = restricted(component, component.labels)
    found = [set(c.labels) for c in network_of(component).components]
    moving = {frozenset(c.labels) for c in network_of(component).components}
    for labels in exact_sets(component):
        one = restricted(component, labels)
        other = restricted(component, set(component.labels) - labels)
        if rank(one) and rank(other):
            assert len(found) > 1
            # Labels that move nothing are anywhere; the others do not straddle.
            own = [group & labels for group in moving]
            assert sum(rank(restricted(component, part)) > 0 for part in own) == (
                rank(one)
            )


def test_independence_by_pairs_is_not_enough():
    """All labels of different groups commute, and there are 3 * 3 states.

    Yet it is no product: after a and b the factors can always do e and d.
    """
    names = ["s", "x1", "x2", "z1", "z2", "w1", "w2", "w3", "w4"]
    steps = "s a x1, s a x2, s b z1, s b z2, x1 b w1, x1 b w2, x1 b w3, x2 b w4, "
    steps += "z1 a w1, z1 a w2, z2 a w3, z2 a w4"
    triples = [tuple(step.split()) for step in steps.split(", ")]
    loops = {"c": "x1 w1 w2 w3", "e": "x2 w4", "d": "z1 w1 w2", "f": "z2 w3 w4"}
    triples += [(q, label, q) for label, qs in loops.items() for q in qs.split()]
    component = LTS.from_transitions(
        [(names.index(s), label, names.index(d)) for s, label, d in triples]
    )
    wrong = [restricted(component, group) for group in ("ace", "bdf")]
    assert [len(compose(Network([part]))[0]) for part in wrong] == [3, 3]
    assert not are_bisimilar(Network(wrong), Network([component]))
    assert factored(component).network is None


def test_sizes_need_not_multiply():
    """Two toggles that share their states are two loops by bisimilarity."""
    steps = [(s, label, 1 - s) for s in (0, 1) for label in "ab"]
    assert factored(LTS.from_transitions(steps)).network is None


def test_acceptance_that_is_no_product():
    """The same toggles, one of whose states accepts, belong together."""
    steps = [(s, label, 1 - s) for s in (0, 1) for label in "ab"]
    component = LTS.from_transitions([*steps, (0, "c", 0)], accepting=[0])
    assert factored(component).network is None


CUBE = [
    step
    for s in range(8)
    for bit, toggle, told in ((1, "a", "p"), (2, "b", "q"), (4, "c", "r"))
    for step in ((s, toggle, s ^ bit), *([(s, told, s)] if s & bit else []))
]
"""Three toggles, each with a label that tells its state."""


@pytest.mark.parametrize(
    ("accepting", "sizes"),
    [
        ([0], [2, 2, 2]),
        ([], [2, 2, 2]),
        (range(8), [2, 2, 2]),
        ([0, 7], None),  # opposite corners
        ([0, 3, 4, 7], [2, 4]),  # opposite corners of a square, whatever c
        ([0, 3], [2, 4]),
        ([0, 1], [2, 2, 2]),
        ([0, 1, 2], [2, 4]),
    ],
)
def test_weaker_splits_of_acceptance(accepting, sizes):
    """Where all groups together are not exact, unions of them may be."""
    component = LTS.from_transitions(CUBE, accepting=accepting)
    found = factored(component).network
    assert_sound(component)
    if sizes is None:
        assert found is None
    else:
        assert sorted(c.n_states for c in found.components) == sizes


def far_apart():
    """Two rings of four and a switch; who accepts is no product of the rings.

    The corners of no single square tell: (0, 0) and (2, 2) accept, where the switch
    is off.
    """
    ring = [(0, "go", 1), (1, "go", 2), (2, "go", 3), (3, "back", 0)]
    parts = [
        LTS.from_transitions([(s, f"{a}{k}", d) for s, a, d in ring]) for k in (1, 2)
    ]
    parts.append(LTS.from_transitions([(0, "on", 1), (1, "off", 0)]))
    network = Network(parts)
    states = compose(network)[0]
    flags = [state in ((0, 0, 0), (2, 2, 0)) for state in states]
    return replace(composed(parts), accepting=np.array(flags))


def test_unions_are_counted():
    """The rings are one factor together, the switch is another."""
    component = far_apart()
    assert_sound(component)
    found = factored(component).network.components
    assert sorted(c.n_states for c in found) == [2, 16]


@pytest.mark.parametrize("limit", ["MOST_UNITED", "MOST_COUNTED"])
def test_limits_of_unions(monkeypatch, limit):
    """Then whatever changes acceptance stays together."""
    monkeypatch.setattr(finest_split, limit, 2)
    assert factored(far_apart()).network is None


def test_one_factor_accepts_where_each_component_does():
    """Two factors that accept would have to do so at the same time."""
    component = LTS.from_transitions(CUBE, accepting=[0])
    assert factored(component, together=False).network is None
    component = LTS.from_transitions(CUBE, accepting=[0, 3, 4, 7])
    assert len(factored(component, together=False).network.components) == 2
    ring = [(0, "p", 1), (1, "q", 2), (2, "r", 0)]
    product = composed(
        [
            LTS.from_transitions([(0, "a", 1), (1, "b", 0)], accepting=[0]),
            LTS.from_transitions(ring),
        ]
    )
    found = factored(product, together=False).network
    assert [c.accepting is None for c in found.components].count(False) == 1


def test_labels_that_block_stay():
    """Labels without reachable steps, or that change nothing, go to the largest."""
    steps = [*GRID, *((s, "loop", s) for s in range(4)), (4, "never", 4)]
    component = LTS.from_transitions(steps)
    found = factored(component).network
    assert {c.labels for c in found.components} == {("a", "loop", "never"), ("b",)}
    assert_sound(component)


def test_alike_components_have_alike_factors():
    """Names of labels make no difference."""
    twins = [
        LTS.from_transitions([(s, f"{a}{k}", d) for s, a, d in GRID], name=f"P{k}")
        for k in (1, 2)
    ]
    found = factored(*twins).network.components
    assert [c.name for c in found] == ["P1.1", "P1.2", "P2.1", "P2.2"]
    for one, other in zip(found[:2], found[2:], strict=True):
        assert np.array_equal(one.src, other.src)
        assert np.array_equal(one.dst, other.dst)


def test_what_is_no_product_stays_the_same_object():
    """Also beside components that are products."""
    ring = LTS.from_transitions([(0, "x", 1), (1, "y", 2), (2, "z", 3), (3, "x", 0)])
    found = factored(ring, LTS.from_transitions(GRID))
    assert found.network.components[0] is ring
    assert str(found) == "1 of 2 components is a product: 2 became 3"
    assert factored(ring).network is None


def test_what_is_found_out_is_kept():
    """Another question about the same network gets the same object."""
    network = Network([LTS.from_transitions(GRID)])
    first = run(factors.factored(network))
    assert run(factors.factored(network)) is first
    assert run(factors.factored(network, together=False)) is not first


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        ("MOST_STATES", 3, "4 states"),
        ("MOST_TRANSITIONS", 3, "4 transitions"),
        ("MOST_LABELS", 1, "2 labels"),
        ("MOST_EFFORT", 3, "too large beside the others"),
        ("MOST_EFFORT", 520, "too dense"),
        ("MOST_AT_A_STATE", 2, "too dense"),
    ],
)
def test_limits(monkeypatch, limit, value, why):
    """What is too large is left as it is, and said to be."""
    monkeypatch.setattr(factors, limit, value)
    found = factored(LTS.from_transitions(GRID))
    assert found.network is None
    assert (
        str(found) == f"no component is a product; not looked at: component 1 ({why})"
    )


def test_several_components_too_large(monkeypatch):
    """The first three are named."""
    monkeypatch.setattr(factors, "MOST_LABELS", 1)
    component = LTS.from_transitions(GRID)
    found = factored(component, *[replace(component) for _ in range(4)])
    assert str(found).endswith("component 3 (2 labels), 2 more")


def test_large_grid_yields():
    """200 * 250 states: no piece of work is long."""
    rings = [
        LTS.from_transitions([(s, f"{name}{s % 3}", (s + 1) % n) for s in range(n)])
        for name, n in (("a", 201), ("b", 252))
    ]
    component = _grid(*rings)
    job = factors.factored(Network([component]))
    pieces = 0
    try:
        while True:
            assert next(job).work < 100_000
            pieces += 1
    except StopIteration as end:
        sizes = [c.n_states for c in end.value.network.components]
    assert sizes == [3, 3]  # by bisimilarity
    assert pieces > 10


def _grid(one, other):
    """The product of two components, in arrays."""
    columns = []
    for first, second, is_left in ((one, other, True), (other, one, False)):
        rest = np.arange(second.n_states)
        scale = (second.n_states, 1) if is_left else (1, first.n_states)
        src = (first.src[:, None] * scale[0] + rest * scale[1]).ravel()
        dst = (first.dst[:, None] * scale[0] + rest * scale[1]).ravel()
        label = np.repeat(first.label, second.n_states)
        columns.append((src, label if is_left else label + len(one.labels), dst))
    src, label, dst = (
        np.concatenate(column).astype(np.int32) for column in zip(*columns, strict=True)
    )
    return LTS(
        n_states=one.n_states * other.n_states,
        initial=0,
        labels=one.labels + other.labels,
        src=src,
        label=label,
        dst=dst,
    )


def test_philosophers_are_no_products():
    """Nothing is made of what is as small as it can be."""
    assert run(factors.factored(philosophers(4))).network is None


@pytest.mark.skipif(BENCHMARKS is None, reason="LTLPIPE_BENCHMARKS is not set")
@pytest.mark.parametrize(("number", "before", "after"), [(113, 13, 44), (115, 19, 72)])
def test_published_problems(number, before, after):
    """The components of RERS 2017 are products."""
    path = Path(BENCHMARKS) / "rers" / "2017" / f"problem{number}.dot"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    network = load(path)
    assert len(network.components) == before
    assert len(run(factors.factored(network)).network.components) == after

"""Minimal forms in plain Python against those by kernels."""

from __future__ import annotations

import random
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.components import finest_split
from ltlpipe.runtime.jobs import run
from tests.components.factoring.products import are_bisimilar, random_product
from tests.example_counts import examples
from tests.hypothesis_strategies import lts

COMPONENTS = lts(max_states=6, max_transitions=14, acceptance=True) | st.integers(
    0, 10**9
).map(lambda seed: random_product(random.Random(seed), acceptance=True).component)


def form_of(component, monkeypatch, **limits):
    with monkeypatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(finest_split, name, value)
        return run(finest_split.minimal_form(component))


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@given(COMPONENTS)
@settings(max_examples=examples(300))
def test_both_ways_are_alike(patch, component):
    """To the numbers of states; and both are bisimilar to the component."""
    plain = form_of(component, patch)
    compiled = form_of(component, patch, MOST_PLAIN=-1)
    assert plain[:2] == compiled[:2]
    for one, other in zip(plain[2:], compiled[2:], strict=True):
        assert np.array_equal(one, other)
    same = LTS(
        n_states=plain.n_states,
        initial=0,
        labels=component.labels,
        src=plain.src.astype(np.int32),
        label=plain.label.astype(np.int32),
        dst=plain.dst.astype(np.int32),
        accepting=plain.accepting,
    )
    assert are_bisimilar(Network([same]), Network([component]))


def test_long_chains_are_left_to_kernels(monkeypatch):
    """Where each round splits off one state."""
    chain = LTS.from_transitions([(s, "a", s + 1) for s in range(300)])
    spied = MagicMock(wraps=finest_split._compiled_classes)
    monkeypatch.setattr(finest_split, "_compiled_classes", spied)
    assert run(finest_split.minimal_form(chain)).n_states == 301
    assert spied.call_count == 1

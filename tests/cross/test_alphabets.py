"""Declared labels against the same blocking by transitions that no run can take."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from ltlpipe.systems.hoa_systems import read_hoa, write_hoa
from ltlpipe.systems.networks.lts import LTS, Network
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks

WAYS = [
    {},
    {"reduce": "none", "emptiness": "couvreur99"},
    {"reduce": "components"},
    {"reduce": "alphabet,ample"},
]
EXTRA = ["a", "c", "e"]


def declaring(network, extra):
    """The network in HOA, each component with more labels than it uses."""
    texts = []
    for component, labels in zip(network.components, extra, strict=True):
        more = sorted(set(labels) - set(component.labels))
        names = [*component.labels, *more]
        line = " ".join([f"AP: {len(names)}", *(f'"{name}"' for name in names)])
        texts.append(re.sub("AP: .*", line, write_hoa([component])))
    return "".join(texts)


def blocked(network, extra):
    """The same by hand: a further state, that nothing leads to, has the labels."""
    components = []
    for component, labels in zip(network.components, extra, strict=True):
        n = component.n_states
        steps = component.transitions()
        steps += [
            (n, label, n) for label in sorted(set(labels) - set(component.labels))
        ]
        components.append(
            LTS.from_transitions(steps, initial=component.initial, n_states=n + 1)
        )
    return Network(components)


def ask(network, formula, **way):
    """The verdict; propositions that no action has are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ltlpipe.LtlpipeWarning)
        return ltlpipe.check(network, formula, unknown="never", **way).verdict


extras = st.lists(st.sets(st.sampled_from(EXTRA)), min_size=3, max_size=3)


@given(networks(), extras)
def test_what_is_declared_is_the_alphabet(network, extra):
    extra = extra[: len(network.components)]

    found = read_hoa(declaring(network, extra), "m.hoa", declared=True)

    by_hand = blocked(network, extra).components
    assert [set(c.labels) for c in found] == [set(c.labels) for c in by_hand]
    assert [sorted(c.transitions()) for c in found] == [
        sorted(c.transitions()) for c in network.components
    ]


@pytest.mark.parametrize("way", WAYS, ids=str)
@settings(max_examples=examples(40))
@given(networks(), extras, formulas())
def test_a_declared_label_blocks(way, network, extra, formula):
    """Every search gives the verdict of the network that is blocked by hand."""
    extra = extra[: len(network.components)]
    declared = Network(read_hoa(declaring(network, extra), "m.hoa", declared=True))

    with suppress(ltlpipe.UnsupportedError):  # no ample sets for this formula, say
        verdict = ask(declared, formula, **way)
        assert verdict == ask(blocked(network, extra), formula)

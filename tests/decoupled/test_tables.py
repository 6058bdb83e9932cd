"""The tables of the decoupled composition against frozen sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from ltlpipe import LTS, Network
from ltlpipe.decoupled.composition import WORD_BITS
from tests.decoupled.examples import figure_8
from tests.decoupled.jobs import decoupled_of
from tests.decoupled.reference import Composition
from tests.hypothesis_strategies import networks

NETWORKS = networks(
    max_components=4, max_states=5, max_transitions=9, internal=("d",), acceptance=True
)


def named(decoupled, i, place):
    """The local states of component i in one of the table's sets."""
    tables = decoupled.tables
    first, n = int(tables.places.first_word[i]), int(tables.places.n_words[i])
    row = np.zeros(len(decoupled.initial), dtype=np.uint64)
    row[first : first + n] = tables.sets[place : place + n]
    return decoupled.unpack(row)[i]


def assert_tables_are_those_of(network):
    """Every closure, image and mask is what the plain composition computes."""
    decoupled, plain = decoupled_of(network), Composition(network)
    tables = decoupled.tables
    assert decoupled.unpack(decoupled.initial) == plain.initial
    assert decoupled.labels.tolist() == plain.global_actions
    accepting = decoupled.unpack(tables.accepting)
    looping = decoupled.unpack(tables.looping)
    for i, states in enumerate(decoupled.local_states):
        known = set(states.tolist())
        assert accepting[i] == plain.accepting[i] & known
        assert looping[i] == {s for s in accepting[i] if plain.on_internal_cycle(i, s)}
        for k, state in enumerate(states.tolist()):
            at = tables.first_closure[i] + int(tables.places.shift[i]) + k
            closure = named(decoupled, i, tables.closure[at])
            assert closure == plain.iclose(i, [state])
    for label, action in enumerate(plain.global_actions):
        parts = range(tables.first_part[label], tables.first_part[label + 1])
        who = tuple(tables.component[part] for part in parts)
        assert who == network.actions[action].participants
        for i, part in zip(who, parts, strict=True):
            assert_images(decoupled, plain, part, i, action)


def assert_images(decoupled, plain, part, i, action):
    """Images and sources of one part are those of its label."""
    tables = decoupled.tables
    first = tables.first_source[part]
    for k, state in enumerate(decoupled.local_states[i].tolist()):
        bit = int(tables.places.shift[i]) + k
        place = tables.image[tables.first_image[part] + bit]
        word = int(tables.sources[first + bit // WORD_BITS])
        image = plain.image(i, [state], action)
        assert bool(word >> bit % WORD_BITS & 1) == bool(image) == (place >= 0)
        if image:
            assert named(decoupled, i, place) == image


@given(NETWORKS)
def test_tables_of_random_networks(network):
    """Closures, images, acceptance and internal cycles (Def. 3, CheckLocalAccept)."""
    assert_tables_are_those_of(network)


@pytest.mark.parametrize("sizes", [(64, 1), (65, 3, 130), (40, 30, 24, 1), (128, 64)])
def test_sets_beyond_a_word(sizes):
    """Components of more than 64 states have their own words, small ones share."""
    components = []
    for i, size in enumerate(sizes):
        ring = [(s, f"t{i}" if s % 3 else "g", (s + 1) % size) for s in range(size)]
        components.append(
            LTS.from_transitions(
                [*ring, (0, "h", size - 1), (size // 2, "g", 0)],
                accepting=range(0, size, 5),
            )
        )
    assert_tables_are_those_of(Network(components))


def test_bits_of_components_do_not_overlap():
    """Small components share a word, each with bits of its own."""
    tables = decoupled_of(figure_8()).tables
    assert tables.places.first_word.tolist() == [0, 0]
    assert int(tables.places.mask[0]) & int(tables.places.mask[1]) == 0


def test_unreachable_states_and_idle_labels():
    """A label that a participant never reaches is never enabled."""
    one = LTS.from_transitions([(0, "g", 0)])
    two = LTS.from_transitions([(0, "x", 0), (1, "g", 1)])
    decoupled = decoupled_of(Network([one, two]))
    assert [len(s) for s in decoupled.local_states] == [1, 1]
    assert decoupled.tables.sources.tolist() == [
        1 << int(decoupled.tables.places.shift[0]),
        0,
    ]

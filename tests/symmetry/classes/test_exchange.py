"""Swaps are found iff they exist, against all permutations of actions and states."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.colour_refinement import Effort, refined
from ltlpipe.symmetry.classes.exchange import exchange
from ltlpipe.symmetry.classes.structure import parts_of, structure_of
from ltlpipe.systems.networks.lts import LTS, Network
from tests.depth import examples
from tests.strategies import lts
from tests.symmetry.classes.checking import action_numbers, reached


@st.composite
def similar_pairs(draw):
    """A network whose components 0 and 1 are the same but for names and numbers."""
    labels = ["a", "b", "c", "d"]
    one = draw(lts(max_states=3, max_transitions=6))
    renamed = dict(zip(labels, draw(st.permutations(labels)), strict=True))
    states = draw(st.permutations(range(one.n_states)))
    other = LTS.from_transitions(
        [(states[s], renamed[x], states[d]) for s, x, d in one.transitions()],
        initial=states[one.initial],
        n_states=one.n_states,
    )
    third = draw(st.lists(lts(max_states=3, max_transitions=6), max_size=1))
    return Network([one, other, *third])


def images_of(component, image, actions):
    """Whether some bijection of reached states takes one component to the other."""
    mine, theirs = sorted(reached(component)), sorted(reached(image))
    steps = {(s, x, d) for s, x, d in component.transitions() if s in mine}
    wanted = {(s, x, d) for s, x, d in image.transitions() if s in theirs}
    if len(mine) != len(theirs) or len(steps) != len(wanted):
        return False
    return any(
        states[component.initial] == image.initial
        and {(states[s], actions[x], states[d]) for s, x, d in steps} == wanted
        for states in (dict(zip(mine, p, strict=True)) for p in permutations(theirs))
    )


def can_be_exchanged(network):
    """Whether components 0 and 1 can be exchanged while the third stays."""
    image = {0: 1, 1: 0, 2: 2}
    candidates = [
        [
            b.name
            for b in network.actions
            if set(b.participants) == {image[c] for c in a.participants}
        ]
        for a in network.actions
    ]
    for names in product(*candidates):
        actions = {a.name: b for a, b in zip(network.actions, names, strict=True)}
        if len(set(names)) == len(names) and all(
            images_of(c, network.components[image[k]], actions)
            for k, c in enumerate(network.components)
        ):
            return True
    return False


def check_exchange(network):
    structure = run(structure_of(run(parts_of(network))))
    effort = Effort(None)
    stable = run(refined(structure, structure.colours[None], effort))[0]
    swap = None
    if stable[0] == stable[1]:
        swap = run(exchange(structure, stable, 0, 1, effort))

    assert (swap is not None) == can_be_exchanged(network)
    if swap is not None:
        assert swap[:2].tolist() == [1, 0]


@settings(deadline=None, max_examples=examples(200))
@given(similar_pairs())
def test_against_all_permutations(network):
    check_exchange(network)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(5000))
@given(similar_pairs())
def test_against_all_permutations_thousands(network):
    check_exchange(network)


@given(similar_pairs(), st.randoms(use_true_random=False))
def test_colours_do_not_depend_on_the_order_of_components(network, random):
    order = list(range(len(network.components)))
    random.shuffle(order)
    other = Network([network.components[c] for c in order])

    def colours_of(network):
        structure = run(structure_of(run(parts_of(network))))
        effort = Effort(None)
        return run(refined(structure, structure.colours[None], effort))[0]

    mine, theirs = colours_of(network), colours_of(other)
    assert mine[order].tolist() == theirs[: len(order)].tolist()
    assert np.array_equal(np.sort(mine), np.sort(theirs))


def test_action_numbers_are_those_of_the_network():
    """An internal label is an action of its own in each component."""
    parts = [
        LTS.from_transitions([(0, "a", 0)], internal=["a"]),
        LTS.from_transitions([(0, "b", 0), (0, "a", 0)]),
        LTS.from_transitions([(0, "a", 0)], internal=["a"]),
    ]
    network = Network(parts)
    taken = run(parts_of(network))
    numbers = action_numbers(network)

    labels = [(c, x) for c, part in enumerate(parts) for x in part.labels]
    assert [numbers[key] for key in labels] == taken.action.tolist()
    assert [c for c, _ in labels] == taken.owner.tolist()

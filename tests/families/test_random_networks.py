"""Random networks: what the arguments promise, on every component."""

from __future__ import annotations

import pytest

from ltlpipe.families.networks import random_network
from ltlpipe.runtime import errors as _errors
from tests.oracles import accepting_run_exists, reaches

SEEDS = range(12)


def is_local(component, label):
    return label.startswith("t")


def followers(component, *, local_only):
    """The successor sets of the local states."""
    sets = [set() for _ in range(component.n_states)]
    for src, label, dst in component.transitions():
        if is_local(component, label) or not local_only:
            sets[src].add(dst)
    return sets


def internal_accepting_cycles(network):
    """Local states that accept and reach themselves by local transitions."""
    return [
        (component.name, state)
        for component in network.components
        for state in component.accepting.nonzero()[0].tolist()
        if reaches(followers(component, local_only=True), state, state)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_seed_decides(seed):
    """Equal seeds give equal networks, the next seed another."""
    assert random_network(3, seed=seed) == random_network(3, seed=seed)
    assert random_network(3, seed=seed) != random_network(3, seed=seed + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_and_acceptance(seed):
    """15 to 100 states, up to 3 % of them and at least one accepting (Sec. 6)."""
    for component in random_network(4, seed=seed).components:
        n = component.n_states
        assert 15 <= n <= 100
        assert 1 <= component.accepting.sum() <= max(1, 0.03 * n)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_local_state_can_be_reached(seed):
    """If synchronisation is left aside."""
    for component in random_network(3, seed=seed).components:
        successors = followers(component, local_only=False)
        assert all(
            reaches(successors, component.initial, state)
            for state in range(1, component.n_states)
        )


@pytest.mark.parametrize("local_ratio", [0.0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", SEEDS)
def test_local_ratio(seed, local_ratio):
    """Met up to rounding and a transition that stands twice or is added."""
    network = random_network(3, seed=seed, local_ratio=local_ratio, n_states=(50, 100))
    for component in network.components:
        labels = [label for _, label, _ in component.transitions()]
        n_local = sum(is_local(component, label) for label in labels)
        assert n_local / len(labels) == pytest.approx(local_ratio, abs=0.03)


@pytest.mark.parametrize("sharing", [(2, 2), (2, 4), (3, 9)])
@pytest.mark.parametrize("seed", SEEDS)
def test_shared_labels(seed, sharing):
    """Each is in as many alphabets as asked for, as far as there are so many."""
    network = random_network(4, seed=seed, sharing=sharing, local_ratio=0.7)
    counts = {
        action.name: len(action.participants)
        for action in network.actions
        if action.name.startswith("g")
    }

    assert len(counts) == 2 * 4
    assert all(min(sharing[0], 4) <= n <= sharing[1] for n in counts.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_no_internal_accepting_cycle(seed):
    """None by default, though the local transitions are many."""
    network = random_network(3, seed=seed, local_ratio=0.8, accepting_ratio=0.3)

    assert internal_accepting_cycles(network) == []


def test_both_verdicts_occur():
    """The family is no use as a test if all of its members agree."""
    verdicts = {
        accepting_run_exists(random_network(2, seed=seed, n_states=(2, 6), n_labels=1))
        for seed in range(20)
    }

    assert verdicts == {False, True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 1}, "1 components"),
        ({"seed": -1}, "seed -1"),
        ({"n_states": (0, 5)}, "(0, 5)"),
        ({"n_states": (6, 5)}, "(6, 5)"),
        ({"sharing": (1, 2)}, "(1, 2)"),
        ({"local_ratio": 1.0}, "local ratio 1.0"),
        ({"accepting_ratio": 1.5}, "accepting ratio 1.5"),
        ({"n_labels": 0}, "0 labels"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_arguments_out_of_range(change, message):
    arguments = {"n_components": 3, "seed": 0} | change
    with pytest.raises(_errors.UnsupportedError) as caught:
        random_network(**arguments)

    assert message in str(caught.value)

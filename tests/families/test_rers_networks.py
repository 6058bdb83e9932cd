"""Networks in the styles of RERS: what the module promises, on every component."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import spin
from ltlpipe import UnsupportedError, load, save
from ltlpipe.components.alphabet import trim_alone
from ltlpipe.families.networks import Walker
from ltlpipe.families.rers_networks import STYLES, rers_network
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.networks.exports import to_promela
from tests.oracles import compose, reaches

SEEDS = range(12)
BOTH = sorted(STYLES)


def label_counts(component):
    return Counter(label for _, label, _ in component.transitions())


def successors(network, states, action):
    """All composed states after an action, by the definition of composition."""
    options = {states}
    for i, component in enumerate(network.components):
        if action in component.labels:
            options = {
                (*state[:i], dst, *state[i + 1 :])
                for state in options
                for src, label, dst in component.transitions()
                if (src, label) == (state[i], action)
            }
    return options


def participants(network):
    return Counter(len(action.participants) for action in network.actions)


@pytest.mark.parametrize("style", BOTH)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_seed_decides(style, seed):
    """Equal seeds give equal networks, the next seed another."""
    first = rers_network(3, style=style, seed=seed)
    assert first == rers_network(3, style=style, seed=seed)
    assert first.network != rers_network(3, style=style, seed=seed + 1).network


@pytest.mark.parametrize("style", BOTH)
@pytest.mark.parametrize("seed", SEEDS)
def test_components(style, seed):
    """Sizes of the style; strongly connected, so every state lies on a cycle."""
    for component in rers_network(4, style=style, seed=seed).network.components:
        least, most = STYLES[style].n_states
        assert least <= component.n_states <= most
        followers = [set() for _ in range(component.n_states)]
        for src, _, dst in component.transitions():
            followers[src].add(dst)
        assert all(
            reaches(followers, src, dst)
            for src in range(component.n_states)
            for dst in range(component.n_states)
        )
        assert len(set(component.transitions())) == component.n_transitions


@given(st.sampled_from(BOTH), st.integers(1, 9), st.integers(0, 10**6))
def test_planned_run(style, n, seed):
    """It can be taken, comes back, and leaves no action out."""
    network, cycle = rers_network(n, style=style, seed=seed)
    initial = tuple(c.initial for c in network.components)
    reached = {initial}
    for action in cycle:
        reached = set().union(*(successors(network, s, action) for s in reached))
        assert reached
    assert initial in reached
    assert set(cycle) == {action.name for action in network.actions}
    assert run(trim_alone(network, list(cycle)))[0] is network


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("seed", SEEDS)
def test_labels_of_random_pairs(n, seed):
    """On one transition of each participant, one or two; 1.5 n of two, rounded up."""
    network, cycle = rers_network(n, style="random-pairs", seed=seed)

    assert all(set(label_counts(c).values()) == {1} for c in network.components)
    assert set(participants(network)) == {1, 2}
    assert participants(network)[2] == -(-3 * n // 2)
    assert sorted(cycle) == sorted(a.name for a in network.actions)  # each once


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("seed", SEEDS)
def test_labels_of_random_dense(n, seed):
    """Two to four participants, 2 n common labels; some repeat, to two targets."""
    network, _ = rers_network(n, style="random-dense", seed=seed)
    counts = participants(network)

    assert sum(number for size, number in counts.items() if size > 1) == 2 * n
    assert max(counts) == min(n, 4)
    for component in network.components:
        assert max(label_counts(component).values()) >= 2
        sources = Counter((s, a) for s, a, _ in component.transitions())
        assert max(sources.values()) >= 2


@pytest.mark.parametrize("n", [2, 7, 20])
@pytest.mark.parametrize("seed", SEEDS)
def test_labels_of_chains(n, seed):
    """Two participants at most, near each other; on many transitions, some to two."""
    network, _ = rers_network(n, style="chain", seed=seed)
    counts = participants(network)

    assert counts[2] == 3 * n
    assert set(counts) == {1, 2}
    apart = [
        action.participants[-1] - action.participants[0] for action in network.actions
    ]
    assert max(apart) <= STYLES["chain"].reach
    repeats = [max(label_counts(c).values()) for c in network.components]
    assert max(repeats) >= 10
    for component in network.components:
        sources = Counter((s, a) for s, a, _ in component.transitions())
        assert max(sources.values()) >= 2


@pytest.mark.parametrize("style", BOTH)
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_synchronisations(style, k):
    """As many common labels as asked for; five connect six components or fewer."""
    network = rers_network(5, style=style, seed=3, synchronisations=k).network
    common = [set(a.participants) for a in network.actions if len(a.participants) > 1]
    assert len(common) == k
    linked = {0}
    for _ in common:
        linked |= set().union(*(c for c in common if c & linked))
    assert len(linked) == 5 or k < 4


@pytest.mark.parametrize("style", BOTH)
def test_walks(style):
    """Most networks let most random walks go on: no deadlock in 500 steps."""
    medians = []
    for seed in range(10):
        walker = Walker(rers_network(4, style=style, seed=seed).network)
        lengths = [
            len(walker.walk(walker.initial, np.random.default_rng(k), 500)[0])
            for k in range(9)
        ]
        medians.append(sorted(lengths)[4])
    assert medians.count(500) >= 7


@pytest.mark.parametrize("style", BOTH)
@pytest.mark.parametrize("n", [1, 4])
def test_round_trip(style, n, tmp_path):
    """The file format of the challenges holds it."""
    network = rers_network(n, style=style, seed=5).network
    (path,) = save(network, tmp_path / "system.dot")
    assert load(path) == network


@pytest.mark.skipif(not spin.available(), reason="spin or gcc is not installed")
@pytest.mark.parametrize("style", BOTH)
def test_spin_counts_the_same_states(style, tmp_path):
    """Where two share a label, also where it repeats and has two targets."""
    network = rers_network(2, style=style, seed=4).network
    outcome = spin.run_spin(
        network,
        reduce=False,
        workdir=tmp_path,
        depth=100_000,
        memory_mib=256,
        timeout=60.0,
        hash_bits=16,
        optimisation="-O0",
    )
    assert outcome["states"] == len(compose(network)[0])


def test_no_promela_for_more_than_two():
    """A rendezvous is one of two: dense networks of three components is refused."""
    with pytest.raises(UnsupportedError, match="is shared by 3 components"):
        to_promela(rers_network(3, style="random-dense", seed=0).network)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "0 components"),
        (
            {"style": "2020"},
            "style '2020' is unknown: use one of random-pairs, random-dense, chain",
        ),
        ({"seed": -1}, "seed -1"),
        ({"synchronisations": -1}, "-1 synchronisations"),
        ({"n_components": 1, "synchronisations": 1}, "1 component synchronises"),
        ({"synchronisations": 500}, "500 synchronisations have no room on the"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_arguments_out_of_range(change, message):
    arguments = {"n_components": 3, "style": "random-pairs", "seed": 0} | change
    with pytest.raises(UnsupportedError) as caught:
        rers_network(arguments.pop("n_components"), **arguments)

    assert message in str(caught.value)

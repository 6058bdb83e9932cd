"""Runs of factors become runs of the components, which are replayed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ltlpipe import LTS, Network
from ltlpipe.components.factors import factored, unfactored
from ltlpipe.runtime.jobs import Limits, StoppedError, complete, run
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.judgement import lasso_of
from tests.complete_searches import replay_run
from tests.components.factoring.products import random_network
from tests.oracles import compose

SEEDS = 300
MORE_SEEDS = 10_000


def random_lasso(rng, network, *, stutters):
    """A walk up to a state that has been there before; None where it ends."""
    states, edges = compose(network)
    walk, actions, at = [0], [], 0
    while True:
        leaving = [(a, d) for s, a, d in edges if s == at]
        if not leaving and not stutters:
            return None
        action, at = rng.choice(leaving) if leaving else (-1, at)
        actions.append(action)
        walk.append(at)
        if at in walk[:-1]:
            break
    return Run(
        np.array(actions, dtype=np.int32),
        np.array([states[s] for s in walk], dtype=np.int32),
        walk.index(at),
    )


def names(network, actions):
    return [None if a < 0 else network.actions[a].name for a in actions.tolist()]


def assert_found_again(seed):
    """The same actions, and a run that the components can do; how often it grew."""
    rng = random.Random(seed)
    network = random_network(rng, internal=rng.choice([[], ["b", "c"]]))
    found = run(factored(network))
    if found.network is None:
        return 0
    stutters = rng.random() < 0.5
    path = random_lasso(rng, found.network, stutters=stutters)
    if path is None:
        return 0
    back = run(unfactored(network, found, path))
    replay_run(network, complete(lasso_of(network, back)), stutters=stutters)
    k, c = path.length, len(path.actions) - path.length
    rounds, rest = divmod(len(back.actions) - k, c)
    assert rest == 0
    expected = names(found.network, path.actions)
    assert names(network, back.actions) == expected[:k] + expected[k:] * rounds
    assert (back.length - k) % c == 0
    return rounds > 1


def test_runs_are_found_again():
    """Some go through their cycle more than once, as bisimilar states were one."""
    assert sum(map(assert_found_again, range(SEEDS))) > 5


@pytest.mark.slow
def test_runs_are_found_again_by_the_thousand():
    """The same, many times."""
    for seed in range(SEEDS, MORE_SEEDS):
        assert_found_again(seed)


def unrolled(name, lead, period):
    """Two switches and a counter that nobody can see: only `tick` moves it."""
    n = lead + period
    steps = []
    for k in range(n):
        following = k + 1 if k + 1 < n else lead
        for x in (0, 1):
            for y in (0, 1):
                src = 4 * k + 2 * x + y
                steps += [
                    (src, "tick", 4 * following + 2 * x + y),
                    (src, f"{name}x{x}", 4 * k + 2 * (1 - x) + y),
                    (src, f"{name}y{y}", 4 * k + 2 * x + (1 - y)),
                ]
    return LTS.from_transitions(steps)


def ticking(*counters):
    """The job that finds a run of components that tick for ever."""
    network = Network([unrolled(f"p{k}", *own) for k, own in enumerate(counters)])
    found = run(factored(network))
    assert [c.n_states for c in found.network.components] == [2, 2] * len(counters)
    tick = np.array([found.network.action_index["tick"]], dtype=np.int32)
    start = [c.initial for c in found.network.components]
    states = np.array([start, start], dtype=np.int32)
    return network, unfactored(network, found, Run(tick, states, 0))


def test_rounds_of_several_components():
    """Cycles of 2 and 3 rounds, begun after 1 and 4, close together after 4 and 6."""
    network, job = ticking((1, 2), (4, 3))
    back = run(job)
    assert (back.length, len(back.actions)) == (4, 10)
    replay_run(network, complete(lasso_of(network, back)))


def test_rounds_without_memory():
    """Cycles that close together too late are not written down."""
    _, job = ticking(*((0, period) for period in (3, 5, 7, 11, 13, 17)))
    with pytest.raises(StoppedError, match="memory"):
        run(job, Limits(memory_mib=100))

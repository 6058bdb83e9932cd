"""The replay accepts true lassos and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ltlpipe import LTS, Network, check
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.runs import Run
from ltlpipe.verdict import counterexample
from ltlpipe.verdict.judgement import lasso_of
from ltlpipe.verdict.lasso import Lasso
from ltlpipe.verdict.replay import (
    spelling_of_actions,
    word_replayed,
)
from tests.complete_searches import replay_run
from tests.hypothesis_strategies import networks
from tests.oracles import compose
from tests.random_nets import net_of


def a_network():
    """Two components that meet in `b` and one that idles."""
    return Network(
        [
            LTS.from_transitions([(0, "a", 1), (1, "b", 0)]),
            LTS.from_transitions([(0, "b", 1), (1, "c", 0)]),
            LTS.from_transitions([(0, "idle", 0)]),
        ]
    )


def a_lasso():
    """A b c and round again."""
    return Lasso(
        prefix=[],
        cycle=["a", "b", "c"],
        actions=np.array([0, 1, 2], dtype=np.int32),
        states=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]),
    )


def test_a_true_run_is_accepted():
    """Nothing is raised."""
    replay_run(a_network(), a_lasso())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cycle": []}, "do not fit"),
        ({"cycle": ["a", "b"]}, "do not fit"),
        ({"states": [[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]}, "initial state"),
        ({"states": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]}, "does not close"),
        ({"cycle": ["a", "c", "b"]}, "is called"),
        ({"states": [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]}, "has no 0 -a-> 0"),
        ({"actions": [0, 3, 2], "cycle": ["a", "idle", "c"]}, "moves without"),
        ({"actions": [-1, 1, 2]}, "repeats a state but may not"),
    ],
)
def test_false_runs_are_refused(change, message):
    """One change anywhere makes a true run false."""
    arrays = {k: np.array(v) for k, v in change.items() if k != "cycle"}
    lists = {k: v for k, v in change.items() if k == "cycle"}
    with pytest.raises(ReplayError, match=message):
        replay_run(a_network(), replace(a_lasso(), **lists, **arrays))


def test_a_state_with_successors_does_not_stutter():
    """Only a deadlock repeats itself."""
    lasso = Lasso(["a"], ["<stutter>"], np.array([0, -1]), np.array([[0], [1], [1]]))
    stuck = Network([LTS.from_transitions([(0, "a", 1)])])
    free = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 1)])])
    replay_run(stuck, lasso, stutters=True)
    with pytest.raises(ReplayError, match="'b' leaves"):
        replay_run(free, lasso, stutters=True)


def test_the_cycle_must_accept_everywhere_at_once():
    """Two components that accept in turn never accept together."""

    def switch(label, accepting):
        return LTS.from_transitions(
            [(0, label, 1), (1, label, 0)], accepting=[accepting]
        )

    lasso = Lasso([], ["x", "x"], np.array([0, 0]), np.array([[0, 0], [1, 1], [0, 0]]))
    replay_run(Network([switch("x", 0), switch("x", 0)]), lasso)
    with pytest.raises(ReplayError, match="accepting in all"):
        replay_run(Network([switch("x", 0), switch("x", 1)]), lasso)


@given(networks(max_components=2), st.data())
def test_random_walks_are_runs(network, data):
    """A walk through the naive composition that closes is accepted."""
    states, edges = compose(network)
    path, actions = [0], []
    for _ in range(12):
        leaving = [e for e in edges if e[0] == path[-1]]
        if not leaving:
            break
        _, action, dst = data.draw(st.sampled_from(leaving))
        path.append(dst)
        actions.append(action)
    start = path.index(path[-1])
    assume(start < len(path) - 1)
    names = [network.actions[a].name for a in actions]
    lasso = Lasso(
        names[:start],
        names[start:],
        np.array(actions),
        np.array([states[s] for s in path]),
    )
    replay_run(network, lasso)


def judge(text, lasso, network):
    """Refuse the word of a run unless it violates a formula."""
    formula = parse(text)
    spelling = spelling_of_actions(lasso, network, formula.propositions)
    complete(word_replayed(formula, spelling, len(lasso.prefix)))


def test_spot_judges_the_word():
    """The word of the run violates G !c but not G !idle."""
    network, lasso = a_network(), a_lasso()
    judge("G !c", lasso, network)
    with pytest.raises(ReplayError, match="not a violation"):
        judge("G !idle", lasso, network)


def test_internal_actions_satisfy_no_proposition():
    """Even if a proposition has their name."""
    inner = LTS.from_transitions([(0, "i", 0)], internal=["i"])
    lasso = Lasso([], ["i"], np.array([0]), np.array([[0], [0]]))
    judge("F i", lasso, Network([inner]))


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_long_lassos_are_replayed():
    """A hundred thousand steps take seconds, not minutes."""
    n = 100_000
    ring = LTS.from_transitions([(s, "a" if s else "b", (s + 1) % n) for s in range(n)])
    verdict = check(Network([ring]), "G(b -> X G !b)")
    assert len(verdict.lasso.cycle) == n


def a_wide_net(n_places, n_steps):
    """A counter, and places that pass a token on when it is full."""
    passing = [
        ({1: n_steps, 2 + k: 1}, {1: n_steps, 2 + (k + 1) % n_places: 1})
        for k in range(n_places)
    ]
    return net_of([n_steps, 0, *[1] * n_places], ({0: 1}, {1: 1}), *passing)


def test_wide_states_of_long_runs_are_written_down_with_pauses():
    """What is written is counted as it grows: each state becomes a valuation."""
    net, n = a_wide_net(500, 1), 2_000
    states = np.tile(np.array(net.initial(), dtype=np.int64), (n + 1, 1))
    states[:-1, 1] = range(n)
    job = lasso_of(net, Run(np.zeros(n, dtype=np.int32), states, 0))
    said = [progress.memory_bytes for progress in job]
    assert len(said) > 1
    assert said == sorted(said)
    assert said[-1] > 40 * states.size / 2


def test_a_lasso_that_does_not_fit_is_not_written():
    net = a_wide_net(300, 2_000)
    found = check(net, "G(p1 < 2000)", memory=20)
    assert (found.verdict, found.reason) == ("violated", "lasso-limit")
    assert found.stats.memory_mib > 20
    found = check(net, "G(p1 < 2000)", memory=200)
    assert (found.verdict, found.reason) == ("violated", None)
    assert 20 < found.stats.memory_mib < 200


def test_a_lasso_outlives_what_would_shorten_it(monkeypatch):
    """For that is no memory left; but there is, and time, for the run that is known."""
    monkeypatch.setattr(counterexample, "_REPLAY_SECONDS", 0)
    n = 8_000
    net = net_of([n, 0, 0], ({0: 1}, {1: 1}), ({1: 1}, {2: 1}), ({2: n}, {0: n}))
    found = check(net, "F G(p1 <= 0)", memory=2, timeout=60)
    assert found.stats.memory_mib > 2
    assert (found.verdict, found.reason) == ("violated", None)
    assert len(found.lasso.actions) > n

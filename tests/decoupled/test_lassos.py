"""Lassos of the decoupled search are replayed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network, check
from ltlpipe.decoupled.decoupled_ndfs import Closing, DecoupledNDFS
from ltlpipe.families.networks import random_network
from ltlpipe.runtime import ticks
from ltlpipe.runtime.jobs import Grant
from ltlpipe.search.registers import Reg, Status
from ltlpipe.verdict.lasso import Lasso
from tests.complete_searches import Limits, drive, replay_run
from tests.decoupled.examples import figure_5, figure_8
from tests.decoupled.jobs import decoupled_of, extracted, extraction
from tests.hypothesis_strategies import networks


def replayed(network, *, stack=False):
    """The lasso of a network, and how it was found; None if there is none."""
    search = DecoupledNDFS(decoupled_of(network), stack_test=stack)
    if drive(search, Limits()).status != Status.FOUND:
        return None
    actions, states, length = extracted(network, search)
    names = [network.actions[a].name for a in actions]
    found = Lasso(names[:length], names[length:], actions, states)
    replay_run(network, found)
    return found, Closing(search.registers[Reg.CLOSING])


@given(
    networks(
        max_components=3,
        max_states=5,
        max_transitions=9,
        internal=("d",),
        acceptance=True,
    ),
    st.booleans(),
)
def test_lassos_of_random_networks(network, stack):
    """Whatever closed the cycle."""
    replayed(network, stack=stack)


@pytest.mark.parametrize("emptiness", ["decoupled-scc", "decoupled-ndfs"])
def test_states_that_are_only_declared(emptiness):
    """They take no memory: there may be two thousand million of them."""
    n = 2 * 10**9
    sparse = [(n - 1, "a", 0), (0, "b", n - 2), (n - 2, "c", n - 1)]
    other = LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    network = Network(
        [LTS.from_transitions(sparse, initial=n - 1, n_states=n), other, other]
    )
    found = check(network, "G !c", emptiness=emptiness, memory=500)
    assert found.lasso.actions.tolist() == [0, 1, 2]


@pytest.mark.parametrize("stack", [False, True])
def test_lassos_of_larger_networks(stack):
    """Some of them are found, with traces of some length."""
    found = 0
    for seed in range(12):
        network = random_network(
            3, seed=seed, n_states=(10, 20), local_ratio=0.5, accepting_ratio=0.2
        )
        found += replayed(network, stack=stack) is not None
    assert found > 3


def test_example_1():
    """The trace that Sec. 4.3 gives."""
    found, closing = replayed(figure_8())
    assert (found.prefix, found.cycle) == (["l1", "lI", "l6"], ["l7", "l7"])
    assert closing == Closing.REFERENCES


def test_figure_5():
    """The cycle of state 2 (Fig. 6)."""
    found, _ = replayed(figure_5())
    assert (found.prefix, found.cycle) == (["i1"], ["l1", "l2"])


def test_an_internal_cycle():
    """One component goes round, the other stays in its accepting state."""
    network = Network(
        [
            LTS.from_transitions(
                [(0, "g", 1), (1, "x", 2), (2, "x", 1)], accepting=[2]
            ),
            LTS.from_transitions([(0, "g", 1), (1, "y", 2)], accepting=[2]),
        ]
    )
    found, closing = replayed(network)
    assert closing == Closing.LOCAL
    assert found.cycle == ["x", "x"]


@pytest.mark.parametrize(("periods", "rounds"), [((2, 3), 6), ((2, 4), 4), ((1, 1), 1)])
def test_rounds_of_lemma_1(periods, rounds):
    """The cycle goes round until all components are back at the same time.

    Every local state is reached after the first label, and each component goes
    round its own ring with `g`.
    """
    network = Network(
        [
            LTS.from_transitions(
                [
                    *[(p, "start", s) for s in range(p)],
                    *[(s, "g", (s + 1) % p) for s in range(p)],
                ],
                initial=p,
            )
            for p in periods
        ]
    )
    found, closing = replayed(network, stack=True)
    assert len(found.cycle) == rounds
    assert closing == (Closing.STACK if rounds > 1 else Closing.REFERENCES)


@pytest.mark.parametrize("stop", [1, 2, 10, 100])
def test_one_long_turn_is_stopped(stop, monkeypatch):
    """A job yields on the way along a trace, not only between turns."""
    monkeypatch.setattr(ticks, "_TURN", 20)
    rings = [
        LTS.from_transitions(
            [(s, "g", (s + 1) % p) for s in range(p)], accepting=[0] if p < 7 else None
        )
        for p in (2, 3, 5, 7)
    ]
    network = Network(rings)
    search = DecoupledNDFS(decoupled_of(network))
    assert drive(search, Limits()).status == Status.FOUND
    job = extraction(network, search)
    next(job)
    for _ in range(stop):
        job.send(Grant())
    job.close()
    found = extracted(network, search)
    assert len(found.actions) == found.length + 210


def rings_apart(periods):
    """Rings that share no label; each can be anywhere after the first one."""
    components = []
    for i, p in enumerate(periods):
        steps = [(s, f"g{i}", (s + 1) % p) for s in range(p)]
        start = [(p, "start", s) for s in range(p)]
        components.append(LTS.from_transitions([*start, *steps], initial=p))
        partner = [(0, "start", 1), (1, f"g{i}", 1)]
        components.append(LTS.from_transitions(partner))
    return Network(components)


@pytest.mark.parametrize(
    ("formula", "emptiness", "most"),
    [
        ("F G !g0", "decoupled-scc", 29),
        ("F G !g0", "decoupled-ndfs", 29),
        ("!(G F g0 & G F g1 & G F g2 & G F g3)", "decoupled-scc", 17 + 19 + 23 + 29),
    ],
)
def test_rings_that_share_nothing_go_round_one_after_the_other(
    formula, emptiness, most
):
    """Coprime periods add up; they are not multiplied (17 * 19 * 23 * 29 turns)."""
    network = rings_apart((17, 19, 23, 29))
    options = {"emptiness": emptiness, "reduce": "decoupled", "timeout": 60}
    verdict = check(network, formula, **options)
    assert verdict.verdict == "violated"
    assert len(verdict.lasso.cycle) <= most

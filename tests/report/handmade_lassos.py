"""Lassos for charts, made by hand or by lot: nothing is searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from ltlpipe import LTS, Lasso, Network, check
from ltlpipe.verdict.lasso import Spelling
from tests.report.handmade_stores import EVIL

CLIENT = LTS.from_transitions([(0, "ask", 1), (1, "get", 0)], name="client")
CLIENT = replace(CLIENT, state_names=("idle", "waiting"))
SERVER = LTS.from_transitions(
    [(0, "ask", 1), (1, "get", 0), (1, "nap", 1)], name="server"
)
SERVER = replace(SERVER, state_names=("free", "busy"))
OTHER = LTS.from_transitions([(0, "tick", 0)], name="clock")


def office_lasso():
    """Ask, and then nothing but naps, which the formula does not name."""
    return check(Network([CLIENT, SERVER, OTHER]), "G(ask -> F get)").lasso


def lost_lasso():
    """The second of three steps violates the formula for good."""
    client = replace(CLIENT, name="client <&>")
    states = np.array([[0, 0], [1, 1], [0, 0], [1, 1]], np.int32)
    network = Network([client, SERVER])
    names = ["ask", "get", "ask"]
    index = {action.name: k for k, action in enumerate(network.actions)}
    steps = np.array([0, 1, 0])
    spelling = Spelling(("get",), [[], ["get"]], steps)
    actions = np.array([index[name] for name in names], np.int32)
    return Lasso(
        *(names[:1], names[1:], actions, states),
        spelling=spelling,
        system=network,
        bad_prefix=2,
    )


def ring_lasso(n_stations, names=None):
    """A token goes once round; each station works when it has it."""
    parts = []
    for k in range(n_stations):
        after = (k + 1) % n_stations
        steps = [(0, f"pass_{k}", 1), (1, f"work_{k}", 2), (2, f"pass_{after}", 0)]
        name = names[k % len(names)] if names else f"station_{k}"
        lts = LTS.from_transitions(steps, initial=int(k == 0), name=name)
        states = names and [names[(k + j) % len(names)] for j in range(3)]
        parts.append(replace(lts, state_names=tuple(states or ("idle", "on", "off"))))
    actions = [
        action for k in range(n_stations) for action in (f"work_{k}", f"pass_{k + 1}")
    ]
    actions[-1] = "pass_0"
    network = Network(parts)
    index = {action.name: k for k, action in enumerate(network.actions)}
    states = np.zeros((len(actions) + 1, n_stations), np.int32)
    states[0, 0] = 1
    for step in range(len(actions)):
        holder = step // 2
        states[step + 1] = states[step]
        if step % 2:
            states[step + 1, [holder, (holder + 1) % n_stations]] = 0, 1
        else:
            states[step + 1, holder] = 2
    numbers = np.array([index[action] for action in actions], np.int32)
    spelling = Spelling(("work_1",), [[], ["work_1"]], np.arange(len(actions)) == 2)
    return Lasso([], actions, numbers, states, spelling=spelling, system=network)


TEXTS = st.one_of(st.text(max_size=30), st.sampled_from([*EVIL, "état", "状態"]))


@st.composite
def lassos(draw):
    """Whoever moves, whatever they are called; nothing of it is a real run."""
    n = draw(st.integers(1, 6) | st.just(45))
    n_steps = draw(st.integers(1, 12) | st.integers(41, 120))
    first = draw(st.integers(0, n_steps - 1))
    labels = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    parts = []
    for _ in range(n):
        own = draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
        steps = [(0, label, 1) for label in own]
        lts = LTS.from_transitions(steps, n_states=3, name=draw(TEXTS))
        names = draw(st.none() | st.tuples(TEXTS, TEXTS, TEXTS))
        parts.append(replace(lts, state_names=names))
    network = Network(parts)
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    actions = random.integers(-1, len(network.actions), n_steps).astype(np.int32)
    states = random.integers(0, 3, (n_steps + 1, n)).astype(np.int32)
    names = ["-" if a < 0 else network.actions[a].name for a in actions]
    spelling = Spelling(("p",), [[], ["p"]], random.integers(0, 2, n_steps))
    bad = draw(st.none() | st.integers(1, n_steps + 5))
    return Lasso(
        *(names[:first], names[first:], actions, states),
        spelling=spelling,
        system=draw(st.sampled_from([network, None])),
        bad_prefix=bad,
    )

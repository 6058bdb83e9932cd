"""Questions on which one way to an answer is good and the others are not.

Each is a system on which an earlier automatic choice went wrong; tests and the
benchmark of the portfolio ask them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.systems.networks.lts import LTS, Network


class Case(NamedTuple):
    """A question: a system, a formula (None for its own acceptance), the verdict."""

    name: str
    system: Network
    formula: str | None
    verdict: str


def separating(n: int = 24) -> Case:
    """Return the separating family of Gnad et al. (CAV 2021, Fig. 9, right).

    One joint step has 2^n ways; decoupled search keeps them in one state.
    """
    components = [
        LTS.from_transitions(
            [(0, "g", 1), (0, "g", 2), (1, f"x{i}", 0)], accepting=range(3)
        )
        for i in range(n)
    ]
    return Case(
        f"separating {n}", Network(components, f"separating-{n}"), None, "violated"
    )


def slots(n: int = 40) -> Case:
    """Return a component that picks a slot by internal steps, beside private rings.

    ``rot`` turns the slots, and slot 0 cannot ``flip``: for decoupled search nearly
    every set of slots is a state of its own.  State by state there are few.
    """
    picks = [(0, f"pick{i}", i + 1) for i in range(n)]
    turns = [(i + 1, "rot", (i + 1) % n + 1) for i in range(n)]
    flips = [(i + 1, "flip", i + 1) for i in range(1, n)]
    chooser = LTS.from_transitions(picks + turns + flips)
    other = LTS.from_transitions([(0, "rot", 0), (0, "flip", 0)])
    rings = [
        LTS.from_transitions([(k, f"r{i}_{k}", (k + 1) % 30) for k in range(30)])
        for i in range(2)
    ]
    network = Network([chooser, other, *rings], f"slots-{n}")
    return Case(f"slots {n}", network, "G(r0_0 -> X(!r0_0 W r0_1))", "holds")


def linear(n: int = 30_000, *, backwards: bool = False) -> Case:
    """Return a component of n internal steps beside three of two states."""
    numbers = np.arange(n + 1, dtype=np.int32)
    if backwards:
        numbers = numbers[::-1].copy()
    long = LTS(
        n_states=n + 1,
        initial=int(numbers[0]),
        labels=("i", "a"),
        src=np.append(numbers[:-1], numbers[-1]),
        label=np.append(np.zeros(n, dtype=np.int32), np.int32(1)),
        dst=np.append(numbers[1:], numbers[-1]),
        internal=frozenset({"i"}),
    )
    small = [LTS.from_transitions([(0, f"b{k}", 1), (1, f"c{k}", 0)]) for k in range(3)]
    network = Network([long, *small], f"linear-{n}")
    name = f"linear {n}{', backwards' if backwards else ''}"
    return Case(name, network, "G(b0 -> X(!b0 W c0))", "holds")


def told_apart(n: int = 12) -> Case:
    """Return interchangeable members that one broadcast tells apart.

    Each goes round a ring of its own; ``mark`` moves all of them at once, each to one
    of two places that depend on where it is, so that a set of states has 2^n ways on.
    """
    size = 8
    members = []
    for i in range(n):
        steps = [(k, f"go{i}", (k + 1) % size) for k in range(size)]
        steps += [(k, "mark", (3 * k + 1) % size) for k in range(size)]
        steps += [(k, "mark", (5 * k + 2) % size) for k in range(size)]
        members.append(LTS.from_transitions(steps, name=f"member{i}"))
    clock = LTS.from_transitions([(0, "mark", 1), (1, "tick", 0)])
    network = Network([*members, clock], f"told-apart-{n}")
    return Case(f"told apart {n}", network, "G(mark -> X(!mark W tick))", "holds")


def large_component(n: int = 800_000) -> Case:
    """Return a component of n states, which takes long to be reduced."""
    numbers = np.arange(n, dtype=np.int32)
    generator = np.random.default_rng(1)
    label = generator.integers(0, 4, size=2 * n).astype(np.int32)
    dst = np.concatenate([(numbers + 1) % n, generator.permutation(numbers)])
    large = LTS(
        n_states=n,
        initial=0,
        labels=("a", "b", "c", "d"),
        src=np.concatenate([numbers, numbers]),
        label=label,
        dst=dst.astype(np.int32),
    )
    small = LTS.from_transitions([(0, "a", 1), (1, "b", 0), (0, "c", 0), (1, "d", 1)])
    network = Network([large, small], f"large-{n}")
    return Case(f"large component {n}", network, "G(a -> F b)", "unknown")


CASES = (separating, slots, linear, told_apart)
"""Makers of the cases that have an answer within seconds."""
